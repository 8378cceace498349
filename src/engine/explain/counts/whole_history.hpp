// Whole-history analysis: how often each anomaly occurs in a history with a violation,
// and further violations, one for each independent root cause.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/counts/anomaly_counts.hpp"
#include "engine/explain/counts/root_causes.hpp"

namespace cupel::counts {

struct WholeHistory {
  std::vector<AnomalyCount> counts;  // in order of severity; what was not found is left out
  bool counted = false;              // false: a limit ended the counting early
  RootCauses causes;
};

// Nothing if `result` has no violated level. `options`: those of the check. Counting
// may take what `budget` leaves; the causes as much, but no longer than two seconds and a
// tenth of what the check took (`seconds` in their place, if given).
std::optional<WholeHistory> analyze_history(const History& history,
                                            const check::CheckResult& result,
                                            const check::Options& options, base::Budget& budget,
                                            std::optional<double> seconds = {});

// What is reported of a history occurs in it: a name that is not among the counts is added, "at
// least one", and its keys to those of a count that is not exact.
void count_reported(const History& history, std::span<const explain::Counterexample> reported,
                    WholeHistory& analysis);

}  // namespace cupel::counts
