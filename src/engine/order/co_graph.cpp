// CoGraph: see the header.
//
// The arcs go into an EventGraph of single-event owners. Deviation from AWDIT
// for read-committed: for a pair (k, r's owner) only the next read of each object
// after the first read from k gives an arc; the later ones follow through the
// arcs between consecutive reads of one object.
#include "engine/order/co_graph.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/hash_table.hpp"
#include "base/offsets.hpp"
#include "base/parallel.hpp"
#include "engine/order/clocks.hpp"
#include "engine/order/sparse_clocks.hpp"

namespace cupel::order {

namespace {
// One call of proofs() stops after so many cycles, or so many nodes visited.
constexpr std::size_t kProofsAtOnce = 1000;
constexpr std::size_t kVisitsAtOnce = 300'000;

// With fewer a second thread costs more than it spares.
constexpr std::size_t kLeastReadsInParts = 50'000;

// Columns of clocks that are held at a time (and VisibilityProblem::most_columns).
constexpr std::uint64_t kMostColumnBytes = 1'500'000'000;

// Clocks that only prune a search may take so many bytes.
constexpr std::uint64_t kClocksOfSearch = 64'000'000;

bool rests_on_read(const KnownArc& arc) {
  return arc.kind == ArcKind::kRead || arc.kind == ArcKind::kVisible;
}

// 0-1 breadth-first over one graph, backward from `to` until `from` comes up: the
// steps from `from` to `to` with the least weight, and among those few. What it
// keeps by node serves all searches: a round of proofs makes hundreds.
class LightestPath {
 public:
  explicit LightestPath(const EventGraph& graph)
      : graph_(graph), reached_(graph.problem().node_count()) {}

  // `admit(u)`: may the path go through u? `weigh(arc)`: does this arc (by index) cost?
  template <typename Admit, typename Weigh>
  std::vector<EventGraph::Step> find(Node from, Node to, const Admit& admit, const Weigh& weigh) {
    if (++search_ == 0) {
      std::fill(reached_.begin(), reached_.end(), Reached{});
      search_ = 1;
    }
    std::vector<EventGraph::Step> steps;
    if (from == to) return steps;
    level_.assign(1, to);
    heavier_.clear();
    reached_[to] = {search_, 0, {}};
    for (std::uint32_t distance = 0; !level_.empty();
         level_.swap(heavier_), heavier_.clear(), ++distance) {
      for (std::size_t i = 0; i < level_.size(); ++i) {
        const Node v = level_[i];
        if (reached_[v].distance < distance) continue;
        if (v == from) break;
        ++visits_;
        const auto visit = [&](Node u, std::uint32_t through) {
          if (u == graph::kNoNode || !admit(u)) return;
          Reached& known = reached_[u];
          // Nothing is nearer than this level.
          if (known.search == search_ && known.distance <= distance) return;
          const std::uint32_t next =
              distance + (through != EventGraph::kChainArc && weigh(through) ? 1 : 0);
          if (known.search == search_ && known.distance <= next) return;
          known = {search_, next, {u, v, through}};
          (next == distance ? level_ : heavier_).push_back(u);
        };
        visit(graph_.previous(v), EventGraph::kChainArc);
        for (const auto& in : graph_.in(v)) visit(in.from, in.arc);
      }
      if (reached_[from].search == search_ && reached_[from].distance <= distance) break;
    }
    if (reached_[from].search != search_) return steps;
    for (Node v = from; v != to; v = steps.back().to) steps.push_back(reached_[v].step);
    return steps;
  }
  // Nodes looked at, in all searches.
  [[nodiscard]] std::size_t visits() const { return visits_; }

 private:
  struct Reached {
    std::uint32_t search = 0;  // the last that came here
    std::uint32_t distance = 0;
    EventGraph::Step step = {};  // towards `to`
  };
  const EventGraph& graph_;
  std::vector<Reached> reached_;  // by node
  std::uint32_t search_ = 0;
  std::size_t visits_ = 0;
  std::vector<Node> level_, heavier_;
};
}  // namespace

// Causality itself: session and wr arcs, without list orders.
class CoGraph::Causality {
 public:
  explicit Causality(const CoGraph& co)
      : events_(without_list_orders(co.problem_)), graph_(events_, {}) {
    const auto arcs = co.graph_.arcs();
    for (std::uint32_t i = 0; i < arcs.size(); ++i) {
      if (arcs[i].kind == ArcKind::kSession) number_.push_back(i);
      if (arcs[i].kind != ArcKind::kRead) continue;
      number_.push_back(i);
      graph_.add(arcs[i]);
    }
  }
  // The same arcs with other chains, each of which is a path of them. Of no use for number().
  Causality(const EventGraph& plain, std::vector<std::vector<Owner>> paths)
      : events_(with_chains(plain.problem().owner_count, std::move(paths))), graph_(events_, {}) {
    for (Owner o = 0; o < events_.owner_count; ++o) {
      const auto add = [&](Node from) {
        if (from != graph::kNoNode && from != graph_.previous(o))
          graph_.add({from, o, 0, kInitial, ArcKind::kSession});
      };
      add(plain.previous(o));
      for (const auto& in : plain.in(o)) add(in.from);
    }
  }

  bool sort(base::Budget& budget) { return graph_.sort(&budget); }
  [[nodiscard]] const EventGraph& graph() const { return graph_; }
  // The number that an arc has in co.
  [[nodiscard]] std::uint32_t number(std::uint32_t arc) const {
    return arc == EventGraph::kChainArc ? arc : number_[arc];
  }

 private:
  static Problem without_list_orders(const VisibilityProblem& problem) {
    Problem events = as_events(problem);
    std::erase_if(events.fixed, [](const FixedArc& a) { return a.kind == FixedKind::kListOrder; });
    return events;
  }
  static Problem with_chains(Owner owner_count, std::vector<std::vector<Owner>> chains) {
    Problem events;
    events.owner_count = owner_count;
    events.chains = std::move(chains);
    return events;
  }
  const Problem events_;
  EventGraph graph_;
  std::vector<std::uint32_t> number_;
};

// What one call of proof() or proofs() keeps for its searches.
class CoGraph::Search {
 public:
  Search(const CoGraph& co, Weights open) : co_(co), open_(open) {}

  // Does an arc rest on a read that is open?
  [[nodiscard]] bool weighs(const KnownArc& arc) const {
    return !open_.empty() && rests_on_read(arc) && open_[arc.read_or_object];
  }
  LightestPath& in_co() {
    if (!in_co_) in_co_.emplace(co_.graph_);
    return *in_co_;
  }
  // The path of causality from k to o with the fewest open reads; among those a
  // short one. Only what k reaches is looked at, as far as that is known.
  std::vector<EventGraph::Step> causal_path(Owner k, Owner o) {
    if (!causality_) prepare();
    const EventGraph& graph = causality_->graph();
    const auto weigh = [&](std::uint32_t arc) { return weighs(graph.arcs()[arc]); };
    const auto may_reach = [&](Node u) {
      return clocked_ ? clocks_.reaches(graph, k, u) : graph.rank(u) >= graph.rank(k);
    };
    auto steps = in_causality_->find(k, o, may_reach, weigh);
    for (auto& step : steps) step.arc = causality_->number(step.arc);
    return steps;
  }

 private:
  void prepare() {
    causality_.emplace(co_);
    // Something is visible, so causality has no cycle; and what is proven is reported
    // whatever the time.
    base::Budget unbounded;
    causality_->sort(unbounded);
    const EventGraph& graph = causality_->graph();
    in_causality_.emplace(graph);
    const auto bytes = Clocks::bytes(graph, graph.chain_count());
    clocked_ =
        bytes <= kClocksOfSearch && clocks_.compute(graph, 0, graph.chain_count(), co_.budget_);
  }

  const CoGraph& co_;
  Weights open_;
  std::optional<LightestPath> in_co_;
  std::optional<Causality> causality_;
  std::optional<LightestPath> in_causality_;
  bool clocked_ = false;
  Clocks clocks_;
};

CoGraph::CoGraph(const VisibilityProblem& problem, Visible visible, std::span<const Owner> writers,
                 base::Budget& budget)
    : problem_(problem),
      visible_(visible),
      writers_(writers),
      budget_(budget),
      events_(as_events(problem)),
      graph_(events_, {}) {}

Problem CoGraph::as_events(const VisibilityProblem& p) {
  Problem events;
  events.owner_count = p.owner_count;
  events.chains = p.chains;
  events.fixed = p.fixed;
  return events;
}

bool CoGraph::saturate() {
  const bool shared = problem_.others != nullptr && may_share();
  if (!(shared ? find_in_parts() : find({}))) return false;
  acyclic_ = graph_.sort(&budget_) && overwritten_.empty();
  return true;
}

bool CoGraph::find(base::TeamPart part) {
  for (std::uint32_t r = 0; r < problem_.reads.size(); ++r) {
    if (sees(r)) graph_.add({writers_[r], problem_.reads[r].owner, r, writers_[r], ArcKind::kRead});
  }
  graph_.begin_round();
  read_arcs_ = graph_.arcs().size();
  switch (visible_) {
    case Visible::kEarlierRead: {
      const auto first = static_cast<Owner>(part.begin(problem_.owner_count)),
                 end = static_cast<Owner>(part.end(problem_.owner_count));
      const Owner middle = first + (end - first) / 2;
      return in_two_parts([&](bool later, Found& found) {
        return later ? earlier_reads(middle, end, found) : earlier_reads(first, middle, found);
      });
    }
    case Visible::kDirect: {
      const auto chains = chains_of(part);
      return in_two_parts(
          [&](bool later, Found& found) { return direct(half(chains, later), found); });
    }
    case Visible::kCausal:
      return causal(part);
  }
  return true;
}

// Of causality each process looks at the writers of some sessions. One that looks at all of them in
// one go finds the arcs read by read, and so they are put together.
bool CoGraph::may_share() const {
  return visible_ != Visible::kCausal ||
         (graph_.chain_count() <= problem_.most_columns &&
          Clocks::bytes(graph_, graph_.chain_count()) <= kMostColumnBytes);
}

std::string CoGraph::found() const {
  const auto arcs = graph_.arcs().subspan(read_arcs_);
  std::string bytes;
  bytes.reserve(16 + arcs.size() * sizeof(KnownArc) + overwritten_.size() * sizeof(Overwritten));
  base::put_bytes(bytes, std::uint64_t{arcs.size()});
  for (const KnownArc& arc : arcs) base::put_bytes(bytes, arc);
  for (const Overwritten& one : overwritten_) base::put_bytes(bytes, one);
  return bytes;
}

bool CoGraph::find_in_parts() {
  auto& others = *problem_.others;
  const std::uint32_t parts = others.parts();
  if (!find({0, parts})) return false;
  auto all = others.found();
  for (std::uint32_t p = 1; p < parts; ++p) {
    if (!all[p - 1].empty()) continue;
    auto missing = arcs_of_part(problem_, visible_, writers_, {p, parts}, budget_);
    if (!missing) return false;
    all[p - 1] = *std::move(missing);
  }
  if (visible_ == Visible::kCausal) {
    all.insert(all.begin(), found());
    graph_.keep_arcs(read_arcs_);
    overwritten_.clear();
    add_in_order_of_reads(all);
  } else {
    add_found(all);
  }
  return true;
}

// The parts are in the order in which one process would go.
void CoGraph::add_found(std::span<const std::string> parts) {
  for (const auto& part : parts) {
    base::AnswerBytes bytes(part);
    for (auto arcs = bytes.take<std::uint64_t>(); arcs > 0; --arcs) {
      graph_.add(bytes.take<KnownArc>());
    }
    while (!bytes.at_end()) overwritten_.push_back(bytes.take<Overwritten>());
  }
}

// Each part has arcs to all reads, from the writers of its sessions: as one process finds them,
// read by read, and for each read in the order of the sessions.
void CoGraph::add_in_order_of_reads(std::span<const std::string> parts) {
  struct Cursor {
    std::vector<KnownArc> arcs;
    std::vector<Overwritten> overwritten;
    std::size_t arc = 0, initial = 0;
  };
  std::vector<Cursor> cursors;
  for (const auto& part : parts) {
    base::AnswerBytes bytes(part);
    auto& cursor = cursors.emplace_back();
    const auto arcs = bytes.take<std::uint64_t>();
    for (std::uint64_t i = 0; i < arcs; ++i) cursor.arcs.push_back(bytes.take<KnownArc>());
    while (!bytes.at_end()) cursor.overwritten.push_back(bytes.take<Overwritten>());
  }
  const auto take = [&](std::uint32_t r) {
    bool first = true;
    for (auto& c : cursors) {
      for (; c.arc < c.arcs.size() && c.arcs[c.arc].read_or_object == r; ++c.arc) {
        graph_.add(c.arcs[c.arc]);
      }
      if (c.initial == c.overwritten.size() || c.overwritten[c.initial].read != r) continue;
      if (first) overwritten_.push_back(c.overwritten[c.initial]);
      first = false;
      ++c.initial;
    }
  };
  for (const auto& chain : problem_.chains) {
    for (const Owner o : chain) {
      for (auto r = problem_.read_first[o]; r < problem_.read_first[o + 1]; ++r) take(r);
    }
  }
}

// What work(later, found) finds in the first part and in the later one, in this order: the
// same result for any number of threads. False if either says so.
template <typename Work>
bool CoGraph::in_two_parts(const Work& work) {
  Found first{&graph_, {}, std::move(overwritten_)}, second;
  std::array<bool, 2> done{};
  const unsigned threads = problem_.reads.size() < kLeastReadsInParts ? 1 : problem_.threads;
  base::for_each_index(2, threads, [&](std::size_t i) {
    const base::AllocationWatch watch(&budget_);
    done[i] = work(i == 1, i == 1 ? second : first);
  });
  overwritten_ = std::move(first.overwritten);
  overwritten_.insert(overwritten_.end(), second.overwritten.begin(), second.overwritten.end());
  for (; !second.arcs.empty(); second.arcs.pop_front()) graph_.add(second.arcs.front());
  return done[0] && done[1];
}

std::size_t CoGraph::reads_of(const std::vector<Owner>& chain) const {
  std::size_t reads = 0;
  for (const Owner o : chain) reads += problem_.read_first[o + 1] - problem_.read_first[o];
  return reads;
}

// About as many reads each, in the order of the chains.
CoGraph::Chains CoGraph::chains_of(base::TeamPart part) const {
  const auto begin_of = [&](std::size_t reads_before) {
    std::size_t reads = 0, chain = 0;
    for (; chain < problem_.chains.size() && reads < reads_before; ++chain) {
      reads += reads_of(problem_.chains[chain]);
    }
    return chain;
  };
  const auto begin = begin_of(part.begin(problem_.reads.size()));
  const auto end = part.number + 1 == part.of ? problem_.chains.size()
                                              : begin_of(part.end(problem_.reads.size()));
  return Chains(problem_.chains).subspan(begin, end - begin);
}

// About half of the reads each.
CoGraph::Chains CoGraph::half(Chains chains, bool later) const {
  std::size_t all = 0, reads = 0, chain = 0;
  for (const auto& one : chains) all += reads_of(one);
  for (; chain < chains.size() && reads < all / 2; ++chain) reads += reads_of(chains[chain]);
  return later ? chains.subspan(chain) : chains.first(chain);
}

void CoGraph::visible_before(Owner k, std::uint32_t r, Found& found) const {
  const Owner w = writers_[r];
  if (w == kUnresolved || k == w || k == problem_.reads[r].owner) return;
  if (w == kInitial) {
    // Nothing precedes the initial version: this alone is a violation.
    auto& all = found.overwritten;
    if (all.empty() || all.back().read != r) all.push_back({k, r});
  } else {
    found.add({k, w, r, k, ArcKind::kVisible});
  }
}

bool CoGraph::earlier_reads(Owner first_owner, Owner end_owner, Found& found) const {
  // Reads of one owner by (object, place in program order).
  std::vector<std::uint32_t> by_object;
  base::HashMap<Owner, std::uint32_t> first_from;
  // Large histories wait mostly for memory: for what is written by those read from.
  const auto ahead = static_cast<Owner>(std::clamp<std::size_t>(
      24 * problem_.owner_count / std::max<std::size_t>(1, problem_.reads.size()), 2, 16));
  const auto fetch = [&](Owner o, const auto& touch) {
    if (o >= problem_.owner_count) return;
    for (auto r = problem_.read_first[o]; r < problem_.read_first[o + 1]; ++r) {
      if (sees(r)) touch(writers_[r]);
    }
  };
  for (Owner o = first_owner; o < end_owner; ++o) {
    fetch(o + 2 * ahead, [&](Owner k) { __builtin_prefetch(&problem_.write_first[k]); });
    fetch(o + ahead, [&](Owner k) { __builtin_prefetch(writes(k).data()); });
    const auto begin = problem_.read_first[o], end = problem_.read_first[o + 1];
    if (end - begin < 2) continue;
    if ((o & 0xfff) == 0 && budget_.exceeded()) return false;
    by_object.clear();
    for (auto r = begin; r < end; ++r) {
      if (writers_[r] != kUnresolved) by_object.push_back(r);
    }
    std::stable_sort(by_object.begin(), by_object.end(), [&](auto a, auto b) {
      return problem_.reads[a].object < problem_.reads[b].object;
    });
    for (std::size_t i = 1; i < by_object.size(); ++i) {
      const auto a = by_object[i - 1], b = by_object[i];
      if (problem_.reads[a].object == problem_.reads[b].object && sees(a)) {
        visible_before(writers_[a], b, found);
      }
    }
    first_from.clear();
    for (auto r = begin; r < end; ++r) {
      if (sees(r)) first_from.try_emplace(writers_[r], r);
    }
    for (auto r = begin; r < end; ++r) {
      const Owner k = writers_[r];
      if (!sees(r) || first_from.at(k) != r) continue;
      const auto step = problem_.reads[r].step;
      const auto objects = writes(k);
      const auto next_read = [&](Object x) {
        auto it = std::lower_bound(
            by_object.begin(), by_object.end(), x,
            [&](auto i, Object wanted) { return problem_.reads[i].object < wanted; });
        while (it != by_object.end() && problem_.reads[*it].object == x &&
               problem_.reads[*it].step <= step) {
          ++it;
        }
        if (it != by_object.end() && problem_.reads[*it].object == x) visible_before(k, *it, found);
      };
      if (objects.size() <= end - begin) {
        for (const Object x : objects) next_read(x);
      } else {
        for (auto i = r + 1; i < end; ++i) {
          const Object x = problem_.reads[i].object;
          if (std::binary_search(objects.begin(), objects.end(), x)) next_read(x);
        }
      }
    }
  }
  return true;
}

// visible_before(k, r) for those of one owner's reads whose object k writes.
void CoGraph::meet(Owner k, std::span<const std::uint32_t> reads_by_object, Found& found) const {
  const auto objects = writes(k);
  if (objects.size() <= reads_by_object.size()) {
    for (const Object x : objects) {
      auto it = std::lower_bound(
          reads_by_object.begin(), reads_by_object.end(), x,
          [&](auto r, Object wanted) { return problem_.reads[r].object < wanted; });
      for (; it != reads_by_object.end() && problem_.reads[*it].object == x; ++it) {
        visible_before(k, *it, found);
      }
    }
  } else {
    for (const auto r : reads_by_object) {
      if (std::binary_search(objects.begin(), objects.end(), problem_.reads[r].object)) {
        visible_before(k, r, found);
      }
    }
  }
}

bool CoGraph::direct(std::span<const std::vector<Owner>> chains, Found& found) const {
  std::vector<Owner> last_writer(problem_.object_count, kInitial);
  std::vector<std::uint32_t> by_object;
  std::vector<Owner> sources;
  // Owners that follow their session without being followed (see the header).
  base::HashMap<Owner, std::vector<Owner>> lone_after;
  for (const FixedArc& arc : problem_.fixed) {
    if (arc.kind == FixedKind::kSession) lone_after[arc.from].push_back(arc.to);
  }
  for (const auto& chain : chains) {
    for (const Owner o : chain) {
      if ((o & 0xfff) == 0 && budget_.exceeded()) return false;
      by_object.clear();
      sources.clear();
      for (auto r = problem_.read_first[o]; r < problem_.read_first[o + 1]; ++r) {
        by_object.push_back(r);
        if (sees(r)) sources.push_back(writers_[r]);
        const Owner k = last_writer[problem_.reads[r].object];
        if (k != kInitial) visible_before(k, r, found);
      }
      std::sort(by_object.begin(), by_object.end(), [&](auto a, auto b) {
        return problem_.reads[a].object < problem_.reads[b].object;
      });
      std::sort(sources.begin(), sources.end());
      sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
      for (const Owner k : sources) meet(k, by_object, found);
      for (const Object x : writes(o)) last_writer[x] = o;
      if (const auto lone = lone_after.find(o); lone != lone_after.end()) {
        for (const Owner l : lone->second) {
          for (auto r = problem_.read_first[l]; r < problem_.read_first[l + 1]; ++r) {
            const Owner k = last_writer[problem_.reads[r].object];
            if (k != kInitial) visible_before(k, r, found);
          }
        }
      }
    }
    for (const Owner o : chain) {
      for (const Object x : writes(o)) last_writer[x] = kInitial;
    }
  }
  return true;
}

// The writers of each object, grouped by chain, in chain order.
class CoGraph::WriterGroups {
 public:
  WriterGroups(const VisibilityProblem& problem, const EventGraph& causality)
      : causality_(causality), writer_(problem.write_object.size()) {
    const auto object_first =
        base::offsets_by(problem.object_count, problem.write_object, [](Object x) { return x; });
    auto next = object_first;
    // Chain by chain: groups come out in order.
    for (const auto& chain : causality.problem().chains) {
      for (const Owner o : chain) {
        for (const Object x : problem.writes(o)) writer_[next[x]++] = o;
      }
    }
    group_first_.assign(problem.object_count + 1, 0);
    for (Object x = 0; x < problem.object_count; ++x) {
      for (auto i = object_first[x]; i < object_first[x + 1]; ++i) {
        const ChainId chain = causality.chain(writer_[i]);
        if (i == object_first[x] || groups_.back().chain != chain) groups_.push_back({chain, i, i});
        groups_.back().last = i + 1;
      }
      group_first_[x + 1] = static_cast<std::uint32_t>(groups_.size());
    }
  }

  [[nodiscard]] std::size_t size() const { return groups_.size(); }
  // The one of object x and chain c; none: first(x + 1).
  [[nodiscard]] std::uint32_t of(Object x, ChainId c) const {
    const auto end = groups_.begin() + first(x + 1);
    const auto found =
        std::lower_bound(groups_.begin() + first(x), end, c,
                         [](const Group& group, ChainId id) { return group.chain < id; });
    return found != end && found->chain == c ? static_cast<std::uint32_t>(found - groups_.begin())
                                             : first(x + 1);
  }
  // Those of object x are [first(x), first(x + 1)).
  [[nodiscard]] std::uint32_t first(Object x) const { return group_first_[x]; }
  [[nodiscard]] ChainId chain(std::uint32_t g) const { return groups_[g].chain; }
  // The last writer of the group, but `reader`, at a position up to `seen`; kInitial: none.
  // `passed` counts writers of the group that are, and only grows along a session.
  [[nodiscard]] Owner last_seen(std::uint32_t g, std::uint32_t seen, Owner reader,
                                std::uint32_t& passed) const {
    const Group& group = groups_[g];
    while (group.first + passed < group.last &&
           causality_.position(writer_[group.first + passed]) <= seen) {
      ++passed;
    }
    auto last = group.first + passed;
    if (last == group.first) return kInitial;
    if (writer_[--last] != reader) return writer_[last];
    return last == group.first ? kInitial : writer_[last - 1];
  }

 private:
  struct Group {
    ChainId chain;
    std::uint32_t first, last;  // into writer_
  };
  const EventGraph& causality_;
  std::vector<Owner> writer_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> group_first_;  // by object
};

// What is visible to o's reads, by the columns at hand.
void CoGraph::causally_visible(Owner o, const Clocks& clocks, const WriterGroups& groups,
                               SessionPointers& pointers, Found& found) const {
  for (auto r = problem_.read_first[o]; r < problem_.read_first[o + 1]; ++r) {
    if (writers_[r] == kUnresolved) continue;
    const Object x = problem_.reads[r].object;
    for (auto g = groups.first(x); g < groups.first(x + 1); ++g) {
      const ChainId chain = groups.chain(g);
      if (clocks.has(chain)) last_of_group(r, g, clocks.at(o, chain), groups, pointers, found);
    }
  }
}

// The same by sparse clocks, which have all chains: of those in the past of o and those that write
// the object, the fewer are walked.
void CoGraph::causally_visible(Owner o, const SparseClocks& clocks, const EventGraph& causality,
                               const WriterGroups& groups, SessionPointers& pointers,
                               Found& found) const {
  const auto past = clocks.others(o);
  for (auto r = problem_.read_first[o]; r < problem_.read_first[o + 1]; ++r) {
    if (writers_[r] == kUnresolved) continue;
    const Object x = problem_.reads[r].object;
    const auto end = groups.first(x + 1);
    if (end - groups.first(x) <= past.size()) {
      for (auto g = groups.first(x); g < end; ++g) {
        const auto seen = clocks.at(causality, o, groups.chain(g));
        if (seen != 0) last_of_group(r, g, seen, groups, pointers, found);
      }
      continue;
    }
    const auto look = [&](ChainId chain, std::uint32_t seen) {
      if (const auto g = groups.of(x, chain); g != end)
        last_of_group(r, g, seen, groups, pointers, found);
    };
    look(causality.chain(o), causality.position(o));
    for (const auto& entry : past) look(entry.chain, entry.position);
  }
}

void CoGraph::last_of_group(std::uint32_t r, std::uint32_t g, std::uint32_t seen,
                            const WriterGroups& groups, SessionPointers& pointers,
                            Found& found) const {
  auto& passed = pointers.passed[g];
  if (passed == 0) pointers.touched.push_back(g);
  const Owner k = groups.last_seen(g, seen, problem_.reads[r].owner, passed);
  if (k != kInitial) visible_before(k, r, found);
}

// look(owner, pointers, found) for every owner, in two parts. Along a session the clocks only grow,
// so the pointers only advance; those touched are set back for the next session.
template <typename Look>
bool CoGraph::along_sessions(std::array<SessionPointers, 2>& pointers, const Look& look) {
  return in_two_parts([&](bool later, Found& found) {
    auto& own = pointers[later ? 1 : 0];
    std::size_t done = 0;
    for (const auto& chain : half(problem_.chains, later)) {
      if ((done++ & 0xff) == 0 && budget_.exceeded()) return false;
      own.touched.clear();
      for (const Owner o : chain) look(o, own, found);
      for (const auto g : own.touched) own.passed[g] = 0;
    }
    return true;
  });
}

bool CoGraph::causal(base::TeamPart part) {
  Causality plain(*this);
  if (!plain.sort(budget_)) {
    return true;  // graph_ has these arcs too, and so this cycle or another
  }
  std::optional<Causality> joined;
  if (plain.graph().chain_count() > problem_.most_columns) {
    joined.emplace(plain.graph(), covering_paths(plain.graph()));
    joined->sort(budget_);
  }
  const EventGraph& causality = joined ? joined->graph() : plain.graph();
  const WriterGroups groups(problem_, causality);
  std::array<SessionPointers, 2> pointers;
  for (auto& of_part : pointers) of_part.passed.assign(groups.size(), 0);
  if (joined) {
    SparseClocks clocks;
    if (clocks.compute(causality, problem_.most_sparse_entries, budget_)) {
      return along_sessions(pointers, [&](Owner o, SessionPointers& own, Found& found) {
        causally_visible(o, clocks, causality, groups, own, found);
      });
    }
    if (budget_.exceeded()) return false;
  }
  const auto first_column = static_cast<ChainId>(part.begin(causality.chain_count())),
             chains = static_cast<ChainId>(part.end(causality.chain_count()));
  std::uint32_t width = std::max<std::uint32_t>(
      1, std::min<std::uint32_t>(chains - first_column, problem_.most_columns));
  while (width > 1 && Clocks::bytes(causality, width) > kMostColumnBytes) width = (width + 1) / 2;
  if (budget_.would_exceed(Clocks::bytes(causality, width))) return false;
  Clocks clocks;
  for (ChainId first = first_column; first < chains; first += width) {
    if (!clocks.compute(causality, first, std::min(width, chains - first), budget_)) return false;
    if (!along_sessions(pointers, [&](Owner o, SessionPointers& own, Found& found) {
          causally_visible(o, clocks, groups, own, found);
        })) {
      return false;
    }
  }
  return true;
}

Proof CoGraph::proof() const {
  Search search(*this, {});
  if (!overwritten_.empty()) return proof_of(overwritten_.front(), search);
  return proof_of(graph_.cycle(), search);
}

std::vector<Proof> CoGraph::proofs(std::span<const std::uint8_t> open) const {
  std::vector<Proof> found;
  Search search(*this, open);
  for (const Overwritten& o : overwritten_) {
    if (found.size() >= kProofsAtOnce || budget_.exceeded()) return found;
    found.push_back(proof_of(o, search));
  }
  if (graph_.cycle().empty()) return found;
  const auto components = graph::strongly_connected(graph_.digraph());
  const auto arcs = graph_.arcs();
  std::vector<std::uint8_t> covered(problem_.reads.size(), 0);
  LightestPath& paths = search.in_co();
  for (std::uint32_t i = 0; i < arcs.size(); ++i) {
    const KnownArc& arc = arcs[i];
    const auto home = components.component[arc.from];
    if (components.component[arc.to] != home || !rests_on_read(arc)) continue;
    const auto r = arc.read_or_object;
    if (!open[r] || covered[r]) continue;
    if (found.size() >= kProofsAtOnce || paths.visits() >= kVisitsAtOnce || budget_.exceeded())
      break;
    auto cycle = paths.find(
        arc.to, arc.from, [&](Node u) { return components.component[u] == home; },
        [&](std::uint32_t a) { return search.weighs(arcs[a]) && arcs[a].read_or_object != r; });
    cycle.push_back({arc.from, arc.to, i});
    for (const auto& step : cycle) {
      if (step.arc != EventGraph::kChainArc && rests_on_read(arcs[step.arc]))
        covered[arcs[step.arc].read_or_object] = 1;
    }
    found.push_back(proof_of(cycle, search));
  }
  // A cycle that no open read takes part in.
  if (found.empty()) found.push_back(proof_of(graph_.cycle(), search));
  return found;
}

namespace {

// Writes steps into a proof, runs of chain arcs as one.
class ProofWriter {
 public:
  ProofWriter(const EventGraph& graph, Proof& proof) : graph_(graph), proof_(proof) {}

  std::uint32_t plain(Node from, Node to) {
    proof_.arcs.push_back({from, to, ArcKind::kChain, 0, kInitial, {}});
    return static_cast<std::uint32_t>(proof_.arcs.size() - 1);
  }
  std::uint32_t arc(const KnownArc& arc, std::vector<std::uint32_t> because) {
    proof_.arcs.push_back(
        {arc.from, arc.to, arc.kind, arc.read_or_object, arc.other, std::move(because)});
    return static_cast<std::uint32_t>(proof_.arcs.size() - 1);
  }
  template <typename WriteArc>
  std::vector<std::uint32_t> walk(std::span<const EventGraph::Step> steps, const WriteArc& write) {
    std::vector<std::uint32_t> path;
    for (std::size_t i = 0; i < steps.size();) {
      std::size_t j = i;
      if (steps[i].arc == EventGraph::kChainArc) {
        while (j + 1 < steps.size() && steps[j + 1].arc == EventGraph::kChainArc) ++j;
        path.push_back(plain(steps[i].from, steps[j].to));
      } else {
        path.push_back(write(graph_.arcs()[steps[i].arc]));
      }
      i = j + 1;
    }
    return path;
  }
  std::vector<std::uint32_t> walk_known(std::span<const EventGraph::Step> steps) {
    return walk(steps, [&](const KnownArc& a) { return arc(a, {}); });
  }

 private:
  const EventGraph& graph_;
  Proof& proof_;
};

}  // namespace

// r → k (r read the initial version, k overwrites it) → … → r.
Proof CoGraph::proof_of(const Overwritten& o, Search& search) const {
  Proof proof;
  ProofWriter writer(graph_, proof);
  const auto visible = writer.walk_known(why_visible(o.writer, o.read, search));
  const KnownArc rw{problem_.reads[o.read].owner, o.writer, o.read, o.writer,
                    ArcKind::kInitialRead};
  proof.cycles.push_back({writer.arc(rw, {})});
  proof.cycles.back().insert(proof.cycles.back().end(), visible.begin(), visible.end());
  return proof;
}

Proof CoGraph::proof_of(std::span<const EventGraph::Step> cycle, Search& search) const {
  Proof proof;
  ProofWriter writer(graph_, proof);
  std::vector<EventGraph::Step> steps(cycle.begin(), cycle.end());
  const auto it = std::find_if(steps.begin(), steps.end(),
                               [](const auto& s) { return s.arc != EventGraph::kChainArc; });
  if (it != steps.end()) std::rotate(steps.begin(), it, steps.end());
  proof.cycles.push_back(writer.walk(steps, [&](const KnownArc& arc) {
    if (arc.kind != ArcKind::kVisible) return writer.arc(arc, {});
    auto because = writer.walk_known(why_visible(arc.other, arc.read_or_object, search));
    return writer.arc(arc, std::move(because));
  }));
  return proof;
}

// The session and wr steps from k to the owner of read r.
std::vector<EventGraph::Step> CoGraph::why_visible(Owner k, std::uint32_t r, Search& search) const {
  const Owner o = problem_.reads[r].owner;
  const auto arcs = graph_.arcs();
  if (visible_ != Visible::kCausal) {
    // One step, or a run along the session.
    const auto along_session = [&](Owner last) {
      return graph_.chain(k) == graph_.chain(last) && graph_.position(k) <= graph_.position(last);
    };
    if (visible_ == Visible::kDirect && k != o && along_session(o))
      return {{k, o, EventGraph::kChainArc}};
    std::vector<EventGraph::Step> best;
    for (const auto& in : graph_.in(o)) {
      const KnownArc& arc = arcs[in.arc];
      if (visible_ == Visible::kDirect && arc.kind == ArcKind::kSession &&
          along_session(arc.from)) {
        return {{k, o, EventGraph::kChainArc}};  // a lone owner, after its session
      }
      if (arc.kind != ArcKind::kRead || arc.from != k) continue;
      if (visible_ == Visible::kEarlierRead &&
          problem_.reads[arc.read_or_object].step >= problem_.reads[r].step)
        continue;
      if (best.empty() || search.weighs(arc) < search.weighs(arcs[best.front().arc]))
        best = {{k, o, in.arc}};
    }
    return best;
  }
  return search.causal_path(k, o);
}

}  // namespace cupel::order
