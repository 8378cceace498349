// Equal reads: strong eventual consistency alone. Two reads of one object that had seen the same
// updates of it return the same, whatever the type says (Shapiro, Preguiça, Baquero, Zawirski:
// Conflict-free Replicated Data Types, SSS 2011).
//
// Each replica keeps, for each key, the sum of random numbers, one for each visible update. Reads
// with equal sums are compared with the first of them. If they differ, the updates that both had
// seen are compared, too, so that equal sums of different sets accuse nobody.
//
// Cost: operations + deliveries × replicas, and the updates for each read that differs.
#pragma once

#include <optional>
#include <utility>

#include "crdt/model/visibility.hpp"

namespace cupel::crdt {

// Two reads that differ, the earlier one of the file first.
std::optional<std::pair<OpId, OpId>> unequal_reads(const History& history,
                                                   const Visibility& visibility);

}  // namespace cupel::crdt
