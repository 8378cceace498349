// Exhaustive search: does a small history have an execution?
//
// For each two operations, it is open, known or excluded that the first happens before the second.
// Known and excluded pairs are closed under transitivity, and each read adds the pairs that every
// execution has. If this decides nothing, an open pair is tried both ways. The verifier shares no
// code with decide.hpp.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

// Nothing: more to try than it will. Memory: quadratic in operations.
std::optional<bool> has_execution(const History& history, bool strict);

// The same of objects that share one happens-before, each with a linearization of its own.
struct SharedObject {
  const History& history;
  std::vector<OpId> origin;  // by operation: that of the whole; empty: the object is the whole
};
// `whole`: all operations with their replicas and times.
std::optional<bool> have_execution(const History& whole, std::span<const SharedObject> objects,
                                   bool strict);

}  // namespace cupel::crdt
