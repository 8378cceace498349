// The little that a protocol has to know of a statement's text: is it empty? Comments are
// skipped; nothing is parsed.
#pragma once

#include <string_view>

namespace cupel::wire {

// Nothing but blanks, comments and semicolons.
bool is_empty_statement(std::string_view text);

}  // namespace cupel::wire
