// Register: the common part of registers - writes, and the requests to a replica.
#pragma once

#include "crdt/model/replicated_type.hpp"

namespace cupel::crdt {

class RegisterType : public ReplicatedType {
 public:
  using ReplicatedType::ReplicatedType;

  bool encode(Encoder& encoder) const final;
  void choose(RequestChoice& choice) const override;
  // A write of which no read returned the value.
  [[nodiscard]] bool update_may_go(const Operation& update, const ReadClaims& claims) const final {
    return !claims.returned_value(update.key, update.element);
  }
  void explain_read(ReadExplainer& explainer) const final;
  void explain_received(ContextExplainer& explainer) const final;

 protected:
  static constexpr std::string_view kMethods = "write or read of a register";
  // `expected`: instead of what a read returned.
  static std::vector<CallForm> forms(Argument written, Answer read, std::string_view expected = {});

 private:
  // A read that has seen both writes does not return the first, because of the second.
  [[nodiscard]] virtual bool is_replaced(const ContextExplainer& explainer, OpId first,
                                         OpId second) const;
  [[nodiscard]] virtual std::string_view replacement() const { return "which had overwritten it"; }
  // Of a write that was visible and not replaced, and whose value is not among those returned.
  [[nodiscard]] virtual std::string_view name_of_missing() const { return "lost-sibling"; }
  // Of a read that returned a value. False: the budget is spent.
  virtual bool encode_read(Encoder& encoder, OpId read) const = 0;
  // Of a read that returned values, all of them written.
  virtual void explain_values(ReadExplainer& explainer) const = 0;
};

}  // namespace cupel::crdt
