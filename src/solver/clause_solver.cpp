// ClauseSolver: see the header.
#include "solver/clause_solver.hpp"

#include <cadical.hpp>

namespace cupel::solver {

class ClauseSolver::Sat : public CaDiCaL::Terminator {
 public:
  CaDiCaL::Solver solver;
  base::Budget* budget = nullptr;
  bool terminate() override { return budget != nullptr && budget->exceeded(); }
};

ClauseSolver::ClauseSolver() : sat_(std::make_unique<Sat>()) {
  sat_->solver.set("quiet", 1);
}
ClauseSolver::~ClauseSolver() = default;

Literal ClauseSolver::new_variable() {
  sat_->solver.reserve(++variables_);  // else a variable in no clause gets no value
  return variables_;
}
void ClauseSolver::prefer(Literal literal) {
  sat_->solver.phase(literal);
}

void ClauseSolver::add_clause(std::span<const Literal> clause) {
  for (const Literal l : clause) sat_->solver.add(l);
  sat_->solver.add(0);
}

SolveResult ClauseSolver::solve(base::Budget& budget) {
  if (budget.exceeded()) return SolveResult::kGaveUp;
  sat_->budget = &budget;
  sat_->solver.connect_terminator(sat_.get());
  const int status = sat_->solver.solve();
  sat_->solver.disconnect_terminator();
  return status == 10   ? SolveResult::kModel
         : status == 20 ? SolveResult::kUnsatisfiable
                        : SolveResult::kGaveUp;
}

bool ClauseSolver::is_true(Literal literal) const {
  return sat_->solver.val(literal) > 0;
}

}  // namespace cupel::solver
