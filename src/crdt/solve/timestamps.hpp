// Timestamps: Lamport's, of the updates of a history whose deliveries are known. Most
// implementations order concurrent updates by them, so they are the first guess where an order is
// looked for.
#pragma once

#include <tuple>
#include <vector>

#include "crdt/model/visibility.hpp"

namespace cupel::crdt {

class Timestamps {
 public:
  Timestamps(const History& history, const Visibility& visibility);

  // Of equal ones the name of the replica decides, "2" before "10".
  [[nodiscard]] bool is_before(OpId a, OpId b) const { return rank(a) < rank(b); }
  [[nodiscard]] std::uint64_t stamp(OpId id) const { return stamp_[id]; }

 private:
  [[nodiscard]] std::tuple<std::uint64_t, std::uint32_t, OpId> rank(OpId id) const {
    return {stamp_[id], name_rank_[history_.ops[id].replica], id};
  }

  const History& history_;
  std::vector<std::uint64_t> stamp_;      // by operation
  std::vector<std::uint32_t> name_rank_;  // by replica
};

}  // namespace cupel::crdt
