// List order check: the order of a list's characters, for the verifier (strong list specification:
// Attiya, Burckhardt, Gotsman, Morrison, Yang, Zawirski, PODC 2016). It shares no code with
// solve/list_order.hpp.
//
// Cost: an order that is given, the square of the additions of a key. To find that there is none,
// the cube of the characters for each choice, so more than 400 are left unknown.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "crdt/verify/seen_updates.hpp"

namespace cupel::crdt {

// `below(a, b)`: the update a is visible to b.
using ListBelow = std::function<bool(OpId, OpId)>;

// The order that a certificate gives to all characters that were added, those of a key together.
struct CharacterOrder {
  std::vector<std::uint32_t> elements;
  std::vector<std::size_t> place;  // by element: in `elements`, from 1; 0: it is not there
};
// Errors: what is wrong with `characters`, an array of elements.
base::Result<CharacterOrder> character_order(const History& history,
                                             const nlohmann::json& characters);
// What is wrong with this order: the reads show their characters in it, and no visible character is
// between a new one and its neighbour. Each read shows what its replica had seen.
std::optional<std::string> wrong_list_order(const History& history, const SeenUpdates& seen,
                                            const CharacterOrder& order);

// Elements that are added by the operations in question: x is not between the two.
struct NotBetween {
  std::uint32_t left, right, x;
};
// Is there an order that the reads show and in which each addition is next to its neighbour, of
// what it sees? `only`: what only these operations ask for. Nothing: too much to try.
std::optional<bool> has_list_order(const History& history, const ListBelow& below,
                                   const std::set<OpId>* only,
                                   std::span<const NotBetween> apart = {});

}  // namespace cupel::crdt
