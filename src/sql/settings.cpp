// The table of the settings that are known, and their values checked; see the header.
#include "sql/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/text.hpp"

namespace cupel::sql {

namespace {

enum class Takes : std::uint8_t {
  kReadOnly,
  kText,
  kBoolean,
  kWord,  // one of `words`, each between blanks
  kTime,  // milliseconds, or a number and its unit
  // Values that mean something else than what is done here are 0A000.
  kOneWord,  // the one value that it has, in any case of letters
  kDateStyle,
  kDigits,
  kEncoding,
  kSearchPath,
  kZone,
};

struct Setting {
  std::string_view name, value;
  Takes takes;
  std::string_view words = {};
};

constexpr Setting kSettings[] = {
    // With an effect.
    {"client_min_messages", "notice", Takes::kWord,
     " debug5 debug4 debug3 debug2 debug1 log notice warning error "},
    {"idle_in_transaction_session_timeout", "0", Takes::kTime},
    {"idle_session_timeout", "0", Takes::kTime},
    {"lock_timeout", "0", Takes::kTime},
    {"search_path", "\"$user\", public", Takes::kSearchPath},
    {"statement_timeout", "0", Takes::kTime},
    // What drivers read or set when they connect.
    {"application_name", "", Takes::kText},
    {"bytea_output", "hex", Takes::kWord, " escape hex "},
    {"client_encoding", "UTF8", Takes::kEncoding},
    {"datestyle", "ISO, MDY", Takes::kDateStyle},
    {"extra_float_digits", "1", Takes::kDigits},
    {"in_hot_standby", "off", Takes::kReadOnly},
    {"integer_datetimes", "on", Takes::kReadOnly},
    {"intervalstyle", "postgres", Takes::kOneWord},
    {"is_superuser", "off", Takes::kReadOnly},
    {"jit", "off", Takes::kBoolean},
    {"max_identifier_length", "63", Takes::kReadOnly},
    {"server_encoding", "UTF8", Takes::kReadOnly},
    {"server_version", "15.0 (cupel mock)", Takes::kReadOnly},
    {"server_version_num", "150000", Takes::kReadOnly},
    {"standard_conforming_strings", "on", Takes::kOneWord},
    {"synchronous_commit", "on", Takes::kWord, " local remote_write remote_apply on off "},
    {"timezone", "UTC", Takes::kZone},
};

const Setting* setting_called(std::string_view name) {
  const auto* found = std::find_if(std::begin(kSettings), std::end(kSettings),
                                   [&](const Setting& one) { return one.name == name; });
  return found == std::end(kSettings) ? nullptr : found;
}

[[noreturn]] void wrong_value(std::string_view name, std::string_view value) {
  raise("22023", fmt::format("invalid value for parameter \"{}\": \"{}\"",
                             shown_name(std::string(name)), value));
}

// Largest first, as they are tried for what is shown.
struct Unit {
  std::string_view name;
  double milliseconds;
};
constexpr Unit kUnits[] = {{"d", 86'400'000}, {"h", 3'600'000}, {"min", 60'000},
                           {"s", 1000},       {"ms", 1},        {"us", 0.001}};

double milliseconds_from(std::string_view name, std::string_view value) {
  double number = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  if (read.ec != std::errc()) wrong_value(name, value);
  auto unit = value.substr(static_cast<std::size_t>(read.ptr - value.data()));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  if (!unit.empty()) {
    const auto* known = std::find_if(std::begin(kUnits), std::end(kUnits),
                                     [&](const Unit& one) { return one.name == unit; });
    if (known == std::end(kUnits)) wrong_value(name, value);
    number *= known->milliseconds;
  }
  number = std::rint(number);
  if (!(number >= 0 && number <= 2147483647)) wrong_value(name, value);
  return number;
}

std::string shown_time(double time) {
  const auto whole = static_cast<std::int64_t>(time);
  for (const auto& [name, size] : kUnits) {
    const auto unit = static_cast<std::int64_t>(size);
    if (whole != 0 && unit >= 1 && whole % unit == 0)
      return fmt::format("{}{}", whole / unit, name);
  }
  return "0";
}

// The names of a list, without their quotes.
std::vector<std::string> names_of(std::string_view list) {
  std::vector<std::string> names(1);
  for (const char c : base::to_lower(list)) {
    if (c == ',') {
      names.emplace_back();
    } else if (c != ' ' && c != '"') {
      names.back() += c;
    }
  }
  return names;
}

[[noreturn]] void other_value(std::string_view name, std::string_view value,
                              std::string_view ours) {
  not_supported(
      fmt::format("{} = {}, where it is {},", shown_name(std::string(name)), value, ours));
}

// Dates are written and read as ISO 8601 has them; the order of their parts is only shown.
std::string date_style(const std::string& value, std::string_view now) {
  auto order = std::string(now.substr(now.size() - 3));
  for (const auto& word : names_of(value)) {
    if (word == "mdy" || word == "dmy" || word == "ymd") {
      order = word;
      for (auto& c : order) c = static_cast<char>(c - 'a' + 'A');
    } else if (word != "iso") {
      other_value("datestyle", value, "ISO");
    }
  }
  return "ISO, " + order;
}

std::string quoted_name(const std::string& name) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), plain) ? name : '"' + name + '"';
}

}  // namespace

bool is_own_name(std::string_view name) {
  bool begins = true, dot = false;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || c == '_' || (c & 0x80) != 0;
    if (!letter && (begins || !((c >= '0' && c <= '9') || c == '$' || c == '.'))) return false;
    begins = c == '.';
    dot |= begins;
  }
  return dot && !begins && !name.starts_with("cupel.");
}

std::string shown_name(const std::string& name) {
  for (const std::string_view one : {"TimeZone", "DateStyle", "IntervalStyle"}) {
    if (base::to_lower(one) == name) return std::string(one);
  }
  return name;
}

Settings first_settings() {
  Settings all;
  for (const auto& one : kSettings) all.emplace(one.name, one.value);
  return all;
}

SqlException unknown_setting(const std::string& name) {
  if (!is_own_name(name)) return unsupported(fmt::format("the setting {}", name));
  return {{"42704", fmt::format("unrecognized configuration parameter \"{}\"", name)}};
}

void check_changeable(const std::string& name) {
  const auto* setting = setting_called(name);
  if (setting == nullptr || setting->takes != Takes::kReadOnly) return;
  raise("55P02", fmt::format("parameter \"{}\" cannot be changed", name));
}

bool checked_boolean(const std::string& name, const std::string& value) {
  const auto word = base::to_lower(value);
  // A beginning of a word will do, if it is one of no other.
  const auto is = [&](std::string_view whole, std::size_t least) {
    return word.size() >= least && whole.starts_with(word);
  };
  if (word == "1" || is("on", 2) || is("true", 1) || is("yes", 1)) return true;
  if (word == "0" || is("off", 2) || is("false", 1) || is("no", 1)) return false;
  raise("22023", fmt::format("parameter \"{}\" requires a Boolean value", name));
}

std::string checked_isolation(const std::string& name, const std::string& value) {
  auto wanted = base::to_lower(value);
  for (const std::string_view level :
       {"serializable", "repeatable read", "read committed", "read uncommitted"}) {
    if (wanted == level) return wanted;
  }
  wrong_value(name, value);
}

std::string value_of_list(const std::string& name, const std::vector<std::string>& values) {
  const bool list = name == "search_path" || name == "datestyle";
  if (!list && values.size() > 1) {
    raise("22023", fmt::format("SET {} takes only one argument", name));
  }
  std::string text;
  for (const auto& value : values) {
    if (&value != &values.front()) text += ", ";
    text += name == "search_path" ? quoted_name(value) : value;
  }
  return text;
}

std::string checked_setting(const std::string& name, const std::string& value,
                            std::string_view now) {
  const auto* setting = setting_called(name);
  if (setting == nullptr) {
    if (!is_own_name(name)) throw unknown_setting(name);
    return value;
  }
  auto word = base::to_lower(value);
  switch (setting->takes) {
    case Takes::kReadOnly:
      check_changeable(name);
      break;
    case Takes::kText:
      break;
    case Takes::kBoolean:
      return checked_boolean(name, value) ? "on" : "off";
    case Takes::kWord: {
      if (setting->value == "on" && (word == "true" || word == "1")) return "on";
      if (setting->value == "on" && (word == "false" || word == "0")) return "off";
      if (setting->words.find(" " + word + " ") == setting->words.npos) wrong_value(name, value);
      return word;
    }
    case Takes::kTime:
      return shown_time(milliseconds_from(name, value));
    case Takes::kOneWord:
      if (word != setting->value && !(setting->value == "on" && checked_boolean(name, value))) {
        other_value(name, value, setting->value);
      }
      return std::string(setting->value);
    case Takes::kDateStyle:
      return date_style(value, now);
    case Takes::kDigits:
      // Fewer digits, and numbers do not read back as the same.
      if (value != "1" && value != "2" && value != "3") other_value(name, value, "1 to 3");
      break;
    case Takes::kEncoding:
      if (word != "utf8" && word != "utf-8" && word != "unicode") other_value(name, value, "UTF8");
      return "UTF8";
    case Takes::kSearchPath: {
      const auto names = names_of(value);
      if (std::find(names.begin(), names.end(), "public") == names.end()) {
        other_value(name, value, "a list with public, the schema of all tables");
      }
      break;
    }
    case Takes::kZone:
      if (word != "utc" && word != "gmt" && word != "etc/utc" && word != "0") {
        other_value(name, value, "UTC");
      }
      return "UTC";
  }
  return value;
}

std::optional<TransactionSetting> transaction_setting(std::string_view name) {
  using Of = TransactionSetting::Of;
  const bool session = name.starts_with("default_");
  if (session) name.remove_prefix(8);
  if (name == "transaction_isolation") return TransactionSetting{Of::kIsolation, session};
  if (name == "transaction_read_only") return TransactionSetting{Of::kReadOnly, session};
  if (name == "transaction_deferrable") return TransactionSetting{Of::kDeferrable, session};
  return std::nullopt;
}

double milliseconds_of(const Settings& settings, std::string_view name) {
  return milliseconds_from(name, settings.find(name)->second);
}

std::optional<IdleLimit> idle_limit(const Settings& settings, bool open) {
  const auto limit = milliseconds_of(
      settings, open ? "idle_in_transaction_session_timeout" : "idle_session_timeout");
  if (limit <= 0) return std::nullopt;
  return open ? IdleLimit{limit / 1000, "25P03",
                          "terminating connection due to idle-in-transaction timeout"}
              : IdleLimit{limit / 1000, "57P05",
                          "terminating connection due to idle-session timeout"};
}

}  // namespace cupel::sql
