// Root causes: several violations of one history instead of one, each with a cause of its own.
//
// The search finds a violation, sets its cause aside, and asks the engine again, until
// nothing is violated or a limit is met. The cause of a cycle is taken to be the
// reads in it that missed something (where rw edges start, and where an order is
// forced because a read missed a visible write): they, and every other first read of
// the same version of the same key, become unknown (data/history/mask.hpp), but for reads that
// the counts list under another name: they are causes of their own. A cycle in which
// nothing was missed loses all its reads. Reads that became unknown constrain
// nothing, so each violation found later is one of the whole history as well.
//
// Anomalies inside a transaction or a read are one cause for each kind and key; for
// aborted and intermediate reads for each kind and writer.
//
// The levels are gone through from the weakest, so what the level of a cause implies
// is satisfied without that cause, as far as it was looked at.
//
// Cost: a check of one level for each cause and for each level without one, and a
// copy of the history.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "data/history/history.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/counts/anomaly_counts.hpp"
#include "engine/explain/why/counterexample.hpp"

namespace cupel::counts {

struct RootCause {
  levels::Level level;  // the weakest level looked at that forbids it
  levels::Violation
      violation;  // at that level, or one that implies it. An internal anomaly: one of them
  std::string name, adya;            // as explain() calls it
  std::vector<history::KeyId> keys;  // that it is about
  std::size_t transactions = 0;      // that take part
  // How often the same thing shows: internal anomalies of the group; reads of the same
  // version that missed a write in the same way; updates lost from one version.
  std::uint64_t occurrences = 1;
  // The check came upon it itself (of internal anomalies: upon this very one), and its result
  // has it.
  bool from_check = false;
  std::optional<explain::Counterexample> small;  // for the caller, who may make it small
};

struct RootCauseLimits {
  std::size_t causes = 10;  // reported at most
  // Over all levels; then the others of that name are set aside untold, at once where the
  // counts has marked their reads. A new name may take the place of another's second or third.
  std::size_t of_one_name = 3;
  history::Time clock_drift_ns = 0;
  unsigned threads = 0;
};

struct RootCauses {
  std::vector<RootCause> found;  // most severe first (severity.hpp), then smallest
  // RootCauses that `causes` and `of_one_name` cut off: their number, by name. Of a name that
  // the counts counts those alone that were found first.
  std::vector<std::pair<std::string, std::uint64_t>> left_out;
  // With these set aside (and all of their names, where there were too many) no level
  // is violated; else a limit was met, and there may be more.
  bool all = false;
};

// What violates the levels that `result` says are violated. `counts`: of this history,
// finished or not. A budget that ends stops the search, and what was found stands.
RootCauses find_root_causes(const History& history, const check::CheckResult& result,
                            const AnomalyCounts& counts, const RootCauseLimits& limits,
                            base::Budget& budget);

// Into their order again, after a cause's level was changed.
void sort(RootCauses& causes);

}  // namespace cupel::counts
