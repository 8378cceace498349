// AdmissibilityChecker: which committed writes a read of the open transaction may return.
//
// Holds what of the history decides that: the committed transactions and the open ones,
// each with what it read from whom and what it wrote, at a level. The history it holds is
// within the level at any time; try_read() and try_write() keep it so or change nothing.
//
// Where transactions overlap, one of the open ones is selected, and is "the open transaction"
// below. What it read stays allowed until it ends, unless it also writes: then another's commit
// can end its chance, and try_read(), try_write() and commit() are false from then on.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/mock/transaction_log.hpp"

namespace cupel::mock {

class AdmissibilityChecker {
 public:
  virtual ~AdmissibilityChecker() = default;
  // Opens transaction t, and selects it. Numbers may be left out. All before it have ended, but
  // where the checker lets transactions overlap.
  virtual void begin(Txn t, Session session, Level level) = 0;
  // Of a checker that lets transactions overlap.
  virtual void select(Txn /*open*/) {}
  // The open transaction starts anew: it did nothing so far.
  virtual void begin_again(Txn t, Session session, Level level) {
    abort();
    begin(t, session, level);
  }
  // What it reads from now on is of a new statement, which sees so many commits at most. Gives its
  // number.
  virtual std::uint32_t begin_statement(std::uint32_t /*commits*/) { return 0; }
  virtual void continue_statement(std::uint32_t /*number*/) {}
  // What a read would return where that is no choice.
  virtual std::optional<Txn> only_candidate(Key /*key*/) { return std::nullopt; }
  // The writers of the key that may be allowed, kInitial among them: all that are, in the
  // order of their commits, and few that are not.
  virtual void candidates(Key key, std::vector<Txn>& found) = 0;
  // The version of the key that was committed last.
  virtual Txn latest(Key key) = 0;
  // The open transaction, which has not written the key, reads what `writer` wrote to it.
  // False if the level does not allow that.
  virtual bool try_read(Key key, Txn writer) = 0;
  // Takes the last try_read() or try_write() that was true back; only once in a row.
  virtual void undo_last() = 0;
  // The open transaction writes the key. False if it contradicts what it has read.
  virtual bool try_write(Key key) = 0;
  // The open transaction holds a lock on the key and all below it. False if its level does not let
  // it, since that has changed.
  virtual bool try_lock(Key /*key*/) { return true; }
  // The committed transaction `reader` read the initial version too, of a key that no
  // committed one has written and the open one has not touched: always allowed.
  virtual void saw_absent(Key key, Txn reader) = 0;
  // False if the level does not allow it any more; it is to be aborted then.
  virtual bool commit() = 0;
  virtual void abort() = 0;
  // How much a question may cost that is not settled by what is known already: so many events
  // may be ordered anew. One that would need more counts as not allowed. By default all.
  void set_effort(std::size_t events) { effort_ = events; }
  // The committed transactions in an order that the level accepts as the commit order.
  [[nodiscard]] virtual std::vector<Txn> order() const = 0;

 protected:
  [[nodiscard]] std::size_t effort() const { return effort_; }

 private:
  std::size_t effort_ = std::numeric_limits<std::size_t>::max();
};

// For transactions of read-committed, read-atomic and causal, each at its own of these; they may
// overlap.
std::unique_ptr<AdmissibilityChecker> weak_admissibility();
// For transactions that are all at this one of the other levels.
std::unique_ptr<AdmissibilityChecker> order_admissibility(Level level);
// For any mixture, after what is committed in the log; `order` is the last checker's, `numbers`
// the checkers' number of each session of the log. Transactions may overlap.
std::unique_ptr<AdmissibilityChecker> mixed_admissibility(const TransactionLog& log,
                                                          std::span<const Txn> order,
                                                          std::span<const Session> numbers);

// Product::kGalera: a session stays with the node of its number modulo this.
inline constexpr std::size_t kGaleraNodes = 3;
// For transactions of what a product calls its levels, and of strict-serializable. They may
// overlap.
std::unique_ptr<AdmissibilityChecker> versioned_admissibility(Product product,
                                                              const TransactionLog& log,
                                                              std::uint64_t seed);

inline bool is_weak(Level level) {
  return level <= Level::kCausal;
}

}  // namespace cupel::mock
