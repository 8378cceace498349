// Flat JSON: see the header.
#include "base/text/flat_json.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/utf8.hpp"

namespace cupel::text {

namespace {

using Json = nlohmann::json;

Json scalar_json(std::string_view value) {
  if (value == "null") return {};
  if (value == "true" || value == "false") return value == "true";
  if (is_flat_text(value)) return std::string(flat_text(value));
  std::int64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  if (number < 0) return number;
  return static_cast<std::uint64_t>(number);
}

}  // namespace

std::string_view FlatScanner::value(int depth) {
  const auto begin = at_;
  if (at_ == text_.size() || (text_[at_] != '[' && text_[at_] != '{')) return scalar();
  constexpr int kDeepest = 20;
  if (depth == kDeepest) return {};
  const bool names = text_[at_] == '{';
  const char closing = names ? '}' : ']';
  take(text_[at_]);
  if (at_ < text_.size() && text_[at_] != closing) {
    do {
      if (names && (!is_flat_text(scalar()) || !take(':'))) return {};
      if (value(depth + 1).empty()) return {};
    } while (take(','));
  }
  if (at_ == text_.size() || text_[at_] != closing) return {};
  const auto end = at_ + 1;
  take(closing);
  return text_.substr(begin, end - begin);
}

std::string_view FlatScanner::scalar() {
  const auto begin = at_;
  if (at_ == text_.size()) return {};
  if (text_[at_] == '"') {
    for (++at_; at_ < text_.size() && text_[at_] != '"';) {
      const auto length = plain_character();
      if (length == 0) return {};
      at_ += length;
    }
    if (at_ == text_.size()) return {};
    ++at_;
    return text_.substr(begin, at_ - begin);
  }
  for (const std::string_view word : {"null", "true", "false"}) {
    if (!text_.substr(at_).starts_with(word)) continue;
    at_ += word.size();
    return word;
  }
  if (text_[at_] == '-') ++at_;
  const auto digits = at_;
  while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
  constexpr std::size_t kMostDigits = 18;
  const bool number =
      at_ > digits && at_ - digits <= kMostDigits && (text_[digits] != '0' || at_ - begin == 1);
  return number ? text_.substr(begin, at_ - begin) : std::string_view();
}

// The length of the character, which needs no escape; 0: it is none such.
std::size_t FlatScanner::plain_character() const {
  constexpr char kFirst = ' ', kLast = '~';
  const char c = text_[at_];
  if (c >= kFirst && c <= kLast) return c == '\\' ? 0 : 1;
  constexpr char kDelete = 0x7f;
  return c >= 0 && (c < kFirst || c == kDelete) ? 0 : base::utf8_length(text_.substr(at_));
}

std::string_view FlatScanner::known_scalar() {
  const auto begin = at_;
  at_ = text_[at_] == '"' ? text_.find('"', at_ + 1) + 1
                          : std::min(text_.find_first_of(" ,]}", at_), text_.size());
  return text_.substr(begin, at_ - begin);
}

Json FlatScanner::known_json() {
  if (take('[')) {
    Json array = Json::array();
    for (; !take(']'); take(',')) array.push_back(known_json());
    return array;
  }
  if (take('{')) {
    Json object = Json::object();
    for (; !take('}'); take(',')) {
      std::string name(flat_text(known_scalar()));
      take(':');
      object[std::move(name)] = known_json();  // of two with one name the last, as in the parser
    }
    return object;
  }
  return scalar_json(known_scalar());
}

std::string_view flat_text(std::string_view value) {
  return value.substr(1, value.size() - 2);
}

std::vector<std::string_view> flat_values(std::string_view array) {
  FlatScanner scanner(array);
  std::vector<std::string_view> all;
  for (scanner.take('['); !scanner.take(']'); scanner.take(',')) all.push_back(scanner.value());
  return all;
}

Json flat_json(std::string_view value) {
  return value.empty() ? Json() : FlatScanner(value).known_json();
}

}  // namespace cupel::text
