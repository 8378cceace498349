// Replay: is a total order of events an execution of the history at a level?
//
// The order is run on an empty store. A transaction's reads are answered at its
// begin, by value, with its own earlier writes on top; its writes are installed at
// its commit. No writer of a read is named, and none is needed: whoever wrote what
// is there is the one that was read. Cost: linear, list reads by their length.
#pragma once

#include "engine/certify/document.hpp"
#include "engine/certify/subject.hpp"

namespace cupel::certify {

// For the levels with `order`.
Rejection replay(const Subject& subject, const Shape& shape, history::Time drift,
                 const std::vector<Number>& order);
// For linearizable: each key by itself, every key that somebody who counts touches.
Rejection replay_by_key(const Subject& subject, const Shape& shape, history::Time drift,
                        const std::vector<KeyOrder>& orders);

// Is linearizable defined: does every transaction touch one key at most, and no range?
// The rejection names one that does not.
Rejection touches_more_than_one(const Subject& subject);

}  // namespace cupel::certify
