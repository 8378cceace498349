// Allocations of the solvers fail, one at a time: by the memory limit, as a
// base::AllocationWatch makes it, and by the system itself. CaDiCaL frees addresses that
// were never allocated when an exception leaves it halfway, so what matters is that
// the program lives, that its heap is whole, and that the next solver answers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <new>
#include <ostream>
#include <vector>

#include "base/budget.hpp"
#include "base/solver/acyclic_solver.hpp"
#include "base/solver/clause_solver.hpp"
#include "base/solver/refute.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

// Inlined into a container, the pair of operators below looks like new with free.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace {
constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
std::uint64_t until_refusal = kNever;  // allocations until the system refuses one
}  // namespace

void* operator new(std::size_t size) {
  cupel::base::AllocationWatch::before_allocation(size);
  if (until_refusal != kNever && until_refusal-- == 0) {
    until_refusal = kNever;
    throw std::bad_alloc();
  }
  if (void* place = std::malloc(size == 0 ? 1 : size)) return place;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) {
  return operator new(size);
}
void operator delete(void* place) noexcept {
  std::free(place);
}
void operator delete[](void* place) noexcept {
  std::free(place);
}
void operator delete(void* place, std::size_t) noexcept {
  std::free(place);
}
void operator delete[](void* place, std::size_t) noexcept {
  std::free(place);
}

namespace cupel::solver {
namespace {

constexpr std::uint64_t kMostPlaces = 500;  // of those where an allocation may fail
constexpr std::uint32_t kNodes = 30;
constexpr Literal kVariables = 120;

std::uint32_t pseudo_random(std::uint32_t below) {
  static std::uint32_t state = 1;
  state = state * 1'103'515'245 + 12'345;
  return (state >> 8) % below;
}

using Clauses = std::vector<std::vector<Literal>>;

// The same for each call: what is allocated must be the same.
const Clauses& clauses() {
  static const Clauses made = [] {
    Clauses clauses(300);
    for (auto& clause : clauses) {
      for (int i = 0; i < 3; ++i) {
        const auto variable = static_cast<Literal>(1 + pseudo_random(kVariables));
        clause.push_back(pseudo_random(2) == 0 ? variable : -variable);
      }
    }
    return clauses;
  }();
  return made;
}
const std::vector<ConditionalArc>& arcs() {
  static const std::vector<ConditionalArc> made = [] {
    std::vector<ConditionalArc> arcs;
    for (Literal variable = 1; variable <= kVariables; ++variable) {
      const Node from = pseudo_random(kNodes), to = pseudo_random(kNodes);
      if (from != to) arcs.push_back({from, to, variable});
    }
    return arcs;
  }();
  return made;
}

SolveResult acyclic() {
  const graph::Digraph known(kNodes, {});
  AcyclicSolver solver(known);
  for (Literal v = 1; v <= kVariables; ++v) solver.prefer(solver.new_variable());
  for (const auto& clause : clauses()) solver.add_clause(clause);
  for (const auto& arc : arcs()) solver.add_arc(arc);
  base::Budget budget;
  return solver.solve(budget);
}

SolveResult plain() {
  ClauseSolver solver;
  for (Literal v = 1; v <= kVariables; ++v) solver.prefer(-solver.new_variable());
  for (const auto& clause : clauses()) solver.add_clause(clause);
  base::Budget budget;
  return solver.solve(budget);
}

SolveResult refuted() {
  // Of two literals each of the four signs: a contradiction, with the others beside it.
  Clauses contradictory = {{1, 2}, {1, -2}, {-1, 3}, {-1, -3}};
  contradictory.insert(contradictory.end(), clauses().begin(), clauses().end());
  base::Budget budget;
  const auto answer = refute(kVariables, {}, contradictory, budget);
  return answer && !answer->lemmas.empty() ? SolveResult::kUnsatisfiable : SolveResult::kGaveUp;
}

struct Asked {
  const char* name;
  SolveResult (*ask)();
  SolveResult answer;
  friend void PrintTo(const Asked& one, std::ostream* out) { *out << one.name; }
};

class EveryAllocation : public testing::TestWithParam<Asked> {};

TEST_P(EveryAllocation, OfTheMemoryLimitFailsCleanly) {
  const auto& [name, ask, answer] = GetParam();
  base::Budget unlimited;
  std::uint64_t places = 0;
  {
    const base::AllocationWatch watch(&unlimited);
    ask();  // what is made once
    base::AllocationWatch::fail_at(kNever);
    EXPECT_EQ(ask(), answer);
    places = base::AllocationWatch::watched_count();
  }
  ASSERT_GT(places, 300U);
  std::uint64_t failures = 0;
  const std::uint64_t stride = places / kMostPlaces + 1;
  std::uint64_t tried = 0;
  for (std::uint64_t place = 1; place <= places; place += stride) {
    ++tried;
    base::Budget budget;
    base::AllocationWatch::fail_at(place);
    try {
      const base::AllocationWatch watch(&budget);
      EXPECT_EQ(ask(), answer) << place;  // what failed near the end was not needed
      std::vector<int>().reserve(1);      // at the latest
    } catch (const std::bad_alloc&) {
      ++failures;
      EXPECT_EQ(budget.limit(), base::Limit::kMemory) << place;
    }
  }
  EXPECT_EQ(failures, tried);
  base::AllocationWatch::fail_at(0);
  EXPECT_EQ(ask(), answer);
}

TEST_P(EveryAllocation, OfTheSystemFailsCleanly) {
  if (GetParam().ask == acyclic) {
    GTEST_SKIP() << "its table of cycles is abseil's, which does not survive this "
                    "(base/hash_table.hpp)";
  }
#if defined(__SANITIZE_ADDRESS__)
  __lsan_disable();  // a solver that met a refusal is abandoned
#endif
  const auto& [name, ask, answer] = GetParam();
  std::uint64_t refused = 0;
  for (std::uint64_t place = 0;; ++place) {
    until_refusal = place;
    try {
      ask();
      break;
    } catch (const std::bad_alloc&) {
      ++refused;
    }
  }
  until_refusal = kNever;
  EXPECT_GT(refused, 400U);
  EXPECT_EQ(ask(), answer);
#if defined(__SANITIZE_ADDRESS__)
  __lsan_enable();
#endif
}

INSTANTIATE_TEST_SUITE_P(Of, EveryAllocation,
                         testing::Values(Asked{"acyclic", acyclic, SolveResult::kModel},
                                         Asked{"plain", plain, SolveResult::kModel},
                                         Asked{"refuted", refuted, SolveResult::kUnsatisfiable}),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace cupel::solver
