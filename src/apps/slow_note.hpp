// SlowNote: a note for whoever waits for a check that takes long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace cupel::apps {

// Prints the note (print_note) if it still lives after this time. Meanwhile no other thread writes
// to standard output.
class SlowNote {
 public:
  explicit SlowNote(std::string text, std::chrono::milliseconds after = std::chrono::seconds(10));
  ~SlowNote();
  SlowNote(const SlowNote&) = delete;
  SlowNote& operator=(const SlowNote&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace cupel::apps
