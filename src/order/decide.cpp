// decide: the three stages in turn, and the cutting of soft chains.
//
// Levels without session order are decided with the chains first: a witness
// that respects them is a witness. If the proof of "no" steps along a chain, the
// chain is cut there and the question asked again; a proof that uses no chain is
// a proof without them. Every round cuts at least one place, and after a few
// rounds whole chains, so it ends.
#include <algorithm>
#include <cassert>

#include "order/proof.hpp"
#include "order/refine.hpp"
#include "order/saturation.hpp"
#include "order/schedule.hpp"

namespace cupel::order {

namespace {

constexpr int kCarefulCuts = 12;  // rounds that cut single places
constexpr int kChainCuts = 24;    // rounds that cut whole chains of the proof
// Above this many owners whole chains are not cut: a clock would have too many
// columns. Single places are, a few more times, and then there is no answer.
constexpr Owner kManyOwners = 20'000;
constexpr int kCutsOfMany = 16;

// Stages 1 to 3 with the chains as they are.
Outcome decide_with_chains(const Problem& problem, const std::vector<std::uint8_t>& cut,
                           base::Budget& budget) {
  Outcome outcome;
  // Chains, arcs and rows, versions and readers; the clocks ask for themselves.
  const std::uint64_t bytes = 60ull * problem.node_count() +
                              64ull * (problem.reads.size() + problem.write_object.size());
  if (budget.would_exceed(bytes)) return outcome;
  EventGraph graph(problem, cut);
  Versions versions(problem, graph);
  OpenReads open(problem);
  Saturation saturation(problem, graph, versions, open, budget);
  switch (saturation.run()) {
    case Saturated::kGaveUp:
      return outcome;
    case Saturated::kCycle: {
      ProofBuilder builder(problem, graph, versions, budget);
      builder.add_cycle(graph.cycle());
      outcome.answer = Answer::kNo;
      outcome.proof = builder.take();
      return outcome;
    }
    case Saturated::kNoWriter: {
      ProofBuilder builder(problem, graph, versions, budget);
      builder.add_orphan(saturation.orphan());
      outcome.answer = Answer::kNo;
      outcome.proof = builder.take();
      return outcome;
    }
    case Saturated::kFixpoint:
      break;
  }

  std::vector<std::uint64_t> hint(problem.node_count(), 0);
  for (Owner o = 0; o < problem.owner_count; ++o) {
    hint[problem.begin(o)] = 2 * problem.hint[o];
    hint[problem.commit(o)] = 2 * problem.hint[o] + (problem.split ? 1 : 0);
  }
  outcome.stage = Stage::kSchedule;
  const graph::Digraph known = graph.digraph();
  Scheduled scheduled =
      schedule(problem, versions, open, versions.writers_of_reads(), known, {}, hint, budget);
  if (!scheduled.finished) return outcome;
  if (scheduled.is_witness()) {
    outcome.answer = Answer::kYes;
    outcome.order = std::move(scheduled.order);
    outcome.writers = std::move(scheduled.writers);
    return outcome;
  }
  refine(problem, graph, versions, open, known, scheduled, hint, budget, outcome);
  return outcome;
}

}  // namespace

bool is_solution(const Problem& problem, std::span<const Node> order, std::span<const Owner> writers) {
  const Node n = problem.node_count();
  if (order.size() != n || writers.size() != problem.reads.size()) return false;
  constexpr std::uint32_t kUnset = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> rank(n, kUnset);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (order[i] >= n || rank[order[i]] != kUnset) return false;
    rank[order[i]] = i;
  }
  const auto ordered = [&](Node a, Node b) { return rank[a] < rank[b]; };
  for (Owner o = 0; o < problem.owner_count; ++o) {
    if (problem.split && !ordered(problem.begin(o), problem.commit(o))) return false;
  }
  if (!problem.soft_chains) {
    for (const auto& chain : problem.chains) {
      for (std::size_t i = 1; i < chain.size(); ++i) {
        if (!ordered(problem.commit(chain[i - 1]), problem.begin(chain[i]))) return false;
      }
    }
  }
  for (std::uint32_t h = 1; h < problem.helper_count; ++h) {
    if (!ordered(problem.helper(h - 1), problem.helper(h))) return false;
  }
  for (const FixedArc& arc : problem.fixed) {
    if (!ordered(arc.from, arc.to)) return false;
  }
  std::vector<std::uint32_t> read_first(problem.owner_count + 1, 0);
  for (const Read& read : problem.reads) ++read_first[read.owner + 1];
  for (Owner o = 0; o < problem.owner_count; ++o) read_first[o + 1] += read_first[o];
  std::vector<Owner> current(problem.object_count, kInitial);
  std::vector<Owner> open(problem.object_count, kInitial);
  for (const Node v : order) {
    if (problem.is_helper(v)) continue;
    const Owner o = problem.owner_of(v);
    if (v == problem.begin(o)) {
      for (auto r = read_first[o]; r < read_first[o + 1]; ++r) {
        const Read& read = problem.reads[r];
        const auto first = problem.candidates.begin() + read.first_candidate;
        const auto last = problem.candidates.begin() + read.last_candidate;
        if (writers[r] != current[read.object] || std::find(first, last, writers[r]) == last) return false;
      }
    }
    for (auto i = problem.write_first[o]; i < problem.write_first[o + 1]; ++i) {
      const Object x = problem.write_object[i];
      if (problem.split && problem.write_to_begin && v == problem.begin(o)) {
        if (open[x] != kInitial) return false;
        open[x] = o;
      }
      if (v == problem.commit(o)) {
        current[x] = o;
        open[x] = kInitial;
      }
    }
  }
  return true;
}

Outcome decide(const Problem& problem, base::Budget& budget) {
  std::vector<std::uint8_t> cut;
  for (int round = 0;; ++round) {
    Outcome outcome = decide_with_chains(problem, cut, budget);
    if (outcome.answer == Answer::kYes) {
      if (!is_solution(problem, outcome.order, outcome.writers)) {
        assert(false && "the order found is not a solution");
        outcome.answer = Answer::kGaveUp;
      }
      return outcome;
    }
    if (outcome.answer != Answer::kNo || !problem.soft_chains) return outcome;
    const bool many = problem.owner_count > kManyOwners;
    if (cut.empty()) cut.assign(problem.owner_count, 0);
    std::vector<std::uint8_t> touched(problem.chains.size(), 0);
    std::vector<std::uint32_t> chain_of;
    if (round >= kCarefulCuts && !many) {
      chain_of.assign(problem.owner_count, 0);
      for (std::uint32_t c = 0; c < problem.chains.size(); ++c) {
        for (const Owner o : problem.chains[c]) chain_of[o] = c;
      }
    }
    bool used_chain = false;
    for (const ProofArc& arc : outcome.proof.arcs) {
      if (arc.kind != ArcKind::kChain) continue;
      used_chain = true;
      cut[problem.owner_of(arc.to)] = 1;
      if (round >= kCarefulCuts && !many) touched[chain_of[problem.owner_of(arc.to)]] = 1;
    }
    if (!used_chain) {
      // Where reads lost candidates by the chains' order, the proof does not say
      // so for each arc; then it counts only once no chain is left.
      const bool lost_candidates = std::any_of(problem.reads.begin(), problem.reads.end(), [](const Read& r) {
        return r.last_candidate - r.first_candidate > 1;
      });
      const bool all_cut = std::find(cut.begin(), cut.end(), 0) == cut.end();
      if (!lost_candidates || all_cut) return outcome;
      if (many) {
        outcome.answer = Answer::kGaveUp;
        return outcome;
      }
      std::fill(cut.begin(), cut.end(), 1);
      continue;
    }
    if (many && round >= kCutsOfMany) {
      outcome.answer = Answer::kGaveUp;
      return outcome;
    }
    for (std::size_t c = 0; c < touched.size() && !many; ++c) {
      if (round < kChainCuts && !touched[c]) continue;
      for (const Owner o : problem.chains[c]) cut[o] = 1;
    }
    if (budget.exceeded()) {
      outcome.answer = Answer::kGaveUp;
      return outcome;
    }
  }
}

}  // namespace cupel::order
