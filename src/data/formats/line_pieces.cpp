// LinePieces: see the header.
#include "data/formats/line_pieces.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "data/formats/decompress.hpp"
#include "data/formats/jepsen_reader.hpp"
#include "data/formats/recording.hpp"

namespace cupel::formats {

namespace {

constexpr std::size_t kPieceBytes = 1 << 20;
constexpr std::size_t kMagicBytes = 8;

}  // namespace

std::optional<std::uint64_t> whole_lines(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return std::nullopt;
  const auto opened = open_file(path);
  struct stat facts {};
  if (!opened.ok() || ::fstat((*opened)->get(), &facts) != 0) return std::nullopt;
  const auto& file = **opened;
  char bytes[1 << 16];
  const auto got = ::pread(file.get(), bytes, kMagicBytes, 0);
  if (got < 0 || is_compressed({bytes, static_cast<std::size_t>(got)})) return std::nullopt;
  const auto file_size = static_cast<std::uint64_t>(facts.st_size);
  auto begin = file_size;  // of the last line, if it has no end
  while (begin > 0) {
    const auto size = std::min<std::uint64_t>(begin, sizeof bytes);
    const auto read = ::pread(file.get(), bytes, static_cast<std::size_t>(size),
                              static_cast<::off_t>(begin - size));
    if (read != static_cast<::ssize_t>(size)) return std::nullopt;
    const auto newline = std::string_view(bytes, static_cast<std::size_t>(size)).rfind('\n');
    begin -= newline == std::string_view::npos ? size : size - newline - 1;
    if (newline != std::string_view::npos) break;
  }
  std::string last(static_cast<std::size_t>(file_size - begin), '\0');
  const auto read = ::pread(file.get(), last.data(), last.size(), static_cast<::off_t>(begin));
  return read == static_cast<::ssize_t>(last.size()) && is_whole_line(last) ? file_size : begin;
}

base::Result<LinePieces> LinePieces::open(const std::string& path, LastLine last,
                                          std::optional<std::uint64_t> first_bytes) {
  LinePieces pieces;
  pieces.last_ = last;
  pieces.left_ = first_bytes;
  pieces.path_ = path;
  if (is_recording(path)) {
    pieces.folder_ = path;
    if (auto part = pieces.next_part(); !part.ok()) return part.error();
    return pieces;
  }
  if (auto opened = pieces.open_part(path); !opened.ok()) return opened.error();
  return pieces;
}

base::Status LinePieces::open_part(const std::string& path) {
  unpacked_.reset();
  rest_ = {};
  at_ = 0;
  auto opened = open_file(path);
  if (!opened.ok()) return std::move(opened).error();
  file_ = *std::move(opened);
  struct stat facts {};
  // The position of standard input is where another program left it.
  is_file_ = path != "-" && ::fstat(file_->get(), &facts) == 0 && S_ISREG(facts.st_mode);
  char magic[kMagicBytes];
  std::size_t got = 0;
  while (got < sizeof magic) {
    const auto some = read_some(magic + got, sizeof magic - got);
    if (!some.ok()) return some.error();
    if (*some == 0) break;
    got += *some;
  }
  const std::string_view begin(magic, got);
  const bool packed = is_compressed(begin);
  if (is_file_ && packed) {
    auto file = MappedFile::open_as_it_is(path);
    if (!file.ok()) return file.error();
    packed_ = std::move(file).value();
    unpacked_.emplace(packed_.bytes());
  } else if (is_file_) {
    at_ = 0;
  } else if (packed) {
    auto all = read_rest(begin);
    if (!all.ok()) return std::move(all).error();
    piped_ = std::make_shared<const std::string>(*std::move(all));
    unpacked_.emplace(*piped_);
  } else {
    head_ = begin;
  }
  return base::Ok{};
}

base::Result<std::string> LinePieces::read_rest(std::string_view begin) {
  std::string all(begin);
  for (;;) {
    const auto old = all.size();
    all.resize(old + kPieceBytes);
    const auto some = read_some(all.data() + old, kPieceBytes);
    all.resize(old + (some.ok() ? *some : 0));
    if (!some.ok()) return some.error();
    if (*some == 0) return all;
  }
}

base::Result<std::size_t> LinePieces::read_some(char* to, std::size_t size) {
  while (true) {
    const auto got = is_file_ ? ::pread(file_->get(), to, size, static_cast<off_t>(at_))
                              : ::read(file_->get(), to, size);
    if (got >= 0) {
      at_ += static_cast<std::uint64_t>(got);
      return static_cast<std::size_t>(got);
    }
    if (errno == EINTR) continue;
    return base::Error{.message = fmt::format("cannot be read: {}", std::strerror(errno)),
                       .file = path_};
  }
}

base::Result<bool> LinePieces::next_part() {
  if (folder_.empty()) return false;
  const auto part = recorded_part(folder_, part_ + 1);
  if (!part) {
    if (recorded_part(folder_, part_ + 2)) {
      return base::Error{
          .message = fmt::format("found a recording without its file number {}", part_ + 1),
          .file = folder_};
    }
    return false;
  }
  ++part_;
  if (auto opened = open_part(*part); !opened.ok()) return opened.error();
  return true;
}

base::Result<std::size_t> LinePieces::fill(char* to, std::size_t size) {
  if (unpacked_) {
    if (rest_.empty()) {
      auto piece = unpacked_->next();
      if (!piece.ok()) {
        auto error = std::move(piece).error();
        error.file = path_;
        return error;
      }
      rest_ = *piece;
    }
    const auto some = rest_.substr(0, size);
    some.copy(to, some.size());
    rest_.remove_prefix(some.size());
    return some.size();
  }
  if (!head_.empty()) {
    const auto some = head_.copy(to, size);
    head_.erase(0, some);
    return some;
  }
  return read_some(to, size);
}

base::Result<std::string_view> LinePieces::next() {
  buffer_.erase(0, given_);
  given_ = 0;
  while (true) {
    const auto old = buffer_.size();
    buffer_.resize(old + kPieceBytes);
    const auto wanted = std::min<std::uint64_t>(kPieceBytes, left_.value_or(kPieceBytes));
    const auto got = fill(buffer_.data() + old, static_cast<std::size_t>(wanted));
    buffer_.resize(old + (got.ok() ? *got : 0));
    if (!got.ok()) return got.error();
    if (left_) *left_ -= *got;
    if (*got == 0) {
      const auto more = next_part();
      if (!more.ok()) return more.error();
      if (*more && left_ != 0u) continue;
      if (last_ == LastLine::kLeaveOut && !is_whole_line(buffer_)) return std::string_view();
      given_ = buffer_.size();
      return std::string_view(buffer_);
    }
    // What was there before has no end of a line.
    const auto last = std::string_view(buffer_).substr(old).rfind('\n');
    if (last == std::string_view::npos) continue;
    given_ = old + last + 1;
    return std::string_view(buffer_).substr(0, given_);
  }
}

}  // namespace cupel::formats
