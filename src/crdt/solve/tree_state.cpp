// Tree state: see the header.
#include "crdt/solve/tree_state.hpp"

#include <algorithm>

namespace cupel::crdt {

void TreeState::clear() {
  nodes_.clear();
  trees_.clear();
}

bool TreeState::is_below(std::uint32_t node, std::uint32_t above) const {
  auto at = node;
  while (is_node(at) && at != above) at = target(at);
  return at == above;
}

void TreeState::insert(const TreeMove& move) {
  if (move.key >= trees_.size()) trees_.resize(move.key + 1);
  const auto most = std::max(move.node, is_node(move.target) ? move.target : 0);
  if (most >= nodes_.size()) nodes_.resize(most + 1);
  auto& log = trees_[move.key].log;
  std::vector<TreeMove> later;
  for (; !log.empty() && log.back().move.rank > move.rank; log.pop_back()) {
    const Done& last = log.back();
    if (last.effective) place(move.key, last.move.node, last.before);
    later.push_back(last.move);
  }
  perform(move);
  for (; !later.empty(); later.pop_back()) perform(later.back());
}

void TreeState::perform(const TreeMove& move) {
  const auto before = nodes_[move.node].target;
  const bool effective = !is_below(move.target, move.node);
  if (effective) place(move.key, move.node, move.target);
  trees_[move.key].log.push_back({move, before, effective});
}

void TreeState::place(std::uint32_t key, std::uint32_t node, std::uint32_t target) {
  Node& moved = nodes_[node];
  if (is_node(moved.target)) --nodes_[moved.target].children;
  if (moved.target == kRoot) --trees_[key].at_root;
  moved.target = target;
  if (is_node(target)) ++nodes_[target].children;
  if (target == kRoot) ++trees_[key].at_root;
}

}  // namespace cupel::crdt
