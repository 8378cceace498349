// Keys: a history of several objects as one history for each, with what each operation had seen.
// For types whose objects have nothing to do with each other: a search that takes many rounds for
// one of them does not go over the others again, and what it needs is in few places of the memory.
//
// Cost: deliveries, plus the sizes of the reads.
#pragma once

#include <vector>

#include "crdt/model/visibility.hpp"

namespace cupel::crdt {

// All operations on one key. It has all replicas in the same order; its names and texts are empty.
struct KeyPart {
  History history;
  std::vector<OpId> origin;             // by operation of the part
  std::vector<std::uint32_t> elements;  // by element of the part
  Visibility visibility;                // refers to `history`
};

class Keys {
 public:
  Keys(const History& history, const Visibility& visibility);

  // Into `part`, which stays where it is.
  void take(std::uint32_t key, KeyPart& part) const;

 private:
  const History& h_;
  const Visibility& visibility_;
  std::vector<std::vector<OpId>> ops_, order_;            // by key
  std::vector<std::vector<std::vector<OpId>>> arrivals_;  // by key and replica
  std::vector<std::vector<std::uint32_t>> elements_;      // by key
  std::vector<std::uint32_t> number_;                     // by element: in its key
};

}  // namespace cupel::crdt
