// ClauseSolver: see the header.
#include "base/solver/clause_solver.hpp"

#include "base/solver/sat.hpp"

namespace cupel::solver {

ClauseSolver::ClauseSolver() : sat_(std::make_unique<Sat>()) {}
ClauseSolver::~ClauseSolver() = default;

Literal ClauseSolver::new_variable() {
  sat_->reserve(++variables_);
  return variables_;
}
void ClauseSolver::prefer(Literal literal) {
  sat_->prefer(literal);
}

void ClauseSolver::add_clause(std::span<const Literal> clause) {
  sat_->add_clause(clause);
}

SolveResult ClauseSolver::solve(base::Budget& budget, std::span<const Literal> assumptions) {
  if (budget.exceeded()) return SolveResult::kGaveUp;
  for (const Literal literal : assumptions) sat_->assume(literal);
  return sat_->solve(budget);
}

bool ClauseSolver::is_true(Literal literal) const {
  return sat_->is_true(literal);
}

bool ClauseSolver::failed(Literal assumption) {
  return sat_->failed(assumption);
}

}  // namespace cupel::solver
