// PostgresEngine: a real PostgreSQL server whose tables are as weak as a mock store's level allows.
//
// It preloads our table access method (postgres/). Each database that is made has it, and uses it
// for every table.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "engine/mock/store.hpp"
#include "mock/engines/sql_engine.hpp"

namespace cupel::engines {

class PostgresEngine final : public SqlEngine {
 public:
  // Errors: PostgreSQL or a part of it is not installed; it does not start.
  static base::Result<std::unique_ptr<PostgresEngine>> start(const Options& options);

  // The main database becomes a template, which start_over() copies; other databases stay.
  base::Status keep_as_template() override;
  base::Status end_clients() override;
  // Whether rows are locked, and the client's isolation level by default, stay as they were at the
  // start.
  base::Status start_over(const mock::Options& store) override;

 private:
  explicit PostgresEngine(Parts parts) : SqlEngine(std::move(parts)) {}
  base::Status make_access_method();
  base::Status run_sql(const std::string& database, const std::vector<std::string>& statements);

  std::string template_ = "template1";
};

// The bytes of the access method's library; empty: the build had no headers of PostgreSQL's server.
std::string_view weak_table_library();

}  // namespace cupel::engines
