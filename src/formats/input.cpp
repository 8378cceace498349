// Files in: see the header.
#include "formats/input.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "formats/decompress.hpp"
#include "formats/recording.hpp"

namespace cupel::formats {

namespace {

base::Error system_error(const std::string& path, const char* doing) {
  return {.message = std::string("cannot ") + doing + ": " + std::strerror(errno), .file = path};
}

// Names compare as people count: digits as numbers, the rest byte by byte.
bool counts_before(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      std::size_t from_i = i, from_j = j;
      while (from_i < a.size() && a[from_i] == '0') ++from_i;
      while (from_j < b.size() && b[from_j] == '0') ++from_j;
      std::size_t end_i = from_i, end_j = from_j;
      while (end_i < a.size() && digit(a[end_i])) ++end_i;
      while (end_j < b.size() && digit(b[end_j])) ++end_j;
      const auto x = a.substr(from_i, end_i - from_i), y = b.substr(from_j, end_j - from_j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      i = end_i;
      j = end_j;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  if ((i < a.size()) != (j < b.size())) return j < b.size();
  return a < b;
}

}  // namespace

base::Result<MappedFile> MappedFile::open(const std::string& path, base::Budget* budget) {
  if (is_recording(path)) {
    auto lines = read_recording(path, budget);
    if (!lines.ok()) return std::move(lines).error();
    MappedFile whole;
    whole.held_ = *std::move(lines);
    return whole;
  }
  auto file = open_as_it_is(path, budget);
  if (!file.ok() || !is_compressed(file->bytes())) return file;
  auto content = decompress(file->bytes(), budget);
  if (!content.ok()) {
    auto error = content.error();
    error.file = path;
    return error;
  }
  MappedFile decompressed;
  decompressed.held_ = *std::move(content);
  return decompressed;
}

base::Result<MappedFile> MappedFile::open_as_it_is(const std::string& path, base::Budget* budget) {
  const int fd = path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                             : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return system_error(path, "open");
  struct Closer {
    int fd;
    ~Closer() { ::close(fd); }
  } closer{fd};
  struct stat info {};
  if (::fstat(fd, &info) != 0) return system_error(path, "stat");
  if (S_ISDIR(info.st_mode))
    return base::Error{.message = "is a directory, expected a file", .file = path};
  MappedFile file;
  if (S_ISREG(info.st_mode)) {
    file.size_ = static_cast<std::size_t>(info.st_size);
    if (file.size_ == 0) return file;
    void* address = ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd, 0);
    if (address == MAP_FAILED) return system_error(path, "map");
    ::madvise(address, file.size_, MADV_SEQUENTIAL);
    file.mapped_ = static_cast<const char*>(address);
    return file;
  }
  char buffer[1 << 16];
  for (;;) {
    const auto got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(path, "read");
    if (got == 0) return file;
    if (budget != nullptr) {
      const bool grows = file.held_.size() + static_cast<std::size_t>(got) > file.held_.capacity();
      if (budget->exceeded() || (grows && budget->would_exceed(2 * file.held_.size())))
        throw Stopped{};
    }
    file.held_.append(buffer, static_cast<std::size_t>(got));
  }
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      held_(std::move(other.held_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(size_, other.size_);
  std::swap(held_, other.held_);
  return *this;
}

MappedFile::~MappedFile() {
  if (mapped_) ::munmap(const_cast<char*>(mapped_), size_);
}

void MappedFile::release(const char* begin, const char* end) const {
  if (mapped_ == nullptr) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto in_page = [page](const char* at) {
    return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(at) % page);
  };
  const char* first = std::max(begin, mapped_);
  if (in_page(first) != 0) first += page - in_page(first);
  const char* last = std::min(end, mapped_ + size_);
  last -= in_page(last);
  if (first >= last) return;
  ::madvise(const_cast<char*>(first), static_cast<std::size_t>(last - first), MADV_DONTNEED);
}

void Reading::look(const char* at) {
  constexpr std::ptrdiff_t kReleasedAtOnce = 1 << 20;
  if (stopped()) throw Stopped{};
  if (at == nullptr || file_ == nullptr) return;
  if (released_ == nullptr || at < released_) released_ = file_->bytes().data();
  if (at - released_ < kReleasedAtOnce) return;
  file_->release(released_, at);
  released_ = at;
}

base::Result<std::vector<std::string>> session_logs(const std::string& directory) {
  std::error_code failure;
  std::vector<std::string> names;
  std::filesystem::directory_iterator it(directory, failure), end;
  for (; !failure && it != end; it.increment(failure)) {
    if (it->path().extension() == ".log") names.push_back(it->path().filename().string());
  }
  if (failure) {
    return base::Error{.message = "cannot list: " + failure.message(), .file = directory};
  }
  if (names.empty()) {
    return base::Error{.message = "no *.log file in the directory, expected one a session",
                       .file = directory};
  }
  std::sort(names.begin(), names.end(), counts_before);
  for (auto& name : names) name = (std::filesystem::path(directory) / name).string();
  return names;
}

std::string stem(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

std::string shown(std::string_view piece) {
  constexpr std::size_t kLongest = 60;
  std::string text = "'";
  for (const char c : piece.substr(0, kLongest)) {
    if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      constexpr char kHex[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return text + (piece.size() > kLongest ? "…'" : "'");
}

Line line_at(std::string_view bytes, std::size_t offset) {
  const auto end = std::min(bytes.find('\n', offset), bytes.size());
  auto text = bytes.substr(offset, end - offset);
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return {text, std::min(end + 1, bytes.size())};
}

}  // namespace cupel::formats
