// The settings of a session that SHOW and SET know by name, PostgreSQL's and MySQL's: what they are
// at first, and which values they take. A value that would mean something else than what is done
// here is refused, never taken and ignored.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sql/value/type.hpp"

namespace cupel::sql {

// By name, in lower case.
using Settings = std::map<std::string, std::string, std::less<>>;
Settings first_settings(Dialect dialect);

// What version() says.
std::string_view version_of(Dialect dialect);
inline constexpr std::string_view kFirstDatabase = "cupel";

// The name as SHOW writes it over its value: "TimeZone".
std::string shown_name(const std::string& name);

// The value as SHOW writes it ("5000" of statement_timeout is 5s). Raises 22023 for what is no
// value of it, 0A000 for one that the mock does not do, 55P02 for one that nobody may set, and as
// below. `now` is its value in effect: PostgreSQL's DateStyle keeps what is not said.
std::string checked_setting(Dialect dialect, const std::string& name, const std::string& value,
                            std::string_view now = {});

// Raises 42704, or 0A000 where PostgreSQL knows it and the mock does not.
[[noreturn]] void unknown_setting(Dialect dialect, const std::string& name);

// Of one of PostgreSQL's in units of time: milliseconds, 0 for none.
double milliseconds_of(const Settings& settings, std::string_view name);

}  // namespace cupel::sql
