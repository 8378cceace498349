// The types of SQL values, a value as text, and what a statement gives back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cupel::sql {

// A column's or parameter's type: PostgreSQL's of these names. kNull is its `unknown`: a parameter
// nothing is known of. Numbers are in the order in which one goes over into the next by itself.
enum class Type : std::uint8_t {
  kNull,
  kBoolean,
  kSmallint,
  kInteger,
  kBigint,
  kNumeric,
  kText,
  kVarchar,
  kTimestamp,
  kTimestampTz,  // always shown in UTC
};

// A value of a result or of a parameter: null, or its text as PostgreSQL prints it
// ("t"/"f", "12", "1.50", "2024-01-01 00:00:00"); wire protocols convert from there.
using Datum = std::optional<std::string>;

struct Column {
  std::string name;
  Type type = Type::kText;
  // As PostgreSQL describes rows: the type's modifier, -1: none; the table, 0: of none; its column,
  // from 1.
  std::int32_t modifier = -1;
  std::uint32_t table_id = 0;
  std::uint16_t number = 0;
};

// What is said beside a result: "table "t" does not exist, skipping".
struct Notice {
  std::string message;
  std::string sqlstate = "00000";
  bool warning = false;
};

struct Result {
  std::string tag;        // "SELECT 2", "INSERT 0 1", "BEGIN": PostgreSQL's command tag
  bool has_rows = false;  // a SELECT or RETURNING or SHOW, even of no rows
  std::vector<Column> columns = {};
  std::vector<std::vector<Datum>> rows = {};
  std::uint64_t affected = 0;  // rows written
  std::vector<Notice> notices = {};
};

}  // namespace cupel::sql
