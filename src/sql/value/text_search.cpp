// memmem() and a loop with one place to go back to; see the header.
#include "sql/value/text_search.hpp"

#include <cstring>
#include <optional>

#include "sql/value/error.hpp"
#include "sql/value/scalar.hpp"

namespace cupel::sql {

std::size_t find_text(std::string_view text, std::string_view wanted, std::size_t from) {
  if (from > text.size()) return text.npos;
  if (wanted.empty()) return from;
  // The C library's is the two-way algorithm of Crochemore and Perrin.
  const void* found = memmem(text.data() + from, text.size() - from, wanted.data(), wanted.size());
  if (found == nullptr) return text.npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

namespace {

constexpr std::size_t kMostSteps = 20'000'000;

class LikeMatcher {
 public:
  LikeMatcher(std::string_view text, std::string_view pattern, bool fold_case)
      : text_(text), pattern_(pattern), fold_case_(fold_case) {}

  bool run() {
    for (std::size_t steps = 0; text_at_ < text_.size(); ++steps) {
      if (steps == kMostSteps) raise("54001", "LIKE of a text and a pattern that are too long");
      if (pattern_at_ < pattern_.size() && pattern_[pattern_at_] == '%') {
        const auto decided = after_percent();
        if (decided) return *decided;
      } else if (!step() && !again()) {
        return false;
      }
    }
    return pattern_.find_first_not_of('%', pattern_at_) == pattern_.npos;
  }

 private:
  [[nodiscard]] char low(char c) const {
    return fold_case_ && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  [[nodiscard]] std::size_t character_at(std::size_t at) const {
    return first_characters(text_.substr(at), 1).size();
  }
  [[noreturn]] static void unfinished() {
    raise("22025", "LIKE pattern must not end with escape character");
  }

  // From a % on: the answer, if there is one already.
  std::optional<bool> after_percent() {
    for (++pattern_at_; pattern_at_ < pattern_.size(); ++pattern_at_) {
      const char c = pattern_[pattern_at_];
      if (c != '%' && c != '_') break;
      if (c == '%') continue;
      if (text_at_ == text_.size()) return false;
      text_at_ += character_at(text_at_);
    }
    if (pattern_at_ == pattern_.size()) return true;
    if (pattern_.substr(pattern_at_) == "\\") unfinished();
    retry_ = {text_at_, pattern_at_};
    if (text_at_ == text_.size()) return false;
    return std::nullopt;
  }

  // One character of the pattern, which is no %; false if the text has another there.
  bool step() {
    if (pattern_at_ == pattern_.size()) return false;
    if (pattern_[pattern_at_] == '_') {
      text_at_ += character_at(text_at_);
      ++pattern_at_;
      return true;
    }
    if (pattern_[pattern_at_] == '\\' && ++pattern_at_ == pattern_.size()) unfinished();
    if (low(text_[text_at_]) != low(pattern_[pattern_at_])) return false;
    ++text_at_;
    ++pattern_at_;
    return true;
  }

  // One character further after the last %; false if there is none.
  bool again() {
    if (!retry_) return false;
    retry_->text += character_at(retry_->text);
    if (retry_->text >= text_.size()) return false;
    text_at_ = retry_->text;
    pattern_at_ = retry_->pattern;
    return true;
  }

  struct Position {
    std::size_t text, pattern;
  };
  std::string_view text_, pattern_;
  bool fold_case_;
  std::size_t text_at_ = 0, pattern_at_ = 0;
  std::optional<Position> retry_;
};

}  // namespace

bool like(std::string_view text, std::string_view pattern, bool fold_case) {
  return LikeMatcher(text, pattern, fold_case).run();
}

}  // namespace cupel::sql
