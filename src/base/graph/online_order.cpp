// The two bounded searches of Pearce and Kelly, and the permutation.
#include "base/graph/online_order.hpp"

#include <algorithm>

namespace cupel::graph {

Node OnlineOrder::add_node() {
  const auto node = static_cast<Node>(rank_.size());
  rank_.push_back(node);
  out_.emplace_back();
  in_.emplace_back();
  seen_.push_back(0);
  return node;
}

bool OnlineOrder::add_arc(Node from, Node to) {
  if (from == to) return false;
  if (rank_[from] > rank_[to]) {
    if (!forward(to, from)) return false;
    backward(from, rank_[to]);
    permute();
  }
  out_[from].push_back(to);
  in_[to].push_back(from);
  arcs_.push_back({from, to});
  return true;
}

void OnlineOrder::take_back_to(std::size_t count) {
  while (arcs_.size() > count) {
    const Arc arc = arcs_.back();
    arcs_.pop_back();
    out_[arc.from].pop_back();
    in_[arc.to].pop_back();
  }
}

bool OnlineOrder::forward(Node start, Node target) {
  const auto bound = rank_[target];
  ++search_;
  forward_.assign(1, start);
  stack_.assign(1, start);
  seen_[start] = search_;
  while (!stack_.empty()) {
    const Node node = stack_.back();
    stack_.pop_back();
    for (const Node next : out_[node]) {
      if (next == target) return false;
      if (rank_[next] > bound || seen_[next] == search_) continue;
      seen_[next] = search_;
      forward_.push_back(next);
      stack_.push_back(next);
    }
  }
  return true;
}

void OnlineOrder::backward(Node start, std::uint32_t bound) {
  ++search_;
  backward_.assign(1, start);
  stack_.assign(1, start);
  seen_[start] = search_;
  while (!stack_.empty()) {
    const Node node = stack_.back();
    stack_.pop_back();
    for (const Node next : in_[node]) {
      if (rank_[next] < bound || seen_[next] == search_) continue;
      seen_[next] = search_;
      backward_.push_back(next);
      stack_.push_back(next);
    }
  }
}

// The lower part keeps its order and goes before the upper one, on the same ranks.
void OnlineOrder::permute() {
  const auto by_rank = [&](Node a, Node b) { return rank_[a] < rank_[b]; };
  std::sort(forward_.begin(), forward_.end(), by_rank);
  std::sort(backward_.begin(), backward_.end(), by_rank);
  backward_.insert(backward_.end(), forward_.begin(), forward_.end());
  ranks_.clear();
  for (const Node node : backward_) ranks_.push_back(rank_[node]);
  std::sort(ranks_.begin(), ranks_.end());
  for (std::size_t i = 0; i < backward_.size(); ++i) rank_[backward_[i]] = ranks_[i];
}

}  // namespace cupel::graph
