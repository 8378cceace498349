// going on: transactions that have begun and not ended, whose compare-and-sets may still fail.
//
// A check counts an indeterminate transaction as one that may have happened as it was tried: if
// somebody read one of its writes, its compare-and-sets succeeded (docs/reference/levels.md). Of
// one that is still going on this is not known: it may yet end and say that a compare-and-set
// failed. What follows from the success of one is not to be reported before.
//
// A compare-and-set counts as failed as long as nobody can have seen what it wrote: a write that
// nobody saw adds constraints only. It counts as succeeded where somebody saw a version that nobody
// else can have written. Where neither is known, it is left out, and what may have been seen of it
// is in `reads`. With these unknown too, whatever any end of the transactions satisfies is
// satisfied: so a violation of that is one however they end.
//
// Nor is it known of a key that was only read as null whether it is a list, which starts empty, or
// a register. Where registers start with another value, these reads are in `reads`, too.
#pragma once

#include <span>
#include <vector>

#include "data/history/history.hpp"

namespace cupel::history {

struct OpenCompares {
  std::vector<OpId> failed;  // for with_failed()
  std::vector<OpId> reads;   // for with_unknown(); sorted
};

// Of a history with times: the transactions that have begun, and whose end was not seen.
[[nodiscard]] std::vector<TxnId> going_on(const History& history);

// `going_on`: transactions of the history. O(operations), if one of them has a compare-and-set
// and writes something else, or if registers do not start with null.
[[nodiscard]] OpenCompares open_compares(const History& history, std::span<const TxnId> going_on);

// With both, so that its violations are certain.
[[nodiscard]] History with_open_compares(History history, const OpenCompares& open);

}  // namespace cupel::history
