// Source: see the header.
#include "engine/analysis/source.hpp"

#include <sys/stat.h>

#include <utility>

namespace cupel::analysis {

namespace {

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Source::Source(std::string path) : path_(std::move(path)), state_(state_of(path_)) {}

bool Source::is_unchanged() const {
  return !state_ || state_ == state_of(path_);
}

std::optional<Source::State> Source::state_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  // The time of the entry: a writer can set that of the content back.
  return State{static_cast<std::int64_t>(info.st_dev), static_cast<std::int64_t>(info.st_ino),
               info.st_size, nanoseconds(info.st_mtim), nanoseconds(info.st_ctim)};
}

}  // namespace cupel::analysis
