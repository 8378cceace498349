// Register: the common part of registers - writes, and the requests to a replica.
#pragma once

#include "crdt/model/replicated_type.hpp"

namespace cupel::crdt {

class RegisterType : public ReplicatedType {
 public:
  using ReplicatedType::ReplicatedType;

  [[nodiscard]] std::string_view method(const Operation& op) const final;
  [[nodiscard]] Text text(const History& history, const Operation& op) const final;
  std::optional<std::string> parse(const ParsedCall& call) const final;
  [[nodiscard]] nlohmann::json value(const History& history, const Operation& op) const final;
  [[nodiscard]] nlohmann::json argument(const History& history, const Operation& op) const final;
  std::optional<Decision> decide_quickly(const History& history, const Axioms& axioms,
                                         base::Budget& budget, Effort effort) const final;
  bool encode(Encoder& encoder) const final;
  [[nodiscard]] ContextDecision decide_context(const KnownContext& context) const override;
  void choose(RequestChoice& choice) const final;
  // A write of which no read returned the value.
  [[nodiscard]] bool update_may_go(const Operation& update, const ReadClaims& claims) const final {
    return !claims.returned_value(update.key, update.element);
  }
  void explain_read(ReadExplainer& explainer) const final;
  void explain_received(ContextExplainer& explainer) const final;

 protected:
  // Or does a read return all writes that are not overwritten?
  [[nodiscard]] virtual bool last_writer_wins() const = 0;
  // What a read returned: as text, from a file, and for one.
  [[nodiscard]] virtual std::string text_of_read(const History& history,
                                                 const Operation& read) const = 0;
  virtual std::optional<std::string> parse_read(const ParsedCall& call) const = 0;
  [[nodiscard]] virtual nlohmann::json value_of(const History& history,
                                                const Operation& read) const = 0;
  // Of a read that returned a value. False: the budget is spent.
  virtual bool encode_read(Encoder& encoder, OpId read) const = 0;
  // Of a read that returned values, all of them written.
  virtual void explain_values(ReadExplainer& explainer) const = 0;
};

}  // namespace cupel::crdt
