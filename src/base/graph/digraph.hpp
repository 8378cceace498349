// Digraph: a static directed graph in compressed rows, with an id on each arc.
//
// Textbook algorithms over it: topological order guided by a priority, strongly
// connected components (Tarjan, iterative), shortest path by 0-1 breadth-first
// search. Costs are linear in nodes + arcs unless said otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace cupel::graph {

using Node = std::uint32_t;
using ArcId = std::uint32_t;
inline constexpr Node kNoNode = std::numeric_limits<Node>::max();

struct Arc {
  Node from, to;
};

class Digraph {
 public:
  struct Out {
    Node to;
    ArcId id;
  };

  Digraph() = default;
  // Arc i of `arcs` gets id i.
  Digraph(std::size_t nodes, std::span<const Arc> arcs);

  [[nodiscard]] std::size_t node_count() const { return first_.empty() ? 0 : first_.size() - 1; }
  [[nodiscard]] std::size_t arc_count() const { return out_.size(); }
  [[nodiscard]] std::span<const Out> out(Node node) const {
    return std::span(out_).subspan(first_[node], first_[node + 1] - first_[node]);
  }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<Out> out_;
};

// Nodes in an order in which every arc goes forward. Shorter than node_count()
// if the graph has a cycle: then it holds the nodes that no cycle reaches.
std::vector<Node> topological_order(const Digraph& graph);

// component[v] = number of v's strongly connected component; components are
// numbered in reverse topological order.
struct Components {
  std::vector<std::uint32_t> component;
  std::uint32_t count = 0;
};
// The second form takes the arcs of two graphs over the same nodes together.
Components strongly_connected(const Digraph& graph);
Components strongly_connected(const Digraph& graph, const Digraph& more);

// Biconnected components of an undirected graph given by its edges: for each,
// the sorted vertices. An isolated vertex is a component of its own.
std::vector<std::vector<std::uint32_t>> biconnected_components(std::size_t vertices,
                                                               std::span<const Arc> edges);

}  // namespace cupel::graph
