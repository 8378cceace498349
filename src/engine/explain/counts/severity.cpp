// severity: see the header.
#include "engine/explain/counts/severity.hpp"

#include <algorithm>
#include <limits>

#include "engine/explain/why/glossary.hpp"

namespace cupel::counts {

std::uint32_t severity(std::string_view name) {
  const auto all = explain::anomalies();
  const auto it =
      std::find_if(all.begin(), all.end(), [&](const auto& e) { return e.name == name; });
  if (it == all.end()) return std::numeric_limits<std::uint32_t>::max();
  const auto weakest = *std::min_element(it->weakest.begin(), it->weakest.end());
  const auto place = static_cast<std::uint32_t>(it - all.begin());
  return static_cast<std::uint32_t>(weakest) * static_cast<std::uint32_t>(all.size()) + place;
}

}  // namespace cupel::counts
