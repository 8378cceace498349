// EventGraph: see the header. The topological order is the post-order of a
// depth-first search over incoming arcs, so one set of rows serves the order,
// the clocks, and the search for paths.
#include "engine/order/event_graph.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/hash_table.hpp"
#include "base/offsets.hpp"

namespace cupel::order {

using graph::kNoNode;

namespace {
// Integers in the clocks that relaxation may add.
constexpr std::uint64_t kMaxExtraCells = 32'000'000;

// The chains as they are left, the longest first.
std::vector<std::vector<Owner>> pieces_of(const Problem& problem, const RelaxedChains& relaxed) {
  std::vector<std::vector<Owner>> pieces;
  for (const auto& chain : problem.chains) {
    std::vector<Owner> piece;
    for (const Owner o : chain) {
      if (relaxed.cut[o] != 0) pieces.push_back(std::exchange(piece, {}));
      if (relaxed.alone[o] != 0) {
        pieces.push_back({o});
      } else {
        piece.push_back(o);
      }
    }
    pieces.push_back(std::move(piece));
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return pieces;
}
}  // namespace

EventGraph::EventGraph(const Problem& problem, const RelaxedChains& relaxed)
    : problem_(problem),
      chain_(problem.node_count(), 0),
      position_(problem.node_count(), 0),
      previous_(problem.node_count(), kNoNode),
      rank_(problem.node_count(), 0) {
  Node last = kNoNode;
  std::uint32_t position = 0;
  const auto place = [&](Node v) {
    chain_[v] = chain_count_;
    position_[v] = ++position;
    previous_[v] = last;
    last = v;
  };
  const auto close = [&] {
    if (position != 0) ++chain_count_;
    position = 0;
    last = kNoNode;
  };
  const auto place_owner = [&](Owner o) {
    place(problem.begin(o));
    if (problem.split) place(problem.commit(o));
  };
  const auto place_chains = [&](const std::vector<std::vector<Owner>>& chains) {
    for (const auto& owners : chains) {
      for (const Owner o : owners) place_owner(o);
      close();
    }
  };
  const auto place_helpers = [&] {
    for (std::uint32_t h = 0; h < problem.helper_count; ++h) place(problem.helper(h));
    close();
  };
  if (relaxed.alone.empty()) {
    place_chains(problem.chains);
    place_helpers();
    column_count_ = chain_count_;
  } else {
    place_helpers();
    place_chains(pieces_of(problem, relaxed));
    const std::uint64_t room = problem.chains.size() + (problem.helper_count == 0 ? 0 : 1) +
                               kMaxExtraCells / std::max<std::uint64_t>(1, problem.node_count());
    column_count_ = static_cast<ChainId>(std::min<std::uint64_t>(chain_count_, room));
  }

  begin_round();
  for (const FixedArc& arc : problem.fixed) {
    const ArcKind kind = arc.kind == FixedKind::kSession    ? ArcKind::kSession
                         : arc.kind == FixedKind::kRealTime ? ArcKind::kRealTime
                                                            : ArcKind::kListOrder;
    add({arc.from, arc.to, arc.object, arc.witness, kind});
  }
}

std::vector<Node> EventGraph::by_chain() const {
  const auto first = base::offsets_by(chain_count_, chain_, [](ChainId c) { return c; });
  std::vector<Node> nodes(chain_.size());
  for (Node v = 0; v < chain_.size(); ++v) {
    assert(position_[v] != 0 && "a node in no chain");
    nodes[first[chain_[v]] + position_[v] - 1] = v;
  }
  return nodes;
}

ArcKind EventGraph::chain_arc_kind(Node v) const {
  if (problem_.is_helper(v)) return ArcKind::kRealTime;
  return problem_.split && (v & 1) != 0 ? ArcKind::kOwn : ArcKind::kChain;
}

std::uint32_t EventGraph::arcs_before_round_of(std::uint32_t i) const {
  return *(std::upper_bound(round_begin_.begin(), round_begin_.end(), i) - 1);
}

bool EventGraph::sort(base::Budget* budget) {
  const std::size_t n = problem_.node_count();
  base::offsets_by(
      n, arcs_, [](const KnownArc& arc) { return arc.to; }, in_first_);
  in_.resize(arcs_.size());
  {
    auto next = in_first_;
    for (std::uint32_t i = 0; i < arcs_.size(); ++i) in_[next[arcs_[i].to]++] = {arcs_[i].from, i};
  }

  enum : std::uint8_t { kNew, kOpen, kDone };
  std::vector<std::uint8_t> state(n, kNew);
  struct Frame {
    Node node;
    std::uint32_t next;  // 0: the chain's arc, then the others
  };
  std::vector<Frame> frames;
  std::vector<Node> order;
  order.reserve(n);
  for (Node root = 0; root < n; ++root) {
    if (state[root] != kNew) continue;
    state[root] = kOpen;
    frames.push_back({root, 0});
    while (!frames.empty()) {
      Frame& frame = frames.back();
      const auto incoming = in(frame.node);
      if (frame.next > incoming.size()) {
        state[frame.node] = kDone;
        order.push_back(frame.node);
        frames.pop_back();
        continue;
      }
      const Node from = frame.next == 0 ? previous_[frame.node] : incoming[frame.next - 1].from;
      ++frame.next;
      if (from == kNoNode || state[from] == kDone) continue;
      if (state[from] == kOpen) {
        std::vector<Node> stack;
        for (auto it = frames.rbegin(); it != frames.rend(); ++it) {
          stack.push_back(it->node);
          if (it->node == from) break;
        }
        find_cycle(stack, budget);
        return false;
      }
      state[from] = kOpen;
      frames.push_back({from, 0});
    }
  }
  topological_ = std::move(order);
  for (std::uint32_t i = 0; i < n; ++i) rank_[topological_[i]] = i;
  return true;
}

// Breadth-first from some nodes of the cycle that the depth-first search met,
// backward, until the node comes back; each no deeper than the best so far.
void EventGraph::find_cycle(std::span<const Node> stack, base::Budget* budget) {
  const base::AllocationWatch unwatched(nullptr);  // there is a cycle: that is not lost
  constexpr std::size_t kTries = 48;
  cycle_.clear();
  const std::size_t stride = std::max<std::size_t>(1, stack.size() / kTries);
  for (std::size_t i = 0; i < stack.size(); i += stride) {
    if (!cycle_.empty() && budget != nullptr && budget->exceeded()) return;
    const Node home = stack[i];
    base::HashMap<Node, Step> out_of;  // the step that leaves a node towards home
    std::vector<Node> level = {home}, next_level;
    bool found = false;
    for (std::size_t depth = 1; !found && !level.empty(); ++depth) {
      if (!cycle_.empty() && depth >= cycle_.size()) break;
      next_level.clear();
      for (const Node v : level) {
        const auto visit = [&](Node from, std::uint32_t arc) {
          if (from == kNoNode || found) return;
          if (!out_of.try_emplace(from, Step{from, v, arc}).second) return;
          if (from == home) {
            found = true;
          } else {
            next_level.push_back(from);
          }
        };
        visit(previous_[v], kChainArc);
        for (const In& arc : in(v)) visit(arc.from, arc.arc);
        if (found) break;
      }
      level.swap(next_level);
    }
    if (!found) continue;
    std::vector<Step> cycle;
    Node v = home;
    do {
      cycle.push_back(out_of.at(v));
      v = cycle.back().to;
    } while (v != home);
    if (cycle_.empty() || cycle.size() < cycle_.size()) cycle_ = std::move(cycle);
  }
}

std::vector<EventGraph::Step> EventGraph::path(Node from, Node to, std::uint32_t limit) const {
  std::vector<Step> steps;
  if (from == to) return steps;
  auto& number = path_search_.number;
  auto& seen = path_search_.seen;
  auto& out_of = path_search_.out_of;
  auto& queue = path_search_.queue;
  if (seen.size() != previous_.size() || ++number == 0) {
    seen.assign(previous_.size(), 0);
    out_of.resize(previous_.size());
    number = 1;
  }
  queue.assign({to});
  for (std::size_t i = 0; i < queue.size() && seen[from] != number; ++i) {
    const Node v = queue[i];
    const auto visit = [&](Node u, std::uint32_t arc) {
      // The last topological order extends every arc that a reason may use.
      if (u == kNoNode || seen[u] == number || rank_[u] < rank_[from]) return;
      seen[u] = number;
      out_of[u] = {u, v, arc};
      queue.push_back(u);
    };
    visit(previous_[v], kChainArc);
    for (const In& arc : in(v)) {
      if (arc.arc < limit) visit(arc.from, arc.arc);
    }
  }
  if (seen[from] != number) return steps;
  for (Node v = from; v != to; v = steps.back().to) steps.push_back(out_of[v]);
  return steps;
}

graph::Digraph EventGraph::digraph() const {
  std::vector<graph::Arc> all;
  all.reserve(arcs_.size() + chain_.size());
  for (const KnownArc& arc : arcs_) all.push_back({arc.from, arc.to});
  chain_arcs_into_.clear();
  for (Node v = 0; v < previous_.size(); ++v) {
    if (previous_[v] == kNoNode) continue;
    all.push_back({previous_[v], v});
    chain_arcs_into_.push_back(v);
  }
  return graph::Digraph(problem_.node_count(), all);
}

EventGraph::Step EventGraph::step(graph::ArcId id) const {
  if (id < arcs_.size()) return {arcs_[id].from, arcs_[id].to, id};
  const Node v = chain_arcs_into_[id - arcs_.size()];
  return {previous_[v], v, kChainArc};
}

}  // namespace cupel::order
