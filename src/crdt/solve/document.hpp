// Document: decides the history of a map with nested values whose deliveries are known.
//
// A place (model/document.hpp) may hold the value of some visible puts, by the policy of the map;
// which of them it holds is that of the last one in an order of its puts and removes
// (last_update_order.hpp). What is in a counter, list, text, set or register is that of a history
// of the container's own: all counters are a history of counters, and so on, which their types
// decide (document_parts.hpp).
//
// - kLastWriterWins: removes are in the order, too. The place holds the value of the last visible
//   put or remove.
// - Else a remove takes away the values of puts that it had seen. A put that had seen another one
// of
//   its place overwrites it for good.
//   kRemoveWins: whatever is done to the value concurrently.
//   kUpdateWins: unless there is a visible update of the value, or within it, that no visible
//   remove of the place had seen. kReset: the same, and a remove undoes the updates within the
//   value that it had seen, so that only the others count (Kleppmann and Beresford: A Conflict-Free
//   Replicated JSON Datatype, 2017; Brown and others: Riak DT Map, PaPEC 2014).
//
// Removes of keys are no updates of what has them. A container may also be a character of a list.
// The list says whether it is there, by all policies, and an update within it is one within the
// list.
//
// Cost: operations × replicas, plus the sizes of the reads, plus for each update the depth of what
// it is made to; for kUpdateWins and kReset, times the replicas.
#pragma once

#include <optional>
#include <vector>

#include "crdt/solve/context.hpp"
#include "crdt/solve/document_parts.hpp"

namespace cupel::crdt {

struct DocumentDecision {
  ContextDecision decision;
  // Of kViolated: the history of containers that is violated, and what is wrong in it; without one,
  // `decision` says it of the document.
  std::optional<DocumentPart> part = {};
  std::optional<WrongRead> wrong_in_part = {};
};
DocumentDecision decide_document(const KnownContext& context, MapPolicy policy);

// The puts whose value the place may hold, of what the operation had seen, and by kLastWriterWins
// the removes that may be the last. For explanations: it looks at every update of the place.
std::vector<OpId> candidates_at(const KnownContext& context, MapPolicy policy, OpId op,
                                std::uint32_t place);

}  // namespace cupel::crdt
