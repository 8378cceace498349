// AcyclicSolver: satisfiability with a graph that must stay acyclic.
//
// It knows arcs and literals, and nothing of histories. Known arcs are always
// there; a conditional arc is there when its one or two literals are true. A
// model is an assignment that satisfies the clauses and whose arcs close no
// cycle. CaDiCaL proposes assignments; the cycles in each become clauses, the
// ones with the fewest literals first and many per round, until there is none
// or no assignment is left (lazy clause generation; docs/internals/algorithms/refine.md).
//
// Cost of a round: linear in the conditional arcs, and for each arc that is new
// and goes backward in the order kept, a search of what lies between its ends.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/budget.hpp"
#include "base/graph/digraph.hpp"
#include "base/hash_table.hpp"

namespace cupel::solver {

using graph::ArcId;
using graph::Node;

// As in DIMACS: a variable is 1, 2, …; -v is its negation.
using Literal = std::int32_t;

struct ConditionalArc {
  Node from, to;
  Literal first;
  Literal second = 0;  // 0: only `first` is needed
};

enum class SolveResult : std::uint8_t { kModel, kUnsatisfiable, kGaveUp };

class Sat;

class AcyclicSolver {
 public:
  // The known arcs must be acyclic; `known` must outlive the solver. `order`: a
  // topological order of them to start from (empty: one is made).
  explicit AcyclicSolver(const graph::Digraph& known, std::span<const Node> order = {});
  ~AcyclicSolver();
  AcyclicSolver(const AcyclicSolver&) = delete;
  AcyclicSolver& operator=(const AcyclicSolver&) = delete;

  Literal new_variable();
  void prefer(Literal literal);  // try this value first
  void add_clause(std::span<const Literal> clause);
  // The index of the conditional arc.
  std::uint32_t add_arc(const ConditionalArc& arc);

  // kGaveUp when the budget ends, or after max_rounds rounds in all.
  SolveResult solve(base::Budget& budget);
  void limit_rounds(std::uint64_t max_rounds) { max_rounds_ = max_rounds; }

  // After kModel.
  [[nodiscard]] bool is_true(Literal literal) const;
  // The conditional arcs that are there, by index, ascending.
  [[nodiscard]] std::span<const std::uint32_t> active_arcs() const { return active_; }

  // A step of a cycle: a known arc by id, or a conditional arc by index.
  struct Step {
    bool conditional;
    std::uint32_t id;
  };
  using Cycle = std::vector<Step>;
  // After kUnsatisfiable: cycles that, with the clauses added by the caller, leave no
  // assignment. A core: found by assumptions, then shrunk while that is cheap.
  std::vector<Cycle> core(base::Budget& budget) const;

  [[nodiscard]] std::uint64_t rounds() const { return rounds_; }
  [[nodiscard]] std::size_t cycle_count() const { return cycles_.size(); }

 private:
  bool find_cycles(base::Budget& budget);
  bool insert(std::uint32_t index);
  void learn(Cycle cycle);

  const graph::Digraph& known_;
  // A topological order of the known arcs and of those in it: order_[rank_[v]] = v.
  std::vector<Node> order_;
  std::vector<std::uint32_t> rank_;
  std::vector<ConditionalArc> arcs_;
  std::vector<std::uint8_t> in_;                       // by conditional arc
  std::vector<std::vector<std::uint32_t>> arcs_from_;  // by node
  std::size_t linked_ = 0;                             // arcs in arcs_from_
  // The search of insert().
  struct Reached {
    std::uint32_t stamp = 0, distance = 0;
    Step step{};
    Node from = 0;
  };
  std::vector<Reached> reached_;
  std::uint32_t now_ = 0;
  std::deque<Node> queue_;
  std::vector<Node> moved_;
  std::size_t visits_ = 0;
  std::vector<std::vector<Literal>> given_clauses_;
  std::vector<Cycle> cycles_;
  std::vector<std::vector<Literal>> cycle_clauses_;
  std::vector<std::uint32_t> active_;
  std::vector<std::vector<Literal>> fresh_;   // learnt in this round
  base::HashSet<std::vector<Literal>> seen_;  // learnt ever
  std::unique_ptr<Sat> sat_;
  Literal variables_ = 0;
  std::uint64_t rounds_ = 0;
  std::uint64_t max_rounds_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace cupel::solver
