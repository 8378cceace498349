// Accesses: what matters between transactions, and what is wrong inside them.
//
// From a history to the vocabulary of levels.md: which transactions count, what
// each finally writes (T ⊢ W), what each reads from others (T ⊢ R) with every
// transaction it may have read from, the version orders that list reads fix,
// and all internal anomalies.
//
// Who counts: committed transactions, and indeterminate ones that a committed
// transaction may have read from or that appended to a list somebody read (an
// unread one can be placed last without harm, so counting too many of these
// changes no verdict).
//
// A range read may return a key several times. The first row is the read. The other
// rows with other values order nothing: they are looked into for internal anomalies.
//
// Cost: linear in operations, but for sorting each key's writes by value. A failed
// compare-and-set, and a key absent from a range, have as many candidates as the
// key has fitting versions; reads that ask the same of a key share one list.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/budget.hpp"
#include "data/history/history.hpp"
#include "engine/levels/derivation.hpp"

namespace cupel::levels {

using history::History;
using Owner = std::uint32_t;  // a counting transaction, dense, in TxnId order
inline constexpr Owner kInitialOwner = std::numeric_limits<Owner>::max();

struct ExternalRead {
  Owner owner;
  KeyId key;
  OpId op;
  std::uint32_t first_candidate, last_candidate;  // into Accesses::candidates
  // A later read of a key already read: counts on its own at read-committed,
  // where each read may see another version; elsewhere the first read stands
  // for all, and its candidates are `joint_*`, the ones they have in common.
  bool repeated = false;
  std::uint32_t joint_first, joint_last;
};

// Fixed by a list read: `from`'s version of `key` is directly or indirectly
// before `to`'s.
struct ListOrder {
  Owner from, to;
  KeyId key;
  OpId witness;
};

struct FinalWrite {
  KeyId key;
  OpId op;
};

// A range read returned a key again, with another value that only indeterminate
// transactions wrote: one of these candidates took effect, whatever the reads are from.
struct FurtherRow {
  std::uint32_t first_candidate, last_candidate;  // into Accesses::candidates
};

struct Accesses {
  std::vector<TxnId> txns;                 // by owner
  std::vector<Owner> owner_of;             // by txn; kInitialOwner if it does not count
  std::vector<std::uint32_t> write_first;  // owner o's final writes: [write_first[o], [o+1])
  std::vector<FinalWrite> writes;          // by key within an owner
  std::vector<std::uint32_t> read_first;
  std::vector<ExternalRead> reads;  // by owner, in program order
  std::vector<Owner> candidates;
  std::vector<FurtherRow> further_rows;
  std::vector<ListOrder> list_order;
  std::vector<InternalAnomaly> internal;
  bool labels_mix_sessions = false;  // hints.hpp; false if all transactions have times
  bool complete = true;
};

// Where one key's list holds an element that was appended more than once, which
// append stands at which place is a choice; a history passes if some choice
// does. Nearly no history has such places. A place may also be left open: what
// is then forbidden is forbidden whatever stands there.
class ListChoices {
 public:
  // Every place has its append, in the order in which they probably took effect.
  explicit ListChoices(const History& history);

  struct Append {
    OpId op;
    TxnId txn;
  };
  // Is there more than one choice? False also where none is possible.
  [[nodiscard]] bool any() const { return !positions_.empty(); }
  // Some element has more places than appends: a violation whatever the choices, so there are none.
  [[nodiscard]] bool none_possible() const { return none_possible_; }
  // The append at place `position` of key's longest list; none() if it is open or no choice.
  [[nodiscard]] Append at(KeyId key, std::size_t position) const;
  [[nodiscard]] bool is_open(KeyId key, std::size_t position) const;
  // All that this choice says.
  [[nodiscard]] std::vector<Placing> placings() const;

  void open_all();
  [[nodiscard]] bool has_open() const;
  // Each open place gets the first append of its element that stands nowhere.
  void fill();

  // Places have numbers, in the order of keys and positions.
  using Place = std::size_t;
  // The first open place of an element that has to do with one of `appends`: it stands at an open
  // place in `filled`, or nowhere. Else the first open place, of which there is one. `appends` are
  // sorted, and may be other operations, too.
  [[nodiscard]] Place next_open(const ListChoices& filled, std::span<const OpId> appends) const;
  // How many appends there are of the element of a place; they have numbers, in that order.
  [[nodiscard]] std::size_t append_count(Place place) const {
    return appends(positions_[place]).size();
  }
  // False if the append stands elsewhere; then nothing changes.
  bool put(Place place, std::size_t append);
  void open(Place place);
  [[nodiscard]] bool says(Place place, std::size_t append) const {
    return positions_[place].chosen == append;
  }
  [[nodiscard]] Placing placing(Place place) const;

 private:
  static constexpr std::size_t kOpen = std::numeric_limits<std::size_t>::max();
  struct ChosenPosition {
    KeyId key;
    std::uint32_t position;
    std::uint32_t element;  // into appends_
    std::size_t chosen;     // of its appends, or kOpen
  };
  [[nodiscard]] const std::vector<Append>& appends(const ChosenPosition& position) const {
    return appends_[position.element];
  }
  [[nodiscard]] const ChosenPosition* find(KeyId key, std::size_t position) const;

  // By element that was appended more than once: its appends, in the order in which they probably
  // took effect, so that the first choice is a good guess.
  std::vector<std::vector<Append>> appends_;
  std::vector<std::vector<bool>> stands_;  // at some place; by element and its appends
  std::vector<ChosenPosition> positions_;  // sorted by key, position; only where there is a choice
  bool none_possible_ = false;
};

// What is assumed of an indeterminate transaction with compare-and-sets. One
// that took effect did see its expected values, so for these the rule "only its
// writes count" is not exact, and decide() tries both.
enum class AssumedOutcome : std::uint8_t { kOpen, kCommitted, kAborted };

// `outcomes` by transaction; empty: all open. Stops early, with `complete` false, when the budget
// ends. `threads` as base::for_each_index() takes it.
Accesses collect_accesses(const History& history, const ListChoices& choices,
                          std::span<const AssumedOutcome> outcomes, base::Budget& budget,
                          unsigned threads = 1);

}  // namespace cupel::levels
