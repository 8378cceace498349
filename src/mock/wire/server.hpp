// The mock store's servers: PostgreSQL's protocol and HTTP, on ports of one
// address, all on one backend.
//
//   Store store(options);
//   sql::Catalog catalog(options.level);
//   const auto backend = make_backend(store, catalog);
//   const auto server = Server::start(*backend, {.postgres = 0});
//   // psql -h 127.0.0.1 -p (*server)->port(Interface::kPostgres)
//   (*server)->stop();
//
// One thread per connection. Connections beyond the limit get an error and are closed. A message
// that is malformed or too long ends its connection with an error in the protocol's
// words; nothing larger than a message (4 MiB) is kept of what a client sends, besides
// what it has prepared.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "mock/wire/backend.hpp"

namespace cupel::wire {

enum class Interface : std::uint8_t { kPostgres, kHttp };

struct ServerOptions {
  std::string address = "127.0.0.1";
  // 0: any free one. None: not served.
  std::optional<std::uint16_t> postgres = {}, http = {};
  std::size_t max_connections = 256;         // all interfaces together
  std::optional<std::string> password = {};  // none: any will do
};

class Server {
 public:
  // The backend is borrowed. Errors: an address or a port that cannot be listened on.
  static base::Result<std::unique_ptr<Server>> start(Backend& backend,
                                                     const ServerOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // 0: not served.
  [[nodiscard]] std::uint16_t port(Interface interface) const;
  [[nodiscard]] std::size_t connections() const;
  // Waits until there are at most so many. False: the time is over.
  [[nodiscard]] bool wait_for_connections(std::size_t most,
                                          std::chrono::duration<double> timeout) const;
  // Shuts the backend down, says goodbye to clients, joins all threads. May be repeated.
  void stop();

 private:
  class State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cupel::wire
