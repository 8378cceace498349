// Causal order: see the header.
#include "crdt/analysis/causal_order.hpp"

namespace cupel::crdt {

namespace {

// Of the updates that the replica `from` made, as they came to `to`.
std::optional<EarlyUpdate> early_update(const History& history, const Visibility& visibility,
                                        std::uint32_t from, std::uint32_t to) {
  const auto seen = visibility.arrivals(from);
  std::size_t next = 0;
  OpId last = kNone;  // of what `from` has seen so far, the one that comes last to `to`
  for (const OpId id : history.by_replica[from]) {
    const Operation& op = history.ops[id];
    if (is_read(op.kind)) continue;
    for (; next < seen.size() && visibility.since(from, seen[next]) <= op.seq; ++next) {
      if (last == kNone || visibility.since(to, seen[next]) > visibility.since(to, last))
        last = seen[next];
    }
    const auto since = visibility.since(to, id);
    if (since != kNone && last != kNone && visibility.since(to, last) > since)
      return EarlyUpdate{.replica = to, .update = id, .missing = last};
  }
  return std::nullopt;
}

}  // namespace

std::optional<EarlyUpdate> early_update(const History& history, const Visibility& visibility) {
  const auto replicas = static_cast<std::uint32_t>(history.replicas.size());
  for (std::uint32_t from = 0; from < replicas; ++from) {
    for (std::uint32_t to = 0; to < replicas; ++to) {
      if (from == to) continue;
      if (const auto early = early_update(history, visibility, from, to)) return early;
    }
  }
  return std::nullopt;
}

}  // namespace cupel::crdt
