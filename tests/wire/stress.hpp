// Random requests to a server, some valid and some not, of many connections at once.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "mock/wire/server.hpp"
#include "mock/wire/socket.hpp"
#include "wire/golden.hpp"

namespace cupel::wire {

inline base::Descriptor connect_raw(std::uint16_t port, timeval patience) {
  base::Descriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::setsockopt(made.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return made;
}

// CUPEL_STRESS_SECONDS, or this.
inline double stress_seconds(double otherwise) {
  const char* asked = std::getenv("CUPEL_STRESS_SECONDS");
  return asked != nullptr ? std::atof(asked) : otherwise;
}

struct Stressed {
  std::uint64_t requests = 0, answered = 0;
};

// 64 connections at a time, each after its greeting up to 30 times up to five of `piece`, now
// and then with a byte changed or cut off. `piece` is called from many threads.
inline Stressed stress(
    const Server& server, double seconds, std::uint64_t seed,
    const std::function<std::string(base::Random&, Interface, unsigned connection)>& piece) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::atomic<std::uint64_t> requests = 0, answered = 0;
  std::vector<std::thread> clients;
  for (unsigned number = 0; number < 64; ++number) {
    clients.emplace_back([&, number] {
      base::Random random(64 * seed + number);
      const Interface interfaces[] = {Interface::kPostgres, Interface::kHttp};
      while (Clock::now() < end) {
        const auto interface = interfaces[random.below(2)];
        const auto socket = connect_raw(server.port(interface), {.tv_sec = 0, .tv_usec = 5000});
        std::string bytes;
        if (interface == Interface::kPostgres)
          bytes = bytes_of("00000011 00030000 'user' 00 'al' 00 00");
        for (auto rounds = random.below(30) + 1; rounds > 0 && Clock::now() < end; --rounds) {
          for (auto count = random.below(5) + 1; count > 0; --count)
            bytes += piece(random, interface, number);
          if (random.chance(0.05))
            bytes[random.below(bytes.size())] = static_cast<char>(random.next());
          if (random.chance(0.05)) bytes.resize(random.below(bytes.size()));
          if (::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) break;
          ++requests;
          bytes.clear();
          char answer[4096];
          const auto size = ::recv(socket.get(), answer, sizeof answer, 0);
          if (size > 0) ++answered;
          if (size == 0) break;
        }
      }
    });
  }
  for (auto& client : clients) client.join();
  return {requests, answered};
}

}  // namespace cupel::wire
