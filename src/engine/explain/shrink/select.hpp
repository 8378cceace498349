// select: a part of a history as a history of its own, such that a violation of
// the part is a violation of the whole.
//
// A part keeps some transactions and some of their operations. Leaving out must
// never make a violation: a read without its writer would look like thin air. So
//   a read is kept only with every operation that may have written what it saw, of
//     whatever transaction and status, else it is left out;
//   a compare-and-set whose read cannot be kept stands as a plain write;
//   an element of a list whose append is left out is cut from every read of the
//     list, as if it had never been appended (what is left of a valid order is
//     valid, because a list without an element is the list of the other appends);
//     but a read that its own transaction's appends must end goes with the last of them;
//   a key that only range reads are left of is cut from these in the same way; else a
//     range read counts as a read of each key in its range, absent ones included.
// Times, labels, session names, initial values and metadata stay as they were, and
// so does what History::place() says.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/hash_table.hpp"
#include "data/history/history.hpp"

namespace cupel::shrink {

using history::History;
using history::KeyId;
using history::OpId;
using history::TxnId;
using history::ValueId;

struct Part {
  History history;
  // By transaction and by operation of `history`: which it was in the whole.
  std::vector<TxnId> original_txn;
  std::vector<OpId> original_op;
};

struct OperationRef {
  TxnId txn;
  OpId op;  // none(): the transaction as such, for its place in session order or real time
};

// The operations that parts are made of, and what each of them needs.
class Material {
 public:
  // What is mentioned, and every operation that may have written what it reads.
  // `whole_lists`: also the appends of every element that a list read saw; else only
  // of elements whose append is mentioned, and the others are always cut. One pass
  // over the history's operations.
  Material(const History& history, std::span<const OperationRef> references, bool whole_lists);

  enum class State : std::uint8_t {
    kOut,
    kIn,
    kWriteOnly,  // a compare-and-set without its read
  };
  struct Kept {
    std::vector<std::uint8_t> txns;  // 0 or 1, by number in this material
    std::vector<State> ops;

    friend bool operator==(const Kept&, const Kept&) = default;
  };

  [[nodiscard]] std::size_t txn_count() const { return txns_.size(); }
  [[nodiscard]] std::size_t op_count() const { return ops_.size(); }
  [[nodiscard]] TxnId txn(std::uint32_t number) const { return txns_[number]; }
  [[nodiscard]] OpId op(std::uint32_t number) const { return ops_[number].id; }
  [[nodiscard]] std::uint32_t txn_of(std::uint32_t op) const { return ops_[op].txn; }

  // Everything, settled.
  [[nodiscard]] Kept all() const;
  // Only what is mentioned, of the operations in here, with what that needs; settled.
  [[nodiscard]] Kept only(std::span<const OperationRef> references) const;
  // Leaves out what may not be kept without what is out.
  void settle(Kept& kept) const;
  // Of a settled choice.
  [[nodiscard]] Part part(const Kept& kept) const;

 private:
  // Operations that are kept together or not at all, as far as a read is concerned:
  // whatever may have written what it saw.
  using Group = std::uint32_t;
  static constexpr Group kUnknown = 0xffffffff;  // its writers were never looked for
  struct RangeKey {
    KeyId key;
    Group writers;
    bool thin_air;  // returned, though nobody wrote it and it is no initial value
  };
  struct LocalOp {
    OpId id;
    std::uint32_t txn;
    std::vector<Group> needs;
    std::vector<RangeKey> range;  // range reads: every key in the range that matters
    // List reads: what its transaction had appended before. Not one of them out: it
    // would be a read of what others appended.
    std::vector<std::uint32_t> own_appends;
  };
  enum class Written : std::uint8_t { kValue, kAbsence, kOther };
  struct Wanted {
    Written written;
    KeyId key;
    ValueId value;  // kValue: this one; kOther: any but this

    friend bool operator==(const Wanted&, const Wanted&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const Wanted& w) {
      return H::combine(std::move(state), static_cast<int>(w.written), w.key.raw, w.value.raw);
    }
  };

  Group want(Written written, KeyId key, ValueId value);
  [[nodiscard]] Group group_of(Written written, KeyId key, ValueId value) const;
  void want_all_of(OpId op, bool whole_lists);
  [[nodiscard]] std::vector<OpId> own_appends_before(TxnId txn, OpId read) const;
  void find_writers(std::vector<OperationRef>& found);
  void number(std::vector<OperationRef> references);
  void note_needs();
  [[nodiscard]] bool complete(const Kept& kept, Group group) const;
  // Some list read that is kept saw the element in the whole history.
  [[nodiscard]] bool element_seen(const Kept& kept, Group group) const;
  [[nodiscard]] bool element_kept(const Kept& kept, KeyId key, ValueId element) const;
  [[nodiscard]] std::vector<std::uint8_t> live_keys(const Kept& kept) const;
  [[nodiscard]] bool satisfied(const Kept& kept, const LocalOp& op,
                               const std::vector<std::uint8_t>& live) const;

  const History& history_;
  std::vector<TxnId> txns_;
  std::vector<LocalOp> ops_;  // by transaction, in program order
  base::HashMap<OpId, std::uint32_t> number_of_op_;
  base::HashMap<TxnId, std::uint32_t> number_of_txn_;
  base::HashMap<Wanted, Group> groups_;
  std::vector<std::vector<OperationRef>> writers_;        // by group
  std::vector<std::vector<std::uint32_t>> writer_ops_;    // the same, as numbers
  std::vector<std::vector<std::uint32_t>> list_readers_;  // by group of a value: list reads of it
  base::HashMap<KeyId, std::uint32_t> number_of_key_;
  std::vector<std::vector<Group>> special_of_key_;  // absence and other, by key
};

}  // namespace cupel::shrink
