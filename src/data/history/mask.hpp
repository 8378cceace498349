// mask: a history in which some reads are not known.
//
// Nothing else changes: transactions, operations, keys and values keep their ids,
// so that what is found in the copy can be described in the names of the original. An
// unknown read constrains nothing, hence whatever the original satisfies the copy
// satisfies too.
#pragma once

#include <span>
#include <vector>

#include "data/history/history.hpp"
#include "data/history/scalar.hpp"

namespace cupel::history {

// A read, a list read or a range read becomes one whose answer nobody knows, a
// compare-and-set that succeeded a plain write, one that failed an unknown read;
// operations that only write stay. O(reads), beyond what the copy of an lvalue costs.
[[nodiscard]] History with_unknown(History history, std::span<const OpId> reads);

// Compare-and-sets as if they had failed, and nobody knew what they saw: unknown reads.
[[nodiscard]] History with_failed(History history, std::span<const OpId> compares);

// What with_unknown() needs so that nothing is known of these keys: the operations on them, and the
// ranges that hold one.
[[nodiscard]] std::vector<OpId> operations_on(const History& history, const ScalarTable& keys);

}  // namespace cupel::history
