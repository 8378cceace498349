// The names of levels, formats and anomalies.
#include "apps/spelling.hpp"

#include "data/formats/formats.hpp"
#include "engine/explain/why/glossary.hpp"
#include "engine/levels/level.hpp"

namespace cupel::apps {

std::vector<std::string> level_names() {
  std::vector<std::string> names;
  for (const auto level : levels::all_levels()) names.emplace_back(levels::name(level));
  for (const auto level : levels::all_levels()) names.emplace_back(levels::short_name(level));
  return names;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const auto format : formats::all_formats()) names.emplace_back(formats::name(format));
  return names;
}

std::vector<std::string> anomaly_names() {
  std::vector<std::string> names;
  for (const auto& entry : explain::anomalies()) names.emplace_back(entry.name);
  return names;
}

}  // namespace cupel::apps
