// to_lower: see text.hpp.
#include "base/text.hpp"

namespace cupel::base {

std::string to_lower(std::string_view text) {
  return to_lower(text, {}, ' ');
}

std::string to_lower(std::string_view text, std::string_view separators, char separator) {
  std::string result(text);
  for (char& c : result) {
    if (separators.find(c) != std::string_view::npos) {
      c = separator;
    } else if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return result;
}

}  // namespace cupel::base
