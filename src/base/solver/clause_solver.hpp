// ClauseSolver: plain satisfiability, for choices whose consequences are decided
// elsewhere. A thin wrapper of CaDiCaL, so that no other layer sees it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/budget.hpp"
#include "base/solver/acyclic_solver.hpp"

namespace cupel::solver {

class ClauseSolver {
 public:
  ClauseSolver();
  ~ClauseSolver();
  Literal new_variable();
  void prefer(Literal literal);
  void add_clause(std::span<const Literal> clause);
  // Under these assumptions, if any.
  SolveResult solve(base::Budget& budget, std::span<const Literal> assumptions = {});
  [[nodiscard]] bool is_true(Literal literal) const;
  // After kUnsatisfiable: is the assumption part of the reason?
  [[nodiscard]] bool failed(Literal assumption);

 private:
  std::unique_ptr<Sat> sat_;
  Literal variables_ = 0;
};

}  // namespace cupel::solver
