// Flat line: see the header.
#include "crdt/io/flat_line.hpp"

#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

class FlatScanner {
 public:
  explicit FlatScanner(std::string_view text) : text_(text) {}

  std::optional<FlatLine> line() {
    FlatLine line;
    if (!take('{')) return std::nullopt;
    do {
      const auto name = scalar();
      if (!is_text(name) || !take(':')) return std::nullopt;
      auto* const field = field_of(line, name.substr(1, name.size() - 2));
      if (field == nullptr || !field->empty()) return std::nullopt;
      *field = value();
      if (field->empty()) return std::nullopt;
    } while (take(','));
    if (!take('}') || at_ != text_.size()) return std::nullopt;
    return line;
  }

  // The scalars of an array that line() has seen.
  std::vector<std::string_view> values() {
    std::vector<std::string_view> all;
    for (take('['); !take(']'); take(',')) all.push_back(scalar());
    return all;
  }

  static bool is_text(std::string_view token) { return token.starts_with('"'); }

 private:
  static std::string_view* field_of(FlatLine& line, std::string_view name) {
    if (name == "process") return &line.process;
    if (name == "f") return &line.f;
    if (name == "object") return &line.object;
    if (name == "key") return &line.key;
    if (name == "value") return &line.value;
    if (name == "time") return &line.time;
    return nullptr;
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  // With the blanks before and after it.
  bool take(char expected) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != expected) return false;
    ++at_;
    skip_blanks();
    return true;
  }

  std::string_view value() {
    const auto begin = at_;
    if (at_ == text_.size() || text_[at_] != '[') return scalar();
    take('[');
    if (take(']')) return without_blanks(begin);
    do {
      if (scalar().empty()) return {};
    } while (take(','));
    return take(']') ? without_blanks(begin) : std::string_view();
  }
  [[nodiscard]] std::string_view without_blanks(std::size_t begin) const {
    return text_.substr(begin, text_.rfind(']', at_ - 1) + 1 - begin);
  }

  // A string of plain characters, a whole number that fits in 64 bits, or a word; else nothing.
  std::string_view scalar() {
    const auto begin = at_;
    if (at_ == text_.size()) return {};
    if (text_[at_] == '"') {
      constexpr char kFirst = ' ', kLast = '~';
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        if (text_[at_] < kFirst || text_[at_] > kLast || text_[at_] == '\\') return {};
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

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<FlatLine> flat_line(std::string_view text) {
  return FlatScanner(text).line();
}

std::string_view flat_text(std::string_view value) {
  return value.substr(1, value.size() - 2);
}

std::vector<std::string_view> flat_values(std::string_view array) {
  return FlatScanner(array).values();
}

Json flat_json(std::string_view value) {
  if (value.empty() || value == "null") return {};
  if (value == "true" || value == "false") return value == "true";
  if (value.front() == '"') return std::string(flat_text(value));
  if (value.front() == '[') {
    Json array = Json::array();
    for (const auto one : flat_values(value)) array.push_back(flat_json(one));
    return array;
  }
  std::int64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  if (number < 0) return number;
  return static_cast<std::uint64_t>(number);
}

}  // namespace cupel::crdt
