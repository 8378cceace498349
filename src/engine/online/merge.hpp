// Merge: the lines of several recorders as those of one history.
//
// Each recorder counts its processes from 0 and its time from its own beginning. Their
// lines get process numbers that no other recorder has, and the times of the first one's
// clock: a recorder that sends to a watch says when it began on the machine's monotonic
// clock (the header fact "clock"), so recorders of one machine agree exactly. The clock of
// another machine, or of a recorder that does not say it, is set by when its first line arrived;
// in files the times stand as they are. How far that may be off is for --clock-drift to say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_table.hpp"
#include "base/result.hpp"

namespace cupel::online {

class Merge {
 public:
  // `files`: the lines are read from files, so when they arrive says nothing.
  explicit Merge(bool files = false) : files_(files) {}
  // The lines rewritten, appended to `out`. `now`: nanoseconds of this machine's monotonic clock.
  // Errors: a line that is no JSON object with an integer `process` and an integer `time`.
  base::Status take(std::size_t recorder, std::string_view lines, std::int64_t now,
                    std::string& out);
  // The clock of some recorder is not known to be that of the first.
  [[nodiscard]] bool guessed_clock() const { return guessed_; }

 private:
  struct Recorder {
    base::HashMap<std::int64_t, std::int64_t> process;
    std::optional<std::int64_t> offset;  // added to its times
  };
  base::Status take_line(Recorder& recorder, bool first, std::string_view line, std::int64_t now,
                         std::string& out);
  void set_clock(Recorder& recorder, std::string_view line, std::int64_t now);

  bool files_;
  std::vector<Recorder> recorders_;
  std::int64_t next_process_ = 0;
  std::string machine_;                // of the first recorder
  std::optional<std::int64_t> start_;  // when it began
  bool guessed_ = false;
};

}  // namespace cupel::online
