// WriterGuess: writers for the reads of a weak level that are still open, greedily.
//
// Goes through the owners in one order that extends what is known of co, and
// keeps what is visible to each. An open read sees the newest visible version of
// its object, if it may: that makes nothing new visible and so forces nothing.
// Where it may not, it sees the oldest of its candidates that is newer, whose
// own past contradicts the owner's other reads the least. A guess that meets no
// obstacle makes the order a witness; what is wrong with another one is for the
// solver (visibility_cases.cpp).
// At causal, what an owner sees is seen by those after it, too. So first, from the
// last owner to the first, the limits of what each may see, and no choice is made
// beyond them. A read for which nothing is left in between shows that the order is
// wrong: the two versions, if they are near in it, change places.
// Cost: reads and wr pairs times what they touch; at causal also owners times
// chains for the clocks and limits.
#pragma once

#include <span>
#include <vector>

#include "engine/order/co_graph.hpp"

namespace cupel::order {

struct WriterGuessInput {
  const VisibilityProblem& problem;
  Visible visible;
  const CoGraph& co;  // acyclic, and saturated for the writers that are known
  std::span<const std::span<const Owner>> candidates;
  std::span<const std::uint64_t> hint;  // see visibility.hpp
};

// Fills in every kUnresolved of `writers`. `rank`: where each owner stands in the order
// that was used. False if the budget ended.
bool guess_writers(const WriterGuessInput& input, std::vector<Owner>& writers,
                   std::vector<std::uint32_t>& rank, base::Budget& budget);

}  // namespace cupel::order
