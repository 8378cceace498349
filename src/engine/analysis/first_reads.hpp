// first_reads: the start that a history forgot to say.
//
// A history written by hand often does not say what keys held at first. Then the first read of each
// key looks like a value out of thin air. The verdict stays: this only finds what to tell the user.
#pragma once

#include <cstddef>
#include <optional>

#include "data/history/history.hpp"

namespace cupel::analysis {

struct UnwrittenStart {
  history::ValueId value;  // which nothing in the history writes to any key
  std::size_t keys = 0;    // whose first access is a read of it
  std::size_t of = 0;      // whose first access is a read
};

// The value that the first reads of nearly all keys (three quarters) saw, if no transaction writes
// it and keys do not start with it. A key's first access is that of the transaction that was
// invoked first, or, without times, that stands first in the file. Keys whose first access is a
// write say nothing; lists start empty. Linear, but for sorting the transactions.
std::optional<UnwrittenStart> unwritten_start(const history::History& history);

}  // namespace cupel::analysis
