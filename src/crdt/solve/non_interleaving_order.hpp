// Non-interleaving order: is there one order of all characters, in which every read shows them,
// every insertion fits, and runs that were inserted at one place are not mixed
// (docs/reference/crdt.md#runs-that-are-not-mixed; Weidner and Kleppmann, The Art of the Fugue,
// 2023)?
//
// It is the order of a list (list_order.hpp) with more places where a character may not stand:
// between a character and the first one that was added after it, and between two that one replica
// put in front of each other, nothing stands that had not seen the earlier one. between_order.hpp
// finds it.
//
// Cost: rounds × (characters + deliveries), and what stands inside of runs.
#pragma once

#include "crdt/solve/context.hpp"

namespace cupel::crdt {

ContextDecision decide_known_non_interleaving(const KnownContext& context);

}  // namespace cupel::crdt
