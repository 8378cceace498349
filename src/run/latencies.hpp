// Latencies: how long transactions took, in memory that does not grow with their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cupel::run {

// Counts by size: each counter is for durations that differ by 1 %, from a microsecond to four
// hours. What is shorter or longer counts as these.
class Latencies {
 public:
  void add(double milliseconds);
  void add(const Latencies& others);
  // The duration that so large a share of all is not longer than, within 1 %; 0 if there are none.
  [[nodiscard]] double percentile_ms(double share) const;

 private:
  std::vector<std::uint64_t> counts_;  // empty until the first
  std::uint64_t all_ = 0;
};

}  // namespace cupel::run
