// Random small histories: a seed makes one. A simulated store with random weak
// behaviours executes a random plan, so that most histories are nearly valid at
// some level; then sometimes one value is changed.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "support/history_language.hpp"

namespace cupel::test {

enum class Kind : std::uint8_t {
  kRegister,      // unique values
  kDuplicates,    // values written more than once
  kStatuses,      // aborted and indeterminate transactions
  kList,          // list-append
  kListStatuses,  // the same with aborts, indeterminates and repeated elements; every other one
                  // with many of these, half of them with times
  kRange,         // range reads, inserts, deletes, tombstones; every other one with duplicates,
                  // failed compare-and-sets and keys read twice: many writers for each read;
                  // of the others, every other one with lists in the ranges
  kCompareAndSet,
  kRealTime,      // overlapping intervals
  kMultiRead,     // the same key read more than once in a transaction
  kSingleObject,  // one key a transaction, with times: linearizable has a meaning
  kEverything,    // registers with all of the above; every fourth one with lists in the ranges
  kSessionOrder,  // a sound store, but transactions change places within sessions
  kRangeRows,     // range reads that return a key several times, with some other version's
                  // value or another one; with aborts, indeterminates and compare-and-sets
};
inline constexpr int kKindCount = 13;

std::string_view name(Kind kind);
Kind kind_of_seed(std::uint64_t seed);  // seeds go round the kinds

Sketch random_sketch(Kind kind, std::uint64_t seed);

// The smallest sketch that still `fails`, by leaving out sessions, transactions
// and operations and shortening what is left, one at a time.
Sketch shrink(Sketch sketch, const std::function<bool(const Sketch&)>& fails);

}  // namespace cupel::test
