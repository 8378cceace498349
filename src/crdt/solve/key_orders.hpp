// Key orders: registers of which each key has an order of its writes for itself, as the keys of a
// map have (TypeTraits::order_by_key).
//
// One graph orders all keys. In it a replica's operations follow each other only if they have the
// same key, so each cycle is within one key.
//
// Cost: operations + deliveries, and the sort.
#pragma once

#include <span>
#include <vector>

#include "crdt/model/visibility.hpp"

namespace cupel::crdt {

// The same operations. Each key of a replica is a replica of its own.
History split_by_key(const History& history);

// To a graph of that history: each write comes after the writes of its key that its replica had
// seen, the last of each replica.
void add_seen_writes(const History& history, const Visibility& visibility, StepGraph& graph);

// All writes of the order, key by key.
std::vector<OpId> writes_by_key(const History& history, const std::vector<OpId>& order);

// By a happens-before in a linear order, and these steps.
struct KeyOrders {
  std::vector<OpId> writes = {};  // key by key
  std::vector<Step> cycle = {};   // or why there are none, of the graph above
};
KeyOrders orders_of_keys(const History& history, const Clocks& clocks,
                         const std::vector<OpId>& order, std::span<const Step> steps);

}  // namespace cupel::crdt
