// PostgreSQL's settings; see settings.hpp. Those with an effect here, those that drivers read or
// set when they connect, and names with a dot, which are the application's. Any other is 0A000.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/dialect/settings.hpp"
#include "sql/value/error.hpp"

namespace cupel::sql::postgres {

inline constexpr std::string_view kVersion = "PostgreSQL 15.0 (cupel mock)";

Settings first_settings();

// The value as SHOW writes it ("5000" of statement_timeout is 5s). `now` is the value in effect, of
// which DateStyle keeps what is not said. Raises 22023 for what is no value of it, 0A000 for one
// that the mock does not do, 55P02 for one that is read-only, and as below.
std::string checked_setting(const std::string& name, const std::string& value,
                            std::string_view now);
// 42704 for a name with a dot, else 0A000.
[[nodiscard]] SqlException unknown_setting(const std::string& name);
// Of one in units of time; 0 for none.
double milliseconds_of(const Settings& settings, std::string_view name);

// The settings of transactions, whose values the session keeps. Raise 22023.
bool checked_boolean(const std::string& name, const std::string& value);
std::string checked_isolation(const std::string& name, const std::string& value);

// Raises 55P02 for one that is read-only.
void check_changeable(const std::string& name);

// The values of SET as one text, as PostgreSQL keeps them: those of search_path are names, quoted
// where they need it. Raises 22023 if they are several and the setting is no list.
std::string value_of_list(const std::string& name, const std::vector<std::string>& values);

}  // namespace cupel::sql::postgres
