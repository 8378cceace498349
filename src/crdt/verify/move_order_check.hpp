// Move order check: for trees, does an order of the moves make the trees that the reads show? Once
// for an order that is given, once for any; for the verifier. It shares no code with the decision
// (crdt/solve/move_order.hpp, which names the paper).
//
// Cost of a given order: for each move, those after it that had come before. Of any: exponential in
// the pairs that the reads leave open, at most 2,000 moves and 2 * 10^8 comparisons.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crdt/verify/seen_updates.hpp"

namespace cupel::crdt {

// Each node is listed once, below the root or a node that is listed, and not below itself.
bool is_tree(const History& history, const Operation& read);

// The first read that shows another tree than the moves which it had seen, in the order of
// `place`; nothing: all are well.
std::optional<std::string> wrong_tree(const History& history, const SeenUpdates& seen,
                                      const std::vector<std::size_t>& place);

// Is there an order of all moves for these reads? Nothing: too many to try. Moves that are named
// are compared first.
std::optional<bool> has_move_order(const History& history, const SeenUpdates& seen,
                                   std::span<const OpId> reads, std::span<const OpId> named);

}  // namespace cupel::crdt
