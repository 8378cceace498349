// Text: what names of options, levels and settings need before they are compared.
#pragma once

#include <string>
#include <string_view>

namespace cupel::base {

// ASCII letters in lower case; other bytes stay as they are, whatever the locale.
[[nodiscard]] std::string to_lower(std::string_view text);

// The same, and each of `separators` becomes `separator`:
// to_lower("Read_Committed", " _", '-') is "read-committed".
[[nodiscard]] std::string to_lower(std::string_view text, std::string_view separators,
                                   char separator);

}  // namespace cupel::base
