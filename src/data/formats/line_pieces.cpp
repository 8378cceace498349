// LinePieces: see the header.
#include "data/formats/line_pieces.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "data/formats/decompress.hpp"
#include "data/formats/recording.hpp"

namespace cupel::formats {

namespace {

constexpr std::size_t kPieceBytes = 1 << 20;
constexpr std::size_t kMagicBytes = 8;

}  // namespace

std::optional<std::uint64_t> whole_lines(const std::string& path) {
  const base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  char bytes[1 << 16];
  const auto got = ::pread(file.get(), bytes, kMagicBytes, 0);
  if (got < 0 || is_compressed({bytes, static_cast<std::size_t>(got)})) return std::nullopt;
  auto end = static_cast<std::uint64_t>(facts.st_size);
  while (end > 0) {
    const auto size = std::min<std::uint64_t>(end, sizeof bytes);
    const auto read = ::pread(file.get(), bytes, static_cast<std::size_t>(size),
                              static_cast<::off_t>(end - size));
    if (read != static_cast<::ssize_t>(size)) return std::nullopt;
    const auto last = std::string_view(bytes, static_cast<std::size_t>(size)).rfind('\n');
    if (last != std::string_view::npos) return end - size + last + 1;
    end -= size;
  }
  return 0;
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
  file_ = base::Descriptor(path == "-" ? ::dup(STDIN_FILENO)
                                       : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file_) {
    return base::Error{.message = fmt::format("cannot be opened: {}", std::strerror(errno)),
                       .file = path};
  }
  char magic[kMagicBytes];
  const auto got = path == "-" ? 0 : ::pread(file_.get(), magic, sizeof magic, 0);
  if (got <= 0 || !is_compressed({magic, static_cast<std::size_t>(got)})) return base::Ok{};
  auto packed = MappedFile::open_as_it_is(path);
  if (!packed.ok()) return packed.error();
  packed_ = std::move(packed).value();
  unpacked_.emplace(packed_.bytes());
  return base::Ok{};
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
  while (true) {
    const auto got = ::read(file_.get(), to, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EINTR) continue;
    return base::Error{.message = fmt::format("cannot be read: {}", std::strerror(errno)),
                       .file = path_};
  }
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
      if (last_ == LastLine::kLeaveOut) return std::string_view();
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
