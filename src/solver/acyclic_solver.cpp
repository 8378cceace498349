// The lazy loop behind acyclic_solver.hpp.
//
// What matters is the number of rounds, so each round learns many short cycles:
// for every active arc inside a strongly connected component, up to a bound,
// the cycle through it with the fewest literals (0-1 breadth-first search: known
// arcs are free). Searches stay inside the component.
#include "solver/acyclic_solver.hpp"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cadical.hpp>
#include <deque>

namespace cupel::solver {

namespace {
constexpr std::size_t kSearchesPerRound = 4000;
constexpr std::size_t kVisitsPerRound = 100'000;
constexpr int kCoreShrinkSolves = 400;
constexpr std::size_t kCoreShrinkLimit = 300;

class BudgetTerminator : public CaDiCaL::Terminator {
 public:
  explicit BudgetTerminator(base::Budget& budget) : budget_(budget) {}
  bool terminate() override { return (++calls_ & 63) == 0 && budget_.exceeded(); }

 private:
  base::Budget& budget_;
  unsigned calls_ = 0;
};
}  // namespace

class AcyclicSolver::Sat {
 public:
  CaDiCaL::Solver solver;
};

AcyclicSolver::AcyclicSolver(const graph::Digraph& known)
    : known_(known), sat_(std::make_unique<Sat>()) {
  sat_->solver.set("quiet", 1);
  rank_.resize(known.node_count());
  std::uint32_t next = 0;
  for (const Node v : graph::topological_order(known)) rank_[v] = next++;
}
AcyclicSolver::~AcyclicSolver() = default;

Literal AcyclicSolver::new_variable() {
  sat_->solver.reserve(++variables_);  // else a variable in no clause gets no value
  return variables_;
}
void AcyclicSolver::prefer(Literal literal) { sat_->solver.phase(literal); }

void AcyclicSolver::add_clause(std::span<const Literal> clause) {
  for (const Literal l : clause) sat_->solver.add(l);
  sat_->solver.add(0);
  given_clauses_.emplace_back(clause.begin(), clause.end());
}

std::uint32_t AcyclicSolver::add_arc(const ConditionalArc& arc) {
  arcs_.push_back(arc);
  return static_cast<std::uint32_t>(arcs_.size() - 1);
}

bool AcyclicSolver::is_true(Literal literal) const {
  return sat_->solver.val(literal) > 0;
}

Answer AcyclicSolver::solve(base::Budget& budget) {
  BudgetTerminator terminator(budget);
  while (true) {
    if (budget.exceeded() || rounds_ >= max_rounds_) return Answer::kGaveUp;
    sat_->solver.connect_terminator(&terminator);
    const int status = sat_->solver.solve();
    sat_->solver.disconnect_terminator();
    if (status == 20) return Answer::kNone;
    if (status != 10) return Answer::kGaveUp;
    ++rounds_;
    active_.clear();
    for (std::uint32_t i = 0; i < arcs_.size(); ++i) {
      if (is_true(arcs_[i].first) && (arcs_[i].second == 0 || is_true(arcs_[i].second))) {
        active_.push_back(i);
      }
    }
    if (!find_cycles(budget)) return budget.exceeded() ? Answer::kGaveUp : Answer::kModel;
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
  const std::size_t n = known_.node_count();
  std::vector<graph::Arc> now_there;
  now_there.reserve(active_.size());
  for (const std::uint32_t i : active_) now_there.push_back({arcs_[i].from, arcs_[i].to});
  const graph::Digraph active(n, now_there);
  const auto components = graph::strongly_connected(known_, active);
  if (components.count == n) return false;

  std::vector<std::uint32_t> distance(n), stamp(n, 0);
  struct Came {
    Node from;
    Step step;
  };
  std::vector<Came> via(n);
  std::uint32_t now = 0;
  std::size_t visits = 0, searches = 0;
  const std::size_t cycles_before = cycles_.size();
  std::deque<Node> queue;
  std::vector<std::uint8_t> covered(arcs_.size(), 0);
  fresh_.clear();
  for (const std::uint32_t i : active_) {
    const auto& arc = arcs_[i];
    if (components.component[arc.from] != components.component[arc.to]) continue;
    if (covered[i] || rank_[arc.from] < rank_[arc.to]) continue;  // every cycle goes back somewhere
    if (cycles_.size() > cycles_before) {
      if (searches >= kSearchesPerRound || visits >= kVisitsPerRound || budget.exceeded()) break;
    }
    ++searches;
    const auto home = components.component[arc.to];
    ++now;
    queue.clear();
    queue.push_back(arc.to);
    stamp[arc.to] = now;
    distance[arc.to] = 0;
    const auto costs_nothing = [&](const Step& step) {
      return !step.conditional ||
             (arcs_[step.id].first == arc.first && arcs_[step.id].second == arc.second);
    };
    while (!queue.empty()) {
      const Node v = queue.front();
      queue.pop_front();
      ++visits;
      if (v == arc.from) break;
      const auto visit = [&](Node to, const Step& step) {
        if (components.component[to] != home) return;
        const bool is_free = costs_nothing(step);
        const std::uint32_t next = distance[v] + (is_free ? 0 : 1);
        if (stamp[to] == now && distance[to] <= next) return;
        stamp[to] = now;
        distance[to] = next;
        via[to] = {v, step};
        is_free ? queue.push_front(to) : queue.push_back(to);
      };
      for (const auto& out : known_.out(v)) visit(out.to, {false, out.id});
      for (const auto& out : active.out(v)) visit(out.to, {true, active_[out.id]});
    }
    Cycle cycle;
    for (Node v = arc.from; v != arc.to; v = via[v].from) cycle.push_back(via[v].step);
    std::reverse(cycle.begin(), cycle.end());
    cycle.push_back({true, i});
    for (const Step& step : cycle) {
      if (step.conditional) covered[step.id] = 1;
    }
    learn(std::move(cycle));
  }
  for (const auto& clause : fresh_) {
    for (const Literal l : clause) sat_->solver.add(l);
    sat_->solver.add(0);
  }
  return true;
}

std::vector<AcyclicSolver::Cycle> AcyclicSolver::core(base::Budget& budget) const {
  // Each cycle clause gets a selector; the selectors that the refutation used
  // are a core, and dropping one at a time shrinks it.
  std::vector<std::uint32_t> kept(cycles_.size());
  for (std::uint32_t i = 0; i < kept.size(); ++i) kept[i] = i;
  CaDiCaL::Solver solver;
  solver.set("quiet", 1);
  for (const auto& clause : given_clauses_) {
    for (const Literal l : clause) solver.add(l);
    solver.add(0);
  }
  BudgetTerminator terminator(budget);
  solver.connect_terminator(&terminator);
  const auto selector = [this](std::uint32_t i) { return variables_ + 1 + static_cast<Literal>(i); };
  for (std::uint32_t i = 0; i < cycles_.size(); ++i) {
    solver.add(-selector(i));
    for (const Literal l : cycle_clauses_[i]) solver.add(l);
    solver.add(0);
  }
  const auto refute = [&](const std::vector<std::uint32_t>& with) -> std::vector<std::uint32_t> {
    for (const auto i : with) solver.assume(selector(i));
    std::vector<std::uint32_t> used;
    if (solver.solve() != 20) return used;
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
  solver.disconnect_terminator();
  std::vector<Cycle> result;
  for (const auto i : kept) result.push_back(cycles_[i]);
  return result;
}

}  // namespace cupel::solver
