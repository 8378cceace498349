// decide_visibility: see the header.
//
// The arcs go into an EventGraph of single-event owners. Deviation from AWDIT
// for read-committed: for a pair (k, r's owner) only the next read of each object
// after the first read from k gives an arc; the later ones follow through the
// arcs between consecutive reads of one object.
#include "order/visibility.hpp"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "order/clocks.hpp"
#include "order/event_graph.hpp"

namespace cupel::order {

namespace {

class Saturator {
 public:
  Saturator(const VisibilityProblem& problem, std::span<const Owner> writers, base::Budget& budget)
      : problem_(problem), writers_(writers), budget_(budget), events_(as_events(problem)), graph_(events_, {}) {}

  Outcome run(Visible visible) {
    for (std::uint32_t r = 0; r < problem_.reads.size(); ++r) {
      const Owner w = writers_[r];
      if (w != kInitial) graph_.add({w, problem_.reads[r].owner, r, w, ArcKind::kRead});
    }
    graph_.begin_round();
    Outcome outcome;
    outcome.stage = Stage::kSaturation;
    bool finished = true;
    switch (visible) {
      case Visible::kEarlierRead: finished = earlier_reads(); break;
      case Visible::kDirect: finished = direct(); break;
      case Visible::kCausal: finished = causal(); break;
    }
    if (!finished) return outcome;
    if (initial_overwritten_) {
      graph_.sort();
      report_initial(visible, outcome);
    } else if (cycle_in_causality_) {
      report(graph_.cycle(), visible, outcome);
    } else if (!graph_.sort()) {
      report(graph_.cycle(), visible, outcome);
    } else {
      outcome.answer = Answer::kYes;
      outcome.order.assign(graph_.topological().begin(), graph_.topological().end());
      outcome.writers.assign(writers_.begin(), writers_.end());
    }
    return outcome;
  }

 private:
  static Problem as_events(const VisibilityProblem& p) {
    Problem events;
    events.owner_count = p.owner_count;
    events.chains = p.chains;
    events.fixed = p.fixed;
    return events;
  }

  void visible_before(Owner k, std::uint32_t r) {
    const Owner w = writers_[r];
    if (k == w || k == problem_.reads[r].owner) return;
    if (w == kInitial) {
      // Nothing precedes the initial version: this alone is a violation.
      if (!initial_overwritten_) initial_overwritten_ = {k, r};
    } else {
      graph_.add({k, w, r, k, ArcKind::kVisible});
    }
  }

  [[nodiscard]] std::span<const Object> writes(Owner o) const {
    return std::span(problem_.write_object)
        .subspan(problem_.write_first[o], problem_.write_first[o + 1] - problem_.write_first[o]);
  }

  bool earlier_reads() {
    // Reads of one owner by (object, place in program order).
    std::vector<std::uint32_t> by_object;
    absl::flat_hash_map<Owner, std::uint32_t> first_from;
    for (Owner o = 0; o < problem_.owner_count; ++o) {
      const auto begin = problem_.read_first[o], end = problem_.read_first[o + 1];
      if (end - begin < 2) continue;
      if ((o & 0xfff) == 0 && budget_.exceeded()) return false;
      by_object.clear();
      for (auto r = begin; r < end; ++r) by_object.push_back(r);
      std::stable_sort(by_object.begin(), by_object.end(), [&](auto a, auto b) {
        return problem_.reads[a].object < problem_.reads[b].object;
      });
      for (std::size_t i = 1; i < by_object.size(); ++i) {
        const auto a = by_object[i - 1], b = by_object[i];
        if (problem_.reads[a].object == problem_.reads[b].object && writers_[a] != kInitial) {
          visible_before(writers_[a], b);
        }
      }
      first_from.clear();
      for (auto r = begin; r < end; ++r) {
        if (writers_[r] != kInitial) first_from.try_emplace(writers_[r], r);
      }
      for (auto r = begin; r < end; ++r) {
        const Owner k = writers_[r];
        if (k == kInitial || first_from.at(k) != r) continue;
        const auto step = problem_.reads[r].step;
        const auto objects = writes(k);
        const auto next_read = [&](Object x) {
          auto it = std::lower_bound(by_object.begin(), by_object.end(), x, [&](auto i, Object wanted) {
            return problem_.reads[i].object < wanted;
          });
          while (it != by_object.end() && problem_.reads[*it].object == x &&
                 problem_.reads[*it].step <= step) {
            ++it;
          }
          if (it != by_object.end() && problem_.reads[*it].object == x) visible_before(k, *it);
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
  void meet(Owner k, std::span<const std::uint32_t> reads_by_object) {
    const auto objects = writes(k);
    if (objects.size() <= reads_by_object.size()) {
      for (const Object x : objects) {
        auto it = std::lower_bound(
            reads_by_object.begin(), reads_by_object.end(), x,
            [&](auto r, Object wanted) { return problem_.reads[r].object < wanted; });
        for (; it != reads_by_object.end() && problem_.reads[*it].object == x; ++it) visible_before(k, *it);
      }
    } else {
      for (const auto r : reads_by_object) {
        if (std::binary_search(objects.begin(), objects.end(), problem_.reads[r].object)) visible_before(k, r);
      }
    }
  }

  bool direct() {
    std::vector<Owner> last_writer(problem_.object_count, kInitial);
    std::vector<std::uint32_t> by_object;
    std::vector<Owner> sources;
    // Owners that follow their session without being followed (see the header).
    absl::flat_hash_map<Owner, std::vector<Owner>> lone_after;
    for (const FixedArc& arc : problem_.fixed) {
      if (arc.kind == FixedKind::kSession) lone_after[arc.from].push_back(arc.to);
    }
    for (const auto& chain : problem_.chains) {
      for (const Owner o : chain) {
        if ((o & 0xfff) == 0 && budget_.exceeded()) return false;
        by_object.clear();
        sources.clear();
        for (auto r = problem_.read_first[o]; r < problem_.read_first[o + 1]; ++r) {
          by_object.push_back(r);
          if (writers_[r] != kInitial) sources.push_back(writers_[r]);
          const Owner k = last_writer[problem_.reads[r].object];
          if (k != kInitial) visible_before(k, r);
        }
        std::sort(by_object.begin(), by_object.end(), [&](auto a, auto b) {
          return problem_.reads[a].object < problem_.reads[b].object;
        });
        std::sort(sources.begin(), sources.end());
        sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
        for (const Owner k : sources) meet(k, by_object);
        for (const Object x : writes(o)) last_writer[x] = o;
        if (const auto lone = lone_after.find(o); lone != lone_after.end()) {
          for (const Owner l : lone->second) {
            for (auto r = problem_.read_first[l]; r < problem_.read_first[l + 1]; ++r) {
              const Owner k = last_writer[problem_.reads[r].object];
              if (k != kInitial) visible_before(k, r);
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

  bool causal() {
    // Causality itself: session and wr arcs, without list orders.
    Problem events = as_events(problem_);
    std::erase_if(events.fixed, [](const FixedArc& a) { return a.kind == FixedKind::kListOrder; });
    EventGraph causality(events, {});
    for (const auto& arc : graph_.arcs()) {
      if (arc.kind == ArcKind::kRead) causality.add(arc);
    }
    if (!causality.sort()) {
      graph_.sort();  // the same cycle, or another: graph_ has these arcs too
      cycle_in_causality_ = true;
      return true;
    }
    // Writers by object and chain, in chain order.
    struct Group {
      ChainId chain;
      std::uint32_t first, last;
    };
    std::vector<std::uint32_t> object_first(problem_.object_count + 1, 0);
    for (const Object x : problem_.write_object) ++object_first[x + 1];
    for (Object x = 0; x < problem_.object_count; ++x) object_first[x + 1] += object_first[x];
    std::vector<Owner> writer(problem_.write_object.size());
    {
      auto next = object_first;
      for (const auto& chain : problem_.chains) {  // chain by chain: groups come out in order
        for (const Owner o : chain) {
          for (const Object x : writes(o)) writer[next[x]++] = o;
        }
      }
    }
    std::vector<std::uint32_t> group_first(problem_.object_count + 1, 0);
    std::vector<Group> groups;
    for (Object x = 0; x < problem_.object_count; ++x) {
      for (auto i = object_first[x]; i < object_first[x + 1]; ++i) {
        const ChainId chain = causality.chain(writer[i]);
        if (i == object_first[x] || groups.back().chain != chain) groups.push_back({chain, i, i});
        groups.back().last = i + 1;
      }
      group_first[x + 1] = static_cast<std::uint32_t>(groups.size());
    }
    const std::uint32_t chains = causality.chain_count();
    std::uint32_t width = std::max<std::uint32_t>(1, std::min<std::uint32_t>(chains, 2048));
    while (width > 1 && Clocks::bytes(causality, width) > 1'500'000'000) width = (width + 1) / 2;
    if (budget_.would_exceed(Clocks::bytes(causality, width))) return false;
    Clocks clocks;
    std::vector<std::uint32_t> pointer(groups.size());
    for (ChainId first = 0; first < chains; first += width) {
      clocks.compute(causality, first, std::min(width, chains - first));
      for (const auto& chain : problem_.chains) {
        if (budget_.exceeded()) return false;
        // Along a session the clocks only grow, so the pointers only advance;
        // those touched are set back for the next session.
        std::vector<std::uint32_t> touched;
        for (const Owner o : chain) {
          for (auto r = problem_.read_first[o]; r < problem_.read_first[o + 1]; ++r) {
            const Object x = problem_.reads[r].object;
            for (auto g = group_first[x]; g < group_first[x + 1]; ++g) {
              const Group& group = groups[g];
              if (!clocks.has(group.chain)) continue;
              const std::uint32_t seen = clocks.at(o, group.chain);
              auto& at = pointer[g];
              if (at == 0) touched.push_back(g);
              while (group.first + at < group.last &&
                     causality.position(writer[group.first + at]) <= seen) {
                ++at;
              }
              auto found = group.first + at;
              if (found == group.first) continue;
              --found;
              if (writer[found] == o) {
                if (found == group.first) continue;
                --found;
              }
              visible_before(writer[found], r);
            }
          }
        }
        for (const auto g : touched) pointer[g] = 0;
      }
    }
    return true;
  }

  // The cycle r → k (r read the initial version, k overwrites it) → … → r.
  void report_initial(Visible visible, Outcome& outcome) {
    const auto [k, r] = *initial_overwritten_;
    const EventGraph::Step rw{problem_.reads[r].owner, k, static_cast<std::uint32_t>(graph_.arcs().size())};
    graph_.add({rw.from, rw.to, r, k, ArcKind::kInitialRead});
    report(std::span(&rw, 1), visible, outcome);
    // report() put the reason of the rw arc in front of it; together they are the cycle.
    auto& cycle = outcome.proof.cycles.front();
    auto& because = outcome.proof.arcs[cycle.front()].because;
    cycle.insert(cycle.end(), because.begin(), because.end());
    because.clear();
  }

  void report(std::span<const EventGraph::Step> cycle, Visible visible, Outcome& outcome) {
    outcome.answer = Answer::kNo;
    Proof& proof = outcome.proof;
    const auto plain = [&](Owner from, Owner to, ArcKind kind) {
      proof.arcs.push_back({from, to, kind, 0, kInitial, {}});
      return static_cast<std::uint32_t>(proof.arcs.size() - 1);
    };
    const auto known = [&](std::uint32_t index) {
      const KnownArc& arc = graph_.arcs()[index];
      proof.arcs.push_back({arc.from, arc.to, arc.kind, arc.read_or_object, arc.other, {}});
      return static_cast<std::uint32_t>(proof.arcs.size() - 1);
    };
    const auto walk = [&](std::span<const EventGraph::Step> steps, const auto& arc_of) {
      std::vector<std::uint32_t> path;
      for (std::size_t i = 0; i < steps.size();) {
        std::size_t j = i;
        if (steps[i].arc == EventGraph::kChainArc) {
          while (j + 1 < steps.size() && steps[j + 1].arc == EventGraph::kChainArc) ++j;
          path.push_back(plain(steps[i].from, steps[j].to, ArcKind::kChain));
        } else {
          path.push_back(arc_of(steps[i].arc));
        }
        i = j + 1;
      }
      return path;
    };
    const auto forced = [&](std::uint32_t index) -> std::uint32_t {
      const KnownArc arc = graph_.arcs()[index];
      if (arc.kind != ArcKind::kVisible && arc.kind != ArcKind::kInitialRead) return known(index);
      std::vector<std::uint32_t> because = why_visible(arc.other, arc.read_or_object, visible, walk, known, plain);
      const auto place = known(index);
      proof.arcs[place].because = std::move(because);
      return place;
    };
    std::vector<EventGraph::Step> steps(cycle.begin(), cycle.end());
    const auto it = std::find_if(steps.begin(), steps.end(),
                                 [](const auto& s) { return s.arc != EventGraph::kChainArc; });
    if (it != steps.end()) std::rotate(steps.begin(), it, steps.end());
    proof.cycles.push_back(walk(steps, forced));
  }

  // The session and wr steps from k to the owner of read r.
  template <typename Walk, typename Known, typename Plain>
  std::vector<std::uint32_t> why_visible(Owner k, std::uint32_t r, Visible visible, const Walk& walk,
                                         const Known& known, const Plain& plain) {
    const Owner o = problem_.reads[r].owner;
    if (visible != Visible::kCausal) {
      if (visible == Visible::kDirect && graph_.chain(k) == graph_.chain(o) &&
          graph_.position(k) < graph_.position(o)) {
        return {plain(k, o, ArcKind::kChain)};
      }
      for (std::uint32_t i = 0; i < problem_.fixed.size(); ++i) {
        const KnownArc& arc = graph_.arcs()[i];  // a lone owner, after its session
        if (visible != Visible::kDirect || arc.kind != ArcKind::kSession || arc.to != o) continue;
        if (graph_.chain(k) == graph_.chain(arc.from) && graph_.position(k) <= graph_.position(arc.from)) {
          return {plain(k, o, ArcKind::kChain)};
        }
      }
      for (std::uint32_t i = 0; i < graph_.arcs().size(); ++i) {
        const KnownArc& arc = graph_.arcs()[i];
        if (arc.kind == ArcKind::kRead && arc.from == k && arc.to == o) return {known(i)};
        if (arc.kind != ArcKind::kRead && i >= problem_.fixed.size()) break;
      }
      return {};
    }
    // Shortest path of causality, breadth-first backward.
    absl::flat_hash_map<Owner, EventGraph::Step> out_of;
    std::vector<Owner> queue = {o};
    for (std::size_t i = 0; i < queue.size() && !out_of.contains(k); ++i) {
      const Owner v = queue[i];
      const auto visit = [&](Owner u, std::uint32_t arc) {
        if (u == graph::kNoNode || u == o) return;
        if (out_of.try_emplace(u, EventGraph::Step{u, v, arc}).second) queue.push_back(u);
      };
      visit(graph_.previous(v), EventGraph::kChainArc);
      for (const auto& in : graph_.in(v)) {
        const ArcKind kind = graph_.arcs()[in.arc].kind;
        if (kind == ArcKind::kRead || kind == ArcKind::kSession) visit(in.from, in.arc);
      }
    }
    std::vector<EventGraph::Step> steps;
    if (!out_of.contains(k)) return {};
    for (Owner v = k; v != o; v = steps.back().to) steps.push_back(out_of.at(v));
    return walk(steps, known);
  }

  const VisibilityProblem& problem_;
  std::span<const Owner> writers_;
  base::Budget& budget_;
  const Problem events_;
  EventGraph graph_;
  bool cycle_in_causality_ = false;
  std::optional<std::pair<Owner, std::uint32_t>> initial_overwritten_;
};

}  // namespace

Outcome decide_visibility(const VisibilityProblem& problem, Visible visible,
                          std::span<const Owner> writers, base::Budget& budget) {
  return Saturator(problem, writers, budget).run(visible);
}

}  // namespace cupel::order
