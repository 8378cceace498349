// Weak levels: read-committed, read-atomic and causal.
//
// Where each read has one possible writer: one pass of order::decide_visibility.
// Where reads have several (duplicate values, absent keys, failed
// compare-and-sets) the level holds if some choice of writers passes: one is guessed
// along an order, and where that fails a solver proposes others, of which each cycle
// excludes some (docs/internals/algorithms/weak-levels.md).
#pragma once

#include <optional>
#include <string>

#include "engine/levels/decision.hpp"

namespace cupel::levels {

BranchDecision decide_weak_level(const DecisionInput& input, Level level, base::Budget& budget);

// What another process found in its part, for the team's decide_weak_level(). Nothing: the budget
// ended, or the reads have several possible writers, which the team is not asked about.
std::optional<std::string> find_team_part(const DecisionInput& input, Level level,
                                          base::TeamPart part, base::Budget& budget);

}  // namespace cupel::levels
