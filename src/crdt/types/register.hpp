// Register: the common part of registers - writes, and the requests to a replica - and of those
// whose reads return one value.
#pragma once

#include <functional>

#include "crdt/model/replicated_type.hpp"
#include "crdt/solve/encoder.hpp"

namespace cupel::crdt {

class RegisterType : public ReplicatedType {
 public:
  using ReplicatedType::ReplicatedType;

  [[nodiscard]] std::string_view method(const Operation& op) const final;
  [[nodiscard]] Text text(const History& history, const Operation& op) const final;
  std::optional<std::string> parse(const ParsedCall& call) const final;
  [[nodiscard]] nlohmann::json value(const History& history, const Operation& op) const final;
  [[nodiscard]] nlohmann::json argument(const History& history, const Operation& op) const final;
  bool encode(Encoder& encoder) const final;
  void choose(RequestChoice& choice) const override;
  // A write of which no read returned the value.
  [[nodiscard]] bool update_may_go(const Operation& update, const ReadClaims& claims) const final {
    return !claims.returned_value(update.key, update.element);
  }
  void explain_read(ReadExplainer& explainer) const final;
  void explain_received(ContextExplainer& explainer) const final;

 protected:
  // What is wrong with the value of a write; what the type needs to know of it goes into the
  // operation.
  [[nodiscard]] virtual std::optional<std::string> take_value(const ParsedCall& /*call*/) const {
    return std::nullopt;
  }
  // A read that has seen both writes does not return the first, because of the second.
  [[nodiscard]] virtual bool is_replaced(const ContextExplainer& explainer, OpId first,
                                         OpId second) const;
  // "which had overwritten it".
  [[nodiscard]] virtual std::string_view replacement() const { return "which had overwritten it"; }
  // Of a write that was visible and not replaced, and whose value is not among those returned.
  [[nodiscard]] virtual std::string_view name_of_missing() const { return "lost-sibling"; }
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

// The read returns the value of a write that it has seen, such that for each other write that it
// has seen `keeps(write, other)` holds: a literal. False: the budget is spent.
bool encode_kept_write(Encoder& encoder, OpId read,
                       const std::function<Literal(OpId write, OpId other)>& keeps);

// A read returns one value, null before any write.
class SingleValueRegister : public RegisterType {
 public:
  using RegisterType::RegisterType;

 protected:
  [[nodiscard]] std::string text_of_read(const History& history, const Operation& read) const final;
  std::optional<std::string> parse_read(const ParsedCall& call) const override;
  [[nodiscard]] nlohmann::json value_of(const History& history, const Operation& read) const final;
};

}  // namespace cupel::crdt
