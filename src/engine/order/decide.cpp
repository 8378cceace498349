// decide: the three stages in turn, and the relaxation of optional session order.
//
// Levels without session order are decided with the chains first: a witness that
// respects them is a witness. A "no" goes to the Relaxation: it is final, or some
// owners leave their chains and the problem is decided again.
#include <algorithm>
#include <cassert>
#include <optional>

#include "base/offsets.hpp"
#include "engine/order/nearby.hpp"
#include "engine/order/proof.hpp"
#include "engine/order/refine.hpp"
#include "engine/order/relaxation.hpp"
#include "engine/order/saturation.hpp"
#include "engine/order/schedule.hpp"

namespace cupel::order {

namespace {

// By node. Of one event an owner, the commit shows better where it took effect.
std::vector<std::uint64_t> hints_of(const Problem& problem) {
  std::vector<std::uint64_t> hint(problem.node_count(), 0);
  const auto& last = problem.commit_hint.empty() ? problem.hint : problem.commit_hint;
  for (Owner o = 0; o < problem.owner_count; ++o) {
    hint[problem.begin(o)] = 2 * problem.hint[o];
    hint[problem.commit(o)] = 2 * last[o] + (problem.split ? 1 : 0);
  }
  return hint;
}

// Of the cycle that the graph's last sort() met.
Proof proof_of_cycle(const Problem& problem, const EventGraph& graph, const Versions& versions,
                     base::Budget& budget) {
  const base::AllocationWatch unwatched(nullptr);  // the budget shortens the proof
  ProofBuilder builder(problem, graph, versions, budget);
  builder.add_cycle(graph.cycle());
  return builder.take();
}

// Of a read that lost all its candidates. `open`: null unless the relaxation asks.
Proof proof_of_orphan(const Problem& problem, const EventGraph& graph, const Versions& versions,
                      base::Budget& budget, std::uint32_t read, const OpenReads* open) {
  ProofBuilder builder(problem, graph, versions, budget, open);
  builder.add_orphan(read);
  return builder.take();
}

// Is it an order? Then it is the result.
bool accept(ScheduleResult& scheduled, OrderResult& result) {
  if (!scheduled.is_witness()) return false;
  result.stage = Stage::kSchedule;
  result.solvability = Solvability::kYes;
  result.order = std::move(scheduled.order);
  result.writers = std::move(scheduled.writers);
  return true;
}

// Stages 1 to 3 with the chains as they are. `relaxation` (null: a "no" is final)
// takes a "no"; if it is not final, *again. `plain`: try what is plain before what is forced.
OrderResult decide_with_chains(const Problem& problem, Relaxation* relaxation, bool plain,
                               bool* again, base::Budget& budget) {
  using Lap = base::Stopwatch::Lap;
  OrderResult result;
  std::optional<Lap> lap(std::in_place, budget.stopwatch(), "saturation");
  const auto final_or_again = [&](std::optional<OrderResult> final_result) {
    if (final_result) return std::move(*final_result);
    *again = true;
    return OrderResult();
  };
  // Chains, arcs and rows, versions and readers; the clocks ask for themselves.
  static const RelaxedChains kAllChains;
  const std::uint64_t bytes =
      60ull * problem.node_count() + 64ull * (problem.reads.size() + problem.write_object.size());
  if (budget.would_exceed(bytes)) return result;
  EventGraph graph(problem, relaxation == nullptr ? kAllChains : relaxation->chains());
  if (relaxation != nullptr && relaxation->all_alone()) relaxation = nullptr;
  if (budget.exceeded()) return result;
  Versions versions(problem, graph);
  OpenReads open(problem);
  const auto hint = hints_of(problem);
  const auto schedule_of = [&](const graph::Digraph& known) {
    return ScheduleInput{.problem = problem,
                         .versions = versions,
                         .open = open,
                         .writer_of = versions.writers_of_reads(),
                         .known = known,
                         .hint = hint};
  };
  Saturation saturation(problem, graph, versions, open, budget);
  saturation.add_reads();
  // Where the clients' clocks show the order well, nothing need be forced, and elsewhere perhaps
  // no more than is plain; a guess that fails, fails early.
  std::optional<OrderResult> refuted;
  const auto is_refuted = [&](std::span<const Node> ran) {
    refuted = refute_nearby(problem, ran, budget);
    return refuted.has_value();
  };
  bool modified = false;
  while (true) {
    lap.reset();
    lap.emplace(budget.stopwatch(), "schedule");
    const graph::Digraph known = graph.digraph();
    ScheduleInput input = schedule_of(known);
    const bool looks_nearby = plain && !modified && problem.owner_count >= problem.nearby_from;
    if (looks_nearby) input.hopeless = is_refuted;
    ScheduleResult guess =
        schedule(input, budget, problem.repair ? WhenBlocked::kRepair : WhenBlocked::kStop);
    if (accept(guess, result) || budget.exceeded()) return result;
    if (refuted || (looks_nearby && is_refuted(guess.order))) return std::move(*refuted);
    lap.reset();
    lap.emplace(budget.stopwatch(), "saturation");
    if (modified || !plain || !saturation.add_modifiers()) break;
    modified = true;
  }
  switch (saturation.run(relaxation == nullptr ? std::vector<KnownArc>() : relaxation->forced())) {
    case SaturationResult::kGaveUp:
      return result;
    case SaturationResult::kCycle: {
      if (modified && saturation.rounds() == 1) {
        // These few arcs close a cycle, but all that are forced close shorter ones: decide again.
        *again = true;
        return result;
      }
      if (relaxation != nullptr)
        return final_or_again(relaxation->cycles(graph, versions, open, budget));
      result.solvability = Solvability::kNo;
      if (problem.without_proof) return result;
      result.proof = proof_of_cycle(problem, graph, versions, budget);
      return result;
    }
    case SaturationResult::kNoWriter: {
      const std::uint32_t orphan = saturation.orphan();
      if (relaxation != nullptr) {
        Proof proof = proof_of_orphan(problem, graph, versions, budget, orphan, &open);
        return final_or_again(relaxation->proof(std::move(proof), Stage::kSaturation, budget));
      }
      result.solvability = Solvability::kNo;
      if (problem.without_proof) return result;
      result.proof = proof_of_orphan(problem, graph, versions, budget, orphan, nullptr);
      return result;
    }
    case SaturationResult::kFixpoint:
      break;
  }

  if (budget.exceeded()) return result;
  lap.reset();
  lap.emplace(budget.stopwatch(), "schedule");
  result.stage = Stage::kSchedule;
  const graph::Digraph known = graph.digraph();
  ScheduleResult scheduled = schedule(schedule_of(known), budget);
  if (!scheduled.finished) return result;
  if (accept(scheduled, result)) return result;
  lap.reset();
  lap.emplace(budget.stopwatch(), "refine");
  result = refine({.problem = problem,
                   .graph = graph,
                   .versions = versions,
                   .open = open,
                   .saturation = saturation,
                   .known = known,
                   .hint = hint,
                   .for_relaxation = relaxation != nullptr},
                  scheduled, budget);
  if (relaxation == nullptr || result.solvability != Solvability::kNo) return result;
  return final_or_again(relaxation->proof(std::move(result.proof), Stage::kRefine, budget));
}

}  // namespace

bool is_solution(const Problem& problem, std::span<const Node> order,
                 std::span<const Owner> writers) {
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
  if (!problem.optional_session_order) {
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
  const auto read_first = base::offsets_by(problem.owner_count, problem.reads,
                                           [](const Read& read) { return read.owner; });
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
        if (writers[r] != current[read.object] || std::find(first, last, writers[r]) == last)
          return false;
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

OrderResult decide(const Problem& problem, base::Budget& budget) {
  std::optional<Relaxation> relaxation;
  if (problem.optional_session_order) relaxation.emplace(problem);
  for (bool plain = true;; plain = false) {
    bool again = false;
    OrderResult result =
        decide_with_chains(problem, relaxation ? &*relaxation : nullptr, plain, &again, budget);
    if (result.solvability == Solvability::kYes &&
        !is_solution(problem, result.order, result.writers)) {
      assert(false && "the order found is not a solution");
      result.solvability = Solvability::kGaveUp;
    }
    if (!again || budget.exceeded()) return result;
  }
}

}  // namespace cupel::order
