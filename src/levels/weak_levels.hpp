// Weak levels: read-committed, read-atomic and causal.
//
// Where each read has one possible writer: one pass of order::decide_visibility.
// Where reads have several (duplicate values, absent keys, failed
// compare-and-sets) the level holds if some choice of writers passes: one is guessed
// along an order, and where that fails a solver proposes others, of which each cycle
// excludes some (docs/algorithms/weak-levels.md).
#pragma once

#include "levels/decision.hpp"

namespace cupel::levels {

BranchDecision decide_weak_level(const DecisionInput& input, Level level, base::Budget& budget);

}  // namespace cupel::levels
