// Converge: do replicas that received every update have the same state (strong eventual
// consistency), and how long did it take?
//
// The caller asserts that every update was delivered: a history does not record it. For each key,
// the last read of each replica counts if it stands after the key's last update in the file. Reads
// of one element of a set do not count.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

struct Convergence {
  // Of each key that differs, two last reads that returned different states.
  std::vector<std::pair<OpId, OpId>> different;
  std::size_t keys = 0;  // that two replicas or more have a last read of; 0: nothing is known
  // Replicas that did not read a key after its last update: nothing is known of them.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> unread;  // key, replica
  // Of keys that are the same everywhere: nanoseconds from the last update to the read
  // from which on all replicas returned the last state, at most; ascending. Where times
  // are recorded.
  std::vector<std::int64_t> nanoseconds;
};

Convergence converge(const History& history);

// Did two reads of one kind return the same? Sets and siblings have no order. Siblings of one value
// count once: a read may return concurrent writes of it as one or as several
// (docs/reference/crdt.md#choices).
bool same_answer(const History& history, OpId one, OpId other);

}  // namespace cupel::crdt
