// Registers whose reads return one value, null before any write:
// - Any-maximal: the value of one of the visible writes that are not causally overwritten by any
//   visible write, as the variables of Collabs do. Which one is left open.
// - Last writer wins, as register and map: the value of the visible write that is last in the
//   linearization. The register has one linearization of all objects, as timestamps give it. Each
//   key of the map has one of its own, as in Yjs, whose keys are chains of writes.
// - Max: the greatest number of the visible writes (registers: Shapiro et al. 2011, 3.2; here the
//   merge is the maximum). The number of a write is the operation's `amount`, too. Cost in SAT: a
//   clause for each read and write of its key.
#include <fmt/format.h>

#include <algorithm>

#include "crdt/explain/context_explainer.hpp"
#include "crdt/explain/read_explainer.hpp"
#include "crdt/solve/context.hpp"
#include "crdt/solve/encoder.hpp"
#include "crdt/types/common_bugs.hpp"
#include "crdt/types/kept_writes.hpp"
#include "crdt/types/last_update_replica.hpp"
#include "crdt/types/register.hpp"

namespace cupel::crdt {

namespace {

// The read returns the value of a write that it has seen, such that for each other write that it
// has seen `keeps(write, other)` holds: a literal. False: the budget is spent.
template <typename Keeps>
bool encode_kept_write(Encoder& encoder, OpId read, Keeps keeps) {
  const History& h = encoder.history();
  const auto value = h.list(h.ops[read])[0];
  const auto& writes = encoder.updates_of(h.ops[read].key);
  Clause some;
  for (const OpId w : writes) {
    if (h.ops[w].element != value || encoder.seen(read, w) == encoder.never()) continue;
    const Literal v = encoder.new_variable();
    some.push_back(v);
    encoder.clause({-v, encoder.seen(read, w)});
    for (const OpId other : writes) {
      if (encoder.too_much()) return false;
      if (other == w || encoder.seen(read, other) == encoder.never()) continue;
      encoder.clause({-v, -encoder.seen(read, other), keeps(w, other)});
    }
  }
  encoder.clause(some);
  return true;
}

// It returns the value of the highest replica.
class AnyMaximalReplica final : public KeptWrites {
 public:
  AnyMaximalReplica(const History& history, std::string_view bug, std::uint32_t self)
      : KeptWrites(history, bug.empty() ? Bug::kAbsent : Bug::kKeepsOverwritten, self) {}

  void answer(Operation& read, std::vector<std::uint32_t>& list) override {
    const auto& kept = live(read.key);
    const auto highest = std::max_element(kept.begin(), kept.end(), [&](OpId a, OpId b) {
      return h_.ops[a].replica < h_.ops[b].replica;
    });
    if (highest != kept.end()) list.push_back(h_.ops[*highest].element);
  }
};

class AnyMaximalRegister final : public RegisterType {
 public:
  AnyMaximalRegister()
      : RegisterType({.names = {{"any-maximal-register"}},
                      .whole_read = Kind::kValues,
                      .bugs = {{"keeps-overwritten", "a write leaves the values that it had seen"}},
                      .injected = {"loses-update", "applies-again", "reorders-updates"},
                      .calls = forms(Argument::kElement, Answer::kValue),
                      .methods = kMethods,
                      .decide_context = decide_known_any_maximal,
                      .simulate = simulate_by<AnyMaximalReplica>}) {}

 private:
  // Some write of the value is seen, and no other that is seen has seen it.
  bool encode_read(Encoder& encoder, OpId read) const override {
    return encode_kept_write(encoder, read,
                             [&](OpId write, OpId other) { return -encoder.seen(other, write); });
  }

  void explain_values(ReadExplainer& explainer) const override {
    explainer.report(
        "stale-read",
        fmt::format("{} returned a value that a write had overwritten which it must have seen",
                    explainer.text()));
  }
};

class LastWriterWins final : public RegisterType {
 public:
  LastWriterWins(std::vector<TypeName> names, bool by_key)
      : RegisterType(
            {.names = std::move(names),
             .whole_read = Kind::kValues,
             .bugs = {ignores_timestamp()},
             .injected = by_key ? std::vector<std::string_view>{"loses-update"}
                                : std::vector<std::string_view>{"loses-update", "clock-apart"},
             .order_by_object = by_key,
             .calls = forms(Argument::kElement, Answer::kValue),
             .methods = kMethods,
             .decide_context = by_key ? decide_known_last_updates : decide_known_last_write,
             .simulate = simulate_by<LastUpdateReplica>}) {}

  std::optional<Decision> decide_quickly(const History& history, const Axioms& /*axioms*/,
                                         base::Budget& budget, Effort effort) const override {
    if (effort == Effort::kAgain) return std::nullopt;
    return decide_register(history, /*last_writer_wins=*/true, budget);
  }

  void explain_cycle(const ArbitrationCycle& cycle) const override {
    if (cycle.one_step) {
      cycle.report("stale-read",
                   fmt::format("{} returned a value although its replica had seen a later write",
                               cycle.read()));
    } else {
      cycle.report(
          "order-disagreement",
          "reads prefer writes in orders that no linearization (no assignment of timestamps) "
          "has");
    }
  }

 private:
  [[nodiscard]] std::string_view name_of_missing() const override { return "order-disagreement"; }

  // Some write of the value is seen, and every other that is seen is linearized before it.
  bool encode_read(Encoder& encoder, OpId read) const override {
    return encode_kept_write(encoder, read,
                             [&](OpId write, OpId other) { return encoder.earlier(other, write); });
  }

  void explain_values(ReadExplainer& explainer) const override {
    explainer.report("order-disagreement",
                     fmt::format("no order of the writes explains {} and the reads before it",
                                 explainer.text()));
  }
};

class MaxReplica final : public SimulatedReplica {
 public:
  MaxReplica(const History& history, std::string_view bug, std::uint32_t self)
      : SimulatedReplica(history, self), keeps_latest_(!bug.empty()) {}

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

class MaxRegister final : public RegisterType {
 public:
  MaxRegister()
      : RegisterType({.names = {{"max-register"}},
                      .whole_read = Kind::kValues,
                      .bugs = {{"keeps-latest",
                                "a write that arrives replaces the value, even a greater one"}},
                      .injected = {},
                      .calls = forms(Argument::kNumber, Answer::kNumber,
                                     "a whole number below 2^63, or null before any write"),
                      .methods = kMethods,
                      .decide_context = decide_known_greatest,
                      .simulate = simulate_by<MaxReplica>}) {}

  void choose(RequestChoice& choice) const override {
    RegisterType::choose(choice);
    if (choice.op.kind == Kind::kWrite)
      choice.op.amount = std::stoll(choice.history.elements[choice.op.element].text);
  }

 private:
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
};

}  // namespace

const ReplicatedType& any_maximal_register() {
  static const AnyMaximalRegister type;
  return type;
}

const ReplicatedType& last_writer_wins_register() {
  static const LastWriterWins type(
      {{"last-writer-wins-register"}, {"lww-register"}, {"lww"}, {"register"}},
      /*by_key=*/false);
  return type;
}

const ReplicatedType& last_writer_wins_map() {
  static const LastWriterWins type({{"last-writer-wins-map"}, {"lww-map"}}, /*by_key=*/true);
  return type;
}

const ReplicatedType& max_register() {
  static const MaxRegister type;
  return type;
}

}  // namespace cupel::crdt
