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

namespace cupel::test {

// Until `done(content of the file)`, which is empty as long as there is no file; its folder
// must exist. False if that does not come.
template <typename Done>
[[nodiscard]] bool wait_for_file(const std::filesystem::path& path, const Done& done,
                                 std::chrono::seconds patience = std::chrono::seconds(60)) {
  const int events = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  // The watch comes before the first look, so nothing is missed between the two.
  const bool watched =
      events >= 0 && ::inotify_add_watch(events, path.parent_path().c_str(),
                                         IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE) >= 0;
  const auto is_done = [&] {
    std::ifstream in(path, std::ios::binary);
    return done(std::string(std::istreambuf_iterator<char>(in), {}));
  };
  const auto deadline = std::chrono::steady_clock::now() + patience;
  bool finished = false;
  while (!(finished = is_done()) && watched) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd waiting = {events, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) break;
    char ignored[4096];
    while (::read(events, ignored, sizeof ignored) > 0) {
    }
  }
  if (events >= 0) ::close(events);
  return finished;
}

}  // namespace cupel::test
