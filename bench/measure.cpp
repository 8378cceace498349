// Measure: see the header. wait4 gives the costs of that one child.
#include "bench/measure.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

extern char** environ;

namespace cupel::bench {

namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

struct Pipe {
  int read = -1, write = -1;
  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
  ~Pipe() {
    if (read >= 0) ::close(read);
    if (write >= 0) ::close(write);
  }
  void close_write() {
    ::close(write);
    write = -1;
  }
};

// Until both have ended.
void read_all(int first_pipe, std::string& first, int second_pipe, std::string& second) {
  pollfd wanted[] = {{first_pipe, POLLIN, 0}, {second_pipe, POLLIN, 0}};
  std::string* const texts[] = {&first, &second};
  char buffer[1 << 16];
  for (int open = 2; open > 0;) {
    if (::poll(wanted, 2, -1) < 0 && errno != EINTR) return;
    for (int i = 0; i < 2; ++i) {
      if (wanted[i].fd < 0 || wanted[i].revents == 0) continue;
      const ssize_t got = ::read(wanted[i].fd, buffer, sizeof buffer);
      if (got > 0) {
        texts[i]->append(buffer, static_cast<std::size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        wanted[i].fd = -1;
        --open;
      }
    }
  }
}

}  // namespace

base::Result<Measured> measure(const std::vector<std::string>& arguments) {
  Pipe output, errors;
  if (!output.open() || !errors.open()) {
    return base::Error{.message = fmt::format("no pipe: {}", std::strerror(errno))};
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output.write, 1);
  ::posix_spawn_file_actions_adddup2(&actions, errors.write, 2);
  std::vector<char*> words;
  for (const auto& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);

  Measured measured;
  pid_t child = 0;
  const auto begin = std::chrono::steady_clock::now();
  const int failed = ::posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return base::Error{
        .message = fmt::format("cannot start {}: {}", arguments.front(), std::strerror(failed))};
  }
  output.close_write();
  errors.close_write();
  read_all(output.read, measured.output, errors.read, measured.errors);
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  measured.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  measured.user_seconds = seconds(usage.ru_utime);
  measured.system_seconds = seconds(usage.ru_stime);
  measured.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  measured.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return measured;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string to_shell(const std::vector<std::string>& arguments) {
  std::string line;
  for (const auto& argument : arguments) {
    if (!line.empty()) line += ' ';
    const bool plain =
        !argument.empty() && argument.find_first_not_of(
                                 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "_-./=,:+%@") == std::string::npos;
    if (plain) {
      line += argument;
      continue;
    }
    line += '\'';
    for (const char c : argument) c == '\'' ? line += "'\\''" : line += c;
    line += '\'';
  }
  return line;
}

}  // namespace cupel::bench
