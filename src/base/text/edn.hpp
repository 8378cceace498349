// EDN: the one scanner, of values into whatever a builder makes of them.
//
// The scanner knows the grammar as clojure.edn reads it: white space, comments, #_ discards, ^
// metadata (ignored), strings, characters and their escapes, whole numbers of 64 bits in every
// radix (0x1f, 017, 2r101, 7N), brackets and how deep they may be nested, namespaced maps. It
// passes each part to a builder, which makes a value of it or rejects it. A builder is a class with
//
//   using Value = …;
//   static constexpr std::string_view kInput = "file";        // or "line": what may end too early
//   bool fail(std::uint64_t byte, std::string message);       // keeps the first error; false
//   Value null();
//   Value integer(std::int64_t);
//   bool string(std::string_view, bool borrowed, std::size_t byte, Value&);
//   bool keyword(std::string_view name, bool borrowed, std::size_t byte, Value&);  // no colon
//   bool number(std::string_view digits, std::string_view word, std::size_t byte, Value&);
//   bool symbol(std::string_view word, bool borrowed, std::size_t byte, Value&);
//   bool tagged(std::string_view tag, Value inner, std::size_t byte, Value&);
//   bool vector(std::span<Value>, Value&);                    // lists too
//   bool set(std::span<Value>, std::size_t byte, Value&);
//   bool map(std::span<Value>, std::size_t byte, Value&);     // key, value, key, value
//
// symbol() also gets true, ##Inf and characters, the latter in one spelling: \newline, \a, \é.
// number() gets decimal numbers that do not fit into 64 bits or are not whole; `digits` lacks the
// plus of `word`. Texts are borrowed from the input unless `borrowed` is false: a string with
// escapes, a character that had another spelling, a keyword of a namespaced map.
//
// A discarded form needs no builder and leaves no trace in it. Recursive descent in one pass:
// linear in the input. After an error a scanner is of no more use.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/text/depth.hpp"

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

  [[nodiscard]] bool follows(std::string_view text) const {
    return bytes_.substr(at_, text.size()) == text;
  }

  // Passes over one form without reading it: brackets and quotes must close, and nothing else must
  // be EDN. An object that was printed as #<…> ends at a > that ends a word and is no operator.
  std::optional<EdnError> pass_over();

  // A bare word: everything up to white space, a bracket, a quote, a comment, ^ or a backslash.
  std::string_view token() {
    const auto begin = at_;
    while (!at_end() && kind(peek()) == Kind::kWord) ++at_;
    return bytes_.substr(begin, at_ - begin);
  }

 protected:
  std::optional<EdnError> pass_word();
  std::optional<EdnError> pass_object();

  enum class Kind : std::uint8_t { kWord, kSpace, kComment, kEnd };

  [[nodiscard]] static Kind kind(char c) { return kKinds[static_cast<unsigned char>(c)]; }
  // Or ends a collection. Not a # or ^, which may begin something that is passed over.
  [[nodiscard]] static bool begins_value(char c) {
    return c != '#' && c != '^' && (kind(c) == Kind::kWord || kind(c) == Kind::kEnd);
  }
  [[nodiscard]] static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  [[nodiscard]] static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
  }

  // A string with escapes: its text into `out`. `at_` is at the first backslash and ends after
  // the closing quote; `open` is the opening one.
  std::optional<EdnError> unescape(std::size_t open, std::string& out);
  // The character whose backslash is at hand, in one spelling: `borrowed` says whether it is the
  // input's. Ends after it.
  std::optional<EdnError> character(std::string& out, bool& borrowed);
  // The number `digits` (without a plus), if it is whole and has a radix: 0x1f, 017, 2r101, also
  // with N. Nothing, if it is another number.
  struct Whole {
    std::int64_t value = 0;
    std::optional<std::string> wrong = {};  // what is wrong with it
  };
  static std::optional<Whole> whole_in_radix(std::string_view digits);

  std::string_view bytes_;
  std::size_t at_ = 0;

 private:
  static constexpr std::array<Kind, 256> kKinds = [] {
    std::array<Kind, 256> kinds{};
    for (const unsigned char c : {' ', '\n', '\t', '\r', ',', '\f', '\v'}) kinds[c] = Kind::kSpace;
    for (const unsigned char c : {'(', ')', '[', ']', '{', '}', '"', '^', '\\'})
      kinds[c] = Kind::kEnd;
    kinds[';'] = Kind::kComment;
    return kinds;
  }();
};

// The builder of discarded forms.
struct EdnDiscarder {
  struct Value {};
  static constexpr std::string_view kInput = "file";

  std::optional<EdnError>* error;

  bool fail(std::uint64_t byte, std::string message) {
    if (!*error) *error = EdnError{static_cast<std::size_t>(byte), std::move(message)};
    return false;
  }
  static Value null() { return {}; }
  static Value integer(std::int64_t) { return {}; }
  static bool string(std::string_view, bool, std::size_t, Value&) { return true; }
  static bool keyword(std::string_view, bool, std::size_t, Value&) { return true; }
  static bool number(std::string_view, std::string_view, std::size_t, Value&) { return true; }
  static bool symbol(std::string_view, bool, std::size_t, Value&) { return true; }
  static bool tagged(std::string_view, Value, std::size_t, Value&) { return true; }
  static bool vector(std::span<Value>, Value&) { return true; }
  static bool set(std::span<Value>, std::size_t, Value&) { return true; }
  static bool map(std::span<Value>, std::size_t, Value&) { return true; }
};

template <typename Builder>
class EdnScanner : public EdnCursor {
 public:
  using Value = typename Builder::Value;

  EdnScanner(std::string_view bytes, Builder builder)
      : EdnCursor(bytes), builder_(std::move(builder)) {}

  [[nodiscard]] Builder& builder() { return builder_; }

  // Passes over white space, comments, discarded forms and metadata; false after the builder's
  // fail().
  bool skip_discards(int depth = 0) {
    // Nearly always one blank or nothing comes before a value.
    if (!at_end() && peek() == ' ') ++at_;
    return (!at_end() && begins_value(peek())) || skip_all(depth);
  }

  // One value; false after the builder's fail(). `depth` collections are open.
  bool value(Value& out, int depth = 0) {
    if (!skip_discards(depth)) return false;
    if (at_end()) return ended();
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
        return dispatch(depth + 1, out);
      case '\\':
        return character(out);
      case ']':
      case ')':
      case '}':
        return fail(at_, std::string("found ") + peek() + ", expected a value");
      default:
        return word(out);
    }
  }

  // After a mistake outside all collections: goes on from here.
  void rewind(std::size_t at) {
    at_ = at;
    values_.clear();
    too_deep_ = false;
  }

  bool fail(std::size_t byte, std::string message) {
    return builder_.fail(byte, std::move(message));
  }
  // Whether it failed because of the depth.
  [[nodiscard]] bool too_deep() const { return too_deep_; }

 private:
  enum class Shape : std::uint8_t { kVector, kSet, kMap };

  [[nodiscard]] bool discards() const { return follows("#_"); }
  // skip_discards() of whatever comes.
  bool skip_all(int depth) {
    for (;;) {
      skip();
      if (at_end()) return true;
      const bool metadata = peek() == '^';
      if (!metadata && !(peek() == '#' && discards())) return true;
      if (!discard(depth, metadata ? 1 : 2)) return false;
    }
  }
  // The form after a mark of so many bytes.
  bool discard(int depth, std::size_t mark = 2) {
    at_ += mark;
    if (!deeper(depth + 1)) return false;
    if constexpr (std::is_same_v<Builder, EdnDiscarder>) {
      Value discarded;
      return value(discarded, depth + 1);
    } else {
      skip();
      if (at_end()) return ended();
      std::optional<EdnError> error;
      EdnScanner<EdnDiscarder> scanner(bytes_, EdnDiscarder{&error});
      scanner.advance(at_);
      EdnDiscarder::Value discarded;
      if (!scanner.value(discarded, depth + 1)) {
        too_deep_ = scanner.too_deep();
        return fail(error->byte, std::move(error->message));
      }
      at_ = scanner.position();
      return true;
    }
  }
  bool ended() {
    return fail(at_, "found the end of the " + std::string(Builder::kInput) +
                         ", expected a value: it is truncated");
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

  // The collection whose opening bracket is at hand, the `depth`th within each other. `space` is
  // the namespace of a map's keywords.
  bool collection(Shape shape, char close, int depth, Value& out, std::string_view space = {}) {
    if (!deeper(depth)) return false;
    const auto open = at_++;
    const auto first = values_.size();
    for (;;) {
      if (!skip_discards(depth)) return false;
      if (at_end()) {
        return fail(open, std::string("found ") + bytes_[open] + " without its " + close +
                              ": truncated or corrupt");
      }
      if (peek() == close) break;
      Value element;
      const bool is_key = (values_.size() - first) % 2 == 0;
      const bool read = !space.empty() && is_key && peek() == ':' ? keyword_in(space, element)
                                                                  : value(element, depth);
      if (!read) return false;
      values_.push_back(std::move(element));
    }
    ++at_;
    const auto elements = std::span(values_).subspan(first);
    if (shape == Shape::kMap && elements.size() % 2 != 0) {
      return fail(open, "found a map with a key that has no value, expected pairs");
    }
    const bool made = shape == Shape::kVector ? builder_.vector(elements, out)
                      : shape == Shape::kSet  ? builder_.set(elements, open, out)
                                              : builder_.map(elements, open, out);
    values_.resize(first);
    return made;
  }

  // A key of #:space{…}: :a is :space/a, and :_/a is :a.
  bool keyword_in(std::string_view space, Value& out) {
    const auto begin = at_++;
    const auto name = token();
    if (name.starts_with("_/")) return keyword(name.substr(2), begin, out);
    if (name.find('/') != std::string_view::npos || name.empty()) return keyword(name, begin, out);
    return builder_.keyword(std::string(space) + "/" + std::string(name), /*borrowed=*/false, begin,
                            out);
  }

  bool keyword(std::string_view name, std::size_t begin, Value& out) {
    if (name.empty()) return fail(begin, "found a lone colon, expected a keyword");
    if (name.front() == ':') {
      return fail(begin,
                  "found a keyword with two colons, which needs a namespace that the file "
                  "does not name. Write the namespace, as in :a/b");
    }
    return builder_.keyword(name, /*borrowed=*/true, begin, out);
  }

  bool dispatch(int depth, Value& out) {
    const auto begin = at_++;
    if (!at_end() && peek() == '{') return collection(Shape::kSet, '}', depth, out);
    const auto tag = token();
    if (tag.empty()) return fail(begin, "found a lone #, expected a set or a tagged value");
    if (tag[0] == '#') {
      const auto word = bytes_.substr(begin, at_ - begin);
      if (word == "##Inf" || word == "##-Inf" || word == "##NaN") {
        return builder_.symbol(word, /*borrowed=*/true, begin, out);
      }
      return fail(begin, "found ##, expected ##Inf, ##-Inf or ##NaN");
    }
    if (tag[0] == ':') return namespaced_map(tag.substr(1), begin, depth, out);
    if (tag[0] == '<') {
      return fail(begin,
                  "found an object that was printed as #<…>, which cannot be read. Record "
                  "its value instead");
    }
    if (!is_letter(tag[0])) return fail(begin, "found a # before no name, expected a tag or a set");
    Value inner;
    return deeper(depth) && value(inner, depth) &&
           builder_.tagged(tag, std::move(inner), begin, out);
  }

  bool namespaced_map(std::string_view space, std::size_t begin, int depth, Value& out) {
    skip();
    if (space.empty() || space.front() == ':' || at_end() || peek() != '{') {
      return fail(begin, "found #: without a namespace and a map, expected #:name{…}");
    }
    return collection(Shape::kMap, '}', depth, out, space);
  }

  bool character(Value& out) {
    const auto begin = at_;
    std::string text;
    bool borrowed = true;
    if (auto error = EdnCursor::character(text, borrowed)) {
      return fail(error->byte, std::move(error->message));
    }
    return builder_.symbol(borrowed ? bytes_.substr(begin, at_ - begin) : std::string_view(text),
                           borrowed, begin, out);
  }

  bool word(Value& out) {
    const auto begin = at_;
    const auto text = token();
    if (text == "nil") {
      out = builder_.null();
      return true;
    }
    if (text[0] == ':') return keyword(text.substr(1), begin, out);
    const bool sign = text[0] == '-' || text[0] == '+';
    if (!is_digit(text[0]) && !(sign && text.size() > 1 && is_digit(text[1]))) {
      if (text == "...") {
        return fail(begin,
                    "found `...`, which stands for values that were not printed. Record "
                    "whole values (in Clojure, *print-length* nil)");
      }
      return builder_.symbol(text, /*borrowed=*/true, begin, out);
    }
    return number(begin, text, text[0] == '+' ? text.substr(1) : text, out);
  }

  bool number(std::size_t begin, std::string_view text, std::string_view digits, Value& out) {
    const char* const last = digits.data() + digits.size();
    const auto first = digits[0] == '-' ? 1U : 0U;
    std::int64_t integer = 0;
    const auto [end, error] = std::from_chars(digits.data(), last, integer);
    const bool whole = end == last || (end + 1 == last && *end == 'N');
    if (error == std::errc() && whole && (digits[first] != '0' || digits.size() == first + 1)) {
      out = builder_.integer(integer);
      return true;
    }
    if (auto other = whole_in_radix(digits)) {
      if (other->wrong) return fail(begin, *std::move(other->wrong));
      out = builder_.integer(other->value);
      return true;
    }
    return builder_.number(digits, text, begin, out);
  }

  Builder builder_;
  std::vector<Value> values_;  // of the collections that are open
  bool too_deep_ = false;
};

}  // namespace cupel::text
