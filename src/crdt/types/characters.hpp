// Characters: the common part of arrays and lists - what is written and read, which characters a
// read shows, and a simulated replica. The types differ in the order of the characters.
#pragma once

#include "crdt/model/replicated_type.hpp"

namespace cupel::crdt {

class CharactersType : public ReplicatedType {
 public:
  using ReplicatedType::ReplicatedType;

  [[nodiscard]] std::string_view method(const Operation& op) const override;
  [[nodiscard]] Text text(const History& history, const Operation& op) const override;
  std::optional<std::string> parse(const ParsedCall& call) const override;
  [[nodiscard]] std::unique_ptr<FlatCall> flat_call(std::string_view method,
                                                    std::string_view value) const override;
  [[nodiscard]] History without_impossible(History history) const final;
  [[nodiscard]] nlohmann::json value(const History& history, const Operation& op) const override;
  [[nodiscard]] nlohmann::json argument(const History& history, const Operation& op) const override;
  void choose(RequestChoice& choice) const override;
  bool encode(Encoder& encoder) const final;
  [[nodiscard]] std::unique_ptr<SimulatedReplica> simulate(const History& history,
                                                           std::string_view bug,
                                                           std::uint32_t self) const override;

 protected:
  // The clauses of the order. False: the budget is spent.
  virtual bool encode_order(Encoder& encoder) const = 0;
  // Names a character that nobody added, is missing, or was removed. False: it is none of these.
  static bool explain_characters(ReadExplainer& explainer);
};

}  // namespace cupel::crdt
