// Membership: the common part of sets and flags. An object - an element of a set, a flag - is
// on or off; of two concurrent updates of it one side wins (thesis, figure 2.1), or the last one.
#pragma once

#include "crdt/model/replicated_type.hpp"

namespace cupel::crdt {

class MembershipType final : public ReplicatedType {
 public:
  // The first two of the calls are the updates of the two sides: "add", "remove".
  explicit MembershipType(TypeTraits traits);

  bool encode(Encoder& encoder) const override;
  void choose(RequestChoice& choice) const override;
  // The side that no read of the object says: without it, no read is harder to explain.
  [[nodiscard]] bool update_may_go(const Operation& update,
                                   const ReadClaims& claims) const override {
    return update.kind == Kind::kUp ? !claims.is_shown(object(update))
                                    : !claims.is_missing(object(update));
  }
  void explain_read(ReadExplainer& explainer) const override;
  void explain_received(ContextExplainer& explainer) const override;
  void explain_cycle(const ArbitrationCycle& cycle) const override;

 private:
  [[nodiscard]] bool up_wins() const { return traits().membership->up_wins; }
  // There are no updates of the other side.
  [[nodiscard]] bool only_grows() const { return traits().names[0].grow_only; }
  // Some update of the winning side counts whatever the other side does later.
  [[nodiscard]] bool wins_for_good() const { return traits().membership->for_good; }
  // The last update of the object's order counts.
  [[nodiscard]] bool last_wins() const { return traits().membership->last_wins; }
  void explain_last_received(ContextExplainer& explainer) const;

  struct Words {
    std::string_view up, down;
  } words_;
};

}  // namespace cupel::crdt
