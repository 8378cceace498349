// Strong list type: a read shows the characters that were added and not removed, in one order of
// all characters (strong list specification; solve/list_order.hpp). Lists and texts differ in what
// their operations are called.
#pragma once

#include "crdt/types/characters.hpp"

namespace cupel::crdt {

class StrongListType : public CharactersType {
 public:
  using CharactersType::CharactersType;

  std::optional<Decision> decide_quickly(const History& history, const Axioms& axioms,
                                         base::Budget& budget, Effort effort) const override;
  void explain_cycle(const ArbitrationCycle& cycle) const override;
  void explain_read(ReadExplainer& explainer) const override;
  void explain_received(ContextExplainer& explainer) const override;

 protected:
  bool encode_order(Encoder& encoder) const override;
};

}  // namespace cupel::crdt
