// Common order: see the header. Clocks of an object are steps of the whole, which are closed and
// projected back.
#include "crdt/solve/common_order.hpp"

#include <algorithm>
#include <span>

#include "crdt/model/replicated_type.hpp"
#include "crdt/model/times.hpp"
#include "crdt/solve/context.hpp"

namespace cupel::crdt {

namespace {

// What the operations of an object see newly, as steps of the whole.
void add_steps(const ObjectHistory& object, const Clocks& clocks, StepGraph& graph) {
  const History& h = object.history;
  for (std::uint32_t r = 0; r < h.replicas.size(); ++r) {
    std::vector<std::uint32_t> seen(h.replicas.size(), 0);
    for (const OpId id : h.by_replica[r]) {
      const auto row = clocks.row(id);
      for (std::uint32_t j = 0; j < row.size(); ++j) {
        if (j == r || row[j] <= seen[j]) continue;
        seen[j] = row[j];
        graph.add({object.origin[h.by_replica[j][row[j] - 1]], object.origin[id], Why::kReceived});
      }
    }
  }
}

// Of the whole, what the operations of an object have seen of it.
Clocks projected(const Recording& recording, const ObjectHistory& object, const Clocks& whole) {
  const History& h = object.history;
  Clocks clocks(h);
  for (std::uint32_t j = 0; j < h.replicas.size(); ++j) {
    const auto& line = h.by_replica[j];
    if (line.empty()) continue;
    const auto replica = recording.combined.ops[object.origin[line[0]]].replica;
    for (OpId id = 0; id < h.ops.size(); ++id) {
      const auto limit = whole.row(object.origin[id])[replica];
      const auto first_unseen = std::partition_point(line.begin(), line.end(), [&](OpId u) {
        return recording.combined.ops[object.origin[u]].seq < limit;
      });
      clocks.row(id)[j] = static_cast<std::uint32_t>(first_unseen - line.begin());
    }
  }
  return clocks;
}

// The order of the updates, with each read after what it sees and before who sees it: what is known
// of deliveries says nothing of reads.
std::vector<OpId> with_reads(const History& h, const Clocks& clocks, std::span<const OpId> order) {
  std::vector<Step> chain;
  OpId last = kNone;
  for (const OpId id : order) {
    if (is_read(h.ops[id].kind)) continue;
    if (last != kNone) chain.push_back({last, id});
    last = id;
  }
  return linear_order(h, clocks, chain).value();
}

bool is_same(const History& h, const Clocks& one, const Clocks& other) {
  for (OpId id = 0; id < h.ops.size(); ++id) {
    const auto a = one.row(id), b = other.row(id);
    if (!std::equal(a.begin(), a.end(), b.begin(), b.end())) return false;
  }
  return true;
}

// Of each object, its execution in the least one that contains these; nothing: there is none.
std::optional<std::vector<Witness>> common_execution(const Recording& recording,
                                                     const std::vector<const Witness*>& alone,
                                                     const Axioms& axioms, base::Budget& budget) {
  StepGraph graph(recording.combined);
  for (std::size_t o = 0; o < alone.size(); ++o)
    add_steps(recording.objects[o], alone[o]->clocks, graph);
  const auto closed = graph.close();
  if (!closed || late_update(recording.combined, closed->clocks)) return std::nullopt;
  std::vector<std::vector<OpId>> orders(alone.size());
  for (const OpId id : closed->order) {
    const auto [object, op] = recording.place[id];
    if (object != kNone) orders[object].push_back(op);
  }
  std::vector<Witness> common;
  for (std::size_t o = 0; o < alone.size(); ++o) {
    if (budget.exceeded()) return std::nullopt;
    const History& h = recording.objects[o].history;
    auto clocks = projected(recording, recording.objects[o], closed->clocks);
    if (is_same(h, clocks, alone[o]->clocks)) {
      common.push_back(*alone[o]);
      continue;
    }
    const auto visibility = Visibility::of_clocks(h, clocks, std::move(orders[o]));
    auto known = decide_context({h, visibility, axioms, budget});
    if (known.verdict != Verdict::kSatisfied) return std::nullopt;
    auto order = with_reads(h, clocks, known.order);
    common.push_back({.clocks = std::move(clocks),
                      .order = std::move(order),
                      .characters = std::move(known.characters),
                      .pairs = std::move(known.pairs),
                      .writes = std::move(known.writes)});
  }
  return common;
}

// Updates of keys that no read is about constrain nothing, unless they name what they must have
// seen.
void leave_unread_out(const Recording& recording, std::vector<bool>& kept) {
  for (const ObjectHistory& object : recording.objects) {
    const History& h = object.history;
    if (replicated_type(h).traits().updates_use_elements) continue;
    std::vector<bool> is_read_of(h.keys.size(), false);
    for (OpId id = 0; id < h.ops.size(); ++id) {
      if (is_read(h.ops[id].kind) && kept[object.origin[id]]) is_read_of[h.ops[id].key] = true;
    }
    for (OpId id = 0; id < h.ops.size(); ++id) {
      if (!is_read_of[h.ops[id].key]) kept[object.origin[id]] = false;
    }
  }
}

// These operations of the whole. Objects without any are left out.
Recording part_of_several(const Recording& recording, const std::vector<bool>& kept) {
  Recording part;
  std::vector<OpId> number(kept.size(), kNone);
  for (OpId id = 0; id < kept.size(); ++id) {
    if (!kept[id] || recording.place[id].object == kNone) continue;
    Operation op = recording.combined.ops[id];
    op.replica = part.combined.replica(recording.combined.replicas[op.replica]);
    number[id] = part.combined.add(op);
  }
  for (const ObjectHistory& object : recording.objects) {
    Core core = whole(object.history);
    std::erase_if(core.ops, [&](OpId id) { return number[object.origin[id]] == kNone; });
    if (core.ops.empty()) continue;
    auto [small, origin, elements] = part_of(object.history, core);
    for (OpId& id : origin) id = number[object.origin[id]];
    part.objects.push_back({.name = object.name,
                            .type = object.type,
                            .history = std::move(small),
                            .origin = std::move(origin)});
  }
  part.place.resize(part.combined.ops.size());
  for (std::uint32_t o = 0; o < part.objects.size(); ++o) {
    const auto& origin = part.objects[o].origin;
    for (OpId id = 0; id < origin.size(); ++id) part.place[origin[id]] = {o, id};
  }
  return part;
}

std::vector<const Witness*> pointers_to(const std::vector<Witness>& witnesses) {
  std::vector<const Witness*> all;
  for (const Witness& witness : witnesses) all.push_back(&witness);
  return all;
}

}  // namespace

CommonDecision decide_together(const Recording& recording, const std::vector<const Witness*>& alone,
                               const Axioms& axioms, base::Budget& budget) {
  if (auto common = common_execution(recording, alone, axioms, budget))
    return {.verdict = Verdict::kSatisfied, .witnesses = std::move(*common)};
  auto exact = decide_exact_together(recording, axioms, budget);
  if (exact.verdict != Verdict::kSatisfied) return exact;
  for (std::size_t o = 0; o < exact.witnesses.size(); ++o)
    add_characters(recording.objects[o].history, axioms, budget, exact.witnesses[o]);
  auto common = common_execution(recording, pointers_to(exact.witnesses), axioms, budget);
  if (!common) return {};
  return {.verdict = Verdict::kSatisfied, .witnesses = std::move(*common)};
}

std::vector<OpId> core_of_several(const Recording& recording, const Axioms& axioms,
                                  base::Budget& budget) {
  std::vector<bool> kept(recording.combined.ops.size(), true);
  for (OpId id = 0; id < kept.size(); ++id) kept[id] = recording.place[id].object != kNone;
  for (OpId id = 0; id < kept.size() && !budget.exceeded(); ++id) {
    if (!kept[id] || !is_read(recording.combined.ops[id].kind)) continue;
    auto fewer = kept;
    fewer[id] = false;
    leave_unread_out(recording, fewer);
    const auto part = part_of_several(recording, fewer);
    if (decide_exact_together(part, axioms, budget).verdict == Verdict::kViolated)
      kept = std::move(fewer);
  }
  leave_unread_out(recording, kept);
  std::vector<OpId> core;
  for (OpId id = 0; id < kept.size(); ++id) {
    if (kept[id]) core.push_back(id);
  }
  return core;
}

}  // namespace cupel::crdt
