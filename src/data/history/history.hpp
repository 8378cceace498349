// History: what the clients of a database saw, as columns.
//
// A history is a set of sessions; a session is a sequence of transactions; a
// transaction is a sequence of operations, each with what its client saw.
// It is immutable; HistoryBuilder makes it. It holds no algorithm.
//
// Layout. Transactions are numbered session by session, so a session is a range
// of TxnIds and a later TxnId of the same session is later in session order.
// Resident cost: an operation takes 9 bytes (kind, key, value) and a
// transaction 32 (with times; 16 without), besides each distinct key and value
// (9 bytes an integer) and the payload of list, range and compare-and-set
// operations (4 bytes an element, 8 a range entry, 12 a compare-and-set).
//
// The initial transaction, which writes the initial value of every key and
// precedes everything, is not stored: see initial_value().
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "data/history/scalar.hpp"

namespace cupel::history {

using KeyId = base::Id<struct KeyTag>;
using ValueId = base::Id<struct ValueTag>;  // none() = not known
using TxnId = base::Id<struct TxnTag>;      // none() = the initial transaction, where that is meant
using SessionId = base::Id<struct SessionTag>;
using OpId = base::Id<struct OpTag>;  // position in the history's operation columns

enum class OpKind : std::uint8_t {
  kRead,           // register read; value none() when the client does not know what it saw
  kWrite,          // register write
  kAppend,         // append one element to a list
  kListRead,       // read of a whole list
  kRangeRead,      // read of every key in [low, high]
  kInsert,         // a write of a key that was absent; checked as a write
  kDelete,         // writes "absent": the null value, or a tombstone value of its own
  kCompareAndSet,  // succeeded: read of expected, then write of desired; failed: read of something
                   // else
};

enum class TxnStatus : std::uint8_t {
  kCommitted,
  kAborted,        // certainly had no effect
  kIndeterminate,  // may have committed or not (time-out, lost connection)
};

std::string_view to_string(OpKind kind);       // "read", "compare-and-set" …
std::string_view to_string(TxnStatus status);  // "committed" …

// Nanoseconds on the client's clock; kNoTime when not recorded.
using Time = std::int64_t;
inline constexpr Time kNoTime = std::numeric_limits<Time>::min();

// One operation, by value. `value` means: what a read saw, what a write wrote,
// the element appended, the tombstone deleted with; unused for list reads,
// range reads and compare-and-sets, whose payload History returns.
struct Operation {
  OpKind kind;
  KeyId key;  // none() for range reads
  ValueId value;
  std::uint32_t payload;  // internal index of the payload
};

struct RangeEntry {
  KeyId key;
  ValueId value;
};
struct RangeRead {
  ValueId low, high;                    // bounds, inclusive, as scalars of the value table
  std::span<const RangeEntry> entries;  // keys not listed were seen absent
};
struct CompareAndSet {
  ValueId expected, desired;
  bool succeeded;
};

class History {
 public:
  History() = default;

  // Sessions.
  [[nodiscard]] std::size_t session_count() const { return session_names_.size(); }
  [[nodiscard]] TxnId session_begin(SessionId s) const { return TxnId(session_first_[s.index()]); }
  [[nodiscard]] TxnId session_end(SessionId s) const {
    return TxnId(session_first_[s.index() + 1]);
  }
  [[nodiscard]] const std::string& session_name(SessionId s) const {
    return session_names_[s.index()];
  }

  // Transactions.
  [[nodiscard]] std::size_t txn_count() const { return first_op_.size(); }
  [[nodiscard]] SessionId session(TxnId t) const { return SessionId(txn_session_[t.index()]); }
  [[nodiscard]] TxnStatus status(TxnId t) const {
    return TxnStatus(op_count_status_[t.index()] >> 30);
  }
  // Operations of t in program order: OpIds [first, last).
  [[nodiscard]] std::uint32_t first_op(TxnId t) const { return first_op_[t.index()]; }
  [[nodiscard]] std::uint32_t last_op(TxnId t) const {
    return first_op_[t.index()] + (op_count_status_[t.index()] & kCountMask);
  }
  [[nodiscard]] Time invoke(TxnId t) const {
    return invoke_.empty() ? kNoTime : invoke_[t.index()];
  }
  // kNoTime also for an indeterminate transaction whose end was not seen.
  [[nodiscard]] Time complete(TxnId t) const {
    return complete_.empty() ? kNoTime : complete_[t.index()];
  }
  // Any transaction has a time. Whether all committed ones do: has_all_times().
  [[nodiscard]] bool has_times() const { return !invoke_.empty(); }
  // Every committed transaction has both times (indeterminate ones: the invocation).
  [[nodiscard]] bool has_all_times() const;
  // The client-side number of the transaction: its id in formats that have
  // one, else the index of its first line or operation map in the source.
  [[nodiscard]] std::uint32_t label(TxnId t) const { return label_[t.index()]; }
  // Which transaction of its session it is, from 1; in a part of a history, which it
  // was in the whole.
  [[nodiscard]] std::uint32_t place(TxnId t) const {
    const auto place = place_.empty() ? 0 : place_[t.index()];
    return place != 0 ? place : t.raw - session_first_[txn_session_[t.index()]] + 1;
  }

  // Operations.
  [[nodiscard]] std::size_t op_count() const { return kind_.size(); }
  [[nodiscard]] OpKind kind(OpId op) const { return kind_[op.index()]; }
  [[nodiscard]] Operation op(OpId id) const {
    const auto i = id.index();
    return {kind_[i], KeyId(key_[i]), has_payload(kind_[i]) ? ValueId() : ValueId(value_[i]),
            value_[i]};
  }
  // The elements a list read saw; valid only if list_known(op).
  [[nodiscard]] bool list_known(const Operation& op) const {
    return op.payload != ValueId::kNoneRaw;
  }
  [[nodiscard]] std::span<const ValueId> list(const Operation& op) const;
  [[nodiscard]] RangeRead range(const Operation& op) const;
  [[nodiscard]] CompareAndSet compare_and_set(const Operation& op) const {
    return cas_[op.payload];
  }
  // The transaction an operation belongs to: logarithmic.
  [[nodiscard]] TxnId txn_of(OpId op) const;

  // Keys and values.
  [[nodiscard]] std::size_t key_count() const { return keys_.size(); }
  [[nodiscard]] std::size_t value_count() const { return values_.size(); }
  [[nodiscard]] ScalarView key(KeyId k) const { return keys_.at(k.raw); }
  [[nodiscard]] ScalarView value(ValueId v) const { return values_.at(v.raw); }
  // A list key has only appends and list reads; other keys have neither.
  [[nodiscard]] bool is_list(KeyId k) const { return list_key_[k.index()] != 0; }
  // What the initial transaction wrote to k (null unless the format or the
  // history says otherwise). A list key starts empty; there it means nothing.
  [[nodiscard]] ValueId initial_value(KeyId k) const;
  [[nodiscard]] ValueId default_initial_value() const { return default_initial_; }
  [[nodiscard]] std::span<const std::pair<KeyId, ValueId>> initial_overrides() const {
    return initial_;
  }
  // The null value's id; every history has one.
  [[nodiscard]] ValueId null_value() const { return null_value_; }
  // The keys in [low, high] in key order. Logarithmic plus the answer; the
  // order of the keys is sorted when the history is built, if it has range reads.
  [[nodiscard]] std::span<const KeyId> keys_between(ScalarView low, ScalarView high) const;

  // Facts about the source: "format", "database", "isolation", notes of the reader …
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // The fact of this name; empty where the source does not say.
  [[nodiscard]] std::string fact(const std::string& name) const;
  // The times are places in the source and no measured time.
  [[nodiscard]] bool times_are_places() const { return fact("times") == "line order"; }

  [[nodiscard]] std::uint64_t resident_bytes() const;

 private:
  friend class HistoryBuilder;
  friend History with_unknown(History history, std::span<const OpId> reads);  // mask.hpp
  friend History with_failed(History history, std::span<const OpId> compares);
  static constexpr std::uint32_t kCountMask = (1u << 30) - 1;
  static bool has_payload(OpKind kind) {
    return kind == OpKind::kListRead || kind == OpKind::kRangeRead ||
           kind == OpKind::kCompareAndSet;
  }
  struct StoredRange {
    ValueId low, high;
    std::uint32_t first_entry, last_entry;
  };

  // Operations.
  std::vector<OpKind> kind_;
  std::vector<std::uint32_t> key_;
  std::vector<std::uint32_t> value_;  // or an index into one of the payloads below
  std::vector<std::uint32_t>
      list_first_;  // list i is list_elements_[list_first_[i] .. list_first_[i+1])
  std::vector<ValueId> list_elements_;
  std::vector<StoredRange> ranges_;
  std::vector<RangeEntry> range_entries_;
  std::vector<CompareAndSet> cas_;
  // Transactions.
  std::vector<std::uint32_t> first_op_;
  std::vector<std::uint32_t> op_count_status_;  // status in the top two bits
  std::vector<std::uint32_t> txn_session_;
  std::vector<std::uint32_t> label_;
  std::vector<Time> invoke_, complete_;  // empty when no transaction has times
  std::vector<std::uint32_t> place_;     // empty but in a part of a history; 0: as it stands
  // Sessions.
  std::vector<std::uint32_t> session_first_ = {0};
  std::vector<std::string> session_names_;
  // Keys and values.
  ScalarTable keys_, values_;
  std::vector<std::uint8_t> list_key_;
  std::vector<KeyId> keys_in_order_;        // only if there are range reads
  std::vector<std::int64_t> integer_keys_;  // those of keys_in_order_ that are integers …
  std::size_t first_integer_key_ = 0;       // … from this place on
  ValueId null_value_, default_initial_;
  std::vector<std::pair<KeyId, ValueId>> initial_;  // sorted by key
  std::map<std::string, std::string> metadata_;
};

}  // namespace cupel::history
