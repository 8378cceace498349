// PostgresEngine: a real PostgreSQL server whose tables are as weak as a mock store's level allows.
//
// The lab starts the server, as an unprivileged user in a temporary folder on the loopback
// interface; it preloads our table access method (postgres/), which asks the store of a
// StoreService. Each database that is made has it, and uses it for every table. The database for
// clients is kMainDatabase.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/temp_dir.hpp"
#include "engines/store_service.hpp"
#include "lab/server.hpp"
#include "mock/store.hpp"

namespace cupel::engines {

class PostgresEngine {
 public:
  struct Options {
    mock::Options store = {};
    // Unique constraints and foreign keys are checked on what was committed last, and not on what
    // the level allows a transaction to see.
    bool strong_constraints = false;
    const std::atomic<bool>* interrupted = nullptr;  // once it is true, start() gives up
  };
  // Errors: PostgreSQL or a part of it is not installed; it does not start.
  static base::Result<std::unique_ptr<PostgresEngine>> start(const Options& options);

  [[nodiscard]] std::string url() const { return server_.url(); }
  [[nodiscard]] std::uint16_t port() const { return server_.port(); }
  [[nodiscard]] StoreService& store() { return *service_; }
  [[nodiscard]] const StoreService& store() const { return *service_; }
  [[nodiscard]] lab::Server& server() { return server_; }

  // The main database as it is now becomes the one that start_over() copies. It has no clients.
  base::Status keep_as_template();
  // Clients of the main database lose their connections, and their transactions end.
  base::Status end_clients();
  // A new store, and a new main database. Clients of the old one lose their connections.
  base::Status start_over(const mock::Options& store);

 private:
  PostgresEngine(base::TempDir folder, std::unique_ptr<StoreService> service, lab::Server server);
  base::Status make_access_method();
  base::Status run_sql(const std::string& database, const std::vector<std::string>& statements);

  // In the order of their lives: the server ends first.
  base::TempDir folder_;
  std::unique_ptr<StoreService> service_;
  lab::Server server_;
  std::string template_ = "template1";
};

// The bytes of the access method's library; empty: the build had no headers of PostgreSQL's server.
std::string_view weak_table_library();

}  // namespace cupel::engines
