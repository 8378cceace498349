// A scanner of tokens as coarse as will do: see the header.
#include "wire/statement_text.hpp"

#include <algorithm>
#include <cctype>

namespace cupel::wire {

namespace {

using sql::Lexis;

bool is_blank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}
bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}

class Scanner {
 public:
  Scanner(std::string_view text, const Lexis& lexis) : text_(text), lexis_(lexis) {}

  // The next word, quoted piece or single character; empty at the end.
  std::string_view next() {
    skip_blanks();
    const auto begin = at_;
    if (at_ >= text_.size()) return {};
    const char c = text_[at_];
    if (c == '\'' || c == '"' || (lexis_.backquotes && c == '`')) {
      skip_quoted(c, lexis_.backslash_escapes && c != '`');
    } else if (c == '$' && lexis_.dollar_quotes && skip_dollar_quoted()) {
    } else if (is_word(c)) {
      while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '$')) ++at_;
      // E'…': backslashes escape.
      const bool escapes = at_ - begin == 1 && (c == 'e' || c == 'E');
      if (!lexis_.backslash_escapes && escapes && at_ < text_.size() && text_[at_] == '\'')
        skip_quoted('\'', true);
    } else {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

 private:
  [[nodiscard]] bool ahead(std::string_view piece) const {
    return text_.substr(at_).starts_with(piece);
  }

  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }
  void skip_blanks() {
    while (at_ < text_.size()) {
      if (is_blank(text_[at_])) {
        ++at_;
      } else if (lexis_.hash_comments
                     ? text_[at_] == '#' ||
                           (ahead("--") && (at_ + 2 >= text_.size() || is_blank(text_[at_ + 2])))
                     : ahead("--")) {
        skip_line();
      } else if (lexis_.conditional_comments && ahead("/*!") && !in_hint_) {
        in_hint_ = true;
        at_ += 3;
        while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)
          ++at_;
      } else if (in_hint_ && ahead("*/")) {
        in_hint_ = false;
        at_ += 2;
      } else if (ahead("/*")) {
        skip_comment();
      } else {
        return;
      }
    }
  }
  void skip_comment() {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      if (ahead("/*") && (depth == 0 || lexis_.nested_comments)) {
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
    for (++at_; at_ < text_.size(); ++at_) {
      if (backslashes && text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == quote) {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != quote) break;
        ++at_;
      }
    }
    at_ = std::min(at_ + 1, text_.size());
  }
  // $tag$ … $tag$; false, and nothing skipped, if it is none: $1.
  bool skip_dollar_quoted() {
    auto end = at_ + 1;
    while (end < text_.size() && is_word(text_[end])) ++end;
    const bool begins =
        end < text_.size() && text_[end] == '$' &&
        (end == at_ + 1 || std::isdigit(static_cast<unsigned char>(text_[at_ + 1])) == 0);
    if (!begins) return false;
    const auto tag = text_.substr(at_, end + 1 - at_);
    const auto close = text_.find(tag, end + 1);
    at_ = close == std::string_view::npos ? text_.size() : close + tag.size();
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Lexis lexis_;
  bool in_hint_ = false;  // inside of /*! … */, whose content is run
};

}  // namespace

bool is_empty_statement(std::string_view text, const Lexis& lexis) {
  Scanner scanner(text, lexis);
  for (auto token = scanner.next(); !token.empty(); token = scanner.next()) {
    if (token != ";") return false;
  }
  return true;
}

bool has_several_statements(std::string_view text, const Lexis& lexis) {
  Scanner scanner(text, lexis);
  bool statement = false, ended = false;
  for (auto token = scanner.next(); !token.empty(); token = scanner.next()) {
    if (token == ";") {
      ended = statement;
    } else if (ended) {
      return true;
    } else {
      statement = true;
    }
  }
  return false;
}

}  // namespace cupel::wire
