// Sparse clocks: for each event, the chains that have an event in its past, with the last one's
// position. For graphs of so many chains that one integer for each event and chain
// (engine/order/clocks.hpp) takes quadratic time and memory, and where few chains reach each event:
// a million sessions of one transaction each, of which each reads from two others. An event that
// learns of no further chain shares the row of the event before it. Cost: arcs times the length of
// a row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "engine/order/event_graph.hpp"

namespace cupel::order {

class SparseClocks {
 public:
  struct Entry {
    ChainId chain;
    std::uint32_t position;
  };

  // False: the rows would have more than so many entries, or the budget ended; then nothing here
  // may be asked. The graph must be sorted.
  bool compute(const EventGraph& graph, std::size_t most_entries, base::Budget& budget);

  // By chain, without v's own.
  [[nodiscard]] std::span<const Entry> others(Node v) const {
    return std::span(entries_).subspan(rows_[v].first, rows_[v].size);
  }
  // The last position of chain c that reaches v, v itself included; 0: none.
  [[nodiscard]] std::uint32_t at(const EventGraph& graph, Node v, ChainId c) const {
    if (graph.chain(v) == c) return graph.position(v);
    const auto row = others(v);
    const auto found = std::lower_bound(row.begin(), row.end(), c,
                                        [](const Entry& e, ChainId id) { return e.chain < id; });
    return found != row.end() && found->chain == c ? found->position : 0;
  }

 private:
  struct Row {
    std::uint32_t first = 0, size = 0;  // into entries_
  };
  std::vector<Entry> entries_;
  std::vector<Row> rows_;  // by node
};

// The events in as few chains as a walk in topological order finds: an event continues the chain of
// an event before it, if no other event does. Along each there is a path of arcs, as along a
// session. The graph must be sorted.
std::vector<std::vector<Node>> covering_paths(const EventGraph& graph);

}  // namespace cupel::order
