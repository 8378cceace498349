// Object orders: types of which each object has an order of its updates for itself, as the keys of
// a map and the elements of a set where the last writer wins (TypeTraits::order_by_object).
//
// One graph orders all objects. In it a replica's operations follow each other only if they have
// the same object, so each cycle is within one object.
//
// Cost: operations + deliveries, and the sort.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "crdt/model/visibility.hpp"

namespace cupel::crdt {

// By ReplicatedType::object().
std::size_t count_of_objects(const History& history);

// The same operations. Each object of a replica is a replica of its own.
History split_by_object(const History& history);

// For each update: the updates of its object that its replica had seen, the last of each other
// replica.
void for_seen_updates(const History& history, const KeyEvents& events,
                      const std::function<void(OpId seen, OpId update)>& found);

// All updates of the order, object by object.
std::vector<OpId> updates_by_object(const History& history, const std::vector<OpId>& order);

// By a happens-before in a linear order, and these steps.
struct ObjectOrders {
  std::vector<OpId> writes = {};  // all updates, object by object
  std::vector<Step> cycle = {};   // or why there are none; within one object
};
ObjectOrders orders_of_objects(const History& history, const Clocks& clocks,
                               const std::vector<OpId>& order, std::span<const Step> steps);

}  // namespace cupel::crdt
