// All names of levels that the store serves to single transactions.
#include "engine/mock/level_names.hpp"

#include "engine/levels/spec.hpp"
#include "engine/mock/store.hpp"

namespace cupel::mock {

std::vector<std::string_view> level_names() {
  std::vector<std::string_view> names;
  const auto add = [&](std::string_view name) {
    const auto level = name.empty() ? std::nullopt : level_of(name);
    if (level && *level <= Level::kStrongSessionSerializable) names.push_back(name);
  };
  for (const auto& spec : levels::kLevelSpecs) {
    add(spec.name);
    add(spec.short_name);
    for (const auto alias : spec.aliases) add(alias);
  }
  return names;
}

}  // namespace cupel::mock
