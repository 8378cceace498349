// Values between PostgreSQL's text, which sessions speak, and its binary formats.
//
// Source: the send and receive functions of PostgreSQL 15 (int2send, float8recv,
// timestamp_send, numeric_send …), as its documentation and clients describe them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sql/session.hpp"
#include "wire/postgres/codec.hpp"

namespace cupel::wire::postgres {

Oid oid_of(sql::Type type);
// kNull: a type that sessions do not know, or none.
sql::Type type_of(Oid type);
std::int16_t size_of(Oid type);  // in bytes; -1 varies

// None: not of that type, or a type that has no binary format here.
std::optional<std::string> text_of_binary(Oid type, std::string_view bytes);
std::optional<std::string> binary_of_text(Oid type, std::string_view text);

}  // namespace cupel::wire::postgres
