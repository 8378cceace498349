// TCP sockets on loopback, for the proxies of the tests.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <stdexcept>

#include "base/descriptor.hpp"

namespace cupel::test {

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Throws runtime_error.
inline base::Descriptor connected_to(std::uint16_t port) {
  base::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = loopback(port);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error("the proxy cannot connect to its server");
  }
  return socket;
}

// On a free port, which it says. Throws runtime_error.
inline base::Descriptor listening(std::uint16_t& port) {
  base::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  auto address = loopback(0);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.get(), any, size) != 0 || ::listen(socket.get(), 64) != 0 ||
      ::getsockname(socket.get(), any, &size) != 0) {
    throw std::runtime_error("the proxy cannot listen");
  }
  port = ntohs(address.sin_port);
  return socket;
}

}  // namespace cupel::test
