// Known objects: sets and flags with known deliveries, and registers of which each object has an
// order of its updates for itself (TypeTraits::order_by_object).
//
// Of a set where one side wins, the visible updates say whether an object is on. Where the last
// update wins, a read says which value that has, or whether it was an add. Only an update that no
// other visible one had seen can be the last; the read is a choice among these
// (last_update_order.hpp).
//
// Cost: operations + deliveries, plus for each read the objects of which it sees concurrent updates
// that differ.
#include <algorithm>
#include <set>
#include <type_traits>

#include "crdt/model/replicated_type.hpp"
#include "crdt/solve/known_state.hpp"
#include "crdt/solve/last_update_order.hpp"
#include "crdt/solve/object_orders.hpp"

namespace cupel::crdt {

namespace {

enum class Side : std::uint8_t { kOff, kOn, kMixed };  // kMixed: the order of the updates says it

// Where one side wins, one object at one replica: the winners that no visible loser had seen.
struct WinningSide {
  void take(const KnownContext& context, const TypeTraits& traits, OpId update) {
    const auto& membership = *traits.membership;
    add(context, membership, update);
    const bool on = membership.up_wins ? !standing.empty() : standing.empty() && !losers.is_empty();
    side = on ? Side::kOn : Side::kOff;
  }

  void add(const KnownContext& context, const TypeTraits::Membership& membership, OpId update) {
    const History& h = context.history;
    if ((h.ops[update].kind == Kind::kUp) != membership.up_wins) {
      losers.add(h, update);
      if (!membership.for_good)
        std::erase_if(standing, [&](OpId w) { return context.visibility.sees(update, w); });
      return;
    }
    if (!membership.for_good && losers.saw(context.visibility, update)) return;
    // Who has seen the later of two winners of one replica has seen the earlier one.
    if (h.context.rule != DeliveryRule::kApplied) {
      for (OpId& w : standing) {
        if (h.ops[w].replica != h.ops[update].replica) continue;
        if (h.ops[w].seq < h.ops[update].seq) w = update;
        return;
      }
    }
    standing.push_back(update);
  }

  std::vector<OpId> standing;
  LatestOfEach losers;
  Side side = Side::kOff;
};

// Where the last update wins: those that may be the last.
struct LastUpdate {
  void take(const KnownContext& context, const TypeTraits& traits, OpId update) {
    maximal.take(context, update);
    claimed = kNone;
    if (!traits.membership) return;
    const auto& all = maximal.updates();
    const auto ups = std::count_if(
        all.begin(), all.end(), [&](OpId u) { return context.history.ops[u].kind == Kind::kUp; });
    side = ups == 0                                      ? Side::kOff
           : static_cast<std::size_t>(ups) == all.size() ? Side::kOn
                                                         : Side::kMixed;
  }

  MaximalUpdates maximal;
  Side side = Side::kOff;
  std::uint32_t claimed = kNone;  // the value that the read before said, since the last update
};

template <typename State>
class KnownObjects {
 public:
  explicit KnownObjects(const KnownContext& context)
      : context_(context),
        h_(context.history),
        type_(replicated_type(h_)),
        is_set_(type_.traits().membership.has_value()) {}

  ContextDecision decide() {
    const auto objects = count_of_objects(h_);
    replay(
        context_,
        [&](std::uint32_t) {
          states_.assign(objects, {});
          on_.assign(h_.keys.size(), 0);
          mixed_.assign(kByOrder ? h_.keys.size() : 0, {});
        },
        [&](OpId update) { arrive(update); }, [&](OpId id) { return is_right(id); });
    if (context_.budget.limit() != base::Limit::kNone) return {};
    if (!kByOrder || wrong_.is_there()) return wrong_.decision();
    return order_of_last_updates(context_, KeyEvents(h_, context_.visibility), claims_,
                                 [&](OpId u) { return value(u); });
  }

 private:
  static constexpr bool kByOrder = std::is_same_v<State, LastUpdate>;

  // Of a set 1 if it is an add, of a register what was written.
  [[nodiscard]] std::uint32_t value(OpId update) const {
    const Operation& op = h_.ops[update];
    return is_set_ ? (op.kind == Kind::kUp ? 1 : 0) : op.element;
  }

  void arrive(OpId update) {
    const Operation& op = h_.ops[update];
    const auto object = type_.object(op);
    State& state = states_[object];
    const Side before = state.side;
    state.take(context_, type_.traits(), update);
    if (state.side == before) return;
    if (before == Side::kOn) --on_[op.key];
    if (state.side == Side::kOn) ++on_[op.key];
    if (before == Side::kMixed) mixed_[op.key].erase(object);
    if (state.side == Side::kMixed) mixed_[op.key].insert(object);
  }

  bool is_right(OpId id) {
    if (context_.budget.exceeded()) return false;
    const Operation& op = h_.ops[id];
    switch (op.kind) {
      case Kind::kTest:
        return claim(id, type_.object(op), op.returned ? 1 : 0);
      case Kind::kState:
        return is_right_whole(id);
      case Kind::kValues: {
        const auto list = h_.list(op);
        if (!list.empty()) return claim(id, op.key, list[0]);
        if constexpr (kByOrder) {
          if (states_[op.key].maximal.updates().empty()) return true;
        }
        wrong_.add(id, op.key);
        return false;
      }
      default:
        return true;
    }
  }

  bool is_right_whole(OpId id) {
    const Operation& op = h_.ops[id];
    const auto list = h_.list(op);
    std::size_t sure = 0;
    std::set<std::uint32_t> open;
    if (kByOrder) open = mixed_[op.key];
    for (const auto e : list) {
      if (states_[e].side == Side::kOn) ++sure;
      if (!claim(id, e, 1)) return false;
      if (kByOrder) open.erase(e);
    }
    for (const auto e : open) claim(id, e, 0);
    if (sure == on_[op.key]) return true;
    const std::set<std::uint32_t> shown(list.begin(), list.end());
    for (std::uint32_t e = 0; e < h_.elements.size(); ++e) {
      if (h_.elements[e].key != op.key || states_[e].side != Side::kOn || shown.contains(e))
        continue;
      wrong_.add(id, e);
      break;
    }
    return false;
  }

  // The last visible update of the object has this value. False: none can be.
  bool claim(OpId read, std::uint32_t object, std::uint32_t said) {
    State& state = states_[object];
    bool can_be = (state.side == Side::kOn) == (said == 1);
    if constexpr (kByOrder) {
      const auto& all = state.maximal.updates();
      const auto fitting =
          std::count_if(all.begin(), all.end(), [&](OpId u) { return value(u) == said; });
      can_be = fitting > 0 || (is_set_ && said == 0 && all.empty());
      const bool is_open = can_be && static_cast<std::size_t>(fitting) != all.size();
      if (is_open && state.claimed != said) {
        state.claimed = said;
        claims_.add(read, said, all);
      }
    }
    if (!can_be) wrong_.add(read, object);
    return can_be;
  }

  const KnownContext& context_;
  const History& h_;
  const ReplicatedType& type_;
  const bool is_set_;
  // At the replica that is replayed.
  std::vector<State> states_;                   // by object
  std::vector<std::uint32_t> on_;               // by key: objects that are on, whatever the order
  std::vector<std::set<std::uint32_t>> mixed_;  // by key: objects that may be on or off
  FirstWrong wrong_;
  LastUpdateClaims claims_;
};

}  // namespace

ContextDecision decide_known_membership(const KnownContext& context) {
  return KnownObjects<WinningSide>(context).decide();
}

ContextDecision decide_known_last_updates(const KnownContext& context) {
  return KnownObjects<LastUpdate>(context).decide();
}

}  // namespace cupel::crdt
