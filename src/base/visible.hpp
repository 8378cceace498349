// visible: text from outside (keys, names, fields of a history, answers of a server) for people to
// read, on a terminal, in a log or in a table.
//
// A byte that moves the cursor, ends a line, turns the direction of the text round or is no UTF-8
// is written as an escape: \n, \t, \x1b, \u202e. The four digits are an escape of JSON too.
#pragma once

#include <string>
#include <string_view>

namespace cupel::base {

// `kept`: control characters that stay as they are.
std::string visible(std::string_view text, std::string_view kept = "");

// Does the text begin with a character that visible() writes as an escape? It is not empty.
struct Character {
  std::size_t length;  // bytes
  bool is_plain;
};
Character first_character(std::string_view text);

}  // namespace cupel::base
