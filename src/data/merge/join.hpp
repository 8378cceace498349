// join: the histories of several recordings of one database as one history.
//
// The sessions of each recording become sessions of the whole. Keys and values are the same where
// they are equal. The times are those of the first recording's clock (clocks.hpp), and each is
// widened by what the other clock may be wrong.
//
// A wrong whole would accuse the innocent: where a recording is missing, or lacks what was written
// last, others read what nobody wrote. So recordings by workers of one run (docs/how-to/scale.md)
// are joined only if they are all there and whole, and only with each other. Of other histories
// nobody can say whether they belong together; `notes` says so.
//
// Facts by which workers' histories know each other:
//   run       the tables that they share
//   part      the sessions: "10-19 of 40"
//   clock     what the times count from: "MACHINE NANOSECONDS"
//   ended     "yes", at the end of a recording
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "data/formats/formats.hpp"
#include "data/history/history.hpp"
#include "data/merge/clocks.hpp"

namespace cupel::merge {

inline constexpr const char* kRunFact = "run";
inline constexpr const char* kSessionsFact = "part";
inline constexpr const char* kClockFact = "clock";
inline constexpr const char* kEndedFact = "ended";

struct Part {
  std::string file;  // for messages
  history::History history;
};

// Errors: those of formats::read().
base::Result<std::vector<Part>> read_parts(const std::vector<std::string>& files,
                                           const formats::ReadOptions& options);

struct JoinOptions {
  // To be added to the times of each part, in their order; empty: measured.
  std::vector<Time> offsets = {};
  // How far a clock may leave its pace during the recordings, or a given offset be wrong. None: of
  // clocks that are measured, one in 2,000, which is what Linux changes the pace of a clock at most
  // to set it right; of others 0.
  std::optional<Time> drift = {};
  bool times = true;  // false: the whole has no times
};

struct Joined {
  history::History history;
  // By part; empty: the whole has no times.
  std::vector<OffsetRange> clocks = {};
  Time drift = 0;  // by which each time is widened beside what its clock may be wrong
  std::vector<std::string> notes = {};
};

// Errors: workers that are missing, twice, of another run or cut; initial values that differ;
// times that no offsets make fit. `parts` has at least one.
base::Result<Joined> join(const std::vector<Part>& parts, const JoinOptions& options);

}  // namespace cupel::merge
