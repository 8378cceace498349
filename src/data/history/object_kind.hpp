// The kinds of objects that have histories of their own (object_history.hpp), and their calls.
#pragma once

#include <cstdint>
#include <string_view>

namespace cupel::history {

enum class ObjectKind : std::uint8_t {
  kSet,        // adds, and reads of all elements
  kCounter,    // adds of numbers, and reads of the sum
  kUniqueIds,  // each call returns an id that no other one returned
  kFifoQueue,  // first in, first out
  kBag,        // a queue without order: Jepsen's total-queue
  kBank,       // transfers between accounts, and reads of all balances
};

enum class Call : std::uint8_t {
  kAdd,
  kRead,  // of the whole object
  kGenerate,
  kEnqueue,
  kDequeue,
  kTransfer,
};

std::string_view name(ObjectKind kind);  // "set", "fifo-queue" …
std::string_view name(Call call);        // "add" …

}  // namespace cupel::history
