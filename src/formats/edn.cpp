// EdnReader: see the header. Recursive descent, the depth limited; one pass.
#include "formats/edn.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "text/depth.hpp"

namespace cupel::formats {

using jepsen::Cell;
using jepsen::Tag;

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == ',' || c == '\f' || c == '\v';
}
bool ends_word(char c) {
  return is_space(c) || c == '(' || c == ')' || c == '[' || c == ']' || c == '{' || c == '}' ||
         c == '"' || c == ';';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

void append_utf8(std::uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

std::string clipped(std::string_view text) {
  return text.size() <= 40 ? std::string(text) : std::string(text.substr(0, 40)) + "…";
}

}  // namespace

void EdnReader::skip() {
  while (!at_end()) {
    const char c = peek();
    if (is_space(c)) {
      ++at_;
    } else if (c == ';') {
      const auto line_end = bytes_.find('\n', at_);
      at_ = line_end == std::string_view::npos ? bytes_.size() : line_end;
    } else {
      return;
    }
  }
}

std::string_view EdnReader::token() {
  const auto begin = at_;
  while (!at_end() && !ends_word(peek())) ++at_;
  return bytes_.substr(begin, at_ - begin);
}

bool EdnReader::value(Cell& out, int depth) {
  for (;;) {
    skip();
    if (at_end()) return fail(at_, "found the end of the file, expected a value: it is truncated");
    if (depth > text::kMaxDepth) {
      return fail(at_, text::too_deep_message(text::kMaxDepth));
    }
    switch (peek()) {
      case '"':
        return string(out);
      case '[':
        ++at_;
        return sequence(']', depth, out);
      case '(':
        ++at_;
        return sequence(')', depth, out);
      case '{':
        ++at_;
        return map_or_set(true, depth, out);
      case '#':
        if (bytes_.substr(at_, 2) == "#_") {
          at_ += 2;
          Cell discarded;
          if (!value(discarded, depth + 1)) return false;
          continue;
        }
        return dispatch(depth, out);
      case ']':
      case ')':
      case '}':
        return fail(at_, std::string("found ") + peek() + ", expected a value");
      default:
        return word(out);
    }
  }
}

bool EdnReader::string(Cell& out) {
  const auto open = at_++;
  const auto begin = at_;
  while (!at_end() && peek() != '"' && peek() != '\\') ++at_;
  if (!at_end() && peek() == '"') {  // no escapes: borrowed from the file
    out = Cell::of(Tag::kString, bytes_.substr(begin, at_ - begin));
    ++at_;
    return true;
  }
  std::string text(bytes_.substr(begin, at_ - begin));
  const auto hex4 = [&](std::uint32_t& code) {
    if (bytes_.size() - at_ < 4) return false;
    const char* first = bytes_.data() + at_;
    const auto [end, error] = std::from_chars(first, first + 4, code, 16);
    if (error != std::errc() || end != first + 4) return false;
    at_ += 4;
    return true;
  };
  while (!at_end() && peek() != '"') {
    char c = bytes_[at_++];
    if (c != '\\') {
      text += c;
      continue;
    }
    if (at_end()) break;
    const auto escape = at_ - 1;
    c = bytes_[at_++];
    switch (c) {
      case 'n':
        text += '\n';
        break;
      case 't':
        text += '\t';
        break;
      case 'r':
        text += '\r';
        break;
      case 'b':
        text += '\b';
        break;
      case 'f':
        text += '\f';
        break;
      case '"':
      case '\\':
      case '/':
        text += c;
        break;
      case 'u': {
        std::uint32_t code = 0, low = 0;
        bool good = hex4(code);
        if (good && code >= 0xd800 && code < 0xdc00) {
          good = bytes_.substr(at_, 2) == "\\u";
          if (good) at_ += 2;
          good = good && hex4(low) && low >= 0xdc00 && low < 0xe000;
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        } else if (code >= 0xdc00 && code < 0xe000) {
          good = false;
        }
        if (!good) return fail(escape, "found a bad \\u escape, expected a Unicode character");
        append_utf8(code, text);
        break;
      }
      default:
        return fail(escape,
                    "found an unknown escape in a string, expected one of \\n \\t \\r \\b "
                    "\\f \\\" \\\\ \\uXXXX");
    }
  }
  if (at_end()) return fail(open, "found a string without its closing quote: truncated or corrupt");
  ++at_;
  out = Cell::of(Tag::kString, chunk_->keep(text));
  return true;
}

bool EdnReader::sequence(char close, int depth, Cell& out) {
  const auto open = at_ - 1;
  std::vector<Cell> children;
  for (;;) {
    skip();
    if (at_end()) {
      return fail(open, std::string("found ") + bytes_[open] + " without its " + close +
                            ": truncated or corrupt");
    }
    if (peek() == close) break;
    if (bytes_.substr(at_, 2) == "#_") {  // may be the last thing before the bracket
      at_ += 2;
      Cell discarded;
      if (!value(discarded, depth + 1)) return false;
      continue;
    }
    children.emplace_back();
    if (!value(children.back(), depth + 1)) return false;
  }
  ++at_;
  out = chunk_->make_vector(children.data(), children.size());
  return true;
}

bool EdnReader::map_or_set(bool map, int depth, Cell& out) {
  Cell flat;
  const auto open = at_ - 1;
  if (!sequence('}', depth, flat)) return false;
  if (map && flat.size % 2 != 0) {
    return fail(open, "found a map with a key that has no value, expected pairs");
  }
  // Sorted: two ways to print one map are one scalar.
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < flat.size; i += map ? 2 : 1) {
    std::string text;
    jepsen::canonical(*chunk_, chunk_->child(flat, i), text);
    if (map) {
      text += ' ';
      jepsen::canonical(*chunk_, chunk_->child(flat, i + 1), text);
    }
    entries.push_back(std::move(text));
  }
  std::sort(entries.begin(), entries.end());
  std::string text(map ? "{" : "#{");
  for (std::size_t i = 0; i < entries.size(); ++i) text += (i == 0 ? "" : " ") + entries[i];
  text += '}';
  out = Cell::of(map ? Tag::kMap : Tag::kLiteral, chunk_->keep(text));
  return true;
}

bool EdnReader::dispatch(int depth, Cell& out) {
  const auto begin = at_++;
  if (!at_end() && peek() == '{') {
    ++at_;
    return map_or_set(false, depth, out);
  }
  const auto tag = token();
  if (tag.empty()) return fail(begin, "found a lone #, expected a set or a tagged value");
  if (tag[0] == '#') {  // ##Inf, ##NaN
    out = Cell::of(Tag::kLiteral, bytes_.substr(begin, at_ - begin));
    return true;
  }
  Cell tagged;
  if (!value(tagged, depth + 1)) return false;
  // Our own, for what other formats' keys and values need.
  if ((tag == "cupel/literal" || tag == "cupel/keyword") && tagged.tag == Tag::kString) {
    out = tagged;
    out.tag = tag == "cupel/literal" ? Tag::kLiteral : Tag::kKeyword;
    return true;
  }
  std::string text = "#" + std::string(tag) + " ";
  jepsen::canonical(*chunk_, tagged, text);
  out = Cell::of(tagged.tag == Tag::kMap ? Tag::kMap : Tag::kLiteral, chunk_->keep(text));
  return true;
}

bool EdnReader::word(Cell& out) {
  const auto begin = at_;
  if (peek() == '\\') {  // a character: whatever follows the backslash belongs to it
    at_ = std::min(at_ + 2, bytes_.size());
    while (!at_end() && (peek() & 0xc0) == 0x80) ++at_;
    token();
    out = Cell::of(Tag::kLiteral, bytes_.substr(begin, at_ - begin));
    return true;
  }
  const auto text = token();
  if (text == "nil") {
    out = Cell::null();
    return true;
  }
  if (text[0] == ':') {
    if (text.size() == 1) return fail(begin, "found a lone colon, expected a keyword");
    out = Cell::of(Tag::kKeyword, text.substr(1));
    return true;
  }
  const bool sign = text[0] == '-' || text[0] == '+';
  if (!is_digit(text[0]) && !(sign && text.size() > 1 && is_digit(text[1]))) {
    out = Cell::of(Tag::kLiteral, text);
    return true;
  }
  const auto number = text[0] == '+' ? text.substr(1) : text;
  const char* first = number.data();
  const char* last = first + number.size();
  std::int64_t integer = 0;
  const auto [end, error] = std::from_chars(first, last, integer);
  const bool whole = end == last || (end + 1 == last && *end == 'N');
  if (whole && error == std::errc()) {
    out = Cell::of(integer);
    return true;
  }
  if (whole) {  // too large for 64 bits
    std::string digits(first, end);
    const auto zeros = digits.find_first_not_of('0', digits[0] == '-');
    digits.erase(digits[0] == '-', zeros - (digits[0] == '-'));
    out = Cell::of(Tag::kLiteral, chunk_->keep(digits + "N"));
    return true;
  }
  double real = 0;
  const auto parsed = std::from_chars(first, last, real);
  if (parsed.ptr == last) {
    out = Cell::of(Tag::kLiteral, parsed.ec == std::errc() && std::isfinite(real)
                                      ? chunk_->keep(jepsen::canonical_double(real))
                                      : text);
    return true;
  }
  // A ratio or a decimal: kept as written.
  const bool ratio_or_decimal = std::all_of(number.begin(), number.end(), [](char c) {
    return is_digit(c) || c == '/' || c == '.' || c == 'M' || c == 'e' || c == 'E' || c == '-' ||
           c == '+';
  });
  if (ratio_or_decimal) {
    out = Cell::of(Tag::kLiteral, text);
    return true;
  }
  return fail(begin, "found " + clipped(text) + ", expected a number");
}

}  // namespace cupel::formats
