// JSON within bounds: one look at the text, without a stack.
#include "crdt/io/json.hpp"

#include <fmt/format.h>

#include <charconv>

namespace cupel::crdt {

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

}  // namespace

std::optional<std::string> beyond_bounds(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest)
        return fmt::format("found more than {} arrays and objects within each other", kDeepest);
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (is_digit(c) || c == '-') {
      const auto begin = at;
      while (at + 1 < text.size() && is_digit(text[at + 1])) ++at;
      const auto digits = text.substr(begin, at + 1 - begin);
      const bool whole = at + 1 >= text.size() ||
                         (text[at + 1] != '.' && text[at + 1] != 'e' && text[at + 1] != 'E');
      if (whole) {
        constexpr std::size_t kShortest = 18;  // as many digits fit always
        if (digits.size() > kShortest && !fits(digits))
          return fmt::format(
              "found the number {}, expected a whole number that fits in 64 bits; write it as a "
              "text",
              digits.substr(0, 60));
      } else {
        // Fraction and exponent belong to it.
        while (at + 1 < text.size() &&
               (is_digit(text[at + 1]) ||
                std::string_view(".eE+-").find(text[at + 1]) != std::string_view::npos))
          ++at;
      }
    }
  }
  return std::nullopt;
}

}  // namespace cupel::crdt
