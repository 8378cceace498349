// Weak list: a read shows the characters that were added and not removed, and each two that are
// visible together have one order (weak list specification; solve/weak_list_order.hpp). Protocols
// by operational transformation such as Jupiter promise this and not one order of all characters.
#include "crdt/explain/read_explainer.hpp"
#include "crdt/solve/context.hpp"
#include "crdt/types/common_bugs.hpp"
#include "crdt/types/strong_list.hpp"

namespace cupel::crdt {

namespace {

class WeakList final : public StrongListType {
 public:
  WeakList()
      : StrongListType({.names = {{"weak-list"}},
                        .whole_read = Kind::kList,
                        .bugs = {ignores_timestamp(), forgets_removed_neighbour()},
                        .injected = {"loses-update", "clock-apart", "ties-by-arrival"},
                        .reads_list_elements = true,
                        .updates_use_elements = true,
                        .needs_deliveries = true}) {}

  [[nodiscard]] ContextDecision decide_context(const KnownContext& context) const override {
    return decide_known_weak_list(context);
  }

  void explain_cycle(const ArbitrationCycle& cycle) const override {
    cycle.report("order-disagreement", std::string(summary_of_no_order()));
  }

  [[nodiscard]] std::string_view summary_of_no_order() const override {
    return "characters that are visible together do not have the same order wherever they are";
  }
};

}  // namespace

const ReplicatedType& weak_list() {
  static const WeakList type;
  return type;
}

}  // namespace cupel::crdt
