// What a parameterised test is called by: the names of types and levels have dashes,
// which GoogleTest does not take.
#pragma once

#include <algorithm>
#include <string>

namespace cupel::test {

// For INSTANTIATE_TEST_SUITE_P: of a parameter that name() names.
inline constexpr auto parameter_name = [](const auto& info) {
  std::string text(name(info.param));
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
};

}  // namespace cupel::test
