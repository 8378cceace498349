// MariadbEngine: a real MariaDB server whose tables are as weak as a mock store's level allows.
//
// It loads our storage engine (mariadb/) in place of InnoDB. The rows are in the server's memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "engine/mock/store.hpp"
#include "mock/engines/sql_engine.hpp"

namespace cupel::engines {

class MariadbEngine final : public SqlEngine {
 public:
  // Errors: MariaDB or a part of it is not installed; it does not start.
  static base::Result<std::unique_ptr<MariadbEngine>> start(const Options& options);

  // All databases, with their tables, views, triggers and routines. Accounts and settings stay as
  // clients leave them.
  base::Status keep_as_template() override;
  base::Status end_clients() override;
  base::Status start_over(const mock::Options& store) override;

 private:
  MariadbEngine(Parts parts, bool locks) : SqlEngine(std::move(parts)), locks_(locks) {}
  // Each ends with "//".
  base::Status run_sql(const std::string& statements);

  bool locks_;
};

// The bytes of the storage engine's library; empty: the build had no headers of MariaDB's server.
std::string_view weak_engine_library();

}  // namespace cupel::engines
