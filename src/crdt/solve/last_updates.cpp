// Last updates: registers and sets of which each object has an order of its updates for itself
// (TypeTraits::order_by_object), with known deliveries.
//
// A read says which value the last update has that it had seen, or whether that was an add. Only an
// update that no other visible one had seen can be the last; the read is a choice among these. The
// order of an object is built from its end. An update may come last of those that are left if no
// other one that is left had seen it, and if it has the value of each read that had seen it and
// whose last update is not placed yet. Then it may be placed: in any order of those that are left,
// it can move to the end, and no read becomes wrong. So the order that is found is the last word:
// if no update may be placed, there is none, and the updates and reads that wait for each other say
// why.
//
// Cost: operations + deliveries, plus for each read the objects of which it sees concurrent updates
// that differ.
#include <algorithm>
#include <map>
#include <set>

#include "crdt/model/replicated_type.hpp"
#include "crdt/solve/known_state.hpp"
#include "crdt/solve/object_orders.hpp"

namespace cupel::crdt {

namespace {

// What a read says of an object of which it had seen several maximal updates, not all of one value.
struct LastUpdateClaim {
  OpId read;
  std::uint32_t value;
  std::uint32_t begin, end;  // of the maximal updates
};

class LastUpdates {
 public:
  explicit LastUpdates(const KnownContext& context)
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
          mixed_.assign(h_.keys.size(), {});
        },
        [&](OpId update) { arrive(update); }, [&](OpId id) { return is_right(id); });
    if (context_.budget.limit() != base::Limit::kNone) return {};
    if (wrong_.is_there()) return wrong_.decision();
    return order();
  }

 private:
  enum class Side : std::uint8_t { kOff, kOn, kMixed };  // of the maximal updates
  struct State {
    MaximalUpdates maximal;
    Side side = Side::kOff;
    std::uint32_t claimed = kNone;  // the value that the read before said, since the last update
  };

  // Of a set 1 if it is an add, of a register what was written.
  [[nodiscard]] std::uint32_t value(OpId update) const {
    const Operation& op = h_.ops[update];
    return is_set_ ? (op.kind == Kind::kUp ? 1 : 0) : op.element;
  }

  void arrive(OpId update) {
    const Operation& op = h_.ops[update];
    const auto object = type_.object(op);
    State& state = states_[object];
    state.maximal.take(context_, update);
    state.claimed = kNone;
    if (!is_set_) return;
    const Side before = state.side;
    const auto& all = state.maximal.updates();
    const auto ups = std::count_if(all.begin(), all.end(), [&](OpId u) { return value(u) == 1; });
    state.side = ups == 0                                      ? Side::kOff
                 : static_cast<std::size_t>(ups) == all.size() ? Side::kOn
                                                               : Side::kMixed;
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
        if (states_[op.key].maximal.updates().empty()) return true;
        wrong_.add(id, op.key);
        return false;
      }
      default:
        return true;
    }
  }

  bool is_right_whole(OpId id) {
    const Operation& op = h_.ops[id];
    std::size_t sure = 0;
    std::set<std::uint32_t> open = mixed_[op.key];
    for (const auto e : h_.list(op)) {
      if (states_[e].side == Side::kOn) ++sure;
      if (!claim(id, e, 1)) return false;
      open.erase(e);
    }
    for (const auto e : open) claim(id, e, 0);
    if (sure == on_[op.key]) return true;
    const auto list = h_.list(op);
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
    const auto& all = state.maximal.updates();
    const auto fitting =
        std::count_if(all.begin(), all.end(), [&](OpId u) { return value(u) == said; });
    if (fitting == 0 && !(is_set_ && said == 0 && all.empty())) {
      wrong_.add(read, object);
      return false;
    }
    if (static_cast<std::size_t>(fitting) == all.size() || state.claimed == said) return true;
    state.claimed = said;
    const auto begin = static_cast<std::uint32_t>(maximal_.size());
    maximal_.insert(maximal_.end(), all.begin(), all.end());
    claims_.push_back({read, said, begin, static_cast<std::uint32_t>(maximal_.size())});
    return true;
  }

  [[nodiscard]] std::span<const OpId> maximal(const LastUpdateClaim& claim) const {
    return std::span(maximal_).subspan(claim.begin, claim.end - claim.begin);
  }

  void find_steps() {
    earlier_.resize(h_.ops.size());
    later_.resize(h_.ops.size());
    claims_of_.resize(h_.ops.size());
    blocks_.assign(h_.ops.size(), 0);
    waits_.assign(h_.ops.size(), 0);
    const auto add = [&](OpId before, OpId after) {
      earlier_[after].push_back(before);
      later_[before].push_back(after);
      ++waits_[before];
    };
    std::vector<OpId> last(count_of_objects(h_), kNone);
    for (const auto& line : h_.by_replica) {
      std::vector<std::uint32_t> touched;
      for (const OpId id : line) {
        if (is_read(h_.ops[id].kind)) continue;
        OpId& before = last[type_.object(h_.ops[id])];
        if (before != kNone) add(before, id);
        before = id;
        touched.push_back(type_.object(h_.ops[id]));
      }
      for (const auto object : touched) last[object] = kNone;
    }
    for_seen_updates(h_, context_.visibility, add);
    for (std::uint32_t c = 0; c < claims_.size(); ++c) {
      for (const OpId u : maximal(claims_[c])) {
        claims_of_[u].push_back(c);
        if (value(u) != claims_[c].value) ++blocks_[u];
      }
    }
  }

  ContextDecision order() {
    find_steps();
    std::vector<OpId> ready, placed;
    placed_.assign(h_.ops.size(), false);
    resolved_.assign(claims_.size(), false);
    std::size_t updates = 0;
    const auto offer = [&](OpId u) {
      if (waits_[u] == 0 && blocks_[u] == 0) ready.push_back(u);
    };
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (is_read(h_.ops[id].kind)) continue;
      ++updates;
      offer(id);
    }
    while (!ready.empty()) {
      const OpId u = ready.back();
      ready.pop_back();
      placed.push_back(u);
      placed_[u] = true;
      for (const OpId before : earlier_[u]) {
        --waits_[before];
        offer(before);
      }
      for (const auto c : claims_of_[u]) {
        if (resolved_[c]) continue;
        resolved_[c] = true;
        for (const OpId other : maximal(claims_[c])) {
          if (value(other) == claims_[c].value) continue;
          --blocks_[other];
          offer(other);
        }
      }
    }
    if (placed.size() < updates) return {.verdict = Verdict::kViolated, .wrong = why()};
    std::reverse(placed.begin(), placed.end());
    return {.verdict = Verdict::kSatisfied, .writes = updates_by_object(h_, placed)};
  }

  // From an update that a read keeps from its place, by an update that the read wants to be last,
  // to the next such update.
  struct Way {
    std::vector<Step> steps;
    OpId end;
  };

  [[nodiscard]] std::vector<Way> ways(OpId from) const {
    const auto& all = claims_of_[from];
    const LastUpdateClaim& claim =
        claims_[*std::find_if(all.begin(), all.end(), [&](std::uint32_t c) {
          return !resolved_[c] && value(from) != claims_[c].value;
        })];
    std::vector<Way> found;
    for (const OpId w : maximal(claim)) {
      if (value(w) != claim.value) continue;
      Way way{{{from, w, Why::kArbitrated, claim.read}}, w};
      while (waits_[way.end] > 0) {
        const auto& later = later_[way.end];
        const OpId next =
            *std::find_if(later.begin(), later.end(), [&](OpId u) { return !placed_[u]; });
        way.steps.push_back(step_of_past(way.end, next));
        way.end = next;
      }
      if (way.steps.size() > 2 && context_.visibility.sees(way.end, w))
        way.steps = {way.steps[0], step_of_past(w, way.end)};
      found.push_back(std::move(way));
    }
    return found;
  }

  [[nodiscard]] Step step_of_past(OpId from, OpId to) const {
    const bool same = h_.ops[from].replica == h_.ops[to].replica;
    return {from, to, same ? Why::kReplicaOrder : Why::kReceived};
  }

  // Updates and reads that wait for each other: whatever way one goes, it comes to another one.
  struct Deadlock {
    std::set<OpId> operations;
    std::map<OpId, Way> only_way;  // where there is one
  };

  [[nodiscard]] Deadlock deadlock(OpId start) const {
    Deadlock found;
    std::set<OpId> known = {start};
    std::vector<OpId> open = {start};
    while (!open.empty()) {
      const OpId from = open.back();
      open.pop_back();
      auto all = ways(from);
      for (const Way& way : all) {
        for (const Step& step : way.steps) found.operations.insert({step.from, step.to});
        found.operations.insert(way.steps[0].read);
        if (known.insert(way.end).second) open.push_back(way.end);
      }
      if (all.size() == 1) found.only_way.emplace(from, std::move(all[0]));
    }
    return found;
  }

  // The smallest of some.
  [[nodiscard]] WrongRead why() const {
    constexpr int kMostTries = 100;
    constexpr std::size_t kSmall = 4;  // two updates, two reads
    std::optional<Deadlock> best;
    OpId at = kNone;
    int tries = 0;
    for (OpId id = 0; id < h_.ops.size() && tries < kMostTries; ++id) {
      if (is_read(h_.ops[id].kind) || placed_[id] || waits_[id] > 0) continue;
      ++tries;
      Deadlock found = deadlock(id);
      if (best && found.operations.size() >= best->operations.size()) continue;
      best = std::move(found);
      at = id;
      if (best->operations.size() <= kSmall) break;
    }
    // The only way as long as there is one, until an update comes again.
    std::vector<OpId> path;
    while (best->only_way.contains(at) && std::find(path.begin(), path.end(), at) == path.end()) {
      path.push_back(at);
      at = best->only_way.at(at).end;
    }
    WrongRead wrong;
    for (auto it = std::find(path.begin(), path.end(), at); it != path.end(); ++it) {
      const auto& steps = best->only_way.at(*it).steps;
      wrong.cycle.insert(wrong.cycle.end(), steps.begin(), steps.end());
    }
    if (wrong.cycle.empty())
      wrong.operations.assign(best->operations.begin(), best->operations.end());
    return wrong;
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
  std::vector<LastUpdateClaim> claims_;
  std::vector<OpId> maximal_;  // of the claims
  // By update: what its replica had seen, and who had seen it; how many of these are not placed.
  std::vector<std::vector<OpId>> earlier_, later_;
  std::vector<std::uint32_t> waits_;
  // By update: the claims about it, and how many of them want another one to be last.
  std::vector<std::vector<std::uint32_t>> claims_of_;
  std::vector<std::uint32_t> blocks_;
  std::vector<bool> placed_, resolved_;  // by update, by claim
};

}  // namespace

ContextDecision decide_known_last_updates(const KnownContext& context) {
  return LastUpdates(context).decide();
}

}  // namespace cupel::crdt
