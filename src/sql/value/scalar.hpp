// SQL values and their types: texts in and out, casts, order, as PostgreSQL 15 has them
// with the C collation (text compares by bytes). Errors have its SQLSTATEs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/utf8.hpp"
#include "sql/value/decimal.hpp"
#include "sql/value/error.hpp"
#include "sql/value/type.hpp"

namespace cupel::sql {

// What a value is depends on its Type: bool; int64 for integers, days since 2000-01-01
// (kDate) and microseconds since then (timestamps); Decimal; double; string, also for kNull: a
// literal whose type is not settled.
using Scalar = std::variant<std::monostate, bool, std::int64_t, Decimal, double, std::string>;
inline bool is_null(const Scalar& value) {
  return value.index() == 0;
}

// A type with its modifiers: varchar(10), numeric(8,2). -1: none.
struct FullType {
  Type type = Type::kNull;
  int length = -1;     // of kVarchar, in characters
  int precision = -1;  // of kNumeric, all digits
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

// Neither is null; both are of this type. Negative, 0 or positive.
int compare(const Scalar& left, const Scalar& right, Type type);
// Equal values give equal texts: for DISTINCT, GROUP BY and the names of keys.
std::string canonical(const Scalar& value, Type type);

std::int64_t checked_integer(std::int64_t value, Type type);  // raises 22003

// Of a text that is computed, in bytes: raises 54000 above 64 MiB, where PostgreSQL has 1 GB.
void check_length(std::size_t bytes);
// Text in characters of UTF-8.
std::size_t characters(std::string_view text);
std::string_view first_characters(std::string_view text, std::size_t count);
using base::valid_utf8;

std::int64_t now_microseconds();  // of the clock, since 2000-01-01

}  // namespace cupel::sql
