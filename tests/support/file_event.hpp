// Waiting for what another thread or process writes to a file: woken by the file system
// (inotify), not by a clock.
#pragma once

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace cupel::test {

// Watches the folder, or as long as it does not exist the nearest one above it that does.
[[nodiscard]] inline bool watch_folder(int events, const std::filesystem::path& folder) {
  const auto nearest = [&] {
    auto existing = folder;
    std::error_code ignored;
    while (!std::filesystem::exists(existing, ignored) && existing.has_relative_path())
      existing = existing.parent_path();
    return existing;
  };
  // Whatever was made between the look and the watch is looked for again.
  for (std::filesystem::path watched, existing; (existing = nearest()) != watched;) {
    constexpr auto kChanges = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE;
    if (::inotify_add_watch(events, existing.c_str(), kChanges) < 0) return false;
    watched = existing;
  }
  return true;
}

// Until `done(content of the file)`, which is empty as long as there is no file. False if
// that does not come.
template <typename Done>
[[nodiscard]] bool wait_for_file(const std::filesystem::path& path, const Done& done,
                                 std::chrono::seconds patience = std::chrono::seconds(60)) {
  const int events = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (events < 0) return false;
  const auto is_done = [&] {
    std::ifstream in(path, std::ios::binary);
    return done(std::string(std::istreambuf_iterator<char>(in), {}));
  };
  const auto deadline = std::chrono::steady_clock::now() + patience;
  bool finished = false;
  // The watch comes before the look, so nothing is missed between the two.
  while (watch_folder(events, path.parent_path()) && !(finished = is_done())) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd waiting = {events, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) break;
    char ignored[4096];
    while (::read(events, ignored, sizeof ignored) > 0) {
    }
  }
  ::close(events);
  return finished;
}

}  // namespace cupel::test
