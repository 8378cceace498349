// Nearby: a "no" from the few owners where the schedule failed.
//
// A violation is mostly between transactions that ran at the same time, and the first event that
// the schedule could not run is one of them, or waits for one. So the owners whose hints are near
// it, and those that they read from, are decided as a problem of their own before anything is
// forced in the whole. Their "no" is that of the whole (sub_problem.hpp); their "yes" says nothing.
// With it a violation costs hardly more than the order that a valid history has. Cost: linear in
// owners and reads, and a decision of some thousands of owners, at most 20,000.
#pragma once

#include <optional>
#include <span>

#include "engine/order/problem.hpp"

namespace cupel::order {

// `ran`: the events that the schedule could run, which are not all. Nothing: not known.
std::optional<OrderResult> refute_nearby(const Problem& problem, std::span<const Node> ran,
                                         base::Budget& budget);

}  // namespace cupel::order
