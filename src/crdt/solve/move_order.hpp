// Move order: is there an order of all moves of each tree, which contains happens-before, such that
// every read shows the tree that the moves it had seen make in this order?
//
// The deliveries are known, so an order decides all. The first guess is that of Lamport timestamps,
// which is the order of most implementations. A read that shows another tree says which pairs of
// moves cannot all be ordered as they are: for each node on the way, its last move that had an
// effect, and why those after it had none. That becomes a clause, a solver chooses orders of the
// pairs that keep the whole acyclic (base/solver/acyclic_solver.hpp), and the reads are looked at
// again. No choice left is the proof that the tree is violated. It is then made small: as few reads
// as suffice.
//
// Cost of a round: the moves that come out of order are undone and done again (tree_state.hpp), and
// the sizes of the reads. The problem in general is NP-hard; the budget ends it.
#pragma once

#include "crdt/solve/context.hpp"

namespace cupel::crdt {

ContextDecision decide_known_tree(const KnownContext& context);

// The node of a read that is no tree: it is listed twice, its parent is not listed, or it is below
// itself. kNone: there is none.
std::uint32_t node_out_of_tree(const History& history, const Operation& read);

}  // namespace cupel::crdt
