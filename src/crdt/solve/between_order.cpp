// Between order: see the header.
#include "crdt/solve/between_order.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace cupel::crdt {

BetweenOrder::BetweenOrder(std::vector<std::uint32_t> groups)
    : groups_(std::move(groups)), open_(groups_.size() - 1, true) {
  const std::size_t nodes = groups_.back();
  group_of_.resize(nodes);
  for (std::uint32_t group = 0; group + 1 < groups_.size(); ++group)
    std::fill(group_of_.begin() + groups_[group], group_of_.begin() + groups_[group + 1], group);
  out_.resize(nodes);
  rank_.assign(nodes, kNone);
  order_.resize(nodes);
  std::iota(order_.begin(), order_.end(), 0U);
  waiting_.assign(nodes, 0);
  visited_.assign(nodes, 0);
  arrived_by_.assign(nodes, kNone);
}

void BetweenOrder::add_next(std::uint32_t from, std::uint32_t to, OpId by) {
  known_.erase((std::uint64_t{from} << 32U) | to);
  add({from, to, by, false});
}

bool BetweenOrder::add(const Edge& edge, std::vector<std::uint32_t> because) {
  if (!known_.insert((std::uint64_t{edge.from} << 32U) | edge.to).second) return false;
  const auto id = static_cast<std::uint32_t>(edges_.size());
  out_[edge.from].push_back(id);
  edges_.push_back(edge);
  if (!because.empty()) because_.emplace(id, std::move(because));
  return true;
}

void BetweenOrder::keep(std::size_t count) {
  for (; edges_.size() > count; edges_.pop_back()) {
    const Edge& last = edges_.back();
    known_.erase((std::uint64_t{last.from} << 32U) | last.to);
    out_[last.from].pop_back();
    because_.erase(static_cast<std::uint32_t>(edges_.size() - 1));
  }
}

BetweenOrder::Answer BetweenOrder::run(const Find& find, base::Budget& budget) {
  for (;;) {
    if (budget.exceeded()) return {};
    if (!sort(/*all=*/true)) {
      std::fill(open_.begin(), open_.end(), true);
      if (!sort(/*all=*/false)) return violated();
      return try_choices(find, budget);
    }
    const auto wrong = find();
    if (budget.exceeded()) return {};
    if (wrong.empty()) return {.verdict = Verdict::kSatisfied};
    for (const Misplaced& one : wrong) resolve(one, /*choose=*/true);
    open_groups_of(wrong);
  }
}

// False: a cycle; what is on or after it has no rank then.
bool BetweenOrder::sort(bool all) {
  bool sorted = true;
  for (std::uint32_t group = 0; group < open_.size(); ++group) {
    if (open_[group] && !sort_group(group, all)) sorted = false;
  }
  return sorted;
}

bool BetweenOrder::sort_group(std::uint32_t group, bool all) {
  const auto begin = groups_[group], end = groups_[group + 1];
  for (auto node = begin; node < end; ++node) {
    rank_[node] = kNone;
    for (const auto id : out_[node]) waiting_[edges_[id].to] += all || !edges_[id].chosen ? 1 : 0;
  }
  ready_.clear();
  for (auto node = begin; node < end; ++node) {
    if (waiting_[node] == 0) ready_.push_back(node);
  }
  auto rank = begin;
  while (!ready_.empty()) {
    const auto node = ready_.back();
    ready_.pop_back();
    rank_[node] = rank;
    order_[rank++] = node;
    for (const auto id : out_[node]) {
      if ((all || !edges_[id].chosen) && --waiting_[edges_[id].to] == 0)
        ready_.push_back(edges_[id].to);
    }
  }
  if (rank == end) return true;
  for (auto node = begin; node < end; ++node) waiting_[node] = 0;
  return false;
}

void BetweenOrder::open_groups_of(const std::vector<Misplaced>& wrong) {
  std::fill(open_.begin(), open_.end(), false);
  for (const Misplaced& one : wrong) open_[group_of_[one.right]] = true;
}

// The step that puts x out of the way. False: it is free, and nothing was added.
bool BetweenOrder::resolve(const Misplaced& one, bool choose) {
  if (one.left == kNone) return add({one.right, one.x, one.by, false}), true;
  for (const bool chosen : {false, true}) {
    if (auto path = reach(one.left, one.x, chosen)) {
      add({one.right, one.x, one.by, chosen}, std::move(*path));
      return true;
    }
    if (auto path = reach(one.x, one.right, chosen)) {
      add({one.x, one.left, one.by, chosen}, std::move(*path));
      return true;
    }
  }
  if (choose) add({one.right, one.x, one.by, true});
  return choose;
}

// Steps from one node to another, those that were chosen too; nothing: there are none. The order
// bounds the search.
std::optional<std::vector<std::uint32_t>> BetweenOrder::reach(std::uint32_t from, std::uint32_t to,
                                                              bool chosen) {
  ++visit_;
  std::vector<std::uint32_t> queue = {from};
  visited_[from] = visit_;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const auto id : out_[queue[i]]) {
      const Edge& edge = edges_[id];
      if ((edge.chosen && !chosen) || visited_[edge.to] == visit_ || rank_[edge.to] > rank_[to])
        continue;
      visited_[edge.to] = visit_;
      arrived_by_[edge.to] = id;
      if (edge.to == to) {
        std::vector<std::uint32_t> path;
        for (auto at = to; at != from; at = edges_[path.back()].from)
          path.push_back(arrived_by_[at]);
        return path;
      }
      queue.push_back(edge.to);
    }
  }
  return std::nullopt;
}

// Of the steps that are no choices, after sort(false) has failed: what it has not reached.
BetweenOrder::Answer BetweenOrder::violated() {
  std::vector<std::uint32_t> back(rank_.size(), kNone);  // a step from another such
  for (std::uint32_t id = 0; id < edges_.size(); ++id) {
    if (!edges_[id].chosen && rank_[edges_[id].from] == kNone && rank_[edges_[id].to] == kNone)
      back[edges_[id].to] = id;
  }
  auto at =
      static_cast<std::uint32_t>(std::find(rank_.begin(), rank_.end(), kNone) - rank_.begin());
  for (std::size_t i = 0; i < rank_.size(); ++i) at = edges_[back[at]].from;
  // `at` lies on a cycle; the shortest through the step to it.
  const auto last = back[at];
  std::fill(rank_.begin(), rank_.end(), 0);
  Answer answer{.verdict = Verdict::kViolated};
  if (edges_[last].from != at) answer.cycle = *reach(at, edges_[last].from, false);
  std::reverse(answer.cycle.begin(), answer.cycle.end());
  answer.cycle.push_back(last);
  std::set<std::uint32_t> done;
  std::vector<std::uint32_t> open = answer.cycle;
  while (!open.empty()) {
    const auto id = open.back();
    open.pop_back();
    if (!done.insert(id).second) continue;
    if (const auto why = because_.find(id); why != because_.end())
      open.insert(open.end(), why->second.begin(), why->second.end());
  }
  answer.why.assign(done.begin(), done.end());
  return answer;
}

// Depth first over the choices, without those of before.
BetweenOrder::Answer BetweenOrder::try_choices(const Find& find, base::Budget& budget) {
  std::erase_if(edges_, [](const Edge& edge) { return edge.chosen; });
  const auto given = std::move(edges_);
  edges_.clear();
  known_.clear();
  because_.clear();
  for (auto& out : out_) out.clear();
  for (const Edge& edge : given) add(edge);
  constexpr int kMostTries = 500;
  int tries = kMostTries;
  if (search(find, budget, tries)) return {.verdict = Verdict::kSatisfied};
  if (tries <= 0 || budget.exceeded()) return {};
  Answer answer{.verdict = Verdict::kViolated};
  answer.why.resize(given.size());
  std::iota(answer.why.begin(), answer.why.end(), 0U);
  return answer;
}

bool BetweenOrder::search(const Find& find, base::Budget& budget, int& tries) {
  const auto before = edges_.size();
  for (;;) {
    if (--tries <= 0 || budget.exceeded()) return false;
    if (!sort(/*all=*/true)) break;
    const auto wrong = find();
    if (wrong.empty()) return true;
    bool any = false;
    for (const Misplaced& one : wrong) any = resolve(one, /*choose=*/false) || any;
    if (any) continue;
    const Misplaced& first = wrong.front();
    const auto here = edges_.size();
    add({first.right, first.x, first.by, true});
    if (search(find, budget, tries)) return true;
    keep(here);
    if (tries <= 0) return false;
    add({first.x, first.left, first.by, true});
    if (search(find, budget, tries)) return true;
    break;
  }
  keep(before);
  return false;
}

}  // namespace cupel::crdt
