// ProgressLine: a line of text about a run that goes on, written anew while it does.
//
// Each stage but the run has one text. During the run a thread of the line's own writes the
// counters, the rate and the time that is left, once an interval.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "run/run.hpp"
#include "run/run_and_check.hpp"

namespace cupel::run {

// Of a run that began `seconds` ago, at most kProgressWidth characters. `stopping`: it was asked to
// end.
inline constexpr std::size_t kProgressWidth = 79;  // a terminal of 80 columns wraps at its last one
std::string progress_text(const Progress& progress, const RunOptions& options, double seconds,
                          bool stopping);

class ProgressLine {
 public:
  struct Source {  // all borrowed
    const Progress& progress;
    const RunOptions& options;
    const std::atomic<bool>& stopping;
  };
  // Replaces the line; an empty text clears it. Called by one thread at a time. None: nothing
  // is shown.
  using Write = std::function<void(const std::string& text)>;

  ProgressLine(const Source& source, Write write,
               std::chrono::milliseconds interval = std::chrono::milliseconds(200))
      : source_(source), write_(std::move(write)), interval_(interval) {}
  ~ProgressLine() { end(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // One thread calls these two.
  void stage(Stage stage);
  void end();  // clears the line

 private:
  void show_run();

  Source source_;
  Write write_;
  std::chrono::milliseconds interval_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;  // the run
};

}  // namespace cupel::run
