// SparseClocks: see the header.
#include "engine/order/sparse_clocks.hpp"

#include <limits>

namespace cupel::order {

namespace {

using Entry = SparseClocks::Entry;

// `row` becomes the later of both, chain by chain, but of `own`, which is the chain of the event
// that learns of them. `spare`: of earlier calls.
void merge(std::vector<Entry>& row, std::span<const Entry> other, ChainId own,
           std::vector<Entry>& spare) {
  spare.clear();
  auto left = row.begin();
  for (const Entry& entry : other) {
    if (entry.chain == own) continue;
    while (left != row.end() && left->chain < entry.chain) spare.push_back(*left++);
    if (left != row.end() && left->chain == entry.chain) {
      spare.push_back({entry.chain, std::max(left->position, entry.position)});
      ++left;
    } else {
      spare.push_back(entry);
    }
  }
  spare.insert(spare.end(), left, row.end());
  row.swap(spare);
}

}  // namespace

bool SparseClocks::compute(const EventGraph& graph, std::size_t most_entries,
                           base::Budget& budget) {
  // A row names its place by 32 bits.
  most_entries = std::min<std::size_t>(most_entries, std::numeric_limits<std::uint32_t>::max());
  entries_.clear();
  rows_.assign(graph.problem().node_count(), {});
  std::vector<Entry> row, spare;
  std::uint32_t done = 0;
  for (const Node v : graph.topological()) {
    if ((++done & 0xfff) == 0 && budget.exceeded()) return false;
    const ChainId own = graph.chain(v);
    const Node before = graph.previous(v);
    if (before != graph::kNoNode) rows_[v] = rows_[before];
    bool grown = false;
    for (const auto& in : graph.in(v)) {
      const ChainId chain = graph.chain(in.from);
      const Entry direct{chain, graph.position(in.from)};
      if (chain == own) continue;  // the event before has its past
      if (!grown) {
        if (at(graph, v, chain) >= direct.position) continue;
        row.assign(others(v).begin(), others(v).end());
        grown = true;
      }
      merge(row, others(in.from), own, spare);
      merge(row, std::span(&direct, 1), own, spare);
    }
    if (!grown) continue;
    if (entries_.size() + row.size() > most_entries) return false;
    rows_[v] = {static_cast<std::uint32_t>(entries_.size()),
                static_cast<std::uint32_t>(row.size())};
    entries_.insert(entries_.end(), row.begin(), row.end());
  }
  return true;
}

std::vector<std::vector<Node>> covering_paths(const EventGraph& graph) {
  std::vector<std::vector<Node>> paths;
  constexpr auto kContinued = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> path_that_ends_in(graph.problem().node_count(), kContinued);
  for (const Node v : graph.topological()) {
    Node before = graph.previous(v);
    const auto may_continue = [&](Node u) {
      return u != graph::kNoNode && path_that_ends_in[u] != kContinued;
    };
    for (const auto& in : graph.in(v)) {
      if (may_continue(before)) break;
      before = in.from;
    }
    if (may_continue(before)) {
      path_that_ends_in[v] = std::exchange(path_that_ends_in[before], kContinued);
    } else {
      path_that_ends_in[v] = paths.size();
      paths.emplace_back();
    }
    paths[path_that_ends_in[v]].push_back(v);
  }
  return paths;
}

}  // namespace cupel::order
