// Plain scalars: see the header.
#include "engine/certify/plain_scalar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace cupel::certify {

namespace {

PlainValue literal_value(std::string text) {
  return {.kind = PlainValue::Kind::kLiteral, .text = std::move(text)};
}
PlainValue integer_value(std::int64_t integer) {
  return {.kind = PlainValue::Kind::kInteger, .integer = integer};
}

std::optional<PlainValue> in_radix(std::string_view digits, int radix, bool negative) {
  if (radix < 2 || radix > 36 || digits.empty()) return std::nullopt;
  std::uint64_t value = 0;
  const auto* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value, radix);
  if (error != std::errc() || end != last) return std::nullopt;
  return integer_value(static_cast<std::int64_t>(negative ? 0 - value : value));
}

// In lowest terms.
std::optional<PlainValue> ratio(std::string_view above_text, std::string_view below_text) {
  const auto above = integer_of(above_text), below = integer_of(below_text);
  if (!above || !below || *below == 0) return std::nullopt;
  const auto common = std::gcd(*above, *below);
  if (*below == common) return integer_value(*above / common);
  return literal_value(fmt::format("{}/{}", *above / common, *below / common));
}

// Without zeros that mean nothing: 1.50M is 1.5M, and 15e-1M too.
std::optional<PlainValue> decimal(std::string_view number) {
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  const auto mantissa = number.substr(0, number.find_first_of("eE"));
  std::int64_t power = 0;
  if (mantissa.size() < number.size()) {
    auto digits = number.substr(mantissa.size() + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto read = integer_of(digits);
    if (!read) return std::nullopt;
    power = *read;
  }
  const auto point = std::min(mantissa.find('.'), mantissa.size());
  std::string digits(mantissa.substr(0, point));
  if (point < mantissa.size()) {
    digits += mantissa.substr(point + 1);
    power -= static_cast<std::int64_t>(mantissa.size() - point - 1);
  }
  if (!is_digits(digits)) return std::nullopt;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  for (; digits.ends_with('0'); ++power) digits.pop_back();
  if (digits.empty()) return literal_value("0M");
  constexpr std::int64_t kMostZeros = 40;
  std::string end = "M";
  if (power > kMostZeros || power < -kMostZeros) {
    end = fmt::format("E{}M", power);
  } else if (power >= 0) {
    digits.append(static_cast<std::size_t>(power), '0');
  } else {
    const auto places = static_cast<std::size_t>(-power);
    if (digits.size() <= places) digits = std::string(places + 1 - digits.size(), '0') + digits;
    digits.insert(digits.size() - places, ".");
  }
  return literal_value((negative ? "-" : "") + digits + end);
}

// std::from_chars, which libc++ has for doubles from version 20 only. A program with an older one
// is for a browser or for Node, whose only locale is C's.
std::from_chars_result double_from_chars(std::string_view text, double& value) {
#ifdef __cpp_lib_to_chars
  return std::from_chars(text.data(), text.data() + text.size(), value);
#else
  const bool begins = text.starts_with('-') || is_digits(text.substr(0, 1));
  if (!begins || text.find_first_of("xX") != text.npos) {
    return {text.data(), std::errc::invalid_argument};
  }
  const std::string copy(text);
  char* end = nullptr;
  value = std::strtod(copy.c_str(), &end);  // zero or infinite, if a double cannot hold it
  return {text.data() + (end - copy.c_str()), std::errc()};
#endif
}

}  // namespace

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::string> text_of_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = double_from_chars(text, value);
  if (end != text.data() + text.size()) return std::nullopt;
  const bool negative = text.starts_with('-');
  if (error != std::errc()) {  // too small for a double, or too large
    const bool small = text.find("e-") != text.npos || text.find("E-") != text.npos;
    value = negative ? -0.0 : 0.0;
    if (!small) value = negative ? -HUGE_VAL : HUGE_VAL;
  }
  if (std::isinf(value)) return negative ? "##-Inf" : "##Inf";
  if (!std::isfinite(value)) return std::nullopt;
  auto shown = fmt::format("{}", value);
  if (shown.find('.') == std::string::npos && shown.find('e') == std::string::npos) shown += ".0";
  return shown;
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

std::optional<PlainValue> edn_number(std::string_view word) {
  const auto number = word.substr(word.starts_with('+') ? 1 : 0);
  const bool negative = number.starts_with('-');
  const auto unsigned_number = number.substr(negative ? 1 : 0);
  const bool big = unsigned_number.ends_with('N');
  const auto digits = unsigned_number.substr(0, unsigned_number.size() - (big ? 1 : 0));
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    return in_radix(digits.substr(2), 16, negative);
  }
  if (const auto mark = unsigned_number.find_first_of("rR"); mark != word.npos) {
    const auto radix = integer_of(unsigned_number.substr(0, mark));
    if (!radix || *radix > 36) return std::nullopt;
    const auto in = *radix > 23 ? unsigned_number : digits;  // N may be one of its digits
    return in_radix(in.substr(mark + 1), static_cast<int>(*radix), negative);
  }
  if (is_digits(digits)) {
    const bool octal = digits.size() > 1 && digits[0] == '0';
    if (octal) {
      if (auto integer = in_radix(digits.substr(1), 8, negative)) return integer;
    }
    const auto whole = number.substr(0, number.size() - (big ? 1 : 0));
    if (const auto integer = integer_of(whole)) return integer_value(*integer);
    const auto zeros = std::min(digits.find_first_not_of('0'), digits.size() - 1);
    return literal_value((negative ? "-" : "") + std::string(digits.substr(zeros)) + "N");
  }
  if (const auto slash = number.find('/'); slash != number.npos) {
    return ratio(number.substr(0, slash), number.substr(slash + 1));
  }
  if (number.ends_with('M')) return decimal(number.substr(0, number.size() - 1));
  const auto real = text_of_double(number);
  return real ? std::optional(literal_value(*real)) : std::nullopt;
}

std::optional<std::string> edn_character(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, std::uint32_t>, 6> kNamed = {
      {{"\\newline", 10},
       {"\\space", 32},
       {"\\tab", 9},
       {"\\return", 13},
       {"\\backspace", 8},
       {"\\formfeed", 12}}};
  const bool coded = word.size() > 2 && (word[1] == 'u' || word[1] == 'o');
  std::uint32_t code = 0;
  const auto digits = word.substr(std::min<std::size_t>(2, word.size()));
  const auto* const last = digits.data() + digits.size();
  if (!coded || std::from_chars(digits.data(), last, code, word[1] == 'u' ? 16 : 8).ptr != last) {
    return std::string(word);
  }
  for (const auto& [name, named] : kNamed) {
    if (named == code) return std::string(name);
  }
  std::string text = "\\";
  append_utf8(code, text);
  return text;
}

}  // namespace cupel::certify
