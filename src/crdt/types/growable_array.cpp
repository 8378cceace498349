// Replicated growable array: a read shows the characters that were added and not removed, in the
// order of the linearization (thesis, figure 2.2; solve/array.cpp).
#include <fmt/format.h>

#include <algorithm>

#include "crdt/explain/context_explainer.hpp"
#include "crdt/explain/read_explainer.hpp"
#include "crdt/solve/context.hpp"
#include "crdt/solve/encoder.hpp"
#include "crdt/types/characters.hpp"
#include "crdt/types/common_bugs.hpp"

namespace cupel::crdt {

namespace {

class GrowableArray final : public CharactersType {
 public:
  GrowableArray()
      : CharactersType(traits_of(
            {{"growable-array"}, {"replicated-growable-array"}, {"rga"}},
            {ignores_timestamp(),
             {"interleaves",
              "a character that arrives is inserted correctly among older siblings, but into the "
              "middle of the text that follows a newer one"}},
            decide_known_array)) {}

  std::optional<Decision> decide_quickly(const History& history, const Axioms& axioms,
                                         base::Budget& budget, Effort effort) const override {
    constexpr int kFewRepairs = 12, kMostRepairs = 200;
    return decide_array(history, axioms, budget,
                        effort == Effort::kFirst ? kFewRepairs : kMostRepairs);
  }

  // A remove of a character that every read shows.
  [[nodiscard]] bool update_may_go(const Operation& update,
                                   const ReadClaims& claims) const override {
    return update.kind == Kind::kDelete && !claims.is_missing(update.element);
  }

  void explain_cycle(const ArbitrationCycle& cycle) const override {
    if (cycle.one_step) {
      cycle.report("order-against-causality",
                   fmt::format("{} shows a character before one that was added in its sight, after "
                               "the same character",
                               cycle.read()));
    } else if (cycle.one_read && cycle.explanation.cycle.size() == 2) {
      cycle.report(
          "interleaved-insertions",
          fmt::format("{} mixes what was added after two characters that come after the same "
                      "one",
                      cycle.read()));
    } else {
      cycle.report("order-disagreement",
                   "reads show characters in orders that no linearization has");
    }
  }

  void explain_read(ReadExplainer& explainer) const override {
    const auto order = array_order(explainer.history(), explainer.axioms());
    if (order.impossible) {
      explain_impossible(explainer, *order.impossible);
    } else if (!explain_characters(explainer)) {
      explainer.report("order-disagreement",
                       fmt::format("no order of the additions explains {}", explainer.text()));
    }
  }

  void explain_received(ContextExplainer& explainer) const override {
    if (explainer.explain_content()) return;
    const History& h = explainer.history();
    const auto inserts = inserts_of(h);
    const auto list = h.list(explainer.read());
    const auto of = explainer.object();
    // The object stands before the one that it was added after.
    auto above = h.ops[inserts[of]].parent;
    while (above != kNone &&
           std::find(std::find(list.begin(), list.end(), of), list.end(), above) == list.end())
      above = h.ops[inserts[above]].parent;
    explainer.report("before-its-own",
                     fmt::format("{} shows {} before {}, which it was added after",
                                 explainer.where(), h.element_text(of), h.element_text(above)),
                     {inserts[of]}, {above});
  }

 protected:
  bool encode_order(Encoder& encoder) const override {
    const auto order = array_order(encoder.history(), encoder.axioms());
    if (order.impossible) encoder.clause({});
    for (const Step& step : order.steps) encoder.linearize(step);
    return true;
  }

 private:
  // One read shows a character twice, or before the one that it was added after.
  static void explain_impossible(ReadExplainer& explainer, const Step& step) {
    const History& h = explainer.history();
    const std::string read = with_replica(h, step.read), shown = h.element_text(step.shown);
    if (step.shown == step.over) {
      explainer.report("character-twice", fmt::format("{} shows {} twice", read, shown));
    } else {
      explainer.report("before-its-own",
                       fmt::format("{} shows {} before {}, which it was added after", read, shown,
                                   h.element_text(step.over)));
    }
  }
};

}  // namespace

const ReplicatedType& growable_array() {
  static const GrowableArray type;
  return type;
}

}  // namespace cupel::crdt
