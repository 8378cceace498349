// Characters: the common part of arrays and lists - what is written and read, which characters a
// read shows, and a simulated replica. The types differ in the order of the characters.
#pragma once

#include "crdt/model/replicated_type.hpp"

namespace cupel::crdt {

class CharactersType : public ReplicatedType {
 public:
  using ReplicatedType::ReplicatedType;

  // Of an array or a list with a simulated replica that is a replicated growable array, whose
  // orders are those of a list, too. Each type has its own decision.
  static TypeTraits traits_of(std::vector<TypeName> names, std::vector<TypeBug> bugs,
                              DecideContext decide_context);
  [[nodiscard]] std::unique_ptr<FlatCall> flat_call(std::string_view method,
                                                    std::string_view value) const override;
  [[nodiscard]] History without_impossible(History history) const final;
  void choose(RequestChoice& choice) const override;
  bool encode(Encoder& encoder) const final;

 protected:
  // The clauses of the order. False: the budget is spent.
  virtual bool encode_order(Encoder& encoder) const = 0;
  // Names a character that nobody added, is missing, or was removed. False: it is none of these.
  static bool explain_characters(ReadExplainer& explainer);
};

}  // namespace cupel::crdt
