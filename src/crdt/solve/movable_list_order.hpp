// Movable list order: are there, for each element, an order of its moves and, for the whole list,
// an order of all places, such that every read shows what they make
// (docs/reference/crdt.md#movable-lists; Kleppmann, Moving Elements in List CRDTs, PaPoC 2020)?
//
// The insertion of an element, and each move, makes a place. The deliveries are known, so an order
// of the moves says which place of an element counts at each operation, and a list of places is
// left to decide (between_order.hpp). The first guess is the order of Lamport timestamps. A read
// that does not show what it makes, or places without an order, say which pairs of concurrent moves
// cannot all be ordered as they are. That becomes a clause, and a solver chooses other orders of
// these pairs until all fits, or no choice is left. A violation is made small: as few reads and
// updates as suffice, by what they had seen.
//
// Cost: for each list rounds × (deliveries + sizes of the reads); correct replicas with timestamps
// need few.
#pragma once

#include "crdt/solve/context.hpp"

namespace cupel::crdt {

ContextDecision decide_known_movable_list(const KnownContext& context);

}  // namespace cupel::crdt
