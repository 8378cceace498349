// survey: what a whole history with a violation holds: how often each anomaly
// occurs, and several violations, one for each independent cause.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "check/check.hpp"
#include "survey/causes.hpp"
#include "survey/census.hpp"

namespace cupel::survey {

struct Survey {
  std::vector<Count> counts;  // in order of severity; what was not found is left out
  bool counted = false;       // false: a limit ended the counting early
  Causes causes;
};

// Nothing if `result` has no violated level. `options`: those of the check. Counting
// may take what `budget` leaves; the causes as much, but no longer than two seconds and a
// tenth of what the check took (`seconds` in their place, if given).
std::optional<Survey> survey(const History& history, const check::CheckResult& result,
                             const check::Options& options, base::Budget& budget,
                             std::optional<double> seconds = {});

}  // namespace cupel::survey
