// Live: judges a run while it goes on, by following the file that it is recorded in.
//
// A thread of its own reads what is written, asks the window (src/engine/online), and ends the
// load at the first violation. What is found is checked and explained afterwards, like
// any recorded history.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/verdict.hpp"
#include "data/history/history.hpp"
#include "engine/levels/level.hpp"
#include "engine/online/watch.hpp"

namespace cupel::run {

struct LiveOptions {
  levels::Level level = levels::Level::kStrictSerializable;
  history::Time drift = 0;
  std::size_t sessions = 0;
  std::uint64_t memory_limit_bytes = 0;
  std::optional<double> window_seconds = online::WatchOptions().window_seconds;
  bool unique_values = false;    // no key is given a value twice, or the one that it began with
  std::string certificate = {};  // the file to leave one by windows in (engine/online/chain.hpp)
};

struct LiveResult {
  levels::Level level = levels::Level::kStrictSerializable;
  levels::Level watched = levels::Level::kStrictSerializable;
  base::Verdict state = base::Verdict::kSatisfied;
  std::string why;          // kUnknown
  double found_at = 0;      // kViolated: seconds after the beginning of the recording
  double operation_at = 0;  // and when the last operation that had been recorded by then ended
  std::uint64_t transactions = 0;
  std::size_t most_held = 0;
  double longest_look = 0;  // seconds
  std::vector<std::string> notes;
  bool certified = false;  // the certificate that was asked for proves that it is satisfied
};

class Live {
 public:
  // Follows `record`. `enough` turns true when the load is to end. Borrowed.
  Live(const LiveOptions& options, std::string record, std::atomic<bool>& enough);
  ~Live();
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  // Nothing more is recorded: reads the rest.
  LiveResult end();

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace cupel::run
