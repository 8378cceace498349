// The table of MySQL's settings, and their values checked; see the header.
#include "sql/dialect/settings_mysql.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "sql/value/error.hpp"

namespace cupel::sql::mysql {

namespace {

enum class Takes : std::uint8_t {
  kReadOnly,
  kFixed,  // this value alone: others would mean something that is not done here
  kText,   // from here on what it says has no effect on an answer, or the session sees to it
  kBoolean,
  kWord,  // one of `range`
  kWhole,
  kReal,
};

struct Setting {
  std::string_view name, value;
  Takes takes;
  std::string_view range = {};  // "least most" of kWhole and kReal, the words of kWord
};

constexpr Setting kSettings[] = {
    {"auto_increment_increment", "1", Takes::kFixed},
    {"auto_increment_offset", "1", Takes::kFixed},
    {"character_set_client", "utf8mb4", Takes::kFixed},
    {"character_set_connection", "utf8mb4", Takes::kFixed},
    {"character_set_database", "utf8mb4", Takes::kFixed},
    {"character_set_results", "utf8mb4", Takes::kFixed},
    {"character_set_server", "utf8mb4", Takes::kFixed},
    {"character_set_system", "utf8mb3", Takes::kReadOnly},
    // Drivers say one when they connect; text compares by bytes all the same (docs/mock-sql.md).
    {"collation_connection", "utf8mb4_bin", Takes::kWord,
     "utf8mb4_bin utf8mb4_general_ci utf8mb4_unicode_ci utf8mb4_unicode_520_ci utf8mb4_0900_ai_ci "
     "utf8mb4_0900_bin utf8mb4_uca1400_ai_ci utf8_general_ci utf8_unicode_ci utf8_bin "
     "utf8mb3_general_ci utf8mb3_unicode_ci utf8mb3_bin"},
    {"collation_database", "utf8mb4_bin", Takes::kFixed},
    {"collation_server", "utf8mb4_bin", Takes::kFixed},
    {"completion_type", "NO_CHAIN", Takes::kFixed},
    {"cupel.database", kFirstDatabase, Takes::kReadOnly},
    {"cupel.version", kVersion, Takes::kReadOnly},
    {"default_storage_engine", "InnoDB", Takes::kFixed},
    {"div_precision_increment", "4", Takes::kFixed},
    {"foreign_key_checks", "1", Takes::kFixed},
    {"init_connect", "", Takes::kFixed},
    {"innodb_lock_wait_timeout", "50", Takes::kWhole, "0 1073741824"},
    {"interactive_timeout", "28800", Takes::kWhole, "1 31536000"},
    {"join_buffer_size", "262144", Takes::kWhole, "128 4294967295"},
    {"license", "Apache-2.0", Takes::kReadOnly},
    {"lock_wait_timeout", "86400", Takes::kWhole, "0 31536000"},
    {"lower_case_table_names", "1", Takes::kReadOnly},
    {"max_allowed_packet", "16777216", Takes::kWhole, "1024 1073741824"},
    {"max_execution_time", "0", Takes::kWhole, "0 4294967295"},
    {"max_heap_table_size", "16777216", Takes::kWhole, "16384 4294967295"},
    {"max_statement_time", "0", Takes::kReal, "0 31536000"},
    {"net_buffer_length", "16384", Takes::kWhole, "1024 1048576"},
    {"net_read_timeout", "30", Takes::kWhole, "1 31536000"},
    {"net_write_timeout", "60", Takes::kWhole, "1 31536000"},
    {"performance_schema", "0", Takes::kReadOnly},
    {"query_cache_size", "0", Takes::kReadOnly},
    {"query_cache_type", "OFF", Takes::kReadOnly},
    {"sort_buffer_size", "2097152", Takes::kWhole, "1024 4294967295"},
    {"sql_auto_is_null", "0", Takes::kFixed},
    {"sql_big_selects", "1", Takes::kBoolean},
    {"sql_mode", "STRICT_TRANS_TABLES", Takes::kText},
    {"sql_notes", "1", Takes::kBoolean},
    {"sql_quote_show_create", "1", Takes::kBoolean},
    {"sql_safe_updates", "0", Takes::kFixed},
    {"sql_select_limit", "18446744073709551615", Takes::kFixed},
    {"sql_warnings", "0", Takes::kBoolean},
    {"system_time_zone", "UTC", Takes::kReadOnly},
    {"time_zone", "SYSTEM", Takes::kFixed},
    {"tmp_table_size", "16777216", Takes::kWhole, "1024 4294967295"},
    {"unique_checks", "1", Takes::kBoolean},
    {"version", kVersion, Takes::kReadOnly},
    {"version_comment", "cupel mock", Takes::kReadOnly},
    {"wait_timeout", "28800", Takes::kWhole, "1 31536000"},
};

const Setting* find(std::string_view name) {
  const auto* found = std::find_if(std::begin(kSettings), std::end(kSettings),
                                   [&](const Setting& one) { return one.name == name; });
  return found == std::end(kSettings) ? nullptr : found;
}

std::optional<double> number_of_text(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc{} || !std::isfinite(number)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return number;
}

std::optional<bool> boolean(std::string_view value) {
  const auto text = base::to_lower(value);
  if (text == "1" || text == "on" || text == "true" || text == "yes") return true;
  if (text == "0" || text == "off" || text == "false" || text == "no") return false;
  return std::nullopt;
}

// A value that says the same in other words.
bool means(const Setting& setting, std::string_view value) {
  const auto wanted = base::to_lower(value);
  const auto plain = [](std::string text) {
    std::erase_if(text, [](char c) { return c == '-' || c == '_'; });
    return text;
  };
  if (plain(wanted) == plain(base::to_lower(setting.value))) return true;
  const auto& name = setting.name;
  if (name == "time_zone") {
    return wanted == "utc" || wanted == "gmt" || wanted == "etc/utc" || wanted == "+00:00";
  }
  if (name.starts_with("character_set")) return wanted.starts_with("utf8") || wanted == "null";
  return false;
}

// What changes the meaning of statements is not done here.
void check_sql_mode(const std::string& value) {
  bool strict = false;
  std::string one;
  for (const char c : value + ",") {
    if (c == ' ') continue;
    if (c != ',') {
      one += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
      continue;
    }
    static constexpr std::string_view kDone[] = {
        "STRICT_TRANS_TABLES", "STRICT_ALL_TABLES",  "NO_ENGINE_SUBSTITUTION", "NO_ZERO_DATE",
        "NO_ZERO_IN_DATE",     "ONLY_FULL_GROUP_BY", "NO_AUTO_CREATE_USER",    ""};
    if (std::find(std::begin(kDone), std::end(kDone), one) == std::end(kDone)) {
      not_supported("sql_mode " + one);
    }
    strict |= one.starts_with("STRICT");
    one.clear();
  }
  if (!strict) not_supported("sql_mode without STRICT_TRANS_TABLES");
}

}  // namespace

Settings first_settings() {
  Settings all;
  for (const auto& one : kSettings) all.emplace(one.name, one.value);
  return all;
}

SqlException unknown_setting(const std::string& name) {
  return {{"42704",
           fmt::format("Unknown system variable '{}', or one that the mock does not have", name)}};
}

std::string checked_setting(const std::string& name, const std::string& value) {
  const auto* setting = find(name);
  if (setting == nullptr) throw unknown_setting(name);
  const auto wrong = [&] [[noreturn]] (const std::string& expected) {
    throw SqlException{{"22023",
                        fmt::format("invalid value for parameter \"{}\": \"{}\"", name, value),
                        "expected " + expected,
                        {}}};
  };
  const auto range = words_of(setting->range);
  const auto number_within = [&]() -> double {
    std::string_view text = value;
    const auto number = number_of_text(text);
    const auto least = std::stod(std::string(range[0])), most = std::stod(std::string(range[1]));
    if (!number || !text.empty() || *number < least || *number > most) {
      wrong(fmt::format("a number from {} to {}", range[0], range[1]));
    }
    return *number;
  };
  switch (setting->takes) {
    case Takes::kReadOnly:
      raise("22023", fmt::format("parameter \"{}\" cannot be changed", name));
    case Takes::kFixed:
      if (!means(*setting, value)) {
        raise("0A000", fmt::format("{} = {} is not supported by the mock, where it is {}", name,
                                   value, setting->value));
      }
      // As asked for where that is another name of the same.
      return name.ends_with("zone") ? value : std::string(setting->value);
    case Takes::kText:
      if (name == "sql_mode") check_sql_mode(value);
      return value;
    case Takes::kBoolean: {
      const auto wanted = boolean(value);
      if (!wanted) wrong("a boolean");
      return *wanted ? "1" : "0";
    }
    case Takes::kWord: {
      const auto wanted = base::to_lower(value);
      if (std::find(range.begin(), range.end(), wanted) != range.end()) return wanted;
      wrong("one of " + std::string(setting->range));
    }
    case Takes::kWhole: {
      const auto number = number_within();
      if (number != std::nearbyint(number)) wrong("a whole number");
      return std::to_string(static_cast<std::int64_t>(number));
    }
    case Takes::kReal:
      return fmt::format("{}", number_within());
  }
  return value;
}

}  // namespace cupel::sql::mysql
