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

void TreeState::add(const TreeMove& move) {
  if (move.key >= trees_.size()) trees_.resize(move.key + 1);
  trees_[move.key].added.push_back(move);
  const auto most = std::max(move.node, is_node(move.target) ? move.target : 0);
  if (most >= nodes_.size()) nodes_.resize(most + 1);
}

void TreeState::perform_added(std::uint32_t key) {
  if (key >= trees_.size() || trees_[key].added.empty()) return;
  auto& log = trees_[key].log;
  auto& added = trees_[key].added;
  const auto is_before = [](const TreeMove& a, const TreeMove& b) { return a.rank < b.rank; };
  std::stable_sort(added.begin(), added.end(), is_before);
  later_.clear();
  for (; !log.empty() && is_before(added.front(), log.back().move); log.pop_back()) {
    const Done& last = log.back();
    if (last.effective) place(key, last.move.node, last.before);
    later_.push_back(last.move);
  }
  for (const TreeMove& move : added) {
    for (; !later_.empty() && is_before(later_.back(), move); later_.pop_back())
      perform(later_.back());
    perform(move);
  }
  for (; !later_.empty(); later_.pop_back()) perform(later_.back());
  added.clear();
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
