// Evidence: how much a history could have shown, if it violates nothing. A history in which nothing
// committed, in which transactions ran one after the other, or in which no read returned another
// session's value satisfies every level, whatever the database does.
//
// Cost: linear at worst. Usually the first few transactions show an overlap and such a read, and
// the rest is not looked at.
#pragma once

#include <cstdint>

#include "data/history/history.hpp"

namespace cupel::analysis {

// Fewer committed transactions than this are few; so are fewer than one in kFewShare of all.
inline constexpr std::uint64_t kFewCommitted = 10;
inline constexpr std::uint64_t kFewShare = 20;

// Without the sessions of final reads. What cannot be known, as an overlap without times, is false.
struct Evidence {
  std::uint64_t transactions = 0, committed = 0;
  std::uint64_t sessions = 0;       // with a committed transaction
  bool reads = false;               // some committed transaction read something
  bool never_overlaps = false;      // no two committed transactions of different sessions
  bool never_reads_others = false;  // no read returned what another session wrote

  [[nodiscard]] bool nothing_committed() const { return transactions > 0 && committed == 0; }
  [[nodiscard]] bool few() const {
    return committed < kFewCommitted || committed * kFewShare < transactions;
  }
};

Evidence evidence_of(const history::History& history);

}  // namespace cupel::analysis
