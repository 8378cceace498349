// Tree state: the moves of trees in one order, and the trees that they make (Kleppmann, Mulligan,
// Gomes and Beresford, A highly-available move operation for replicated trees, 2022).
//
//   TreeState state;
//   state.add({.rank = 7, .move = id, .key = 0, .node = a, .target = TreeState::kRoot});
//   state.perform_added(0);
//   state.target(a);  // kRoot
//
// A move whose target is below its node has no effect. Moves may come at any place of the order:
// those after the first of them are undone and done again, once for all that were added since the
// tree was looked at. Where replicas fall far behind each other, most come in large numbers. Cost:
// the moves that are done again, each with its way up.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

struct TreeMove {
  std::uint64_t rank;  // its place in the order; none twice
  OpId move;
  std::uint32_t key, node;
  std::uint32_t target;  // a node, or one of the two below
};

class TreeState {
 public:
  // Where a node is that is not below another one; kNone: it was never moved.
  static constexpr std::uint32_t kRoot = 0xfffffffe, kRemoved = 0xfffffffd;
  static bool is_node(std::uint32_t target) { return target < kRemoved; }
  static std::uint32_t target_of(const Operation& update) {
    if (update.kind == Kind::kDelete) return kRemoved;
    return update.parent == kNone ? kRoot : update.parent;
  }

  void clear();
  // The tree has it after perform_added().
  void add(const TreeMove& move);
  void perform_added(std::uint32_t key);

  [[nodiscard]] std::uint32_t target(std::uint32_t node) const {
    return node < nodes_.size() ? nodes_[node].target : kNone;
  }
  // How many nodes are directly below this one; below the root of a key.
  [[nodiscard]] std::size_t children(std::uint32_t node) const {
    return node < nodes_.size() ? nodes_[node].children : 0;
  }
  [[nodiscard]] std::size_t at_root(std::uint32_t key) const {
    return key < trees_.size() ? trees_[key].at_root : 0;
  }
  // Is the node this one, or below it?
  [[nodiscard]] bool is_below(std::uint32_t node, std::uint32_t above) const;

  struct Done {
    TreeMove move;
    std::uint32_t before;  // where the node was
    bool effective;
  };
  // The moves of a key in their order.
  [[nodiscard]] std::span<const Done> moves(std::uint32_t key) const {
    return key < trees_.size() ? std::span(trees_[key].log) : std::span<const Done>();
  }

 private:
  struct Node {
    std::uint32_t target = kNone;
    std::uint32_t children = 0;
  };
  struct Tree {
    std::vector<Done> log;
    std::vector<TreeMove> added;
    std::size_t at_root = 0;
  };

  void perform(const TreeMove& move);
  void place(std::uint32_t key, std::uint32_t node, std::uint32_t target);

  std::vector<Node> nodes_;      // by element
  std::vector<Tree> trees_;      // by key
  std::vector<TreeMove> later_;  // that are done again
};

}  // namespace cupel::crdt
