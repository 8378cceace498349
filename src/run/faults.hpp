// Faults: the user's commands that break the database and repair it, in turn, while
// the load runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "cupel/record.hpp"
#include "run/run.hpp"

namespace cupel::run {

// Used by one thread. The commands run beside it; none that it started is running
// after end(), but what they left in the background (a server) stays.
class Faults {
 public:
  Faults(const FaultOptions& options, Recorder& recorder);
  // Starts the next command when its time has come.
  void look();
  // Waits for the command that runs, and heals what is broken.
  void end();

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  using Clock = std::chrono::steady_clock;
  void start(const std::string& command);
  // True if no command runs, after waiting for this long at most.
  bool idle(base::Seconds wait);

  FaultOptions options_;
  Recorder& recorder_;  // records them, so that the history can be drawn with its faults
  bool broken_ = false;
  Clock::time_point next_;
  std::string command_;
  std::optional<base::Process> running_;
  std::uint64_t count_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace cupel::run
