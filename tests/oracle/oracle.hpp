// The oracle: does a small history satisfy a level, by trying everything?
//
// It sees base and history only (and the names of the levels), shares nothing
// with the engine, and says docs/reference/levels.md as literally as it can: every choice
// of writer for every read, then, for the weak levels, the formula on a
// transitive closure, and for the others every total order of events. Meant for
// some twelve transactions; slow on purpose where speed would need an argument.
#pragma once

#include "data/history/history.hpp"
#include "engine/levels/level.hpp"

namespace cupel::oracle {

// Real-time levels need history.has_all_times(), linearizable needs
// is_single_object(history): otherwise the question has no meaning (asserted).
// `drift` widens every interval on both sides.
bool oracle_satisfies(const history::History& history, levels::Level level,
                      history::Time drift = 0);

// No transaction that may have happened touches two keys, or reads a range.
bool is_single_object(const history::History& history);

// How many assignments of writers to reads there are: a bound on the work.
double writer_choices(const history::History& history);

}  // namespace cupel::oracle
