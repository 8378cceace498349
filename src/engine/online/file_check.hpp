// File check: one level of a history that has ended and is larger than memory, decided in the
// windows of a watch (window.hpp).
//
// There is no record to ask, so each violation is made sure of here: without real time, a read may
// be of a write that the file has only later, and in a window that slides, of one that was left
// behind. The file is gone through once more for writes of what the window's reads saw; if there is
// any, the violation does not count. What rests on a bet is decided again without bets.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "data/history/history.hpp"
#include "engine/levels/level.hpp"
#include "engine/online/chain.hpp"
#include "engine/online/file_plan.hpp"
#include "engine/online/watch.hpp"

namespace cupel::online {

struct FileCheckOptions {
  levels::Level level = levels::Level::kStrictSerializable;
  history::Time drift = 0;
  std::uint64_t memory_limit_bytes = 0;
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  // Of a level without a bound on what must be held: within any so many transactions in a row.
  // 0: as watched_for() says, which must be the level itself.
  std::size_t slide = 0;
  // Each window that is closed goes there, and the end if it is satisfied. Borrowed; may be null.
  Chain* chain = nullptr;
  std::function<bool()> stop = [] { return false; };  // asked now and then
  std::function<void(std::uint64_t transactions)> progress = [](std::uint64_t) {};
  // For tests: smaller windows.
  std::size_t least_batch = 4000;
  std::uint64_t forget_outcome_after = 200'000;
};

struct FileAnswer {
  Finding finding = Finding::kSatisfied;  // not kAsk
  std::string why;                        // unless it is satisfied
  // kViolated: the part of the history that was held, in which the level is violated.
  std::optional<history::History> window = {};
  std::uint64_t transactions = 0, forgotten = 0;  // of those that had ended, but for aborted ones
  std::size_t most_held = 0;
};

// Errors: those of the file. The plan is fit.
base::Result<FileAnswer> check_file(const OpenHistory& open, const FilePlan& plan,
                                    const FileCheckOptions& options);

}  // namespace cupel::online
