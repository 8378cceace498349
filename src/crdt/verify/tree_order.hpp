// Tree order: the order in which an array shows its characters, for the verifier. A character comes
// after the one that it was added after; of several added after the same one, the later in the
// linearization comes first.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

class TreeOrder {
 public:
  explicit TreeOrder(const History& history);

  // By element: its place, with this place of each operation in the linearization; those that
  // nobody added come last. One walk through the tree.
  [[nodiscard]] std::vector<std::size_t> places(const std::vector<std::size_t>& linearized) const;

  // What two characters, shown in this order, ask of the linearization: the first addition before
  // the second one.
  struct Asked {
    bool impossible = false;  // the second is above the first, or the additions are no tree
    std::optional<std::pair<OpId, OpId>> order = {};  // nothing: the first is above the second
  };
  [[nodiscard]] Asked asked(std::uint32_t first, std::uint32_t second) const;
  // Steps taken upwards so far.
  [[nodiscard]] std::uint64_t work() const { return work_; }

 private:
  [[nodiscard]] std::uint32_t parent(std::uint32_t e) const { return h_.ops[insert_[e]].parent; }

  const History& h_;
  std::vector<OpId> insert_;          // by element; kNone: nobody added it
  std::vector<std::uint32_t> depth_;  // by element; 0: nobody added it
  // An element is added once, and by who has seen the one before it: so where some come after each
  // other, or after one that nobody added, the history has no execution.
  bool is_tree_ = true;
  mutable std::uint64_t work_ = 0;
};

}  // namespace cupel::crdt
