// unsure_absences: keys that range reads did not return and that may lie outside of the range.
//
// Databases order texts in their own ways (data/history/text_order.hpp). A key that is between the
// bounds here, but not in each of these orders, is not read by a range read that does not return
// it. The user is told, since such a history shows fewer phantoms.
#pragma once

#include <cstddef>
#include <optional>

#include "data/history/history.hpp"

namespace cupel::analysis {

struct UnsureAbsences {
  std::size_t count = 0;               // pairs of a range read and a key
  history::ScalarView key, low, high;  // of the first, borrowed from the history
};

// None: there are none. Only committed transactions count, and only keys that a transaction writes
// or that had a value at first. Constant for histories without range reads, else linear in the
// keys that these cover.
std::optional<UnsureAbsences> unsure_absences(const history::History& history);

}  // namespace cupel::analysis
