// ForgetfulProxy: a TCP relay on loopback between a client and a MariaDB server, which rolls
// transactions back behind the client's back: after so many prepared statements of each, the server
// gets a ROLLBACK, and the client's answer says, as that of a server that did so by itself, that no
// transaction is open. Nothing else shows it. Or it gives each answer to SELECT CONNECTION_ID()
// another number, as a proxy does that moves sessions between connections.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <thread>

#include "base/descriptor.hpp"

namespace cupel::test {

class ForgetfulProxy {
 public:
  // `ends_at`: after how many statements; 0: never. Both outlive the proxy.
  ForgetfulProxy(std::uint16_t server, const std::atomic<int>& ends_at,
                 const std::atomic<bool>& moves);
  ~ForgetfulProxy();  // cuts all connections
  ForgetfulProxy(const ForgetfulProxy&) = delete;
  ForgetfulProxy& operator=(const ForgetfulProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  struct Link {
    base::Descriptor client, server;
    std::thread thread;
  };
  void work();

  std::uint16_t server_, port_ = 0;
  const std::atomic<int>& ends_at_;
  const std::atomic<bool>& moves_;
  base::Descriptor listener_;
  std::list<Link> links_;
  std::thread thread_;
};

}  // namespace cupel::test
