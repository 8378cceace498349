// MySQL's settings; see settings.hpp.
#pragma once

#include <string>
#include <string_view>

#include "sql/dialect/settings.hpp"
#include "sql/value/error.hpp"

namespace cupel::sql::mysql {

inline constexpr std::string_view kVersion = "8.0.0-cupel-mock";

Settings first_settings();

// The value as SHOW writes it. Raises 22023 for what is no value of it, 0A000 for one that the mock
// does not do, and as below.
std::string checked_setting(const std::string& name, const std::string& value);
[[nodiscard]] SqlException unknown_setting(const std::string& name);  // 42704

}  // namespace cupel::sql::mysql
