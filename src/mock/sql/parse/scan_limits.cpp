// What PostgreSQL's parser would take too long to read, or would not survive, found in one pass.
//
// Its scanner's rules for comments and operators match a run of operator characters to the end and
// give back what is not theirs. So each comment that opens in a run, and each operator that is cut
// from one, costs the length of the rest of the run: 200,000 times /* side by side are 4 * 10^10
// steps. A text that would cost more than a few steps a byte is refused.
//
// And libpg_query writes its tree by recursion, without a limit: a chain of 100,000 operators
// (1 + 1 + 1 …) takes more stack than there is.
#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "mock/sql/parse/tree.hpp"
#include "mock/sql/value/error.hpp"

namespace cupel::sql {

namespace {

constexpr std::size_t kFreeSteps = std::size_t{1} << 20;
constexpr std::size_t kStepsPerByte = 16;
// Operators and brackets that are open at once. The planner takes expressions of 400.
constexpr std::size_t kMostNested = 2000;

bool is_operator_character(char c) {
  return std::string_view("~!@#^&|`?+-*/%<>=").find(c) != std::string_view::npos;
}
bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}

class LimitChecker {
 public:
  explicit LimitChecker(std::string_view text)
      : text_(text), most_(kFreeSteps + kStepsPerByte * text.size()) {}

  void run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (ahead("--")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (ahead("/*")) {
        skip_comment();
      } else if (c == '\'' || c == '"') {
        skip_quoted(c, false);
      } else if (c == '$') {
        skip_dollar_quoted();
      } else if (is_name_character(c)) {
        skip_word();
      } else {
        count_symbol(c);
        ++at_;
      }
    }
  }

 private:
  [[nodiscard]] bool ahead(std::string_view piece) const {
    return text_.substr(at_).starts_with(piece);
  }

  // What the scanner reads from here to the end of the operator characters.
  void count_rest_of_run() {
    if (run_end_ <= at_) {
      run_end_ = at_;
      while (run_end_ < text_.size() && is_operator_character(text_[run_end_])) ++run_end_;
    }
    steps_ += run_end_ - at_;
    if (steps_ > most_) {
      raise("54001",
            "too many comments or operators side by side: put spaces between them, or leave out "
            "comments inside of comments");
    }
  }

  // Operators, and words that are some, up to the next comma, and those of the brackets around.
  void count_symbol(char c) {
    if (is_operator_character(c)) {
      count_rest_of_run();
      nest();
    } else if (c == '(') {
      nest();
      open_.push_back(0);
    } else if (c == ')' && open_.size() > 1) {
      nested_ -= open_.back();
      open_.pop_back();
    } else if (c == ',' || c == ';') {
      nested_ -= std::exchange(open_.back(), 0);
    } else if (ahead("::")) {
      nest();
    }
  }

  void count_word(std::string_view word) {
    static const std::set<std::string> kNesting = {"not", "collate", "at",      "operator",
                                                   "is",  "isnull",  "notnull", "join"};
    static const std::set<std::string> kSetOperations = {"union", "intersect", "except"};
    const auto lower = base::to_lower(word);
    if (kNesting.contains(lower)) nest();
    if (kSetOperations.contains(lower) && ++set_operations_ > kMostNested) too_deep();
  }

  [[noreturn]] static void too_deep() { raise("54001", "stack depth limit exceeded"); }

  void nest() {
    ++open_.back();
    if (++nested_ > kMostNested) too_deep();
  }

  void skip_comment() {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      if (ahead("/*")) {
        count_rest_of_run();
        ++depth;
        at_ += 2;
      } else if (ahead("*/")) {
        at_ += 2;
        if (--depth == 0) return;
      } else {
        ++at_;
      }
    }
  }

  void skip_quoted(char quote, bool backslashes) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (backslashes && text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  // $tag$ … $tag$, or the $ of a parameter.
  void skip_dollar_quoted() {
    auto end = at_ + 1;
    while (end < text_.size() && is_name_character(text_[end])) ++end;
    const bool opens = end < text_.size() && text_[end] == '$' &&
                       std::isdigit(static_cast<unsigned char>(text_[at_ + 1])) == 0;
    if (!opens) {
      at_ = end;
      return;
    }
    const auto tag = text_.substr(at_, end + 1 - at_);
    const auto close = text_.find(tag, end + 1);
    at_ = close == text_.npos ? text_.size() : close + tag.size();
  }

  // A name, a key word or a number; E'…' is a string in which backslashes escape.
  void skip_word() {
    const auto begin = at_;
    while (at_ < text_.size() && (is_name_character(text_[at_]) || text_[at_] == '$')) ++at_;
    count_word(text_.substr(begin, at_ - begin));
    const bool escapes = at_ - begin == 1 && (text_[begin] == 'e' || text_[begin] == 'E');
    if (escapes && at_ < text_.size() && text_[at_] == '\'') skip_quoted('\'', true);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t run_end_ = 0;
  std::size_t steps_ = 0;
  std::size_t most_;
  std::vector<std::size_t> open_{0};  // operators in the brackets that are open, the innermost last
  std::size_t nested_ = 0;            // their sum
  std::size_t set_operations_ = 0;
};

}  // namespace

void check_parser_limits(std::string_view text) {
  LimitChecker(text).run();
}

}  // namespace cupel::sql
