// Faults: the user's commands that break the database and repair it, in turn, while
// the load runs.
//
// A fault begins when its command has succeeded, and ends when the repair's has: so it is in the
// history, and so it is counted. A command that fails or hangs is a warning and no fault; one that
// succeeds only after the load is no fault.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "cupel/record.hpp"
#include "run/run.hpp"

namespace cupel::run {

// Used by one thread. The commands run beside it. One that hangs is ended with its process group;
// a server that it started stays if it has a session of its own, as a daemon has.
class Faults {
 public:
  Faults(const FaultOptions& options, Recorder& recorder);
  // Sees how the command that runs is doing, and starts the next when its time has come.
  void look();
  // After the load: a command that still breaks things has a moment to finish, or is ended, and
  // what is broken is repaired. Once `stop` is true there is no such moment, and a repair is waited
  // for no longer than a few seconds, and goes on by itself.
  void end(const std::atomic<bool>& stop);

  [[nodiscard]] std::uint64_t count() const { return count_; }    // that were in force
  [[nodiscard]] std::uint64_t failed() const { return failed_; }  // whose command failed
  [[nodiscard]] std::vector<std::string> warnings() const;        // each once, with its number

 private:
  using Clock = std::chrono::steady_clock;
  enum class State : std::uint8_t { kWell, kBreaking, kBroken, kHealing };

  void start(const std::string& command);
  // How the command ended; none while it runs. After a failure there is a warning.
  std::optional<bool> outcome(base::Seconds wait);
  void give_up(const std::string& why);
  void broken(bool well);
  void healed(bool well);
  void finish_breaking(const std::atomic<bool>& stop);
  void heal_at_end(const std::atomic<bool>& stop);

  FaultOptions options_;
  Recorder& recorder_;  // records them, so that the history can be drawn with its faults
  State state_ = State::kWell;
  bool recorded_ = false;  // the history has the begin of a fault and not its end
  // A command to break something failed, and who knows how far it got; or it came too late.
  bool to_repair_ = false;
  Clock::time_point next_, started_;
  std::string command_;
  std::optional<base::Process> running_;
  std::string not_started_;
  std::uint64_t count_ = 0, failed_ = 0;
  std::map<std::string, std::uint64_t> warnings_;
};

}  // namespace cupel::run
