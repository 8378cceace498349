// Live watch: checks a level of the history of a mock store while a command uses the store, so that
// the run ends at the first violation.
//
// The history is checked anew whenever transactions have committed. Every transaction in it has
// ended, so a violation stays one whatever follows. Two looks are at least 20 ms apart, and three
// times as long as the last one took, so that the command has most of the processor.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.hpp"
#include "data/history/history.hpp"
#include "engine/levels/level.hpp"

namespace cupel::mocktest {

class LiveWatch {
 public:
  // Borrowed, and asked by another thread.
  struct Store {
    std::function<base::Result<history::History>()> history;
    std::function<std::uint64_t()> commits;
  };
  LiveWatch(Store store, levels::Level level);
  ~LiveWatch();
  LiveWatch(const LiveWatch&) = delete;
  LiveWatch& operator=(const LiveWatch&) = delete;

  // So far; any thread.
  [[nodiscard]] bool violated() const { return violated_; }
  // The command has ended: looks once more. Then it is known whether the history violates the
  // level. Error: the level has no definition for this history.
  base::Result<bool> end();

 private:
  void follow();
  void look();

  const Store store_;
  const levels::Level level_;
  std::atomic<bool> violated_ = false;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool over_ = false;
  std::uint64_t seen_ = 0;  // commits, at the last look
  std::string refused_;     // why
  std::thread thread_;
};

}  // namespace cupel::mocktest
