// SchedulingProxy: a server of PostgreSQL's or MySQL's protocol in front of a true one, which
// decides whose statement runs next.
//
// It understands where messages end and passes them on (dialogue.hpp): clients authenticate with
// the server itself. A client's next statement is held. When all is quiet, one of the clients that
// wait goes on:
//   - no statement runs at the server, or each that does waits for a lock that a client holds whose
//     turn has not come (the server's own views say who waits for whom);
//   - the threads of the command sleep, and for Options::settle nothing has happened.
// A statement that concerns nobody else (BEGIN, SET) is not held.
//
// Clients have no TLS: it is refused as a server without it does. The server may have it. Cancel
// requests are passed on. One thread does all the work.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "mock/proxy/dialogue.hpp"
#include "mock/proxy/interleavings.hpp"
#include "mock/proxy/request.hpp"

namespace cupel::proxy {

// Where the server listens.
struct Endpoint {
  std::string host;  // a name or an address
  std::uint16_t port = 0;
  std::string socket = {};  // the path of a Unix socket, instead
  std::optional<wire::TlsOptions> tls = {};
};

// Backends by one that waits. kSomeClient: one that runs nothing now, whichever.
inline constexpr std::int32_t kSomeClient = -1;
using Blockers = std::map<std::int32_t, std::vector<std::int32_t>>;

class SchedulingProxy {
 public:
  struct Options {
    Endpoint server = {};
    Dialect dialect = Dialect::kPostgres;
    Dialogue::Options dialogue = {};
    std::chrono::duration<double> settle{0.005};
    // Which of the clients goes on; at least one waits.
    std::function<std::size_t(const std::vector<Interleavings::Waiting>&)> choose = {};
    // All that a turn did: what the client's statement did, and what it let others do. `waits`: its
    // statement waits for a lock.
    std::function<void(const std::vector<Executed>& done, const Executed* waits)> ran = {};
    // Of each of these backends that waits for a lock: who is in its way.
    std::function<base::Result<Blockers>(const std::vector<std::int32_t>&)> blockers = {};
    // What the recorder says of a statement of this backend that has ended, where the answers do
    // not say it.
    std::function<base::Result<std::vector<std::string>>(std::int32_t)> recorded = {};
  };

  // Listens on a free port of the loopback interface. Errors: it cannot.
  static base::Result<std::unique_ptr<SchedulingProxy>> start(Options options);
  ~SchedulingProxy();
  SchedulingProxy(const SchedulingProxy&) = delete;
  SchedulingProxy& operator=(const SchedulingProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  // Whose threads are to sleep before a choice. Any thread.
  void watch(pid_t command);
  // Ends all connections. What follows is for afterwards.
  void stop();
  [[nodiscard]] const std::vector<Executed>& executed() const;
  [[nodiscard]] std::uint64_t connections() const;
  // Why the server could not be asked, or could not be reached; empty: it could.
  [[nodiscard]] const std::string& trouble() const;

 private:
  class Loop;
  explicit SchedulingProxy(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace cupel::proxy
