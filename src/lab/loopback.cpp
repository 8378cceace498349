// Loopback: plain TCP sockets.
#include "lab/loopback.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <random>

namespace cupel::lab {

namespace {

constexpr std::uint16_t kFirstPort = 20000, kLastPort = 32000;

class Socket {
 public:
  explicit Socket(int flags) : number_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)) {}
  ~Socket() {
    if (number_ >= 0) ::close(number_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

sockaddr_in address_of(const std::string& host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  return address;
}

bool is_free(std::uint16_t port) {
  const Socket socket(0);
  const int on = 1;  // as servers do: connections that linger from an earlier one do not count
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const auto address = address_of(std::string(kLoopback), port);
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
         ::listen(socket.get(), 1) == 0;
}

using Clock = std::chrono::steady_clock;

bool ready(const Socket& socket, short event, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  pollfd poll{socket.get(), event, 0};
  return ::poll(&poll, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) == 1;
}

bool connected(const Socket& socket, const sockaddr_in& address, Clock::time_point deadline) {
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return true;
  }
  int error = 0;
  socklen_t size = sizeof error;
  return errno == EINPROGRESS && ready(socket, POLLOUT, deadline) &&
         ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

}  // namespace

bool listens(const std::string& host, std::uint16_t port, base::Seconds timeout) {
  const Socket socket(SOCK_NONBLOCK);
  return connected(socket, address_of(host, port),
                   Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout));
}

std::vector<std::uint16_t> free_ports(std::size_t count) {
  // Truly at random: several test programs look for ports at the same time.
  std::random_device device;
  std::uniform_int_distribution<unsigned> any(kFirstPort, kLastPort);
  std::vector<std::uint16_t> ports;
  for (int tries = 0; ports.size() < count && tries < 10'000; ++tries) {
    const auto port = static_cast<std::uint16_t>(any(device));
    if (std::find(ports.begin(), ports.end(), port) == ports.end() && is_free(port)) {
      ports.push_back(port);
    }
  }
  if (ports.size() < count) ports.clear();
  return ports;
}

namespace {

std::string ask_while(const std::string& host, std::uint16_t port, std::string_view request,
                      base::Seconds timeout, const std::function<bool(const std::string&)>& more) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
  const Socket socket(SOCK_NONBLOCK);
  if (!connected(socket, address_of(host, port), deadline)) return {};
  if (!request.empty() && ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
                              static_cast<ssize_t>(request.size())) {
    return {};
  }
  std::string answer;
  do {
    std::array<char, 4096> buffer;
    if (!ready(socket, POLLIN, deadline)) break;
    const auto count = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (count <= 0) break;
    answer.append(buffer.data(), static_cast<std::size_t>(count));
  } while (more(answer));
  return answer;
}

}  // namespace

std::string ask(const std::string& host, std::uint16_t port, std::string_view request,
                base::Seconds timeout) {
  return ask_while(host, port, request, timeout, [](const std::string&) { return false; });
}

std::string ask_until(const std::string& host, std::uint16_t port, std::string_view request,
                      std::string_view end, base::Seconds timeout) {
  return ask_while(host, port, request, timeout, [&](const std::string& answer) {
    return end.empty() || answer.find(end) == std::string::npos;
  });
}

}  // namespace cupel::lab
