// Sat: a CaDiCaL solver that survives a failing allocation. CaDiCaL is not written for
// exceptions: one that leaves it while it grows its arrays leaves sizes that are wrong,
// and its destructor then frees addresses that were never allocated.
//
// So what the memory limit refuses inside CaDiCaL fails at the next allocation outside
// of it (base::AllocationWatch::Deferral), and while it solves, its terminator asks the
// budget. When the system itself refuses memory, the solver is abandoned: never used
// again, and never destroyed.
#pragma once

#include <cadical.hpp>
#include <cstdio>
#include <memory>
#include <span>

#include "base/budget.hpp"
#include "base/solver/acyclic_solver.hpp"

namespace cupel::solver {

class Sat {
 public:
  Sat() {
    guarded([this] { solver_ = std::make_unique<CaDiCaL::Solver>(); });
    set("quiet", 1);
  }
  ~Sat() {
    const base::AllocationWatch::Deferral deferral;
    solver_.reset();
  }
  Sat(const Sat&) = delete;
  Sat& operator=(const Sat&) = delete;

  void set(const char* option, int value) {
    guarded([&] { solver_->set(option, value); });
  }
  void configure(const char* name) {
    guarded([&] { solver_->configure(name); });
  }
  // A variable that is in no clause gets a value only if it is reserved.
  void reserve(Literal variable) {
    guarded([&] { solver_->reserve(variable); });
  }
  void prefer(Literal literal) {
    guarded([&] { solver_->phase(literal); });
  }
  // The literals of `clause`, after `first` if that is not 0.
  void add_clause(std::span<const Literal> clause, Literal first = 0) {
    guarded([&] {
      if (first != 0) solver_->add(first);
      for (const Literal l : clause) solver_->add(l);
      solver_->add(0);
    });
  }
  void assume(Literal literal) {
    guarded([&] { solver_->assume(literal); });
  }
  // Writes the proof of the next solve() to the file.
  void trace_proof(std::FILE* file, const char* name) {
    guarded([&] { solver_->trace_proof(file, name); });
  }
  void close_proof_trace() {
    guarded([&] { solver_->close_proof_trace(); });
  }

  // kGaveUp when the budget ends.
  SolveResult solve(base::Budget& budget) {
    Terminator terminator(budget);
    int status = 0;
    guarded([&] {
      solver_->connect_terminator(&terminator);
      status = solver_->solve();
      solver_->disconnect_terminator();
    });
    if (status == kModelFound) return SolveResult::kModel;
    return status == kNoModel ? SolveResult::kUnsatisfiable : SolveResult::kGaveUp;
  }
  // After kModel.
  [[nodiscard]] bool is_true(Literal literal) const { return solver_->val(literal) > 0; }
  // After kUnsatisfiable: is the assumption part of the reason?
  [[nodiscard]] bool failed(Literal literal) {
    bool is_part = false;
    guarded([&] { is_part = solver_->failed(literal); });
    return is_part;
  }

 private:
  static constexpr int kModelFound = 10, kNoModel = 20;

  class Terminator : public CaDiCaL::Terminator {
   public:
    explicit Terminator(base::Budget& budget) : budget_(budget) {}
    bool terminate() override { return (++calls_ & 63) == 0 && budget_.exceeded(); }

   private:
    base::Budget& budget_;
    unsigned calls_ = 0;
  };

  template <typename Call>
  void guarded(const Call& call) {
    base::AllocationWatch::before_allocation(0);  // what was deferred before fails here
    const base::AllocationWatch::Deferral deferral;
    try {
      call();
    } catch (...) {
      static_cast<void>(solver_.release());  // abandoned
      throw;
    }
  }

  std::unique_ptr<CaDiCaL::Solver> solver_;
};

}  // namespace cupel::solver
