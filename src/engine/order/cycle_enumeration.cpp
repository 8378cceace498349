// CycleEnumerator: see the header. An arc holds if its ends are ranked its way; the
// searches follow arcs that hold, so moving nodes never breaks one.
#include "engine/order/cycle_enumeration.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

#include "base/offsets.hpp"

namespace cupel::order {

using graph::kNoNode;

namespace {
// A search that sees more nodes than this is left: its arc is dropped.
constexpr std::size_t kMaxSeen = 50'000;
}  // namespace

CycleEnumerator::CycleEnumerator(const Problem& problem, const EventGraph& graph,
                                 std::span<const std::uint64_t> priority)
    : problem_(problem), graph_(graph) {
  const std::size_t n = problem.node_count();
  base::offsets_by(
      n, graph.arcs(), [](const KnownArc& arc) { return arc.from; }, out_first_);
  out_.resize(graph.arcs().size());
  auto next = out_first_;
  for (std::uint32_t i = 0; i < out_.size(); ++i) out_[next[graph.arcs()[i].from]++] = i;
  before_.resize(n);
  after_.assign(n, kNoNode);
  for (Node v = 0; v < n; ++v) {
    before_[v] = graph.previous(v);
    if (before_[v] != kNoNode) after_[before_[v]] = v;
  }
  rank_.assign(n, 0);
  seen_.assign(n, 0);
  reached_by_.resize(n);
  make_order(priority);
}

void CycleEnumerator::make_order(std::span<const std::uint64_t> priority) {
  const auto n = static_cast<Node>(problem_.node_count());
  std::vector<std::uint32_t> missing(n, 0);
  for (Node v = 0; v < n; ++v) {
    missing[v] = static_cast<std::uint32_t>(graph_.in(v).size()) + (before_[v] != kNoNode ? 1 : 0);
  }
  using Entry = std::pair<std::uint64_t, Node>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  const auto urgency = [&](Node v) { return problem_.is_helper(v) ? 0 : priority[v]; };
  for (Node v = 0; v < n; ++v) {
    if (missing[v] == 0) ready.push({urgency(v), v});
  }
  // Helpers are never forced: every cycle has an event.
  std::vector<Node> forced(problem_.event_count());
  std::iota(forced.begin(), forced.end(), 0);
  std::sort(forced.begin(), forced.end(), [&](Node a, Node b) {
    return priority[a] != priority[b] ? priority[a] < priority[b] : a < b;
  });
  constexpr std::uint32_t kUnranked = std::numeric_limits<std::uint32_t>::max();
  std::fill(rank_.begin(), rank_.end(), kUnranked);
  std::size_t next_forced = 0;
  std::uint32_t placed = 0;
  const auto place = [&](Node v) {
    rank_[v] = placed++;
    const auto release = [&](Node to) {
      if (--missing[to] == 0 && rank_[to] == kUnranked) ready.push({urgency(to), to});
    };
    if (after_[v] != kNoNode) release(after_[v]);
    for (auto i = out_first_[v]; i < out_first_[v + 1]; ++i) release(graph_.arcs()[out_[i]].to);
  };
  while (placed < n) {
    if (!ready.empty()) {
      const Node v = ready.top().second;
      ready.pop();
      if (rank_[v] == kUnranked) place(v);
      continue;
    }
    while (rank_[forced[next_forced]] != kUnranked) ++next_forced;
    place(forced[next_forced]);
  }
  for (Node v = 0; v < n; ++v) {
    if (before_[v] != kNoNode && rank_[before_[v]] > rank_[v]) {
      feedback_arcs_.push_back({before_[v], v, EventGraph::kChainArc});
    }
    for (const auto& in : graph_.in(v)) {
      if (rank_[in.from] > rank_[v]) feedback_arcs_.push_back({in.from, v, in.arc});
    }
  }
  // The ones with the least between their ends first: their cycles are short.
  std::stable_sort(feedback_arcs_.begin(), feedback_arcs_.end(),
                   [&](const FeedbackArc& a, const FeedbackArc& b) {
                     return rank_[a.from] - rank_[a.to] < rank_[b.from] - rank_[b.to];
                   });
}

// Moves what lies between. False if the arc closes a cycle (then `found`) or
// too much lies between.
bool CycleEnumerator::reorder(const FeedbackArc& feedback, std::vector<EventGraph::Step>& cycle,
                              bool& found) {
  found = false;
  const std::uint32_t low = rank_[feedback.to], high = rank_[feedback.from];
  ++search_;
  std::vector<Node> forward = {feedback.to};
  seen_[feedback.to] = search_;
  for (std::size_t i = 0; i < forward.size() && !found; ++i) {
    if (forward.size() > kMaxSeen) return false;
    const Node v = forward[i];
    const auto visit = [&](Node to, std::uint32_t arc) {
      if (found || to == kNoNode || rank_[to] < rank_[v] || rank_[to] > high ||
          seen_[to] == search_)
        return;
      seen_[to] = search_;
      reached_by_[to] = {v, to, arc};
      forward.push_back(to);
      found = to == feedback.from;
    };
    visit(after_[v], EventGraph::kChainArc);
    for (auto k = out_first_[v]; k < out_first_[v + 1]; ++k)
      visit(graph_.arcs()[out_[k]].to, out_[k]);
  }
  if (found) {
    cycle.push_back({feedback.from, feedback.to, feedback.arc});
    for (Node v = feedback.from; v != feedback.to; v = reached_by_[v].from)
      cycle.push_back(reached_by_[v]);
    std::reverse(cycle.begin(), cycle.end());
    return false;
  }
  ++search_;
  std::vector<Node> backward = {feedback.from};
  seen_[feedback.from] = search_;
  for (std::size_t i = 0; i < backward.size(); ++i) {
    if (backward.size() > kMaxSeen) return false;
    const Node v = backward[i];
    const auto visit = [&](Node from) {
      if (from == kNoNode || rank_[from] > rank_[v] || rank_[from] < low || seen_[from] == search_)
        return;
      seen_[from] = search_;
      backward.push_back(from);
    };
    visit(before_[v]);
    for (const auto& in : graph_.in(v)) visit(in.from);
  }
  const auto by_rank = [&](Node a, Node b) { return rank_[a] < rank_[b]; };
  std::sort(forward.begin(), forward.end(), by_rank);
  std::sort(backward.begin(), backward.end(), by_rank);
  std::vector<std::uint32_t> places;
  places.reserve(forward.size() + backward.size());
  for (const Node v : backward) places.push_back(rank_[v]);
  for (const Node v : forward) places.push_back(rank_[v]);
  std::sort(places.begin(), places.end());
  std::size_t i = 0;
  for (const Node v : backward) rank_[v] = places[i++];
  for (const Node v : forward) rank_[v] = places[i++];
  return true;
}

std::vector<EventGraph::Step> CycleEnumerator::next() {
  std::vector<EventGraph::Step> cycle;
  for (; at_ < feedback_arcs_.size(); ++at_) {
    const FeedbackArc& feedback = feedback_arcs_[at_];
    if (rank_[feedback.from] < rank_[feedback.to]) continue;
    if (feedback.arc == EventGraph::kChainArc && after_[feedback.from] != feedback.to) continue;
    bool found = false;
    if (!reorder(feedback, cycle, found) && found) return cycle;
  }
  return cycle;
}

void CycleEnumerator::drop() {
  ++at_;
}

void CycleEnumerator::cut(Owner o) {
  const Node first = problem_.begin(o), before = before_[first];
  if (before == kNoNode) return;
  before_[first] = after_[before] = kNoNode;
}

void CycleEnumerator::take_out(Owner o) {
  const Node first = problem_.begin(o), last = problem_.commit(o);
  const Node before = before_[first], after = after_[last];
  before_[first] = after_[last] = kNoNode;
  if (before != kNoNode) after_[before] = after;
  if (after != kNoNode) before_[after] = before;
  if (before != kNoNode && after != kNoNode && rank_[before] > rank_[after]) {
    feedback_arcs_.push_back({before, after, EventGraph::kChainArc});
  }
}

}  // namespace cupel::order
