// Files in: see the header.
#include "data/formats/input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/descriptor.hpp"
#include "base/interrupt.hpp"
#include "data/formats/decompress.hpp"
#include "data/formats/open_file.hpp"
#include "data/formats/recording.hpp"

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

// A pipe, to its end.
base::Status read_all(int file, const std::string& path, base::Budget* budget, std::string& held) {
  char buffer[1 << 16];
  for (;;) {
    const auto got = ::read(file, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(path, "read");
    if (got == 0) return base::Ok{};
    if (budget != nullptr) {
      const bool grows = held.size() + static_cast<std::size_t>(got) > held.capacity();
      if (budget->exceeded() || (grows && budget->would_exceed(2 * held.size()))) throw Stopped{};
    }
    held.append(buffer, static_cast<std::size_t>(got));
  }
}

// A named pipe without a writer is waited for, until the user wishes that the program ends: open(2)
// itself would go on after the signal.
base::Result<base::Descriptor> open_new(const std::string& path, base::Budget* budget) {
  if (path == "-") {
    base::Descriptor standard(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
    if (standard.get() < 0) return system_error(path, "open");
    return standard;
  }
  struct stat info {};
  const bool pipe = ::stat(path.c_str(), &info) == 0 && S_ISFIFO(info.st_mode);
  base::Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | (pipe ? O_NONBLOCK : 0)));
  if (opened.get() < 0) return system_error(path, "open");
  if (!pipe) return opened;
  constexpr int kPauseMs = 50;
  for (pollfd ready{opened.get(), POLLIN, 0}; ::poll(&ready, 1, kPauseMs) <= 0;) {
    if (budget != nullptr && budget->exceeded()) throw Stopped{};
    if (base::interrupted())
      return base::Error{.message = "interrupted before a program wrote to this pipe",
                         .file = path};
  }
  const int flags = ::fcntl(opened.get(), F_GETFL);
  if (flags < 0 || ::fcntl(opened.get(), F_SETFL, flags & ~O_NONBLOCK) < 0)
    return system_error(path, "open");
  return opened;
}

}  // namespace

// Mapped, or held where it cannot be.
struct MappedFile::Content {
  const char* mapped = nullptr;
  std::size_t size = 0;
  std::string held;

  Content() = default;
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;
  ~Content() {
    if (mapped != nullptr) ::munmap(const_cast<char*>(mapped), size);
  }
};

namespace {

// The size of a file and when it was last written to.
struct FileState {
  off_t size = 0;
  timespec written{};

  static FileState of(const base::Descriptor& file) {
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) return {};
    return {info.st_size, info.st_mtim};
  }
  bool operator==(const FileState& other) const {
    return size == other.size && written.tv_sec == other.written.tv_sec &&
           written.tv_nsec == other.written.tv_nsec;
  }
};

// The files that are open once, by path.
struct KeptOpen {
  std::mutex mutex;
  struct Kept {
    int asked = 0;  // how many OpenOnce there are
    OpenFile file = {};
    FileState first = {};  // when it was opened
  };
  std::map<std::string, Kept> files;
};

KeptOpen& kept_open() {
  static KeptOpen kept;
  return kept;
}

}  // namespace

OpenOnce::OpenOnce(std::string path) : path_(std::move(path)) {
  auto& kept = kept_open();
  const std::lock_guard lock(kept.mutex);
  ++kept.files[path_].asked;
}

OpenOnce::~OpenOnce() {
  auto& kept = kept_open();
  const std::lock_guard lock(kept.mutex);
  const auto at = kept.files.find(path_);
  if (--at->second.asked == 0) kept.files.erase(at);
}

bool has_changed(const std::string& path) {
  auto& kept = kept_open();
  const std::lock_guard lock(kept.mutex);
  const auto at = kept.files.find(path);
  return at != kept.files.end() && at->second.file &&
         FileState::of(*at->second.file) != at->second.first;
}

base::Result<OpenFile> open_file(const std::string& path, base::Budget* budget) {
  auto& kept = kept_open();
  {
    const std::lock_guard lock(kept.mutex);
    const auto at = kept.files.find(path);
    if (at != kept.files.end() && at->second.file) return at->second.file;
  }
  auto opened = open_new(path, budget);
  if (!opened.ok()) return std::move(opened).error();
  auto file = std::make_shared<const base::Descriptor>(std::move(opened).value());
  struct stat info {};
  if (::fstat(file->get(), &info) != 0) return system_error(path, "stat");
  if (!S_ISREG(info.st_mode)) return file;
  const std::lock_guard lock(kept.mutex);
  const auto at = kept.files.find(path);
  if (at == kept.files.end()) return file;
  auto& mine = at->second;
  if (mine.file) return mine.file;  // another thread was faster
  mine.first = FileState::of(*file);
  mine.file = file;
  return file;
}

MappedFile MappedFile::holding(std::string bytes) {
  auto content = std::make_shared<Content>();
  content->held = std::move(bytes);
  MappedFile file;
  file.content_ = std::move(content);
  return file;
}

base::Result<MappedFile> MappedFile::open(const std::string& path, base::Budget* budget) {
  if (is_recording(path)) {
    auto lines = read_recording(path, budget);
    if (!lines.ok()) return std::move(lines).error();
    return holding(*std::move(lines));
  }
  auto file = open_as_it_is(path, budget);
  if (!file.ok() || !is_compressed(file->bytes())) return file;
  auto content = decompress(file->bytes(), budget);
  if (!content.ok()) {
    auto error = content.error();
    error.file = path;
    return error;
  }
  return holding(*std::move(content));
}

base::Result<MappedFile> MappedFile::open_as_it_is(const std::string& path, base::Budget* budget) {
  auto opened = open_file(path, budget);
  if (!opened.ok()) return std::move(opened).error();
  const OpenFile& file = *opened;
  auto content = std::make_shared<Content>();
  struct stat info {};
  if (::fstat(file->get(), &info) != 0) return system_error(path, "stat");
  if (S_ISDIR(info.st_mode))
    return base::Error{.message = "is a directory, expected a file", .file = path};
  MappedFile mapped;
  if (!S_ISREG(info.st_mode)) {
    if (auto read = read_all(file->get(), path, budget, content->held); !read.ok())
      return std::move(read).error();
    mapped.content_ = std::move(content);
    return mapped;
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size > 0) {
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file->get(), 0);
    if (address == MAP_FAILED) return system_error(path, "map");
    ::madvise(address, size, MADV_SEQUENTIAL);
    content->mapped = static_cast<const char*>(address);
    content->size = size;
  }
  mapped.content_ = std::move(content);
  return mapped;
}

std::string_view MappedFile::bytes() const {
  if (!content_) return {};
  return content_->mapped != nullptr ? std::string_view(content_->mapped, content_->size)
                                     : std::string_view(content_->held);
}

void MappedFile::release(const char* begin, const char* end) const {
  if (!content_ || content_->mapped == nullptr) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto in_page = [page](const char* at) {
    return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(at) % page);
  };
  const char* first = std::max(begin, content_->mapped);
  if (in_page(first) != 0) first += page - in_page(first);
  const char* last = std::min(end, content_->mapped + content_->size);
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
