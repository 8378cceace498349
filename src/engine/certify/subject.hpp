// Subject: the history that a certificate speaks of, and what its operations read
// and write (operations.hpp). The certificate's numbers are the reader's ids. It says
// docs/reference/levels.md once more:
//   - a transaction's final write to a key is the last one, failed compare-and-sets
//     are none; of an aborted transaction nothing counts;
//   - a read after an own write of the key sees that write, other reads are external;
//   - of an indeterminate transaction only compare-and-sets that succeeded are known
//     to have read, and these only if it took effect.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/history/history.hpp"
#include "engine/certify/document.hpp"
#include "engine/certify/operations.hpp"

namespace cupel::certify {

// What is wrong, if anything: found, expected, where.
using Rejection = std::optional<std::string>;

struct FinalWrite {
  KeyId key;
  OpId op;
};
// Any write or append, of any transaction, aborted ones included.
struct Written {
  ValueId value;
  TxnId txn;
  OpId op;
  bool final;  // its transaction's last to the key
};

class Subject {
 public:
  explicit Subject(const History& history);

  [[nodiscard]] const History& history() const { return h_; }

  // Whose operation it is. Logarithmic.
  [[nodiscard]] TxnId txn_of(OpId op) const;
  // The one key of a transaction that touches one; none() if it does nothing.
  [[nodiscard]] KeyId only_key(TxnId t) const {
    return h_.first_op(t) == h_.last_op(t) ? KeyId::none() : h_.op(OpId(h_.first_op(t))).key;
  }

  [[nodiscard]] bool aborted(TxnId t) const { return h_.status(t) == history::TxnStatus::kAborted; }
  [[nodiscard]] bool committed(TxnId t) const {
    return h_.status(t) == history::TxnStatus::kCommitted;
  }

  [[nodiscard]] Version initial(KeyId key) const { return {initial_[key.index()], false}; }
  // As operations.hpp has it.
  [[nodiscard]] bool writes(const history::Operation& op) const { return certify::writes(h_, op); }
  [[nodiscard]] Version version(OpId op) const { return certify::version(h_, op); }

  // i completed before j was invoked, the clocks as wrong as `drift` each way.
  [[nodiscard]] bool before_in_real_time(TxnId i, TxnId j, history::Time drift) const;

  template <typename Visit>
  void for_each_seen(TxnId txn, OpId id, const Visit& visit) const {
    certify::for_each_seen(h_, txn, id, visit);
  }

  // --- the index of writes, made when first asked for ---

  void index_writes();
  // By key.
  [[nodiscard]] std::span<const FinalWrite> final_writes(TxnId t) const;
  // none() if it does not write the key.
  [[nodiscard]] OpId final_write(TxnId t, KeyId key) const;
  [[nodiscard]] bool writes_key(TxnId t, KeyId key) const { return final_write(t, key).valid(); }
  // By value, then transaction, then operation.
  [[nodiscard]] std::span<const Written> written(KeyId key) const;
  [[nodiscard]] std::span<const Written> written(KeyId key, ValueId value) const;
  // The longest list that a committed transaction read of the key, of which all others are
  // prefixes if nothing is wrong.
  [[nodiscard]] std::span<const ValueId> longest_list(KeyId key);

 private:
  const History& h_;
  std::vector<std::pair<std::uint32_t, TxnId>> starts_;  // first operations, ascending
  std::vector<ValueId> initial_;
  bool indexed_ = false;
  std::vector<std::uint32_t> final_first_;
  std::vector<FinalWrite> finals_;
  std::vector<std::uint32_t> written_first_;
  std::vector<Written> written_;
  bool lists_known_ = false;
  std::vector<std::span<const ValueId>> longest_;
};

// Walks a transaction's operations and knows its own writes so far. One is used for
// many transactions: it never has to be cleared.
class OwnWrites {
 public:
  explicit OwnWrites(std::size_t keys) : txn_(keys), op_(keys) {}
  // The last one to the key before now; none().
  [[nodiscard]] OpId of(TxnId t, KeyId key) const {
    return txn_[key.index()] == t ? op_[key.index()] : OpId::none();
  }
  void note(TxnId t, KeyId key, OpId op) {
    txn_[key.index()] = t;
    op_[key.index()] = op;
  }

 private:
  std::vector<TxnId> txn_;
  std::vector<OpId> op_;
};

// Does a read after own writes see them? `last`: the last of them before `read`. Of a list
// this is only about its end: what precedes the own appends is the order's business.
bool sees_own(const Subject& subject, TxnId txn, OpId read, KeyId key, const Seen& seen, OpId last);
// How many appends to the key stand in the transaction before `read`.
std::size_t own_appends_before(const History& history, TxnId txn, OpId read, KeyId key);

// external(op, key, seen) for reads of others' versions; own(op, key, seen, last write)
// for reads after own writes. Both in program order, and both return a Rejection.
template <typename External, typename Own>
Rejection walk_reads(const Subject& subject, TxnId txn, OwnWrites& own_writes,
                     const External& external, const Own& own) {
  const History& h = subject.history();
  Rejection rejection;
  for (auto i = h.first_op(txn); i < h.last_op(txn); ++i) {
    const OpId id(i);
    subject.for_each_seen(txn, id, [&](KeyId key, const Seen& seen) {
      if (rejection) return;
      const OpId last = own_writes.of(txn, key);
      rejection = last.valid() ? own(id, key, seen, last) : external(id, key, seen);
    });
    if (rejection) return rejection;
    const auto op = h.op(id);
    if (subject.writes(op)) own_writes.note(txn, op.key, id);
  }
  return std::nullopt;
}

// For messages: "T5 (session a, its 3rd transaction)", by the certificate's number too.
std::string shown(const Subject& subject, TxnId txn);
std::string shown_key(const Subject& subject, KeyId key);
// "1 object", "1,000,000 objects".
std::string counted(std::size_t number, std::string_view one, std::string_view many);

}  // namespace cupel::certify
