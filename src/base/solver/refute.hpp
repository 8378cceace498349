// Refute: a refutation of clauses that can be checked without a solver.
//
// Which of the clauses are needed (a core), and lemmas, each of which follows from
// the axioms, those clauses and the lemmas before it by unit propagation (RUP:
// Goldberg & Novikov 2003). The solver runs without inprocessing, so all it learns
// is of that kind.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/budget.hpp"
#include "base/solver/acyclic_solver.hpp"

namespace cupel::solver {

struct Refutation {
  std::vector<std::uint32_t> used;           // indexes of the clauses that are needed
  std::vector<std::vector<Literal>> lemmas;  // the last one is empty
};

// Nothing if there is a model, or the budget ended.
std::optional<Refutation> refute(Literal variables, std::span<const std::vector<Literal>> axioms,
                                 std::span<const std::vector<Literal>> clauses,
                                 base::Budget& budget);

}  // namespace cupel::solver
