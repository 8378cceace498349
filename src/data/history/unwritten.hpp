// Unwritten: reads of what no transaction of a history wrote.
#pragma once

#include <optional>

#include "data/history/history.hpp"

namespace cupel::history {

// The first operation of a committed transaction that saw a value, an element or a row that no
// operation of the history wrote, aborted ones included, and that is no initial value. Linear.
std::optional<OpId> first_unwritten_read(const History& h);

}  // namespace cupel::history
