// Stopwatch: where the time of one run goes, by named stages.
//
//   Stopwatch watch;
//   {
//     const Stopwatch::Lap lap(watch, "read");
//     …
//   }
//   watch.stages();  // {"read", 0.31, 0.58}
//
// A stage within another takes its time away from the outer one, so that the stages
// add up to what the laps covered. Only the thread that made the stopwatch laps it; a
// lap on another thread does nothing. Processor time is of the whole process: what
// other threads do counts in the stage that this thread is in. A change of stage costs
// about a microsecond, so a lap that begins many small ones asks for the whole.
#pragma once

#include <chrono>
#include <string_view>
#include <thread>
#include <vector>

namespace cupel::base {

class Stopwatch {
 public:
  struct Stage {
    std::string_view name;
    double seconds = 0;      // on the wall
    double cpu_seconds = 0;  // of all threads of the process
  };
  enum class Within : bool { kStages, kWhole };

  class Lap {
   public:
    // `name` must outlive the stopwatch. kWhole: laps inside this one do nothing.
    Lap(Stopwatch& watch, std::string_view name, Within within = Within::kStages);
    ~Lap();
    Lap(const Lap&) = delete;
    Lap& operator=(const Lap&) = delete;

   private:
    Stopwatch* watch_;  // none: not ours to lap
    std::size_t outer_ = 0;
    bool outer_whole_ = false;
  };

  Stopwatch();
  // In the order in which they were first entered.
  [[nodiscard]] std::vector<Stage> stages() const;

 private:
  void enter(std::size_t stage);

  static constexpr std::size_t kNoStage = static_cast<std::size_t>(-1);
  std::thread::id owner_;
  std::vector<Stage> stages_;
  std::size_t current_ = kNoStage;
  bool whole_ = false;
  std::chrono::steady_clock::time_point since_;
  double cpu_since_ = 0;
};

}  // namespace cupel::base
