// PostgreSQL's settings: see settings.hpp, which asks here where the dialect is PostgreSQL's.
// Values are read, rounded, bounded and shown as PostgreSQL 15 does, with its messages, details and
// hints; a server test compares them one by one (tests/servers/mock_settings_test.cpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/dialect/settings.hpp"

namespace cupel::sql::postgres {

inline constexpr std::string_view kVersion = "PostgreSQL 15.0 (cupel mock)";

Settings first_settings();

// See settings.hpp. `now` is the value in effect, of which DateStyle keeps what is not said.
std::string checked_setting(const std::string& name, const std::string& value,
                            std::string_view now);
[[noreturn]] void unknown_setting(const std::string& name);
double milliseconds_of(const Settings& settings, std::string_view name);

// The settings of transactions, whose values the session keeps. Raise 22023.
bool checked_boolean(const std::string& name, const std::string& value);
std::string checked_isolation(const std::string& name, const std::string& value);

// Raises 55P02 for one that nobody may set, and so not RESET either.
void check_changeable(const std::string& name);

// The values of SET as one text, as PostgreSQL keeps them: those of search_path are names, quoted
// where they need it. Raises 22023 if they are several and the setting is no list.
std::string value_of_list(const std::string& name, const std::vector<std::string>& values);

}  // namespace cupel::sql::postgres
