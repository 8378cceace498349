// Sums and differences of times, which saturate instead of leaving 64 bits.
//
// A recorded time is any number of 64 bits, and --clock-drift widens intervals by up to thirty
// years. A saturated bound never changes a comparison with a recorded time: of `later(a, d)` and
// `earlier(b, d)`, the first is less if and only if a + d is less than b - d.
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "data/history/history.hpp"

namespace cupel::history {

inline constexpr Time kEarliestTime = kNoTime + 1;
inline constexpr Time kLatestTime = std::numeric_limits<Time>::max();

// a + b and a - b of numbers that are no kNoTime.
constexpr Time later(Time a, Time b) {
  Time sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return b < 0 ? kEarliestTime : kLatestTime;
  return sum == kNoTime ? kEarliestTime : sum;
}
constexpr Time earlier(Time a, Time b) {
  Time difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return b < 0 ? kLatestTime : kEarliestTime;
  return difference == kNoTime ? kEarliestTime : difference;
}
// The duration from one time to another.
constexpr Time between(Time from, Time to) {
  return earlier(to, from);
}

inline std::string drift_without_clock(Time drift) {
  return "a clock drift of " + std::to_string(drift) +
         " ns needs times, and this history has none. Leave out the clock drift, or record times";
}
// A drift widens times of clocks. Places in a file are no times, and widened they would order
// nothing. Where nothing happened, there is nothing to widen. The message if so, else none.
inline std::optional<std::string> drift_refusal(const History& history, Time drift) {
  const bool has_clock = history.has_times() && !history.times_are_places();
  if (drift == 0 || history.txn_count() == 0 || has_clock) return std::nullopt;
  return drift_without_clock(drift);
}

}  // namespace cupel::history
