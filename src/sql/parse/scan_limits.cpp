// A pass over comments, quotes, operators and brackets; see the header.
#include "sql/parse/scan_limits.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "sql/value/error.hpp"

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

  // What leans to the left side by side, and so far as it does: operators up to the next AND, OR or
  // comma; IS and JOIN, whose left side may have an AND in it, up to the next comma; UNION to the
  // end of the query.
  struct Chains {
    std::size_t operators = 0, phrases = 0, queries = 0;
  };

  void count_symbol(char c) {
    auto& chains = chains_.back();
    if (is_operator_character(c)) {
      count_rest_of_run();
      nest(chains.operators);
    } else if (c == '(') {
      nest(chains.operators);
      chains_.emplace_back();
    } else if (c == ')' && chains_.size() > 1) {
      nested_ -= chains.operators + chains.phrases + chains.queries;
      chains_.pop_back();
    } else if (c == ',' || c == ';') {
      end(chains.operators);
      end(chains.phrases);
      if (c == ';') end(chains.queries);
    } else if (ahead("::")) {
      nest(chains.operators);
    }
  }

  void count_word(std::string_view word) {
    constexpr std::size_t kLongest = 9;
    if (word.size() > kLongest) return;
    std::string lower(word);
    for (auto& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto is_one_of = [&](std::initializer_list<std::string_view> words) {
      return std::find(words.begin(), words.end(), lower) != words.end();
    };
    auto& chains = chains_.back();
    if (is_one_of({"not", "collate", "at", "operator"})) nest(chains.operators);
    if (is_one_of({"is", "isnull", "notnull", "join"})) nest(chains.phrases);
    if (is_one_of({"union", "intersect", "except"})) nest(chains.queries);
    if (is_one_of({"and", "or"})) end(chains.operators);
  }

  void nest(std::size_t& chain) {
    ++chain;
    if (++nested_ > kMostNested) raise("54001", "stack depth limit exceeded");
  }
  void end(std::size_t& chain) { nested_ -= std::exchange(chain, 0); }

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
  std::vector<Chains> chains_{{}};  // of the brackets that are open, the innermost last
  std::size_t nested_ = 0;          // their sum
};

}  // namespace

void check_parser_limits(std::string_view text) {
  LimitChecker(text).run();
}

}  // namespace cupel::sql
