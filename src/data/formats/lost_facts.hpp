// lost_facts: what the formats of integer registers (plume, awdit, dbcop) have no
// place for, so that the user learns what the file does not say.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/history/history.hpp"

namespace cupel::formats {

// What the writer of a format keeps beyond the operations.
struct KeptFacts {
  // Each transaction's number, but of aborted ones; else they are counted from 0.
  bool transaction_numbers = false;
  bool empty_sessions = true;
  std::span<const std::string_view> metadata{};  // by name
};

// "times", "session names", "transaction numbers" … A test compares this with what a
// reader finds in the written file.
std::vector<std::string> lost_facts(const history::History& history, const KeptFacts& kept);

}  // namespace cupel::formats
