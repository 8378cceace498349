// The lazy loop of acyclic_solver.hpp.
//
// Two proposals that follow each other differ in few arcs, so a topological order
// is kept from one to the next and only the arcs that are new are put into it
// (incremental cycle detection). An arc that closes a cycle is left out, and the
// cycle learnt is the one through it with the fewest literals (0-1 breadth-first
// search: known arcs are free); the rest of the proposal is looked at all the
// same, so a round learns many.
#include "base/solver/acyclic_solver.hpp"

#include <algorithm>
#include <deque>

#include "base/hash_table.hpp"
#include "base/solver/sat.hpp"

namespace cupel::solver {

namespace {
constexpr std::size_t kVisitsPerRound = 100'000;
constexpr int kCoreShrinkSolves = 400;
constexpr std::size_t kCoreShrinkLimit = 300;
}  // namespace

AcyclicSolver::AcyclicSolver(const graph::Digraph& known, std::span<const Node> order)
    : known_(known),
      order_(order.begin(), order.end()),
      rank_(known.node_count()),
      arcs_from_(known.node_count()),
      reached_(known.node_count()),
      sat_(std::make_unique<Sat>()) {
  sat_->set("lucky", 0);  // tries trivial assignments at each call: dearer than the calls
  if (order_.empty()) order_ = graph::topological_order(known);
  for (std::uint32_t i = 0; i < order_.size(); ++i) rank_[order_[i]] = i;
}
AcyclicSolver::~AcyclicSolver() = default;

Literal AcyclicSolver::new_variable() {
  sat_->reserve(++variables_);
  return variables_;
}
void AcyclicSolver::prefer(Literal literal) {
  sat_->prefer(literal);
}

void AcyclicSolver::add_clause(std::span<const Literal> clause) {
  sat_->add_clause(clause);
  given_clauses_.emplace_back(clause.begin(), clause.end());
}

std::uint32_t AcyclicSolver::add_arc(const ConditionalArc& arc) {
  arcs_.push_back(arc);
  return static_cast<std::uint32_t>(arcs_.size() - 1);
}

bool AcyclicSolver::is_true(Literal literal) const {
  return sat_->is_true(literal);
}

SolveResult AcyclicSolver::solve(base::Budget& budget) {
  while (true) {
    if (budget.exceeded() || rounds_ >= max_rounds_) return SolveResult::kGaveUp;
    if (const auto result = sat_->solve(budget); result != SolveResult::kModel) return result;
    ++rounds_;
    active_.clear();
    for (std::uint32_t i = 0; i < arcs_.size(); ++i) {
      if (is_true(arcs_[i].first) && (arcs_[i].second == 0 || is_true(arcs_[i].second))) {
        active_.push_back(i);
      }
    }
    if (find_cycles(budget)) continue;
    if (budget.exceeded()) return SolveResult::kGaveUp;
    // The next call, with more arcs, starts from what went well here.
    for (Literal v = 1; v <= variables_; ++v) prefer(is_true(v) ? v : -v);
    return SolveResult::kModel;
  }
}

void AcyclicSolver::learn(Cycle cycle) {
  std::vector<Literal> clause;
  for (const Step& step : cycle) {
    if (!step.conditional) continue;
    clause.push_back(-arcs_[step.id].first);
    if (arcs_[step.id].second != 0) clause.push_back(-arcs_[step.id].second);
  }
  std::sort(clause.begin(), clause.end());
  clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
  if (!seen_.insert(clause).second) return;
  fresh_.push_back(clause);
  cycle_clauses_.push_back(std::move(clause));
  cycles_.push_back(std::move(cycle));
}

// False if known and active arcs together are acyclic.
bool AcyclicSolver::find_cycles(base::Budget& budget) {
  // Arcs that the proposal dropped leave; the order holds without them. Those
  // that stay keep their place in it.
  in_.resize(arcs_.size(), 0);
  for (; linked_ < arcs_.size(); ++linked_) {
    arcs_from_[arcs_[linked_].from].push_back(static_cast<std::uint32_t>(linked_));
  }
  fresh_.clear();
  visits_ = 0;
  std::size_t at = 0;
  std::vector<std::uint32_t> enter;
  for (std::uint32_t i = 0; i < arcs_.size(); ++i) {
    const bool is_active = at < active_.size() && active_[at] == i;
    at += is_active ? 1 : 0;
    if (!is_active) {
      in_[i] = 0;
    } else if (in_[i] == 0) {
      enter.push_back(i);
    }
  }
  bool cyclic = false;
  for (const std::uint32_t i : enter) {
    if (budget.exceeded()) return true;  // solve() asks again
    if (cyclic && visits_ >= kVisitsPerRound) break;
    in_[i] = insert(i) ? 1 : 0;
    cyclic = cyclic || in_[i] == 0;
  }
  for (const auto& clause : fresh_) sat_->add_clause(clause);
  return cyclic;
}

// Puts an arc into the order (Marchetti-Spaccamela, Nanni & Rohnert 1996): what
// its head reaches no later than its tail moves to after the tail. If it reaches
// the tail, the cycle is learnt, and false returned.
bool AcyclicSolver::insert(std::uint32_t index) {
  const ConditionalArc& arc = arcs_[index];
  const std::uint32_t first = rank_[arc.to], last = rank_[arc.from];
  if (last < first) return true;
  const auto costs_nothing = [&](const Step& step) {
    return !step.conditional ||
           (arcs_[step.id].first == arc.first && arcs_[step.id].second == arc.second);
  };
  ++now_;
  queue_.clear();
  queue_.push_back(arc.to);
  reached_[arc.to] = {now_, 0, {}, arc.to};
  while (!queue_.empty()) {
    const Node v = queue_.front();
    queue_.pop_front();
    ++visits_;
    if (v == arc.from) break;
    const std::uint32_t distance = reached_[v].distance;
    const auto visit = [&](Node to, const Step& step) {
      if (rank_[to] > last) return;
      const bool is_free = costs_nothing(step);
      const std::uint32_t next = distance + (is_free ? 0 : 1);
      Reached& there = reached_[to];
      if (there.stamp == now_ && there.distance <= next) return;
      there = {now_, next, step, v};
      is_free ? queue_.push_front(to) : queue_.push_back(to);
    };
    for (const auto& out : known_.out(v)) visit(out.to, {false, out.id});
    for (const std::uint32_t i : arcs_from_[v]) {
      if (in_[i] != 0) visit(arcs_[i].to, {true, i});
    }
  }
  if (reached_[arc.from].stamp == now_) {
    Cycle cycle;
    for (Node v = arc.from; v != arc.to; v = reached_[v].from) cycle.push_back(reached_[v].step);
    std::reverse(cycle.begin(), cycle.end());
    cycle.push_back({true, index});
    learn(std::move(cycle));
    return false;
  }
  visits_ += (last - first) / 16;  // the cheap half of the work
  moved_.clear();
  std::uint32_t next = first;
  for (std::uint32_t r = first; r <= last; ++r) {
    const Node v = order_[r];
    if (reached_[v].stamp == now_) {
      moved_.push_back(v);
    } else {
      rank_[v] = next;
      order_[next++] = v;
    }
  }
  for (const Node v : moved_) {
    rank_[v] = next;
    order_[next++] = v;
  }
  return true;
}

std::vector<AcyclicSolver::Cycle> AcyclicSolver::core(base::Budget& budget) const {
  // Each cycle clause gets a selector; the selectors that the refutation used
  // are a core, and dropping one at a time shrinks it.
  std::vector<std::uint32_t> kept(cycles_.size());
  for (std::uint32_t i = 0; i < kept.size(); ++i) kept[i] = i;
  Sat solver;
  for (const auto& clause : given_clauses_) solver.add_clause(clause);
  const auto selector = [this](std::uint32_t i) {
    return variables_ + 1 + static_cast<Literal>(i);
  };
  for (std::uint32_t i = 0; i < cycles_.size(); ++i) {
    solver.add_clause(cycle_clauses_[i], -selector(i));
  }
  const auto refute = [&](const std::vector<std::uint32_t>& with) -> std::vector<std::uint32_t> {
    for (const auto i : with) solver.assume(selector(i));
    std::vector<std::uint32_t> used;
    if (solver.solve(budget) != SolveResult::kUnsatisfiable) return used;
    for (const auto i : with) {
      if (solver.failed(selector(i))) used.push_back(i);
    }
    return used;
  };
  // An empty core means that the given clauses alone are contradictory.
  auto used = refute(kept);
  if (!budget.exceeded()) kept = used;
  int solves = 0;
  for (std::size_t i = 0; i < kept.size() && kept.size() <= kCoreShrinkLimit;) {
    if (++solves > kCoreShrinkSolves || budget.exceeded()) break;
    auto without = kept;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    used = refute(without);
    if (used.empty()) {
      ++i;  // needed, or the budget ended
    } else {
      kept = std::move(used);
    }
  }
  std::vector<Cycle> result;
  for (const auto i : kept) result.push_back(cycles_[i]);
  return result;
}

}  // namespace cupel::solver
