// The table of the settings that are known, and their values checked; see the header.
#include "mock/sql/settings.hpp"

#include <algorithm>
#include <vector>

#include "base/duration.hpp"
#include "base/text.hpp"
#include "engine/mock/store.hpp"
#include "mock/sql/value/error.hpp"

namespace cupel::sql {

namespace {

struct Setting {
  enum class Takes {
    kAny,
    kOneOf,  // one of `words`
    kOnly,   // what has one value here, with the `words` for it; others are 0A000
    kBoolean,
    kTime,  // milliseconds, or a number and its unit
  };
  std::string name, value;
  Takes takes = Takes::kAny;
  std::vector<std::string> words = {};
};

const std::vector<Setting>& settings() {
  using Takes = Setting::Takes;
  std::vector<std::string> policies;
  for (const auto& policy : mock::kPolicies) policies.emplace_back(policy.name);
  static const std::vector<Setting> kSettings = {
      {"application_name", ""},
      {"client_encoding", "UTF8", Takes::kOnly, {"utf8", "utf-8", "unicode"}},
      {"cupel.level", ""},  // the mock's own
      {"cupel.policy", "", Takes::kOneOf, policies},
      {"datestyle", "ISO, MDY", Takes::kOnly, {"iso", "iso, mdy"}},
      {"default_transaction_isolation",
       "read committed",
       Takes::kOneOf,
       {"serializable", "repeatable read", "read committed", "read uncommitted"}},
      {"default_transaction_read_only", "off", Takes::kBoolean},
      {"extra_float_digits", "1", Takes::kOnly, {"0", "1", "2", "3"}},  // there are no floats
      {"lock_timeout", "0", Takes::kTime},
      {"server_version", "15.0 (cupel mock)", Takes::kOnly},
      {"standard_conforming_strings", "on", Takes::kOnly, {"on", "true", "1"}},
      {"statement_timeout", "0", Takes::kTime},
      {"timezone", "UTC", Takes::kOnly, {"utc", "gmt", "etc/utc", "0"}},
  };
  return kSettings;
}

constexpr double kLongestTime = 2147483;  // seconds

}  // namespace

Settings first_settings() {
  Settings all;
  for (const auto& one : settings()) all.emplace(one.name, one.value);
  return all;
}

std::string checked_setting(const std::string& name, const std::string& value) {
  if (name.starts_with("transaction_")) return checked_setting("default_" + name, value);
  const auto setting = std::find_if(settings().begin(), settings().end(),
                                    [&](const Setting& one) { return one.name == name; });
  if (setting == settings().end()) not_supported("the setting {}", name);
  auto word = base::to_lower(value);
  const auto is_one_of = [&](const std::vector<std::string>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  switch (setting->takes) {
    case Setting::Takes::kAny:
      return value;
    case Setting::Takes::kOneOf:
      if (is_one_of(setting->words)) return word;
      break;
    case Setting::Takes::kOnly:
      if (is_one_of(setting->words)) return setting->value;
      not_supported("{} = {}, where it is {},", name, value, setting->value);
    case Setting::Takes::kBoolean:
      if (is_one_of({"on", "true", "yes", "1"})) return "on";
      if (is_one_of({"off", "false", "no", "0"})) return "off";
      break;
    case Setting::Takes::kTime:
      if (const auto time = base::parse_duration(value, 1e-3); time.ok() && *time <= kLongestTime) {
        return value;
      }
      break;
  }
  raise("22023", "invalid value for parameter \"{}\": \"{}\"", name, value);
}

double milliseconds_of(const std::string& time) {
  return *base::parse_duration(time, 1e-3) * 1000;
}

}  // namespace cupel::sql
