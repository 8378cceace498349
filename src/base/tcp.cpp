// TCP: see the header.
#include "base/tcp.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace cupel::base {

using Clock = std::chrono::steady_clock;

Patience::Patience(Seconds timeout)
    : timeout_(timeout),
      deadline_(Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout)) {}

bool Patience::wait(int socket, short event) const {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
    pollfd poll{socket, event, 0};
    const int ready = ::poll(&poll, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready >= 0 || errno != EINTR) return ready == 1;
  }
}

Error Patience::late() const {
  std::array<char, 32> seconds;
  std::snprintf(seconds.data(), seconds.size(), "%g", timeout_.count());
  return {.message = std::string("no answer within ") + seconds.data() + " s"};
}

namespace {

Error of_system(int number) {
  return {.message = std::strerror(number)};
}

}  // namespace

static Result<Descriptor> connect_to(const addrinfo& address, const Patience& patience) {
  Descriptor socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return of_system(errno);
  if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0) return socket;
  if (errno != EINPROGRESS) return of_system(errno);
  if (!patience.wait(socket.get(), POLLOUT)) return patience.late();
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return of_system(error);
  return socket;
}

Result<Descriptor> connect_tcp(const TcpPlace& place, const Patience& patience) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int unknown =
      ::getaddrinfo(place.host.c_str(), std::to_string(place.port).c_str(), &hints, &found);
  if (unknown != 0) return Error{.message = ::gai_strerror(unknown)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
  auto socket = connect_to(*found, patience);
  for (const auto* next = found->ai_next; next != nullptr && !socket.ok(); next = next->ai_next) {
    socket = connect_to(*next, patience);
  }
  return socket;
}

Status send_all(const Descriptor& socket, std::string_view bytes, const Patience& patience) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return of_system(errno);
    if (sent < 0 && !patience.wait(socket.get(), POLLOUT)) return patience.late();
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return Ok{};
}

}  // namespace cupel::base
