// Words: transactions, operations and values as phrases.
//
// It remembers what it has been asked about, so that the transactions a text
// mentions can be listed with just the operations it mentions.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "history/history.hpp"

namespace cupel::explain {

using history::History;
using history::KeyId;
using history::OpId;
using history::TxnId;
using history::ValueId;

class Words {
 public:
  // `involved`: every transaction that may be mentioned. Where two of them share
  // a label, their names say session and position too: "T5@2#3".
  Words(const History& history, std::span<const TxnId> involved);

  // "T5"; "the initial state" for none().
  std::string txn(TxnId txn);
  // "T5 (session 2, its 3rd transaction)".
  std::string txn_in_full(TxnId txn);
  // "session 2, its 3rd transaction".
  [[nodiscard]] std::string place(TxnId txn) const;
  [[nodiscard]] std::string key(KeyId key) const;        // "x", "key 5"
  [[nodiscard]] std::string list_name(KeyId key) const;  // "x", "5"
  [[nodiscard]] std::string value(ValueId value) const;  // 3, "abc", null
  // What `read` saw of `key`, as a value: 3, [1 2], "nothing" in a range.
  [[nodiscard]] std::string seen(OpId read, KeyId key) const;

  // What `op` saw of `key`: "read x = 3", "read x = [1 2 3]", "read the range
  // 1 to 9 and saw x = 3". `focus`: elements of a list that the text is about.
  std::string read_clause(OpId op, KeyId key, std::span<const ValueId> focus = {});
  // "wrote x = 5", "appended 5 to x", "deleted x".
  std::string write_clause(OpId op);
  // The version a write made: "x = 5", "5 in the list x"; initial for none().
  std::string version(OpId write, KeyId key);

  // The first operation of txn that reads key, its last that writes key, or none().
  [[nodiscard]] OpId find_read(TxnId txn, KeyId key) const;
  [[nodiscard]] OpId find_write(TxnId txn, KeyId key) const;
  // Does the operation read (write) the key from (for) other transactions to see?
  [[nodiscard]] bool reads(OpId op, KeyId key) const;
  [[nodiscard]] bool writes(OpId op, KeyId key) const;
  // The value written: also the element appended, the tombstone, the value set.
  [[nodiscard]] ValueId written(OpId op) const;

  // The transactions mentioned so far, in order of first mention, and a line for
  // each: "T5  session 2, its 3rd transaction: read x = 3, write y = 1".
  [[nodiscard]] const std::vector<TxnId>& mentioned() const { return mentioned_; }
  [[nodiscard]] std::string line(TxnId txn, std::size_t name_width) const;
  [[nodiscard]] std::string name(TxnId txn) const;  // as txn(), without remembering it

 private:
  void mention(OpId op, std::span<const ValueId> focus = {});
  [[nodiscard]] std::string list(std::span<const ValueId> elements,
                                 std::span<const ValueId> focus) const;
  [[nodiscard]] std::string brief(OpId op) const;
  [[nodiscard]] std::string bound(ValueId value) const;

  const History& history_;
  std::set<std::uint32_t> shared_labels_;
  std::vector<TxnId> mentioned_;
  std::set<TxnId> mentioned_set_;
  std::map<OpId, std::vector<ValueId>> operations_;  // mentioned, with their focus
};

// "T1", "T1 and T2", "T1, T2 and T3".
std::string enumerate(std::span<const std::string> items);
// "350 ns", "1.5 ms", "2 s".
std::string duration(std::int64_t nanoseconds);

}  // namespace cupel::explain
