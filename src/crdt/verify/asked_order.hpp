// Asked order: is there an order of some operations that contains happens-before, and what their
// reads ask for? For the verifier.
//
// A read of a register, a set or marks asks that one of some updates comes after others; the reads
// of an array, that additions come after each other.
//
// Cost: the square of the operations that are named, for each choice.
#pragma once

#include <string>
#include <vector>

#include "crdt/verify/seen_updates.hpp"

namespace cupel::crdt {

// One of `last` comes after all of `others`.
struct LastChoice {
  std::vector<OpId> last, others;
};

struct OrderAnswer {
  bool fits = false;
  std::string unknown = {};  // why it is not known; empty: it is
};
OrderAnswer decide_asked_order(const History& history, const SeenUpdates& seen, bool strict,
                               const std::vector<OpId>& named, std::vector<LastChoice> choices);

// Too many to compare each two characters of each read.
bool shows_too_many_pairs(const History& history);

}  // namespace cupel::crdt
