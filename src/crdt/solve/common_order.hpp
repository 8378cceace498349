// Common order: one happens-before for several objects whose deliveries are not known.
//
// Each object was decided alone and has an execution. The objects share their replicas, so that
// what a replica had seen of one object brings along what had been seen before it of the others.
// The least happens-before that contains all executions is tried: each object is decided again
// under what it then has seen. If all are satisfied, so is the history. If not, other executions
// might fit together, and nothing is known.
#pragma once

#include <optional>
#include <vector>

#include "crdt/model/mixed_history.hpp"
#include "crdt/solve/decide.hpp"

namespace cupel::crdt {

// Of each object, its execution in the common one. `alone`: of each object, one that it has alone.
std::optional<std::vector<Witness>> common_execution(const MixedHistory& history,
                                                     const std::vector<const Witness*>& alone,
                                                     const Axioms& axioms, base::Budget& budget);

}  // namespace cupel::crdt
