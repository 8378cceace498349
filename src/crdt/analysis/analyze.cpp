// The steps of an analysis: see the header.
#include "crdt/analysis/analyze.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <span>

#include "crdt/explain/context_explainer.hpp"
#include "crdt/solve/common_order.hpp"
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

namespace {

bool any_is(const std::vector<Analysis>& objects, Verdict verdict) {
  return std::any_of(objects.begin(), objects.end(),
                     [&](const Analysis& object) { return object.decision.verdict == verdict; });
}

std::vector<Analysis> each_alone(const Recording& recording, AnalysisOptions options,
                                 const std::vector<Visibility>& visibility, base::Budget& budget) {
  std::vector<Analysis> objects;
  objects.reserve(recording.objects.size());
  for (std::size_t o = 0; o < recording.objects.size(); ++o) {
    options.visibility = visibility.empty() ? nullptr : &visibility[o];
    objects.push_back(analyze(recording.objects[o].history, options, budget));
    if (objects.back().decision.verdict == Verdict::kViolated) options.shrink_seconds = 0;
  }
  return objects;
}

// Of objects that were decided without deliveries.
Verdict verdict_together(const Recording& recording, const AnalysisOptions& options,
                         std::vector<Analysis>& objects, std::string& limit, base::Budget& budget) {
  if (any_is(objects, Verdict::kViolated)) return Verdict::kViolated;
  for (const Analysis& object : objects) {
    if (object.decision.verdict == Verdict::kSatisfied) continue;
    limit = object.limit;
    return Verdict::kUnknown;
  }
  std::vector<const Witness*> alone;
  for (const Analysis& object : objects) alone.push_back(&*object.decision.witness);
  auto common = decide_together(recording, alone, options.axioms, budget);
  if (common.verdict == Verdict::kUnknown)
    limit = budget.limit() == base::Limit::kNone ? "size" : base::to_string(budget.limit());
  if (common.verdict == Verdict::kSatisfied) {
    for (std::size_t o = 0; o < objects.size(); ++o)
      objects[o].decision.witness = std::move(common.witnesses[o]);
  }
  return common.verdict;
}

Verdict without_deliveries(const Recording& recording, AnalysisOptions options,
                           base::Budget& budget) {
  options.shrink_seconds = 0;
  options.converge = false;
  auto objects = each_alone(recording, options, {}, budget);
  std::string limit;
  return verdict_together(recording, options, objects, limit, budget);
}

}  // namespace

RecordingAnalysis analyze(const Recording& recording, const AnalysisOptions& options,
                          base::Budget& budget) {
  const auto began = base::Budget::Clock::now();
  RecordingAnalysis found{.axioms = options.axioms, .of_whole = options.visibility};
  if (!recording.is_named()) {
    found.objects.push_back(analyze(recording.objects[0].history, options, budget));
    const Analysis& only = found.objects[0];
    found.decided = only.decision.verdict;
    found.without_context = only.without_context;
    found.limit = only.limit;
    found.seconds = only.seconds;
    return found;
  }
  if (options.visibility != nullptr) {
    found.of_objects.reserve(recording.objects.size());
    for (const ObjectHistory& object : recording.objects)
      found.of_objects.push_back(Visibility::of(object.history).value());
  }
  auto alone = options;
  alone.also_without = false;
  found.objects = each_alone(recording, alone, found.of_objects, budget);
  if (options.visibility == nullptr) {
    found.decided = verdict_together(recording, options, found.objects, found.limit, budget);
    if (found.decided == Verdict::kViolated && !any_is(found.objects, Verdict::kViolated)) {
      base::Budget shrinking(std::chrono::duration<double>(options.shrink_seconds),
                             options.memory_bytes);
      found.together = core_of_several(recording, options.axioms, shrinking);
    }
  } else {
    found.decided = any_is(found.objects, Verdict::kViolated)  ? Verdict::kViolated
                    : any_is(found.objects, Verdict::kUnknown) ? Verdict::kUnknown
                                                               : Verdict::kSatisfied;
    for (const Analysis& object : found.objects) {
      if (found.decided == Verdict::kUnknown && !object.limit.empty()) found.limit = object.limit;
    }
  }
  if (options.visibility != nullptr && options.also_without)
    found.without_context = without_deliveries(recording, options, budget);
  found.seconds = std::chrono::duration<double>(base::Budget::Clock::now() - began).count();
  return found;
}

namespace {

Verdict with_convergence(Verdict verdict, std::span<const Analysis> objects) {
  if (objects.empty() || !objects[0].convergence) return verdict;
  const auto any = [&](auto test) {
    return std::any_of(objects.begin(), objects.end(),
                       [&](const Analysis& object) { return test(*object.convergence); });
  };
  if (any([](const Convergence& found) { return !found.different.empty(); }))
    return verdict == Verdict::kUnknown ? Verdict::kUnknown : Verdict::kViolated;
  const bool compared = any([](const Convergence& found) { return found.keys > 0; });
  return verdict == Verdict::kSatisfied && !compared ? Verdict::kUnknown : verdict;
}

}  // namespace

Verdict verdict_of(const Analysis& analysis) {
  return with_convergence(analysis.decision.verdict, {&analysis, 1});
}

Verdict verdict_of(const RecordingAnalysis& analysis) {
  return with_convergence(analysis.decided, analysis.objects);
}

}  // namespace cupel::crdt
