// EDN: the one scanner, of values into whatever a builder makes of them.
//
// The scanner knows the grammar: white space, comments, #_ discards, strings and their escapes,
// numbers of 64 bits, brackets and how deep they may be nested. It passes each part to a builder,
// which makes a value of it or rejects it. A builder is a class with
//
//   using Value = …;
//   static constexpr std::string_view kInput = "file";        // or "line": what may end too early
//   bool fail(std::uint64_t byte, std::string message);       // keeps the first error; false
//   Value null();
//   Value integer(std::int64_t);
//   bool string(std::string_view, bool borrowed, std::size_t byte, Value&);
//   bool keyword(std::string_view name, std::size_t byte, Value&);   // without its colon
//   bool number(std::string_view digits, std::string_view word, std::size_t byte, Value&);
//   bool symbol(std::string_view word, std::size_t byte, Value&);    // true, \a, ##Inf as well
//   bool tagged(std::string_view tag, Value inner, std::size_t byte, Value&);
//   bool vector(std::span<Value>, Value&);                    // lists too
//   bool set(std::span<Value>, Value&);
//   bool map(std::span<Value>, Value&);                       // key, value, key, value
//
// Texts are borrowed from the input, except for a string with escapes (`borrowed` false). number()
// gets what does not fit into 64 bits, or is not whole; `digits` lacks the plus of `word`.
//
// Recursive descent in one pass: linear in the input. After an error a scanner is of no more use.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/depth.hpp"

namespace cupel::text {

struct EdnError {
  std::size_t byte;
  std::string message;
};

// A place in EDN text, and what needs no builder.
class EdnCursor {
 public:
  explicit EdnCursor(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool at_end() const { return at_ >= bytes_.size(); }
  [[nodiscard]] char peek() const { return bytes_[at_]; }
  void advance(std::size_t count = 1) { at_ += count; }
  [[nodiscard]] std::size_t position() const { return at_; }

  // Passes over white space, commas and comments.
  void skip() {
    while (!at_end()) {
      const auto c = kind(peek());
      if (c == Kind::kSpace) {
        ++at_;
      } else if (c == Kind::kComment) {
        const auto line_end = bytes_.find('\n', at_);
        at_ = line_end == std::string_view::npos ? bytes_.size() : line_end;
      } else {
        return;
      }
    }
  }

  // A bare word: everything up to white space, a bracket, a quote or a comment.
  std::string_view token() {
    const auto begin = at_;
    while (!at_end() && kind(peek()) == Kind::kWord) ++at_;
    return bytes_.substr(begin, at_ - begin);
  }

 protected:
  enum class Kind : std::uint8_t { kWord, kSpace, kComment, kBracketOrQuote };

  [[nodiscard]] static Kind kind(char c) { return kKinds[static_cast<unsigned char>(c)]; }
  [[nodiscard]] static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  // A string with escapes: its text into `out`. `at_` is at the first backslash and ends after
  // the closing quote; `open` is the opening one.
  std::optional<EdnError> unescape(std::size_t open, std::string& out);

  std::string_view bytes_;
  std::size_t at_ = 0;

 private:
  static constexpr std::array<Kind, 256> kKinds = [] {
    std::array<Kind, 256> kinds{};
    for (const unsigned char c : {' ', '\n', '\t', '\r', ',', '\f', '\v'}) kinds[c] = Kind::kSpace;
    for (const unsigned char c : {'(', ')', '[', ']', '{', '}', '"'})
      kinds[c] = Kind::kBracketOrQuote;
    kinds[';'] = Kind::kComment;
    return kinds;
  }();
};

template <typename Builder>
class EdnScanner : public EdnCursor {
 public:
  using Value = typename Builder::Value;

  EdnScanner(std::string_view bytes, Builder builder)
      : EdnCursor(bytes), builder_(std::move(builder)) {}

  [[nodiscard]] Builder& builder() { return builder_; }

  // Passes over white space, comments and #_ discards; false after the builder's fail().
  bool skip_discards() {
    for (skip(); discards(); skip()) {
      if (!discard(0)) return false;
    }
    return true;
  }
  // One value; false after the builder's fail(). `depth` collections are open.
  bool value(Value& out, int depth = 0) {
    for (;;) {
      skip();
      if (at_end()) {
        return fail(at_, "found the end of the " + std::string(Builder::kInput) +
                             ", expected a value: it is truncated");
      }
      switch (peek()) {
        case '"':
          return string(out);
        case '[':
          return collection(Shape::kVector, ']', depth + 1, out);
        case '(':
          return collection(Shape::kVector, ')', depth + 1, out);
        case '{':
          return collection(Shape::kMap, '}', depth + 1, out);
        case '#':
          if (discards()) {
            if (!discard(depth)) return false;
            continue;
          }
          return dispatch(depth + 1, out);
        case ']':
        case ')':
        case '}':
          return fail(at_, std::string("found ") + peek() + ", expected a value");
        default:
          return word(out);
      }
    }
  }

  bool fail(std::size_t byte, std::string message) {
    return builder_.fail(byte, std::move(message));
  }
  // Whether it failed because of the depth.
  [[nodiscard]] bool too_deep() const { return too_deep_; }

 private:
  enum class Shape : std::uint8_t { kVector, kSet, kMap };

  [[nodiscard]] bool discards() const { return bytes_.substr(at_, 2) == "#_"; }
  bool discard(int depth) {
    at_ += 2;
    Value discarded;
    return deeper(depth + 1) && value(discarded, depth + 1);
  }
  bool deeper(int depth) {
    too_deep_ = depth > kMaxDepth;
    return !too_deep_ || fail(at_, too_deep_message(kMaxDepth));
  }

  bool string(Value& out) {
    const auto open = at_++;
    while (!at_end() && peek() != '"' && peek() != '\\') ++at_;
    if (!at_end() && peek() == '"') {
      const auto text = bytes_.substr(open + 1, at_ - open - 1);
      ++at_;
      return builder_.string(text, /*borrowed=*/true, open, out);
    }
    std::string text;
    if (auto error = unescape(open, text)) return fail(error->byte, std::move(error->message));
    return builder_.string(text, /*borrowed=*/false, open, out);
  }

  // The collection whose opening bracket is at hand, the `depth`th within each other.
  bool collection(Shape shape, char close, int depth, Value& out) {
    if (!deeper(depth)) return false;
    const auto open = at_++;
    const auto first = values_.size();
    for (;;) {
      skip();
      if (at_end()) {
        return fail(open, std::string("found ") + bytes_[open] + " without its " + close +
                              ": truncated or corrupt");
      }
      if (peek() == close) break;
      if (peek() == '#' && discards()) {  // may be the last thing before the bracket
        if (!discard(depth)) return false;
        continue;
      }
      Value element;
      if (!value(element, depth)) return false;
      values_.push_back(std::move(element));
    }
    ++at_;
    const auto elements = std::span(values_).subspan(first);
    if (shape == Shape::kMap && elements.size() % 2 != 0) {
      return fail(open, "found a map with a key that has no value, expected pairs");
    }
    const bool made = shape == Shape::kVector ? builder_.vector(elements, out)
                      : shape == Shape::kSet  ? builder_.set(elements, out)
                                              : builder_.map(elements, out);
    values_.resize(first);
    return made;
  }

  bool dispatch(int depth, Value& out) {
    const auto begin = at_++;
    if (!at_end() && peek() == '{') return collection(Shape::kSet, '}', depth, out);
    const auto tag = token();
    if (tag.empty()) return fail(begin, "found a lone #, expected a set or a tagged value");
    if (tag[0] == '#') {  // ##Inf, ##NaN
      return builder_.symbol(bytes_.substr(begin, at_ - begin), begin, out);
    }
    Value inner;
    return deeper(depth) && value(inner, depth) &&
           builder_.tagged(tag, std::move(inner), begin, out);
  }

  bool word(Value& out) {
    const auto begin = at_;
    if (peek() == '\\') {  // a character: what follows the backslash belongs to it, also a bracket
      if (++at_ == bytes_.size() || (kind(peek()) == Kind::kSpace && peek() != ',')) {
        return fail(begin, "found a lone backslash, expected a character");
      }
      ++at_;
      while (!at_end() && (peek() & 0xc0) == 0x80) ++at_;
      token();
      return builder_.symbol(bytes_.substr(begin, at_ - begin), begin, out);
    }
    const auto text = token();
    if (text == "nil") {
      out = builder_.null();
      return true;
    }
    if (text[0] == ':') {
      if (text.size() == 1) return fail(begin, "found a lone colon, expected a keyword");
      return builder_.keyword(text.substr(1), begin, out);
    }
    const bool sign = text[0] == '-' || text[0] == '+';
    if (!is_digit(text[0]) && !(sign && text.size() > 1 && is_digit(text[1]))) {
      return builder_.symbol(text, begin, out);
    }
    const auto digits = text[0] == '+' ? text.substr(1) : text;
    const char* const last = digits.data() + digits.size();
    std::int64_t integer = 0;
    const auto [end, error] = std::from_chars(digits.data(), last, integer);
    if (error == std::errc() && (end == last || (end + 1 == last && *end == 'N'))) {
      out = builder_.integer(integer);
      return true;
    }
    return builder_.number(digits, text, begin, out);
  }

  Builder builder_;
  std::vector<Value> values_;  // of the collections that are open
  bool too_deep_ = false;
};

}  // namespace cupel::text
