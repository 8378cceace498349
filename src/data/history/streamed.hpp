// Streamed: a history as its transactions in the order in which they ended, one at a time, for
// whoever need not hold all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "data/history/fold.hpp"
#include "data/history/operations.hpp"

namespace cupel::history {

// One end of a transaction.
struct Moment {
  Time time = kNoTime;
  std::uint32_t label = 0;
};

struct StreamedTransaction {
  std::uint32_t session = 0;  // numbered from 0 as they appear
  TxnStatus status = TxnStatus::kCommitted;
  Time invoke = kNoTime, complete = kNoTime;  // complete: of committed ones
  std::uint32_t label = 0;
  Operations operations;
};

class TransactionSource {
 public:
  TransactionSource() = default;
  TransactionSource(const TransactionSource&) = delete;
  TransactionSource& operator=(const TransactionSource&) = delete;
  virtual ~TransactionSource() = default;

  // The next to end; those that never did come last, session by session. False: there is none.
  virtual base::Result<bool> next(StreamedTransaction& out) = 0;

  // What the history says before its first transaction: of one key, or of all others.
  struct Initial {
    bool of_all;
    Key key;
    ScalarKind kind;
    std::int64_t integer;
    std::string text;
    [[nodiscard]] ScalarView value() const { return {kind, integer, text}; }
  };
  [[nodiscard]] virtual const std::vector<Initial>& initial() const = 0;
  // Of what came so far.
  [[nodiscard]] virtual std::size_t key_count() const = 0;
  [[nodiscard]] virtual ScalarView key(Key key) const = 0;
  [[nodiscard]] virtual bool is_list(Key key) const = 0;
  [[nodiscard]] virtual const std::string& session_name(std::uint32_t session) const = 0;
  // What the source says of itself before its first transaction: "part", "times" …
  [[nodiscard]] virtual std::string fact(const std::string& /*name*/) const { return {}; }
};

// Adds all that decides a verdict, its session by number. `name_of`: of a key, as a ScalarView.
template <typename NameOf>
void add_transaction(Fold& fold, const StreamedTransaction& txn, const Operations& operations,
                     const NameOf& name_of) {
  fold.add(static_cast<std::uint64_t>(txn.session) << 8 | static_cast<std::uint64_t>(txn.status));
  fold.add(static_cast<std::uint64_t>(txn.invoke));
  fold.add(static_cast<std::uint64_t>(txn.complete));
  fold.add(operations.size());
  for (const auto& op : operations.all()) {
    fold.add(static_cast<std::uint64_t>(op.kind) << 2 | (op.known ? 1u : 0u) |
             (op.succeeded ? 2u : 0u));
    if (op.kind != OpKind::kRangeRead) fold.add(name_of(op.key));
    if (op.known) fold.add(operations.view(op.value));
    fold.add(operations.view(op.other));
    fold.add(op.count);
    if (op.kind == OpKind::kListRead) {
      for (const auto& element : operations.elements(op)) fold.add(operations.view(element));
    } else if (op.kind == OpKind::kRangeRead) {
      for (const auto& entry : operations.entries(op)) {
        fold.add(name_of(entry.key));
        fold.add(operations.view(entry.value));
      }
    }
  }
}

// What a key holds, as a summand of a checksum of all of them: of a register its value, of a list
// the element at a place.
inline std::uint64_t held_digest(ScalarView key, std::uint64_t place, ScalarView value) {
  Fold fold;
  fold.add(key);
  fold.add(place);
  fold.add(value);
  return fold.value();
}
inline constexpr std::uint64_t kOfRegister = ~std::uint64_t{0};

}  // namespace cupel::history
