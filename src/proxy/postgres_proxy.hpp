// PostgresProxy: a server of PostgreSQL's protocol in front of a true one, which decides whose
// statement runs next.
//
// It understands where messages end and passes them on: clients authenticate with the server
// itself. A client's next statement (a Query, or everything up to a Sync or a Flush) is held. When
// all is quiet, one of the clients that wait goes on:
//   - no statement runs at the server, or each that does waits for a lock that a client holds whose
//     turn has not come (the server's own views say who waits for whom);
//   - the threads of the command sleep, and for Options::settle nothing has happened.
// A statement that concerns nobody else (BEGIN, SET) is not held.
//
// Encryption is refused as a server without it does; cancel requests are passed on. One thread does
// all the work. The server's INFO messages with Options::mark are taken out of the answers: a
// recorder in the database sends them (test_database.hpp).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "proxy/footprint.hpp"
#include "proxy/interleavings.hpp"
#include "proxy/messages.hpp"

namespace cupel::proxy {

// Where the server listens.
struct Endpoint {
  std::string host;  // a name or an address, or the folder of a Unix socket (with a slash first)
  std::uint16_t port = 5432;
};

// What one statement of a request came to.
struct Answer {
  std::vector<ResultColumn> columns = {};
  std::vector<std::vector<std::optional<std::string>>> rows = {};
  bool rows_dropped = false;                // too many to keep
  std::string tag = {};                     // "UPDATE 1"; empty: it failed, or did nothing
  std::string sqlstate = {}, message = {};  // of an error
  std::vector<std::string> recorded = {};   // what the recorder said, without the mark
};

// A client's batch and its answers, in the order in which the batches were done.
struct Executed {
  std::string client;
  std::vector<Request> requests = {};
  bool unreadable = false;
  bool left = false;  // the client closed its connection with this
  std::vector<Answer> answers = {};
  char before = 'I', after = 'I';  // I: no transaction; T: in one; E: in one that failed
  bool waited = false;             // for a lock of another client
  bool own_settings = false;       // another user than Options::user, or settings at the start
  std::uint64_t turn = 0;          // in whose course it was done, from 1
  std::chrono::nanoseconds began{}, ended{};  // since the proxy's start
};

class PostgresProxy {
 public:
  struct Options {
    Endpoint server = {};
    // A client that asks for the first database gets the second one.
    std::string database_asked = {}, database_given = {};
    std::string user = {};
    std::string mark = {};
    std::chrono::duration<double> settle{0.005};
    // False: nothing is held, and nothing is kept.
    bool holds = true;
    // Which of the clients goes on; at least one waits.
    std::function<std::size_t(const std::vector<Interleavings::Waiting>&)> choose = {};
    // All that a turn did: what the client's statement did, and what it let others do. `waits`: its
    // statement waits for a lock.
    std::function<void(const std::vector<Executed>& done, const Executed* waits)> ran = {};
    // Of each of these backends that waits for a lock: who is in its way.
    std::function<base::Result<std::map<std::int32_t, std::vector<std::int32_t>>>(
        const std::vector<std::int32_t>&)>
        blockers = {};
  };

  // Listens on a free port of the loopback interface. Errors: it cannot.
  static base::Result<std::unique_ptr<PostgresProxy>> start(Options options);
  ~PostgresProxy();
  PostgresProxy(const PostgresProxy&) = delete;
  PostgresProxy& operator=(const PostgresProxy&) = delete;

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
  explicit PostgresProxy(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace cupel::proxy
