// OnlineOrder: a topological order that is kept while arcs arrive, and refuses the arc
// that would close a cycle.
//
// Source: Pearce & Kelly, A dynamic topological sort algorithm for directed acyclic
// graphs, JEA 11 (2007). An arc that agrees with the order costs O(1). One against it
// searches forward from its head and backward from its tail, within the ranks between the
// two, and permutes the ranks of what it found. Arcs can be taken back, the last first:
// whatever the ranks are by then, they still order the arcs that remain.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/graph/digraph.hpp"

namespace cupel::graph {

class OnlineOrder {
 public:
  // The new node is last in the order.
  Node add_node();
  [[nodiscard]] std::size_t node_count() const { return rank_.size(); }

  // False, and nothing changes but perhaps ranks, if there is a path to → from (or they
  // are one node). Parallel arcs are kept apart.
  bool add_arc(Node from, Node to);
  // How many arcs there are, for take_back_to().
  [[nodiscard]] std::size_t arc_count() const { return arcs_.size(); }
  // Removes the arcs that were added when there were `count` or more.
  void take_back_to(std::size_t count);

  // A permutation of 0 … node_count() - 1 in which every arc goes up.
  [[nodiscard]] std::uint32_t rank(Node node) const { return rank_[node]; }
  [[nodiscard]] std::span<const Arc> arcs() const { return arcs_; }

 private:
  // Nodes reached from `start` over `next` with ranks on this side of `bound`, `start`
  // included. False if `target` is among them.
  bool forward(Node start, Node target);
  void backward(Node start, std::uint32_t bound);
  void permute();

  std::vector<std::uint32_t> rank_;
  std::vector<std::vector<Node>> out_, in_;
  std::vector<Arc> arcs_;
  std::vector<std::uint32_t> seen_;  // by node: the search that saw it last
  std::uint32_t search_ = 0;
  std::vector<Node> forward_, backward_, stack_;
  std::vector<std::uint32_t> ranks_;
};

}  // namespace cupel::graph
