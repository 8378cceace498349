// By system calls, each asked for its own errno; an interrupted one is called again.
#include "base/write_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>

namespace cupel::base {

namespace {

Error failed(const char* doing, int reason, const std::string& path) {
  return {.message = std::string("cannot ") + doing + ": " + std::strerror(reason), .file = path};
}

// 0, or the errno.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return EIO;  // or it would go on for ever
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace

Status write_file(const std::string& path, std::string_view text, WriteMode mode) {
  const int how = (mode == WriteMode::kAppend ? O_APPEND : O_TRUNC) | O_NOFOLLOW;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
  if (file < 0) return failed("open for writing", errno, path);
  int reason = write_all(file, text);
  if (::close(file) != 0 && reason == 0 && errno != EINTR) reason = errno;
  if (reason != 0) return failed("write", reason, path);
  return Ok{};
}

Result<std::string> make_fresh_file(const std::string& path) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz234567";
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    auto fresh = path + ".";
    for (int i = 0; i < 10; ++i) fresh += kLetters[random() % kLetters.size()];
    fresh += ".new";
    const int file =
        ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file >= 0) {
      ::close(file);
      return fresh;
    }
    if (errno != EEXIST) break;
  }
  return failed("open for writing", errno, path);
}

Status replace_file(const std::string& path, std::string_view text) {
  const auto made = make_fresh_file(path);
  if (!made.ok()) return made.error();
  const auto& fresh = *made;
  auto written = write_file(fresh, text);
  if (written.ok() && std::rename(fresh.c_str(), path.c_str()) != 0) {
    written = failed("rename the finished file", errno, path);
  }
  if (!written.ok()) {
    ::unlink(fresh.c_str());
    auto error = std::move(written).error();
    error.file = path;
    return error;
  }
  return Ok{};
}

}  // namespace cupel::base
