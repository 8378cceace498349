// Oracle: the thesis's axioms, read aloud over every happens-before of a small history.
// Uses the History and nothing else of crdt.
#pragma once

#include <functional>
#include <vector>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

// At most 12 operations, and few enough replicas for patience. `strict` as in Axioms.
bool admitted_by_oracle(const History& history, bool strict);

// Is the happens-before given as sets of predecessors admitted? For witnesses.
bool admitted_with(const History& history, const std::vector<std::uint32_t>& past, bool strict);

// Are these sets of what each operation had seen admitted? They need not be transitive.
bool admitted_as_seen(const History& history, const std::vector<std::uint32_t>& seen, bool strict);

// Does a happens-before of the operations pass this test? Only their replicas count.
using TestOfPast = std::function<bool(const std::vector<std::uint32_t>& past)>;
bool any_happens_before(const History& history, const TestOfPast& test);

}  // namespace cupel::crdt
