// Object proofs: is an order an execution of an object, and does a pattern refute every order?
//
// The replay runs an order on the object as its page in docs/reference/objects.md defines it. A
// pattern names a few operations, and one function for each pattern compares their times and
// values; the page says why no order explains them. Nothing of the engine is used.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/history/object_history.hpp"

namespace cupel::certify {

// The reason why a proof is wrong; empty: it is right.
using ObjectRejection = std::string;

// Operations are places in ObjectHistory::ops, elements ids of ObjectHistory::elements.
struct ObjectPattern {
  std::string name;
  std::uint32_t object = 0;
  std::vector<std::uint32_t> ops = {}, elements = {};
};

// For every replay of one history.
class ObjectReplay {
 public:
  explicit ObjectReplay(const history::ObjectHistory& history);
  // `order`: of the operations of this object, each certain one once.
  ObjectRejection replay(std::uint32_t object, std::span<const std::uint32_t> order);

 private:
  ObjectRejection in_real_time(std::uint32_t object, std::span<const std::uint32_t> order);
  ObjectRejection replay_set(std::span<const std::uint32_t> order);
  ObjectRejection replay_counter(std::span<const std::uint32_t> order);
  ObjectRejection replay_ids(std::span<const std::uint32_t> order);
  ObjectRejection replay_fifo(std::span<const std::uint32_t> order);
  ObjectRejection replay_bank(std::span<const std::uint32_t> order);
  ObjectRejection replay_bag(std::span<const std::uint32_t> order);

  const history::ObjectHistory& h_;
  std::vector<std::uint32_t> certain_;   // operations of each object
  std::vector<std::uint32_t> replayed_;  // of each operation: in which replay it was last met
  // By element: the replay in which it was put in; the read that had it, or its number in a bag.
  std::vector<std::uint32_t> inside_, met_;
  std::uint32_t round_ = 0, read_ = 0;
};

// `ops`: all operations of the object of the pattern.
ObjectRejection refute(const history::ObjectHistory& history, const ObjectPattern& pattern,
                       std::span<const std::uint32_t> ops);

// The pattern `no-order` of counters and banks: a search through all orders of these operations
// finds none.
ObjectRejection search_in_vain(const history::ObjectHistory& history,
                               std::span<const std::uint32_t> ops);

}  // namespace cupel::certify
