// Key orders: see the header.
#include "crdt/solve/key_orders.hpp"

#include <algorithm>

#include "base/hash_table.hpp"

namespace cupel::crdt {

History split_by_key(const History& history) {
  History split;
  split.type = history.type;
  split.ops = history.ops;
  base::HashMap<std::uint64_t, std::uint32_t> number;
  for (OpId id = 0; id < split.ops.size(); ++id) {
    Operation& op = split.ops[id];
    const auto [it, fresh] = number.try_emplace((std::uint64_t{op.replica} << 32U) | op.key,
                                                static_cast<std::uint32_t>(number.size()));
    if (fresh) split.by_replica.emplace_back();
    auto& line = split.by_replica[it->second];
    op.replica = it->second;
    op.seq = static_cast<std::uint32_t>(line.size());
    line.push_back(id);
  }
  return split;
}

void add_seen_writes(const History& h, const Visibility& visibility, StepGraph& graph) {
  std::uint32_t self = 0;
  // By key: since the last write of the replica, the last of each other one that has arrived.
  std::vector<std::vector<OpId>> fresh;
  replay(
      h, visibility,
      [&](std::uint32_t r) {
        self = r;
        fresh.assign(h.keys.size(), {});
      },
      [&](OpId write) {
        const Operation& op = h.ops[write];
        if (op.replica == self) return;
        auto& of_key = fresh[op.key];
        const auto same = std::find_if(of_key.begin(), of_key.end(), [&](OpId other) {
          return h.ops[other].replica == op.replica;
        });
        if (same == of_key.end())
          of_key.push_back(write);
        else if (h.ops[*same].seq < op.seq)
          *same = write;
      },
      [&](OpId id) {
        if (is_read(h.ops[id].kind)) return true;
        auto& of_key = fresh[h.ops[id].key];
        for (const OpId seen : of_key) graph.add({seen, id, Why::kReceived});
        of_key.clear();
        return true;
      });
}

std::vector<OpId> writes_by_key(const History& history, const std::vector<OpId>& order) {
  std::vector<OpId> writes;
  for (const OpId id : order) {
    if (!is_read(history.ops[id].kind)) writes.push_back(id);
  }
  std::stable_sort(writes.begin(), writes.end(),
                   [&](OpId a, OpId b) { return history.ops[a].key < history.ops[b].key; });
  return writes;
}

KeyOrders orders_of_keys(const History& history, const Clocks& clocks,
                         const std::vector<OpId>& order, std::span<const Step> steps) {
  const History split = split_by_key(history);
  StepGraph graph(split);
  add_seen_writes(history, Visibility::of_clocks(history, clocks, order), graph);
  for (const Step& step : steps) graph.add(step);
  if (const auto all = graph.order()) return {.writes = writes_by_key(history, *all)};
  return {.cycle = graph.cycle()};
}

}  // namespace cupel::crdt
