// The solvers by hand: for each rule an instance that has a model, and one, a single edit
// apart, that has none. What a refutation rests on is part of what is expected.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/solver/acyclic_solver.hpp"
#include "base/solver/clause_solver.hpp"
#include "base/solver/refute.hpp"

namespace cupel::solver {
namespace {

using Clauses = std::vector<std::vector<Literal>>;

// Known arcs, conditional arcs and clauses over so many variables.
struct Instance {
  std::size_t nodes;
  std::vector<graph::Arc> known;
  Literal variables;
  std::vector<ConditionalArc> arcs;
  Clauses clauses;
};

struct Solved {
  explicit Solved(const Instance& instance) : known(instance.nodes, instance.known), solver(known) {
    for (Literal v = 0; v < instance.variables; ++v) solver.new_variable();
    for (const auto& arc : instance.arcs) solver.add_arc(arc);
    for (const auto& clause : instance.clauses) solver.add_clause(clause);
    result = solver.solve(budget);
  }
  // The core: a letter and a number a step, sorted within a cycle and among cycles.
  [[nodiscard]] std::vector<std::string> core() {
    std::vector<std::string> cycles;
    for (const auto& cycle : solver.core(budget)) {
      std::vector<std::string> steps;
      for (const auto& step : cycle)
        steps.push_back((step.conditional ? "c" : "k") + std::to_string(step.id));
      std::sort(steps.begin(), steps.end());
      std::string text;
      for (const auto& step : steps) text += step;
      cycles.push_back(text);
    }
    std::sort(cycles.begin(), cycles.end());
    return cycles;
  }
  graph::Digraph known;
  AcyclicSolver solver;
  base::Budget budget = {};
  SolveResult result;
};

using Core = std::vector<std::string>;

TEST(AcyclicSolver, AnArcWithAKnownOneBackMayNotBeThere) {
  Solved free({2, {{0, 1}}, 1, {{1, 0, 1}}, {}});
  ASSERT_EQ(free.result, SolveResult::kModel);
  EXPECT_FALSE(free.solver.is_true(1));
  EXPECT_TRUE(free.solver.active_arcs().empty());
  Solved forced({2, {{0, 1}}, 1, {{1, 0, 1}}, {{1}}});
  ASSERT_EQ(forced.result, SolveResult::kUnsatisfiable);
  EXPECT_EQ(forced.core(), (Core{"c0k0"}));
}

TEST(AcyclicSolver, AnArcThatAgreesWithTheKnownOnesMayBeThere) {
  Solved solved({2, {{0, 1}}, 1, {{0, 1, 1}}, {{1}}});
  ASSERT_EQ(solved.result, SolveResult::kModel);
  EXPECT_EQ(solved.solver.active_arcs().size(), 1U);
}

TEST(AcyclicSolver, TwoLiteralsAreBothNeeded) {
  Solved one({2, {{0, 1}}, 2, {{1, 0, 1, 2}}, {{1}}});
  ASSERT_EQ(one.result, SolveResult::kModel);
  EXPECT_TRUE(one.solver.is_true(1));
  EXPECT_FALSE(one.solver.is_true(2));
  Solved both({2, {{0, 1}}, 2, {{1, 0, 1, 2}}, {{1}, {2}}});
  ASSERT_EQ(both.result, SolveResult::kUnsatisfiable);
  EXPECT_EQ(both.core(), (Core{"c0k0"}));
}

TEST(AcyclicSolver, AFalseLiteralIsAnArcToo) {
  EXPECT_EQ(Solved({2, {{0, 1}}, 1, {{1, 0, -1}}, {}}).result, SolveResult::kModel);
  Solved forced({2, {{0, 1}}, 1, {{1, 0, -1}}, {{-1}}});
  ASSERT_EQ(forced.result, SolveResult::kUnsatisfiable);
  EXPECT_EQ(forced.core(), (Core{"c0k0"}));
}

// A cycle of conditional arcs alone, of three nodes.
TEST(AcyclicSolver, ConditionalArcsCloseCyclesAmongThemselves) {
  const std::vector<ConditionalArc> triangle = {{0, 1, 1}, {1, 2, 2}, {2, 0, 3}};
  Solved two({3, {}, 3, triangle, {{1}, {2}}});
  ASSERT_EQ(two.result, SolveResult::kModel);
  EXPECT_FALSE(two.solver.is_true(3));
  Solved three({3, {}, 3, triangle, {{1}, {2}, {3}}});
  ASSERT_EQ(three.result, SolveResult::kUnsatisfiable);
  EXPECT_EQ(three.core(), (Core{"c0c1c2"}));
}

// Either order of 0 and 1 closes a cycle with a known arc.
TEST(AcyclicSolver, BothOrdersOfAPairAreRefutedByACycleEach) {
  const std::vector<ConditionalArc> pair = {{1, 0, 1}, {3, 2, -1}};
  EXPECT_EQ(Solved({4, {{0, 1}}, 1, pair, {}}).result, SolveResult::kModel);
  Solved both({4, {{0, 1}, {2, 3}}, 1, pair, {}});
  ASSERT_EQ(both.result, SolveResult::kUnsatisfiable);
  EXPECT_EQ(both.core(), (Core{"c0k0", "c1k1"}));
}

TEST(AcyclicSolver, TheCoreLeavesOutWhatIsNotNeeded) {
  // Arcs 1 and 2 close a cycle that the clauses do not force.
  Solved solved({4, {{0, 1}}, 3, {{1, 0, 1}, {2, 3, 2}, {3, 2, 3}}, {{1}, {2, 3}}});
  ASSERT_EQ(solved.result, SolveResult::kUnsatisfiable);
  EXPECT_EQ(solved.core(), (Core{"c0k0"}));
}

TEST(AcyclicSolver, ContradictoryClausesNeedNoCycle) {
  Solved solved({2, {{0, 1}}, 1, {{1, 0, 1}}, {{1}, {-1}}});
  ASSERT_EQ(solved.result, SolveResult::kUnsatisfiable);
  EXPECT_EQ(solved.core(), Core{});
}

TEST(AcyclicSolver, PreferencesChooseAmongModels) {
  for (const bool yes : {false, true}) {
    const graph::Digraph known(2, {});
    AcyclicSolver solver(known);
    const Literal a = solver.new_variable();
    solver.prefer(yes ? a : -a);
    solver.add_arc({0, 1, a});
    solver.add_arc({1, 0, -a});
    base::Budget budget;
    ASSERT_EQ(solver.solve(budget), SolveResult::kModel);
    EXPECT_EQ(solver.is_true(a), yes);
    EXPECT_EQ(solver.active_arcs().front(), yes ? 0U : 1U);
  }
}

TEST(AcyclicSolver, GivesUpAfterItsRounds) {
  const std::vector<graph::Arc> arcs = {{0, 1}};
  const graph::Digraph known(2, arcs);
  const auto solve = [&](std::uint64_t rounds) {
    AcyclicSolver solver(known);
    const Literal a = solver.new_variable();
    solver.prefer(a);
    solver.add_arc({1, 0, a});
    solver.limit_rounds(rounds);
    base::Budget budget;
    return solver.solve(budget);
  };
  EXPECT_EQ(solve(1), SolveResult::kGaveUp);  // the first proposal closes the cycle
  EXPECT_EQ(solve(2), SolveResult::kModel);
}

// --- clauses alone ---

SolveResult solve(Literal variables, const Clauses& clauses) {
  ClauseSolver solver;
  for (Literal v = 0; v < variables; ++v) solver.new_variable();
  for (const auto& clause : clauses) solver.add_clause(clause);
  base::Budget budget;
  return solver.solve(budget);
}

TEST(ClauseSolver, HasAModelOrNone) {
  EXPECT_EQ(solve(2, {{1, -2}, {2}}), SolveResult::kModel);
  EXPECT_EQ(solve(2, {{1, -2}, {2}, {-1}}), SolveResult::kUnsatisfiable);
}

TEST(ClauseSolver, AModelMeetsEveryClause) {
  ClauseSolver solver;
  const Literal a = solver.new_variable(), b = solver.new_variable();
  const std::vector<Literal> one = {a, b}, other = {-a};
  solver.add_clause(one);
  solver.add_clause(other);
  base::Budget budget;
  ASSERT_EQ(solver.solve(budget), SolveResult::kModel);
  EXPECT_FALSE(solver.is_true(a));
  EXPECT_TRUE(solver.is_true(b));
}

TEST(ClauseSolver, GivesUpAtTheDeadline) {
  ClauseSolver solver;
  solver.new_variable();
  base::Budget none(std::chrono::duration<double>(0), 0);
  EXPECT_EQ(solver.solve(none), SolveResult::kGaveUp);
}

// --- refutations ---

// Does the clause follow from the others by unit propagation?
bool follows(const std::vector<Literal>& lemma, const Clauses& clauses) {
  std::vector<Literal> trail;
  for (const Literal l : lemma) trail.push_back(-l);
  const auto is_true = [&](Literal l) {
    return std::find(trail.begin(), trail.end(), l) != trail.end();
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& clause : clauses) {
      std::vector<Literal> open;
      bool satisfied = false;
      for (const Literal l : clause) {
        satisfied = satisfied || is_true(l);
        if (!is_true(-l)) open.push_back(l);
      }
      if (satisfied || open.size() > 1) continue;
      if (open.empty()) return true;
      trail.push_back(open.front());
      changed = true;
    }
  }
  return false;
}

TEST(Refute, NamesTheClausesThatAreNeeded) {
  base::Budget budget;
  const Clauses axioms = {{1, 2}};
  const auto refutation = refute(3, axioms, Clauses{{-1}, {3, 2}, {-2}}, budget);
  ASSERT_TRUE(refutation);
  EXPECT_EQ(refutation->used, (std::vector<std::uint32_t>{0, 2}));
  ASSERT_FALSE(refutation->lemmas.empty());
  EXPECT_TRUE(refutation->lemmas.back().empty());
  EXPECT_FALSE(refute(3, axioms, Clauses{{-1}, {3, 2}, {-3}}, budget));
}

// Four clauses of two variables need a lemma; each follows by unit propagation.
TEST(Refute, EachLemmaFollowsByUnitPropagation) {
  base::Budget budget;
  const Clauses four = {{1, 2}, {1, -2}, {-1, 2}, {-1, -2}};
  const auto refutation = refute(2, Clauses{}, four, budget);
  ASSERT_TRUE(refutation);
  EXPECT_EQ(refutation->used, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  Clauses known = four;
  EXPECT_FALSE(follows({}, known));
  ASSERT_GE(refutation->lemmas.size(), 2U);
  for (const auto& lemma : refutation->lemmas) {
    EXPECT_TRUE(follows(lemma, known));
    known.push_back(lemma);
  }
  EXPECT_FALSE(refute(2, Clauses{}, Clauses{{1, 2}, {1, -2}, {-1, 2}}, budget));
}

TEST(Refute, AxiomsAloneMayBeContradictory) {
  base::Budget budget;
  const auto refutation = refute(1, Clauses{{1}, {-1}}, Clauses{{1}}, budget);
  ASSERT_TRUE(refutation);
  EXPECT_TRUE(refutation->used.empty());
}

TEST(Refute, SaysNothingWhenTheBudgetEnded) {
  base::Budget none(std::chrono::duration<double>(0), 0);
  EXPECT_FALSE(refute(1, Clauses{{1}, {-1}}, Clauses{}, none));
}

}  // namespace
}  // namespace cupel::solver
