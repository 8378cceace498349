// Exhaustive search: does a small history have an execution?
//
// For each two operations, it is open, known or excluded that the first happens before the second.
// Known and excluded pairs are closed under transitivity, and each read adds the pairs that every
// execution has. If this decides nothing, an open pair is tried both ways. The verifier shares no
// code with decide.hpp.
#pragma once

#include <optional>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

// Nothing: more to try than it will. Memory: quadratic in operations.
std::optional<bool> has_execution(const History& history, bool strict);

}  // namespace cupel::crdt
