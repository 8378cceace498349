// A tokenizer for MySQL and a rewriting of its tokens; see the header.
#include "mock/proxy/mysql_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include "base/text.hpp"

namespace cupel::proxy {

namespace {

using TokenKind = MysqlToken::Kind;

bool starts_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         (c & 0x80) != 0;
}
bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_blank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}
bool goes_on(char c) {
  return starts_word(c) || is_digit(c);
}

class MysqlTokenizer {
 public:
  explicit MysqlTokenizer(std::string_view text) : text_(text) {}

  // False: something has no end.
  bool run(MysqlTokens& tokens) {
    while (at_ < text_.size()) {
      if (skip_blank_or_comment()) continue;
      if (failed_) return false;
      MysqlToken token;
      token.begin = at_;
      next(token);
      token.end = at_;
      if (failed_) return false;
      tokens.push_back(std::move(token));
    }
    return !failed_;
  }

 private:
  [[nodiscard]] bool ahead(std::string_view piece) const {
    return text_.substr(at_).starts_with(piece);
  }
  [[nodiscard]] char at(std::size_t place) const {
    return place < text_.size() ? text_[place] : '\0';
  }

  bool skip_blank_or_comment() {
    if (is_blank(text_[at_])) {
      ++at_;
    } else if (text_[at_] == '#' ||
               (ahead("--") && (at_ + 2 == text_.size() || is_blank(text_[at_ + 2])))) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if ((ahead("/*!") || ahead("/*M!")) && !in_hint_) {  // which MySQL runs
      in_hint_ = true;
      at_ = text_.find('!', at_) + 1;
      while (is_digit(at(at_))) ++at_;
    } else if (in_hint_ && ahead("*/")) {
      in_hint_ = false;
      at_ += 2;
    } else if (ahead("/*")) {
      const auto end = text_.find("*/", at_ + 2);
      failed_ = end == std::string_view::npos;
      if (failed_) return false;
      at_ = end + 2;
    } else {
      return false;
    }
    return true;
  }

  void next(MysqlToken& token) {
    const char c = text_[at_];
    if (c == '`') {
      token.kind = TokenKind::kQuoted;
      quoted(token, c);
    } else if (c == '\'' || c == '"') {
      token.kind = TokenKind::kString;
      token.plain = c == '\'';
      quoted(token, c);
    } else if (c == '?') {
      token = {.kind = TokenKind::kParameter, .text = "?", .begin = at_++};
    } else if (c == '@') {
      token.kind = TokenKind::kVariable;
      while (at(at_) == '@' || at(at_) == '.' || goes_on(at(at_))) token.text += text_[at_++];
      token.text = base::to_lower(token.text);
      if (const char quote = at(at_); quote == '`' || quote == '\'' || quote == '"')
        quoted(token, quote);
    } else if (is_digit(c) || (c == '.' && is_digit(at(at_ + 1)) && !after_name_)) {
      number(token);
    } else if (starts_word(c)) {
      word(token);
    } else {
      symbol(token);
    }
    after_name_ = token.kind == TokenKind::kWord || token.kind == TokenKind::kQuoted;
  }

  void number(MysqlToken& token) {
    token.kind = TokenKind::kNumber;
    while (goes_on(at(at_)) || at(at_) == '.' ||
           ((at(at_) == '+' || at(at_) == '-') && std::tolower(at(at_ - 1)) == 'e'))
      token.text += text_[at_++];
    const bool decimal = std::all_of(token.text.begin(), token.text.end(), [](char c) {
      return is_digit(c) || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
    });
    if (!decimal) token.kind = TokenKind::kOther;
  }

  void word(MysqlToken& token) {
    token.kind = TokenKind::kWord;
    while (goes_on(at(at_))) token.text += text_[at_++];
    token.text = base::to_lower(token.text);
    const bool introduces =
        token.text == "x" || token.text == "b" || token.text == "n" || token.text.starts_with("_");
    if (!introduces || (at(at_) != '\'' && at(at_) != '"')) return;
    token.kind = TokenKind::kOther;
    quoted(token, at(at_));
  }

  void symbol(MysqlToken& token) {
    static constexpr std::string_view kLong[] = {
        "<=>", "->>", "<=", ">=", "<>", "!=", ":=", "||", "&&", "<<", ">>", "->"};
    token.text = std::string(1, text_[at_]);
    for (const auto one : kLong) {
      if (ahead(one)) {
        token.text = one;
        break;
      }
    }
    at_ += token.text.size();
  }

  void quoted(MysqlToken& token, char quote) {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == quote) {
        if (at(at_ + 1) != quote) {
          ++at_;
          return;
        }
        ++at_;
      } else if (text_[at_] == '\\' && quote != '`' && at_ + 1 < text_.size()) {
        token.plain = false;
        ++at_;
      }
      token.text += text_[at_];
    }
    failed_ = true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool in_hint_ = false;     // inside of /*! … */
  bool after_name_ = false;  // then a point is no part of a number
  bool failed_ = false;
};

bool is_name(const MysqlTokens& tokens, std::size_t at) {
  return at < tokens.size() &&
         (tokens[at].kind == TokenKind::kWord || tokens[at].kind == TokenKind::kQuoted);
}

std::string in_quotes(std::string_view body, char quote) {
  std::string text(1, quote);
  for (const char c : body) {
    text += c;
    if (c == quote) text += quote;
  }
  return text + quote;
}

class Rewriting {
 public:
  explicit Rewriting(const MysqlTokens& tokens) : in_(tokens) {}

  RewrittenText run() && {
    head();
    while (at_ < in_.size() && !over_) one();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool word(std::size_t at, std::string_view text) const {
    return is_word(in_, at, text);
  }
  [[nodiscard]] bool symbol(std::size_t at, std::string_view text) const {
    return is_symbol(in_, at, text);
  }
  void put(std::string_view text) {
    result_.text += text;
    result_.text += ' ';
  }

  void skip(std::initializer_list<std::string_view> words) {
    while (std::any_of(words.begin(), words.end(), [&](auto one) { return word(at_, one); })) ++at_;
  }

  // What follows the first word.
  void head() {
    changes_ = word(0, "update") || word(0, "delete");
    inserts_ = word(0, "insert") || word(0, "replace");
    result_.replaces = word(0, "replace");
    if (!changes_ && !inserts_) return;
    put(inserts_ ? std::string("insert into") : in_[0].text);
    at_ = 1;
    skip({"low_priority", "high_priority", "delayed", "quick", "ignore"});
    if (inserts_ && word(at_, "into")) ++at_;
    in_set_ = false;
  }

  void one() {
    const auto& token = in_[at_];
    const bool clause = changes_ && depth_ == 0 &&
                        (word(at_, "limit") || (word(at_, "order") && word(at_ + 1, "by")));
    if (clause) {  // they make the rows fewer
      over_ = true;
      return;
    }
    if (token.kind == TokenKind::kSymbol) return a_symbol();
    if (token.kind == TokenKind::kWord && !symbol(at_ + 1, ".") &&
        !(at_ > 0 && symbol(at_ - 1, ".")) && a_word())
      return;
    if (in_set_ && depth_ == 0 &&
        (word(at_ - 1, "set") || word(at_ - 1, "update") || symbol(at_ - 1, ",")))
      return assigned();
    plain();
  }

  // Whether it was more than a name.
  bool a_word() {
    static const std::array<std::pair<std::string_view, std::string_view>, 6> kWords{
        {{"div", "/"},
         {"mod", "%"},
         {"xor", "<>"},
         {"regexp", "~"},
         {"rlike", "~"},
         {"value", "values"}}};
    const auto& text = in_[at_].text;
    const bool call = symbol(at_ + 1, "(");
    if (text == "select") {
      put(text);
      ++at_;
      skip({"sql_calc_found_rows", "sql_no_cache", "sql_cache", "straight_join", "high_priority",
            "sql_small_result", "sql_big_result", "sql_buffer_result"});
      if (word(at_, "distinctrow")) {
        put("distinct");
        ++at_;
      }
      return true;
    }
    if (text == "from" && word(at_ + 1, "dual")) {
      at_ += 2;
      return true;
    }
    if (text == "limit" && at_ + 3 < in_.size() && symbol(at_ + 2, ",")) {
      put("limit");
      const auto first = at_ + 1;
      at_ = first + 2;
      plain();
      put("offset");
      const auto after = std::exchange(at_, first);
      plain();
      at_ = after;
      return true;
    }
    if (text == "lock" && word(at_ + 1, "in") && word(at_ + 2, "share") && word(at_ + 3, "mode")) {
      put("for share");
      at_ += 4;
      return true;
    }
    if (text == "wait" && at_ + 2 == in_.size()) {  // FOR UPDATE WAIT 3
      over_ = true;
      return true;
    }
    if (text == "interval" && at_ + 2 < in_.size() && in_[at_ + 1].kind == TokenKind::kNumber) {
      put("interval " + in_quotes(in_[at_ + 1].text, '\''));
      at_ += 3;
      return true;
    }
    if (text == "binary" && !call && at_ > 0) {
      ++at_;
      return true;
    }
    if (text == "set" && depth_ == 0 && changes_) in_set_ = true;
    if (text == "where") in_set_ = false;
    if (text == "set" && inserts_ && depth_ == 0 && !in_set_) {
      insert_set();
      return true;
    }
    if (inserts_ && depth_ == 0 && text == "on" && word(at_ + 1, "duplicate") &&
        word(at_ + 2, "key") && word(at_ + 3, "update")) {
      put("on conflict (cupel) do update set");
      at_ += 4;
      in_set_ = duplicate_ = true;
      return true;
    }
    if ((text == "values" || text == "value") && duplicate_ && call && is_name(in_, at_ + 2) &&
        symbol(at_ + 3, ")")) {
      at_ += 2;
      result_.text += "excluded.";
      name();
      ++at_;
      return true;
    }
    for (const auto& [mine, theirs] : kWords) {
      if (text != mine || (text == "mod" && call) || (text == "value" && (!inserts_ || depth_ > 0)))
        continue;
      put(theirs);
      ++at_;
      return true;
    }
    return false;
  }

  // INSERT INTO t SET a = 1, b = 2.
  void insert_set() {
    std::string columns, values;
    for (++at_; at_ < in_.size();) {
      if (symbol(at_ + 1, ".") && is_name(in_, at_ + 2)) at_ += 2;
      if (!is_name(in_, at_) || !symbol(at_ + 1, "=")) break;
      auto kept = std::exchange(result_.text, "");
      name();
      ++at_;
      columns += (columns.empty() ? "" : ", ") + std::exchange(result_.text, "");
      while (at_ < in_.size() &&
             !(depth_ == 0 && (symbol(at_, ",") || word(at_, "on") || word(at_, "returning"))))
        one();
      values += (values.empty() ? "" : ", ") + std::exchange(result_.text, std::move(kept));
      if (!symbol(at_, ",")) break;
      ++at_;
    }
    put("(" + columns + ") values (" + values + ")");
  }

  // The column of an assignment, without its table.
  void assigned() {
    while (is_name(in_, at_) && symbol(at_ + 1, ".") && is_name(in_, at_ + 2)) at_ += 2;
    plain();
  }

  void a_symbol() {
    const auto& text = in_[at_].text;
    if (text == "(") ++depth_;
    if (text == ")") --depth_;
    ++at_;
    if (text == "&&") return put("and");
    if (text == "||") return put("or");
    if (text == "<=>") return put("is not distinct from");
    if (text == "!") return put("not");
    put(text);
  }

  void name() {
    const auto& token = in_[at_++];
    // A word that is one of SQL has no quotes, unless a point says that it is a name.
    const bool after_point = at_ > 1 && symbol(at_ - 2, ".");
    const bool quoted = token.kind == TokenKind::kQuoted || after_point;
    put(quoted ? in_quotes(base::to_lower(token.text), '"') : token.text);
  }

  void plain() {
    const auto& token = in_[at_];
    switch (token.kind) {
      case TokenKind::kWord:
      case TokenKind::kQuoted:
        return name();
      case TokenKind::kString:
        // Of other strings it is not certain where they end in every SQL mode.
        put(token.plain ? in_quotes(token.text, '\'') : std::string("('' || '')"));
        break;
      case TokenKind::kNumber:
        put(token.text);
        break;
      case TokenKind::kOther:
        put("('' || '')");
        break;
      case TokenKind::kParameter:
        put("$" + std::to_string(++parameters_));
        break;
      case TokenKind::kVariable:
        put("current_setting('')");
        break;
      case TokenKind::kSymbol:
        return a_symbol();
    }
    ++at_;
  }

  const MysqlTokens& in_;
  std::size_t at_ = 0;
  RewrittenText result_;
  int depth_ = 0, parameters_ = 0;
  bool changes_ = false, inserts_ = false, in_set_ = false, duplicate_ = false, over_ = false;
};

bool same_name(const MysqlToken& token, std::string_view name) {
  return base::to_lower(token.text) == base::to_lower(name);
}

}  // namespace

std::optional<std::vector<MysqlTokens>> mysql_statements(std::string_view text) {
  MysqlTokens tokens;
  if (!MysqlTokenizer(text).run(tokens)) return std::nullopt;
  std::vector<MysqlTokens> all(1);
  for (auto& token : tokens) {
    if (token.kind == TokenKind::kSymbol && token.text == ";") {
      all.emplace_back();
    } else {
      all.back().push_back(std::move(token));
    }
  }
  std::erase_if(all, [](const MysqlTokens& one) { return one.empty(); });
  return all;
}

bool is_word(const MysqlTokens& tokens, std::size_t at, std::string_view word) {
  return at < tokens.size() && tokens[at].kind == TokenKind::kWord && tokens[at].text == word;
}
bool is_symbol(const MysqlTokens& tokens, std::size_t at, std::string_view symbol) {
  return at < tokens.size() && tokens[at].kind == TokenKind::kSymbol && tokens[at].text == symbol;
}

RewrittenText as_postgres(const MysqlTokens& statement) {
  return Rewriting(statement).run();
}

bool uses_database(std::string_view text, std::string_view database) {
  const auto statements = mysql_statements(text);
  if (!statements || statements->size() != 1) return false;
  const auto& tokens = statements->front();
  return tokens.size() == 2 && is_word(tokens, 0, "use") && is_name(tokens, 1) &&
         same_name(tokens[1], database);
}

bool names_tables_of(std::string_view text, std::string_view database) {
  static const std::set<std::string_view> kBeforeTables = {
      "from", "join",    "into",       "update",    "table", "tables",       "exists",
      "view", "trigger", "references", "procedure", "call",  "truncate",     "function",
      "like", "delete",  "insert",     "replace",   "using", "straight_join"};
  static const std::set<std::string_view> kAfterTables = {
      "where", "set", "group", "order", "having", "limit", "select", "values", "value", "for"};
  const auto statements = mysql_statements(text);
  if (!statements) return false;
  for (const auto& tokens : *statements) {
    enum class In : std::uint8_t { kTables, kJoinCondition, kOther } in = In::kOther;
    int depth = 0, depth_of_tables = 0;
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      if (is_symbol(tokens, at, "(")) ++depth;
      if (is_symbol(tokens, at, ")")) --depth;
      if (is_symbol(tokens, at, ",") && depth == depth_of_tables && in == In::kJoinCondition)
        in = In::kTables;
      const bool qualified = is_symbol(tokens, at + 1, ".") && is_name(tokens, at + 2);
      if (is_name(tokens, at) && qualified && same_name(tokens[at], database) &&
          !(at > 0 && is_symbol(tokens, at - 1, ".")) &&
          (in == In::kTables || is_symbol(tokens, at + 3, ".")))
        return true;
      if (tokens[at].kind != TokenKind::kWord || qualified) continue;
      const auto& word = tokens[at].text;
      if (kBeforeTables.contains(word) && !(at > 0 && is_word(tokens, at - 1, "key"))) {
        in = In::kTables;
        depth_of_tables = depth;
      } else if (word == "on" && in == In::kTables) {
        in = In::kJoinCondition;
      } else if (kAfterTables.contains(word)) {
        in = In::kOther;
      }
    }
  }
  return false;
}

std::optional<std::string> with_values(std::string_view text,
                                       const std::vector<MysqlValue>& values) {
  MysqlTokens tokens;
  if (!MysqlTokenizer(text).run(tokens)) return std::nullopt;
  std::string filled;
  std::size_t done = 0, next = 0;
  for (const auto& token : tokens) {
    if (token.kind != TokenKind::kParameter) continue;
    if (next == values.size()) return std::nullopt;
    const auto& value = values[next++];
    filled += text.substr(done, token.begin - done);
    filled += !value.text    ? "NULL"
              : value.number ? "(" + *value.text + ")"
                             : mysql_literal(*value.text);
    done = token.end;
  }
  if (next != values.size()) return std::nullopt;
  return filled + std::string(text.substr(done));
}

std::string mysql_identifier(std::string_view name) {
  return in_quotes(name, '`');
}

std::string mysql_literal(std::string_view text) {
  std::string literal = "_utf8mb4 x'";
  for (const char c : text) literal += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return literal + "'";
}

}  // namespace cupel::proxy
