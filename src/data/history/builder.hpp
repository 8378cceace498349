// HistoryBuilder: the one way to make a History. It interns, groups by session
// and validates; a reader adds whole transactions in any interleaving of
// sessions, in session order within each.
//
//   HistoryBuilder b;
//   auto s = b.session("0");
//   auto x = b.key(ScalarView::of("x"));
//   b.begin(s, TxnStatus::kCommitted, {.label = 0});
//   b.write(x, b.value(ScalarView::of(1)));
//   b.end();
//   Result<History> h = std::move(b).finish();
#pragma once

#include <span>
#include <string_view>

#include "base/result.hpp"
#include "data/history/history.hpp"

namespace cupel::history {

class HistoryBuilder {
 public:
  // Numbers of operations, keys and so on have 32 bits, one of which means none.
  static constexpr std::size_t kMostOfEach = 0xfffffffe;

  // `most_of_each` is for tests: a history with more of anything is an error.
  explicit HistoryBuilder(std::size_t most_of_each = kMostOfEach);
  ~HistoryBuilder();
  HistoryBuilder(HistoryBuilder&&) noexcept;
  HistoryBuilder& operator=(HistoryBuilder&&) noexcept;

  // Interning. Sessions are numbered in order of first use.
  SessionId session(std::string_view name);
  // Keys and values are apart: one thread may ask for keys while another asks for values.
  KeyId key(ScalarView scalar);
  ValueId value(ScalarView scalar);
  KeyId key(std::int64_t integer);
  ValueId value(std::int64_t integer);
  ValueId null_value() const;
  // Soon to be asked for. Large histories wait mostly for memory.
  void prefetch_key(std::int64_t integer) const;
  void prefetch_value(std::int64_t integer) const;

  struct TxnFacts {
    Time invoke = kNoTime;
    Time complete = kNoTime;
    // The number by which messages call the transaction, T7: the file's own number, or else its
    // place in the file. Labels may repeat.
    std::uint32_t label = 0;
    // In a part of another history: which transaction of its session it was there,
    // from 1. 0: as it stands here.
    std::uint32_t place = 0;
  };
  // One transaction is open at a time: begin, operations, end (or cancel,
  // which forgets it).
  void begin(SessionId session, TxnStatus status, TxnFacts facts);
  void begin(SessionId session, TxnStatus status) { begin(session, status, TxnFacts{}); }
  void read(KeyId key, ValueId value);  // value none(): not known
  void write(KeyId key, ValueId value);
  void append(KeyId key, ValueId element);
  void list_read(KeyId key, std::span<const ValueId> elements);
  void list_read_unknown(KeyId key);
  void range_read(ValueId low, ValueId high, std::span<const RangeEntry> entries);
  void insert(KeyId key, ValueId value);
  void erase(KeyId key, ValueId tombstone);  // none(): the null value
  void compare_and_set(KeyId key, ValueId expected, ValueId desired, bool succeeded);
  // Copies operation `op` of another history (keys and values re-interned).
  void copy(const History& from, OpId op);
  void end();
  void cancel();

  // For every key; null if never said. `unless_written`: only for keys to which
  // no transaction that may have happened writes this value (text formats: 0 is
  // the initial value where nobody writes 0); the others start absent (null).
  void set_default_initial(ValueId value, bool unless_written = false);
  void set_initial(KeyId key, ValueId value);  // for one key
  void set_metadata(std::string_view name, std::string_view text);
  // A finished history with this fact added or replaced.
  static History with_metadata(History history, std::string_view name, std::string_view text);
  // A finished history with another initial value: of every key, or of one register.
  static History with_initial_of_all(History history, ScalarView value);
  static History with_initial(History history, KeyId key, ScalarView value);

  // Errors (no line: the caller knows none either): a key that is used both as
  // a list and as a register; a transaction that completes before it is invoked; more
  // than 2^32-2 operations, transactions, sessions, keys, values, elements of list reads or rows of
  // range reads, or 2^30-1 operations in one transaction. Sorted numbering: TxnIds are session by
  // session. The builder is spent.
  [[nodiscard]] base::Result<History> finish() &&;

  [[nodiscard]] std::size_t txn_count() const { return h_.first_op_.size(); }
  [[nodiscard]] std::size_t op_count() const { return h_.kind_.size(); }

 private:
  void add(OpKind kind, KeyId key, std::uint32_t value);
  void note_key_use(KeyId key, bool as_list);
  void withdraw_written_initials();
  void put_keys_in_order();
  void check_sizes();

  struct SessionIndex;
  History h_;
  std::unique_ptr<SessionIndex> session_index_;
  std::vector<std::uint8_t> key_use_;  // bit 0: register, bit 1: list
  bool any_times_ = false;
  bool open_ = false;
  bool initial_unless_written_ = false;
  std::size_t most_of_each_;
  std::string error_;
};

}  // namespace cupel::history
