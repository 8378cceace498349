// A question over TCP, by a socket that never blocks.
#include "base/ask.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace cupel::base {

bool listens(const TcpPlace& place, Seconds timeout) {
  return connect_tcp(place, Patience(timeout)).ok();
}

Result<std::string> ask(const TcpPlace& place, std::string_view request, Seconds timeout,
                        const IsWhole& is_whole) {
  const Patience patience(timeout);
  const auto socket = connect_tcp(place, patience);
  if (!socket.ok()) return socket.error();
  if (auto sent = send_all(*socket, request, patience); !sent.ok()) return std::move(sent).error();
  std::string answer;
  for (;;) {
    if (!patience.wait(socket->get(), POLLIN)) {
      if (answer.empty()) return patience.late();
      return answer;
    }
    std::array<char, 4096> buffer;
    const auto count = ::recv(socket->get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count < 0 && answer.empty()) return Error{.message = std::strerror(errno)};
    if (count <= 0) return answer;
    answer.append(buffer.data(), static_cast<std::size_t>(count));
    if (is_whole && is_whole(answer)) return answer;
  }
}

}  // namespace cupel::base
