// Strings with escapes: those of EDN and Clojure, and \/ and pairs of surrogates, as in JSON.
#include "text/edn.hpp"

#include "base/utf8.hpp"

namespace cupel::text {

namespace {

// The four digits after \u, which `at` moves past.
std::optional<std::uint32_t> hex4(std::string_view bytes, std::size_t& at) {
  if (bytes.size() - at < 4) return std::nullopt;
  const char* const first = bytes.data() + at;
  std::uint32_t code = 0;
  const auto [end, error] = std::from_chars(first, first + 4, code, 16);
  if (error != std::errc() || end != first + 4) return std::nullopt;
  at += 4;
  return code;
}

// The text after \u: one code, or the two of a pair of surrogates.
std::optional<std::uint32_t> character(std::string_view bytes, std::size_t& at) {
  const auto code = hex4(bytes, at);
  if (!code || *code < 0xd800 || *code >= 0xe000) return code;
  if (*code >= 0xdc00 || bytes.substr(at, 2) != "\\u") return std::nullopt;
  at += 2;
  const auto low = hex4(bytes, at);
  if (!low || *low < 0xdc00 || *low >= 0xe000) return std::nullopt;
  return 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
}

}  // namespace

std::optional<EdnError> EdnCursor::unescape(std::size_t open, std::string& out) {
  out = bytes_.substr(open + 1, at_ - open - 1);
  while (!at_end() && peek() != '"') {
    const char c = bytes_[at_++];
    if (c != '\\') {
      out += c;
      continue;
    }
    if (at_end()) break;
    const auto escape = at_ - 1;
    const char escaped = bytes_[at_++];
    constexpr std::string_view kEscapes = "ntrbf\"\\/", kMeant = "\n\t\r\b\f\"\\/";
    if (const auto which = kEscapes.find(escaped); which != std::string_view::npos) {
      out += kMeant[which];
    } else if (escaped == 'u') {
      const auto code = character(bytes_, at_);
      if (!code) return EdnError{escape, "found a bad \\u escape, expected a Unicode character"};
      out += base::utf8_of(*code);
    } else {
      return EdnError{escape,
                      "found an unknown escape in a string, expected one of \\n \\t \\r \\b "
                      "\\f \\\" \\\\ \\uXXXX"};
    }
  }
  if (at_end()) {
    return EdnError{open, "found a string without its closing quote: truncated or corrupt"};
  }
  ++at_;
  return std::nullopt;
}

}  // namespace cupel::text
