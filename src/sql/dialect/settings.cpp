// Names with letters in both cases; see the header.
#include "sql/dialect/settings.hpp"

#include "base/text.hpp"

namespace cupel::sql {

std::string shown_name(const std::string& name) {
  for (const std::string_view one : {"TimeZone", "DateStyle", "IntervalStyle"}) {
    if (base::to_lower(one) == name) return std::string(one);
  }
  return name;
}

}  // namespace cupel::sql
