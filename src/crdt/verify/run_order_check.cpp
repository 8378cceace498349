// Run order check: see the header.
#include "crdt/verify/run_order_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "crdt/verify/front_order.hpp"

namespace cupel::crdt {

namespace {

constexpr std::size_t kMostCharactersOfRuns = 400;

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
  for (std::uint32_t r = 0; r < h.replicas.size(); ++r) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, There> places;  // by key and neighbour
    const auto log = seen.log(r);
    std::size_t at = 0;
    for (const OpId id : h.by_replica[r]) {
      for (; at < log.size() && log[at].place <= h.ops[id].seq; ++at) {
        const Operation& op = h.ops[log[at].update];
        There& there = places[{op.key, h.ops[by[op.element]].parent}];
        if (op.kind == Kind::kDelete) {
          there.removed = true;
          continue;
        }
        there.any = true;
        there.newest = op.replica == r ? op.element : kNone;
      }
      const Operation& op = h.ops[id];
      if (op.kind != Kind::kInsert) continue;
      const There& there = places[{op.key, op.parent}];
      if (!there.any && op.parent != kNone) runs.push_back({op.parent, op.element, op.parent, id});
      if (!there.removed && there.newest != kNone)
        runs.push_back({op.element, there.newest, there.newest, id});
    }
  }
  return runs;
}

// The characters that are named, and what the operations ask of them.
class RunOrderDemands {
 public:
  RunOrderDemands(const History& h, const SeenUpdates& seen, const std::set<OpId>& named)
      : h_(h), seen_(seen), by_(additions(h)) {
    for (const OpId id : named) {
      if (h.ops[id].kind != Kind::kInsert) continue;
      number_[h.ops[id].element] = elements_.size();
      elements_.push_back(h.ops[id].element);
    }
    for (const OpId id : named) {
      if (h.ops[id].kind == Kind::kList) add_read(id);
      if (h.ops[id].kind == Kind::kInsert) add_addition(id);
    }
    for (const RunNeighbours& run : runs_of(h, seen, by_)) {
      if (!number_.contains(run.left) || !number_.contains(run.right)) continue;
      for (const auto x : elements_) {
        if (x != run.left && x != run.right && h.elements[x].key == h.ops[run.by].key &&
            !seen.sees(by_[x], by_[run.seen]))
          demands_.push_back({number_[run.right], number_[run.left], number_[x]});
      }
    }
  }

  [[nodiscard]] std::optional<bool> decide() const {
    if (elements_.size() > kMostCharactersOfRuns) return std::nullopt;
    return has_front_order(elements_.size(), given_, demands_);
  }

 private:
  void add_read(OpId read) {
    std::uint32_t before = kNone;
    for (const auto e : h_.list(h_.ops[read])) {
      if (!number_.contains(e)) continue;
      if (before != kNone) given_.emplace_back(number_[before], number_[e]);
      before = e;
    }
  }

  [[nodiscard]] bool is_shown(OpId op, std::uint32_t e) const {
    if (!seen_.sees(op, by_[e])) return false;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (h_.ops[id].kind == Kind::kDelete && h_.ops[id].element == e && seen_.sees(op, id))
        return false;
    }
    return true;
  }

  void add_addition(OpId id) {
    const Operation& op = h_.ops[id];
    if (op.parent != kNone && !number_.contains(op.parent)) return;
    const auto left = op.parent == kNone ? elements_.size() : number_[op.parent];
    if (op.parent != kNone) given_.emplace_back(left, number_[op.element]);
    for (const auto x : elements_) {
      if (x != op.element && x != op.parent && h_.elements[x].key == op.key && is_shown(id, x))
        demands_.push_back({number_[op.element], left, number_[x]});
    }
  }

  const History& h_;
  const SeenUpdates& seen_;
  const std::vector<OpId> by_;
  std::vector<std::uint32_t> elements_;
  std::map<std::uint32_t, std::size_t> number_;
  std::vector<std::pair<std::size_t, std::size_t>> given_;
  std::vector<FrontDemand> demands_;
};

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
  return RunOrderDemands(h, seen, named).decide();
}

}  // namespace cupel::crdt
