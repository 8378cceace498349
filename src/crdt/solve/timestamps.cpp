// Timestamps: see the header.
#include "crdt/solve/timestamps.hpp"

#include <algorithm>
#include <numeric>

namespace cupel::crdt {

Timestamps::Timestamps(const History& history, const Visibility& visibility)
    : history_(history), stamp_(history.ops.size(), 0), name_rank_(history.replicas.size(), 0) {
  std::vector<std::uint64_t> clock(history.replicas.size(), 0);
  std::vector<std::size_t> next(history.replicas.size(), 0);
  for (const OpId id : visibility.order()) {
    const Operation& op = history.ops[id];
    const auto arrivals = visibility.arrivals(op.replica);
    auto& now = clock[op.replica];
    auto& at = next[op.replica];
    for (; at < arrivals.size() && visibility.since(op.replica, arrivals[at]) <= op.seq; ++at)
      now = std::max(now, stamp_[arrivals[at]]);
    if (!is_read(op.kind)) stamp_[id] = ++now;
  }
  std::vector<std::uint32_t> by_name(history.replicas.size());
  std::iota(by_name.begin(), by_name.end(), 0U);
  std::sort(by_name.begin(), by_name.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto &one = history.replicas[a], &other = history.replicas[b];
    return std::pair(one.size(), one) < std::pair(other.size(), other);
  });
  for (std::uint32_t i = 0; i < by_name.size(); ++i) name_rank_[by_name[i]] = i;
}

}  // namespace cupel::crdt
