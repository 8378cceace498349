// SQL: each counterexample as a script to run by hand, in the manner of Hermitage
// (Kleppmann): one line a step, in the order that provokes the anomaly, the
// transaction in a comment after it, and what was seen.
#pragma once

#include <string>
#include <string_view>

#include "report/emit.hpp"

namespace cupel::report {

enum class Dialect : std::uint8_t { kPostgres, kMysql };

// By the metadata "database": MySQL, MariaDB, Galera, TiDB; PostgreSQL otherwise.
Dialect dialect_of(const history::History& history);

// A script for each counterexample, one after the other; comments only if there is none.
// Statements of a table with the columns id and value, whatever the workload's
// statements were. Every comment is on the line of its statement or on one of its own.
std::string emit_sql(const Emission& emission);

// The text as a string literal of the dialect.
std::string sql_string(std::string_view text, Dialect dialect);

}  // namespace cupel::report
