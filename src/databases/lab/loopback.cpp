// Loopback: free ports by trying them.
#include "databases/lab/loopback.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "base/ask.hpp"

namespace cupel::lab {

namespace {

constexpr std::uint16_t kFirstPort = 20000, kLastPort = 32000;

class Socket {
 public:
  Socket() : number_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (number_ >= 0) ::close(number_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

bool is_free(std::uint16_t port) {
  const Socket socket;
  const int on = 1;  // as servers do: connections that linger from an earlier one do not count
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
         ::listen(socket.get(), 1) == 0;
}

}  // namespace

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

std::string ask(const std::string& host, std::uint16_t port, std::string_view request,
                base::Seconds timeout) {
  auto answer = base::ask({host, port}, request, timeout, [](std::string_view) { return true; });
  return answer.ok() ? *std::move(answer) : std::string();
}

std::string ask_until(const std::string& host, std::uint16_t port, std::string_view request,
                      std::string_view end, base::Seconds timeout) {
  auto answer = base::ask({host, port}, request, timeout, [&](std::string_view so_far) {
    return !end.empty() && so_far.find(end) != std::string_view::npos;
  });
  return answer.ok() ? *std::move(answer) : std::string();
}

bool listens(const std::string& host, std::uint16_t port, base::Seconds timeout) {
  return base::listens({host, port}, timeout);
}

}  // namespace cupel::lab
