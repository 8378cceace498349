// Clocks: reachability between events, one integer per node and chain.
//
// clock[v][c] is the last position in chain c that reaches v (v itself
// included), 0 if none. u reaches v iff clock[v][chain(u)] >= position(u).
// A pass in topological order takes the maximum over incoming arcs (a vector
// clock; docs/internals/algorithms/saturation.md): nodes + arcs times chains. Chains are taken in
// blocks so that memory is bounded whatever the number of sessions: a Clocks
// holds one block of columns at a time.
#pragma once

#include <vector>

#include "engine/order/event_graph.hpp"

namespace cupel::order {

class Clocks {
 public:
  // Columns for chains [first, first + width). For the block of the last call
  // only what arcs added since then change is computed: one graph per Clocks.
  // False if the budget ended before; then nothing here may be asked.
  bool compute(const EventGraph& graph, ChainId first, std::uint32_t width, base::Budget& budget);

  [[nodiscard]] bool has(ChainId c) const { return c >= first_ && c < first_ + width_; }
  [[nodiscard]] std::uint32_t at(Node v, ChainId c) const {
    return rows_[static_cast<std::size_t>(v) * stride_ + (c - first_)];
  }
  [[nodiscard]] bool reaches(const EventGraph& graph, Node u, Node v) const {
    return at(v, graph.chain(u)) >= graph.position(u);
  }
  // The row of v changed in the last compute(), against the one before it (of
  // the same block). Everything counts as changed the first time.
  [[nodiscard]] bool changed(Node v) const { return changed_[v] != 0; }
  void call_all_changed() { changed_.assign(changed_.size(), 1); }

  // Bytes that a block of `width` chains takes.
  static std::uint64_t bytes(const EventGraph& graph, std::uint32_t width);

 private:
  ChainId first_ = 0;
  std::uint32_t width_ = 0;
  std::uint32_t stride_ = 0;
  std::size_t arcs_ = 0;  // of the graph, at the last compute()
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint8_t> changed_;
};

}  // namespace cupel::order
