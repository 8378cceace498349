// The little that a protocol has to know of a statement's text: is it empty, and does
// another statement follow? Comments and quotes are skipped as
// the dialect writes them; nothing is parsed.
#pragma once

#include <string_view>

#include "sql/dialect/lexis.hpp"

namespace cupel::wire {

// Nothing but blanks, comments and semicolons.
bool is_empty_statement(std::string_view text, const sql::Lexis& lexis);
// Does anything but blanks and comments follow a semicolon?
bool has_several_statements(std::string_view text, const sql::Lexis& lexis);

}  // namespace cupel::wire
