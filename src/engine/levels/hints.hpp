// hints: where transactions should stand in an order, as a first guess.
//
// By the clients' clocks, if all transactions have times. Else by their labels, if these number
// the transactions of the sessions mixed, as lines of one recorder do. Else by the place in the
// session, as if all had been equally fast. A wrong hint costs time and nothing else.
#pragma once

#include <cstdint>

#include "data/history/history.hpp"

namespace cupel::levels {

// Whether labels go up in each session, and go from session to session more often than there are
// sessions. Sessions one after the other, as files of one session each are read, say nothing.
// Linear.
bool labels_mix_sessions(const history::History& history);

class Hints {
 public:
  // `by_label`: labels_mix_sessions(). Linear if all transactions have times.
  Hints(const history::History& history, bool by_label);

  // Smaller is earlier. Below 2^62: the search doubles it.
  [[nodiscard]] std::uint64_t begin(history::TxnId txn) const;
  [[nodiscard]] std::uint64_t commit(history::TxnId txn) const;
  // Clocks or labels say it: transactions of different sessions can be compared.
  [[nodiscard]] bool across_sessions() const { return by_ != By::kPlace; }

 private:
  enum class By : std::uint8_t { kTime, kLabel, kPlace };

  [[nodiscard]] std::uint64_t of_time(history::Time time) const;

  const history::History& history_;
  By by_;
  history::Time first_ = 0;
};

}  // namespace cupel::levels
