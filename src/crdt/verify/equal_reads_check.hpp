// Equal reads check: do reads of one key that had seen the same of it return the same? For the
// verifier. It shares no code with solve/equal_reads.hpp.
//
// Equal sets of updates have equal sums of random numbers, so that none is overlooked, and what
// differs is compared in full.
#pragma once

#include <vector>

#include "crdt/verify/seen_updates.hpp"

namespace cupel::crdt {

// `counts`: by operation.
bool has_equal_reads(const History& history, const SeenUpdates& seen,
                     const std::vector<bool>& counts);

}  // namespace cupel::crdt
