// What every reader needs of its input: the bytes of a file (memory-mapped),
// the session logs of a directory, and how to show a piece of bad input.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.hpp"
#include "base/result.hpp"

namespace cupel::formats {

// Thrown where a reader met a limit; read() of formats.hpp turns it into an error.
struct Stopped {};

// The bytes of a file, borrowed from the page cache; a pipe is read whole. "-" is
// standard input. Of a compressed file (decompress.hpp), the content.
class MappedFile {
 public:
  // May throw Stopped, if it is given a budget.
  static base::Result<MappedFile> open(const std::string& path, base::Budget* budget = nullptr);

  // Also of a compressed file the bytes that it has.
  static base::Result<MappedFile> open_as_it_is(const std::string& path,
                                                base::Budget* budget = nullptr);

  [[nodiscard]] std::string_view bytes() const;
  // The pages of [begin, end) need not be resident until they are read again.
  void release(const char* begin, const char* end) const;

 private:
  friend class OpenOnce;
  struct Content;
  static MappedFile holding(std::string bytes);

  std::shared_ptr<const Content> content_;
};

// While one lives, MappedFile opens this path once, if it is a file: what asks again gets the same
// bytes, unless the file has changed since. A pipe can be read only once anyway.
class OpenOnce {
 public:
  explicit OpenOnce(std::string path);
  ~OpenOnce();
  OpenOnce(const OpenOnce&) = delete;
  OpenOnce& operator=(const OpenOnce&) = delete;

 private:
  std::string path_;
};

// A reader's way to keep within limits of time and memory: it steps once for
// each small piece of work. By default there is no limit, and no step costs.
class Reading {
 public:
  Reading() = default;
  Reading(base::Budget* budget, const MappedFile* file) : budget_(budget), file_(file) {}

  // Throws Stopped once a limit is met. `at`: what is before it has been read.
  void step() {
    if ((++steps_ & 0x3ff) == 0) look(nullptr);
  }
  void step(const char* at) {
    if ((++steps_ & 0x3ff) == 0) look(at);
  }
  // Has a limit been met? For threads, and for pieces of a millisecond.
  [[nodiscard]] bool stopped() const { return budget_ != nullptr && budget_->exceeded(); }
  [[nodiscard]] base::Budget* budget() const { return budget_; }
  // How many bytes a reader takes at a time. Tests ask for few.
  [[nodiscard]] std::size_t piece_bytes(std::size_t usual) const {
    return piece_bytes_ == 0 ? usual : piece_bytes_;
  }
  void set_piece_bytes(std::size_t bytes) { piece_bytes_ = bytes; }
  // [begin, end) has been read.
  void release(const char* begin, const char* end) const {
    if (file_ != nullptr) file_->release(begin, end);
  }

 private:
  void look(const char* at);

  base::Budget* budget_ = nullptr;
  const MappedFile* file_ = nullptr;
  const char* released_ = nullptr;  // up to here
  std::size_t piece_bytes_ = 0;     // 0: as many as are usual
  std::uint32_t steps_ = 0;
};

// One session of a format that keeps each in a file of its own.
struct SessionLog {
  std::string file;
  std::string_view bytes;
};

// The *.log files of a directory, T2.log before T10.log, so that sessions have
// the same numbers on every machine. An error if there is none.
base::Result<std::vector<std::string>> session_logs(const std::string& directory);

// The file's name without folder and extension: "T10".
std::string stem(const std::string& path);

// A piece of input as part of an error: quoted, unprintable bytes escaped, and
// shortened, because a hostile line may be a gigabyte.
std::string shown(std::string_view piece);

// Where a line of text ends; the line without its end of line.
struct Line {
  std::string_view text;
  std::size_t next;  // offset of the line after it
};
Line line_at(std::string_view bytes, std::size_t offset);

// A decimal integer at *p, with an optional minus. False, with *p where it was,
// when there is none or it does not fit.
inline bool scan_integer(const char*& p, const char* end, std::int64_t& value) {
  const char* at = p;
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  const char* const digits = at;
  std::uint64_t n = 0;
  while (at != end && static_cast<unsigned char>(*at - '0') < 10) {
    n = n * 10 + static_cast<std::uint64_t>(*at - '0');
    ++at;
  }
  const auto count = at - digits;
  if (count == 0 || count > 19) return false;  // 19 digits cannot wrap 64 bits
  if (n > (std::uint64_t{1} << 63) - (negative ? 0 : 1)) return false;
  value = static_cast<std::int64_t>(negative ? 0 - n : n);
  p = at;
  return true;
}

}  // namespace cupel::formats
