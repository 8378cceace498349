// A question over TCP, by a socket that never blocks.
#include "base/ask.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

namespace cupel::base {

namespace {

using Clock = std::chrono::steady_clock;

class Socket {
 public:
  explicit Socket(int family)
      : number_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}
  ~Socket() {
    if (number_ >= 0) ::close(number_);
  }
  Socket(Socket&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

// How long is left.
class Patience {
 public:
  explicit Patience(Seconds timeout)
      : timeout_(timeout),
        deadline_(Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout)) {}

  // False: the deadline has passed, or the socket is of no use.
  [[nodiscard]] bool wait(const Socket& socket, short event) const {
    for (;;) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
      pollfd poll{socket.get(), event, 0};
      const int ready = ::poll(&poll, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
      if (ready >= 0 || errno != EINTR) return ready == 1;
    }
  }
  [[nodiscard]] Error late() const {
    std::array<char, 32> seconds;
    std::snprintf(seconds.data(), seconds.size(), "%g", timeout_.count());
    return {.message = std::string("no answer within ") + seconds.data() + " s"};
  }

 private:
  Seconds timeout_;
  Clock::time_point deadline_;
};

Error of_system(int number) {
  return {.message = std::strerror(number)};
}

Result<Socket> connected(const TcpPlace& place, const Patience& patience) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int unknown =
      ::getaddrinfo(place.host.c_str(), std::to_string(place.port).c_str(), &hints, &found);
  if (unknown != 0) return Error{.message = ::gai_strerror(unknown)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
  Socket socket(found->ai_family);
  if (socket.get() < 0) return of_system(errno);
  if (::connect(socket.get(), found->ai_addr, found->ai_addrlen) == 0) return socket;
  if (errno != EINPROGRESS) return of_system(errno);
  if (!patience.wait(socket, POLLOUT)) return patience.late();
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return of_system(error);
  return socket;
}

}  // namespace

bool listens(const TcpPlace& place, Seconds timeout) {
  return connected(place, Patience(timeout)).ok();
}

Result<std::string> ask(const TcpPlace& place, std::string_view request, Seconds timeout,
                        const IsWhole& is_whole) {
  const Patience patience(timeout);
  const auto socket = connected(place, patience);
  if (!socket.ok()) return socket.error();
  while (!request.empty()) {
    const auto sent = ::send(socket->get(), request.data(), request.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return of_system(errno);
    if (sent < 0 && !patience.wait(*socket, POLLOUT)) return patience.late();
    if (sent > 0) request.remove_prefix(static_cast<std::size_t>(sent));
  }
  std::string answer;
  for (;;) {
    if (!patience.wait(*socket, POLLIN)) {
      if (answer.empty()) return patience.late();
      return answer;
    }
    std::array<char, 4096> buffer;
    const auto count = ::recv(socket->get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count < 0 && answer.empty()) return of_system(errno);
    if (count <= 0) return answer;
    answer.append(buffer.data(), static_cast<std::size_t>(count));
    if (is_whole && is_whole(answer)) return answer;
  }
}

}  // namespace cupel::base
