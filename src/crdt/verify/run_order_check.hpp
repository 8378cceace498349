// Run order check: does the order of a list keep the runs together that were inserted at one place,
// for the verifier (docs/reference/crdt.md#runs-that-are-not-mixed)? It shares no code with
// solve/non_interleaving_order.hpp.
//
// Cost: of an order that is given, operations + deliveries, and the siblings inside of runs. To
// find that there is none, the cube of the characters that are named, and what they were added
// after.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "crdt/verify/list_order_check.hpp"
#include "crdt/verify/seen_updates.hpp"

namespace cupel::crdt {

// What is wrong with an order that the reads show.
std::optional<std::string> wrong_runs(const History& history, const SeenUpdates& seen,
                                      const CharacterOrder& order);

// Is there an order that keeps runs together, for what these operations show and ask for? Nothing:
// too much to try.
std::optional<bool> has_run_order(const History& history, const SeenUpdates& seen,
                                  const std::set<OpId>& named);

}  // namespace cupel::crdt
