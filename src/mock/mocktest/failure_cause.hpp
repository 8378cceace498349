// Failure cause: which anomaly made the command fail.
//
// The history of the failed run keeps to the store's level and violates a stronger one, or else no
// anomaly made the command fail. Among the anomalies of the stronger levels the cause is most
// likely one that involves the last committed transaction that read, since the command fails soon
// after it. If there is none, it is one whose writes that transaction read: many tests look at the
// result in a transaction of its own. Anomalies without the last reader are excluded one after
// another: the reads of their transactions become unknown, and the rest of the history is checked
// again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/history/history.hpp"
#include "engine/analysis/analyze.hpp"
#include "engine/levels/level.hpp"
#include "engine/mock/store.hpp"

namespace cupel::mocktest {

struct FailureCause {
  // Of the whole history, at each level that was checked, the weakest first, but for the one that
  // ended the run. The last one may be unknown: a limit was met, and there is no cause.
  std::vector<analysis::Analysis> checks = {};

  // The anomaly, in the history without the reads that were excluded.
  struct Anomaly {
    history::History history;
    analysis::Analysis analysis;
  };
  // The one that involves the last transaction that read, at the weakest level that has one; or
  // else the first one that it observed; or else the first of the weakest level that is violated.
  // None: no level is violated.
  std::optional<Anomaly> anomaly = {};
  std::optional<analysis::Analysis> counts = {};  // of the whole history, at the anomaly's level
  bool involves_last_reader = false;
  bool observed_by_last_reader = false;  // it read what a transaction of the anomaly wrote
  std::string last_reader_session = {};
  int excluded = 0;                                    // anomalies without that transaction
  std::optional<levels::Level> weakest_violated = {};  // of those levels

  [[nodiscard]] bool unknown() const {
    return !anomaly && !checks.empty() &&
           checks.back().check.levels.front().verdict == check::Verdict::kUnknown;
  }
};

// `level`: that of the store. `ended_by`: the level whose violation ended the run, which is checked
// last if it was not among the others. The budget of `options` is for the whole search.
FailureCause find_failure_cause(const history::History& history, mock::Level level,
                                const analysis::Options& options,
                                std::optional<levels::Level> ended_by = {});

}  // namespace cupel::mocktest
