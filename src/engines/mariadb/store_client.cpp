// A blocking socket that wakes up now and then to look for an interruption.
#include "engines/mariadb/store_client.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "wire/bytes.hpp"

namespace cupel::engines::mariadb {

namespace {

constexpr long kPollMicroseconds = 20'000;
constexpr std::uint32_t kLongestReply = 1U << 28;

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
    keeps_statements_ = (static_cast<std::uint8_t>(reply->back()) & kKeepsStatements) != 0;
    return true;
  }
  errno = EPROTO;
  return lose("another reply than expected");
}

bool StoreClient::send(const Request& request) {
  const auto body = encode(request);
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

bool StoreClient::receive(char* bytes, std::size_t size, bool interruptible) {
  for (std::size_t got = 0; got < size;) {
    const auto more = ::recv(socket_, bytes + got, size - got, 0);
    if (more > 0) {
      got += static_cast<std::size_t>(more);
    } else if (more == 0 || (errno != EAGAIN && errno != EINTR)) {
      if (more == 0) errno = ECONNRESET;
      return lose("no reply");
    } else if (interruptible && settings_.interrupted && settings_.interrupted()) {
      disconnect();
      return fail(Trouble::kInterrupted, "the statement was interrupted");
    }
  }
  return true;
}

std::optional<std::string> StoreClient::ask(const Request& request, bool interruptible) {
  if (!send(request)) return std::nullopt;
  char head[4];
  if (!receive(head, sizeof head, interruptible)) return std::nullopt;
  const auto length = *message_length({head, sizeof head});
  if (length == 0 || length > kLongestReply) {
    errno = EPROTO;
    lose("bad length");
    return std::nullopt;
  }
  std::string reply(length, '\0');
  if (!receive(reply.data(), reply.size(), interruptible)) return std::nullopt;
  if (reply.front() != 'f') return reply;
  wire::Reader reader(std::string_view(reply).substr(1));
  const auto kind = static_cast<FailureKind>(reader.little<std::uint8_t>());
  const auto size = reader.little<std::uint32_t>();
  const auto trouble = kind == FailureKind::kDuplicate ? Trouble::kDuplicate
                       : kind == FailureKind::kInvalid ? Trouble::kInvalid
                                                       : Trouble::kConflict;
  fail(trouble, std::string(reader.take(size)));
  return std::nullopt;
}

bool StoreClient::ask_done(const Request& request, bool interruptible) {
  const auto reply = ask(request, interruptible);
  if (!reply) return false;
  if (*reply == "k") return true;
  errno = EPROTO;
  return lose("another reply than expected");
}

bool StoreClient::report_statement() {
  if (!keeps_statements_ || !settings_.statement) return true;
  auto text = settings_.statement();
  if (text == reported_) return true;
  reported_ = std::move(text);
  return send(TextRequest{reported_});
}

std::optional<std::vector<Position>> StoreClient::read(const ReadRequest& request) {
  if (!connect() || !report_statement()) return std::nullopt;
  const auto reply = ask(request);
  if (!reply) return std::nullopt;
  wire::Reader reader(std::string_view(*reply).substr(1));
  std::vector<Position> versions(request.rows.size());
  for (auto& version : versions) {
    version.block = reader.little<std::uint32_t>();
    version.offset = reader.little<std::uint16_t>();
  }
  if (reply->front() == 'v' && reader.complete()) return versions;
  errno = EPROTO;
  lose("another reply than expected");
  return std::nullopt;
}

bool StoreClient::choose(const ChooseRequest& request) {
  return connect() && ask_done(request);
}
bool StoreClient::commit(const CommitRequest& request) {
  reported_.clear();
  return connect() && ask_done(request, false);
}
bool StoreClient::copy_database(const CopyDatabaseRequest& request) {
  return connect() && ask_done(request);
}
void StoreClient::roll_back() {
  reported_.clear();
  if (socket_ >= 0) send(AbortRequest{});
}

}  // namespace cupel::engines::mariadb
