// decide_visibility: see the header. The work is done in co_graph.cpp.
#include "order/visibility.hpp"

#include "order/co_graph.hpp"

namespace cupel::order {

Outcome decide_visibility(const VisibilityProblem& problem, Visible visible,
                          std::span<const Owner> writers, base::Budget& budget) {
  Outcome outcome;
  outcome.stage = Stage::kSaturation;
  CoGraph co(problem, visible, writers, budget);
  if (!co.saturate()) return outcome;
  if (co.acyclic()) {
    outcome.answer = Answer::kYes;
    outcome.order.assign(co.graph().topological().begin(), co.graph().topological().end());
    outcome.writers.assign(writers.begin(), writers.end());
  } else {
    outcome.answer = Answer::kNo;
    outcome.proof = co.proof();
  }
  return outcome;
}

}  // namespace cupel::order
