// The settings of a session that SET and SHOW know by name: those of PostgreSQL with an effect
// here, those that drivers read or set when they connect, and names with a dot, which are the
// application's. Any other is 0A000, and so is a value that would mean something else than what is
// done here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/value/error.hpp"

namespace cupel::sql {

inline constexpr std::string_view kVersion = "PostgreSQL 15.0 (cupel mock)";

// By name, in lower case.
using Settings = std::map<std::string, std::string, std::less<>>;

Settings first_settings();

// The value as SHOW writes it ("5000" of statement_timeout is 5s). `now` is the value in effect, of
// which DateStyle keeps what is not said. Raises 22023 for what is no value of it, 0A000 for one
// that the mock does not do, 55P02 for one that is read-only, and as unknown_setting().
std::string checked_setting(const std::string& name, const std::string& value,
                            std::string_view now);
// 42704 for a name with a dot, else 0A000.
[[nodiscard]] SqlException unknown_setting(const std::string& name);
// Whether it is the application's: "app.user".
bool is_own_name(std::string_view name);
// Raises 55P02 for one that is read-only.
void check_changeable(const std::string& name);
// Of one in units of time; 0 for none.
double milliseconds_of(const Settings& settings, std::string_view name);
// The name as SHOW writes it over its value: "TimeZone".
std::string shown_name(const std::string& name);
// The values of SET as one text, as PostgreSQL keeps them: those of search_path are names, quoted
// where they need it. Raises 22023 if they are several and the setting is no list.
std::string value_of_list(const std::string& name, const std::vector<std::string>& values);

// Of the transaction that is open, or (default_…) of those of the session to come. The session
// keeps their values, which are these; they raise 22023.
struct TransactionSetting {
  enum class Of : std::uint8_t { kIsolation, kReadOnly, kDeferrable };
  Of of = Of::kIsolation;
  bool session = false;
};
std::optional<TransactionSetting> transaction_setting(std::string_view name);
bool checked_boolean(const std::string& name, const std::string& value);
std::string checked_isolation(const std::string& name, const std::string& value);

// How long a client may send nothing, and the error that ends its connection.
struct IdleLimit {
  double seconds;
  std::string sqlstate, message;
};
// `open`: in a transaction.
std::optional<IdleLimit> idle_limit(const Settings& settings, bool open);

}  // namespace cupel::sql
