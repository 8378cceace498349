// Max register: a read returns the greatest number of the writes that it has seen (registers:
// Shapiro et al. 2011, 3.2; here the merge is the maximum). The number of a write is the
// operation's `amount`, too.
//
// Cost in SAT: a clause for each read and write of its key.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "crdt/explain/context_explainer.hpp"
#include "crdt/explain/read_explainer.hpp"
#include "crdt/solve/context.hpp"
#include "crdt/solve/encoder.hpp"
#include "crdt/types/register.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

namespace {

class MaxReplica final : public SimulatedReplica {
 public:
  MaxReplica(const History& history, bool keeps_latest, std::uint32_t self)
      : SimulatedReplica(history, self), keeps_latest_(keeps_latest) {}

  void answer(Operation& read, std::vector<std::uint32_t>& list) override {
    if (const OpId w = at(greatest_, read.key).write; w != kNone) list.push_back(h_.ops[w].element);
  }

 private:
  struct Greatest {
    OpId write = kNone;
  };

  void change(const Update& update, base::Random& /*random*/) override {
    OpId& now = at(greatest_, update.op.key).write;
    const bool latest = keeps_latest_ && is_remote(update);
    if (now == kNone || latest || h_.ops[now].amount < update.op.amount) now = update.id;
  }

  const bool keeps_latest_;
  std::vector<Greatest> greatest_;  // by key
};

class MaxRegister final : public SingleValueRegister {
 public:
  MaxRegister()
      : SingleValueRegister(
            TypeTraits{.names = {{"max-register"}},
                       .whole_read = Kind::kValues,
                       .bugs = {{"keeps-latest",
                                 "a write that arrives replaces the value, even a greater one"}},
                       .injected = {}}) {}

  [[nodiscard]] std::unique_ptr<SimulatedReplica> simulate(const History& history,
                                                           std::string_view bug,
                                                           std::uint32_t self) const override {
    return std::make_unique<MaxReplica>(history, !bug.empty(), self);
  }

  [[nodiscard]] ContextDecision decide_context(const KnownContext& context) const override {
    return decide_known_greatest(context);
  }

  void choose(RequestChoice& choice) const override {
    RegisterType::choose(choice);
    if (choice.op.kind == Kind::kWrite)
      choice.op.amount = std::stoll(choice.history.elements[choice.op.element].text);
  }

 protected:
  [[nodiscard]] std::optional<std::string> take_value(const ParsedCall& call) const override {
    if (!is_whole_number(call.value)) return call.expected("a whole number below 2^63");
    call.op.amount = call.value.get<std::int64_t>();
    return std::nullopt;
  }
  std::optional<std::string> parse_read(const ParsedCall& call) const override {
    if (!is_whole_number(call.value))
      return call.expected("a whole number below 2^63, or null before any write");
    return SingleValueRegister::parse_read(call);
  }

  [[nodiscard]] bool is_replaced(const ContextExplainer& explainer, OpId first,
                                 OpId second) const override {
    const History& h = explainer.history();
    return h.ops[first].amount < h.ops[second].amount;
  }
  [[nodiscard]] std::string_view replacement() const override { return "which is greater"; }

  // Some write of the value is seen, and no greater one.
  bool encode_read(Encoder& encoder, OpId read) const override {
    const History& h = encoder.history();
    const auto value = h.list(h.ops[read])[0];
    const auto& writes = encoder.updates_of(h.ops[read].key);
    const auto known = std::find_if(writes.begin(), writes.end(),
                                    [&](OpId w) { return h.ops[w].element == value; });
    Clause some;
    for (const OpId w : writes) {
      if (encoder.too_much()) return false;
      if (h.ops[w].element == value)
        some.push_back(encoder.seen(read, w));
      else if (known != writes.end() && h.ops[w].amount > h.ops[*known].amount)
        encoder.clause({-encoder.seen(read, w)});
    }
    encoder.clause(some);
    return true;
  }

  void explain_values(ReadExplainer& explainer) const override {
    explainer.report("stale-read",
                     fmt::format("{}, but it must have seen a greater value", explainer.text()));
  }

 private:
  static bool is_whole_number(const nlohmann::json& value) {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    return value.is_number_integer() &&
           (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t{kMost});
  }
};

}  // namespace

const ReplicatedType& max_register() {
  static const MaxRegister type;
  return type;
}

}  // namespace cupel::crdt
