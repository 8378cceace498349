// The types of SQL values, and a value as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cupel::sql {

// A column's or parameter's type. PostgreSQL's int2, int4, int8, float8, numeric, text, varchar,
// date, timestamp, timestamptz and bool; kNull is its `unknown`:
// a parameter nothing is known of.
enum class Type : std::uint8_t {
  kNull,
  kBoolean,
  kSmallint,
  kInteger,
  kBigint,
  kNumeric,
  kDouble,
  kText,
  kVarchar,
  kDate,
  kTimestamp,
  kTimestampTz,  // always shown in UTC
};

// A value of a result or of a parameter: null, or its text as PostgreSQL prints it
// ("t"/"f", "12", "1.50", "2024-01-01 00:00:00"); wire protocols convert from there.
using Datum = std::optional<std::string>;

}  // namespace cupel::sql
