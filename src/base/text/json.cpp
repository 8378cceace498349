// JSON by nlohmann's library, but for strings and bounds: one look at the text, without a stack.
#include "base/text/json.hpp"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/text/depth.hpp"
#include "base/text/excerpt.hpp"
#include "base/visible.hpp"

namespace cupel::text {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool fits(std::string_view digits) {
  const char* const end = digits.data() + digits.size();
  std::int64_t small = 0;
  std::uint64_t large = 0;
  return std::from_chars(digits.data(), end, small).ec == std::errc() ||
         std::from_chars(digits.data(), end, large).ec == std::errc();
}

// The number that begins at `at`, which moves to its last character; the reason against it.
std::optional<std::string> number_beyond_bounds(std::string_view text, std::size_t& at) {
  const auto begin = at;
  while (at + 1 < text.size() && is_digit(text[at + 1])) ++at;
  const auto digits = text.substr(begin, at + 1 - begin);
  const bool whole =
      at + 1 >= text.size() || (text[at + 1] != '.' && text[at + 1] != 'e' && text[at + 1] != 'E');
  if (whole) {
    constexpr std::size_t kAlwaysFits = 18;  // digits
    if (digits.size() <= kAlwaysFits || fits(digits)) return std::nullopt;
    return fmt::format(
        "found the number {}, expected a whole number that fits in 64 bits; write it as a text",
        digits.substr(0, kShortExcerpt));
  }
  // Fraction and exponent belong to it.
  while (at + 1 < text.size() &&
         (is_digit(text[at + 1]) ||
          std::string_view(".eE+-").find(text[at + 1]) != std::string_view::npos)) {
    ++at;
  }
  return std::nullopt;
}

// Only texts have characters that visible() escapes, and its escapes of what is UTF-8 are JSON's.
template <typename Json>
std::string dumped(const Json& value, int indent) {
  return base::visible(value.dump(indent, ' ', false, Json::error_handler_t::replace), "\n");
}

}  // namespace

std::string dump(const nlohmann::json& value) {
  return dumped(value, -1);
}
std::string dump(const nlohmann::ordered_json& value) {
  return dumped(value, -1);
}
std::string dump_indented(const nlohmann::json& value) {
  return dumped(value, 2);
}
std::string dump_indented(const nlohmann::ordered_json& value) {
  return dumped(value, 2);
}

std::string dump_excerpt(const nlohmann::json& value) {
  return excerpt(dump(value), kShortExcerpt);
}

std::string quoted(std::string_view text) {
  const auto is_plain = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
  };
  if (!std::all_of(text.begin(), text.end(), is_plain)) return dump(nlohmann::json(text));
  std::string all;
  all.reserve(text.size() + 2);
  return all.append("\"").append(text).append("\"");
}

void append_quoted(std::string_view text, std::string& out) {
  constexpr std::string_view kEscaped = "\"\\\n\t\r\b\f", kEscapes = "\"\\ntrbf";
  out += '"';
  for (const char c : text) {
    const bool plain =
        static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\' && c != '\x7f';
    if (plain) {
      out += c;
    } else if (const auto which = kEscaped.find(c); which != std::string_view::npos) {
      out += '\\';
      out += kEscapes[which];
    } else {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    }
  }
  out += '"';
}

std::optional<std::string> beyond_bounds(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth)
        return fmt::format("found more than {} arrays and objects within each other", kMaxDepth);
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (is_digit(c) || c == '-') {
      if (auto reason = number_beyond_bounds(text, at)) return reason;
    }
  }
  return std::nullopt;
}

}  // namespace cupel::text
