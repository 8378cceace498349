// ClauseSolver: plain satisfiability, for choices whose consequences are decided
// elsewhere. A thin wrapper of CaDiCaL, so that no other layer sees it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/budget.hpp"
#include "solver/acyclic_solver.hpp"

namespace cupel::solver {

class ClauseSolver {
 public:
  ClauseSolver();
  ~ClauseSolver();
  Literal new_variable();
  void prefer(Literal literal);
  void add_clause(std::span<const Literal> clause);
  SolveResult solve(base::Budget& budget);
  [[nodiscard]] bool is_true(Literal literal) const;

 private:
  std::unique_ptr<Sat> sat_;
  Literal variables_ = 0;
};

}  // namespace cupel::solver
