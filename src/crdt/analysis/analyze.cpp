// The steps of an analysis: see the header.
#include "crdt/analysis/analyze.hpp"

#include <algorithm>
#include <chrono>
#include <new>

#include "crdt/explain/context_explainer.hpp"
#include "crdt/solve/context.hpp"
#include "crdt/solve/equal_reads.hpp"

namespace cupel::crdt {

namespace {

template <typename Method>
auto within(base::Budget& budget, Method method) -> decltype(method()) {
  try {
    const base::AllocationWatch watch(&budget);
    return method();
  } catch (const std::bad_alloc&) {  // by the watch, or the system's own limit
    if (budget.limit() == base::Limit::kNone) throw;
    return {};
  }
}

void decide_by_context(const History& history, const Visibility& visibility,
                       const ExplainOptions& options, unsigned threads, base::Budget& budget,
                       Analysis& found) {
  found.by_context = true;
  auto known = within(budget, [&] {
    return decide_context({history, visibility, found.axioms, budget, threads});
  });
  found.decision = {.verdict = known.verdict, .decided_by = "context"};
  if (known.verdict == Verdict::kSatisfied) {
    // By the rule `applied` clocks do not say what was seen.
    const bool vectors = history.context.rule != DeliveryRule::kApplied;
    found.decision.witness = Witness{.clocks = vectors ? visibility.clocks(history) : Clocks(),
                                     .order = std::move(known.order),
                                     .characters = std::move(known.characters),
                                     .pairs = std::move(known.pairs),
                                     .writes = std::move(known.writes),
                                     .positions = std::move(known.positions)};
  }
  if (known.wrong)
    found.explanation = explain_context(history, visibility, *known.wrong, found.axioms, options);
}

void compare_reads(const History& history, const Visibility& visibility, base::Budget& budget,
                   Analysis& found) {
  found.by_context = true;
  found.decision.decided_by = "converged-only";
  struct Compared {
    bool done = false;
    std::optional<std::pair<OpId, OpId>> unequal = {};
  };
  const auto compared = within(budget, [&] {
    return Compared{.done = true, .unequal = unequal_reads(history, visibility)};
  });
  if (!compared.done) return;
  found.decision.verdict = compared.unequal ? Verdict::kViolated : Verdict::kSatisfied;
  if (compared.unequal) {
    found.explanation = explain_unequal(history, compared.unequal->first, compared.unequal->second);
  } else {
    found.decision.witness = Witness{.clocks = {}, .order = visibility.order()};
  }
}

}  // namespace

Analysis analyze(const History& history, const AnalysisOptions& options, base::Budget& budget) {
  const auto began = base::Budget::Clock::now();
  Analysis found{.axioms = options.axioms};
  const auto without = [&] {
    return within(budget, [&] { return decide(history, options.axioms, budget); });
  };
  const auto explaining = [&] {
    const double left = std::max(1.0, std::min(options.shrink_seconds, budget.seconds_left()));
    return ExplainOptions{.seconds = options.shrink_seconds == 0 ? 0 : left,
                          .memory_bytes = options.memory_bytes};
  };
  if (options.visibility != nullptr && options.converged_only)
    compare_reads(history, *options.visibility, budget, found);
  else if (options.visibility != nullptr)
    decide_by_context(history, *options.visibility, explaining(), options.threads, budget, found);
  else
    found.decision = without();
  found.seconds = std::chrono::duration<double>(base::Budget::Clock::now() - began).count();
  if (found.decision.verdict == Verdict::kUnknown)
    found.limit = budget.limit() == base::Limit::kNone ? "size" : base::to_string(budget.limit());
  if (found.decision.verdict == Verdict::kSatisfied && history.has_unread()) {
    found.decision = {};
    found.limit = "unknown outcome";
  }
  if (options.visibility != nullptr && options.also_without)
    found.without_context = without().verdict;
  if (found.decision.violation)
    found.explanation = explain(history, *found.decision.violation, options.axioms, explaining());
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
