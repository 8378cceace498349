// Inbox: see the header.
#include "engine/online/inbox.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "data/formats/decompress.hpp"
#include "data/formats/jepsen_reader.hpp"
#include "data/formats/recording.hpp"

namespace cupel::online {

namespace {

constexpr std::size_t kReadBytes = 1 << 20;

formats::OpenFile shared(base::Descriptor file) {
  return std::make_shared<const base::Descriptor>(std::move(file));
}

base::Error failed(const std::string& name, const char* what) {
  return {.message = fmt::format("{}: {}", what, std::strerror(errno)), .file = name};
}

}  // namespace

Inbox::~Inbox() {
  for (const auto& listener : listeners_) {
    if (!listener.path.empty()) ::unlink(listener.path.c_str());
  }
}

base::Status Inbox::add(const std::string& source) {
  if (source.starts_with("unix:") || source.starts_with("tcp:")) return listen(source);
  return open(source);
}

base::Status Inbox::open(const std::string& path) {
  if (path == "-") {
    inputs_.push_back({"-", Kind::kPipe, shared(base::Descriptor(::dup(STDIN_FILENO)))});
    return base::Ok{};
  }
  std::error_code unknown;
  if (std::filesystem::is_regular_file(path, unknown)) {
    auto opened = formats::open_file(path);
    if (!opened.ok()) return std::move(opened).error();
    inputs_.push_back({path, Kind::kFile, *std::move(opened)});
    return base::Ok{};
  }
  // A named pipe that nobody writes to yet does not keep open() waiting.
  base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return failed(path, "cannot be opened");
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return failed(path, "cannot be opened");
  if (S_ISDIR(facts.st_mode) && formats::is_recording(path)) {
    inputs_.push_back({.name = path, .kind = Kind::kFile, .file = {}, .folder = path});
    return base::Ok{};
  }
  if (S_ISDIR(facts.st_mode)) {
    return base::Error{.message =
                           "is a folder without history.00001.jsonl, expected a file, a "
                           "recording, a pipe or a socket",
                       .file = path};
  }
  inputs_.push_back({path, Kind::kPipe, shared(std::move(file))});
  return base::Ok{};
}

namespace {

// The name of a socket outlives a process that was killed. Nobody listens there, so it is no lock.
bool remove_abandoned(const sockaddr_un& place) {
  struct stat facts = {};
  if (::lstat(place.sun_path, &facts) != 0 || !S_ISSOCK(facts.st_mode)) return false;
  const base::Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const bool removed =
      probe &&
      ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 &&
      errno == ECONNREFUSED && ::unlink(place.sun_path) == 0;
  errno = EADDRINUSE;  // as bind() said
  return removed;
}

}  // namespace

base::Status Inbox::listen(const std::string& address) {
  Listener listener{address, {}, {}};
  const bool local = address.starts_with("unix:");
  sockaddr_un un{};
  sockaddr_in in{};
  if (local) {
    const auto path = address.substr(5);
    if (path.empty() || path.size() >= sizeof un.sun_path) {
      return base::Error{.message = fmt::format("found a path of {} bytes, expected 1 to {}",
                                                path.size(), sizeof un.sun_path - 1),
                         .file = address};
    }
    un.sun_family = AF_UNIX;
    std::memcpy(un.sun_path, path.data(), path.size());
    listener.path = path;
  } else {
    auto rest = address.substr(4);
    std::string host = "127.0.0.1";
    if (const auto colon = rest.rfind(':'); colon != std::string::npos) {
      host = rest.substr(0, colon);
      rest = rest.substr(colon + 1);
    }
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), port);
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    const bool good = error == std::errc() && end == rest.data() + rest.size() && port > 0 &&
                      ::inet_pton(AF_INET, host.c_str(), &in.sin_addr) == 1 &&
                      (ntohl(in.sin_addr.s_addr) >> 24) == 127;
    if (!good) {
      return base::Error{.message =
                             "expected tcp:PORT, or tcp:HOST:PORT with a loopback address "
                             "such as 127.0.0.1",
                         .file = address};
    }
  }
  listener.socket = base::Descriptor(
      ::socket(local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.socket) return failed(address, "cannot be listened on");
  const int yes = 1;
  ::setsockopt(listener.socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const auto* place =
      local ? reinterpret_cast<const sockaddr*>(&un) : reinterpret_cast<const sockaddr*>(&in);
  const auto size = static_cast<socklen_t>(local ? sizeof un : sizeof in);
  const auto bound = [&] { return ::bind(listener.socket.get(), place, size) == 0; };
  if (!(bound() || (local && errno == EADDRINUSE && remove_abandoned(un) && bound())) ||
      ::listen(listener.socket.get(), 64) != 0) {
    auto error = failed(address, "cannot be listened on");
    if (local && errno == EADDRINUSE) {
      error.message += "; another process uses this socket, or it is another file";
    }
    return error;
  }
  listeners_.push_back(std::move(listener));
  return base::Ok{};
}

base::Status Inbox::add_from(const std::string& file, std::uint64_t byte) {
  if (auto opened = open(file); !opened.ok()) return opened;
  auto& input = inputs_.back();
  input.read = byte;
  if (!input.folder.empty()) return skip(input, byte);
  if (input.kind == Kind::kFile) {
    input.at = byte;
    return base::Ok{};
  }
  return base::Error{.message = "found a pipe, which cannot be read from its middle on",
                     .file = file};
}

base::Status Inbox::open_next_part(Input& input) {
  const auto path = formats::recorded_part(input.folder, input.part + 1);
  if (!path) return base::Error{.message = "lost a file of the recording", .file = input.folder};
  input.packed = {};
  input.at = 0;
  input.file.reset();
  if (!path->ends_with(".zst")) {
    auto opened = formats::open_file(*path);
    // It may have been compressed since.
    if (!opened.ok() && formats::recorded_part(input.folder, input.part + 1) == path)
      return std::move(opened).error();
    if (opened.ok()) input.file = *std::move(opened);
  }
  ++input.part;
  if (input.file) return base::Ok{};
  auto packed = formats::MappedFile::open(path->ends_with(".zst") ? *path : *path + ".zst");
  if (!packed.ok()) return std::move(packed).error();
  input.packed = *std::move(packed);
  return base::Ok{};
}

base::Status Inbox::skip(Input& input, std::uint64_t bytes) {
  for (;;) {
    const auto size = formats::recorded_bytes(input.folder, input.part + 1);
    if (size && bytes > *size) {
      bytes -= *size;
      ++input.part;
      continue;
    }
    if (auto opened = open_next_part(input); !opened.ok()) return opened;
    struct stat facts {};
    if (input.file && ::fstat(input.file->get(), &facts) != 0) {
      return failed(input.folder, "cannot be read");
    }
    const auto there = input.file ? static_cast<std::uint64_t>(facts.st_size)
                                  : std::uint64_t{input.packed.bytes().size()};
    if (bytes <= there) break;
    bytes -= there;
  }
  input.at = bytes;
  return base::Ok{};
}

base::Result<std::size_t> Inbox::bytes_of_part(Input& input, char* to, bool& later) {
  if (!input.file) {
    const auto left = input.packed.bytes().substr(static_cast<std::size_t>(input.at), kReadBytes);
    left.copy(to, left.size());  // which takes an empty one
    input.at += left.size();
    return left.size();
  }
  if (input.name == "-") {  // others share it, so it stays one that waits
    pollfd ready{input.file->get(), POLLIN, 0};
    later = ::poll(&ready, 1, 0) == 0;
    if (later) return std::size_t{0};
  }
  // Others read the same file at places of their own.
  const auto got = input.kind == Kind::kFile
                       ? ::pread(input.file->get(), to, kReadBytes, static_cast<off_t>(input.at))
                       : ::read(input.file->get(), to, kReadBytes);
  if (got >= 0) {
    input.at += static_cast<std::uint64_t>(got);
    return static_cast<std::size_t>(got);
  }
  later = errno == EAGAIN || errno == EINTR;
  // A recorder that went away has sent what it sent.
  if (later || input.kind == Kind::kSocket) return std::size_t{0};
  return failed(input.name, "cannot be read");
}

base::Result<std::size_t> Inbox::bytes_of(Input& input, char* to, bool& later) {
  for (;;) {
    auto got = bytes_of_part(input, to, later);
    if (!got.ok() || *got > 0 || later || input.folder.empty()) return got;
    if (!formats::recorded_part(input.folder, input.part + 1)) return got;
    // What was written before the next file was made.
    got = bytes_of_part(input, to, later);
    if (!got.ok() || *got > 0 || later) return got;
    if (auto opened = open_next_part(input); !opened.ok()) return std::move(opened).error();
  }
}

void Inbox::accept(std::size_t listener) {
  for (;;) {
    base::Descriptor socket(::accept4(listeners_[listener].socket.get(), nullptr, nullptr,
                                      SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    inputs_.push_back(
        {fmt::format("{}, recorder {}", listeners_[listener].name, inputs_.size() + 1),
         Kind::kSocket, shared(std::move(socket))});
  }
}

base::Result<std::size_t> Inbox::poll(std::chrono::milliseconds wait, const Take& take) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < listeners_.size(); ++i) accept(i);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].ended) continue;
    auto read = this->read(i, take);
    if (!read.ok()) return read;
    bytes += *read;
  }
  if (bytes > 0 || wait.count() == 0) return bytes;
  std::vector<pollfd> all;
  for (const auto& listener : listeners_) all.push_back({listener.socket.get(), POLLIN, 0});
  bool files = false;
  for (const auto& input : inputs_) {
    if (input.ended) continue;
    // Of a named pipe without a writer, poll() says at once that it hung up.
    const bool waits = input.kind == Kind::kSocket || (input.kind == Kind::kPipe && input.read > 0);
    if (waits) {
      all.push_back({input.file->get(), POLLIN, 0});
    } else {
      files = true;
    }
  }
  constexpr std::chrono::milliseconds kFilePause{5};
  if (files) wait = std::min(wait, kFilePause);
  ::poll(all.data(), all.size(), static_cast<int>(wait.count()));
  return bytes;
}

base::Result<std::size_t> Inbox::read(std::size_t recorder, const Take& take) {
  auto& input = inputs_[recorder];
  const auto old = input.pending.size();
  buffer_.swap(input.pending);
  buffer_.resize(old + kReadBytes);
  bool later = false;
  auto got = bytes_of(input, buffer_.data() + old, later);
  buffer_.resize(old + (got.ok() ? *got : 0));
  if (!got.ok() || *got == 0) {
    buffer_.swap(input.pending);
    if (!got.ok() || later) return got;
    if (input.kind == Kind::kFile) {
      struct stat facts {};
      if (input.folder.empty() && ::fstat(input.file->get(), &facts) == 0 &&
          static_cast<std::uint64_t>(facts.st_size) < input.read) {
        return base::Error{.message = "became shorter while it was watched", .file = input.name};
      }
      input.ended = !follow_;
    } else {
      // A named pipe before its first writer has come is not over.
      input.ended = input.kind == Kind::kSocket || input.read > 0 || input.name == "-";
    }
    return std::size_t{0};
  }
  if (input.read == 0 && formats::is_compressed(std::string_view(buffer_).substr(old))) {
    return base::Error{.message =
                           "found compressed input, expected JSON lines as they are recorded. "
                           "Decompress it first, or use `cupel check`, which takes it as it is",
                       .file = input.name};
  }
  input.read += *got;
  const auto last = buffer_.rfind('\n');
  base::Status taken = base::Ok{};
  if (last != std::string::npos) {
    taken = take(recorder, std::string_view(buffer_).substr(0, last + 1));
    buffer_.erase(0, last + 1);
  }
  inputs_[recorder].pending.swap(buffer_);
  buffer_.clear();
  if (!taken.ok()) return std::move(taken).error();
  return *got;
}

bool Inbox::ended() const {
  return listeners_.empty() &&
         std::all_of(inputs_.begin(), inputs_.end(), [](const auto& input) { return input.ended; });
}

std::size_t Inbox::gone() const {
  return static_cast<std::size_t>(
      std::count_if(inputs_.begin(), inputs_.end(),
                    [](const auto& input) { return input.ended && input.kind == Kind::kSocket; }));
}

base::Status Inbox::take_whole_maps(const Take& take) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!formats::is_whole_line(inputs_[i].pending)) continue;
    auto line = std::exchange(inputs_[i].pending, {});
    if (inputs_.size() > 1 || inputs_[i].kind != Kind::kFile) line += '\n';
    took_open_line_ = true;
    if (auto taken = take(i, line); !taken.ok()) return taken;
  }
  return base::Ok{};
}

std::uint64_t Inbox::cut_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& input : inputs_) bytes += input.pending.size();
  return bytes;
}

}  // namespace cupel::online
