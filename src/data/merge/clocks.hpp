// Clocks: how far the clocks of several recordings of one database are apart, from what their
// clients read.
//
// A client that reads a value which a client of another recording wrote knows that the write had
// been invoked when the read completed. So with x the number to add to a recording's times,
//   invoke(write) + x(writer's) <= complete(read) + x(reader's),
// which bounds the difference of two offsets from above. Reads in the other direction bound it from
// below. These are difference constraints: shortest paths from and to the first recording, whose
// offset is 0, give the interval in which each offset must lie (Bellman-Ford; a negative cycle
// means that no offsets fit). Recordings of one machine share a clock, and so know their
// difference.
//
// Sound: whatever the database did, the true offsets lie in the intervals, as long as no two
// transactions wrote the value and each clock keeps its pace (the error of the pace is given). Who
// takes the middle and widens each time by half of the interval has intervals that contain the
// true ones: no level of real time then accuses wrongly.
#pragma once

#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "data/history/history.hpp"
#include "data/history/times.hpp"

namespace cupel::merge {

using history::Time;

// x(i) - x(j) <= most.
struct OffsetBound {
  std::uint32_t i, j;
  Time most;
};

struct OffsetRange {
  Time least = 0, most = 0;

  [[nodiscard]] Time middle() const { return std::midpoint(least, most); }
  // How far the middle may be wrong.
  [[nodiscard]] Time error() const { return history::between(middle(), most); }
};

struct Offsets {
  bool contradicted = false;  // no offsets fit
  // By recording; none: nothing bounds it from one side or the other.
  std::vector<std::optional<OffsetRange>> ranges;
};

// The offset of recording 0 is 0.
Offsets solve(std::uint32_t recordings, std::span<const OffsetBound> bounds);

// The bounds that the reads give, at most one for each two recordings and direction.
// `recording_of`: by transaction; `times`: invocation and completion as recorded, by transaction.
struct Interval {
  Time invoke, complete;
};
std::vector<OffsetBound> bounds_of_reads(const history::History& history,
                                         std::span<const std::uint32_t> recording_of,
                                         std::span<const Interval> times);

}  // namespace cupel::merge
