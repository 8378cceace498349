// The types of SQL values, and a value as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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

}  // namespace cupel::sql
