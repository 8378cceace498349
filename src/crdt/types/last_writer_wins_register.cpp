// Last-writer-wins register and map: a read returns the value of the write that it has seen and
// that is last in the linearization. The register has one linearization of all objects, as
// timestamps give it. Each key of the map has one of its own, as in Yjs, whose keys are chains of
// writes.
#include <fmt/format.h>

#include "crdt/explain/read_explainer.hpp"
#include "crdt/solve/context.hpp"
#include "crdt/solve/encoder.hpp"
#include "crdt/types/common_bugs.hpp"
#include "crdt/types/register.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

namespace {

class Replica final : public SimulatedReplica {
 public:
  Replica(const History& history, bool by_key, bool ignores_stamp, std::uint32_t self)
      : SimulatedReplica(history, self), by_key_(by_key), ignores_stamp_(ignores_stamp) {}

  void answer(Operation& read, std::vector<std::uint32_t>& list) override {
    if (const auto value = at(objects_, read.key).value; value != kNone) list.push_back(value);
  }

 private:
  struct Object {
    std::uint64_t stamp = 0;
    std::uint32_t writer = 0;
    std::uint32_t value = kNone;
  };

  // A clock of each key, which knows of no other key.
  void observe(Update& update) override {
    if (by_key_) update.stamp = at(objects_, update.op.key).stamp + 1;
  }

  void change(const Update& update, base::Random& /*random*/) override {
    Object& now = at(objects_, update.op.key);
    const Object then{update.stamp, update.tie, update.op.element};
    if (now.value == kNone || ignores_stamp_ ||
        std::pair(now.stamp, now.writer) < std::pair(then.stamp, then.writer))
      now = then;
  }

  const bool by_key_, ignores_stamp_;
  std::vector<Object> objects_;  // by key
};

class LastWriterWins final : public SingleValueRegister {
 public:
  LastWriterWins(std::vector<TypeName> names, bool by_key)
      : SingleValueRegister(TypeTraits{
            .names = std::move(names),
            .whole_read = Kind::kValues,
            .bugs = {ignores_timestamp()},
            .injected = by_key ? std::vector<std::string_view>{"loses-update"}
                               : std::vector<std::string_view>{"loses-update", "clock-apart"},
            .order_by_object = by_key}) {}

  [[nodiscard]] std::unique_ptr<SimulatedReplica> simulate(const History& history,
                                                           std::string_view bug,
                                                           std::uint32_t self) const override {
    return std::make_unique<Replica>(history, traits().order_by_object, !bug.empty(), self);
  }

  std::optional<Decision> decide_quickly(const History& history, const Axioms& /*axioms*/,
                                         base::Budget& budget, Effort effort) const override {
    if (effort == Effort::kAgain) return std::nullopt;
    return decide_register(history, /*last_writer_wins=*/true, budget);
  }

  [[nodiscard]] ContextDecision decide_context(const KnownContext& context) const override {
    return traits().order_by_object ? decide_known_last_updates(context)
                                    : decide_known_last_write(context);
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

 protected:
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

}  // namespace

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

}  // namespace cupel::crdt
