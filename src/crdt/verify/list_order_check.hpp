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
#include <string>
#include <vector>

#include "base/result.hpp"
#include "crdt/model/history.hpp"

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
// What is wrong with an operation, whatever its replica had seen.
std::optional<std::string> wrong_for_order(const History& history, OpId id,
                                           const CharacterOrder& order);
// The sentence about an addition with another character between it and its neighbour.
std::string between_neighbours(const History& history, OpId id, std::uint32_t other);

// What is wrong with this order of all characters that were added, an array of elements.
std::optional<std::string> wrong_list_order(const History& history,
                                            const nlohmann::json& characters,
                                            const ListBelow& below);

// Is there an order that the reads show and in which each addition is next to its neighbour, of
// what it sees? `only`: what only these operations ask for. Nothing: too much to try.
std::optional<bool> has_list_order(const History& history, const ListBelow& below,
                                   const std::set<OpId>* only);

}  // namespace cupel::crdt
