// The algorithms of digraph.hpp. All iterative: histories make deep graphs.
#include "base/graph/digraph.hpp"

#include <algorithm>

#include "base/offsets.hpp"

namespace cupel::graph {

Digraph::Digraph(std::size_t nodes, std::span<const Arc> arcs)
    : first_(base::offsets_by(nodes, arcs, [](const Arc& arc) { return arc.from; })),
      out_(arcs.size()) {
  auto next = first_;
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    out_[next[arcs[i].from]++] = {arcs[i].to, static_cast<ArcId>(i)};
  }
}

std::vector<Node> topological_order(const Digraph& graph) {
  const std::size_t n = graph.node_count();
  std::vector<std::uint32_t> missing(n, 0);
  for (Node v = 0; v < n; ++v) {
    for (const auto& arc : graph.out(v)) ++missing[arc.to];
  }
  std::vector<Node> order;
  order.reserve(n);
  for (Node v = 0; v < n; ++v) {
    if (missing[v] == 0) order.push_back(v);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const auto& arc : graph.out(order[i])) {
      if (--missing[arc.to] == 0) order.push_back(arc.to);
    }
  }
  return order;
}

Components strongly_connected(const Digraph& graph) {
  return strongly_connected(graph, Digraph(graph.node_count(), {}));
}

Components strongly_connected(const Digraph& graph, const Digraph& more) {
  const std::size_t n = graph.node_count();
  constexpr std::uint32_t kUnseen = kNoNode;
  Components result;
  result.component.assign(n, kUnseen);
  std::vector<std::uint32_t> index(n, kUnseen), low(n, 0);
  std::vector<Node> stack;
  struct Frame {
    Node node;
    std::uint32_t next;
  };
  std::vector<Frame> frames;
  std::uint32_t counter = 0;
  for (Node root = 0; root < n; ++root) {
    if (index[root] != kUnseen) continue;
    frames.push_back({root, 0});
    index[root] = low[root] = counter++;
    stack.push_back(root);
    while (!frames.empty()) {
      auto& [v, next] = frames.back();
      const auto out = graph.out(v);
      const auto extra = more.out(v);
      if (next < out.size() + extra.size()) {
        const Node w = next < out.size() ? out[next].to : extra[next - out.size()].to;
        ++next;
        if (index[w] == kUnseen) {
          index[w] = low[w] = counter++;
          stack.push_back(w);
          frames.push_back({w, 0});
        } else if (result.component[w] == kUnseen) {
          low[v] = std::min(low[v], index[w]);
        }
        continue;
      }
      const Node done = v;
      frames.pop_back();
      if (!frames.empty()) low[frames.back().node] = std::min(low[frames.back().node], low[done]);
      if (low[done] != index[done]) continue;
      Node member;
      do {
        member = stack.back();
        stack.pop_back();
        result.component[member] = result.count;
      } while (member != done);
      ++result.count;
    }
  }
  return result;
}

std::vector<std::vector<std::uint32_t>> biconnected_components(std::size_t vertices,
                                                               std::span<const Arc> edges) {
  // Hopcroft & Tarjan 1973, on an explicit stack of edges.
  std::vector<Arc> both;
  both.reserve(2 * edges.size());
  for (const Arc& e : edges) {
    both.push_back({e.from, e.to});
    both.push_back({e.to, e.from});
  }
  const Digraph graph(vertices, both);
  constexpr std::uint32_t kUnseen = kNoNode;
  std::vector<std::uint32_t> depth(vertices, kUnseen), low(vertices, 0);
  std::vector<std::vector<std::uint32_t>> components;
  struct Frame {
    Node node, parent;
    std::uint32_t next;
  };
  std::vector<Frame> frames;
  std::vector<Arc> stack;
  std::uint32_t counter = 0;
  for (Node root = 0; root < vertices; ++root) {
    if (depth[root] != kUnseen) continue;
    if (graph.out(root).empty()) {
      components.push_back({root});
      continue;
    }
    depth[root] = low[root] = counter++;
    frames.push_back({root, kNoNode, 0});
    while (!frames.empty()) {
      auto& frame = frames.back();
      const auto out = graph.out(frame.node);
      if (frame.next < out.size()) {
        const Node v = frame.node;
        const Node w = out[frame.next++].to;
        if (w == frame.parent || w == v) continue;
        if (depth[w] == kUnseen) {
          stack.push_back({v, w});
          depth[w] = low[w] = counter++;
          frames.push_back({w, v, 0});
        } else if (depth[w] < depth[v]) {
          stack.push_back({v, w});
          low[v] = std::min(low[v], depth[w]);
        }
        continue;
      }
      const Node child = frame.node;
      const Node parent = frame.parent;
      frames.pop_back();
      if (parent == kNoNode) continue;
      low[parent] = std::min(low[parent], low[child]);
      if (low[child] < depth[parent]) continue;
      std::vector<std::uint32_t> members;
      Arc edge;
      do {
        edge = stack.back();
        stack.pop_back();
        members.push_back(edge.from);
        members.push_back(edge.to);
      } while (edge.from != parent || edge.to != child);
      std::sort(members.begin(), members.end());
      members.erase(std::unique(members.begin(), members.end()), members.end());
      components.push_back(std::move(members));
    }
  }
  return components;
}

}  // namespace cupel::graph
