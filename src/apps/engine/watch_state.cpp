// The state is one file, replaced as a whole, so a watch that is killed at any moment leaves an old
// one or a new one. It says how far the watched file had been read, with a hash of its beginning
// and of what is just before that place: a file that was replaced is not taken for the same.
#include "apps/engine/watch_state.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/fnv.hpp"
#include "base/folder.hpp"
#include "base/read_file.hpp"
#include "base/write_file.hpp"
#include "data/formats/open_file.hpp"
#include "data/formats/recording.hpp"
#include "data/history/state.hpp"

namespace cupel::apps {

namespace {

constexpr std::uint64_t kHashedBytes = 4096;
// A state is saved so often, and then not again for so many times as long as it took.
constexpr std::chrono::seconds kSaveEvery{1};
constexpr int kTimesLonger = 50;

// What a watch left that was killed while it wrote.
void remove_unfinished(const std::string& folder) {
  for (const auto& name : base::names_in_folder(folder).value_or(std::vector<std::string>())) {
    if (!name.starts_with("watch.state.") || !name.ends_with(".new")) continue;
    std::error_code ignored;
    std::filesystem::remove(std::filesystem::path(folder) / name, ignored);
  }
}

}  // namespace

base::Error WatchState::error(std::string message) const {
  return {.message = std::move(message), .file = file_};
}

base::Status WatchState::open(const std::string& folder, const std::string& record) {
  record_ = record;
  file_ = (std::filesystem::path(folder) / "watch.state").string();
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    return base::Error{.message = fmt::format("cannot be made: {}", failed.message()),
                       .file = folder};
  }
  const auto lock = (std::filesystem::path(folder) / "watch.lock").string();
  lock_ = base::Descriptor(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock_) {
    return base::Error{.message = fmt::format("cannot be made: {}", std::strerror(errno)),
                       .file = lock};
  }
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    return base::Error{.message = "is used by another watch; end it, or name another folder",
                       .file = folder};
  }
  remove_unfinished(folder);
  if (!std::filesystem::exists(file_, failed)) return base::Ok{};
  auto text = base::read_file(file_);
  if (!text.ok()) return std::move(text).error();
  sealed_ = *std::move(text);
  online::StateReader in(sealed_);
  byte_ = in.number();
  const auto hash = in.number();
  const auto level = levels::parse_level(in.text());
  sessions_ = in.number();
  if (!in.good() || !level) {
    return error(
        "found a damaged state, or one of another version of cupel; remove it to begin anew");
  }
  level_ = *level;
  const auto same = hash_of_record(byte_);
  if (!same.ok()) return same.error();
  if (*same == hash) return base::Ok{};
  return error(
      fmt::format("is the state of another history than {}, or of one that was changed "
                  "since; remove it to begin anew",
                  record_));
}

base::Result<std::uint64_t> WatchState::hash_of_record(std::uint64_t byte) const {
  if (formats::is_recording(record_)) {
    const auto head = formats::recorded_head(record_, std::min(byte, kHashedBytes));
    if (!head.ok()) return head.error();
    return base::fnv(*head);
  }
  const auto opened = formats::open_file(record_);
  if (!opened.ok()) return opened.error();
  const auto& file = **opened;
  const auto size = std::min(byte, kHashedBytes);
  std::string bytes(2 * size, '\0');
  const auto count = static_cast<std::size_t>(size);
  // A file that is shorter now gives another hash.
  static_cast<void>(::pread(file.get(), bytes.data(), count, 0));
  static_cast<void>(
      ::pread(file.get(), bytes.data() + count, count, static_cast<off_t>(byte - size)));
  return base::fnv(bytes);
}

base::Status WatchState::load(online::Checker& checker) {
  online::StateReader in(sealed_);
  in.number();
  in.number();
  in.text();
  in.number();
  auto loaded = checker.load(in);
  sealed_.clear();
  if (loaded.ok()) return loaded;
  return error(loaded.error().message + "; remove it to begin anew");
}

base::Status WatchState::save_if_due(const online::Checker& checker, levels::Level level,
                                     std::uint64_t sessions) {
  const auto pause = std::max<Clock::duration>(kSaveEvery, kTimesLonger * cost_);
  if (!used() || !checker.can_save() || Clock::now() < saved_at_ + pause) return base::Ok{};
  return save(checker, level, sessions);
}

base::Status WatchState::save(const online::Checker& checker, levels::Level level,
                              std::uint64_t sessions) {
  if (!used() || !checker.can_save()) return base::Ok{};
  const auto began = Clock::now();
  const auto hash = hash_of_record(checker.taken());
  if (!hash.ok()) return hash.error();
  online::StateWriter out;
  out.number(checker.taken());
  out.number(*hash);
  out.text(levels::name(level));
  out.number(sessions);
  checker.save(out);
  auto written = base::replace_file(file_, std::move(out).sealed());
  saved_at_ = Clock::now();
  cost_ = saved_at_ - began;
  return written;
}

void WatchState::forget() {
  if (!used()) return;
  forgotten_ = true;
  std::error_code unknown;  // it may not be there
  std::filesystem::remove(file_, unknown);
}

}  // namespace cupel::apps
