// Pair choices: orders of pairs of moves as choices of a solver that keeps the whole acyclic, for
// the searches of which one move of each pair comes first (move_order.hpp,
// movable_list_order.hpp).
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "base/graph/digraph.hpp"
#include "base/solver/acyclic_solver.hpp"
#include "crdt/model/history.hpp"

namespace cupel::crdt {

using MovePair = std::pair<OpId, OpId>;  // the first is before the second

class PairChoices {
 public:
  // `known`: the order that is no choice. `guess`: is the first of two moves before the second, if
  // nothing says otherwise? `node`: of a move in `known`; empty: its own number.
  PairChoices(const graph::Digraph& known, std::function<bool(OpId, OpId)> guess,
              std::function<graph::Node(OpId)> node = {})
      : solver_(known), guess_(std::move(guess)), node_(std::move(node)) {}

  [[nodiscard]] solver::AcyclicSolver& solver() { return solver_; }

  // The pair is so.
  solver::Literal literal(const MovePair& pair) {
    const auto [a, b] = std::minmax(pair.first, pair.second);
    const auto [it, fresh] = before_.try_emplace({a, b}, 0);
    if (fresh) {
      it->second = solver_.new_variable();
      solver_.add_arc({node_of(a), node_of(b), it->second});
      solver_.add_arc({node_of(b), node_of(a), -it->second});
      solver_.prefer(guess_(a, b) ? it->second : -it->second);
    }
    return pair.first == a ? it->second : -it->second;
  }

  // After a model was found: all pairs that are choices.
  [[nodiscard]] std::vector<MovePair> chosen() const {
    std::vector<MovePair> all;
    for (const auto& [pair, variable] : before_)
      all.push_back(solver_.is_true(variable) ? pair : MovePair{pair.second, pair.first});
    return all;
  }

 private:
  [[nodiscard]] graph::Node node_of(OpId move) const { return node_ ? node_(move) : move; }

  solver::AcyclicSolver solver_;
  const std::function<bool(OpId, OpId)> guess_;
  const std::function<graph::Node(OpId)> node_;
  std::map<MovePair, solver::Literal> before_;  // the smaller id first
};

}  // namespace cupel::crdt
