// Membership: see the header. For each object, a simulated replica keeps the visible updates of the
// winning side that no loser overwrote.
#include "crdt/types/membership.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "crdt/explain/context_explainer.hpp"
#include "crdt/explain/read_explainer.hpp"
#include "crdt/solve/context.hpp"
#include "crdt/solve/encoder.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

namespace {

// The axioms of one claim, a clause for each way to break it.
class ClaimEncoding {
 public:
  ClaimEncoding(Encoder& encoder, const Claim& claim, const TypeTraits::Membership& membership)
      : encoder_(encoder), claim_(claim), up_wins_(membership.up_wins) {
    const Kind winner = up_wins_ ? Kind::kUp : Kind::kDown;
    for (const OpId id : encoder.updates_of(claim.element))
      (encoder.history().ops[id].kind == winner ? winners_ : losers_).push_back(id);
    if (!membership.for_good) overwriting_ = losers_;
  }

  // The winning side is returned if an update of it is maximal among those seen.
  bool encode() {
    return claim_.returned == up_wins_ ? winner_stands() : winners_are_overwritten();
  }

 private:
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
  const bool up_wins_;
  std::vector<OpId> winners_, losers_;
  std::vector<OpId> overwriting_;  // the losers that may overwrite winners
};

class Replica final : public SimulatedReplica {
 public:
  Replica(const History& history, const ReplicatedType& type, bool has_bug, std::uint32_t self)
      : SimulatedReplica(history, self),
        type_(type),
        up_wins_(type.traits().membership->up_wins),
        for_good_(type.traits().membership->for_good),
        has_bug_(has_bug) {}

  void answer(Operation& read, std::vector<std::uint32_t>& list) override {
    if (read.kind == Kind::kTest) {
      read.returned = is_on(at(objects_, type_.object(read)));
      return;
    }
    for (std::uint32_t e = 0; e < h_.elements.size(); ++e) {
      if (h_.elements[e].key == read.key && e < objects_.size() && is_on(objects_[e]))
        list.push_back(e);
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
    // The bug of a type with one side.
    if (has_bug_ && type_.traits().names[0].grow_only && is_remote(update) && is_on(object)) {
      object.live.clear();
      return;
    }
    const bool up = update.op.kind == Kind::kUp;
    if (up) object.ever_up = true;
    if (up == up_wins_) {
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
};

}  // namespace

bool MembershipType::encode(Encoder& encoder) const {
  for (const Claim& claim : encoder.claims()) {
    if (encoder.is_probed(claim.op)) continue;
    if (!ClaimEncoding(encoder, claim, *traits().membership).encode()) return false;
  }
  return true;
}

ContextDecision MembershipType::decide_context(const KnownContext& context) const {
  return decide_known_membership(context, *traits().membership);
}

std::unique_ptr<SimulatedReplica> MembershipType::simulate(const History& history,
                                                           std::string_view bug,
                                                           std::uint32_t self) const {
  return std::make_unique<Replica>(history, *this, !bug.empty(), self);
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

void MembershipType::explain_received(ContextExplainer& explainer) const {
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
  if (standing != winners.end() && wins_for_good()) {
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
  if (winners.empty() && losers.empty()) {
    const bool asked = explainer.any_operation([&](const Operation& op) {
      return op.kind == Kind::kUp && object(op) == explainer.object();
    });
    explainer.report(asked ? "not-received" : "thin-air",
                     asked ? fmt::format("{}; it had received no {} of it", claim, words_.up)
                           : fmt::format("{}; nobody asked for an {} of it", claim, words_.up),
                     {});
    return;
  }
  if (losers.empty()) {  // remove-wins without an add
    explainer.report("not-received",
                     fmt::format("{}; it had received no {} of it", claim, words_.up), winners);
    return;
  }
  // Each winner was seen by a loser.
  std::vector<OpId> shown = {losers.back()};
  for (const OpId w : winners) {
    if (saw(shown[0], w)) {
      shown.push_back(w);
      continue;
    }
    shown.push_back(w);
    shown.push_back(*std::find_if(losers.begin(), losers.end(), [&](OpId l) { return saw(l, w); }));
  }
  const bool all =
      std::all_of(winners.begin(), winners.end(), [&](OpId w) { return saw(shown[0], w); });
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
