// Object orders: see the header.
#include "crdt/solve/object_orders.hpp"

#include <algorithm>

#include "base/hash_table.hpp"
#include "crdt/model/replicated_type.hpp"

namespace cupel::crdt {

History split_by_object(const History& history) {
  const ReplicatedType& type = replicated_type(history);
  History split;
  split.type = history.type;
  split.ops = history.ops;
  base::HashMap<std::uint64_t, std::uint32_t> number;
  for (OpId id = 0; id < split.ops.size(); ++id) {
    Operation& op = split.ops[id];
    const auto [it, fresh] =
        number.try_emplace((std::uint64_t{op.replica} << 32U) | type.object(op),
                           static_cast<std::uint32_t>(number.size()));
    if (fresh) split.by_replica.emplace_back();
    auto& line = split.by_replica[it->second];
    op.replica = it->second;
    op.seq = static_cast<std::uint32_t>(line.size());
    line.push_back(id);
  }
  return split;
}

std::size_t count_of_objects(const History& history) {
  return replicated_type(history).traits().objects_are_elements ? history.elements.size()
                                                                : history.keys.size();
}

void for_seen_updates(const History& h, const KeyEvents& events,
                      const std::function<void(OpId seen, OpId update)>& found) {
  const ReplicatedType& type = replicated_type(h);
  std::uint32_t self = 0;
  // By object: since the last update of the replica, the last of each other one that has arrived.
  std::vector<std::vector<OpId>> fresh(count_of_objects(h));
  std::vector<std::uint32_t> touched;  // objects
  events.replay_all(
      [&](std::uint32_t, std::uint32_t replica) {
        self = replica;
        for (const auto object : touched) fresh[object].clear();
        touched.clear();
      },
      [&](OpId update) {
        const Operation& op = h.ops[update];
        if (op.replica == self) return;
        const auto object = type.object(op);
        auto& of_object = fresh[object];
        if (of_object.empty()) touched.push_back(object);
        const auto same = std::find_if(of_object.begin(), of_object.end(), [&](OpId other) {
          return h.ops[other].replica == op.replica;
        });
        if (same == of_object.end())
          of_object.push_back(update);
        else if (h.ops[*same].seq < op.seq)
          *same = update;
      },
      [&](OpId id) {
        if (is_read(h.ops[id].kind)) return true;
        auto& of_object = fresh[type.object(h.ops[id])];
        for (const OpId seen : of_object) found(seen, id);
        of_object.clear();
        return true;
      });
}

std::vector<OpId> updates_by_object(const History& history, const std::vector<OpId>& order) {
  const ReplicatedType& type = replicated_type(history);
  std::vector<OpId> updates;
  for (const OpId id : order) {
    if (!is_read(history.ops[id].kind)) updates.push_back(id);
  }
  std::stable_sort(updates.begin(), updates.end(), [&](OpId a, OpId b) {
    return type.object(history.ops[a]) < type.object(history.ops[b]);
  });
  return updates;
}

ObjectOrders orders_of_objects(const History& history, const Clocks& clocks,
                               const std::vector<OpId>& order, std::span<const Step> steps) {
  const History split = split_by_object(history);
  StepGraph graph(split);
  for_seen_updates(history, KeyEvents(history, Visibility::of_clocks(history, clocks, order)),
                   [&](OpId seen, OpId update) {
                     graph.add({seen, update, Why::kReceived});
                   });
  for (const Step& step : steps) graph.add(step);
  if (const auto all = graph.order()) return {.writes = updates_by_object(history, *all)};
  return {.cycle = graph.cycle()};
}

}  // namespace cupel::crdt
