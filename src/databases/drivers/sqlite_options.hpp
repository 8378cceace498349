// SqliteOptions: the options of a URL by which SQLite and dqlite run a transaction.
#pragma once

#include <chrono>
#include <string>

#include "base/result.hpp"
#include "databases/drivers/sql.hpp"
#include "databases/drivers/url.hpp"

namespace cupel::drivers {

struct SqliteOptions {
  std::string mode = "deferred";  // BEGIN DEFERRED …
  std::chrono::milliseconds busy_timeout{1000};
  sql::Dialect dialect;
};

// Takes mode, busy_timeout and list. `timeout`: seconds of a statement, which no lock is waited for
// longer.
base::Result<SqliteOptions> take_sqlite_options(Url& url, double timeout);

}  // namespace cupel::drivers
