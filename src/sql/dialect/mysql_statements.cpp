// One function a statement; see the header.
#include "sql/dialect/mysql_statements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/text.hpp"
#include "sql/dialect/session_control.hpp"
#include "sql/value/text_search.hpp"

namespace cupel::sql {

namespace {

Result one_row(std::vector<std::string> names, std::vector<std::vector<Datum>> rows) {
  Result result;
  result.has_rows = true;
  for (auto& name : names) result.columns.push_back({std::move(name), Type::kText, ""});
  result.tag = fmt::format("SELECT {}", rows.size());
  result.rows = std::move(rows);
  return result;
}

class OwnRun {
 public:
  OwnRun(const MysqlTokens& tokens, SessionControl& session) : tokens_(tokens), session_(session) {}
  std::optional<Result> run();  // nullopt: the mock does not do it

 private:
  using Scope = SessionControl::Scope;
  [[nodiscard]] bool is(std::size_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].text == text;
  }
  Result begin();
  Result kill();
  Result set();
  void set_transaction(std::size_t at, Scope scope);
  std::size_t set_names(std::size_t at);
  [[nodiscard]] std::string assigned_name(std::size_t& at) const;
  [[nodiscard]] std::string assigned_value(std::size_t& at) const;
  [[nodiscard]] std::optional<Result> show() const;
  [[nodiscard]] Result show_variables(std::size_t at) const;

  const MysqlTokens& tokens_;
  SessionControl& session_;
};

// START TRANSACTION.
Result OwnRun::begin() {
  Result result;
  session_.begin();
  result.tag = "BEGIN";
  for (std::size_t at = is(0, "start") ? 2 : 1; at < tokens_.size(); ++at) {
    if (is(at, "read") && is(at + 1, "only")) {
      auto made = session_.isolation_of(Scope::kTransaction);
      made.read_only = true;
      session_.set_isolation(made, Scope::kTransaction);
      ++at;
    } else if (is(at, "read") && is(at + 1, "write")) {
      ++at;
    } else if (is(at, "with") && is(at + 1, "consistent")) {
      at += 2;
    } else if (!is(at, "work") && !is(at, ",")) {
      raise("42601", fmt::format("syntax error at or near \"{}\"", tokens_[at].text));
    }
  }
  return result;
}

Result OwnRun::kill() {
  Result result;
  const std::size_t last = tokens_.size() - 1;
  if (!is(1, "query") || last != 2) not_supported("KILL of a connection");
  std::uint32_t number = 0;
  const auto& text = tokens_[last].text;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = wrong == std::errc{} && end == text.data() + text.size();
  if (!is_number || !session_.cancel(number)) {
    raise("26000", fmt::format("Unknown thread id: {}", text));
  }
  result.tag = "KILL";
  return result;
}

// SHOW VARIABLES and SHOW STATUS; that word is at `at`.
Result OwnRun::show_variables(std::size_t at) const {
  std::string pattern = "%";
  if (is(at + 1, "like") && tokens_.size() == at + 3) {
    pattern = base::to_lower(tokens_[at + 2].text);
  } else if (tokens_.size() != at + 1) {
    if (!(is(at + 1, "where"))) not_supported("this SHOW VARIABLES");
    // WHERE Variable_name IN ('a', 'b') or = 'a' OR …, as drivers ask.
    std::vector<std::vector<Datum>> rows;
    for (std::size_t next = at + 2; next < tokens_.size(); ++next) {
      const auto& token = tokens_[next];
      if (token.kind == MysqlToken::Kind::kString) {
        try {
          const auto name = base::to_lower(token.text);
          rows.push_back({name, session_.setting(name)});
        } catch (const SqlException&) {
          continue;  // an unknown variable has no row
        }
      } else if (token.text != "variable_name" && token.text != "=" && token.text != "or" &&
                 token.text != "in" && token.text != "(" && token.text != ")" &&
                 token.text != ",") {
        not_supported("this SHOW VARIABLES");
      }
    }
    return one_row({"Variable_name", "Value"}, std::move(rows));
  }
  std::vector<std::vector<Datum>> rows;
  if (!is(at, "status")) {
    for (const auto& [name, value] : session_.settings()) {
      if (!name.starts_with("cupel.") && like(name, pattern, {.fold_case = true}))
        rows.push_back({name, value});
    }
    for (const char* name : {"autocommit", "transaction_isolation", "tx_isolation"}) {
      if (like(name, pattern, {.fold_case = true})) rows.push_back({name, session_.setting(name)});
    }
  }
  return one_row({"Variable_name", "Value"}, std::move(rows));
}

std::optional<Result> OwnRun::show() const {
  if (is(1, "create")) not_supported("SHOW CREATE (DESCRIBE lists the columns)");
  if (is(1, "tables") && tokens_.size() == 2) {
    std::vector<std::vector<Datum>> rows;
    for (auto& table : session_.tables()) rows.push_back({std::move(table)});
    return one_row({"Tables_in_" + session_.database()}, std::move(rows));
  }
  if (is(1, "databases") && tokens_.size() == 2) {
    return one_row({"Database"}, {{session_.database()}});
  }
  if (is(1, "warnings") || is(1, "errors")) {
    return one_row({"Level", "Code", "Message"}, {});
  }
  if (is(1, "engines")) return one_row({"Engine", "Support"}, {{"InnoDB", "DEFAULT"}});
  std::size_t at = 1;
  if (is(at, "session") || is(at, "global")) ++at;
  if (is(at, "variables") || is(at, "status")) return show_variables(at);
  return std::nullopt;
}

// NAMES and CHARACTER SET of SET; where the next assignment begins.
std::size_t OwnRun::set_names(std::size_t at) {
  const bool names = tokens_[at].text == "names";
  at += names ? 1 : 2;
  const auto next = [&] {
    if (at >= tokens_.size()) raise("42601", "syntax error at the end of SET NAMES");
    return base::to_lower(tokens_[at++].text);
  };
  const auto charset = next();
  const bool three_bytes = charset == "utf8" || charset == "utf8mb3";
  if (!three_bytes && charset != "utf8mb4" && charset != "default" && charset != "ascii") {
    not_supported("the character set " + charset);
  }
  if (names && at < tokens_.size() && tokens_[at].text == "collate") {
    ++at;
    const auto collation = next();
    const auto its = collation.substr(0, collation.find('_'));
    const bool belongs = three_bytes ? its == "utf8" || its == "utf8mb3" : its == "utf8mb4";
    if (its.starts_with("utf8") && (!belongs || charset == "ascii")) {
      throw SqlException{
          {.sqlstate = "22023",
           .message = fmt::format("COLLATION '{}' is not valid for CHARACTER SET '{}'", collation,
                                  charset),
           .mysql_number = 1253}};
    }
    if (collation != "default") session_.set("collation_connection", collation);
  }
  if (at < tokens_.size() && tokens_[at].text != ",") {
    raise("42601", fmt::format("syntax error at or near \"{}\"", tokens_[at].text));
  }
  return at + 1;
}

// SET TRANSACTION, from its first characteristic on.
void OwnRun::set_transaction(std::size_t at, Scope scope) {
  auto made = session_.isolation_of(scope);
  for (; at < tokens_.size(); ++at) {
    if (is(at, "isolation") && is(at + 1, "level")) {
      at += 2;
      std::string name;
      while (at < tokens_.size() && !is(at, ",")) {
        name += (name.empty() ? "" : " ") + tokens_[at++].text;
      }
      made.name = name;
      made.level = session_.level_for(name);
    } else if (is(at, "read") && (is(at + 1, "only") || is(at + 1, "write"))) {
      made.read_only = is(at + 1, "only");
      ++at;
    } else if (!is(at, ",")) {
      raise("42601", fmt::format("syntax error at or near \"{}\"", tokens_[at].text));
    }
  }
  if (scope == Scope::kTransaction && session_.in_block()) {
    raise("25001",
          "transaction characteristics can't be changed while a transaction is in progress");
  }
  session_.set_isolation(made, scope);
}

// The name of an assignment of SET, after its scope.
std::string OwnRun::assigned_name(std::size_t& at) const {
  if (is(at, "session") || is(at, "local")) ++at;
  if (is(at, "global")) not_supported("SET GLOBAL");
  if (at >= tokens_.size()) raise("42601", "SET needs name = value");
  std::string name = tokens_[at++].text;
  if (name.starts_with("@@")) {
    name = name.substr(2);
    for (const std::string_view scope : {"session.", "local."}) {
      if (name.starts_with(scope)) name = name.substr(scope.size());
    }
    if (name.starts_with("global.")) not_supported("SET GLOBAL");
  } else if (name.starts_with("@")) {
    not_supported("the user variable " + name);
  }
  if (is(at, ".") && at + 1 < tokens_.size()) {
    name += "." + tokens_[at + 1].text;
    at += 2;
  }
  return name;
}

std::string OwnRun::assigned_value(std::size_t& at) const {
  if (!is(at, "=") && !is(at, ":=")) raise("42601", "SET needs name = value");
  ++at;
  if (at >= tokens_.size()) raise("42601", "SET needs name = value");
  std::string value = tokens_[at++].text;
  if (value == "@@sql_mode" || value == "concat") not_supported("a computed value of SET");
  if (at < tokens_.size() && !is(at, ",")) not_supported("a computed value of SET");
  ++at;
  return value;
}

Result OwnRun::set() {
  Result result;
  result.tag = "SET";
  std::size_t at = 1;
  bool session = false;
  if (is(at, "session") || is(at, "local")) {
    session = true;
    ++at;
  } else if (is(at, "global") && is(at + 1, "transaction")) {
    not_supported("SET GLOBAL TRANSACTION");
  }
  if (is(at, "transaction")) {
    set_transaction(at + 1, session ? Scope::kSession : Scope::kTransaction);
    return result;
  }
  // name = value, name = value …
  while (at < tokens_.size()) {
    if (is(at, "names") || (is(at, "character") && is(at + 1, "set"))) {
      at = set_names(at);
      continue;
    }
    const auto name = assigned_name(at);
    const auto value = assigned_value(at);
    if (name == "autocommit") {
      const auto word = base::to_lower(value);
      session_.set_autocommit(word == "1" || word == "on" || word == "true");
    } else {
      session_.set(name, value);
    }
  }
  return result;
}

std::optional<Result> OwnRun::run() {
  Result result;
  if (is(0, "set")) return set();
  if (is(0, "begin") || is(0, "start")) return begin();
  if (is(0, "use") && tokens_.size() == 2) {
    session_.set_database(tokens_[1].text);
    result.tag = "USE";
    return result;
  }
  if ((is(0, "create") || is(0, "drop")) && tokens_.size() > 2) {
    // There is one database, whatever it is called.
    if (is(0, "drop")) not_supported("DROP DATABASE");
    result.tag = "CREATE DATABASE";
    return result;
  }
  const bool columns = is(0, "show") && (is(1, "columns") || is(1, "fields")) && is(2, "from");
  if (is(0, "describe") || is(0, "desc") || columns) {
    auto at = tokens_.size() - 1;
    const std::size_t before = columns ? 3 : 1;
    if (at == before + 2 && tokens_[before + 1].text == ".") at = before;  // the database's name
    if (at != before) not_supported("DESCRIBE of anything but a table");
    return one_row({"Field", "Type", "Null", "Key", "Default", "Extra"},
                   session_.described(tokens_.back().text));
  }
  if (is(0, "kill")) return kill();
  return is(0, "show") ? show() : std::nullopt;
}

class MysqlStatement : public OwnStatement {
 public:
  explicit MysqlStatement(MysqlTokens tokens) : tokens_(std::move(tokens)) {}
  [[nodiscard]] std::string command() const override { return base::to_lower(tokens_[0].text); }
  [[nodiscard]] bool has_rows() const override {
    const auto word = command();
    return word == "show" || word == "describe" || word == "desc";
  }
  [[nodiscard]] Result run(SessionControl& session) const override {
    auto result = OwnRun(tokens_, session).run();
    if (!result) not_supported("the statement " + tokens_[0].text);
    return std::move(*result);
  }

 private:
  MysqlTokens tokens_;
};

}  // namespace

bool is_own_statement(const MysqlTokens& tokens) {
  static constexpr std::string_view kOwn[] = {"set",      "show",  "use",    "start",  "begin",
                                              "describe", "desc",  "lock",   "unlock", "explain",
                                              "kill",     "flush", "analyze"};
  const auto& first = tokens[0].text;
  const bool create_database = tokens.size() > 2 && (first == "create" || first == "drop") &&
                               (tokens[1].text == "database" || tokens[1].text == "schema");
  return create_database || std::find(std::begin(kOwn), std::end(kOwn), first) != std::end(kOwn);
}

std::shared_ptr<const OwnStatement> own_statement(MysqlTokens tokens) {
  return std::make_shared<MysqlStatement>(std::move(tokens));
}

}  // namespace cupel::sql
