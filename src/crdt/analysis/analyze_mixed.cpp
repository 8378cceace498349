// analyze_mixed: see the header.
#include "crdt/analysis/analyze_mixed.hpp"

#include <algorithm>
#include <chrono>

#include "crdt/solve/common_order.hpp"

namespace cupel::crdt {

namespace {

bool any_is(const std::vector<Analysis>& objects, Verdict verdict) {
  return std::any_of(objects.begin(), objects.end(),
                     [&](const Analysis& object) { return object.decision.verdict == verdict; });
}

std::vector<Analysis> each_alone(const MixedHistory& history, AnalysisOptions options,
                                 const std::vector<Visibility>& visibility, base::Budget& budget) {
  std::vector<Analysis> objects;
  objects.reserve(history.objects.size());
  for (std::size_t o = 0; o < history.objects.size(); ++o) {
    options.visibility = visibility.empty() ? nullptr : &visibility[o];
    objects.push_back(analyze(history.objects[o].history, options, budget));
    if (objects.back().decision.verdict == Verdict::kViolated) options.shrink_seconds = 0;
  }
  return objects;
}

// Of objects that were decided without deliveries.
Verdict verdict_together(const MixedHistory& history, const AnalysisOptions& options,
                         std::vector<Analysis>& objects, std::string& limit, base::Budget& budget) {
  if (any_is(objects, Verdict::kViolated)) return Verdict::kViolated;
  for (const Analysis& object : objects) {
    if (object.decision.verdict == Verdict::kSatisfied) continue;
    limit = object.limit;
    return Verdict::kUnknown;
  }
  std::vector<const Witness*> alone;
  for (const Analysis& object : objects) alone.push_back(&*object.decision.witness);
  auto common = decide_together(history, alone, options.axioms, budget);
  if (common.verdict == Verdict::kUnknown)
    limit = budget.limit() == base::Limit::kNone ? "size" : base::to_string(budget.limit());
  if (common.verdict == Verdict::kSatisfied) {
    for (std::size_t o = 0; o < objects.size(); ++o)
      objects[o].decision.witness = std::move(common.witnesses[o]);
  }
  return common.verdict;
}

Verdict without_deliveries(const MixedHistory& history, AnalysisOptions options,
                           base::Budget& budget) {
  options.shrink_seconds = 0;
  options.converge = false;
  auto objects = each_alone(history, options, {}, budget);
  std::string limit;
  return verdict_together(history, options, objects, limit, budget);
}

}  // namespace

MixedAnalysis analyze_mixed(const MixedHistory& history, const AnalysisOptions& options,
                            base::Budget& budget) {
  const auto began = base::Budget::Clock::now();
  MixedAnalysis found{.axioms = options.axioms};
  if (options.visibility != nullptr) {
    found.visibility.reserve(history.objects.size());
    for (const MixedObject& object : history.objects)
      found.visibility.push_back(Visibility::of(object.history).value());
  }
  auto alone = options;
  alone.also_without = false;
  found.objects = each_alone(history, alone, found.visibility, budget);
  if (options.visibility == nullptr) {
    found.decided = verdict_together(history, options, found.objects, found.limit, budget);
    if (found.decided == Verdict::kViolated && !any_is(found.objects, Verdict::kViolated)) {
      base::Budget shrinking(std::chrono::duration<double>(options.shrink_seconds),
                             options.memory_bytes);
      found.together = core_of_several(history, options.axioms, shrinking);
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
    found.without_context = without_deliveries(history, options, budget);
  found.seconds = std::chrono::duration<double>(base::Budget::Clock::now() - began).count();
  return found;
}

Verdict verdict_of(const MixedAnalysis& analysis) {
  const auto verdict = analysis.decided;
  const auto& objects = analysis.objects;
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

}  // namespace cupel::crdt
