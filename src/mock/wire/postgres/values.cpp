// By type oid: see the header.
#include "mock/wire/postgres/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <vector>

#include "mock/sql/value/scalar.hpp"
#include "mock/wire/bytes.hpp"

namespace cupel::wire::postgres {

namespace {

enum : Oid {
  kBool = 16,
  kName = 19,
  kInt8 = 20,
  kInt2 = 21,
  kInt4 = 23,
  kText = 25,
  kOid = 26,
  kFloat4 = 700,
  kFloat8 = 701,
  kUnknown = 705,
  kBpchar = 1042,
  kVarchar = 1043,
  kTimestamp = 1114,
  kTimestamptz = 1184,
  kNumeric = 1700,
};

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

template <typename Number>
std::optional<std::string> integer_text(std::string_view bytes) {
  Reader in(bytes);
  const auto number = in.big<Number>();
  return in.complete() ? std::optional(std::to_string(number)) : std::nullopt;
}

template <typename Number>
std::optional<std::string> integer_bytes(std::string_view text) {
  const auto number = number_of<Number>(text);
  if (!number) return std::nullopt;
  std::string bytes;
  put_big(bytes, *number);
  return bytes;
}

template <typename Float, typename Bits>
std::optional<std::string> float_text(std::string_view bytes) {
  Reader in(bytes);
  const auto number = std::bit_cast<Float>(in.big<Bits>());
  if (!in.complete()) return std::nullopt;
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{}", number);
}

// Numbers in groups of four decimal digits. `weight`: how many groups before the point, less one.
constexpr std::uint16_t kNegative = 0x4000, kNotANumber = 0xc000;

std::optional<std::string> numeric_text(std::string_view bytes) {
  Reader in(bytes);
  const auto count = in.big<std::uint16_t>();
  const auto weight = in.big<std::int16_t>();
  const auto sign = in.big<std::uint16_t>();
  const auto scale = in.big<std::uint16_t>();
  if (in.failed() || in.left() != std::size_t{count} * 2 || scale > 16383) return std::nullopt;
  if (sign == kNotANumber) return "NaN";
  if (sign != 0 && sign != kNegative) return std::nullopt;
  std::vector<std::uint16_t> groups(count);
  for (auto& group : groups) {
    group = in.big<std::uint16_t>();
    if (group > 9999) return std::nullopt;
  }
  const auto group = [&](std::int64_t at) {
    return at >= 0 && at < count ? groups[static_cast<std::size_t>(at)] : std::uint16_t{0};
  };
  std::string text;
  for (std::int64_t at = 0; at <= weight; ++at) text += fmt::format("{:04}", group(at));
  text.erase(0, std::min(text.find_first_not_of('0'), text.size()));
  if (text.empty()) text = "0";
  if (scale > 0) {
    std::string fraction;
    for (std::int64_t at = weight + 1; fraction.size() < scale; ++at)
      fraction += fmt::format("{:04}", group(at));
    text += "." + fraction.substr(0, scale);
  }
  return sign == kNegative ? "-" + text : text;
}

std::optional<std::string> numeric_bytes(std::string_view text) {
  std::string bytes;
  const auto put = [&](std::uint16_t word) { put_big(bytes, word); };
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto point = std::min(text.find('.'), text.size());
  std::string whole(text.substr(0, point));
  std::string fraction(point < text.size() ? text.substr(point + 1) : std::string_view());
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (whole.size() + fraction.size() == 0 || whole.size() > 100'000 || fraction.size() > 16383 ||
      !std::all_of(whole.begin(), whole.end(), is_digit) ||
      !std::all_of(fraction.begin(), fraction.end(), is_digit)) {
    return std::nullopt;
  }
  const auto scale = static_cast<std::uint16_t>(fraction.size());
  whole.insert(0, (4 - whole.size() % 4) % 4, '0');
  fraction.append((4 - fraction.size() % 4) % 4, '0');
  std::vector<std::uint16_t> groups;
  const auto digits = whole + fraction;
  for (std::size_t at = 0; at < digits.size(); at += 4) {
    groups.push_back(*number_of<std::uint16_t>(std::string_view(digits).substr(at, 4)));
  }
  auto weight = static_cast<std::int16_t>(static_cast<std::int64_t>(whole.size() / 4) - 1);
  while (!groups.empty() && groups.back() == 0) groups.pop_back();
  std::size_t zeros = 0;
  while (zeros < groups.size() && groups[zeros] == 0) ++zeros;
  groups.erase(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(zeros));
  weight = groups.empty() ? std::int16_t{0}
                          : static_cast<std::int16_t>(weight - static_cast<std::int16_t>(zeros));
  put(static_cast<std::uint16_t>(groups.size()));
  put_big(bytes, weight);
  put(negative && !groups.empty() ? kNegative : std::uint16_t{0});
  put(scale);
  for (const auto group : groups) put(group);
  return bytes;
}

std::optional<std::string> bool_bytes(std::string_view text) {
  for (const auto* yes : {"t", "true", "1"}) {
    if (text == yes) return std::string(1, '\1');
  }
  for (const auto* no : {"f", "false", "0"}) {
    if (text == no) return std::string(1, '\0');
  }
  return std::nullopt;
}

// Whose binary format is the text itself; 0 is a type not said.
bool is_text(Oid type) {
  switch (type) {
    case 0:
    case kName:
    case kText:
    case kUnknown:
    case kBpchar:
    case kVarchar:
      return true;
    default:
      return false;
  }
}

// Of the years 1 and 9999: microseconds since 2000-01-01.
constexpr std::int64_t kFirstTime = -63'082'281'600'000'000, kLastTime = 252'455'615'999'999'999;

std::optional<std::string> time_bytes(std::string_view text, sql::Type type) {
  std::string bytes;
  try {
    put_big(bytes, std::get<std::int64_t>(sql::from_text(text, {type})));
  } catch (const sql::SqlException&) {
    return std::nullopt;
  }
  return bytes;
}

}  // namespace

Oid oid_of(sql::Type type) {
  switch (type) {
    case sql::Type::kNull:
      return kText;
    case sql::Type::kBoolean:
      return kBool;
    case sql::Type::kSmallint:
      return kInt2;
    case sql::Type::kInteger:
      return kInt4;
    case sql::Type::kBigint:
      return kInt8;
    case sql::Type::kNumeric:
      return kNumeric;
    case sql::Type::kText:
      return kText;
    case sql::Type::kVarchar:
      return kVarchar;
    case sql::Type::kTimestamp:
      return kTimestamp;
    case sql::Type::kTimestampTz:
      return kTimestamptz;
  }
  return kText;
}

sql::Type type_of(Oid type) {
  switch (type) {
    case kBool:
      return sql::Type::kBoolean;
    case kInt2:
      return sql::Type::kSmallint;
    case kInt4:
      return sql::Type::kInteger;
    case kInt8:
    case kOid:
      return sql::Type::kBigint;
    case kNumeric:
    case kFloat4:
    case kFloat8:
      return sql::Type::kNumeric;
    case kText:
    case kName:
      return sql::Type::kText;
    case kVarchar:
    case kBpchar:
      return sql::Type::kVarchar;
    case kTimestamp:
      return sql::Type::kTimestamp;
    case kTimestamptz:
      return sql::Type::kTimestampTz;
    default:
      return sql::Type::kNull;
  }
}

std::int16_t size_of(sql::Type type) {
  switch (type) {
    case sql::Type::kBoolean:
      return 1;
    case sql::Type::kSmallint:
      return 2;
    case sql::Type::kInteger:
      return 4;
    case sql::Type::kBigint:
    case sql::Type::kTimestamp:
    case sql::Type::kTimestampTz:
      return 8;
    default:
      return -1;
  }
}

bool is_known(Oid type) {
  return is_text(type) || type_of(type) != sql::Type::kNull;
}

std::optional<std::string> text_of_binary(Oid type, std::string_view bytes) {
  if (is_text(type)) return std::string(bytes);
  Reader in(bytes);
  switch (type) {
    case kBool: {
      const auto byte = in.big<std::uint8_t>();
      return in.complete() ? std::optional<std::string>(byte != 0 ? "t" : "f") : std::nullopt;
    }
    case kInt2:
      return integer_text<std::int16_t>(bytes);
    case kInt4:
      return integer_text<std::int32_t>(bytes);
    case kOid:
      return integer_text<std::uint32_t>(bytes);
    case kInt8:
      return integer_text<std::int64_t>(bytes);
    case kFloat4:
      return float_text<float, std::uint32_t>(bytes);
    case kFloat8:
      return float_text<double, std::uint64_t>(bytes);
    case kNumeric:
      return numeric_text(bytes);
    case kTimestamp:
    case kTimestamptz: {
      const auto time = in.big<std::int64_t>();
      if (!in.complete() || time < kFirstTime || time > kLastTime) return std::nullopt;
      return sql::to_text(time, type_of(type));
    }
    default:
      return std::nullopt;
  }
}

std::optional<std::string> binary_of_text(sql::Type type, std::string_view text) {
  switch (type) {
    case sql::Type::kBoolean:
      return bool_bytes(text);
    case sql::Type::kSmallint:
      return integer_bytes<std::int16_t>(text);
    case sql::Type::kInteger:
      return integer_bytes<std::int32_t>(text);
    case sql::Type::kBigint:
      return integer_bytes<std::int64_t>(text);
    case sql::Type::kNumeric:
      return numeric_bytes(text);
    case sql::Type::kTimestamp:
    case sql::Type::kTimestampTz:
      return time_bytes(text, type);
    case sql::Type::kNull:
    case sql::Type::kText:
    case sql::Type::kVarchar:
      break;
  }
  return std::string(text);
}

}  // namespace cupel::wire::postgres
