// Stats: what a history is made of, in numbers, without judging it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "data/history/history.hpp"

namespace cupel::report {

struct Stats {
  std::uint64_t sessions = 0;
  std::uint64_t transactions = 0, committed = 0, aborted = 0, indeterminate = 0;
  std::uint64_t operations = 0;
  std::array<std::uint64_t, 8> operations_by_kind{};  // indexed by history::OpKind
  std::uint64_t keys = 0, list_keys = 0;
  // A read is a read of one key, a list read or a compare-and-set's look; a
  // write is whatever leaves a version. Range reads are counted by kind only.
  std::uint64_t reads = 0, writes = 0;
  std::uint64_t initial_reads = 0;    // reads of the initial value, or of an empty list
  std::uint64_t ambiguous_reads = 0;  // more than one transaction can have written what was seen
  std::uint64_t distinct_values = 0;  // versions: distinct pairs of key and written value
  // Values that several transactions wrote to the same key.
  std::uint64_t duplicated_values = 0, keys_with_duplicates = 0, most_writers = 0;
  // Over the transactions with both times. 0 when there are none.
  std::uint64_t timed_transactions = 0;
  bool times_are_places = false;  // of the file: the span is no time
  history::Time span_ns = 0;
  double mean_open = 0;  // transactions open at a time, averaged over the span
  std::uint64_t most_open = 0;
  std::uint64_t resident_bytes = 0;
  std::map<std::string, std::string> metadata;
};

// O(n log n) in the operations.
Stats compute_stats(const history::History& history);

// The span of a history whose times are places: "84 places of the file".
std::string span_in_places(const Stats& stats);

// Aligned lines for people, and one line of JSON without a line feed.
std::string stats_text(const Stats& stats, const std::string& file);
std::string stats_json(const Stats& stats, const std::string& file);

}  // namespace cupel::report
