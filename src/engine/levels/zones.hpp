// Zones: registers whose every read has one possible writer, in O(n log n).
//
// Operations of one object that see the same version stand together in any order:
// its writer, then its readers (Gibbons & Korach, Testing shared memories, SIAM J.
// Comput. 26(4), 1997, section 4.1: clusters and zones). A compare-and-set ties the
// version that it saw to the one that it wrote, so what stands together is a chain of
// versions; with nothing but compare-and-sets there is one chain (MTC, algorithm 2).
// A chain must be before another if one of its operations completed before one of
// the other's was invoked. So only the earliest completion and the latest invocation
// of a chain matter, two chains that must be before each other are a contradiction,
// and where no two are, there is an order.
//
// Deviations: indeterminate compare-and-sets, reads with several possible writers and
// appends are left to the engine, as is the case that only session order contradicts.
#pragma once

#include <vector>

#include "engine/levels/accesses.hpp"
#include "engine/levels/describe.hpp"

namespace cupel::levels {

struct ZonesResult {
  enum class Kind : std::uint8_t {
    kOther,          // not of this shape, or not decided: a question for the engine
    kLinearizable,   // in this `order`
    kContradiction,  // already within the owners of `suspects`, which the engine can prove
  };
  Kind kind = Kind::kOther;
  std::vector<Owner> order;     // those that took effect
  std::vector<Owner> suspects;  // ascending
  bool one_chain = false;
};

// `part` has one key.
ZonesResult decide_by_zones(const History& history, const Accesses& accesses, const Part& part,
                            history::Time clock_drift_ns);

}  // namespace cupel::levels
