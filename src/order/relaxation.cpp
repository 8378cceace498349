// Relaxation: see relaxation.hpp.
#include "order/relaxation.hpp"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <utility>

#include "order/cycle_enumeration.hpp"

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
      put_back_(problem.owner_count, 0) {
  chain_of_.assign(problem.owner_count, 0);
  place_.assign(problem.owner_count, 0);
  for (std::uint32_t c = 0; c < problem.chains.size(); ++c) {
    for (std::uint32_t i = 0; i < problem.chains[c].size(); ++i) {
      chain_of_[problem.chains[c][i]] = c;
      place_[problem.chains[c][i]] = i;
    }
  }
  read_first_.assign(problem.owner_count + 1, 0);
  for (const Read& read : problem.reads) ++read_first_[read.owner + 1];
  for (Owner o = 0; o < problem.owner_count; ++o) read_first_[o + 1] += read_first_[o];
  fixed_first_.assign(problem.owner_count + 1, 0);
  const auto each_end = [&](const auto& visit) {
    for (std::uint32_t i = 0; i < problem.fixed.size(); ++i) {
      for (const Node v : {problem.fixed[i].from, problem.fixed[i].to}) {
        if (!problem.is_helper(v)) visit(problem.owner_of(v), i);
      }
    }
  };
  each_end([&](Owner o, std::uint32_t) { ++fixed_first_[o + 1]; });
  for (Owner o = 0; o < problem.owner_count; ++o) fixed_first_[o + 1] += fixed_first_[o];
  fixed_of_.resize(fixed_first_.back());
  auto next = fixed_first_;
  each_end([&](Owner o, std::uint32_t i) { fixed_of_[next[o]++] = i; });
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

// Is there no solution even for the proof's owners alone? Then final_ says so.
bool Relaxation::decide_subproblem(const Proof& proof, base::Budget& budget) {
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
    if (owners.size() > 64 * kMaxSubproblemOwners) return false;
  }
  const auto make_set = [&] {
    std::sort(owners.begin(), owners.end());
    owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  };
  make_set();
  const std::size_t of_proof = owners.size();
  for (std::size_t i = 0; i < of_proof; ++i) {
    for (auto r = read_first_[owners[i]]; r < read_first_[owners[i] + 1]; ++r) {
      const Read& read = problem_.reads[r];
      if (read.last_candidate - read.first_candidate == 1) add_candidates(read);
    }
  }
  make_set();
  if (owners.size() > kMaxSubproblemOwners) return false;

  absl::flat_hash_map<Owner, Owner> number;
  for (Owner i = 0; i < owners.size(); ++i) number.emplace(owners[i], i);
  Problem sub;
  sub.split = problem_.split;
  sub.write_to_begin = problem_.write_to_begin;
  sub.whole_proofs = problem_.whole_proofs;
  sub.max_proposals = std::min(problem_.max_proposals, kMaxSubproblemProposals);
  sub.owner_count = static_cast<Owner>(owners.size());
  std::vector<Object> objects;
  for (const Owner o : owners) {
    objects.insert(objects.end(), problem_.write_object.begin() + problem_.write_first[o],
                   problem_.write_object.begin() + problem_.write_first[o + 1]);
    for (auto r = read_first_[o]; r < read_first_[o + 1]; ++r)
      objects.push_back(problem_.reads[r].object);
  }
  std::sort(objects.begin(), objects.end());
  objects.erase(std::unique(objects.begin(), objects.end()), objects.end());
  sub.object_count = static_cast<Object>(objects.size());
  const auto object = [&](Object x) {
    return static_cast<Object>(std::lower_bound(objects.begin(), objects.end(), x) -
                               objects.begin());
  };
  std::vector<std::uint32_t> reads;  // of the problem, by read of the sub-problem
  std::vector<std::uint32_t> fixed;
  for (Owner i = 0; i < owners.size(); ++i) {
    const Owner o = owners[i];
    sub.chains.push_back({i});
    sub.hint.push_back(problem_.hint[o]);
    if (!problem_.commit_hint.empty()) sub.commit_hint.push_back(problem_.commit_hint[o]);
    for (auto w = problem_.write_first[o]; w < problem_.write_first[o + 1]; ++w) {
      sub.write_object.push_back(object(problem_.write_object[w]));
    }
    sub.write_first.push_back(static_cast<std::uint32_t>(sub.write_object.size()));
    for (auto r = read_first_[o]; r < read_first_[o + 1]; ++r) {
      const Read& read = problem_.reads[r];
      const auto first = problem_.candidates.begin() + read.first_candidate;
      const auto last = problem_.candidates.begin() + read.last_candidate;
      if (!std::all_of(first, last, [&](Owner w) { return w == kInitial || number.contains(w); }))
        continue;
      const auto first_candidate = static_cast<std::uint32_t>(sub.candidates.size());
      for (auto it = first; it != last; ++it)
        sub.candidates.push_back(*it == kInitial ? kInitial : number.at(*it));
      sub.reads.push_back({i, object(read.object), first_candidate,
                           static_cast<std::uint32_t>(sub.candidates.size())});
      reads.push_back(r);
    }
    fixed.insert(fixed.end(), fixed_of_.begin() + fixed_first_[o],
                 fixed_of_.begin() + fixed_first_[o + 1]);
  }
  std::sort(fixed.begin(), fixed.end());
  fixed.erase(std::unique(fixed.begin(), fixed.end()), fixed.end());
  std::vector<Node> helpers;
  for (const auto i : fixed) {
    for (const Node v : {problem_.fixed[i].from, problem_.fixed[i].to}) {
      if (problem_.is_helper(v)) helpers.push_back(v);
    }
  }
  std::sort(helpers.begin(), helpers.end());
  helpers.erase(std::unique(helpers.begin(), helpers.end()), helpers.end());
  sub.helper_count = static_cast<std::uint32_t>(helpers.size());
  const auto inside = [&](Node v) {
    return problem_.is_helper(v) || number.contains(problem_.owner_of(v));
  };
  const auto node = [&](Node v) {
    if (problem_.is_helper(v)) {
      return sub.helper(static_cast<std::uint32_t>(
          std::lower_bound(helpers.begin(), helpers.end(), v) - helpers.begin()));
    }
    const Owner o = number.at(problem_.owner_of(v));
    return v == problem_.begin(problem_.owner_of(v)) ? sub.begin(o) : sub.commit(o);
  };
  for (const auto i : fixed) {
    const FixedArc& arc = problem_.fixed[i];
    if (!inside(arc.from) || !inside(arc.to)) continue;
    sub.fixed.push_back({node(arc.from), node(arc.to), arc.kind,
                         arc.kind == FixedKind::kListOrder ? object(arc.object) : 0, arc.witness});
  }

  final_ = decide(sub, budget);
  if (final_.solvability != Solvability::kNo) return false;
  const auto back = [&](Node v) {
    const Owner o = owners[sub.owner_of(v)];
    return v == sub.begin(sub.owner_of(v)) ? problem_.begin(o) : problem_.commit(o);
  };
  for (ProofArc& arc : final_.proof.arcs) {
    arc.from = back(arc.from);
    arc.to = back(arc.to);
    if (arc.kind == ArcKind::kListOrder) {
      arc.read_or_object = objects[arc.read_or_object];
      continue;  // `other` is the caller's
    }
    if (names_read(arc.kind)) {
      arc.read_or_object = reads[arc.read_or_object];
    } else if (arc.read_or_object < objects.size()) {
      arc.read_or_object = objects[arc.read_or_object];
    }
    const auto back_owner = [&](Owner& o) {
      if (o < owners.size()) o = owners[o];
    };
    back_owner(arc.other);
    back_owner(arc.seen);
    for (Exclusion& exclusion : arc.excluded) back_owner(exclusion.candidate);
  }
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
