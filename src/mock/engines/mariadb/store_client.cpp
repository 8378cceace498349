// A blocking socket that wakes up now and then to look for an interruption.
#include "mock/engines/mariadb/store_client.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "mock/wire/bytes.hpp"

namespace cupel::engines::mariadb {

namespace {

constexpr long kPollMicroseconds = 20'000;
constexpr std::size_t kChunk = 16384;

// The page that the store shares with all sessions; null: it cannot be mapped.
const std::uint32_t* map_commits(const std::string& socket) {
  const int file = ::open((socket + ".commits").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* mapped = ::mmap(nullptr, sizeof(std::uint32_t), PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  return mapped == MAP_FAILED ? nullptr : static_cast<const std::uint32_t*>(mapped);
}

}  // namespace

bool StoreClient::fail(Trouble trouble, std::string message) {
  failure_ = {trouble, std::move(message)};
  return false;
}

bool StoreClient::lose(const std::string& what) {
  const std::string reason = std::strerror(errno);
  disconnect();
  return fail(Trouble::kLost,
              "the connection to cupel's mock store is lost: " + what + ": " + reason);
}

void StoreClient::disconnect() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  came_.clear();
  taken_ = 0;
}

bool StoreClient::connect() {
  if (socket_ >= 0) return true;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (settings_.socket.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return lose(settings_.socket);
  }
  std::memcpy(address.sun_path, settings_.socket.c_str(), settings_.socket.size() + 1);
  socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0 ||
      ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return lose("cannot connect");
  }
  const timeval poll{.tv_sec = 0, .tv_usec = kPollMicroseconds};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &poll, sizeof poll);
  const auto reply = ask(OpenRequest{kProtocol, settings_.database, "cupel", settings_.session,
                                     settings_.client_port});
  if (!reply) return false;
  if (reply->front() == 'o' && reply->size() == 2) {
    opened_ = decode_opened(static_cast<std::uint8_t>(reply->back()));
    return true;
  }
  errno = EPROTO;
  return lose("another reply than expected");
}

bool StoreClient::send(const Request& request) {
  const auto body = encode(request);
  if (body.size() > kLongestMessage) {
    return fail(Trouble::kTooLong,
                "the transaction changes more than cupel's mock store takes at a time, 256 MB; "
                "commit more often");
  }
  std::string bytes;
  wire::put_little(bytes, body.size(), 4);
  bytes += body;
  for (std::size_t sent = 0; sent < bytes.size();) {
    const auto size = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (size < 0 && errno != EINTR && errno != EAGAIN) return lose("no request");
    if (size > 0) sent += static_cast<std::size_t>(size);
  }
  return true;
}

// Takes what has come, after a wait if that is nothing.
bool StoreClient::receive_some(const WhileWaiting& waiting) {
  char chunk[kChunk];
  ssize_t more = -1;
  wait_.until([&] {
    more = ::recv(socket_, chunk, sizeof chunk, MSG_DONTWAIT);
    return more >= 0 || (errno != EAGAIN && errno != EINTR);
  });
  while (more <= 0) {
    if (more == 0 || (errno != EAGAIN && errno != EINTR)) {
      if (more == 0) errno = ECONNRESET;
      return lose("no reply");
    }
    more = ::recv(socket_, chunk, sizeof chunk, 0);
    if (more < 0 && (errno == EAGAIN || errno == EINTR) && !waiting()) return false;
  }
  came_.assign(chunk, static_cast<std::size_t>(more));
  taken_ = 0;
  return true;
}

bool StoreClient::receive(char* bytes, std::size_t size, const WhileWaiting& waiting) {
  while (size > 0) {
    if (taken_ == came_.size() && !receive_some(waiting)) return false;
    const auto there = came_.copy(bytes, size, taken_);
    taken_ += there;
    bytes += there;
    size -= there;
  }
  return true;
}

std::optional<std::string> StoreClient::receive_reply(const WhileWaiting& waiting) {
  char head[4];
  if (!receive(head, sizeof head, waiting)) return std::nullopt;
  const auto length = *message_length({head, sizeof head});
  if (length == 0 || length > kLongestMessage) {
    errno = EPROTO;
    lose("bad length");
    return std::nullopt;
  }
  std::string reply(length, '\0');
  if (!receive(reply.data(), reply.size(), waiting)) return std::nullopt;
  if (reply.front() != 'f') return reply;
  wire::Reader reader(std::string_view(reply).substr(1));
  const auto kind = static_cast<FailureKind>(reader.little<std::uint8_t>());
  const auto size = reader.little<std::uint32_t>();
  const auto trouble = kind == FailureKind::kDuplicate ? Trouble::kDuplicate
                       : kind == FailureKind::kInvalid ? Trouble::kInvalid
                                                       : Trouble::kConflict;
  // As MariaDB says it, since applications look for that.
  const std::string found =
      kind == FailureKind::kDeadlock
          ? "Deadlock found when trying to get lock; try restarting transaction: "
          : "";
  fail(trouble, found + std::string(reader.take(size)));
  return std::nullopt;
}

std::optional<std::string> StoreClient::ask(const Request& request, bool interruptible) {
  if (!send(request)) return std::nullopt;
  return receive_reply([&] {
    if (!interruptible || !settings_.interrupted || !settings_.interrupted()) return true;
    disconnect();
    return fail(Trouble::kInterrupted, "the statement was interrupted");
  });
}

std::optional<std::string> StoreClient::ask_for_lock(const Request& request, Milliseconds limit,
                                                     bool& interrupted) {
  if (!connect() || !report_statement() || !send(request)) return std::nullopt;
  const auto began = std::chrono::steady_clock::now();
  bool gave_up = false, waits = false;
  auto reply = receive_reply([&] {
    if (!std::exchange(waits, true) && settings_.waits) settings_.waits(true);
    interrupted = interrupted || (settings_.interrupted && settings_.interrupted());
    if (gave_up || (!interrupted && std::chrono::steady_clock::now() - began < limit)) return true;
    gave_up = true;
    return send(StopWaitingRequest{});
  });
  if (waits && settings_.waits) settings_.waits(false);
  return reply;
}

bool StoreClient::ask_done(const Request& request, bool interruptible) {
  const auto reply = ask(request, interruptible);
  if (!reply) return false;
  if (*reply == "k") return true;
  errno = EPROTO;
  return lose("another reply than expected");
}

bool StoreClient::report_statement() {
  if (!opened_.keeps_statements || !settings_.statement) return true;
  auto text = settings_.statement();
  if (text == reported_) return true;
  reported_ = std::move(text);
  return send(TextRequest{reported_});
}

std::optional<std::vector<Position>> StoreClient::versions_of(const std::string& reply,
                                                              std::size_t count) {
  wire::Reader reader(std::string_view(reply).substr(1));
  std::vector<Position> versions(count);
  for (auto& version : versions) {
    version.block = reader.little<std::uint32_t>();
    version.offset = reader.little<std::uint16_t>();
  }
  if (reply.front() == 'v' && reader.complete()) return versions;
  errno = EPROTO;
  lose("another reply than expected");
  return std::nullopt;
}

std::uint32_t StoreClient::commits() {
  static const std::uint32_t* const mapped = map_commits(settings_.socket);
  if (mapped == nullptr) return kEveryCommit;
  return __atomic_load_n(mapped, __ATOMIC_ACQUIRE);
}

std::optional<std::vector<Position>> StoreClient::read(const ReadRequest& request) {
  if (!connect() || !report_statement()) return std::nullopt;
  const auto reply = ask(request);
  return reply ? versions_of(*reply, request.rows.size()) : std::nullopt;
}

StoreClient::Locked StoreClient::lock(LockRequest request, Milliseconds limit, Position& version) {
  bool interrupted = false;
  request.no_wait = limit.count() == 0;
  const auto reply = ask_for_lock(request, limit, interrupted);
  if (!reply) return Locked::kFailed;
  if (*reply == "w") return interrupted ? Locked::kInterrupted : Locked::kNotAvailable;
  const auto versions = versions_of(*reply, 1);
  if (!versions) return Locked::kFailed;
  version = versions->front();
  return Locked::kWell;
}

StoreClient::Locked StoreClient::guard(GuardRequest request, Milliseconds limit) {
  bool interrupted = false;
  request.no_wait = limit.count() == 0;
  const auto reply = ask_for_lock(request, limit, interrupted);
  if (!reply) return Locked::kFailed;
  if (*reply == "w") return interrupted ? Locked::kInterrupted : Locked::kNotAvailable;
  if (*reply == "k") return Locked::kWell;
  errno = EPROTO;
  lose("another reply than expected");
  return Locked::kFailed;
}

void StoreClient::unlock(const UnlockRequest& request) {
  if (socket_ >= 0) send(request);
}
void StoreClient::end_statement(const EndStatementRequest& request) {
  if (socket_ >= 0) send(request);
}
bool StoreClient::choose(const ChooseRequest& request) {
  return connect() && ask_done(request);
}
bool StoreClient::commit(const CommitRequest& request) {
  reported_.clear();
  return connect() && ask_done(request, false);
}
bool StoreClient::finish() {
  if (socket_ < 0 || opened_.refuses) return false;
  reported_.clear();
  return send(FinishRequest{});
}
bool StoreClient::copy_database(const CopyDatabaseRequest& request) {
  return connect() && ask_done(request);
}
void StoreClient::roll_back() {
  reported_.clear();
  if (socket_ >= 0) send(AbortRequest{});
}

}  // namespace cupel::engines::mariadb
