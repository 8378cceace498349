// Layout: lines that fit on a screen.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cupel::explain {

// The width texts are broken to. Reports indent them by two more.
inline constexpr std::size_t kTextWidth = 96;

// `text` broken at blanks, never inside a quoted string or a list, so that no line is wider
// than `width` if that can be had. Lines but the first begin with `indent` blanks;
// `used` columns of the first are taken. No newline at its end.
std::string broken(std::string_view text, std::size_t indent, std::size_t used = 0,
                   std::size_t width = kTextWidth);

// Columns that a text takes: its characters, not its bytes, without escape sequences for colours.
std::size_t columns(std::string_view text);

// "an update was lost" as the beginning of a sentence.
std::string capitalised(std::string text);

}  // namespace cupel::explain
