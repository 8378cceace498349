// One function for each first word; see the header.
#include "mock/proxy/mysql_statement.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace cupel::proxy {

namespace {

using TokenKind = MysqlToken::Kind;

StatementText may_do_anything() {
  return {.unknown = true, .may_end_transactions = true};
}

bool is_any_word(const MysqlTokens& tokens, std::size_t at,
                 std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](auto word) { return is_word(tokens, at, word); });
}

bool has_word(const MysqlTokens& tokens, std::string_view word) {
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (is_word(tokens, at, word)) return true;
  }
  return false;
}

StatementText read_begin(const MysqlTokens& tokens) {
  StatementText text{.word = TransactionWord::kBegin, .commits_first = true};
  text.takes_snapshot = has_word(tokens, "consistent");
  text.local = !text.takes_snapshot;
  return text;
}

StatementText read_end(const MysqlTokens& tokens, TransactionWord word) {
  StatementText text{.word = word};
  std::size_t at = is_word(tokens, 1, "work") ? 2 : 1;
  if (word == TransactionWord::kRollback && is_word(tokens, at, "to")) {
    at += is_word(tokens, at + 1, "savepoint") ? 2 : 1;
    text.word = TransactionWord::kRollbackTo;
    if (at < tokens.size()) text.savepoint = tokens[at].text;
  }
  return text;
}

StatementText read_savepoint(const MysqlTokens& tokens, TransactionWord word) {
  if (tokens.back().kind != TokenKind::kWord && tokens.back().kind != TokenKind::kQuoted)
    return may_do_anything();
  return {.local = true, .word = word, .savepoint = tokens.back().text};
}

// ISOLATION LEVEL …; none: it is not named. A level that is not known is the strongest.
std::optional<Isolation> level_after(const MysqlTokens& tokens, std::size_t at) {
  for (; at + 2 < tokens.size(); ++at) {
    if (!is_word(tokens, at, "isolation") || !is_word(tokens, at + 1, "level")) continue;
    auto words = tokens[at + 2].text;
    if (at + 3 < tokens.size() && tokens[at + 3].kind == TokenKind::kWord)
      words += " " + tokens[at + 3].text;
    return isolation_of(words, Dialect::kMysql).value_or(Isolation::kSerializable);
  }
  return std::nullopt;
}

// One assignment, from `at` to before `end`.
void read_assignment(const MysqlTokens& tokens, std::size_t at, std::size_t end,
                     StatementText& text) {
  const bool session = is_any_word(tokens, at, {"session", "local"});
  if (is_any_word(tokens, at, {"global", "password", "role", "default", "statement"})) {
    text = may_do_anything();
    return;
  }
  if (session) ++at;
  if (at >= end) return;
  auto name = tokens[at].text;
  if (name.starts_with("@@global")) {
    text = may_do_anything();
    return;
  }
  const bool next_only = name.starts_with("@@") && name.find('.') == std::string::npos;
  if (const auto point = name.rfind('.'); name.starts_with("@@") && point != std::string::npos)
    name = name.substr(point + 1);
  while (name.starts_with("@@")) name = name.substr(2);
  if (name == "autocommit") text.commits_first = true;
  if (name != "tx_isolation" && name != "transaction_isolation") return;
  const auto level =
      end - at == 3 ? isolation_of(tokens[end - 1].text, Dialect::kMysql) : std::nullopt;
  auto& place = next_only && !session ? text.level_next : text.level_from_now;
  place = level.value_or(Isolation::kSerializable);
  text.unknown |= !level;
}

StatementText read_set(const MysqlTokens& tokens) {
  StatementText text{.local = true};
  const bool scoped = is_any_word(tokens, 1, {"session", "local", "global"});
  if (is_word(tokens, scoped ? 2 : 1, "transaction")) {
    if (is_word(tokens, 1, "global")) return may_do_anything();
    (scoped ? text.level_from_now : text.level_next) = level_after(tokens, 1);
    return text;
  }
  if (has_word(tokens, "select")) return may_do_anything();
  for (const auto& token : tokens) {
    if (token.kind == TokenKind::kSymbol && token.text == "(")
      return may_do_anything();  // a function
  }
  std::size_t begin = 1;
  for (std::size_t at = 1; at <= tokens.size(); ++at) {
    if (at < tokens.size() && !is_symbol(tokens, at, ",")) continue;
    read_assignment(tokens, begin, at, text);
    if (text.may_end_transactions) return text;
    begin = at + 1;
  }
  return text;
}

}  // namespace

std::optional<StatementText> read_mysql_session_statement(const MysqlTokens& tokens) {
  const auto first = [&](std::initializer_list<std::string_view> words) {
    return is_any_word(tokens, 0, words);
  };
  if (first({"select", "insert", "replace", "update", "delete", "with"}) ||
      is_symbol(tokens, 0, "("))
    return std::nullopt;
  if ((first({"begin"}) && tokens.size() <= 2 && !is_word(tokens, 1, "not")) ||
      (first({"start"}) && is_word(tokens, 1, "transaction")))
    return read_begin(tokens);
  if (first({"commit"})) return read_end(tokens, TransactionWord::kCommit);
  if (first({"rollback"})) return read_end(tokens, TransactionWord::kRollback);
  if (first({"savepoint"})) return read_savepoint(tokens, TransactionWord::kSavepoint);
  if (first({"release"})) return read_savepoint(tokens, TransactionWord::kRelease);
  if (first({"set"})) return read_set(tokens);
  if (first({"use"})) return StatementText{.local = true};
  if (first({"show"}) && is_any_word(tokens, 1,
                                     {"warnings", "errors", "variables", "session", "collation",
                                      "character", "charset", "engines", "status"}))
    return StatementText{.local = true};
  if (first({"show", "explain", "describe", "desc", "load", "do", "handler", "table", "values"}))
    return StatementText{.unknown = true};
  if (first({"reset"}) && is_word(tokens, 1, "connection"))
    return StatementText{.word = TransactionWord::kRollback, .resets = true};
  return may_do_anything();
}

}  // namespace cupel::proxy
