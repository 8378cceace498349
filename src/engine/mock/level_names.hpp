// The names that mock::level_of() understands.
#pragma once

#include <string_view>
#include <vector>

namespace cupel::mock {

// Of kLevels: names, short names and aliases; letter case does not matter.
std::vector<std::string_view> level_names();

}  // namespace cupel::mock
