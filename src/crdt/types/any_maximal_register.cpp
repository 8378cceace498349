// Any-maximal register: a read returns the value of one of the visible writes that are not causally
// overwritten by any visible write, as the variables of Collabs do. Which one is left open.
#include <fmt/format.h>

#include <algorithm>

#include "crdt/explain/read_explainer.hpp"
#include "crdt/solve/context.hpp"
#include "crdt/solve/encoder.hpp"
#include "crdt/types/kept_writes.hpp"
#include "crdt/types/register.hpp"

namespace cupel::crdt {

namespace {

// It returns the value of the highest replica.
class AnyMaximalReplica final : public KeptWrites {
 public:
  using KeptWrites::KeptWrites;

  void answer(Operation& read, std::vector<std::uint32_t>& list) override {
    const auto& kept = live(read.key);
    const auto highest = std::max_element(kept.begin(), kept.end(), [&](OpId a, OpId b) {
      return h_.ops[a].replica < h_.ops[b].replica;
    });
    if (highest != kept.end()) list.push_back(h_.ops[*highest].element);
  }
};

class AnyMaximalRegister final : public SingleValueRegister {
 public:
  AnyMaximalRegister()
      : SingleValueRegister(TypeTraits{
            .names = {{"any-maximal-register"}},
            .whole_read = Kind::kValues,
            .bugs = {{"keeps-overwritten", "a write leaves the values that it had seen"}},
            .injected = {"loses-update", "applies-again", "reorders-updates"}}) {}

  [[nodiscard]] std::unique_ptr<SimulatedReplica> simulate(const History& history,
                                                           std::string_view bug,
                                                           std::uint32_t self) const override {
    return std::make_unique<AnyMaximalReplica>(
        history, bug.empty() ? KeptWrites::Bug::kAbsent : KeptWrites::Bug::kKeepsOverwritten, self);
  }

  [[nodiscard]] ContextDecision decide_context(const KnownContext& context) const override {
    return decide_known_any_maximal(context);
  }

 protected:
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

}  // namespace

const ReplicatedType& any_maximal_register() {
  static const AnyMaximalRegister type;
  return type;
}

}  // namespace cupel::crdt
