// Faults of the network between nodes, each by what it does to sockets in their namespaces.
#include "databases/lab/network.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>

#include "base/descriptor.hpp"
#include "base/process.hpp"
#include "databases/lab/namespaces.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::lab {
namespace {

using base::Descriptor;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr std::uint16_t kPort = 7000;
constexpr int kSoon = 100;      // milliseconds in which a packet that is not lost arrives
constexpr int kLater = 20'000;  // in which it does on a busy machine

Milliseconds since(Clock::time_point start) {
  return Clock::now() - start;
}

bool readable(const Descriptor& socket, int milliseconds) {
  pollfd poll{socket.get(), POLLIN, 0};
  return ::poll(&poll, 1, milliseconds) == 1;
}

// Two nodes and a third that must not notice anything; UDP and TCP sockets at each.
class NetworkFaults : public testing::Test {
 protected:
  static constexpr std::size_t kNodes = 3;

  void SetUp() override {
    enter_namespaces();
    if (const auto why = networks_forbidden(); !why.empty()) GTEST_SKIP() << why;
    auto made = Network::make(kNodes);
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    network_ = *std::move(made);
    for (std::size_t end = 0; end <= kNodes; ++end) {
      datagrams_[end] = socket_at(end, SOCK_DGRAM);
      listeners_[end] = socket_at(end, SOCK_STREAM);
      ASSERT_EQ(::listen(listeners_[end].get(), 10), 0);
    }
  }

  static constexpr std::size_t kOfClients = kNodes;
  std::string address(std::size_t end) const { return network_->address(end); }
  sockaddr_in place(std::size_t end, std::uint16_t port) const {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(port);
    ::inet_pton(AF_INET, address(end).c_str(), &place.sin_addr);
    return place;
  }

  Descriptor socket_at(std::size_t end, int type, bool bound = true) const {
    Descriptor made;
    const auto make = [&]() -> base::Status {
      made = Descriptor(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
      const auto here = place(end, kPort);
      if (bound) {
        EXPECT_EQ(::bind(made.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here), 0);
      }
      return base::Ok{};
    };
    if (end == kOfClients) {
      EXPECT_TRUE(make().ok());
    } else {
      EXPECT_TRUE(Namespace::open(network_->file(end))->run(make).ok());
    }
    return made;
  }

  void set(const std::vector<LinkFault>& faults) {
    const auto done = network_->set_links(faults);
    ASSERT_TRUE(done.ok()) << done.error().to_string();
  }

  LinkCount count(std::size_t from, std::size_t to) const {
    const auto all = network_->disturbed();
    EXPECT_TRUE(all.ok());
    for (const auto& one : *all) {
      if (one.from == from && one.to == to) return one;
    }
    return {};
  }

  void send(std::size_t from, std::size_t to, std::uint32_t what) const {
    const auto there = place(to, kPort);
    EXPECT_EQ(::sendto(datagrams_[from].get(), &what, sizeof what, 0,
                       reinterpret_cast<const sockaddr*>(&there), sizeof there),
              static_cast<ssize_t>(sizeof what));
  }
  std::optional<std::uint32_t> receive(std::size_t at, int milliseconds) const {
    std::uint32_t what = 0;
    if (!readable(datagrams_[at], milliseconds)) return std::nullopt;
    EXPECT_EQ(::recv(datagrams_[at].get(), &what, sizeof what, 0),
              static_cast<ssize_t>(sizeof what));
    return what;
  }
  bool arrives(std::size_t from, std::size_t to) const {
    send(from, to, 1);
    return receive(to, kLater).has_value();
  }
  bool vanishes(std::size_t from, std::size_t to) const {
    send(from, to, 1);
    return !receive(to, kSoon).has_value();
  }
  // The shortest of some: a busy machine makes it longer.
  Milliseconds time_from(std::size_t from, std::size_t to) const {
    auto shortest = Milliseconds::max();
    for (int i = 0; i < 5; ++i) {
      const auto start = Clock::now();
      EXPECT_TRUE(arrives(from, to));
      shortest = std::min(shortest, since(start));
    }
    return shortest;
  }

  // 0: connected.
  int connect(const Descriptor& client, std::size_t to) const {
    const auto there = place(to, kPort);
    return ::connect(client.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0
               ? 0
               : errno;
  }
  Descriptor accept(std::size_t at) const {
    EXPECT_TRUE(readable(listeners_[at], kLater));
    return Descriptor(::accept4(listeners_[at].get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  struct Connection {
    Descriptor client, server;
  };
  Connection connection(std::size_t from, std::size_t to) const {
    auto client = socket_at(from, SOCK_STREAM, false);
    EXPECT_EQ(connect(client, to), 0);
    return {std::move(client), accept(to)};
  }
  // How long so many bytes take.
  static Milliseconds transfer(const Connection& connection, std::size_t bytes) {
    const auto start = Clock::now();
    const auto sender = std::async(std::launch::async, [&] {
      const std::vector<char> all(bytes);
      for (std::size_t sent = 0; sent < bytes;) {
        const auto count = ::send(connection.client.get(), all.data(), bytes - sent, MSG_NOSIGNAL);
        if (count <= 0) return;
        sent += static_cast<std::size_t>(count);
      }
    });
    std::array<char, 65536> buffer;
    std::size_t received = 0;
    while (received < bytes && readable(connection.server, kLater)) {
      const auto count = ::recv(connection.server.get(), buffer.data(), buffer.size(), 0);
      if (count <= 0) break;
      received += static_cast<std::size_t>(count);
    }
    EXPECT_EQ(received, bytes);
    return since(start);
  }

  std::optional<Network> network_;
  std::array<Descriptor, kNodes + 1> datagrams_, listeners_;
};

TEST_F(NetworkFaults, NothingIsWrongAtFirst) {
  for (std::size_t from = 0; from <= kNodes; ++from) {
    for (std::size_t to = 0; to <= kNodes; ++to) {
      if (from != to) {
        EXPECT_TRUE(arrives(from, to)) << from << " to " << to;
      }
    }
  }
  EXPECT_EQ(address(0), "198.18.1.1");
  EXPECT_TRUE(network_->disturbed()->empty());
}

TEST_F(NetworkFaults, ACutLinkLosesAll) {
  set({{.from = 0, .to = 1, .loss = 1}});
  EXPECT_TRUE(vanishes(0, 1));
  EXPECT_TRUE(arrives(1, 0));
  EXPECT_TRUE(arrives(2, 1));
  EXPECT_TRUE(arrives(kOfClients, 1));
  EXPECT_EQ(count(0, 1).lost, 1U);
  // The other way instead, and a client's: what was cut before is whole.
  set({{.from = 1, .to = 0, .loss = 1}, {.from = kClients, .to = 2, .loss = 1}});
  EXPECT_TRUE(arrives(0, 1));
  EXPECT_TRUE(vanishes(1, 0));
  EXPECT_TRUE(vanishes(kOfClients, 2));
  EXPECT_TRUE(arrives(2, kOfClients));
  set({{.from = 2, .to = kClients, .loss = 1}});
  EXPECT_TRUE(vanishes(2, kOfClients));
  EXPECT_TRUE(arrives(kOfClients, 2));
  set({});
  EXPECT_TRUE(arrives(1, 0));
  EXPECT_TRUE(arrives(2, kOfClients));
  EXPECT_EQ(count(0, 1).lost, 1U) << "what was counted stays";
  EXPECT_EQ(count(kClients, 2).lost, 1U);
  EXPECT_EQ(count(2, kClients).lost, 1U);
}

TEST_F(NetworkFaults, ALossyLinkLosesItsShare) {
  constexpr std::uint32_t kSent = 2000;
  set({{.from = 0, .to = 1, .loss = 0.5}});
  std::uint32_t received = 0;
  for (std::uint32_t i = 0; i < kSent; ++i) {
    send(0, 1, i);
    while (receive(1, 0)) ++received;  // delivered before sendto() returns, as nothing is queued
  }
  while (receive(1, kSoon)) ++received;
  EXPECT_EQ(count(0, 1).lost, kSent - received);
  EXPECT_GT(received, kSent * 4 / 10);
  EXPECT_LT(received, kSent * 6 / 10);
  set({});
  EXPECT_TRUE(arrives(0, 1));
}

TEST_F(NetworkFaults, ASlowLinkDelays) {
  EXPECT_LT(time_from(0, 1).count(), 100);
  set({{.from = 0, .to = 1, .delay = 0.1}, {.from = 2, .to = kClients, .delay = 0.2}});
  EXPECT_GE(time_from(0, 1).count(), 100);
  EXPECT_LT(time_from(0, 1).count(), 190);
  EXPECT_GE(time_from(2, kOfClients).count(), 200);
  EXPECT_LT(time_from(1, 0).count(), 100);
  EXPECT_LT(time_from(0, 2).count(), 100);
  EXPECT_GE(count(0, 1).slow, 5U);
  // What waits when the link is healed arrives at once.
  set({{.from = 0, .to = 1, .delay = 1000}});
  EXPECT_TRUE(vanishes(0, 1));
  set({});
  EXPECT_TRUE(receive(1, kLater));
  EXPECT_LT(time_from(0, 1).count(), 100);
}

TEST_F(NetworkFaults, JitterKeepsTheOrder) {
  constexpr std::uint32_t kSent = 100;
  set({{.from = 0, .to = 1, .delay = 0.01, .jitter = 0.2}});
  const auto start = Clock::now();
  for (std::uint32_t i = 0; i < kSent; ++i) send(0, 1, i);
  for (std::uint32_t i = 0; i < kSent; ++i) EXPECT_EQ(receive(1, kLater), i);
  EXPECT_GE(since(start).count(), 100);
  EXPECT_EQ(count(0, 1).slow, kSent);
}

TEST_F(NetworkFaults, ASlowLinkCarriesTcp) {
  set({{.from = 0, .to = 1, .delay = 0.02}, {.from = 1, .to = 0, .delay = 0.02}});
  const auto slow = connection(0, 1);
  EXPECT_GE(transfer(slow, 3'000'000).count(), 40);
  EXPECT_GE(count(0, 1).slow, 3'000'000U / 65'535);
}

TEST_F(NetworkFaults, ANarrowLinkHasItsRate) {
  constexpr std::size_t kBytes = 1'000'000;
  const auto narrow = connection(0, 1), wide = connection(0, 2);
  set({{.from = 0, .to = 1, .bytes_per_second = kBytes}});
  const auto time = transfer(narrow, kBytes);
  EXPECT_GE(time.count(), 800);
  EXPECT_LE(time.count(), 3000);
  EXPECT_LT(transfer(wide, kBytes).count(), 700);
  set({});
  EXPECT_LT(transfer(narrow, kBytes).count(), 700);
}

TEST_F(NetworkFaults, AResetBreaksConnections) {
  const auto broken = connection(0, 1), other = connection(2, 1);
  set({{.from = 0, .to = 1, .reset = true}});
  char byte = 'x';
  EXPECT_EQ(::send(broken.client.get(), &byte, 1, MSG_NOSIGNAL), 1);
  ASSERT_TRUE(readable(broken.client, kLater));
  EXPECT_EQ(::recv(broken.client.get(), &byte, 1, 0), -1);
  EXPECT_EQ(errno, ECONNRESET);
  EXPECT_EQ(connect(socket_at(0, SOCK_STREAM, false), 1), ECONNREFUSED);
  EXPECT_GE(count(0, 1).reset, 2U);
  static_cast<void>(transfer(other, 1000));
  set({});
  static_cast<void>(transfer(connection(0, 1), 1000));
}

TEST_F(NetworkFaults, FaultsOfOneLinkAddUp) {
  set({{.from = 0, .to = 1, .delay = 0.05},
       {.from = 0, .to = 1, .delay = 0.05},
       {.from = 1, .to = 0, .loss = 1}});
  EXPECT_GE(time_from(0, 1).count(), 100);
  EXPECT_TRUE(vanishes(1, 0));
  // A delayed packet can be lost, and a delayed connection be reset.
  set({{.from = 0, .to = 1, .loss = 1, .delay = 0.01}});
  EXPECT_TRUE(vanishes(0, 1));
  set({{.from = 0, .to = 1, .reset = true, .delay = 0.01}});
  EXPECT_EQ(connect(socket_at(0, SOCK_STREAM, false), 1), ECONNREFUSED);
}

TEST_F(NetworkFaults, SaysWhatIsWrong) {
  const auto message = [&](const LinkFault& fault) {
    const auto done = network_->set_links({{fault}});
    return done.ok() ? "" : done.error().message;
  };
  EXPECT_EQ(message({.from = 0, .to = 3, .loss = 1}), "found node 3, but the nodes are 0 to 2");
  EXPECT_EQ(message({.from = 1, .to = 1, .loss = 1}), "found a link from an end to itself");
  EXPECT_EQ(message({.from = 1, .to = 2, .loss = 1.5}),
            "expected a loss from 0 to 1, and no negative delay or jitter");
  EXPECT_TRUE(arrives(0, 1));
}

}  // namespace
}  // namespace cupel::lab
