// Plain values: a recursive descent for each of the two syntaxes. See the header.
#include "engine/certify/plain_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

#include "engine/certify/plain_scalar.hpp"

namespace cupel::certify {

namespace {

using Kind = PlainValue::Kind;

constexpr int kMostNested = 102;

PlainValue plain(Kind kind, std::string text = {}) {
  return {.kind = kind, .text = std::move(text)};
}
PlainValue plain(std::int64_t integer) {
  return {.kind = Kind::kInteger, .integer = integer};
}

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    constexpr std::string_view kPlain = "\"\\\n\t\r\b\f", kEscapes = "\"\\ntrbf";
    if (const auto which = kPlain.find(c); which != std::string_view::npos) {
      out += '\\';
      out += kEscapes[which];
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Texts in their order, in brackets.
std::string sorted_text(std::string_view open, std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  std::string out(open);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ' ';
    out += texts[i];
  }
  return out + '}';
}

}  // namespace

std::string canonical_text(const PlainValue& value) {
  switch (value.kind) {
    case Kind::kAbsent:
    case Kind::kNull:
      return "nil";
    case Kind::kInteger:
      return std::to_string(value.integer);
    case Kind::kString:
      return quoted_text(value.text);
    case Kind::kKeyword:
      return ":" + value.text;
    case Kind::kLiteral:
      return value.text;
    case Kind::kVector: {
      std::string out = "[";
      for (const auto& item : value.items) {
        if (out.size() > 1) out += ' ';
        out += canonical_text(item);
      }
      return out + "]";
    }
    case Kind::kMap:
      break;
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
    texts.push_back(canonical_text(value.items[i]) + " " + canonical_text(value.items[i + 1]));
  }
  return sorted_text("{", std::move(texts));
}

bool PlainText::fail(std::string message) {
  if (error_.empty()) error_ = std::move(message);
  return false;
}

bool PlainText::more() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' ||
        (edn_ && (c == ',' || c == '\f' || c == '\v'))) {
      ++at_;
    } else if (edn_ && c == ';') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (edn_ && (c == '^' || text_.substr(at_, 2) == "#_")) {  // metadata, discarded forms
      at_ += c == '^' ? 1 : 2;
      PlainValue discarded;
      if (++depth_ > kMostNested) return fail("found values nested too deep");
      const bool read = value(discarded);
      --depth_;
      if (!read) return false;
    } else {
      return true;
    }
  }
  return false;
}

bool PlainText::value(PlainValue& out) {
  if (!more()) return fail("found the end of the text, expected a value");
  const char c = text_[at_];
  if (c == '"') {
    out = plain(Kind::kString);
    return string(out.text);
  }
  if (c == '[' || (edn_ && c == '(')) {
    out = plain(Kind::kVector);
    return collection(c == '[' ? ']' : ')', out);
  }
  if (c == '{') {
    out = plain(Kind::kMap);
    if (!edn_) return json_object(out);
    if (!collection('}', out)) return false;
    return out.items.size() % 2 == 0 || fail("found a map with a key that has no value");
  }
  if (!edn_) return json_word(out);
  return c == '#' ? edn_dispatch(out) : edn_word(out);
}

bool PlainText::record(PlainValue& out) {
  if (edn_ && more() && text_[at_] == '#') {
    ++at_;
    word();
  }
  unread_.clear();
  if (!more() || text_[at_] != '{') return value(out);
  out = plain(Kind::kMap);
  return fields(out);
}

// The fields of an operation map.
bool PlainText::fields(PlainValue& out) {
  ++at_;
  for (bool first = true; more(); first = false) {
    if (text_[at_] == '}') {
      ++at_;
      return true;
    }
    if (!edn_ && !first) {
      if (text_[at_] != ',') return fail("found no comma between two members");
      ++at_;
      if (!more()) break;
    }
    PlainValue name;
    const bool readable = text_[at_] == '"' || (text_[at_] == ':' && text_.substr(at_, 2) != "::");
    if (edn_ && !readable) {
      if (!pass_over()) return false;
    } else if (!value(name)) {
      return false;
    }
    if (!edn_) {
      if (name.kind != Kind::kString) return fail("found a member without a name");
      if (!more() || text_[at_] != ':') return fail("found a name without a colon after it");
      ++at_;
    }
    PlainValue found;
    if (!field(name, found)) return false;
    out.items.push_back(std::move(name));
    out.items.push_back(std::move(found));
  }
  return fail("found no } after a map");
}

bool PlainText::field(const PlainValue& name, PlainValue& out) {
  constexpr std::string_view kNames[] = {"type", "f", "process", "time", "index", "key", "value"};
  const bool meant = name.is_name() &&
                     std::find(std::begin(kNames), std::end(kNames), name.text) != std::end(kNames);
  if (!meant) return pass_over();
  if (!more()) return fail("found a map with a key that has no value");
  const auto begin = at_;
  if (value(out)) return true;
  if (!edn_ || name.text != "value") return false;
  unread_ = std::exchange(error_, {});  // an error unless it is the nemesis that says it
  at_ = begin;
  depth_ = 0;
  out = {};
  return pass_over();
}

bool PlainText::pass_string() {
  for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
    if (text_[at_] == '\\') ++at_;
  }
  if (at_ >= text_.size()) return fail("found a string without its closing quote");
  ++at_;
  return true;
}

// A value of any kind, up to the comma or the bracket behind it in JSON.
bool PlainText::pass_over() {
  if (edn_) return pass_edn();
  for (int nested = 0; at_ < text_.size();) {
    const char c = text_[at_];
    if (nested == 0 && (c == ',' || c == '}')) return true;
    if (c == '"') {
      if (!pass_string()) return false;
      continue;
    }
    if (c == '[' || c == '{') ++nested;
    if (c == ']' || c == '}') --nested;
    ++at_;
  }
  return fail("found no } after an object");
}

// One form. #<…>, an object as it was printed, has a name of a field or a bracket behind it.
bool PlainText::pass_edn() {
  constexpr std::string_view kBlanks = " \t\n\r\f\v,";
  const auto skip = [&] {
    while (at_ < text_.size() &&
           (kBlanks.find(text_[at_]) != std::string_view::npos || text_[at_] == ';')) {
      if (text_[at_] == ';')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else
        ++at_;
    }
  };
  const auto next_is = [&](std::string_view any) {
    skip();
    return at_ >= text_.size() || any.find(text_[at_]) != std::string_view::npos;
  };
  int nested = 0;
  for (int left = 1; left > 0;) {
    skip();
    if (at_ >= text_.size()) return fail("found the end of the text, expected a value");
    const char c = text_[at_];
    const auto two = text_.substr(at_, 2);
    if (c == '(' || c == '[' || c == '{') {
      ++nested;
      ++at_;
      continue;
    }
    if (c == ')' || c == ']' || c == '}') {
      if (nested-- == 0) return fail("found a closing bracket, expected a value");
      ++at_;
    } else if (c == '^' || two == "#_") {
      at_ += c == '^' ? 1 : 2;
      if (nested == 0) ++left;
      continue;
    } else if (c == '"') {
      if (!pass_string()) return false;
    } else if (two == "#<") {
      bool inside = true;  // of the object: an operator or an arrow
      while (inside) {
        const auto end = text_.find('>', at_);
        if (end == std::string_view::npos) return fail("found an object without its end");
        at_ = end + 1;
        inside = std::string_view(" \t-=").find(text_[end - 1]) != std::string_view::npos ||
                 (at_ < text_.size() && !word().empty());
      }
    } else {
      if (c == '\\') at_ = std::min(at_ + 2, text_.size());
      const auto text = word();
      const bool tag = c == '#' && two != "#'" && two != "##";
      const bool prefix = c != '\\' && text.find_first_not_of("'`~@") == std::string_view::npos;
      if ((tag || prefix) && !next_is(")]}")) continue;
    }
    if (nested == 0) --left;
  }
  return true;
}

// The code after \u, and its second half.
bool PlainText::unicode(std::string& out) {
  const auto four = [&](std::uint32_t& code) {
    const auto digits = text_.substr(at_, 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    at_ += digits.size();
    return digits.size() == 4 && error == std::errc() && end == digits.data() + 4;
  };
  std::uint32_t code = 0;
  if (!four(code)) return fail("found a bad \\u escape");
  if (code >= 0xd800 && code < 0xdc00) {
    std::uint32_t low = 0;
    if (text_.substr(at_, 2) != "\\u") return fail("found half a character after \\u");
    at_ += 2;
    if (!four(low) || low < 0xdc00 || low >= 0xe000) return fail("found a bad \\u escape");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  append_utf8(code, out);
  return true;
}

bool PlainText::string(std::string& out) {
  ++at_;
  while (at_ < text_.size() && text_[at_] != '"') {
    if (text_[at_] != '\\') {
      out += text_[at_++];
      continue;
    }
    if (at_ + 1 >= text_.size()) break;
    const char escape = text_[at_ + 1];
    at_ += 2;
    constexpr std::string_view kEscapes = "\"\\/ntrbf", kMeant = "\"\\/\n\t\r\b\f";
    if (const auto which = kEscapes.find(escape); which != std::string_view::npos) {
      out += kMeant[which];
    } else if (edn_ && escape >= '0' && escape <= '7') {
      std::uint32_t code = 0;
      for (--at_; at_ < text_.size() && code < 32 && text_[at_] >= '0' && text_[at_] <= '7'; ++at_)
        code = code * 8 + static_cast<std::uint32_t>(text_[at_] - '0');
      append_utf8(code, out);
    } else if (escape != 'u' || !unicode(out)) {
      return fail("found an unknown escape in a string");
    }
  }
  if (at_ >= text_.size()) return fail("found a string without its closing quote");
  ++at_;
  return true;
}

// The items of an array of JSON, or of any collection of EDN.
bool PlainText::collection(char close, PlainValue& out) {
  if (++depth_ > kMostNested) return fail("found values nested too deep");
  ++at_;
  for (bool first = true; more(); first = false) {
    if (text_[at_] == close) {
      ++at_;
      --depth_;
      return true;
    }
    if (!edn_ && !first) {
      if (text_[at_] != ',') return fail("found no comma between two values");
      ++at_;
    }
    if (!value(out.items.emplace_back())) return false;
  }
  return fail(std::string("found no ") + close + " after a collection");
}

// {"keyword": "x"} and {"literal": "#inst …"} stand for values that JSON does not have.
bool PlainText::json_object(PlainValue& out) {
  if (++depth_ > kMostNested) return fail("found values nested too deep");
  ++at_;
  while (more() && text_[at_] != '}') {
    if (!out.items.empty()) {
      if (text_[at_] != ',') return fail("found no comma between two members");
      ++at_;
    }
    if (!value(out.items.emplace_back())) return false;
    if (out.items.back().kind != Kind::kString) return fail("found a member without a name");
    if (!more() || text_[at_] != ':') return fail("found a name without a colon after it");
    ++at_;
    if (!value(out.items.emplace_back())) return false;
  }
  if (at_ >= text_.size()) return fail("found no } after an object");
  ++at_;
  --depth_;
  if (out.items.size() != 2 || out.items[1].kind != Kind::kString) return true;
  const auto name = out.items[0].text;
  if (name != "keyword" && name != "literal") return true;
  out = plain(name == "keyword" ? Kind::kKeyword : Kind::kLiteral, std::move(out.items[1].text));
  return true;
}

std::string_view PlainText::word() {
  const auto begin = at_;
  const std::string_view ends = edn_ ? " \t\n\r\f\v,()[]{}\";^\\" : " \t\n\r,[]{}\":";
  at_ = std::min(text_.find_first_of(ends, at_), text_.size());
  return text_.substr(begin, at_ - begin);
}

bool PlainText::json_word(PlainValue& out) {
  const auto text = word();
  if (text == "null") {
    out = plain(Kind::kNull);
  } else if (text == "true" || text == "false") {
    out = plain(Kind::kLiteral, std::string(text));
  } else if (const auto integer = integer_of(text)) {
    out = plain(*integer);
  } else if (is_digits(text)) {
    out = plain(Kind::kLiteral, std::string(text) + "N");
  } else if (const auto real = text_of_double(text)) {
    out = plain(Kind::kLiteral, *real);
  } else {
    return fail(fmt::format("found {}, expected a value", text.substr(0, 40)));
  }
  return true;
}

bool PlainText::edn_word(PlainValue& out) {
  const char c = text_[at_];
  if (c == '\\') {  // a character, also a bracket
    const auto begin = at_;
    at_ += 2;
    while (at_ < text_.size() && (text_[at_] & 0xc0) == 0x80) ++at_;
    word();
    const auto character = edn_character(text_.substr(begin, at_ - begin));
    out = plain(Kind::kLiteral, character.value_or(""));
    return character || fail("found no character after a backslash");
  }
  const auto text = word();
  if (text.empty()) return fail(std::string("found ") + c + ", expected a value");
  if (text == "nil") {
    out = plain(Kind::kNull);
  } else if (c == ':') {
    out = plain(Kind::kKeyword, std::string(text.substr(1)));
  } else if (is_digits(text.substr(0, 1)) ||
             ((c == '-' || c == '+') && is_digits(text.substr(1, 1)))) {
    auto number = edn_number(text);
    if (!number) return fail(fmt::format("found {}, expected a number", text.substr(0, 40)));
    out = std::move(*number);
  } else {
    out = plain(Kind::kLiteral, std::string(text));  // true, a symbol
  }
  return true;
}

// #:space{:a 1, :_/b 2}: the keys are :space/a and :b.
bool PlainText::namespaced(std::string_view space, PlainValue& map, PlainValue& out) {
  if (map.kind != Kind::kMap) return fail("found a namespace without a map");
  for (std::size_t i = 0; i < map.items.size(); i += 2) {
    auto& key = map.items[i];
    if (key.kind != Kind::kKeyword) continue;
    if (key.text.starts_with("_/")) {
      key.text = key.text.substr(2);
    } else if (key.text.find('/') == std::string::npos) {
      key.text = std::string(space) + "/" + key.text;
    }
  }
  out = std::move(map);
  return true;
}

// A set, a tagged value, ##Inf.
bool PlainText::edn_dispatch(PlainValue& out) {
  const auto begin = at_++;
  if (at_ < text_.size() && text_[at_] == '{') {
    PlainValue set = plain(Kind::kVector);
    if (!collection('}', set)) return false;
    std::vector<std::string> texts;
    for (const auto& item : set.items) texts.push_back(canonical_text(item));
    out = plain(Kind::kLiteral, sorted_text("#{", std::move(texts)));
    return true;
  }
  const auto tag = word();
  if (tag.empty()) return fail("found a lone #");
  if (tag[0] == '<') return fail("found an object that was printed as #<…>");
  if (tag[0] == '#') {
    out = plain(Kind::kLiteral, std::string(text_.substr(begin, at_ - begin)));
    return true;
  }
  PlainValue inner;
  if (++depth_ > kMostNested) return fail("found values nested too deep");
  if (!value(inner)) return false;
  --depth_;
  if (tag[0] == ':') return namespaced(tag.substr(1), inner, out);
  const bool ours = inner.kind == Kind::kString;
  if (ours && tag == "cupel/keyword") {
    out = plain(Kind::kKeyword, std::move(inner.text));
  } else if (ours && tag == "cupel/literal") {
    out = plain(Kind::kLiteral, std::move(inner.text));
  } else {
    out = plain(Kind::kLiteral, "#" + std::string(tag) + " " + canonical_text(inner));
    if (tag == "uuid") std::transform(out.text.begin(), out.text.end(), out.text.begin(), lower);
  }
  return true;
}

}  // namespace cupel::certify
