// TopologicalLayers: see the header. In an order that extends the known one, a layer begins where
// nobody from there on is unordered with anybody before: `low` is the first place that a
// writer is not known to be after.
#include "engine/order/topological_layers.hpp"

#include <algorithm>
#include <numeric>

namespace cupel::order {

namespace {
// Writers whose place takes a look at every chain: so many, and a quarter of all.
constexpr std::uint32_t kMaxAsked = 32;
}  // namespace

TopologicalLayers::TopologicalLayers(const Problem& problem, const EventGraph& graph,
                                     const Versions& versions)
    : problem_(problem),
      graph_(graph),
      versions_(versions),
      order_(versions.slot_count()),
      starts_(versions.slot_count(), 0),
      settled_(problem.object_count, 0) {
  std::iota(order_.begin(), order_.end(), 0);
  for (Object x = 0; x < problem.object_count; ++x) {
    if (versions.first_slot(x) != versions.last_slot(x)) starts_[versions.first_slot(x)] = 1;
  }
}

void TopologicalLayers::update(Object x, const Clocks& clocks) {
  if (settled_[x] != 0) return;
  const Slot first = versions_.first_slot(x);
  const std::uint32_t count = versions_.last_slot(x) - first;
  Slot* const order = order_.data() + first;
  const auto target = [&](Slot s) { return problem_.write_target(versions_.writer(s)); };
  if (std::none_of(order, order + count, [&](Slot s) { return clocks.changed(target(s)); })) return;

  by_rank_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    by_rank_.emplace_back(graph_.rank(problem_.commit(versions_.writer(order[i]))), order[i]);
  }
  if (!std::is_sorted(by_rank_.begin(), by_rank_.end()))
    std::sort(by_rank_.begin(), by_rank_.end());
  place_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    order[i] = by_rank_[i].second;
    place_[order[i] - first] = i;
  }

  std::uint32_t asked = 0;
  low_.assign(count, 0);
  for (std::uint32_t i = 1; i < count; ++i) {
    const Node to = target(order[i]);
    const Node before = problem_.commit(versions_.writer(order[i - 1]));
    if (low_[i - 1] == i - 1 && clocks.has(graph_.chain(before)) &&
        clocks.reaches(graph_, before, to)) {
      low_[i] = i;
      continue;
    }
    // Where few are in one order there is little to gain: the layers stay as they are.
    if (++asked > kMaxAsked + i / 4) return;
    std::uint32_t low = i;
    for (const auto& group : versions_.groups(x)) {
      const Slot missed = clocks.has(group.chain)
                              ? versions_.first_after(group, clocks.at(to, group.chain))
                              : group.first;
      if (missed != group.last) low = std::min(low, place_[missed - first]);
    }
    low_[i] = low;
  }
  std::uint32_t low = count;
  bool settled = true;
  std::uint8_t* const starts = starts_.data() + first;
  for (std::uint32_t i = count; i-- > 0;) {
    low = std::min(low, low_[i]);
    starts[i] = low >= i ? 1 : 0;
    settled = settled && starts[i] != 0;
  }
  settled_[x] = settled ? 1 : 0;
}

}  // namespace cupel::order
