// Relaxation: see relaxation.hpp.
#include "engine/order/relaxation.hpp"

#include <algorithm>
#include <utility>

#include "engine/order/cycle_enumeration.hpp"

namespace cupel::order {

namespace {
// Few owners may be all it takes: so many rounds take out one for each cycle.
// Then chains are cut, and after more rounds around the steps too.
constexpr int kTakeOutRounds = 3;
constexpr int kNarrowRounds = 40;
// An owner after which so many were taken out is itself the cause.
constexpr std::uint8_t kBlamedOften = 2;
// Sub-problems: small ones only, and a bounded search, since the whole is asked
// again anyway. Reads with many candidates would make them large.
constexpr std::size_t kMaxSubproblemOwners = 2'000;
constexpr std::uint32_t kMaxSubproblemCandidates = 64;
constexpr std::uint64_t kMaxSubproblemProposals = 1'000;
}  // namespace

Relaxation::Relaxation(const Problem& problem)
    : problem_(problem),
      chains_{.alone = std::vector<std::uint8_t>(problem.owner_count, 0),
              .cut = std::vector<std::uint8_t>(problem.owner_count, 0)},
      blamed_(problem.owner_count, 0),
      put_back_(problem.owner_count, 0),
      tables_(problem) {
  chain_of_.assign(problem.owner_count, 0);
  place_.assign(problem.owner_count, 0);
  for (std::uint32_t c = 0; c < problem.chains.size(); ++c) {
    for (std::uint32_t i = 0; i < problem.chains[c].size(); ++i) {
      chain_of_[problem.chains[c][i]] = c;
      place_[problem.chains[c][i]] = i;
    }
  }
}

void Relaxation::take_out(Owner o) {
  if (chains_.alone[o] != 0) return;
  chains_.alone[o] = 1;
  ++alone_count_;
  newly_alone_.push_back(o);
}

void Relaxation::cut(const Step& step) {
  const auto& chain = problem_.chains[chain_of_[step.to]];
  const std::uint64_t reach =
      rounds_ <= kNarrowRounds ? 0 : std::uint64_t{1} << std::min(40, rounds_ - kNarrowRounds - 1);
  const std::uint64_t place = place_[step.to];
  const std::uint64_t last = std::min<std::uint64_t>(chain.size() - 1, place + reach);
  for (std::uint64_t i = place - std::min(place, reach); i <= last; ++i) {
    if (std::exchange(chains_.cut[chain[i]], 1) == 0) new_cuts_.push_back(chain[i]);
  }
}

// By what this round has relaxed so far. A step of a proof may pass several owners.
bool Relaxation::is_broken(const Step& step) const {
  if (chains_.alone[step.from] != 0 || chains_.alone[step.to] != 0) return true;
  const auto& chain = problem_.chains[chain_of_[step.to]];
  return std::any_of(chain.begin() + place_[step.from] + 1, chain.begin() + place_[step.to] + 1,
                     [&](Owner o) { return chains_.cut[o] != 0; });
}

// Owners taken out because of one that turned out to be the cause go back, once.
void Relaxation::put_back() {
  for (const auto& [owner, after] : taken_after_) {
    if (chains_.alone[after] == 0 || put_back_[owner] != 0) continue;
    put_back_[owner] = 1;
    chains_.alone[owner] = 0;
    --alone_count_;
  }
  taken_after_.clear();
}

void Relaxation::take_all_out() {
  for (Owner o = 0; o < problem_.owner_count; ++o) take_out(o);
}

// Those of the proof and those that they read from; empty: too many.
std::vector<Owner> Relaxation::owners_of(const Proof& proof) const {
  std::vector<Owner> owners;
  const auto add_candidates = [&](const Read& read) {
    for (auto c = read.first_candidate; c < read.last_candidate; ++c) {
      if (problem_.candidates[c] != kInitial) owners.push_back(problem_.candidates[c]);
    }
  };
  for (const ProofArc& arc : proof.arcs) {
    owners.push_back(problem_.owner_of(arc.from));
    owners.push_back(problem_.owner_of(arc.to));
    if (!names_read(arc.kind)) continue;
    const Read& read = problem_.reads[arc.read_or_object];
    owners.push_back(read.owner);
    if (read.last_candidate - read.first_candidate <= kMaxSubproblemCandidates)
      add_candidates(read);
    if (owners.size() > 64 * kMaxSubproblemOwners) return {};
  }
  const auto make_set = [&] {
    std::sort(owners.begin(), owners.end());
    owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  };
  make_set();
  const std::size_t of_proof = owners.size();
  for (std::size_t i = 0; i < of_proof; ++i) {
    for (auto r = tables_.read_first[owners[i]]; r < tables_.read_first[owners[i] + 1]; ++r) {
      const Read& read = problem_.reads[r];
      if (read.last_candidate - read.first_candidate == 1) add_candidates(read);
    }
  }
  make_set();
  if (owners.size() > kMaxSubproblemOwners) return {};
  return owners;
}

// Is there no solution even for the proof's owners alone? Then final_ says so.
bool Relaxation::decide_subproblem(const Proof& proof, base::Budget& budget) {
  std::vector<Owner> owners = owners_of(proof);
  if (owners.empty()) return false;
  SubProblem sub(problem_, tables_, std::move(owners));
  sub.limit_proposals(kMaxSubproblemProposals);
  final_ = decide(sub.problem(), budget);
  if (final_.solvability != Solvability::kNo) return false;
  sub.translate(final_.proof);
  return true;
}

// `one_step`: relaxing one step is enough for now, other cycles will show the others.
Relaxation::Effect Relaxation::relax_for(Proof& proof, Stage stage, bool one_step,
                                         base::Budget& budget) {
  newly_alone_.clear();
  new_cuts_.clear();
  if (budget.exceeded()) return Effect::kRelaxedAlready;  // the proof may have gaps
  std::vector<Step> steps;
  bool chose_writers = false;
  for (const ProofArc& arc : proof.arcs) {
    if (arc.kind == ArcKind::kChain) {
      steps.push_back({problem_.owner_of(arc.from), problem_.owner_of(arc.to)});
      if (is_broken(steps.back())) return Effect::kRelaxedAlready;
    } else if (names_read(arc.kind)) {
      const Read& read = problem_.reads[arc.read_or_object];
      chose_writers = chose_writers || read.last_candidate - read.first_candidate > 1;
    }
  }
  if (steps.empty() && !chose_writers) {
    final_ = {};
    final_.solvability = Solvability::kNo;
    final_.stage = stage;
    final_.proof = std::move(proof);
    return Effect::kFinal;
  }
  if (decide_subproblem(proof, budget)) return Effect::kFinal;
  if (steps.empty()) {
    // It rests on something that the proof does not say.
    take_all_out();
    return Effect::kRelaxed;
  }
  const auto take_one_end = [&](const Step& step) {
    if (blamed_[step.from] >= kBlamedOften) return take_out(step.from);
    ++blamed_[step.from];
    if (chains_.alone[step.to] == 0 && !put_back_[step.to])
      taken_after_.emplace_back(step.to, step.from);
    take_out(step.to);
  };
  if (rounds_ > kTakeOutRounds) {
    for (const Step& step : steps) cut(step);
  } else if (!one_step) {
    for (const Step& step : steps) take_one_end(step);
  } else {
    take_one_end(*std::max_element(steps.begin(), steps.end(), [&](const Step& a, const Step& b) {
      return blamed_[a.from] < blamed_[b.from];
    }));
  }
  return Effect::kRelaxed;
}

std::optional<OrderResult> Relaxation::proof(Proof proof, Stage stage, base::Budget& budget) {
  ++rounds_;
  if (relax_for(proof, stage, false, budget) == Effect::kFinal) return std::move(final_);
  return std::nullopt;
}

std::optional<OrderResult> Relaxation::cycles(const EventGraph& graph, const Versions& versions,
                                              const OpenReads& open, base::Budget& budget) {
  ++rounds_;
  forced_.clear();
  for (const KnownArc& arc : graph.arcs()) {
    if (arc.kind == ArcKind::kVisible || arc.kind == ArcKind::kOverwritten ||
        arc.kind == ArcKind::kNoOverlap) {
      forced_.push_back(arc);
    }
  }
  const auto proof_of = [&](std::span<const EventGraph::Step> steps) {
    ProofBuilder builder(problem_, graph, versions, budget, &open);
    builder.add_cycle(steps);
    return builder.take();
  };
  Proof first = proof_of(graph.cycle());
  if (relax_for(first, Stage::kSaturation, true, budget) == Effect::kFinal)
    return std::move(final_);
  if (all_alone()) return std::nullopt;

  // The order before this round, or, in the first one, the hints.
  std::vector<std::uint64_t> priority(problem_.node_count(), 0);
  for (Node v = 0; v < problem_.event_count(); ++v) {
    priority[v] = graph.topological().empty() ? 2 * problem_.hint[problem_.owner_of(v)] + (v & 1)
                                              : graph.rank(v);
  }
  CycleEnumerator enumerator(problem_, graph, priority);
  for (Owner o = 0; o < problem_.owner_count; ++o) {
    if (chains_.alone[o] != 0) enumerator.take_out(o);
  }
  while (!budget.exceeded() && !all_alone()) {
    const auto cycle = enumerator.next();
    if (cycle.empty()) break;
    Proof more = proof_of(cycle);
    switch (relax_for(more, Stage::kSaturation, true, budget)) {
      case Effect::kFinal:
        return std::move(final_);
      case Effect::kRelaxedAlready:
        enumerator.drop();
        break;
      case Effect::kRelaxed:
        for (const Owner o : newly_alone_) enumerator.take_out(o);
        for (const Owner o : new_cuts_) enumerator.cut(o);
        break;
    }
  }
  if (!all_alone()) put_back();
  return std::nullopt;
}

}  // namespace cupel::order
