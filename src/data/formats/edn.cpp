// What a chunk keeps of EDN: see the header. The text of a map or a set is sorted, and a number has
// one spelling, so that two ways to print a value are one scalar.
#include "data/formats/edn.hpp"

#include <absl/strings/charconv.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>

#include "base/text.hpp"

template class cupel::text::EdnScanner<cupel::formats::CellBuilder>;

namespace cupel::formats {

using jepsen::Cell;
using jepsen::Tag;

namespace {

std::string clipped(std::string_view text) {
  return text.size() <= 40 ? std::string(text) : std::string(text.substr(0, 40)) + "…";
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A number in decimal: its digits without a point and leading zeros, times ten to `exponent`.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;
  bool is_whole = true;  // neither a point nor an exponent
  char suffix = 0;       // N, M or none
};

// Nothing: it is not written as Clojure reads one.
std::optional<Decimal> decimal_of(std::string_view text) {
  Decimal number;
  std::size_t at = 0;
  if (text.starts_with('-')) {
    number.negative = true;
    ++at;
  }
  const auto digits = [&](std::string& to) {
    const auto begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    to += text.substr(begin, at - begin);
    return at - begin;
  };
  if (digits(number.digits) == 0) return std::nullopt;
  if (at < text.size() && text[at] == '.') {
    ++at;
    number.is_whole = false;
    number.exponent -= static_cast<std::int64_t>(digits(number.digits));
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    number.is_whole = false;
    std::string power;
    if (at < text.size() && (text[at] == '-' || text[at] == '+'))
      power = text[at++] == '-' ? "-" : "";
    if (digits(power) == 0) return std::nullopt;
    if (power.size() > 10) power.resize(10);  // no number has so large an exponent
    number.exponent += std::stoll(power);
  }
  if (at < text.size() && (text[at] == 'N' || text[at] == 'M')) number.suffix = text[at++];
  if (at != text.size()) return std::nullopt;
  number.digits.erase(0, std::min(number.digits.find_first_not_of('0'), number.digits.size()));
  return number;
}

// A java.math.BigDecimal in one spelling, since Clojure takes 1.5M and 1.50M for equal.
std::optional<std::string> canonical_decimal(Decimal number) {
  constexpr std::int64_t kMostExponent = 999'999'999;
  while (number.digits.ends_with('0')) {
    number.digits.pop_back();
    ++number.exponent;
  }
  if (number.digits.empty()) return "0M";
  if (number.exponent > kMostExponent || number.exponent < -kMostExponent) return std::nullopt;
  auto& digits = number.digits;
  constexpr std::int64_t kMostZeros = 40;
  std::string power;
  if (number.exponent > kMostZeros || number.exponent < -kMostZeros) {
    power = fmt::format("E{}", number.exponent);
  } else if (number.exponent >= 0) {
    digits.append(static_cast<std::size_t>(number.exponent), '0');
  } else {
    const auto places = static_cast<std::size_t>(-number.exponent);
    if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
    digits.insert(digits.size() - places, ".");
  }
  return (number.negative ? "-" : "") + digits + power + "M";
}

bool is_ratio(std::string_view text) {
  const auto slash = text.find('/');
  const auto all_digits = [](std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), is_digit);
  };
  return slash != std::string_view::npos && all_digits(text.substr(slash + 1)) &&
         all_digits(
             text.substr(text.starts_with('-') ? 1 : 0, slash - (text.starts_with('-') ? 1 : 0)));
}

}  // namespace

bool CellBuilder::too_long(std::size_t byte) {
  return fail(
      byte, fmt::format("found a value of more than {} bytes, expected a shorter one", most_text_));
}

bool CellBuilder::sorted(std::string_view open, std::vector<std::string> texts, Tag tag,
                         std::size_t byte, Cell& out) {
  std::sort(texts.begin(), texts.end());
  std::string text(open);
  for (std::size_t i = 0; i < texts.size(); ++i) text += (i == 0 ? "" : " ") + texts[i];
  return cell(tag, text + "}", /*borrowed=*/false, byte, out);
}

bool CellBuilder::distinct(std::vector<std::string> texts, std::string_view what,
                           std::size_t byte) {
  std::sort(texts.begin(), texts.end());
  const auto twice = std::adjacent_find(texts.begin(), texts.end());
  return twice == texts.end() ||
         fail(byte,
              fmt::format("found {} twice in one {}, expected each once", clipped(*twice), what));
}

bool CellBuilder::set(std::span<Cell> elements, std::size_t byte, Cell& out) {
  std::vector<std::string> texts(elements.size());
  for (std::size_t i = 0; i < texts.size(); ++i) canonical(*chunk_, elements[i], texts[i]);
  return distinct(texts, "set", byte) && sorted("#{", std::move(texts), Tag::kLiteral, byte, out);
}

bool CellBuilder::map(std::span<Cell> entries, std::size_t byte, Cell& out) {
  std::vector<std::string> texts(entries.size() / 2);
  for (std::size_t i = 0; i < texts.size(); ++i) canonical(*chunk_, entries[2 * i], texts[i]);
  if (!distinct(texts, "map", byte)) return false;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    texts[i] += ' ';
    canonical(*chunk_, entries[2 * i + 1], texts[i]);
  }
  return sorted("{", std::move(texts), Tag::kMap, byte, out);
}

bool CellBuilder::tagged(std::string_view tag, Cell inner, std::size_t byte, Cell& out) {
  // Our own, for what other formats' keys and values need.
  if ((tag == "cupel/literal" || tag == "cupel/keyword") && inner.tag == Tag::kString) {
    out = inner;
    out.tag = tag == "cupel/literal" ? Tag::kLiteral : Tag::kKeyword;
    return true;
  }
  std::string text = "#" + std::string(tag) + " ";
  canonical(*chunk_, inner, text);
  if (tag == "uuid") text = base::to_lower(text);
  return cell(inner.tag == Tag::kMap ? Tag::kMap : Tag::kLiteral, text, /*borrowed=*/false, byte,
              out);
}

bool CellBuilder::number(std::string_view digits, std::string_view word, std::size_t byte,
                         Cell& out) {
  const auto wrong = [&](std::string_view expected) {
    return fail(byte, fmt::format("found {}, expected {}", clipped(word), expected));
  };
  const auto number = decimal_of(digits);
  if (!number) return is_ratio(digits) ? ratio(digits, byte, out) : wrong("a number");
  if (number->suffix == 'N' || (number->suffix == 0 && number->is_whole)) {
    if (!number->is_whole) return wrong("a number");
    // Beyond 64 bits, and so without leading zeros: those with fewer are octal.
    return cell(Tag::kLiteral, (number->negative ? "-" : "") + number->digits + "N",
                /*borrowed=*/false, byte, out);
  }
  if (number->suffix == 'M') {
    const auto text = canonical_decimal(*number);
    if (!text) return wrong("a decimal number with a smaller exponent");
    out = Cell::of(Tag::kLiteral, chunk_->keep(*text));
    return true;
  }
  double real = 0;
  const auto parsed = absl::from_chars(digits.data(), digits.data() + digits.size(), real);
  const bool infinite = parsed.ec == std::errc::result_out_of_range && std::abs(real) > 1;
  out = Cell::of(Tag::kLiteral, !infinite  ? chunk_->keep(jepsen::canonical_double(real))
                                : real < 0 ? "##-Inf"
                                           : "##Inf");
  return true;
}

// In lowest terms, as Clojure reads it: 2/4 is 1/2, and 4/2 is 2.
bool CellBuilder::ratio(std::string_view digits, std::size_t byte, Cell& out) {
  const auto slash = digits.find('/');
  const auto part = [&](std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    // The smallest number has no absolute value.
    const bool fits = error == std::errc() && end == text.data() + text.size() &&
                      value != std::numeric_limits<std::int64_t>::min();
    return fits ? std::optional(value) : std::nullopt;
  };
  const auto above = part(digits.substr(0, slash)), below = part(digits.substr(slash + 1));
  if (!above || !below || *below == 0) {
    return fail(byte, fmt::format("found the ratio {}, expected whole numbers of 64 bits, the "
                                  "second not 0",
                                  clipped(digits)));
  }
  const auto common = std::gcd(*above, *below);
  out = *below == common
            ? Cell::of(*above / common)
            : Cell::of(Tag::kLiteral,
                       chunk_->keep(fmt::format("{}/{}", *above / common, *below / common)));
  return true;
}

}  // namespace cupel::formats
