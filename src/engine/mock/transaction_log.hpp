// TransactionLog: what happened in a store, transaction by transaction.
//
// Transactions are numbered in the order of their begins. Several may be open; one of them is
// selected, and is "the open transaction" below. Only committed ones are listed as writers of a
// key. No rule of any level is here.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash_table.hpp"
#include "engine/mock/store.hpp"

namespace cupel::mock {

using Txn = std::uint32_t;
using Key = std::uint32_t;
using Session = std::uint32_t;
inline constexpr Txn kInitial = std::numeric_limits<Txn>::max();  // wrote null to every key

class TransactionLog {
 public:
  enum class Status : std::uint8_t { kOpen, kCommitted, kAborted };
  // Small, since a store keeps all of them.
  struct Operation {
    bool is_write : 1 = false;
    bool local : 1 = false;   // a read of the transaction's own write
    bool absent : 1 = false;  // a read of null by a scan that did not list the key
    Key key : 29 = 0;
    std::uint32_t from = kInitial;  // see below

    // Of a read that is not local.
    [[nodiscard]] Txn writer() const { return is_write || local ? kInitial : from; }
    // Of a write, or of the one that is read: which of `values`.
    [[nodiscard]] std::uint32_t written() const { return from; }
  };
  struct Scan {
    std::string prefix;
    char end;
    friend auto operator<=>(const Scan&, const Scan&) = default;
  };
  struct RangeScan {
    std::string low, high;  // without the latter
    std::string ending;     // of the keys that it is about
    friend auto operator<=>(const RangeScan&, const RangeScan&) = default;
  };
  struct Transaction {
    Session session;
    Level level;
    Status status = Status::kOpen;
    std::vector<Operation> operations;
    std::vector<Value> values = {};              // that it wrote, also those that were taken back
    std::vector<std::uint32_t> statements = {};  // their texts, in texts_
    std::vector<Scan> scans = {};
    std::vector<RangeScan> range_scans = {};
    // Of one that committed: its last value of each key, ascending by key; and how many committed
    // before it.
    std::vector<std::pair<Key, std::uint32_t>> last_writes = {};
    std::uint32_t commit_index = 0;
    // Of all begins and ends: which this was. A begin that is the same as an end came before it.
    std::int64_t began = 0, ended = 0;
  };

  Key key(std::string_view name);  // interned
  // What the key holds at first, instead of null.
  void set_initial(Key key, Value value);
  [[nodiscard]] bool has_initial(Key key) const { return initial_.contains(key); }
  [[nodiscard]] std::size_t key_count() const { return writers_.size(); }

  // Selects the new transaction.
  Txn begin(Session session, Level level);
  void select(Txn open);
  [[nodiscard]] Txn selected() const { return selected_; }
  // What the open transaction did. A read takes the value that `writer` wrote last.
  const Value& read(Key key, Txn writer);
  const Value& read_own(Key key);
  // The open transaction saw that nobody had written the key, by a scan.
  void read_absent(Key key);
  void write(Key key, Value value);
  // The open transaction's listing of the keys with this prefix and without `end` after it.
  std::vector<std::string> scan(std::string_view prefix, char end);
  // Of the keys from `low` on, before `high`, with this ending.
  std::vector<std::string> scan_between(std::string_view low, std::string_view high,
                                        std::string_view ending);
  // The open transaction looked at the keys of the range without listing them.
  void look_between(std::string_view low, std::string_view high);
  // The keys of a range that transactions wrote first after so many had committed, and that the
  // open one has not touched.
  [[nodiscard]] std::vector<Key> new_since(std::uint32_t commits, std::string_view low,
                                           std::string_view high) const;
  // The committed transactions that scanned while the open one was open. Of its new keys that they
  // saw absent, note_absent() adds a read of null to them.
  [[nodiscard]] std::vector<Txn> concurrent_scanners() const;
  bool note_absent(Txn scanner, Key key);
  // The committed transactions that scanned and saw that nobody had written the key, of each
  // session the last at each level, as far as they were not returned before. They now have a read
  // of null.
  std::vector<Txn> absent_for(Key key);
  // The open transaction scanned and saw that nobody had written the key, and has done nothing
  // with it since.
  [[nodiscard]] bool saw_absent(Key key) const;
  // The open transaction began before more transactions than these had committed, but after the one
  // before it in its session had ended.
  void began_after(std::uint32_t commits);
  // The open transaction runs a statement with this text; empty: not known.
  void note_statement(std::string_view text);
  // Takes back the writes after the first `operations` operations, and the reads of them.
  void take_back(std::size_t operations);
  void commit();
  void abort();

  [[nodiscard]] Txn count() const { return static_cast<Txn>(transactions_.size()); }
  [[nodiscard]] const Transaction& at(Txn t) const { return transactions_[t]; }
  // The open transaction's last write to the key; null if there is none.
  [[nodiscard]] const Value* own(Key key) const;
  // The keys that the open transaction wrote, ascending.
  [[nodiscard]] std::vector<Key> open_writes() const;
  // The name of the key.
  [[nodiscard]] const std::string& name(Key key) const { return *names_[key]; }
  // All that committed, in that order.
  [[nodiscard]] std::span<const Txn> committed() const { return committed_; }
  // The open transaction read the key, and not by a scan alone.
  [[nodiscard]] bool has_read(Key key) const;
  // The open transaction read another version of the key.
  [[nodiscard]] bool has_read_other(Key key, Txn writer) const;
  // Committed writers of the key, in the order of their commits.
  [[nodiscard]] std::span<const Txn> writers(Key key) const { return writers_[key]; }
  // The last of them when so many transactions had committed; kInitial: none.
  [[nodiscard]] Txn last_writer(Key key, std::uint32_t commits) const;
  // The committed transaction's last value of the key; the initial one for kInitial.
  [[nodiscard]] const Value& value(Txn writer, Key key) const;
  [[nodiscard]] std::vector<std::string> keys_with_prefix(std::string_view prefix) const;

  // With the times of begins and ends, or without.
  [[nodiscard]] base::Result<history::History> history(std::span<const std::string> sessions,
                                                       bool times) const;
  // As Store::statements(), of the labels of history() with the same `times`.
  [[nodiscard]] std::map<std::uint32_t, std::vector<std::string>> statements(bool times) const;
  // As Store::digest().
  [[nodiscard]] Digest digest(std::span<const std::string> sessions, bool in_order) const;
  [[nodiscard]] std::string observed(std::span<const std::string> sessions) const;

 private:
  // Of a transaction that ended, among those of all others: from 1.
  struct Places {
    std::int64_t begin = 0, end = 0;
  };
  [[nodiscard]] std::vector<Places> places() const;
  // With places, the line of its end: each begin and each end is one. Without: its number.
  [[nodiscard]] static std::uint32_t label(Txn t, const std::vector<Places>& places);

  std::map<std::string, Key, std::less<>> keys_;
  std::unordered_map<std::string_view, Key> by_name_;  // the same
  std::vector<const std::string*> names_;
  std::vector<std::vector<Txn>> writers_;
  std::vector<Transaction> transactions_;
  // The keys of a transaction's operations, as far as somebody has asked for them.
  struct Touched {
    base::HashSet<Key> keys;
    std::size_t operations = 0;  // so many are in it
  };
  // Of an open transaction, so that it may be long: its last value of a key.
  struct Open {
    base::HashMap<Key, std::uint32_t> own;
    mutable Touched touched;
  };
  std::map<Txn, Open> open_;
  Txn selected_ = kInitial;
  Open* now_ = nullptr;  // of the selected one; null: none
  base::HashMap<std::string, std::uint32_t> text_ids_;
  std::vector<std::string> texts_;
  std::int64_t clock_ = 0;
  std::unordered_map<Session, std::int64_t> session_ended_;
  std::vector<Txn> committed_;
  mutable base::HashMap<Txn, Touched> touched_by_;  // of those that scanned
  void note(const Operation& operation);
  [[nodiscard]] const Value& value_of(Txn t, const Operation& operation) const;
  mutable std::size_t last_value_ = 0;  // where value() found the last, among its writer's
  std::map<Key, Value> initial_;        // where it is not null
  // Somebody committed a write of it, or the open transaction wrote it, or it held something.
  [[nodiscard]] bool is_there(Key key) const;
  // One of its scans covers the key.
  static bool scanned(const Transaction& txn, std::string_view name);
  static void add_range(Transaction& txn, RangeScan made);
  // Of the open transaction, or of one that scanned and committed.
  [[nodiscard]] bool touches(Txn t, Key key) const;
  // Whose scans stand for one another, the last for those before it: a weaker level would let
  // its own miss what a stronger one's may not.
  using Scanner = std::pair<Session, Level>;
  std::map<std::string, std::map<char, std::map<Scanner, Txn>>, std::less<>> scans_;  // the last
  // By scanner and ending: who scanned last from a key on, up to the next one here; or nobody.
  using Covered = std::map<std::string, Txn, std::less<>>;
  std::map<Scanner, std::map<std::string, Covered>> range_scans_;
  std::uint32_t scanned_ = 0;                // commits up to the last with scans
  std::vector<std::uint32_t> absent_until_;  // by key: up to which scanned_ absent_for() answered
  void end(Status status);
};

}  // namespace cupel::mock
