// Encoder: the variables of the exact method (exact.cpp), and the functions with which a type
// states its axioms (ReplicatedType::encode).
//
// A happens-before is a number for each operation o and each other replica j: how many updates of j
// are visible to o. Only updates that some read depends on count. "At least k" is a variable, and
// implies the same variable of the next operation on the replica.
//
// Counters: if an operation sees more than the last read of its replica, this can wait until the
// next read, because increments commute. So updates take the clock of the read before them.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/solver/clause_solver.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/solve/decide.hpp"

namespace cupel::crdt {

using solver::Literal;
using Clause = std::vector<Literal>;

class Encoder {
 public:
  // `shared`: the solver of several objects, whose happens-before is one. An update of a counter
  // cannot wait then: it has numbers of its own.
  Encoder(const History& history, const Axioms& axioms, base::Budget& budget, OpId probed_read,
          solver::ClauseSolver* shared = nullptr);

  // False: too many, or the budget is spent.
  bool make_variables();

  // For the axioms of a type.
  [[nodiscard]] const History& history() const { return history_; }
  [[nodiscard]] const Axioms& axioms() const { return axioms_; }
  // The operations that matter: reads, and updates that some read asks about.
  [[nodiscard]] const std::vector<OpId>& nodes() const { return nodes_; }
  // Sets and flags: what the reads say of each object.
  [[nodiscard]] const std::vector<Claim>& claims() const { return claims_; }
  [[nodiscard]] const std::vector<OpId>& updates_of(std::uint32_t object) const {
    return of_object_[object];
  }
  // The answer of this read is set aside.
  [[nodiscard]] bool is_probed(OpId read) const { return read == probed_read_; }
  [[nodiscard]] std::size_t replicas() const { return width_; }

  [[nodiscard]] Literal always() const { return true_; }
  [[nodiscard]] Literal never() const { return -true_; }
  Literal new_variable() { return solver_.new_variable(); }
  void clause(const Clause& literals);
  // Both, as a literal that implies them.
  Literal both(Literal a, Literal b);
  // o has seen at least k of the updates of replica j.
  [[nodiscard]] Literal at_least(OpId o, std::size_t j, std::uint32_t k) const;
  [[nodiscard]] Literal seen(OpId o, OpId update) const;
  // "a is linearized before b".
  Literal earlier(OpId a, OpId b);
  // The linearization contains this.
  void linearize(const Step& step) { arcs_.push_back({step, true_}); }
  // For loops: whether the budget is exceeded, checked at every 1024th call.
  bool too_much() {
    return (++budget_checks_ % 1024 == 0 && budget_.exceeded()) ||
           budget_.limit() != base::Limit::kNone;
  }
  bool budget_exceeded() { return budget_.exceeded(); }

  // For the search: its variables.
  struct Arc {
    Step step;
    Literal literal;
  };
  [[nodiscard]] const std::vector<Arc>& arcs() const { return arcs_; }
  [[nodiscard]] solver::ClauseSolver& solver() { return solver_; }
  [[nodiscard]] const solver::ClauseSolver& solver() const { return solver_; }
  // Of a replica, those that some read depends on.
  [[nodiscard]] const std::vector<OpId>& updates_on(std::size_t replica) const {
    return updates_[replica];
  }
  [[nodiscard]] std::size_t count_of_updates() const { return total_updates_; }
  // An update's index in updates_on(); kNone: no read depends on it.
  [[nodiscard]] std::uint32_t place(OpId op) const { return place_[op]; }
  // How many of those of its replica are before it.
  [[nodiscard]] std::uint32_t own(OpId op) const { return own_[op]; }
  [[nodiscard]] bool may_see_others(OpId op) const { return first_[op] != 0; }

 private:
  void choose();
  void place_offsets();
  // An operation's variables; `previous` is the node before it on its replica. False: too much.
  bool make_variables_of(OpId id, OpId previous);

  const History& history_;
  const ReplicatedType& type_;
  const Axioms& axioms_;
  base::Budget& budget_;
  const OpId probed_read_;
  std::unique_ptr<solver::ClauseSolver> own_solver_;
  solver::ClauseSolver& solver_;
  const bool updates_wait_;  // as described above
  std::size_t width_ = 0, total_updates_ = 0, budget_checks_ = 0;
  Literal true_ = 0;
  std::vector<Claim> claims_;
  std::vector<OpId> nodes_;                   // by replica, in its order
  std::vector<std::vector<OpId>> updates_;    // by replica: those that some read depends on
  std::vector<std::vector<OpId>> of_object_;  // by object: its updates
  std::vector<std::uint32_t> place_, own_;    // by operation
  std::vector<Literal> first_;         // by operation: its first variable; 0: has seen nothing
  std::vector<std::uint32_t> offset_;  // by two replicas
  std::map<std::pair<OpId, OpId>, Literal> earlier_;
  std::vector<Arc> arcs_;
};

}  // namespace cupel::crdt
