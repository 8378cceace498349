// Oracle: the thesis's axioms, read aloud over every happens-before of a small history.
// Uses the History and nothing else of crdt.
#pragma once

#include "crdt/model/history.hpp"

namespace cupel::crdt {

// At most 12 operations, and few enough replicas for patience. `strict` as in Axioms.
bool admitted_by_oracle(const History& history, bool strict);

// Is the happens-before given as sets of predecessors admitted? For witnesses.
bool admitted_with(const History& history, const std::vector<std::uint32_t>& past, bool strict);

}  // namespace cupel::crdt
