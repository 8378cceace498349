// Stage 3: see refine.hpp.
#include "engine/order/refine.hpp"

#include <algorithm>
#include <cassert>
#include <map>

#include "base/hash_table.hpp"
#include "base/solver/acyclic_solver.hpp"

namespace cupel::order {

namespace {

using solver::Literal;

class Refiner {
 public:
  Refiner(const RefineInput& input, std::span<const Node> order)
      : problem_(input.problem),
        graph_(input.graph),
        versions_(input.versions),
        open_(input.open),
        saturation_(input.saturation),
        solver_(input.known, order),
        writers_(versions_.writers_of_reads().begin(), versions_.writers_of_reads().end()) {
    solver_.limit_rounds(problem_.max_proposals);
  }

  // False if nothing new was learnt: a broken promise of the schedule.
  bool learn(const ScheduleResult& broken) {
    rank_.resize(problem_.node_count());
    for (std::uint32_t i = 0; i < broken.order.size(); ++i) rank_[broken.order[i]] = i;
    bool fresh = false;
    for (const PairBreak& pair : broken.pairs) fresh = add_pair(pair.earlier, pair.later) || fresh;
    for (const std::uint32_t r : broken.reads) fresh = add_read(r) || fresh;
    return fresh;
  }

  solver::SolveResult solve(base::Budget& budget) { return solver_.solve(budget); }

  // After a model: the arcs and the writers it chose.
  void read_model(std::vector<graph::Arc>& extra, std::vector<Owner>& writers) const {
    extra.clear();
    for (const std::uint32_t i : solver_.active_arcs())
      extra.push_back({arcs_[i].from, arcs_[i].to});
    writers = writers_;
    for (const auto& [r, literals] : choices_) {
      const auto candidates = open_.candidates(r);
      for (std::size_t c = 0; c < literals.size(); ++c) {
        if (!solver_.is_true(literals[c])) continue;
        writers[r] = candidates[c];
        break;
      }
    }
  }

  Proof proof(bool for_relaxation, base::Budget& budget) const {
    ProofBuilder builder(problem_, graph_, versions_, budget, for_relaxation ? &open_ : nullptr);
    for (const auto& cycle : solver_.core(budget)) {
      std::vector<ProofBuilder::MixedStep> steps;
      for (const auto& step : cycle) {
        if (step.conditional) {
          steps.push_back({true, arcs_[step.id], {}});
        } else {
          steps.push_back({false, {}, graph_.step(step.id)});
        }
      }
      builder.add_case(steps);
    }
    if (problem_.whole_proofs) {
      for (const auto& [r, literals] : choices_) builder.add_exclusions(r, open_.candidates(r));
    }
    return builder.take();
  }

 private:
  void add_arc(const ProofBuilder::Assumed& arc, Literal first, Literal second = 0) {
    solver_.add_arc({arc.from, arc.to, first, second});
    arcs_.push_back(arc);
  }

  // The literal that says a is before b.
  Literal before(Owner a, Owner b) const {
    const auto it = pairs_.find({std::min(a, b), std::max(a, b)});
    assert(it != pairs_.end());
    return a < b ? it->second : -it->second;
  }

  bool add_pair(Owner a, Owner b) {
    const auto [it, fresh] = pairs_.try_emplace({std::min(a, b), std::max(a, b)}, 0);
    if (!fresh) return false;
    it->second = solver_.new_variable();
    solver_.prefer(before(a, b));
    partners_[a].push_back(b);
    partners_[b].push_back(a);
    add_order(a, b);
    add_order(b, a);
    return true;
  }

  // Arcs under "a before b".
  void add_order(Owner a, Owner b) {
    const Literal literal = before(a, b);
    bool ww_added = false;
    for (const Slot s : versions_.slots_of(a)) {
      const Object x = versions_.object(s);
      if (!writes(b, x)) continue;
      if (!ww_added) {
        add_arc({problem_.commit(a), problem_.write_target(b), ArcKind::kAssumedBefore, x, b},
                literal);
        ww_added = true;
      }
      for (const std::uint32_t r : versions_.readers(s)) add_overwrite(r, a, b, literal);
      const auto chosen = read_literals_.find(s);
      if (chosen == read_literals_.end()) continue;
      for (const auto& [r, choice] : chosen->second) add_overwrite(r, a, b, literal, choice);
    }
  }

  // `r`, having seen `w`, before `k`.
  void add_overwrite(std::uint32_t r, Owner w, Owner k, Literal first, Literal second = 0) {
    const Owner reader = problem_.reads[r].owner;
    if (reader == k) return;
    add_arc({problem_.begin(reader), problem_.commit(k), ArcKind::kAssumedOverwritten, r, k, w},
            first, second);
  }

  bool add_read(std::uint32_t r) {
    if (choices_.contains(r)) return false;
    saturation_.narrow(r);
    const Read& read = problem_.reads[r];
    std::vector<Literal> literals;
    // First guess: the candidate that committed last before the reader began in
    // the order that broke, or the first after it.
    const auto distance = [&](Owner w) {
      const std::int64_t gap = w == kInitial
                                   ? rank_[problem_.begin(read.owner)]
                                   : static_cast<std::int64_t>(rank_[problem_.begin(read.owner)]) -
                                         rank_[problem_.commit(w)];
      return gap >= 0 ? gap : problem_.node_count() - gap;
    };
    const auto candidates = open_.candidates(r);
    const Owner guess =
        *std::min_element(candidates.begin(), candidates.end(),
                          [&](Owner a, Owner b) { return distance(a) < distance(b); });
    for (const Owner w : candidates) {
      const Literal literal = solver_.new_variable();
      literals.push_back(literal);
      solver_.prefer(w == guess ? literal : -literal);
      if (w == kInitial) {
        for (const auto& group : versions_.groups(read.object)) {
          Slot s = group.first;
          if (versions_.writer(s) == read.owner && ++s == group.last) continue;
          add_overwrite(r, kInitial, versions_.writer(s), literal);
        }
        continue;
      }
      add_arc({problem_.commit(w), problem_.begin(read.owner), ArcKind::kAssumedWriter, r, w},
              literal);
      read_literals_[versions_.slot_of(read.object, w)].push_back({r, literal});
      const auto partners = partners_.find(w);
      if (partners == partners_.end()) continue;
      for (const Owner k : partners->second) {
        if (writes(k, read.object)) add_overwrite(r, w, k, before(w, k), literal);
      }
    }
    solver_.add_clause(literals);
    choices_.emplace(r, std::move(literals));
    return true;
  }

  [[nodiscard]] bool writes(Owner o, Object x) const {
    const auto begin = problem_.write_object.begin() + problem_.write_first[o];
    const auto end = problem_.write_object.begin() + problem_.write_first[o + 1];
    return std::binary_search(begin, end, x);
  }

  const Problem& problem_;
  const EventGraph& graph_;
  const Versions& versions_;
  const OpenReads& open_;
  Saturation& saturation_;
  solver::AcyclicSolver solver_;
  std::vector<Owner> writers_;
  std::vector<std::uint32_t> rank_;          // in the schedule that broke last
  std::vector<ProofBuilder::Assumed> arcs_;  // by conditional arc
  base::HashMap<std::pair<Owner, Owner>, Literal> pairs_;
  base::HashMap<Owner, std::vector<Owner>> partners_;
  std::map<std::uint32_t, std::vector<Literal>> choices_;  // by read; ordered: determinism
  base::HashMap<Slot, std::vector<std::pair<std::uint32_t, Literal>>> read_literals_;
};

}  // namespace

OrderResult refine(const RefineInput& input, const ScheduleResult& first, base::Budget& budget) {
  OrderResult result;
  result.stage = Stage::kRefine;
  Refiner refiner(input, first.order);
  ScheduleResult broken = first;
  std::vector<graph::Arc> extra;
  std::vector<Owner> writers;
  // The last order: small changes, few new breaks.
  std::vector<std::uint64_t> guide(input.hint.begin(), input.hint.end());
  while (true) {
    [[maybe_unused]] const bool fresh = refiner.learn(broken);
    assert(fresh && "a schedule broke on a pair that the solver had decided");
    switch (refiner.solve(budget)) {
      case solver::SolveResult::kGaveUp:
        return result;
      case solver::SolveResult::kUnsatisfiable:
        result.solvability = Solvability::kNo;
        if (!input.problem.without_proof) {
          result.proof = refiner.proof(input.for_relaxation, budget);
        }
        return result;
      case solver::SolveResult::kModel:
        break;
    }
    refiner.read_model(extra, writers);
    for (std::uint32_t i = 0; i < broken.order.size(); ++i) guide[broken.order[i]] = i;
    broken = schedule({.problem = input.problem,
                       .versions = input.versions,
                       .open = input.open,
                       .writer_of = writers,
                       .known = input.known,
                       .extra = extra,
                       .hint = guide},
                      budget);
    if (!broken.finished) return result;
    if (broken.is_witness()) {
      result.solvability = Solvability::kYes;
      result.order = std::move(broken.order);
      result.writers = std::move(broken.writers);
      return result;
    }
  }
}

}  // namespace cupel::order
