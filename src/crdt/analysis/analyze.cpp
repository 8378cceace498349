// The steps of an analysis: see the header.
#include "crdt/analysis/analyze.hpp"

#include <algorithm>
#include <chrono>
#include <new>

namespace cupel::crdt {

namespace {

Decision decide_within(const History& history, const Axioms& axioms, base::Budget& budget) {
  try {
    const base::AllocationWatch watch(&budget);
    return decide(history, axioms, budget);
  } catch (const std::bad_alloc&) {  // by the watch, or the system's own limit
    if (budget.limit() == base::Limit::kNone) throw;
    return {};
  }
}

}  // namespace

Analysis analyze(const History& history, const AnalysisOptions& options, base::Budget& budget) {
  const auto began = base::Budget::Clock::now();
  Analysis found{.axioms = options.axioms};
  found.decision = decide_within(history, options.axioms, budget);
  found.seconds = std::chrono::duration<double>(base::Budget::Clock::now() - began).count();
  if (found.decision.verdict == Verdict::kUnknown)
    found.limit = budget.limit() == base::Limit::kNone ? "size" : base::to_string(budget.limit());
  if (found.decision.violation) {
    const double left = std::max(1.0, std::min(options.shrink_seconds, budget.seconds_left()));
    found.explanation = explain(
        history, *found.decision.violation, options.axioms,
        {.seconds = options.shrink_seconds == 0 ? 0 : left, .memory_bytes = options.memory_bytes});
  }
  if (options.converge) found.convergence = converge(history);
  return found;
}

Verdict verdict_of(const Analysis& analysis) {
  const auto verdict = analysis.decision.verdict;
  if (!analysis.convergence) return verdict;
  if (!analysis.convergence->different.empty()) {
    return verdict == Verdict::kUnknown ? Verdict::kUnknown : Verdict::kViolated;
  }
  const bool compared = analysis.convergence->keys > 0;
  return verdict == Verdict::kSatisfied && !compared ? Verdict::kUnknown : verdict;
}

}  // namespace cupel::crdt
