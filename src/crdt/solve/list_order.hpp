// List order: is there one order of all characters, in which every read shows them and every
// insertion fits (strong list specification: Attiya, Burckhardt, Gotsman, Morrison, Yang, Zawirski,
// Specification and Complexity of Collaborative Text Editing, PODC 2016)?
//
// A character is added directly after its left neighbour: of the characters that its replica then
// shows, none is between the two. So each of them is before the neighbour or after the new one.
// Reads, and neighbours, give steps from one character to the next. The order is a topological one
// of the steps, in which a character comes as soon after its neighbour as the steps allow. Where a
// visible character x then lies between a neighbour l and a new character e, a step is added: e
// before x if l is before x by the steps, or if nothing says otherwise; x before l if x is before
// e. A cycle of steps none of which was a free choice proves that there is no order. If a cycle has
// a choice, the choices are tried one after the other. In general, to place one element between
// others is NP-complete (betweenness), so this may end without an answer.
//
// Cost: rounds × (characters + deliveries); correct replicas need few rounds.
#pragma once

#include <optional>
#include <vector>

#include "crdt/solve/context.hpp"

namespace cupel::crdt {

struct ListOrder {
  Verdict verdict = Verdict::kUnknown;
  std::vector<std::uint32_t> characters = {};  // of kSatisfied: all that were added, key by key
  // Of kViolated: a cycle of steps between additions (Why::kListed), and all operations that show
  // it.
  std::vector<Step> cycle = {};
  std::vector<OpId> operations = {};
  bool by_steps_alone = false;  // reads and neighbours show it, whatever the replicas had seen
};

// The reads show what their replicas had seen. `certain`: only what would hold, too, if the
// replicas had seen more; for deliveries that are the least that the reads need.
ListOrder order_of_list(const KnownContext& context, bool certain);

}  // namespace cupel::crdt
