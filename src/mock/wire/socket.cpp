// poll() on the socket and the StopEvent: see the header.
#include "mock/wire/socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>

namespace cupel::wire {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kChunk = 65536;

std::uint16_t port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace

StopEvent::StopEvent() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
void StopEvent::signal() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(descriptor_.get(), &one, sizeof one);
}
bool StopEvent::signaled() const {
  pollfd waiting{.fd = descriptor_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, 0) > 0;
}

base::Result<Listening> listen_on(const std::string& address, std::uint16_t port) {
  const auto where = fmt::format("{} port {}", address, port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
      code != 0) {
    return base::Error{
        .message = fmt::format(
            "cannot listen on {}: {}; expected an address of this machine, as 127.0.0.1", where,
            ::gai_strerror(code))};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> freed(found, ::freeaddrinfo);
  Listening made{.socket = base::Descriptor(
                     ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))};
  const int on = 1;
  ::setsockopt(made.socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!made.socket || ::bind(made.socket.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(made.socket.get(), 128) != 0) {
    return base::Error{
        .message =
            fmt::format("cannot listen on {}: {}; another port may do, and 0 is any that is free",
                        where, std::strerror(errno))};
  }
  made.port = port_of(made.socket.get());
  return made;
}

Socket::Outcome Socket::wait_for(bool to_write, std::optional<Seconds> timeout) {
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout.value_or(Seconds(0)));
  for (;;) {
    int milliseconds = -1;
    if (timeout) {
      const std::chrono::duration<double, std::milli> left = end - Clock::now();
      milliseconds = static_cast<int>(std::clamp(std::ceil(left.count()), 0.0, 1e9));
    }
    pollfd waiting[] = {{.fd = descriptor_.get(),
                         .events = static_cast<short>(to_write ? POLLOUT : POLLIN),
                         .revents = 0},
                        {.fd = stop_.number(), .events = POLLIN, .revents = 0}};
    const int ready = ::poll(waiting, 2, milliseconds);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return Outcome::kEnded;
    if (waiting[1].revents != 0) return Outcome::kStopped;
    if (waiting[0].revents != 0) return Outcome::kWell;
    if (ready == 0) return Outcome::kTimeout;
  }
}

Socket::Outcome Socket::read(std::string& bytes, std::optional<Seconds> timeout) {
  char chunk[kChunk];  // not in `bytes`, which would be filled with zeros first
  for (;;) {
    if (const auto outcome = wait_for(false, timeout); outcome != Outcome::kWell) return outcome;
    const auto size = ::recv(descriptor_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    bytes.assign(chunk, size > 0 ? static_cast<std::size_t>(size) : 0);
    return size > 0 ? Outcome::kWell : Outcome::kEnded;
  }
}

bool Socket::read_now(std::string& bytes) {
  char chunk[kChunk];
  const auto size = ::recv(descriptor_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
  if (size <= 0) return false;
  bytes.assign(chunk, static_cast<std::size_t>(size));
  return true;
}

Socket::Outcome Socket::write(std::string_view bytes, Seconds timeout) {
  while (!bytes.empty()) {
    const auto size =
        ::send(descriptor_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(size));
    } else if (errno == EAGAIN) {
      if (const auto outcome = wait_for(true, timeout); outcome != Outcome::kWell) return outcome;
    } else if (errno != EINTR) {
      return Outcome::kEnded;
    }
  }
  return Outcome::kWell;
}

void Socket::part() {
  ::shutdown(descriptor_.get(), SHUT_WR);
  std::string ignored;
  const auto end = Clock::now() + std::chrono::milliseconds(500);
  while (Clock::now() < end && read(ignored, Seconds(0.2)) == Outcome::kWell) {
  }
}

bool Socket::hung_up() const {
  pollfd asked{.fd = descriptor_.get(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&asked, 1, 0) > 0 && (asked.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

std::string Socket::peer() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char host[NI_MAXHOST] = "";
  if (::getpeername(descriptor_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host, sizeof host, nullptr, 0,
                    NI_NUMERICHOST) != 0) {
    return "unknown";
  }
  return host;
}

}  // namespace cupel::wire
