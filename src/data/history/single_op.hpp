// Histories whose every transaction is one operation on a register, one transaction
// after the other: for those who can decide without holding a History.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "data/history/history.hpp"

namespace cupel::history {

// One committed or indeterminate transaction.
struct SingleOp {
  SessionId session;
  TxnStatus status;
  OpKind kind;  // read, write, or a compare-and-set that succeeded
  KeyId key;
  ValueId value;     // seen, written or desired
  ValueId expected;  // of a compare-and-set
  Time invoke;
  Time complete;  // an indeterminate one's means nothing
};

// What is known before the first of them.
struct SingleOpFacts {
  std::size_t txns = 0, sessions = 0, keys = 0, values = 0;
  ValueId default_initial;
  std::vector<std::pair<KeyId, ValueId>> initial;  // where it is another
};

// Takes them in the order of the source, which within a session is session order.
class SingleOpSink {
 public:
  virtual ~SingleOpSink() = default;
  // False: no more of them, please.
  virtual bool begin(const SingleOpFacts& facts) = 0;
  virtual bool add(std::span<const SingleOp> ops) = 0;
};

}  // namespace cupel::history
