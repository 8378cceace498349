// AdmissibilityChecker: which committed writes a read of the open transaction may return.
//
// Holds what of the history decides that: the committed transactions and the open one,
// each with what it read from whom and what it wrote, at a level. The history it holds is
// within the level at any time; try_read() and try_write() keep it so or change nothing.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "mock/transaction_log.hpp"

namespace cupel::mock {

class AdmissibilityChecker {
 public:
  virtual ~AdmissibilityChecker() = default;
  // Opens transaction t, after all before it ended. Numbers may be left out.
  virtual void begin(Txn t, Session session, Level level) = 0;
  // The writers of the key that may be allowed, kInitial among them: all that are, in the
  // order of their commits, and few that are not.
  virtual void candidates(Key key, std::vector<Txn>& found) = 0;
  // The open transaction, which has not written the key, reads what `writer` wrote to it.
  // False if the level does not allow that.
  virtual bool try_read(Key key, Txn writer) = 0;
  // Takes the last try_read() or try_write() that was true back; only once in a row.
  virtual void undo_last() = 0;
  // The open transaction writes the key. False if it contradicts what it has read.
  virtual bool try_write(Key key) = 0;
  // The committed transaction `reader` read the initial version too, of a key that no
  // committed one has written and the open one has not touched: always allowed.
  virtual void saw_absent(Key key, Txn reader) = 0;
  virtual void commit() = 0;
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

// For transactions of read-committed, read-atomic and causal, each at its own of these.
std::unique_ptr<AdmissibilityChecker> weak_admissibility();
// For transactions that are all at this one of the other levels.
std::unique_ptr<AdmissibilityChecker> order_admissibility(Level level);
// For any mixture, after what is in the log; `order` is the last checker's, `numbers` the
// checkers' number of each session of the log.
std::unique_ptr<AdmissibilityChecker> mixed_admissibility(const TransactionLog& log,
                                                          std::span<const Txn> order,
                                                          std::span<const Session> numbers);

inline bool is_weak(Level level) {
  return level <= Level::kCausal;
}

}  // namespace cupel::mock
