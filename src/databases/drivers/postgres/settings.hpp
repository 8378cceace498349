// What the driver for PostgreSQL takes from a URL, and what it says of a URL or an account that
// does not work.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "databases/drivers/driver.hpp"
#include "databases/drivers/sql.hpp"

namespace cupel::drivers::postgres {

using Seconds = std::chrono::duration<double>;
using Parameters = std::map<std::string, std::string>;  // libpq's, by keyword

struct Settings {
  std::vector<Parameters> hosts;
  std::string begin;  // "BEGIN ISOLATION LEVEL …"
  Seconds timeout{10};
  bool leave_seqscan = false, leave_deadlock_timeout = false;  // the URL sets them
  sql::Dialect dialect{sql::Product::kPostgres, sql::ListForm::kText};
};

inline constexpr Seconds kGrace{5};  // beyond the server's own time-out

// Errors: those of parse_url(), an unknown parameter, an `@` in a password, numbers of hosts and
// ports that differ. No message contains a password.
base::Result<Settings> parse_settings(std::string url, const OpenOptions& options);

// "127.0.0.1:5432".
std::string address(const Parameters& host);

// What to do about a refused connection or statement, as the end of its message, by the server's
// words: libpq has no code for them. In another language than English, no advice.
std::string advice(std::string_view message, const Parameters& host);

}  // namespace cupel::drivers::postgres
