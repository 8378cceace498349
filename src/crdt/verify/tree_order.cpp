// Tree order: see the header.
#include "crdt/verify/tree_order.hpp"

#include <algorithm>

namespace cupel::crdt {

TreeOrder::TreeOrder(const History& history)
    : h_(history), insert_(history.elements.size(), kNone), depth_(history.elements.size(), 0) {
  for (OpId id = 0; id < h_.ops.size(); ++id) {
    if (h_.ops[id].kind == Kind::kInsert) insert_[h_.ops[id].element] = id;
  }
  std::vector<std::uint32_t> up;
  for (std::uint32_t e = 0; e < insert_.size() && is_tree_; ++e) {
    for (auto at = e; at != kNone && depth_[at] == 0; at = parent(at)) {
      // Each comes after the next without an end, or nobody added it and another comes after it.
      is_tree_ = is_tree_ && up.size() <= insert_.size() && (insert_[at] != kNone || at == e);
      if (!is_tree_ || insert_[at] == kNone) break;
      up.push_back(at);
    }
    for (; !up.empty(); up.pop_back()) {
      const auto above = parent(up.back());
      depth_[up.back()] = 1 + (above == kNone ? 0 : depth_[above]);
    }
  }
}

std::vector<std::size_t> TreeOrder::places(const std::vector<std::size_t>& linearized) const {
  const auto count = static_cast<std::uint32_t>(insert_.size());
  std::vector<std::vector<std::uint32_t>> below(count + 1);  // the last: of the beginning
  for (std::uint32_t e = 0; e < count; ++e) {
    if (insert_[e] != kNone) below[parent(e) == kNone ? count : parent(e)].push_back(e);
  }
  for (auto& siblings : below) {
    std::sort(siblings.begin(), siblings.end(), [&](std::uint32_t a, std::uint32_t b) {
      return linearized[insert_[a]] < linearized[insert_[b]];
    });
  }
  std::vector<std::size_t> place(count, ~std::size_t{0});
  std::vector<std::uint32_t> open = below[count];
  for (std::size_t next = 0; !open.empty();) {
    const auto e = open.back();  // the latest
    open.pop_back();
    place[e] = next++;
    open.insert(open.end(), below[e].begin(), below[e].end());
  }
  return place;
}

TreeOrder::Asked TreeOrder::asked(std::uint32_t first, std::uint32_t second) const {
  if (!is_tree_) return {.impossible = true};
  auto a = first, b = second;
  if (insert_[a] == kNone || insert_[b] == kNone) return {};
  const auto climb = [&](std::uint32_t& e) {
    ++work_;
    e = parent(e);
  };
  while (depth_[a] > depth_[b]) climb(a);
  while (depth_[b] > depth_[a]) climb(b);
  if (a == b) return {.impossible = a == second};
  while (parent(a) != parent(b)) {
    climb(a);
    climb(b);
  }
  return {.order = std::pair(insert_[b], insert_[a])};
}

}  // namespace cupel::crdt
