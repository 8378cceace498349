// Strings with escapes: those of EDN and Clojure, and \/ and pairs of surrogates, as in JSON.
// Characters and whole numbers with a radix, as Clojure reads them.
#include "base/text/edn.hpp"

#include <array>
#include <charconv>
#include <utility>

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

// One to three octal digits, at most 377, which `at` moves past.
std::optional<std::uint32_t> octal(std::string_view bytes, std::size_t& at) {
  std::uint32_t code = 0;
  const auto begin = at;
  while (at < bytes.size() && at < begin + 3 && bytes[at] >= '0' && bytes[at] <= '7') {
    code = code * 8 + static_cast<std::uint32_t>(bytes[at++] - '0');
  }
  if (at == begin || code > 0377) return std::nullopt;
  return code;
}

// The text after \u: one code, or the two of a pair of surrogates.
std::optional<std::uint32_t> unicode(std::string_view bytes, std::size_t& at) {
  const auto code = hex4(bytes, at);
  if (!code || *code < 0xd800 || *code >= 0xe000) return code;
  if (*code >= 0xdc00 || bytes.substr(at, 2) != "\\u") return std::nullopt;
  at += 2;
  const auto low = hex4(bytes, at);
  if (!low || *low < 0xdc00 || *low >= 0xe000) return std::nullopt;
  return 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
}

}  // namespace

std::optional<EdnError> EdnCursor::pass_over() {
  std::string open;        // closing brackets, the innermost last
  std::size_t before = 0;  // forms before the one at hand: discarded, or metadata
  for (;;) {
    skip();
    if (at_end())
      return EdnError{at_, "found the end of the file, expected a value: it is truncated"};
    const auto begin = at_;
    const char c = peek();
    if (c == '(' || c == '[' || c == '{') {
      open += c == '(' ? ')' : c == '[' ? ']' : '}';
      advance();
      continue;
    }
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != c)
        return EdnError{at_, std::string("found ") + c + ", expected a value"};
      open.pop_back();
      advance();
    } else if (c == '^' || follows("#_")) {
      advance(c == '^' ? 1 : 2);
      before += open.empty() ? 1 : 0;
      continue;
    } else {
      if (auto error = follows("#<") ? pass_object() : pass_word()) return error;
      const auto word = bytes_.substr(begin, at_ - begin);
      const bool tag = word[0] == '#' && word.find_first_of("<'#", 1) != 1;
      const bool prefix = word.find_first_not_of("'`~@") == std::string_view::npos;
      skip();
      const bool ends = at_end() || std::string_view(")]}").find(peek()) != std::string_view::npos;
      if ((tag || prefix) && !ends) continue;  // its value follows
    }
    if (!open.empty()) continue;
    if (before == 0) return std::nullopt;
    --before;
  }
}

// A string, a character, or any other word.
std::optional<EdnError> EdnCursor::pass_word() {
  const auto begin = at_;
  if (peek() == '"') {
    for (advance(); !at_end() && peek() != '"'; advance()) at_ += peek() == '\\' ? 1 : 0;
    if (at_end()) return EdnError{begin, "found a string without its closing quote: truncated"};
    advance();
    return std::nullopt;
  }
  if (peek() == '\\') advance(at_ + 1 < bytes_.size() ? 2 : 1);  // also a bracket
  token();
  return std::nullopt;
}

std::optional<EdnError> EdnCursor::pass_object() {
  const auto begin = at_;
  for (auto end = bytes_.find('>', at_); end != std::string_view::npos;
       end = bytes_.find('>', end + 1)) {
    const bool inside = std::string_view(" \t-=").find(bytes_[end - 1]) != std::string_view::npos;
    at_ = end + 1;
    if (!inside && (at_end() || kind(peek()) != Kind::kWord)) return std::nullopt;
  }
  return EdnError{begin, "found an object that was printed as #<…>, without its end"};
}

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
      const auto code = unicode(bytes_, at_);
      if (!code) return EdnError{escape, "found a bad \\u escape, expected a Unicode character"};
      out += base::utf8_of(*code);
    } else if (escaped >= '0' && escaped <= '7') {
      --at_;
      const auto code = octal(bytes_, at_);
      if (!code) return EdnError{escape, "found a bad octal escape, expected \\0 to \\377"};
      out += base::utf8_of(*code);
    } else {
      return EdnError{escape,
                      "found an unknown escape in a string, expected one of \\n \\t \\r \\b "
                      "\\f \\\" \\\\ \\uXXXX \\ooo"};
    }
  }
  if (at_end()) {
    return EdnError{open, "found a string without its closing quote: truncated or corrupt"};
  }
  ++at_;
  return std::nullopt;
}

std::optional<EdnError> EdnCursor::character(std::string& out, bool& borrowed) {
  const auto begin = at_++;
  const auto wrong = [&](const char* message) { return EdnError{begin, message}; };
  if (at_end() || (kind(peek()) == Kind::kSpace && peek() != ',')) {
    return wrong("found a lone backslash, expected a character");
  }
  const auto name_begin = at_;
  const auto length = base::utf8_length(bytes_.substr(at_));
  at_ += length == 0 ? 1 : length;
  token();
  const auto name = bytes_.substr(name_begin, at_ - name_begin);
  constexpr std::array<std::pair<std::string_view, std::uint32_t>, 6> kNames = {
      {{"newline", '\n'},
       {"space", ' '},
       {"tab", '\t'},
       {"return", '\r'},
       {"backspace", '\b'},
       {"formfeed", '\f'}}};
  for (const auto& [word, code] : kNames) {
    if (name == word) return std::nullopt;
  }
  if (name.size() == length) return std::nullopt;  // the character itself
  std::size_t at = 1;
  std::optional<std::uint32_t> code;
  if (name[0] == 'u' && name.size() == 5) code = hex4(name, at);
  if (name[0] == 'o') code = octal(name, at);
  if (!code || at != name.size() || (*code >= 0xd800 && *code < 0xe000)) {
    return wrong("found an unknown character, expected one such as \\a, \\newline or \\u0061");
  }
  borrowed = false;
  out = '\\';
  for (const auto& [word, named] : kNames) {
    if (*code == named) {
      out += word;
      return std::nullopt;
    }
  }
  out += base::utf8_of(*code);
  return std::nullopt;
}

std::optional<EdnCursor::Whole> EdnCursor::whole_in_radix(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  auto rest = digits.substr(negative ? 1 : 0);
  const auto not_one = [] {
    return Whole{.wrong =
                     "found a number that Clojure does not read, expected one such as 31, "
                     "0x1f, 037 or 2r11111"};
  };
  int radix = 10;
  const auto mark = rest.find_first_of("rR");
  if (rest.starts_with("0x") || rest.starts_with("0X")) {
    radix = 16;
    rest.remove_prefix(2);
  } else if (mark != std::string_view::npos) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + mark, radix);
    if (error != std::errc() || end != rest.data() + mark || mark > 2 || radix < 2 || radix > 36) {
      return not_one();
    }
    rest.remove_prefix(mark + 1);
  } else if (rest.size() > 1 && rest[0] == '0' && is_digit(rest[1]) &&
             rest.find_first_not_of("0123456789N") == std::string_view::npos) {
    radix = 8;
    rest.remove_prefix(1);
  } else if (rest == "0N") {
    return Whole{};
  } else {
    return std::nullopt;
  }
  // N belongs to the digits of a radix that has it.
  if (radix <= 23 && rest.ends_with('N')) rest.remove_suffix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, radix);
  if (end != rest.data() + rest.size() || rest.empty()) return not_one();
  const auto most = (std::uint64_t{1} << 63) - (negative ? 0 : 1);
  if (error != std::errc() || value > most) {
    return Whole{.wrong =
                     "found a number of more than 64 bits that is not decimal. Write it in "
                     "decimal"};
  }
  return Whole{.value = static_cast<std::int64_t>(negative ? 0 - value : value)};
}

}  // namespace cupel::text
