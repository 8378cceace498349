// Names with letters in both cases; see the header.
#include "sql/dialect/settings.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cupel::sql {

std::string shown_name(const std::string& name) {
  for (const std::string_view one : {"TimeZone", "DateStyle", "IntervalStyle"}) {
    if (base::to_lower(one) == name) return std::string(one);
  }
  return name;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace cupel::sql
