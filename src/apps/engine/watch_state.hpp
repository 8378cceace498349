// WatchState: the folder of `cupel watch --state`, in which a watch leaves what it knows, so that
// the next one goes on from there.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "engine/levels/level.hpp"
#include "engine/online/checker.hpp"

namespace cupel::apps {

class WatchState {
 public:
  // Makes the folder, keeps other watches out of it, and reads what an earlier one left. `record`:
  // the file that is watched. Errors: another watch uses the folder; it is of another file, or the
  // file is no longer what it was.
  base::Status open(const std::string& folder, const std::string& record);
  [[nodiscard]] bool used() const { return lock_ && !forgotten_; }

  // What an earlier watch left.
  [[nodiscard]] bool found() const { return !sealed_.empty(); }
  [[nodiscard]] levels::Level level() const { return level_; }
  [[nodiscard]] std::uint64_t sessions() const { return sessions_; }
  [[nodiscard]] std::uint64_t byte() const { return byte_; }
  // Into a new Checker, and then forgets it.
  base::Status load(online::Checker& checker);

  // If the last time was long enough ago, and the checker can be saved.
  base::Status save_if_due(const online::Checker& checker, levels::Level level,
                           std::uint64_t sessions);
  base::Status save(const online::Checker& checker, levels::Level level, std::uint64_t sessions);
  // The next watch begins anew: nothing is saved from here on.
  void forget();

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] base::Error error(std::string message) const;
  [[nodiscard]] base::Result<std::uint64_t> hash_of_record(std::uint64_t byte) const;

  std::string file_, record_, sealed_;
  base::Descriptor lock_;
  bool forgotten_ = false;
  levels::Level level_ = levels::Level::kStrictSerializable;
  std::uint64_t sessions_ = 0, byte_ = 0;
  Clock::time_point saved_at_;  // the last time
  Clock::duration cost_{};
};

}  // namespace cupel::apps
