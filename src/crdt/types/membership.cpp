// Membership: see the header. For each object, a simulated replica keeps the visible updates of the
// winning side that no loser overwrote.
#include "crdt/types/membership.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "crdt/explain/context_explainer.hpp"
#include "crdt/explain/read_explainer.hpp"
#include "crdt/solve/context.hpp"
#include "crdt/solve/encoder.hpp"
#include "crdt/types/last_update_replica.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

namespace {

// The axioms of one claim, a clause for each way to break it.
class ClaimEncoding {
 public:
  ClaimEncoding(Encoder& encoder, const Claim& claim, const TypeTraits::Membership& membership)
      : encoder_(encoder),
        claim_(claim),
        up_wins_(membership.up_wins),
        last_wins_(membership.last_wins) {
    const Kind winner = up_wins_ ? Kind::kUp : Kind::kDown;
    for (const OpId id : encoder.updates_of(claim.element))
      (encoder.history().ops[id].kind == winner ? winners_ : losers_).push_back(id);
    if (!membership.for_good) overwriting_ = losers_;
  }

  // The winning side is returned if an update of it is maximal among those seen.
  bool encode() {
    if (last_wins_) return last_is_as_claimed();
    return claim_.returned == up_wins_ ? winner_stands() : winners_are_overwritten();
  }

 private:
  // Some update of the claimed side is seen, and each of the other side that is seen comes before
  // it in the order of the object; or no add is seen.
  bool last_is_as_claimed() {
    const auto& ups = up_wins_ ? winners_ : losers_;
    const auto& downs = up_wins_ ? losers_ : winners_;
    Clause some;
    for (const OpId last : claim_.returned ? ups : downs) {
      const Literal seen = encoder_.seen(claim_.op, last);
      if (seen == encoder_.never()) continue;
      const Literal v = encoder_.new_variable();
      some.push_back(v);
      encoder_.clause({-v, seen});
      for (const OpId other : claim_.returned ? downs : ups) {
        if (encoder_.too_much()) return false;
        const Literal both = encoder_.seen(claim_.op, other);
        if (both != encoder_.never()) encoder_.clause({-v, -both, encoder_.earlier(other, last)});
      }
    }
    if (!claim_.returned) {
      const Literal v = encoder_.new_variable();
      some.push_back(v);
      for (const OpId up : ups) encoder_.clause({-v, -encoder_.seen(claim_.op, up)});
    }
    encoder_.clause(some);
    return true;
  }

  // Each winner seen has been overwritten by a loser that is seen too.
  bool winners_are_overwritten() {
    for (const OpId w : winners_) {
      Clause one{-encoder_.seen(claim_.op, w)};
      if (one[0] == encoder_.always()) continue;
      for (const OpId l : overwriting_) {
        if (encoder_.too_much()) return false;
        const Literal v = encoder_.both(encoder_.seen(claim_.op, l), encoder_.seen(l, w));
        if (v != encoder_.never()) one.push_back(v);
      }
      encoder_.clause(one);
    }
    // Off is how it begins: `true` of a type where `false` wins needs an add.
    if (claim_.returned) {
      Clause some;
      for (const OpId l : losers_) some.push_back(encoder_.seen(claim_.op, l));
      encoder_.clause(some);
    }
    return true;
  }

  bool winner_stands() {
    Clause some;
    for (const OpId w : winners_) {
      const Literal s = encoder_.seen(claim_.op, w);
      if (s == encoder_.never()) continue;
      const Literal v = encoder_.new_variable();
      some.push_back(v);
      encoder_.clause({-v, s});
      for (const OpId l : overwriting_) {
        if (encoder_.too_much()) return false;
        encoder_.clause({-v, -encoder_.seen(claim_.op, l), -encoder_.seen(l, w)});
      }
    }
    if (!claim_.returned) {
      // Nothing was added yet.
      const Literal v = encoder_.new_variable();
      some.push_back(v);
      for (const OpId l : losers_) encoder_.clause({-v, -encoder_.seen(claim_.op, l)});
    }
    encoder_.clause(some);
    return true;
  }

  Encoder& encoder_;
  const Claim& claim_;
  const bool up_wins_, last_wins_;
  std::vector<OpId> winners_, losers_;
  std::vector<OpId> overwriting_;  // the losers that may overwrite winners
};

class MembershipReplica final : public SimulatedReplica {
 public:
  MembershipReplica(const History& history, std::string_view bug, std::uint32_t self)
      : SimulatedReplica(history, self),
        type_(replicated_type(history)),
        up_wins_(type_.traits().membership->up_wins),
        for_good_(type_.traits().membership->for_good),
        has_bug_(!bug.empty()) {}

  void answer(Operation& read, std::vector<std::uint32_t>& list) override {
    if (read.kind == Kind::kTest) {
      read.returned = is_on(at(objects_, type_.object(read)));
      return;
    }
    for (const auto e : at(elements_, read.key)) {
      if (is_on(objects_[e])) list.push_back(e);
    }
  }

 private:
  struct Object {
    std::vector<OpId> live;  // of the winning side
    bool ever_up = false;
  };

  void observe(Update& update) override {
    update.observed = at(objects_, type_.object(update.op)).live;
  }

  void change(const Update& update, base::Random& /*random*/) override {
    Object& object = at(objects_, type_.object(update.op));
    if (type_.traits().objects_are_elements) {
      auto& elements = at(elements_, update.op.key);
      const auto place = std::lower_bound(elements.begin(), elements.end(), update.op.element);
      if (place == elements.end() || *place != update.op.element)
        elements.insert(place, update.op.element);
    }
    // The bug of a type with one side.
    if (has_bug_ && type_.traits().names[0].grow_only && is_remote(update) && is_on(object)) {
      object.live.clear();
      return;
    }
    const bool up = update.op.kind == Kind::kUp;
    if (up) object.ever_up = true;
    if (up == up_wins_) {
      // What stays for good is said by one update.
      if (for_good_ || type_.traits().names[0].grow_only) object.live.clear();
      object.live.push_back(update.id);
      return;
    }
    // The bug: it overwrites what it has not seen.
    if (has_bug_ && is_remote(update)) object.live.clear();
    if (for_good_) return;
    std::erase_if(object.live, [&](OpId id) {
      return std::find(update.observed.begin(), update.observed.end(), id) != update.observed.end();
    });
  }

  [[nodiscard]] bool is_on(const Object& object) const {
    return up_wins_ ? !object.live.empty() : object.ever_up && object.live.empty();
  }

  const ReplicatedType& type_;
  const bool up_wins_, for_good_, has_bug_;
  std::vector<Object> objects_;
  std::vector<std::vector<std::uint32_t>> elements_;  // sets: by key, those with an update
};

TypeTraits with_methods(TypeTraits traits) {
  const bool last_wins = traits.membership->last_wins;
  traits.decide_context = last_wins ? decide_known_last_updates : decide_known_membership;
  traits.simulate = last_wins ? simulate_by<LastUpdateReplica> : simulate_by<MembershipReplica>;
  return traits;
}

}  // namespace

MembershipType::MembershipType(TypeTraits traits)
    : ReplicatedType(with_methods(std::move(traits))),
      words_{this->traits().calls[0].method, this->traits().calls[1].method} {}

bool MembershipType::encode(Encoder& encoder) const {
  for (const Claim& claim : encoder.claims()) {
    if (encoder.is_probed(claim.op)) continue;
    if (!ClaimEncoding(encoder, claim, *traits().membership).encode()) return false;
  }
  return true;
}

void MembershipType::choose(RequestChoice& choice) const {
  const bool set = traits().objects_are_elements;
  if (choice.read && (!set || choice.random.chance(0.5))) return;
  Operation& op = choice.op;
  op.kind = choice.read ? Kind::kTest : choice.down && !only_grows() ? Kind::kDown : Kind::kUp;
  if (!set) return;
  std::uint64_t values = choice.values;
  // In the end each is there for good, or not there for good: more and more of them.
  if (only_grows() || wins_for_good()) {
    values += choice.fresh;
    if (choice.random.below(values) < choice.values) ++choice.fresh;
  }
  op.element = choice.history.element(op.key, fmt::format("\"e{}\"", choice.random.below(values)));
}

void MembershipType::explain_read(ReadExplainer& explainer) const {
  const History& h = explainer.history();
  const Claim& claim = explainer.claim();
  const auto done = [&](Kind kind) {
    return explainer.any_operation(
        [&](const Operation& op) { return op.kind == kind && object(op) == claim.element; });
  };
  const bool up = done(Kind::kUp), down = done(Kind::kDown);
  const bool whole = explainer.read().kind == Kind::kState;
  const std::string claimed = whole ? fmt::format("{} is {}in {}", h.element_text(claim.element),
                                                  claim.returned ? "" : "not ", explainer.text())
                                    : explainer.text();
  if (last_wins() && (up || !claim.returned)) {
    explainer.report(
        up && down ? "order-disagreement" : "lost-add",
        up && down ? fmt::format("no order of the updates of {} explains {} and the other reads",
                                 h.element_text(claim.element), explainer.text())
                   : fmt::format("{}, but it has seen an {} and there is no {}", claimed, words_.up,
                                 words_.down));
    return;
  }
  const auto winner = up_wins() ? words_.up : words_.down;
  const auto loser = up_wins() ? words_.down : words_.up;
  // "an add", "an enable", but "a remove", "a disable".
  const char* const a_winner = up_wins() ? "an" : "a";
  const char* const a_loser = up_wins() ? "a" : "an";
  if (claim.returned && !up) {
    explainer.report("thin-air",
                     fmt::format("{}, which nobody ever asked for by an {}", claimed, words_.up));
  } else if (wins_for_good()) {
    explainer.report(
        fmt::format("lost-{}", claim.returned ? winner : loser),
        claim.returned
            ? fmt::format("{}, but it has seen {} {}, which is for good", claimed, a_winner, winner)
            : fmt::format("{}, but it has seen {} {} and can have seen no {}", claimed, a_loser,
                          loser, winner));
  } else if (claim.returned == up_wins()) {
    explainer.report(
        fmt::format("lost-{}", loser),
        fmt::format("{}, but each {} that it can have seen was observed by {} {} that it "
                    "has seen",
                    claimed, winner, a_loser, loser));
  } else if (up && down) {
    explainer.report(
        fmt::format("concurrent-{}-lost", winner),
        fmt::format("{}, but it has seen {} {}, and no {} visible to it can have observed that {}: "
                    "the {} must win",
                    claimed, a_winner, winner, loser, winner, winner));
  } else {
    explainer.report(fmt::format("lost-{}", winner),
                     fmt::format("{}, but it has seen {} {} and there is no {}", claimed, a_winner,
                                 winner, loser));
  }
}

void MembershipType::explain_cycle(const ArbitrationCycle& cycle) const {
  // A cycle is within one object.
  const History& part = cycle.explanation.part.history;
  const auto element = part.ops[cycle.explanation.cycle.front().from].element;
  cycle.report("order-disagreement",
               fmt::format("no order of the {}s and {}s{} fits the reads", words_.up, words_.down,
                           element == kNone ? "" : " of " + part.element_text(element)));
}

// All visible updates that no other one had seen are of the side that the read does not show.
void MembershipType::explain_last_received(ContextExplainer& explainer) const {
  const History& h = explainer.history();
  const Operation& read = explainer.read();
  const auto list = h.list(read);
  const bool shows = read.kind == Kind::kTest
                         ? read.returned
                         : std::find(list.begin(), list.end(), explainer.object()) != list.end();
  const std::string claim =
      fmt::format("{} {} {}", explainer.where(), shows ? "shows" : "does not show",
                  h.element_text(explainer.object()));
  const auto shown = explainer.visible(shows ? Kind::kUp : Kind::kDown),
             hidden = explainer.visible(shows ? Kind::kDown : Kind::kUp);
  if (hidden.empty()) {
    const auto elsewhere = explainer.not_visible(Kind::kUp);
    explainer.report(
        elsewhere.empty() ? "thin-air" : "not-received",
        elsewhere.empty()
            ? fmt::format("{}; nobody asked for an {} of it", claim, words_.up)
            : fmt::format("{}; it had not received {}", claim, explainer.text(elsewhere[0])),
        elsewhere);
    return;
  }
  const OpId last = *std::find_if(hidden.begin(), hidden.end(), [&](OpId u) {
    return std::none_of(hidden.begin(), hidden.end(),
                        [&](OpId other) { return explainer.sees(other, u); });
  });
  const auto mine = shows ? words_.up : words_.down, other = shows ? words_.down : words_.up;
  const bool all =
      std::all_of(shown.begin(), shown.end(), [&](OpId u) { return explainer.sees(last, u); });
  auto operations = hidden;
  operations.insert(operations.end(), shown.begin(), shown.end());
  if (shown.empty() || all) operations = shown, operations.push_back(last);
  explainer.report(
      fmt::format("lost-{}", other),
      shown.empty()
          ? fmt::format("{}; it had received {} and no {}", claim, explainer.text(last), mine)
      : all ? fmt::format("{}; it had received {}, which had seen every {} that it had received",
                          claim, explainer.text(last), mine)
            : fmt::format("{}; each {} that it had received comes before a later {}", claim, mine,
                          other),
      operations);
}

void MembershipType::explain_received(ContextExplainer& explainer) const {
  if (last_wins()) {
    explain_last_received(explainer);
    return;
  }
  const History& h = explainer.history();
  const bool elements = traits().objects_are_elements;
  const std::string what = elements ? h.element_text(explainer.object()) : "the flag";
  const auto winner = up_wins() ? words_.up : words_.down,
             loser = up_wins() ? words_.down : words_.up;
  const char* const a_loser = up_wins() ? "a" : "an";
  const auto winners = explainer.visible(up_wins() ? Kind::kUp : Kind::kDown);
  const auto losers = explainer.visible(up_wins() ? Kind::kDown : Kind::kUp);
  const auto saw = [&](OpId one, OpId other) {
    return !wins_for_good() && explainer.sees(one, other);
  };
  const auto standing = std::find_if(winners.begin(), winners.end(), [&](OpId w) {
    return std::none_of(losers.begin(), losers.end(), [&](OpId l) { return saw(l, w); });
  });
  const bool on = standing != winners.end() ? up_wins() : !up_wins() && !losers.empty();
  const std::string claim =
      fmt::format("{} {}", explainer.where(),
                  elements ? fmt::format("{} {}", on ? "does not show" : "shows", what)
                           : fmt::format("says that {} is {}", what, on ? "off" : "on"));
  // Without removes, nobody asks for one.
  const bool grows_only = h.type == Type::kGrowOnlySet;
  if (standing != winners.end() && (wins_for_good() || grows_only)) {
    explainer.report(fmt::format("lost-{}", winner),
                     fmt::format("{}; it had received {}", claim, explainer.text(*standing)),
                     {*standing});
    return;
  }
  if (standing != winners.end()) {
    const bool concurrent =
        std::any_of(losers.begin(), losers.end(), [&](OpId l) { return !saw(*standing, l); });
    explainer.report(
        concurrent ? fmt::format("concurrent-{}-lost", winner) : fmt::format("lost-{}", winner),
        fmt::format("{}; it had received {}, and no {} that had seen this {}", claim,
                    explainer.text(*standing), loser, winner),
        {*standing});
    return;
  }
  if (losers.empty()) {  // and no winners, but for remove-wins, where these are removes
    auto operations = winners;
    const auto elsewhere = explainer.not_visible(Kind::kUp);
    if (!elsewhere.empty()) operations.push_back(elsewhere[0]);
    explainer.report(
        elsewhere.empty() ? "thin-air" : "not-received",
        elsewhere.empty() ? fmt::format("{}; nobody asked for an {} of it", claim, words_.up)
        : elsewhere.size() == 1
            ? fmt::format("{}; it had not received {}", claim, explainer.text(elsewhere[0]))
            : fmt::format("{}; it had received no {} of it, neither {} nor another", claim,
                          words_.up, explainer.text(elsewhere[0])),
        operations);
    return;
  }
  // Each winner was seen by a loser. Few losers that had seen all of them, and the last winners.
  constexpr std::size_t kMostShown = 9;
  std::vector<OpId> shown;
  auto open = winners;
  while (shown.empty() || !open.empty()) {
    const auto seen_by = [&](OpId l) {
      return std::count_if(open.begin(), open.end(), [&](OpId w) { return saw(l, w); });
    };
    const OpId next = *std::max_element(losers.begin(), losers.end(), [&](OpId one, OpId other) {
      return std::pair(seen_by(one), one) < std::pair(seen_by(other), other);
    });
    shown.push_back(next);
    std::erase_if(open, [&](OpId w) { return saw(next, w); });
  }
  const bool all = shown.size() == 1;
  for (auto w = winners.rbegin(); w != winners.rend() && shown.size() < kMostShown; ++w)
    shown.push_back(*w);
  explainer.report(
      fmt::format("lost-{}", loser),
      winners.empty()
          ? fmt::format("{}; it had received {} and no {}", claim, explainer.text(shown[0]), winner)
      : all ? fmt::format("{}; it had received {}, which had seen every {} that it had received",
                          claim, explainer.text(shown[0]), winner)
            : fmt::format("{}; each {} that it had received was seen by {} {} that it had received",
                          claim, winner, a_loser, loser),
      shown);
}

}  // namespace cupel::crdt
