// SQL values and their types: texts in and out, casts, order, as PostgreSQL 15 has them
// with the C collation (text compares by bytes). Errors have its SQLSTATEs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/utf8.hpp"
#include "mock/sql/value/decimal.hpp"
#include "mock/sql/value/error.hpp"
#include "mock/sql/value/result.hpp"

namespace cupel::sql {

// What a value is depends on its Type: bool; int64 for integers, and for times microseconds since
// 2000-01-01; Decimal; string, also for kNull: a literal whose type is not settled.
using Scalar = std::variant<std::monostate, bool, std::int64_t, Decimal, std::string>;
inline bool is_null(const Scalar& value) {
  return value.index() == 0;
}

// A type with its modifier: varchar(10), numeric(8,2).
struct FullType {
  Type type = Type::kNull;
  int size = -1;  // of kVarchar characters, of kNumeric all digits; -1: any number
  int scale = 0;
  friend bool operator==(const FullType&, const FullType&) = default;
};

std::string_view type_name(Type type);  // "integer", "character varying"
bool is_integer(Type type);
bool is_number(Type type);
bool is_string(Type type);
bool is_time(Type type);

std::string to_text(const Scalar& value, Type type);  // not null
Scalar from_text(std::string_view text, const FullType& type);

// CAST: cuts text, rounds numbers. Raises 42846 where there is no cast.
Scalar cast(const Scalar& value, Type from, const FullType& to);
// As an assignment to a column: text that is too long raises 22001.
Scalar assign(const Scalar& value, Type from, const FullType& to);
// Whether values of this type can be cast so, in PostgreSQL's three contexts.
enum class Context : std::uint8_t { kImplicit, kAssignment, kExplicit };
bool can_cast(Type from, Type to, Context context);

// Equal values give equal texts: for DISTINCT, GROUP BY and the names of keys.
std::string canonical(const Scalar& value, Type type);

std::int64_t checked_integer(std::int64_t value, Type type);  // raises 22003

using base::valid_utf8;

std::int64_t now_microseconds();  // of the clock, since 2000-01-01

}  // namespace cupel::sql
