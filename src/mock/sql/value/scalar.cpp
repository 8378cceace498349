// Texts, casts and order of SQL values; see the header.
#include "mock/sql/value/scalar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>
#include <limits>
#include <utility>

#include "base/text.hpp"

namespace cupel::sql {

namespace {

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kDay = 86'400 * kSecond;
constexpr std::chrono::sys_days kEpoch = std::chrono::year(2000) / 1 / 1;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r\f\v";
  const auto start = text.find_first_not_of(kBlanks);
  if (start == text.npos) return {};
  return text.substr(start, text.find_last_not_of(kBlanks) - start + 1);
}

[[noreturn]] void bad_input(std::string_view text, Type type) {
  raise(is_time(type) ? "22007" : "22P02", "invalid input syntax for type {}: \"{}\"",
        type_name(type), text);
}

std::int64_t integer_from(std::string_view text, Type type) {
  auto body = trimmed(text);
  if (body.starts_with('+') && !body.starts_with("+-")) body.remove_prefix(1);
  std::int64_t value = 0;
  const auto* end = body.data() + body.size();
  const auto read = std::from_chars(body.data(), end, value);
  if (read.ptr != end || read.ec == std::errc::invalid_argument) bad_input(text, type);
  if (read.ec != std::errc()) {
    raise("22003", "value \"{}\" is out of range for type {}", text, type_name(type));
  }
  return checked_integer(value, type);
}

bool boolean_from(std::string_view text) {
  const auto word = base::to_lower(trimmed(text));
  for (const char* yes : {"t", "true", "y", "yes", "on", "1"}) {
    if (word == yes) return true;
  }
  for (const char* no : {"f", "false", "n", "no", "off", "0"}) {
    if (word == no) return false;
  }
  bad_input(text, Type::kBoolean);
}

// YYYY-MM-DD, then HH:MM[:SS[.ffffff]] after a blank or T, and a zone (Z, +HH, +HH:MM). PostgreSQL
// knows many more spellings: they are not supported here.
std::int64_t time_from(std::string_view text, Type type) {
  using namespace std::chrono;
  const std::string body(trimmed(text));
  std::tm parts{};
  std::int64_t fraction = 0;
  const char* at = strptime(body.c_str(), "%Y-%m-%d", &parts);
  if (at != nullptr && (*at == ' ' || *at == 'T')) {
    const char* clock = at + 1;
    at = strptime(clock, "%H:%M:%S", &parts);
    if (at == nullptr) at = strptime(clock, "%H:%M", &parts);
    if (at != nullptr && *at == '.') {
      ++at;
      for (auto unit = kSecond / 10; *at >= '0' && *at <= '9' && unit > 0; unit /= 10) {
        fraction += (*at++ - '0') * unit;
      }
    }
    if (at != nullptr && *at != '\0') at = strptime(at, "%z", &parts);
  }
  if (at == nullptr || *at != '\0') {
    if (body.empty()) bad_input(text, type);
    not_supported("the spelling of {} \"{}\" (YYYY-MM-DD HH:MM:SS is)", type_name(type), text);
  }
  const year_month_day date(year(parts.tm_year + 1900),
                            month(static_cast<unsigned>(parts.tm_mon + 1)),
                            day(static_cast<unsigned>(parts.tm_mday)));
  if (!date.ok() || date.year() < year(1)) {
    raise("22008", "date/time field value out of range: \"{}\"", text);
  }
  const auto zone = type == Type::kTimestampTz ? parts.tm_gmtoff : 0;
  const auto seconds = parts.tm_hour * 3600 + parts.tm_min * 60 + parts.tm_sec - zone;
  return (sys_days(date) - kEpoch).count() * kDay + seconds * kSecond + fraction;
}

std::string time_text(std::int64_t time, Type type) {
  using namespace std::chrono;
  const auto at = kEpoch + microseconds(time);
  const auto midnight = floor<days>(at);
  const year_month_day date(midnight);
  const hh_mm_ss clock(at - midnight);
  auto text = fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", static_cast<int>(date.year()),
                          static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                          clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  if (clock.subseconds().count() != 0) {
    text += fmt::format(".{:06}", clock.subseconds().count());
    text.erase(text.find_last_not_of('0') + 1);
  }
  return type == Type::kTimestampTz ? text + "+00" : text;
}

Scalar fitted(const Decimal& value, const FullType& type) {
  if (type.size < 0) return value;
  auto rounded = value.rounded(type.scale);
  if (rounded.whole_digits() > type.size - type.scale) {
    raise("22003", "numeric field overflow");
  }
  return rounded;
}

// Characters of UTF-8.
std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80 && count-- == 0) break;
  }
  return text.substr(0, at);
}

Scalar string_as(std::string text, const FullType& to, bool cut) {
  if (to.size < 0) return text;
  const auto kept = first_characters(text, static_cast<std::size_t>(to.size)).size();
  if (!cut && kept < text.size() && text.find_first_not_of(' ', kept) != text.npos) {
    raise("22001", "value too long for type {}({})", type_name(to.type), to.size);
  }
  text.resize(kept);
  return text;
}

std::int64_t integer_of(const Scalar& value, Type from, Type to) {
  if (from == Type::kBoolean) return std::int64_t{std::get<bool>(value)};
  if (is_integer(from)) return checked_integer(std::get<std::int64_t>(value), to);
  const auto whole = std::get<Decimal>(value).to_integer();
  if (!whole) raise("22003", "{} out of range", type_name(to));
  return checked_integer(*whole, to);
}

// `cut`: text that is too long, which is an error else.
Scalar convert(const Scalar& value, Type from, const FullType& to, bool cut) {
  if (is_null(value)) return value;
  if (!can_cast(from, to.type, Context::kExplicit)) {
    raise("42846", "cannot cast type {} to {}", type_name(from), type_name(to.type));
  }
  if (is_string(to.type)) {
    if (from == Type::kBoolean) return string_as(std::get<bool>(value) ? "true" : "false", to, cut);
    return string_as(to_text(value, from), to, cut);
  }
  if (from == Type::kNull || is_string(from)) return from_text(std::get<std::string>(value), to);
  if (is_integer(to.type)) return integer_of(value, from, to.type);
  if (to.type == Type::kNumeric && is_integer(from)) {
    return fitted(Decimal(std::get<std::int64_t>(value)), to);
  }
  if (to.type == Type::kNumeric) return fitted(std::get<Decimal>(value), to);
  if (to.type == Type::kBoolean && is_integer(from)) return std::get<std::int64_t>(value) != 0;
  return value;
}

}  // namespace

std::string_view type_name(Type type) {
  static constexpr std::string_view kNames[] = {"unknown",
                                                "boolean",
                                                "smallint",
                                                "integer",
                                                "bigint",
                                                "numeric",
                                                "text",
                                                "character varying",
                                                "timestamp without time zone",
                                                "timestamp with time zone"};
  return kNames[static_cast<std::size_t>(type)];
}

bool is_integer(Type type) {
  return type == Type::kSmallint || type == Type::kInteger || type == Type::kBigint;
}
bool is_number(Type type) {
  return is_integer(type) || type == Type::kNumeric;
}
bool is_string(Type type) {
  return type == Type::kText || type == Type::kVarchar;
}
bool is_time(Type type) {
  return type == Type::kTimestamp || type == Type::kTimestampTz;
}

std::string to_text(const Scalar& value, Type type) {
  if (type == Type::kBoolean) return std::get<bool>(value) ? "t" : "f";
  if (type == Type::kNumeric) return std::get<Decimal>(value).to_string();
  if (is_integer(type)) return std::to_string(std::get<std::int64_t>(value));
  if (is_time(type)) return time_text(std::get<std::int64_t>(value), type);
  return std::get<std::string>(value);
}

Scalar from_text(std::string_view text, const FullType& to) {
  if (to.type == Type::kBoolean) return boolean_from(text);
  if (to.type == Type::kNumeric) {
    const auto number = Decimal::parse(trimmed(text));
    if (!number) bad_input(text, to.type);
    return fitted(*number, to);
  }
  if (is_integer(to.type)) return integer_from(text, to.type);
  if (is_time(to.type)) return time_from(text, to.type);
  return string_as(std::string(text), to, false);
}

Scalar cast(const Scalar& value, Type from, const FullType& to) {
  return convert(value, from, to, true);
}

Scalar assign(const Scalar& value, Type from, const FullType& to) {
  return convert(value, from, to, false);
}

bool can_cast(Type from, Type to, Context context) {
  if (from == to || from == Type::kNull) return true;
  if (is_string(from)) return is_string(to) || context == Context::kExplicit;
  if (is_string(to)) return context != Context::kImplicit;
  if ((is_number(from) && is_number(to)) || (is_time(from) && is_time(to))) {
    return from < to || context != Context::kImplicit;
  }
  const bool boolean = (from == Type::kBoolean && to == Type::kInteger) ||
                       (from == Type::kInteger && to == Type::kBoolean);
  return boolean && context == Context::kExplicit;
}

std::string canonical(const Scalar& value, Type type) {
  return type == Type::kNumeric ? std::get<Decimal>(value).canonical() : to_text(value, type);
}

std::int64_t checked_integer(std::int64_t value, Type type) {
  const auto limit = type == Type::kSmallint  ? std::int64_t{32767}
                     : type == Type::kInteger ? std::int64_t{2147483647}
                                              : std::numeric_limits<std::int64_t>::max();
  if (value > limit || value < -limit - 1) {
    raise("22003", "{} out of range", type_name(type));
  }
  return value;
}

std::int64_t now_microseconds() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now() - kEpoch).count();
}

}  // namespace cupel::sql
