// AcyclicSolver against trying every assignment, on random small instances:
// known arcs, conditional arcs with one and two literals, clauses.
#include "base/solver/acyclic_solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.hpp"
#include "base/solver/clause_solver.hpp"

namespace cupel::solver {
namespace {

struct Instance {
  std::size_t nodes;
  std::vector<graph::Arc> known;
  int variables;
  std::vector<ConditionalArc> arcs;
  std::vector<std::vector<Literal>> clauses;
};

Instance random_instance(std::uint64_t seed) {
  base::Random random(seed);
  Instance i;
  i.nodes = 3 + random.below(5);
  for (std::size_t k = random.below(6); k > 0; --k) {  // forward: acyclic
    const auto a = random.below(i.nodes - 1);
    i.known.push_back(
        {static_cast<Node>(a), static_cast<Node>(a + 1 + random.below(i.nodes - a - 1))});
  }
  i.variables = static_cast<int>(1 + random.below(6));
  const auto literal = [&] {
    const auto v = static_cast<Literal>(1 + random.below(static_cast<std::uint64_t>(i.variables)));
    return random.chance(0.5) ? v : -v;
  };
  for (std::size_t k = random.below(16); k > 0; --k) {
    const auto from = static_cast<Node>(random.below(i.nodes)),
               to = static_cast<Node>(random.below(i.nodes));
    if (from != to) i.arcs.push_back({from, to, literal(), random.chance(0.3) ? literal() : 0});
  }
  for (std::size_t k = random.below(5); k > 0; --k) i.clauses.push_back({literal(), literal()});
  return i;
}

bool holds(unsigned assignment, Literal l) {
  return (((assignment >> (std::abs(l) - 1)) & 1) != 0) == (l > 0);
}

bool acyclic_under(const Instance& i, unsigned assignment) {
  auto all = i.known;
  for (const auto& arc : i.arcs) {
    if (holds(assignment, arc.first) && (arc.second == 0 || holds(assignment, arc.second))) {
      all.push_back({arc.from, arc.to});
    }
  }
  return graph::topological_order(graph::Digraph(i.nodes, all)).size() == i.nodes;
}

bool clauses_hold(const Instance& i, unsigned assignment) {
  return std::all_of(i.clauses.begin(), i.clauses.end(), [&](const auto& clause) {
    return std::any_of(clause.begin(), clause.end(),
                       [&](Literal l) { return holds(assignment, l); });
  });
}

TEST(AcyclicSolver, AgreesWithTryingEveryAssignment) {
  int models = 0, refuted = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const Instance i = random_instance(seed);
    bool exists = false;
    for (unsigned a = 0; a < (1u << i.variables) && !exists; ++a) {
      exists = clauses_hold(i, a) && acyclic_under(i, a);
    }
    const graph::Digraph known(i.nodes, i.known);
    AcyclicSolver solver(known);
    for (int v = 0; v < i.variables; ++v) solver.new_variable();
    for (const auto& arc : i.arcs) solver.add_arc(arc);
    for (const auto& clause : i.clauses) solver.add_clause(clause);
    base::Budget budget;
    const SolveResult answer = solver.solve(budget);
    ASSERT_EQ(answer, exists ? SolveResult::kModel : SolveResult::kUnsatisfiable)
        << "seed " << seed;
    if (exists) {
      ++models;
      unsigned a = 0;
      for (int v = 1; v <= i.variables; ++v) a |= solver.is_true(v) ? 1u << (v - 1) : 0;
      EXPECT_TRUE(clauses_hold(i, a) && acyclic_under(i, a)) << "seed " << seed;
      continue;
    }
    ++refuted;
    // The core's cycles and the given clauses leave no assignment.
    const auto core = solver.core(budget);
    for (unsigned a = 0; a < (1u << i.variables); ++a) {
      const bool some_cycle = std::any_of(core.begin(), core.end(), [&](const auto& cycle) {
        return std::all_of(cycle.begin(), cycle.end(), [&](const auto& step) {
          if (!step.conditional) return true;
          const auto& arc = i.arcs[step.id];
          return holds(a, arc.first) && (arc.second == 0 || holds(a, arc.second));
        });
      });
      EXPECT_TRUE(some_cycle || !clauses_hold(i, a)) << "seed " << seed;
    }
  }
  EXPECT_GT(models, 500);
  EXPECT_GT(refuted, 200);
}

TEST(AcyclicSolver, AddsToWhatItHasSolved) {
  const std::vector<graph::Arc> arcs = {{0, 1}};
  const graph::Digraph known(3, arcs);
  AcyclicSolver solver(known);
  base::Budget budget;
  const Literal a = solver.new_variable();
  solver.add_arc({1, 2, a});
  solver.add_arc({1, 0, -a});
  ASSERT_EQ(solver.solve(budget), SolveResult::kModel);
  EXPECT_TRUE(solver.is_true(a));
  const Literal b = solver.new_variable();
  solver.add_arc({2, 0, b});
  solver.add_arc({2, 1, -b});
  EXPECT_EQ(solver.solve(budget), SolveResult::kUnsatisfiable);
}

TEST(AcyclicSolver, GivesUpAtTheDeadline) {
  const graph::Digraph known(2, {});
  AcyclicSolver solver(known);
  base::Budget budget(std::chrono::duration<double>(0), 0);
  EXPECT_EQ(solver.solve(budget), SolveResult::kGaveUp);
  EXPECT_EQ(budget.limit(), base::Limit::kTime);
}

TEST(ClauseSolver, EveryVariableHasAValue) {
  ClauseSolver solver;
  base::Budget budget;
  const Literal a = solver.new_variable(), b = solver.new_variable();
  solver.prefer(a);
  ASSERT_EQ(solver.solve(budget), SolveResult::kModel);
  EXPECT_NE(solver.is_true(a), solver.is_true(-a));
  const Literal clauses[] = {-a};
  solver.add_clause(clauses);
  const Literal other[] = {a, -b};
  solver.add_clause(other);
  ASSERT_EQ(solver.solve(budget), SolveResult::kModel);
  EXPECT_TRUE(solver.is_true(-a));
  EXPECT_TRUE(solver.is_true(-b));
}

}  // namespace
}  // namespace cupel::solver
