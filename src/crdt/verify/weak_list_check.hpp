// Weak list check: the order of each two characters of a list, for the verifier (weak list
// specification: Attiya, Burckhardt, Gotsman, Morrison, Yang, Zawirski, PODC 2016). It shares no
// code with solve/weak_list_order.hpp.
//
// What an operation leaves at its replica has an order, without a cycle; two characters have the
// same order in all of them. An addition is directly after its neighbour, which is ordered with
// them even if its replica does not show it any more.
//
// Cost: orders that are given, the squares of the lengths of the reads, and of each replica
// arrivals × characters shown. To find that there are none, for each choice the cube of the
// characters for each operation, so more than 60 characters are left unknown.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>

#include "crdt/model/history.hpp"
#include "crdt/verify/list_order_check.hpp"
#include "crdt/verify/seen_updates.hpp"

namespace cupel::crdt {

// Keys with too many characters for wrong_pairs().
bool has_too_many_pairs(const History& history);

// What is wrong with these orders, an array of elements two by two, and those of the reads. Each
// read shows what its replica had seen.
std::optional<std::string> wrong_pairs(const History& history, const nlohmann::json& pairs,
                                       const SeenUpdates& seen);

// Is there such an order for what these operations leave? Nothing: too much to try.
std::optional<bool> has_weak_list_order(const History& history, const ListBelow& below,
                                        const std::set<OpId>& only);

}  // namespace cupel::crdt
