// Membership: the common part of sets and flags. An object - an element of a set, a flag - is
// on or off; of two concurrent updates of it one side wins (thesis, figure 2.1), or the last one.
#pragma once

#include "crdt/model/replicated_type.hpp"

namespace cupel::crdt {

class MembershipType : public ReplicatedType {
 public:
  // "add", "remove"; the winner is the first where traits.membership says so.
  struct Words {
    std::string_view up, down;
  };
  MembershipType(TypeTraits traits, Words words)
      : ReplicatedType(std::move(traits)), words_(words) {}

  bool encode(Encoder& encoder) const final;
  [[nodiscard]] ContextDecision decide_context(const KnownContext& context) const final;
  [[nodiscard]] std::unique_ptr<SimulatedReplica> simulate(const History& history,
                                                           std::string_view bug,
                                                           std::uint32_t self) const final;
  // The side that no read of the object says: without it, no read is harder to explain.
  [[nodiscard]] bool update_may_go(const Operation& update, const ReadClaims& claims) const final {
    return update.kind == Kind::kUp ? !claims.is_shown(object(update))
                                    : !claims.is_missing(object(update));
  }
  void explain_read(ReadExplainer& explainer) const final;
  void explain_received(ContextExplainer& explainer) const final;
  void explain_cycle(const ArbitrationCycle& cycle) const final;

 protected:
  [[nodiscard]] bool up_wins() const { return traits().membership->up_wins; }
  // There are no updates of the other side.
  [[nodiscard]] bool only_grows() const { return traits().names[0].grow_only; }
  // Some update of the winning side counts whatever the other side does later.
  [[nodiscard]] bool wins_for_good() const { return traits().membership->for_good; }
  // The last update of the object's order counts.
  [[nodiscard]] bool last_wins() const { return traits().membership->last_wins; }
  [[nodiscard]] const Words& words() const { return words_; }

 private:
  void explain_last_received(ContextExplainer& explainer) const;

  Words words_;
};

}  // namespace cupel::crdt
