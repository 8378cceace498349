// Front order: is there an order of some things, in which some stand in front of others, and some
// not between two others? For the verifier.
//
// It derives what is in front of what until nothing is new, then tries both ways for a demand.
//
// Cost: the cube of the things for each choice.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace cupel::crdt {

// `x` is behind `e`, or in front of `left`. `left` as large as the number of things: it is behind.
struct FrontDemand {
  std::size_t e, left, x;
};

// Pairs of `given`: the first is in front of the second. Nothing: too much to try.
std::optional<bool> has_front_order(std::size_t count,
                                    const std::vector<std::pair<std::size_t, std::size_t>>& given,
                                    const std::vector<FrontDemand>& demands);

}  // namespace cupel::crdt
