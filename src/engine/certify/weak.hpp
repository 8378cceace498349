// Weak: is a total order of transactions an execution at a weak level?
//
// The order is checked to extend co, as docs/reference/levels.md defines it: session order,
// wr, the orders that list reads fix, and for every read r of x from w and every
// other writer k of x with phi(k, r), k before w. Whose version a read saw is named
// where it is not plain. A read can break the formula only by a k that stands
// between w and the reader, so reads with no writer of the key there are done.
//
// Cost: O(n^1.5) at read-committed and read-atomic, since for each pair of writer
// and reader the shorter of "what k writes" and "what the reader reads" is walked;
// O(n * sessions) at causal, by vector clocks for some sessions at a time, and a
// bit for each indeterminate transaction that somebody read from.
#pragma once

#include "engine/certify/document.hpp"
#include "engine/certify/subject.hpp"

namespace cupel::certify {

// By transaction, whose version each of its reads of others saw, in program order.
using SeenWriters = std::vector<std::vector<TxnId>>;

// `seen`: where these go, if anywhere. It stays empty if the order is rejected before all are
// known.
Rejection satisfies_weak(Subject& subject, const Shape& shape, const std::vector<Number>& order,
                         const std::vector<ReadFrom>& reads_from,
                         const std::vector<Place>& placings, SeenWriters* seen = nullptr);

}  // namespace cupel::certify
