// Run order check: see the header.
#include "crdt/verify/run_order_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace cupel::crdt {

namespace {

std::vector<OpId> additions(const History& h) {
  std::vector<OpId> by(h.elements.size(), kNone);
  for (OpId id = 0; id < h.ops.size(); ++id) {
    if (h.ops[id].kind == Kind::kInsert) by[h.ops[id].element] = id;
  }
  return by;
}

// Two characters of a run: what stands between them had seen `seen`.
struct RunNeighbours {
  std::uint32_t left, right, seen;
  OpId by;
};

// "A replica adds `d` after `c`, and has seen no other character added after `c`"; "it adds `f` and
// then `e` after `a`, and since `f` has seen no other character added after `a`, and no remove of
// one".
std::vector<RunNeighbours> runs_of(const History& h, const SeenUpdates& seen,
                                   const std::vector<OpId>& by) {
  struct There {
    bool any = false, removed = false;
    std::uint32_t newest = kNone;  // if it is of this replica
  };
  std::vector<RunNeighbours> runs;
  std::map<std::pair<std::uint32_t, std::uint32_t>, There> places;  // by key and neighbour
  std::uint32_t self = 0;
  seen.replay(
      [&](std::uint32_t replica) {
        self = replica;
        places.clear();
      },
      [&](OpId update) {
        const Operation& op = h.ops[update];
        There& there = places[{op.key, h.ops[by[op.element]].parent}];
        if (op.kind == Kind::kDelete) {
          there.removed = true;
        } else {
          there.any = true;
          there.newest = op.replica == self ? op.element : kNone;
        }
      },
      [&](OpId id) {
        const Operation& op = h.ops[id];
        if (op.kind != Kind::kInsert) return true;
        const There& there = places[{op.key, op.parent}];
        if (!there.any && op.parent != kNone)
          runs.push_back({op.parent, op.element, op.parent, id});
        if (!there.removed && there.newest != kNone)
          runs.push_back({op.element, there.newest, there.newest, id});
        return true;
      });
  return runs;
}

}  // namespace

std::optional<std::string> wrong_runs(const History& h, const SeenUpdates& seen,
                                      const CharacterOrder& order) {
  const auto by = additions(h);
  for (const RunNeighbours& run : runs_of(h, seen, by)) {
    for (auto i = order.place[run.left] + 1; i < order.place[run.right]; ++i) {
      const auto x = order.elements[i - 1];
      if (by[x] != kNone && !seen.sees(by[x], by[run.seen]))
        return fmt::format("its order has {} inside of a run, between {} and {}", h.element_text(x),
                           h.element_text(run.left), h.element_text(run.right));
    }
  }
  return std::nullopt;
}

std::optional<bool> has_run_order(const History& h, const SeenUpdates& seen,
                                  const std::set<OpId>& named) {
  const auto by = additions(h);
  std::set<std::uint32_t> elements;
  for (const OpId id : named) {
    if (h.ops[id].kind == Kind::kInsert) elements.insert(h.ops[id].element);
  }
  std::vector<NotBetween> apart;
  for (const RunNeighbours& run : runs_of(h, seen, by)) {
    if (!elements.contains(run.left) || !elements.contains(run.right)) continue;
    for (const auto x : elements) {
      if (x != run.left && x != run.right && h.elements[x].key == h.ops[run.by].key &&
          !seen.sees(by[x], by[run.seen]))
        apart.push_back({run.left, run.right, x});
    }
  }
  const auto below = [&](OpId a, OpId b) { return seen.sees(b, a); };
  return has_list_order(h, below, &named, apart);
}

}  // namespace cupel::crdt
