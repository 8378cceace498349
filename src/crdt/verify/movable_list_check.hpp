// Movable list check: the orders of the moves and of the places of a movable list, for the verifier
// (docs/reference/crdt.md#movable-lists). It shares no code with solve/movable_list_order.hpp.
//
// Cost: of orders that are given, operations + deliveries, each with a logarithm. To find that
// there are none, every choice of the last moves that the operations may have seen, so it may be
// unknown.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>

#include "crdt/verify/seen_updates.hpp"

namespace cupel::crdt {

// What is wrong with `writes`, the moves of the elements in their order, and `positions`, the same
// in the order of their places.
std::optional<std::string> wrong_movable_list(const History& history, const SeenUpdates& seen,
                                              const nlohmann::json& writes,
                                              const nlohmann::json& positions);

// Are there such orders, for what these operations show and ask for? Nothing: too much to try.
std::optional<bool> has_movable_list_order(const History& history, const SeenUpdates& seen,
                                           const std::set<OpId>& named);

}  // namespace cupel::crdt
