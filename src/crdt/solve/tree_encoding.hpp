// Tree encoding: what a read of a tree shows, as clauses over the order of the moves.
//
//   TreeEncoding encoding(context, solver, {.is_known = is_known, .before = before}, node, nodes);
//   encoding.add(read);  // each model's order makes the tree that the read shows
//
// For each move that matters there is a variable: does it have an effect? It has none if its target
// is then below its node, which follows from the last moves with an effect of the nodes on the way
// up. These definitions hold in both directions, so an order of the moves leaves no choice. What
// two reads have in common, a move and those that may be before it, is defined once.
//
// Happens-before is constant, and a move that it alone gives an effect is none of the choices; so
// the clauses are about concurrent moves, and few where updates arrive soon.
//
// With `stated`, effects and orders are only said of these moves; all others may do anything at any
// time. If that is contradictory, too, the stated moves are all that it takes.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "base/solver/acyclic_solver.hpp"
#include "crdt/solve/context.hpp"

namespace cupel::crdt {

class TreeEncoding {
 public:
  using Literal = solver::Literal;
  using Known = std::function<bool(OpId, OpId)>;
  struct Orders {
    Known is_known;  // the first is before the second
    // That the first is before the second, of two of which nothing is known; arcs of the solver.
    std::function<Literal(OpId, OpId)> before;
    const std::vector<bool>* stated = nullptr;  // by operation; none: all
  };

  // Nodes of the solver's graph from `first_node` on, so many, are its own.
  TreeEncoding(const KnownContext& context, solver::AcyclicSolver& solver, Orders orders,
               graph::Node first_node, std::size_t nodes);

  // False if that would be too much; what was added up to then holds in any case.
  bool add(OpId read);

 private:
  // Just before a move, or at the end, for a read: `moves` may be before it.
  struct Point {
    OpId move;  // kNone: the end
    std::vector<OpId> moves;
    std::map<std::uint32_t, std::vector<OpId>> of_node = {};
    std::map<std::uint32_t, Literal> below = {};  // the node, or below it: of nodes
    // By node, its moves that may be the last one with an effect, and whether it is.
    std::map<std::uint32_t, std::vector<std::pair<OpId, Literal>>> last = {};
  };
  struct Due {
    std::uint32_t point;
    Literal effect;
  };

  std::uint32_t point(OpId move, const std::vector<OpId>& seen);
  Literal effect(OpId move, const std::vector<OpId>& seen);
  [[nodiscard]] bool is_always_effective(const Point& at) const;
  const std::vector<std::pair<OpId, Literal>>& last_moves(std::uint32_t node, std::uint32_t at);
  Literal below(std::uint32_t target, std::uint32_t at);
  void define(const Due& due);
  void show(OpId read, std::uint32_t end);

  [[nodiscard]] bool is_stated(OpId move) const {
    return orders_.stated == nullptr || (*orders_.stated)[move];
  }
  [[nodiscard]] bool is_known(OpId first, OpId second) const;
  Literal before(OpId first, OpId second);
  Literal both(Literal a, Literal b);
  void clause(std::vector<Literal> literals);

  const KnownContext& context_;
  const History& h_;
  solver::AcyclicSolver& solver_;
  const Orders orders_;
  graph::Node next_node_, end_node_;
  const Literal true_;
  std::vector<Point> points_;
  std::map<std::pair<OpId, std::vector<OpId>>, std::uint32_t> point_of_;
  std::map<std::uint32_t, Literal> effect_;  // by point of the move
  std::map<std::pair<OpId, OpId>, Literal> free_;
  std::vector<Due> due_;
  std::vector<OpId> seen_;  // the moves of the read that is added
  std::size_t size_ = 0;    // literals of clauses
};

}  // namespace cupel::crdt
