// By system calls, each asked for its own errno; an interrupted one is called again.
#include "base/write_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

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

// Writes and closes.
Status write_and_close(int file, std::string_view text, const std::string& path) {
  int reason = write_all(file, text);
  if (::close(file) != 0 && reason == 0 && errno != EINTR) reason = errno;
  if (reason != 0) return failed("write", reason, path);
  return Ok{};
}

// An open file that was not there, and its name.
struct FreshFile {
  std::string path;
  int file = -1;
};

Result<FreshFile> open_fresh_file(const std::string& path) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz234567";
  for (int attempt = 0; attempt < 100; ++attempt) {
    unsigned char random[10];
    if (::getentropy(random, sizeof random) != 0) break;
    auto fresh = path + ".";
    for (const auto byte : random) fresh += kLetters[byte % kLetters.size()];
    fresh += ".new";
    const int file =
        ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file >= 0) return FreshFile{std::move(fresh), file};
    if (errno != EEXIST) break;
  }
  return failed("open for writing", errno, path);
}

}  // namespace

Status write_file(const std::string& path, std::string_view text, WriteMode mode) {
  const int how = (mode == WriteMode::kAppend ? O_APPEND : O_TRUNC) | O_NOFOLLOW;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
  if (file < 0) return failed("open for writing", errno, path);
  return write_and_close(file, text, path);
}

Result<std::string> make_fresh_file(const std::string& path) {
  auto made = open_fresh_file(path);
  if (!made.ok()) return std::move(made).error();
  ::close(made->file);
  return std::move(made->path);
}

Status replace_file(const std::string& path, std::string_view text) {
  const auto made = open_fresh_file(path);
  if (!made.ok()) return made.error();
  auto written = write_and_close(made->file, text, made->path);
  if (written.ok() && std::rename(made->path.c_str(), path.c_str()) != 0) {
    written = failed("rename the finished file", errno, path);
  }
  if (!written.ok()) {
    ::unlink(made->path.c_str());
    auto error = std::move(written).error();
    error.file = path;
    return error;
  }
  return Ok{};
}

}  // namespace cupel::base
