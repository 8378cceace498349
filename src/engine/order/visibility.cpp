// decide_visibility: see the header. The work is done in co_graph.cpp.
#include "engine/order/visibility.hpp"

#include "engine/order/co_graph.hpp"

namespace cupel::order {

OrderResult decide_visibility(const VisibilityProblem& problem, Visible visible,
                              std::span<const Owner> writers, base::Budget& budget) {
  OrderResult result;
  result.stage = Stage::kSaturation;
  CoGraph co(problem, visible, writers, budget);
  if (!co.saturate()) return result;
  if (co.acyclic()) {
    result.solvability = Solvability::kYes;
    result.order.assign(co.graph().topological().begin(), co.graph().topological().end());
    result.writers.assign(writers.begin(), writers.end());
  } else {
    result.solvability = Solvability::kNo;
    result.proof = co.proof();
  }
  return result;
}

std::optional<std::string> arcs_of_part(const VisibilityProblem& problem, Visible visible,
                                        std::span<const Owner> writers, base::TeamPart part,
                                        base::Budget& budget) {
  CoGraph co(problem, visible, writers, budget);
  if (!co.may_share() || !co.find(part)) return std::nullopt;
  return co.found();
}

}  // namespace cupel::order
