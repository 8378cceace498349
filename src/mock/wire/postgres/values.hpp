// Values between PostgreSQL's text, which sessions speak, and its binary formats.
//
// Source: the send and receive functions of PostgreSQL 15 (int2send, float8recv,
// timestamp_send, numeric_send …), as its documentation and clients describe them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mock/sql/session.hpp"
#include "mock/wire/postgres/codec.hpp"

namespace cupel::wire::postgres {

Oid oid_of(sql::Type type);
// kNull: a type that sessions do not know, or none.
sql::Type type_of(Oid type);
std::int16_t size_of(sql::Type type);  // in bytes; -1 varies

// Whether text_of_binary() takes values of this type, or of none (0).
bool is_known(Oid type);
// None: not of that type, or of one that is not known.
std::optional<std::string> text_of_binary(Oid type, std::string_view bytes);
std::optional<std::string> binary_of_text(sql::Type type, std::string_view text);

}  // namespace cupel::wire::postgres
