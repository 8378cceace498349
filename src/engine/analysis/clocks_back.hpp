// clocks_back: sessions whose clock went back.
//
// A session runs its transactions one after the other. If a later one ended before an earlier one
// was invoked, its clock was set back in between. Then time and session order contradict each
// other, and levels of both are violated whatever the database did. The verdict stays: this only
// finds what to tell the user.
#pragma once

#include <cstddef>
#include <optional>

#include "data/history/history.hpp"

namespace cupel::analysis {

struct ClocksBack {
  std::size_t count = 0;          // transactions that ended before an earlier one was invoked
  history::TxnId earlier, later;  // of the first of these
  history::Time most = 0;         // nanoseconds between the two, where it is most
};

// None: no clock went back. Transactions without times say nothing. Linear.
std::optional<ClocksBack> clocks_back(const history::History& history);

}  // namespace cupel::analysis
