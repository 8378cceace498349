// Context: what is taken for true where a violation is shown.
//
// Every committed transaction counts, and every indeterminate one that is not
// assumed to be aborted: an execution in which nobody read from one can
// be continued by it, at the very end, where it forbids nothing. So what is shown
// with all of them is shown for every execution. Of those assumed to be committed
// the successful compare-and-sets are reads too.
//
// Lists: which append stands at a place of a key's longest list is known if only one
// append of that element counts, or if the placing says so.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/hash_table.hpp"
#include "engine/certify/document.hpp"
#include "engine/certify/subject.hpp"

namespace cupel::certify {

enum class AssumedOutcome : std::uint8_t { kOpen, kCommitted, kAborted };

// Who may have written what a read saw. none() is the initial transaction.
struct Candidates {
  std::span<const TxnId> all;  // sorted; with the reader itself, perhaps
  TxnId reader;

  [[nodiscard]] bool contains(TxnId w) const {
    return w != reader && std::binary_search(all.begin(), all.end(), w);
  }
  [[nodiscard]] std::size_t size() const {
    return all.size() - (std::binary_search(all.begin(), all.end(), reader) ? 1 : 0);
  }
  [[nodiscard]] bool only(TxnId w) const { return size() == 1 && contains(w); }
};

// A read before a write of its own.
struct External {
  OpId op;
  Seen seen;
};

class Context {
 public:
  Context(Subject& subject, const Shape& shape, history::Time drift)
      : subject_(subject), shape_(shape), drift_(drift) {
    subject.index_writes();
  }

  [[nodiscard]] Subject& subject() const { return subject_; }
  [[nodiscard]] const History& history() const { return subject_.history(); }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] history::Time drift() const { return drift_; }

  [[nodiscard]] AssumedOutcome assumed(TxnId t) const {
    const auto it = assumed_.find(t);
    return it == assumed_.end() ? AssumedOutcome::kOpen : it->second;
  }
  [[nodiscard]] bool counts(TxnId t) const {
    return !subject_.aborted(t) && assumed(t) != AssumedOutcome::kAborted;
  }
  // Is it known what it read?
  [[nodiscard]] bool reads_known(TxnId t) const {
    return subject_.committed(t) || assumed(t) == AssumedOutcome::kCommitted;
  }

  // Both forget what was found out under the old assumptions.
  void assume(TxnId t, AssumedOutcome outcome);
  void place(KeyId key, std::uint32_t position, OpId append);
  void unplace(KeyId key, std::uint32_t position);

  // What the placing says of a place; none().
  [[nodiscard]] OpId placed(KeyId key, std::size_t position) const;
  // Where it says that an append stands, in its key's list.
  [[nodiscard]] std::optional<std::uint32_t> place_of(OpId append) const;
  // The append at a place of the list that holds `element`; none() if it is not known.
  [[nodiscard]] OpId append_at(KeyId key, std::size_t position, ValueId element) const;

  // The known reads of the key by t before its own write, in program order.
  [[nodiscard]] std::vector<External> external_reads(TxnId t, KeyId key) const;

  // Who may have written what `read` saw of the key: at read-committed by this read alone
  // (the first row of the key in a range read: the others order nothing), else by all
  // external reads of the key in the transaction, of which it must be the first.
  struct Asked {
    Rejection rejection;
    TxnId reader = TxnId::none();
    Candidates candidates = {};
  };
  Asked candidates(OpId read, KeyId key);
  // By one read alone, whatever the level; none of it cached.
  [[nodiscard]] std::vector<TxnId> candidates_alone(TxnId t, KeyId key, const Seen& seen) const;

 private:
  std::vector<TxnId> fitting(KeyId key, const Seen& seen) const;
  std::span<const TxnId> shared(KeyId key, const Seen& seen);
  void forget();

  Subject& subject_;
  const Shape shape_;
  const history::Time drift_;
  base::HashMap<TxnId, AssumedOutcome> assumed_;
  base::HashMap<std::pair<std::uint32_t, std::uint32_t>, OpId> places_;  // by key and position
  base::HashMap<OpId, std::uint32_t> place_of_;
  std::deque<std::vector<TxnId>> kept_;
  base::HashMap<std::array<std::uint32_t, 3>, std::span<const TxnId>> shared_;  // by what is asked
  base::HashMap<std::pair<std::uint32_t, std::uint32_t>, Candidates> by_read_;
};

}  // namespace cupel::certify
