// Words: transactions, operations and values as phrases.
//
// It remembers what it has been asked about, so that the transactions a text
// mentions can be listed with just the operations it references.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "data/history/history.hpp"
#include "engine/explain/why/explain.hpp"

namespace cupel::explain {

using history::ValueId;

class Words {
 public:
  // `involved`: every transaction that may be mentioned. Where two of them share
  // a label, their names say session and position too: "T5@2#3". What
  // `context` points to is borrowed.
  Words(const History& history, std::span<const TxnId> involved, const Context& context = {});

  // "T5"; "the initial state" for none().
  std::string txn(TxnId txn);
  // "session 2, its 3rd transaction", in the whole history.
  [[nodiscard]] std::string place(TxnId txn) const;
  [[nodiscard]] std::string key(KeyId key) const;        // "x", "key 5"
  [[nodiscard]] std::string list_name(KeyId key) const;  // "x", "5"
  [[nodiscard]] std::string value(ValueId value) const;  // 3, "abc", null
  // What `read` saw of `key`, as a value: 3, [1 2], "nothing" in a range; in a range
  // that returned it several times, the first.
  [[nodiscard]] std::string seen(OpId read, KeyId key) const;

  // What `op` saw of `key`: "read x = 3", "read x = [1 2 3]", "read the range
  // 1 to 9 and saw x = 3". `focus`: elements of a list, or of a key that a range returned
  // several times, that the text is about.
  std::string read_clause(OpId op, KeyId key, std::span<const ValueId> focus = {});
  // "wrote x = 5", "appended 5 to x", "deleted x".
  std::string write_clause(OpId op);
  // The same as a thing, for "T5's ...": "write of 5 to x", "append of 5 to x".
  std::string write_noun(OpId op);
  // What `op` got for `key`: "read 3", "read [1 2 3]", "found no x from a to z".
  std::string answer(OpId op, KeyId key, std::span<const ValueId> focus = {});
  // The version that `txn` made of `key`, by `write` or its last write: "T5's 3",
  // "T5's delete", "the initial null".
  std::string versions_owner(TxnId txn, OpId write, KeyId key);
  // The version a write made: "x = 5", "5 in the list x"; initial for none().
  std::string version(OpId write, KeyId key);

  // The history is of a mutex, which formats read as a compare-and-set register: operations are
  // acquires and releases, and its values are free and held.
  [[nodiscard]] bool of_mutex() const { return of_mutex_; }
  // "both wrote x"; of a mutex: "both changed the mutex".
  [[nodiscard]] std::string both_wrote(KeyId key) const;

  // The first operation of txn that reads key, its last that writes key, or none().
  [[nodiscard]] OpId find_read(TxnId txn, KeyId key) const;
  [[nodiscard]] OpId find_write(TxnId txn, KeyId key) const;
  // Does the operation read (write) the key from (for) other transactions to see?
  [[nodiscard]] bool reads(OpId op, KeyId key) const;
  [[nodiscard]] bool writes(OpId op, KeyId key) const;
  // The values that a range read returned for the key, each once.
  [[nodiscard]] std::vector<ValueId> row_values(const history::RangeRead& range, KeyId key) const;
  // The value written: also the element appended, the tombstone, the value set.
  [[nodiscard]] ValueId written(OpId op) const;

  // The transactions mentioned so far, in order of first mention.
  [[nodiscard]] const std::vector<TxnId>& referenced() const { return referenced_; }
  // Of those a line each, or two if the lines were too long, with the operations
  // mentioned and what is known about the transaction:
  // "T5 = read x = 3, write y = 1    session 2, 3rd transaction".
  // At most `most` of them; every line begins with a newline and `indent` blanks.
  [[nodiscard]] std::string listing(std::size_t most, std::size_t indent) const;
  [[nodiscard]] std::string name(TxnId txn) const;  // as txn(), without remembering it
  // "read x = 3, write y = 1"; "read x = 3, +7 more" where some are left out.
  // `glue` stands for the blanks inside an operation.
  [[nodiscard]] std::string operations(TxnId txn, char glue = ' ') const;
  // "session 2, 3rd transaction, aborted, 1.200 to 1.900 ms, node = "n3"".
  [[nodiscard]] std::string details(TxnId txn) const;
  // Its SQL, a line each; after `most` a line says how many more there are.
  [[nodiscard]] std::vector<std::string> statements(TxnId txn, std::size_t most) const;

 private:
  void reference(OpId op, std::span<const ValueId> focus = {});
  [[nodiscard]] std::string list(std::span<const ValueId> elements,
                                 std::span<const ValueId> focus) const;
  [[nodiscard]] std::string brief(OpId op) const;
  [[nodiscard]] std::string bound(ValueId value) const;
  // What a range read returned for the key: "no x", "x = 3", "x = 3 and 4".
  [[nodiscard]] std::string rows(const history::RangeRead& range, KeyId key,
                                 std::span<const ValueId> focus) const;

  [[nodiscard]] std::string times(TxnId txn) const;
  [[nodiscard]] bool acquires(OpId op) const;  // of a mutex

  const History& history_;
  const Context context_;
  const bool of_mutex_;
  std::set<std::uint32_t> shared_labels_;
  std::vector<TxnId> referenced_;
  std::set<TxnId> referenced_set_;
  std::map<OpId, std::vector<ValueId>> operations_;  // mentioned, with their focus
};

// "T1", "T1 and T2", "T1, T2 and T3".
std::string enumerate(std::span<const std::string> items);
// "350 ns", "1.5 ms", "2 s".
std::string duration(std::int64_t nanoseconds);
// A moment of a client's clock, to the nanosecond: "350 ns", "12.503441 ms",
// "3.200 s"; with a date where it counts from 1970. The unit fits `scale`, if that is larger.
std::string moment(history::Time time, history::Time scale = 0);

}  // namespace cupel::explain
