// A tokenizer for MySQL and the rewriting of its tokens; see the header.
#include "sql/dialect/mysql_text.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "sql/value/scalar.hpp"

namespace cupel::sql {

namespace {

using Kind = MysqlToken::Kind;
using Mark = ParserMark::Kind;

bool is_word_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}
bool is_word_part(char c) {
  return is_word_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '$';
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_blank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  MysqlTokens run() {
    while (at_ < text_.size()) {
      const auto start = at_;
      if (skip_blank_or_comment()) continue;
      auto token = next();
      token.written = text_.substr(start, at_ - start);
      token.gap = text_.substr(last_end_, start - last_end_);
      last_end_ = at_;
      tokens_.push_back(std::move(token));
    }
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] bool ahead(std::string_view piece) const {
    return text_.substr(at_).starts_with(piece);
  }

  bool skip_blank_or_comment() {
    if (is_blank(text_[at_])) {
      ++at_;
    } else if (text_[at_] == '#' ||
               (ahead("--") && (at_ + 2 == text_.size() || is_blank(text_[at_ + 2])))) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (ahead("/*!") && !in_hint_) {
      in_hint_ = true;
      at_ += 3;
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    } else if (in_hint_ && ahead("*/")) {
      in_hint_ = false;
      at_ += 2;
    } else if (ahead("/*")) {
      const auto end = text_.find("*/", at_ + 2);
      if (end == text_.npos) raise("42601", "unterminated /* comment");
      at_ = end + 2;
    } else {
      return false;
    }
    return true;
  }

  MysqlToken next() {
    const char c = text_[at_];
    if (c == '`') return {Kind::kQuoted, base::to_lower(quoted('`'))};
    if (c == '\'' || c == '"') return {Kind::kString, quoted(c)};
    if (c == '?') {
      ++at_;
      return {Kind::kParameter, "?"};
    }
    if (c == '@') {
      return {Kind::kVariable, base::to_lower(taken([this](std::size_t at) {
                return text_[at] == '@' || text_[at] == '.' || is_word_part(text_[at]);
              }))};
    }
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
      return number();
    }
    return is_word_start(c) ? word() : symbol();
  }

  // As far as the characters belong to it.
  template <typename Belongs>
  std::string taken(const Belongs& belongs) {
    const auto start = at_;
    while (at_ < text_.size() && belongs(at_)) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  MysqlToken number() {
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
    if (text_[at_] == '0' && (next == 'x' || next == 'b')) {
      not_supported("a hexadecimal or binary literal");
    }
    return {Kind::kNumber, taken([this](std::size_t at) {
              const char c = text_[at];
              const bool sign = c == '+' || c == '-';
              return is_word_part(c) || c == '.' ||
                     (sign && (text_[at - 1] == 'e' || text_[at - 1] == 'E'));
            })};
  }

  MysqlToken word() {
    auto made = base::to_lower(taken([this](std::size_t at) { return is_word_part(text_[at]); }));
    if (at_ < text_.size() && text_[at_] == '\'' &&
        (made == "x" || made == "b" || made[0] == '_')) {
      not_supported("a literal with " + made + " before it");
    }
    return {Kind::kWord, std::move(made)};
  }

  MysqlToken symbol() {
    static constexpr std::string_view kLong[] = {
        "<=>", "<=", ">=", "<>", "!=", ":=", "||", "&&", "<<", ">>", "->"};
    std::string made(1, text_[at_]);
    for (const auto one : kLong) {
      if (ahead(one)) {
        made = one;
        break;
      }
    }
    at_ += made.size();
    return {Kind::kSymbol, std::move(made)};
  }

  // What is between the quotes, which may be doubled.
  std::string quoted(char quote) {
    std::string body;
    for (++at_;; ++at_) {
      if (at_ >= text_.size()) raise("42601", "unterminated quoted string");
      if (text_[at_] == quote) {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != quote) break;
        ++at_;
      } else if (text_[at_] == '\\' && quote != '`' && at_ + 1 < text_.size()) {
        ++at_;
        body += escaped(text_[at_]);
        continue;
      }
      body += text_[at_];
    }
    ++at_;
    return body;
  }

  // What a backslash and this character are. \% and \_ are for LIKE.
  static std::string escaped(char c) {
    switch (c) {
      case 'n':
        return "\n";
      case 't':
        return "\t";
      case 'r':
        return "\r";
      case 'b':
        return "\b";
      case 'Z':
        return "\x1a";
      case '0':
        raise("22021", "a NUL byte in a string");
      case '%':
      case '_':
        return std::string("\\") + c;
      default:
        return std::string(1, c);
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t last_end_ = 0;  // of the last token
  bool in_hint_ = false;      // inside of /*! … */, which MySQL runs
  MysqlTokens tokens_;
};

std::string with_quotes(const std::string& body, char quote) {
  std::string text(1, quote);
  for (const char c : body) {
    text += c;
    if (c == quote) text += quote;
  }
  return text + quote;
}

class Rewriting {
 public:
  Rewriting(const MysqlTokens& tokens, ParserMarks& marks) : in_(tokens), marks_(marks) {
    for (const auto& token : tokens) {
      if (token.kind == Kind::kQuoted) check_not_reserved(token.text);
    }
    name_outputs();
  }

  std::string run() {
    create_ = word(0, "create") && word(1, "table");
    if (word(0, "replace")) {
      out_ += "insert ";
      at_ = 1;
      ending_ = " on conflict on constraint " + marks_.encode({Mark::kReplace}) + " do nothing";
      if (!word(1, "into")) out_ += "into ";
    } else if (word(0, "insert")) {
      out_ += "insert ";
      at_ = 1;
      for (; word(at_, "ignore") || word(at_, "low_priority") || word(at_, "delayed"); ++at_) {
        if (word(at_, "ignore")) ending_ = " on conflict do nothing";
        if (word(at_, "delayed")) not_supported("INSERT DELAYED");
      }
      if (!word(at_, "into")) out_ += "into ";
    }
    if (word(0, "insert") || word(0, "replace")) inserted_table();
    if (word(0, "update") || word(0, "delete")) changed_table();
    if (word(0, "do")) refuse("DO", "use SELECT");
    while (at_ < in_.size()) {
      put_name();
      one();
    }
    put_name();
    return out_ + ending_;
  }

 private:
  [[nodiscard]] bool word(std::size_t at, std::string_view text) const {
    return at < in_.size() && in_[at].kind == Kind::kWord && in_[at].text == text;
  }
  [[nodiscard]] bool symbol(std::size_t at, std::string_view text) const {
    return at < in_.size() && in_[at].kind == Kind::kSymbol && in_[at].text == text;
  }
  [[nodiscard]] bool name_at(std::size_t at) const {
    return at < in_.size() && (in_[at].kind == Kind::kWord || in_[at].kind == Kind::kQuoted);
  }
  void put(const std::string& text) { out_ += text + " "; }
  [[noreturn]] static void refuse(const std::string& what, const std::string& instead) {
    raise("0A000", what + " is not supported by the mock; " + instead);
  }
  [[nodiscard]] bool empty_list(std::size_t at) const {
    return symbol(at, "(") && symbol(at + 1, ")");
  }

  // What PostgreSQL has no words for after INSERT INTO or REPLACE INTO.
  void inserted_table() {
    auto at = at_ + (word(at_, "into") ? 1 : 0);
    if (!name_at(at)) return;
    at += symbol(at + 1, ".") && name_at(at + 2) ? 3 : 1;
    if (word(at, "set")) refuse("INSERT … SET", "use INSERT INTO … (columns) VALUES (values)");
    const auto next = empty_list(at) ? at + 2 : at;
    const bool values = word(next, "values") || word(next, "value");
    if (!values || !empty_list(next + 1)) return;
    // A row of defaults; PostgreSQL has one at a time.
    if (symbol(next + 3, ",")) refuse("VALUES (), ()", "insert one such row at a time");
    while (at_ < at) one();
    put("default values");
    at_ = next + 3;
  }
  // The head of UPDATE and DELETE, as far as PostgreSQL has another.
  void changed_table() {
    changes_ = true;
    const bool update = word(0, "update");
    put(in_[0].text);
    at_ = 1;
    for (; word(at_, "low_priority") || word(at_, "quick") || word(at_, "ignore"); ++at_) {
      if (word(at_, "ignore")) not_supported("IGNORE");
    }
    int depth = 0;
    const auto over = [&](std::size_t at) {
      return at >= in_.size() || word(at, "set") || word(at, "where") || word(at, "order") ||
             word(at, "limit");
    };
    for (auto at = at_; !over(at); ++at) {
      if (symbol(at, "(")) ++depth;
      if (symbol(at, ")")) --depth;
      const bool first_of_delete = !update && at == at_ && !word(at, "from");
      const bool several = word(at, "join") || word(at, "using") || (depth == 0 && symbol(at, ","));
      if (!first_of_delete && !several) continue;
      not_supported(std::string(update ? "UPDATE" : "DELETE") + " of several tables");
    }
  }

  // UPDATE and DELETE in an order, and of the first rows only.
  void order_and_limit() {
    if (!changes_ || depth_ != 0 || ordered_) return;
    const bool order = word(at_, "order") && word(at_ + 1, "by");
    if (!order && !word(at_, "limit")) return;
    ordered_ = true;
    put("; select 1");
  }

  void put_name() {
    const auto name = names_.find(at_);
    if (name == names_.end()) return;
    constexpr std::size_t kLongest = 63;
    if (name->second.size() <= kLongest) {
      put("as " + with_quotes(name->second, '"'));
    } else {
      put("as " + marks_.encode({Mark::kOutput, name->second}));
    }
    names_.erase(name);
  }

  // MySQL calls an output that is no column by its text. One pass over all lists of outputs, the
  // innermost open one last.
  void name_outputs() {
    struct List {
      std::size_t first;  // of the output that is open
      int depth;
    };
    constexpr std::size_t kMostLists = 60;  // as many queries as the planner takes
    constexpr int kMostBrackets = 400;
    std::vector<List> open;
    int depth = 0;
    for (std::size_t at = 0; at <= in_.size(); ++at) {
      if (!open.empty() && depth == open.back().depth) {
        const bool over = ends_outputs(at);
        if (over || symbol(at, ",")) name_output(std::exchange(open.back().first, at + 1), at);
        if (over) open.pop_back();
      }
      if (symbol(at, "(") && ++depth > kMostBrackets) raise("54001", "stack depth limit exceeded");
      if (symbol(at, ")")) --depth;
      if (!word(at, "select")) continue;
      while (word(at + 1, "distinct") || word(at + 1, "all") || word(at + 1, "distinctrow")) ++at;
      open.push_back({at + 1, depth});
      if (open.size() > kMostLists) raise("54001", "stack depth limit exceeded");
    }
  }

  [[nodiscard]] bool ends_outputs(std::size_t at) const {
    static const std::set<std::string> kEnds = {
        "from", "where", "group",     "having", "order",  "limit",     "union",  "for",   "into",
        "lock", "on",    "procedure", "window", "offset", "intersect", "except", "select"};
    if (at >= in_.size() || symbol(at, ")")) return true;
    return in_[at].kind == Kind::kWord && kEnds.count(in_[at].text) != 0;
  }

  // Whether a name may follow: after a value, and not within an operator of words.
  [[nodiscard]] bool ends_value(std::size_t at) const {
    static const std::set<std::string> kWithin = {
        "is",  "not",  "and",  "or",   "like", "in", "between",  "mod",    "div",
        "xor", "then", "else", "when", "case", "by", "distinct", "binary", "collate"};
    if (in_[at].kind == Kind::kWord) return kWithin.count(in_[at].text) == 0;
    return in_[at].kind != Kind::kSymbol || symbol(at, ")");
  }

  void name_output(std::size_t first, std::size_t end) {
    if (first >= end || symbol(end - 1, "*")) return;
    int depth = 0;
    for (std::size_t at = first; at < end; ++at) {
      if (symbol(at, "(")) ++depth;
      if (symbol(at, ")")) --depth;
      if (depth == 0 && word(at, "as")) return;
    }
    std::size_t inner = first, inner_end = end;
    while (inner + 2 < inner_end && symbol(inner, "(") && symbol(inner_end - 1, ")")) {
      ++inner;
      --inner_end;
    }
    const bool column =
        inner_end == inner + 1 || (inner_end == inner + 3 && symbol(inner + 1, ".")) ||
        (inner_end == inner + 5 && symbol(inner + 1, ".") && symbol(inner + 3, "."));
    const auto& one = in_[inner];
    const bool constant = word(inner, "null") || word(inner, "true") || word(inner, "false");
    if (column && name_at(inner) && !constant) return;
    if (end > first + 1 && !word(end - 1, "end") && ends_value(end - 2) &&
        (name_at(end - 1) || in_[end - 1].kind == Kind::kString)) {
      return;  // it has one
    }
    std::string name;
    if (end == first + 1 && (one.kind == Kind::kString || constant)) {
      name = one.text;
      if (constant) {
        for (auto& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      }
    } else {
      for (std::size_t at = first; at < end; ++at) {
        name += (at == first ? "" : in_[at].gap) + in_[at].written;
      }
    }
    if (!name.empty()) names_[end] = name;  // there is no empty one in the parser
  }

  void plain() {
    const auto& token = in_[at_++];
    switch (token.kind) {
      case Kind::kQuoted:
        put(with_quotes(token.text, '"'));
        return;
      case Kind::kString:
        put(with_quotes(token.text, '\''));
        return;
      case Kind::kParameter:
        put("$" + std::to_string(++parameters_));
        return;
      case Kind::kVariable: {
        if (!token.text.starts_with("@@")) not_supported("the user variable " + token.text);
        auto name = token.text.substr(2);
        for (const std::string_view scope : {"session.", "global.", "local."}) {
          if (name.starts_with(scope)) name = name.substr(scope.size());
        }
        put("current_setting(" + with_quotes(name, '\'') + ")");
        return;
      }
      default:
        put(token.text);
    }
  }

  void symbol_here() {
    const auto& token = in_[at_];
    if (token.text == "(") ++depth_;
    if (token.text == ")") {
      --depth_;
      if (create_ && depth_ == 0) {
        put(")");
        ++at_;
        table_options();
        return;
      }
    }
    static const std::pair<std::string_view, const char*> kSymbols[] = {
        {"&&", "and"}, {"||", "or"}, {"<=>", "is not distinct from"}};
    for (const auto& [mine, theirs] : kSymbols) {
      if (token.text == mine) {
        put(theirs);
        ++at_;
        return;
      }
    }
    for (const std::string_view bad : {":=", "<<", ">>", "->", "^", "&", "|", "~", "!"}) {
      if (token.text == bad) not_supported("the operator " + token.text);
    }
    plain();
  }

  // Words that PostgreSQL has otherwise or not at all; whether this is one.
  bool word_of_mysql() {
    const auto& token = in_[at_];
    for (const std::string_view bad : {"div", "xor", "regexp", "rlike", "binary", "straight_join",
                                       "interval", "partition", "sql_calc_found_rows"}) {
      if (token.text == bad) not_supported(token.text);
    }
    if (token.text == "mod" && !symbol(at_ + 1, "(")) {
      put("%");
      ++at_;
      return true;
    }
    if (token.text == "group_concat" && symbol(at_ + 1, "(")) {
      group_concat();
      return true;
    }
    if (token.text == "separator" && separators_.count(at_) != 0) {
      at_ += 2;
      return true;
    }
    // The parser has the others without brackets only, or not at all.
    const bool of_user = token.text == "user" || token.text == "current_user" ||
                         token.text == "session_user" || token.text == "system_user";
    if (of_user && symbol(at_ + 1, "(") && symbol(at_ + 2, ")")) {
      put("current_user");
      at_ += 3;
      return true;
    }
    if (token.text == "user") {
      put("\"user\"");
      ++at_;
      return true;
    }
    if (token.text == "from" && word(at_ + 1, "dual")) {
      at_ += 2;
      return true;
    }
    if (token.text == "lock" && word(at_ + 1, "in") && word(at_ + 2, "share")) {
      put("for share");
      at_ += 4;
      return true;
    }
    return false;
  }

  // LIMIT a, b, ON DUPLICATE KEY UPDATE and VALUES; whether this is one.
  bool clause_of_mysql() {
    const auto& token = in_[at_];
    if (token.text == "limit" && at_ + 3 < in_.size() && symbol(at_ + 2, ",")) {
      if (changes_) raise("42601", "syntax error at or near \",\"");
      // A parameter's number is its place in the text, not in the rewritten one.
      const auto value = [&](std::size_t at) {
        return in_[at].kind == Kind::kParameter ? "$" + std::to_string(++parameters_)
                                                : in_[at].text;
      };
      const auto offset = value(at_ + 1);
      const auto count = value(at_ + 3);
      put("limit " + count + " offset " + offset);
      at_ += 4;
      return true;
    }
    if (token.text == "on" && word(at_ + 1, "duplicate") && word(at_ + 2, "key") &&
        word(at_ + 3, "update")) {
      if (!ending_.empty()) not_supported("IGNORE and ON DUPLICATE KEY UPDATE");
      put("on conflict do update set");
      duplicate_ = true;
      at_ += 4;
      return true;
    }
    if (duplicate_ && token.text == "values" && symbol(at_ + 1, "(") && name_at(at_ + 2) &&
        symbol(at_ + 3, ")")) {
      put("excluded." + with_quotes(in_[at_ + 2].text, '"'));
      at_ += 4;
      return true;
    }
    if ((token.text == "value") && symbol(at_ + 1, "(") && word(0, "insert")) {
      put("values");
      ++at_;
      return true;
    }
    return false;
  }

  void one() {
    const auto& token = in_[at_];
    if (token.kind == Kind::kSymbol) return symbol_here();
    order_and_limit();
    // SET t.a = 1: the table is known.
    if (changes_ && depth_ == 0 && at_ > 0 && (word(at_ - 1, "set") || symbol(at_ - 1, ",")) &&
        name_at(at_) && symbol(at_ + 1, ".") && name_at(at_ + 2) && symbol(at_ + 3, "=")) {
      at_ += 2;
      plain();
      return;
    }
    if (token.kind != Kind::kWord) {
      if (token.kind == Kind::kString && at_ > 0 && in_[at_ - 1].kind == Kind::kString) {
        not_supported("two strings side by side");
      }
      plain();
      return;
    }
    if (word_of_mysql() || clause_of_mysql()) return;
    if (token.text == "cast" || token.text == "convert") casts_.push_back(depth_ + 1);
    if (token.text == "as" && !casts_.empty() && depth_ == casts_.back()) {
      cast_type();
      return;
    }
    if (create_ && depth_ == 1) {
      definition();
      return;
    }
    plain();
  }

  // GROUP_CONCAT(DISTINCT a, b ORDER BY c SEPARATOR '-'): what separates is the first argument.
  void group_concat() {
    std::string separator = ",";
    int depth = 0;
    for (auto at = at_ + 1; at < in_.size(); ++at) {
      if (symbol(at, "(")) ++depth;
      if (symbol(at, ")") && --depth == 0) break;
      const bool here = depth == 1 && word(at, "separator") && at + 1 < in_.size();
      if (!here || in_[at + 1].kind != Kind::kString) continue;
      separator = in_[at + 1].text;
      separators_.insert(at);
    }
    put(marks_.encode({Mark::kGroupConcat}) + " (");
    ++depth_;
    at_ += 2;
    if (word(at_, "distinct")) {
      put("distinct");
      ++at_;
    }
    put(with_quotes(separator, '\'') + " ,");
  }

  // CAST(… AS SIGNED), AS CHAR: MySQL's names.
  void cast_type() {
    put("as");
    ++at_;
    casts_.pop_back();
    if (word(at_, "signed")) {
      put("bigint");
      at_ += word(at_ + 1, "integer") || word(at_ + 1, "int") ? 2 : 1;
    } else if (word(at_, "char")) {
      put(symbol(at_ + 1, "(") ? "varchar" : "text");
      ++at_;
    } else if (word(at_, "datetime")) {
      put("timestamp");
      ++at_;
    } else if (word(at_, "unsigned")) {
      put(marks_.encode({Mark::kUnsigned}));
      at_ += word(at_ + 1, "integer") || word(at_ + 1, "int") ? 2 : 1;
    } else if (word(at_, "binary")) {
      not_supported("CAST AS BINARY");
    } else if (word(at_, "decimal") && !symbol(at_ + 1, "(")) {
      put("decimal(10,0)");
      ++at_;
    }
  }

  // One word in the list of CREATE TABLE.
  void definition() {
    const bool start = symbol(at_ - 1, "(") || symbol(at_ - 1, ",");
    if (start && (word(at_, "key") || word(at_, "index"))) {  // no effect
      int depth = 0;
      while (at_ < in_.size() && !(depth == 0 && (symbol(at_, ",") || symbol(at_, ")")))) {
        if (symbol(at_, "(")) ++depth;
        if (symbol(at_, ")")) --depth;
        ++at_;
      }
      // The comma before it, or the one after.
      const auto comma = out_.find_last_not_of(' ');
      if (comma != out_.npos && out_[comma] == ',') {
        out_.erase(comma);
      } else if (symbol(at_, ",")) {
        ++at_;
      }
      out_ += " ";
      return;
    }
    if (start && word(at_, "unique")) {
      at_ += word(at_ + 1, "key") || word(at_ + 1, "index") ? 2 : 1;
      if (name_at(at_)) put("constraint " + with_quotes(in_[at_++].text, '"'));
      put("unique");
      return;
    }
    if (start && (word(at_, "fulltext") || word(at_, "spatial"))) not_supported(in_[at_].text);
    if (word(at_, "comment") && at_ + 1 < in_.size() && in_[at_ + 1].kind == Kind::kString) {
      at_ += 2;
      return;
    }
    if (word(at_, "auto_increment")) {
      put("generated by default as identity");
      ++at_;
      return;
    }
    if (word(at_, "character") && word(at_ + 1, "set")) {
      at_ += 3;
      return;
    }
    if (word(at_, "collate")) {
      at_ += 2;
      return;
    }
    if (word(at_, "on") && word(at_ + 1, "update") &&
        (word(at_ + 2, "current_timestamp") || word(at_ + 2, "now"))) {
      not_supported("ON UPDATE CURRENT_TIMESTAMP");
    }
    if (word(at_, "current_timestamp") && symbol(at_ + 1, "(")) {
      put("current_timestamp");
      while (!symbol(at_, ")")) ++at_;
      ++at_;
      return;
    }
    const bool constraint = word(at_ - 1, "primary") || word(at_ - 1, "foreign") ||
                            word(at_ - 1, "constraint") || word(at_ - 1, "check");
    if (!start && !constraint && at_ > 0 && name_at(at_ - 1) &&
        (symbol(at_ - 2, "(") || symbol(at_ - 2, ","))) {
      type();
      return;
    }
    plain();
  }

  // As MySQL 8 shows a column's type.
  static std::string shown_type(const std::string& name, const std::string& size) {
    static const std::pair<std::string_view, const char*> kNames[] = {
        {"integer", "int"}, {"bool", "tinyint(1)"}, {"boolean", "tinyint(1)"},
        {"dec", "decimal"}, {"numeric", "decimal"}, {"real", "double"}};
    for (const auto& [mine, shown] : kNames) {
      if (name == mine) return shown + size;
    }
    return name + size;
  }

  void type() {
    const auto at_of_name = at_ - 1;
    const auto column = with_quotes(in_[at_of_name].text, '"');
    const auto& name = in_[at_].text;
    static const std::pair<std::string_view, const char*> kTypes[] = {
        {"tinyint", "smallint"},   {"mediumint", "int"},           {"integer", "int"},
        {"datetime", "timestamp"}, {"double", "double precision"}, {"float", "real"},
        {"tinytext", "text"},      {"mediumtext", "text"},         {"longtext", "text"},
        {"bool", "smallint"},      {"boolean", "smallint"},        {"dec", "decimal"}};
    std::string made = name;
    for (const auto& [mine, theirs] : kTypes) {
      if (name == mine) made = theirs;
    }
    const bool whole = name == "int" || name == "integer" || name == "tinyint" ||
                       name == "smallint" || name == "mediumint" || name == "bigint";
    ++at_;
    if (made == "double precision" && word(at_, "precision")) ++at_;
    std::string size;
    if (symbol(at_, "(")) {
      do {
        if (at_ >= in_.size()) raise("42601", "a type without its closing bracket");
        size += in_[at_].text;
      } while (!symbol(at_++, ")"));
    }
    if (whole) size.clear();  // a width of display
    if ((made == "real" || made == "double precision" || made == "timestamp") && !size.empty() &&
        size != "(6)") {
      not_supported(name + size);
    }
    if (made == "decimal" && size.empty()) size = "(10,0)";
    if (name == "numeric" && size.empty()) size = "(10,0)";
    if (name == "char" && size.empty()) size = "(1)";
    bool without_sign = false;
    for (; word(at_, "unsigned") || word(at_, "signed") || word(at_, "zerofill"); ++at_) {
      without_sign |= word(at_, "unsigned");
      if (word(at_, "zerofill")) not_supported("ZEROFILL");
    }
    if (without_sign && whole) {
      made = marks_.encode({Mark::kUnsigned});
    } else if (without_sign && (made == "decimal" || made == "numeric")) {
      made = marks_.encode({Mark::kUnsignedDecimal});
    }
    const auto written = shown_type(name, whole ? "" : size) + (without_sign ? " unsigned" : "");
    if (made == "char") made = marks_.encode({Mark::kStrippedChar});
    put(made + size);
    put("constraint " + marks_.encode({Mark::kDeclaredType, written}) + " null");
    const auto range = [&] {
      put("constraint " + marks_.encode({Mark::kRange}) + " check (" + column);
    };
    if (without_sign) {
      static const std::pair<std::string_view, const char*> kMost[] = {{"tinyint", "255"},
                                                                       {"smallint", "65535"},
                                                                       {"mediumint", "16777215"},
                                                                       {"int", "4294967295"},
                                                                       {"integer", "4294967295"}};
      if (!whole) {
        range();
        put(">= 0)");
      }
      for (const auto& [mine, most] : kMost) {
        if (name != mine) continue;
        range();
        put("<= " + std::string(most) + ")");
      }
    } else if (name == "tinyint" || name == "bool" || name == "boolean") {
      range();
      put("between -128 and 127)");
    } else if (name == "mediumint") {
      range();
      put("between -8388608 and 8388607)");
    }
  }

  // ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 …, after the list.
  void table_options() {
    while (at_ < in_.size()) {
      if (word(at_, "default")) ++at_;
      if (word(at_, "auto_increment")) not_supported("AUTO_INCREMENT as an option of a table");
      std::size_t words = 1;
      if (word(at_, "character") && word(at_ + 1, "set")) words = 2;
      static const std::set<std::string> kNoEffect = {
          "engine", "charset", "character", "collate", "comment", "row_format", "stats_persistent"};
      if (in_[at_].kind != Kind::kWord || kNoEffect.count(in_[at_].text) == 0) {
        not_supported("CREATE TABLE with " + in_[at_].text);
      }
      at_ += words;
      if (symbol(at_, "=")) ++at_;
      ++at_;
      if (symbol(at_, ",")) ++at_;
    }
  }

  const MysqlTokens& in_;
  std::size_t at_ = 0;
  std::string out_;
  std::string ending_;
  ParserMarks& marks_;
  std::map<std::size_t, std::string> names_;  // to be put before the token at this place
  int depth_ = 0;
  std::vector<int> casts_;  // the depths of those that are open
  int parameters_ = 0;
  bool create_ = false;
  bool duplicate_ = false;
  std::set<std::size_t> separators_;  // SEPARATOR of those that are open
  bool changes_ = false;              // UPDATE or DELETE
  bool ordered_ = false;              // their ORDER BY or LIMIT has begun
};

}  // namespace

std::vector<MysqlTokens> mysql_statements(std::string_view text) {
  if (!valid_utf8(text)) raise("22021", "invalid byte sequence for encoding \"UTF8\"");
  std::vector<MysqlTokens> all(1);
  for (auto& token : Tokenizer(text).run()) {
    if (token.kind == Kind::kSymbol && token.text == ";") {
      all.emplace_back();
    } else {
      all.back().push_back(std::move(token));
    }
  }
  std::erase_if(all, [](const MysqlTokens& one) { return one.empty(); });
  return all;
}

std::string as_postgres(const MysqlTokens& statement, ParserMarks& marks) {
  return Rewriting(statement, marks).run();
}

}  // namespace cupel::sql
