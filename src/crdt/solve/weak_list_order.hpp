// Weak list order: may each two characters of a list stand in one order (weak list specification:
// Attiya, Burckhardt, Gotsman, Morrison, Yang, Zawirski, Specification and Complexity of
// Collaborative Text Editing, PODC 2016)?
//
// Two characters that are visible together have one order, the same wherever they are visible
// together; and what is visible to one operation is ordered without a cycle. Across operations
// there may be cycles. A new character is directly after its neighbour, of what its replica shows.
//
// One order of all characters (list_order.hpp) is such an order, too, so this is asked only where
// there is none. Reads give the order of the characters that they show; two of them that disagree
// end it. The other pairs that are visible together are variables of a SAT solver. It chooses; the
// tournament of each operation is checked by the scores of its characters (without a cycle they are
// 0, 1, 2, …), and a cycle of three becomes a clause. Each clause is on condition of the operations
// that it is about, so that a contradiction names them.
//
// Cost: the squares of the reads' lengths; for each round of the solver, operations × characters
// visible × characters / 64. Keys of more than 8,000 characters are left unknown.
#pragma once

#include <vector>

#include "crdt/solve/context.hpp"

namespace cupel::crdt {

struct WeakListOrder {
  Verdict verdict = Verdict::kUnknown;
  // Of kSatisfied: characters two by two, the first in front of the second, where no read shows
  // both.
  std::vector<std::uint32_t> pairs = {};
  // Of kViolated: all operations that show it; if two reads do, a cycle of their two steps.
  std::vector<Step> cycle = {};
  std::vector<OpId> operations = {};
};

// The reads show the characters that their replicas had seen, each once.
WeakListOrder weak_order_of_list(const KnownContext& context);

}  // namespace cupel::crdt
