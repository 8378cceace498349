// ObjectHistory: what the clients of one kind of object saw, where the objects are no registers or
// lists: sets, counters and the like (docs/reference/objects.md).
//
// An operation is one call on one object. It took effect at one moment between its invocation and
// its completion. If its outcome is unknown, it took effect at any moment after its invocation, or
// never; if it failed, it had no effect. Objects are told apart by key. The history holds no
// algorithm.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/history/history.hpp"
#include "data/history/object_kind.hpp"
#include "data/history/scalar.hpp"

namespace cupel::history {

// The completion of an operation whose outcome is unknown.
inline constexpr Time kNever = std::numeric_limits<Time>::max();

// In place of the balance of an account that a bank's read returned without one.
inline constexpr std::int64_t kNilBalance = std::numeric_limits<std::int64_t>::min();

struct ObjectOp {
  Time invoke = 0, complete = kNever;
  std::uint32_t object = 0, process = 0;
  std::uint32_t label = 0;                             // the index in the file, or the place
  std::uint32_t invoke_place = 0, complete_place = 0;  // among the events of the file
  std::uint32_t count = 0;                             // of its values
  std::uint64_t first = 0;
  std::int64_t number = 0;  // that is added, transferred or read
  TxnStatus status = TxnStatus::kIndeterminate;
  Call call = Call::kRead;
  bool known = false;  // of a call that returns something: the result

  // Whether it may have taken effect.
  [[nodiscard]] bool possible() const { return status != TxnStatus::kAborted; }
  [[nodiscard]] bool returns() const {
    return call == Call::kRead || call == Call::kDequeue || call == Call::kGenerate;
  }
  // Whether it took effect, with a result that every order must explain. A dequeue without a known
  // result removed something, or nothing.
  [[nodiscard]] bool certain() const {
    return status == TxnStatus::kCommitted && (!returns() || known);
  }
  // Whether every order has this operation before the other one.
  [[nodiscard]] bool precedes(const ObjectOp& other) const { return complete < other.invoke; }
};

struct ObjectHistory {
  ObjectKind kind = ObjectKind::kSet;
  bool keyed = false;             // else there is one object
  bool times_are_places = false;  // times are places in the file
  bool full = false;              // of a set: Jepsen's rules of set-full, not of set
  // Options of Jepsen's bank: balances may be negative; the total, or that of the first read.
  bool negative_balances = false;
  std::optional<std::int64_t> total = {};
  std::vector<std::string> processes;
  ScalarTable objects, elements;
  std::vector<ObjectOp> ops;          // in the order of their completions
  std::vector<std::uint32_t> values;  // elements of the operations; accounts of a bank
  std::vector<std::int64_t> numbers;  // balances of a bank's reads, beside their values
  std::map<std::string, std::string, std::less<>> metadata;

  [[nodiscard]] std::span<const std::uint32_t> values_of(const ObjectOp& op) const {
    return std::span(values).subspan(op.first, op.count);
  }
  // The operations of each object, in their order.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> by_object() const;
  // The metadata of this name; empty: none.
  [[nodiscard]] std::string fact(std::string_view name) const;
  // Widens each interval on both sides by what the clocks of the clients may be wrong.
  void allow_drift(Time drift);
};

// A checksum of all that decides a verdict, by which a certificate knows the history again.
std::uint64_t digest(const ObjectHistory& history);

}  // namespace cupel::history
