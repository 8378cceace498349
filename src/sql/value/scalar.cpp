// Texts, casts and order of SQL values; see the header.
#include "sql/value/scalar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace cupel::sql {

namespace {

constexpr std::int64_t kDay = 86'400'000'000;

constexpr std::string_view kBlanks = " \t\n\r\f\v";

std::string_view trimmed(std::string_view text) {
  const auto start = text.find_first_not_of(kBlanks);
  if (start == text.npos) return {};
  return text.substr(start, text.find_last_not_of(kBlanks) - start + 1);
}

[[noreturn]] void bad_input(std::string_view text, Type type) {
  raise(is_time(type) ? "22007" : "22P02",
        fmt::format("invalid input syntax for type {}: \"{}\"", type_name(type), text));
}

std::int64_t integer_from(std::string_view text, Type type) {
  const auto body = trimmed(text);
  std::size_t at = !body.empty() && (body[0] == '+' || body[0] == '-') ? 1 : 0;
  if (at == body.size() || body.find_first_not_of("0123456789", at) != body.npos) {
    bad_input(text, type);
  }
  std::int64_t value = 0;
  const char* from = body.data() + (body[0] == '+' ? 1 : 0);
  const auto read = std::from_chars(from, body.data() + body.size(), value);
  const auto out = [&] {
    raise("22003", fmt::format("value \"{}\" is out of range for type {}", text, type_name(type)));
  };
  if (read.ec != std::errc()) out();
  if (type == Type::kSmallint && (value < -32768 || value > 32767)) out();
  if (type == Type::kInteger && (value < std::numeric_limits<std::int32_t>::min() ||
                                 value > std::numeric_limits<std::int32_t>::max())) {
    out();
  }
  return value;
}

double double_from(std::string_view text) {
  const std::string body(trimmed(text));
  if (body.empty() || body.find_first_of("xXpP") != body.npos) bad_input(text, Type::kDouble);
  char* end = nullptr;
  const double value = std::strtod(body.c_str(), &end);
  if (*end != '\0' || end == body.c_str()) bad_input(text, Type::kDouble);
  const bool named = body.find_first_of("iInN") != body.npos;
  const bool lost = value == 0 && body.find_first_of("123456789") < body.find_first_of("eE");
  if ((std::isinf(value) && !named) || lost) {
    raise("22003", fmt::format("\"{}\" is out of range for type double precision", text));
  }
  return value;
}

bool boolean_from(std::string_view text) {
  std::string word(trimmed(text));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto begins = [&](std::string_view whole, std::size_t least) {
    return word.size() >= least && whole.substr(0, word.size()) == word;
  };
  if (begins("true", 1) || begins("yes", 1) || word == "on" || word == "1") return true;
  if (begins("false", 1) || begins("no", 1) || begins("off", 2) || word == "0") return false;
  bad_input(text, Type::kBoolean);
}

// Days since 2000-01-01 in the Gregorian calendar.
std::int64_t days_of(int year, int month, int day) {
  using namespace std::chrono;
  const auto date =
      year_month_day(std::chrono::year(year), std::chrono::month(month), std::chrono::day(day));
  return (sys_days(date) - sys_days(std::chrono::year(2000) / 1 / 1)).count();
}

// YYYY-MM-DD, then for timestamps HH:MM[:SS[.ffffff]] after a blank or T, and a zone
// (Z, +HH, +HH:MM). PostgreSQL knows many more spellings: they are not supported here.
std::int64_t time_from(std::string_view text, Type type) {
  const auto body = trimmed(text);
  std::size_t at = 0;
  const auto strange = [&] {
    if (body.empty()) bad_input(text, type);
    not_supported(
        fmt::format("the spelling of {} \"{}\" (YYYY-MM-DD HH:MM:SS is)", type_name(type), text));
  };
  const auto digits = [&](std::size_t least, std::size_t most) {
    int value = 0;
    std::size_t count = 0;
    for (; at < body.size() && count < most && body[at] >= '0' && body[at] <= '9'; ++at, ++count) {
      value = value * 10 + (body[at] - '0');
    }
    if (count < least) strange();
    return value;
  };
  const auto eat = [&](char c) { return at < body.size() && body[at] == c ? (++at, true) : false; };
  const auto out = [&] {
    raise("22008", fmt::format("date/time field value out of range: \"{}\"", text));
  };
  const int year = digits(4, 4);
  if (!eat('-')) strange();
  const int month = digits(1, 2);
  if (!eat('-')) strange();
  const int day = digits(1, 2);
  if (year == 0 || month < 1 || month > 12 || day < 1 ||
      !std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(month),
                                   std::chrono::day(day))
           .ok()) {
    out();
  }
  std::int64_t clock = 0;
  std::int64_t zone = 0;
  if (eat(' ') || eat('T')) {
    while (eat(' ')) {
    }
    const int hour = digits(1, 2);
    if (!eat(':')) strange();
    const int minute = digits(2, 2);
    int second = 0;
    std::int64_t fraction = 0;
    if (eat(':')) {
      second = digits(2, 2);
      if (eat('.')) {
        const auto start = at;
        fraction = digits(0, 6);
        for (auto count = at - start; count < 6; ++count) fraction *= 10;
        if (at < body.size() && body[at] >= '0' && body[at] <= '9') strange();
      }
    }
    if (hour > 24 || minute > 59 || second > 60) out();
    clock = ((hour * 60LL + minute) * 60 + second) * 1'000'000 + fraction;
    if (clock > kDay) out();
    if (eat('Z')) {
    } else if (at < body.size() && (body[at] == '+' || body[at] == '-')) {
      const int sign = body[at++] == '-' ? -1 : 1;
      zone = digits(2, 2) * 60;
      if (eat(':')) zone += digits(2, 2);
      zone *= sign * 60'000'000LL;
    }
  }
  if (at != body.size()) strange();
  const auto days = days_of(year, month, day);
  if (type == Type::kDate) return days;
  return days * kDay + clock - (type == Type::kTimestampTz ? zone : 0);
}

std::string date_text(std::int64_t days) {
  using namespace std::chrono;
  const year_month_day date(sys_days(std::chrono::year(2000) / 1 / 1) + std::chrono::days(days));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::string timestamp_text(std::int64_t microseconds) {
  std::int64_t days = microseconds / kDay;
  std::int64_t rest = microseconds % kDay;
  if (rest < 0) {
    rest += kDay;
    --days;
  }
  const auto seconds = rest / 1'000'000;
  auto text = fmt::format("{} {:02}:{:02}:{:02}", date_text(days), seconds / 3600,
                          seconds / 60 % 60, seconds % 60);
  if (rest % 1'000'000 != 0) {
    text += fmt::format(".{:06}", rest % 1'000'000);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

// The shortest digits that read back as the same number, written as PostgreSQL does.
std::string double_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  std::string text(buffer, end.ptr);
  const auto mark = text.find('e');
  const int exponent = std::atoi(text.c_str() + mark + 1);
  if (exponent < -4 || exponent >= 15) return text;
  std::string sign;
  std::string digits;
  for (const char c : text.substr(0, mark)) {
    if (c == '-') sign = "-";
    if (c >= '0' && c <= '9') digits += c;
  }
  if (exponent < 0) {
    return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0');
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

Decimal decimal_of(const Scalar& value, Type from) {
  if (is_integer(from)) return Decimal(std::get<std::int64_t>(value));
  if (from == Type::kNumeric) return std::get<Decimal>(value);
  const double number = std::get<double>(value);
  if (!std::isfinite(number)) not_supported("NaN or infinity as numeric");
  return *Decimal::parse(fmt::format("{:.15g}", number));
}

Scalar fitted(Decimal value, const FullType& type) {
  if (type.precision < 0) return value;
  auto rounded = value.rounded(type.scale);
  if (rounded.whole_digits() > type.precision - type.scale) {
    raise("22003", "numeric field overflow");
  }
  return rounded;
}

Scalar string_as(std::string text, const FullType& to, bool cut) {
  if (to.length >= 0 && to.type == Type::kVarchar) {
    const auto most = static_cast<std::size_t>(to.length);
    const auto kept = first_characters(text, most);
    if (kept.size() < text.size()) {
      if (!cut && text.find_first_not_of(' ', kept.size()) != text.npos) {
        raise("22001", fmt::format("value too long for type {}({})", type_name(to.type), most));
      }
      text = std::string(kept);
    }
  }
  return text;
}

int rank_of(Type type) {
  switch (type) {
    case Type::kSmallint:
      return 0;
    case Type::kInteger:
      return 1;
    case Type::kBigint:
      return 2;
    case Type::kNumeric:
      return 3;
    case Type::kDouble:
      return 4;
    default:
      return -1;
  }
}

// A value as an integer of this type; nullopt if there is no such cast.
std::optional<Scalar> integer_of(const Scalar& value, Type from, Type to) {
  if (from == Type::kBoolean) return std::int64_t{std::get<bool>(value)};
  if (is_integer(from)) return checked_integer(std::get<std::int64_t>(value), to);
  if (from == Type::kNumeric) {
    const auto whole = std::get<Decimal>(value).to_integer();
    if (!whole) raise("22003", fmt::format("{} out of range", type_name(to)));
    return checked_integer(*whole, to);
  }
  if (from == Type::kDouble) {
    const double whole = std::nearbyint(std::get<double>(value));
    if (!(whole >= -9223372036854775808.0 && whole < 9223372036854775808.0)) {
      raise("22003", fmt::format("{} out of range", type_name(to)));
    }
    return checked_integer(static_cast<std::int64_t>(whole), to);
  }
  return std::nullopt;
}

double floating_point(const Scalar& value, Type from) {
  if (is_integer(from)) return static_cast<double>(std::get<std::int64_t>(value));
  if (from == Type::kDouble) return std::get<double>(value);
  const double number = std::get<Decimal>(value).to_double();
  if (std::isinf(number)) raise("22003", "value out of range: overflow");
  return number;
}

Scalar convert(const Scalar& value, Type from, const FullType& to, bool cut) {
  if (is_null(value)) return value;
  if (from == Type::kNull) {
    if (is_string(to.type)) return string_as(std::get<std::string>(value), to, cut);
    return from_text(std::get<std::string>(value), to);
  }
  if (is_string(to.type)) {
    auto text = to_text(value, from);
    if (from == Type::kBoolean) text = std::get<bool>(value) ? "true" : "false";
    return string_as(std::move(text), to, cut);
  }
  if (is_string(from)) return from_text(std::get<std::string>(value), to);
  switch (to.type) {
    case Type::kBoolean:
      if (from == Type::kBoolean) return value;
      if (is_integer(from)) return std::get<std::int64_t>(value) != 0;
      break;
    case Type::kSmallint:
    case Type::kInteger:
    case Type::kBigint:
      if (auto made = integer_of(value, from, to.type)) return *made;
      break;
    case Type::kNumeric:
      if (is_number(from)) return fitted(decimal_of(value, from), to);
      break;
    case Type::kDouble:
      if (is_number(from)) return floating_point(value, from);
      break;
    case Type::kDate:
      if (from == Type::kDate) return value;
      if (from == Type::kTimestamp || from == Type::kTimestampTz) {
        const auto at = std::get<std::int64_t>(value);
        return at >= 0 ? at / kDay : -((kDay - 1 - at) / kDay);
      }
      break;
    case Type::kTimestamp:
    case Type::kTimestampTz:
      if (from == Type::kDate) return std::get<std::int64_t>(value) * kDay;
      if (is_time(from)) return value;
      break;
    default:
      break;
  }
  raise("42846", fmt::format("cannot cast type {} to {}", type_name(from), type_name(to.type)));
}

}  // namespace

std::string_view type_name(Type type) {
  switch (type) {
    case Type::kNull:
      return "unknown";
    case Type::kBoolean:
      return "boolean";
    case Type::kSmallint:
      return "smallint";
    case Type::kInteger:
      return "integer";
    case Type::kBigint:
      return "bigint";
    case Type::kNumeric:
      return "numeric";
    case Type::kDouble:
      return "double precision";
    case Type::kText:
      return "text";
    case Type::kVarchar:
      return "character varying";
    case Type::kDate:
      return "date";
    case Type::kTimestamp:
      return "timestamp without time zone";
    case Type::kTimestampTz:
      return "timestamp with time zone";
  }
  return "";
}

bool is_integer(Type type) {
  return type == Type::kSmallint || type == Type::kInteger || type == Type::kBigint;
}
bool is_number(Type type) {
  return rank_of(type) >= 0;
}
bool is_string(Type type) {
  return type == Type::kText || type == Type::kVarchar;
}
bool is_time(Type type) {
  return type == Type::kDate || type == Type::kTimestamp || type == Type::kTimestampTz;
}

std::string to_text(const Scalar& value, Type type) {
  switch (type) {
    case Type::kBoolean:
      return std::get<bool>(value) ? "t" : "f";
    case Type::kSmallint:
    case Type::kInteger:
    case Type::kBigint:
      return std::to_string(std::get<std::int64_t>(value));
    case Type::kNumeric:
      return std::get<Decimal>(value).to_string();
    case Type::kDouble:
      return double_text(std::get<double>(value));
    case Type::kDate:
      return date_text(std::get<std::int64_t>(value));
    case Type::kTimestamp:
      return timestamp_text(std::get<std::int64_t>(value));
    case Type::kTimestampTz:
      return timestamp_text(std::get<std::int64_t>(value)) + "+00";
    default:
      return std::get<std::string>(value);
  }
}

Scalar from_text(std::string_view text, const FullType& to) {
  switch (to.type) {
    case Type::kBoolean:
      return boolean_from(text);
    case Type::kSmallint:
    case Type::kInteger:
    case Type::kBigint:
      return integer_from(text, to.type);
    case Type::kDouble:
      return double_from(text);
    case Type::kDate:
    case Type::kTimestamp:
    case Type::kTimestampTz:
      return time_from(text, to.type);
    case Type::kNumeric: {
      const auto body = trimmed(text);
      const auto number = Decimal::parse(body);
      if (!number) {
        if (!body.empty() && body.find_first_not_of("0123456789+-.eE") == body.npos &&
            body.size() > 4 && body.find_first_of("eE") != 0) {
          raise("22003", "value overflows numeric format");
        }
        bad_input(text, to.type);
      }
      return fitted(*number, to);
    }
    default:
      return string_as(std::string(text), to, false);
  }
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
  if (is_number(from) && is_number(to)) {
    return rank_of(from) < rank_of(to) || context != Context::kImplicit;
  }
  if (is_time(from) && is_time(to)) {
    if (context != Context::kImplicit) return true;
    return from == Type::kDate || (from == Type::kTimestamp && to == Type::kTimestampTz);
  }
  const bool boolean = (from == Type::kBoolean && to == Type::kInteger) ||
                       (from == Type::kInteger && to == Type::kBoolean);
  return boolean && context == Context::kExplicit;
}

int compare(const Scalar& left, const Scalar& right, Type type) {
  switch (type) {
    case Type::kBoolean:
      return int{std::get<bool>(left)} - int{std::get<bool>(right)};
    case Type::kNumeric:
      return std::get<Decimal>(left).compare(std::get<Decimal>(right));
    case Type::kDouble: {  // NaN equals itself and is above all else
      const double one = std::get<double>(left);
      const double other = std::get<double>(right);
      if (std::isnan(one) || std::isnan(other))
        return int{std::isnan(one)} - int{std::isnan(other)};
      return one < other ? -1 : one > other ? 1 : 0;
    }
    case Type::kText:
    case Type::kVarchar:
    case Type::kNull:
      return std::get<std::string>(left).compare(std::get<std::string>(right));
    default: {
      const auto one = std::get<std::int64_t>(left);
      const auto other = std::get<std::int64_t>(right);
      return one < other ? -1 : one > other ? 1 : 0;
    }
  }
}

std::string canonical(const Scalar& value, Type type) {
  switch (type) {
    case Type::kNumeric:
      return std::get<Decimal>(value).canonical();
    case Type::kDouble:
      if (std::get<double>(value) == 0) return "0";  // -0 too
      [[fallthrough]];
    default:
      return to_text(value, type);
  }
}

std::int64_t checked_integer(std::int64_t value, Type type) {
  const auto limit = type == Type::kSmallint  ? std::int64_t{32767}
                     : type == Type::kInteger ? std::int64_t{2147483647}
                                              : std::numeric_limits<std::int64_t>::max();
  if (value > limit || value < -limit - 1) {
    raise("22003", fmt::format("{} out of range", type_name(type)));
  }
  return value;
}

void check_length(std::size_t bytes) {
  if (bytes > std::size_t{64} << 20) raise("54000", "requested length too large");
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80 && count-- == 0) break;
  }
  return text.substr(0, at);
}

std::int64_t now_microseconds() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now() - sys_days(year(2000) / 1 / 1)).count();
}

}  // namespace cupel::sql
