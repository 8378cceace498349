// Flat JSON: JSON whose strings have no escapes and whose numbers are whole and fit in 64 bits, as
// programs write most of it, read without a tree of values. It is three times as fast as the JSON
// parser, which takes everything else.
//
// A string or a number of this form has no other one, but for characters that are not ASCII.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

namespace cupel::text {

class FlatScanner {
 public:
  explicit FlatScanner(std::string_view text) : text_(text) {}

  [[nodiscard]] bool is_at_end() const { return at_ == text_.size(); }
  // This character, with the blanks before and after it. False: another one is next.
  bool take(char expected) {
    skip_blanks();
    if (is_at_end() || text_[at_] != expected) return false;
    ++at_;
    skip_blanks();
    return true;
  }
  // A string, a whole number that fits in 64 bits, or a word; empty: there is none.
  std::string_view scalar();
  // A scalar, or an array or object of such values; empty: there is none.
  std::string_view value(int depth = 0);

  // Of a value that value() has seen.
  std::string_view known_scalar();
  nlohmann::json known_json();

 private:
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  [[nodiscard]] std::size_t plain_character() const;

  std::string_view text_;
  std::size_t at_ = 0;
};

// Of a value that FlatScanner::value() has seen: is it a string, the text of one, the values of an
// array, and as JSON; empty: null.
inline bool is_flat_text(std::string_view value) {
  return value.starts_with('"');
}
std::string_view flat_text(std::string_view value);
std::vector<std::string_view> flat_values(std::string_view array);
nlohmann::json flat_json(std::string_view value);

}  // namespace cupel::text
