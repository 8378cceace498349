// shrink: the smallest part of a history that still violates the same level with
// the same anomaly, by delta debugging (Zeller & Hildebrandt, ddmin, TSE 2002).
//
// The start is not the history but what its violation speaks of: the operations in
// the derivation, and the writers of what they read. From there transactions are
// left out, in halves first and one by one at last, then operations, until nothing
// can be left out. Whatever is tried is decided by the engine, and whatever it finds
// is a violation of the whole history (select.hpp). Where it finds one its
// derivation may speak of less than was tried, and then all the rest goes at once.
//
// Cost: one pass over the history's operations; the rest is that of deciding, some
// hundred times, what the violation speaks of: milliseconds for a short cycle.
#pragma once

#include <optional>
#include <vector>

#include "data/history/history.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/why/counterexample.hpp"
#include "engine/levels/derivation.hpp"
#include "engine/levels/level.hpp"

namespace cupel::shrink {

struct Options {
  double seconds = 5;  // then the smallest part so far is the answer, and is not `minimal`
  std::uint64_t memory_limit_bytes = 0;  // resident, whole process; 0: none
  history::Time clock_drift_ns = 0;      // that the violation was found with
};

// The violation, which was found in `history` at `level`, made small. Of internal
// anomalies the first is taken. The same history and violation give the same
// counterexample unless the time is up before it is minimal.
//
// The anomaly keeps the name that explain() gives it in the whole history, wherever
// some part that was tried at the start has one of that name; else it is of the name
// it has there. Nothing: no part violates the level, which happens where the
// violation rests on so much of the history that a part of it was not tried.
std::optional<explain::Counterexample> shrink(const history::History& history, levels::Level level,
                                              const levels::Violation& violation,
                                              const Options& options = {});

// The same counterexample as one of the weakest level that its history violates with an
// anomaly of the same name: a level at which the whole history was violated in another way
// first may be stronger than what this one needs. Costs a decision of the small history
// for each level that is weaker, and changes nothing where a limit is met.
void file_at_weakest(explain::Counterexample& small, const Options& options = {});

// One for each violation of the result, those of the weakest violated levels first: of
// internal anomalies the first of each name. What shrinks to the same part is one.
// The seconds are for all of them together.
std::vector<explain::Counterexample> counterexamples(const history::History& history,
                                                     const check::CheckResult& result,
                                                     const Options& options = {});

}  // namespace cupel::shrink
