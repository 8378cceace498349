// Exhaustive search: has a small history an execution? By trying, with what follows drawn at once.
//
// For each two operations it is open, known or excluded that the first happens before
// the second. What is known and excluded is closed under transitivity, and each read
// adds what every execution must have; where that is not enough, an open pair is tried
// both ways. The verifier's own: nothing is shared with what decides.
#pragma once

#include <optional>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

// Nothing: more to try than it will. Memory: quadratic in operations.
std::optional<bool> has_execution(const History& history, bool strict);

}  // namespace cupel::crdt
