// Transactions, settings and prepared statements around the plans; see session.hpp.
#include "sql/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <set>

#include "sql/dialect/mysql_text.hpp"
#include "sql/dialect/settings.hpp"
#include "sql/dialect/settings_postgres.hpp"
#include "sql/exec/query_run.hpp"
#include "sql/exec/run.hpp"
#include "sql/exec/schema.hpp"
#include "sql/parse/sql_words.hpp"
#include "sql/value/text_search.hpp"

namespace cupel::sql {

namespace {

std::string lowered(std::string text) {
  for (auto& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return text;
}

// "AlterTableStmt" is ALTER TABLE; what people use such statements for is told another way.
[[noreturn]] void not_a_statement_here(const Tree& tree) {
  struct Instead {
    std::string_view kind, statement, words;
  };
  static constexpr Instead kInstead[] = {
      {"CopyStmt", "COPY",
       "use INSERT INTO … VALUES with several rows to load a table, SELECT to read it"},
      {"AlterTableStmt", "ALTER TABLE", "drop the table and create it as it is to be"},
      {"RenameStmt", "ALTER … RENAME", "drop the table and create it as it is to be"},
      {"ViewStmt", "CREATE VIEW", "write its query as a sub-query in FROM"},
      {"LockStmt", "LOCK",
       "transactions run one after another, and no lock makes a read stronger; ask for a "
       "stronger isolation level"},
      {"DeclareCursorStmt", "DECLARE CURSOR", "use SELECT with LIMIT and OFFSET"},
      {"PrepareStmt", "PREPARE", "use the protocol's prepared statements"},
  };
  const auto kind = kind_of(tree);
  if (kind == "VacuumStmt" && !flag_of(body_of(tree), "is_vacuumcmd")) not_supported("ANALYZE");
  for (const auto& [other, statement, words] : kInstead) {
    if (kind == other)
      raise("0A000", fmt::format("{} is not supported by the mock; {}", statement, words));
  }
  not_supported(in_sql(kind));
}

// A parameter of MySQL's: what a literal of its type is.
ExpressionPtr literal(const Datum& value, Type sent) {
  if (!value) return constant({}, {Type::kNull});
  if (!is_number(sent)) return constant(*value, {Type::kNull});
  return constant(from_text(*value, {sent}), {sent});
}

// How often each parameter is used, by its number.
void count_uses(const Tree& tree, std::map<std::int64_t, std::size_t>& uses) {
  if (!tree.is_structured()) return;
  if (tree.is_object() && tree.contains("ParamRef")) ++uses[number_of(tree["ParamRef"], "number")];
  for (const auto& part : tree) count_uses(part, uses);
}

// Types of the parameters that are an output of a SELECT and nothing else, which says nothing.
void complete(const Tree& tree, std::vector<Type>& types, std::span<const Type> otherwise) {
  if (otherwise.empty() || kind_of(tree) != "SelectStmt") return;
  std::map<std::int64_t, std::size_t> uses;
  count_uses(tree, uses);
  for (const auto& target : list(body_of(tree), "targetList")) {
    const auto& value = field(body_of(target), "val");
    if (value.is_null() || kind_of(value) != "ParamRef") continue;
    const auto number = number_of(body_of(value), "number");
    const auto at = static_cast<std::size_t>(number - 1);
    if (number < 1 || at >= otherwise.size() || uses[number] != 1) continue;
    if (types.size() <= at) types.resize(at + 1, Type::kNull);
    if (types[at] == Type::kNull) types[at] = otherwise[at];
  }
}

class PreparedStatement : public Prepared {
 public:
  [[nodiscard]] std::size_t parameter_count() const override { return types.size(); }
  [[nodiscard]] const std::vector<Type>& parameter_types() const override { return types; }
  [[nodiscard]] const std::vector<Column>& columns() const override { return shape; }
  [[nodiscard]] bool has_rows() const override { return rows; }
  [[nodiscard]] const std::string& command() const override { return word; }

  std::vector<Type> types;
  std::vector<Column> shape;
  bool rows = false;
  std::string word;
  Dialect dialect = Dialect::kPostgres;
  std::optional<Statement> statement;  // none: an empty text, or one of MySQL's own
  MysqlTokens tokens;
};

// What a statement of a text is: PostgreSQL's tree, or MySQL's own words.
struct Step {
  std::optional<Statement> statement;
  MysqlTokens tokens;
};

bool is_token(const MysqlTokens& tokens, std::size_t at, std::string_view text) {
  return at < tokens.size() && tokens[at].text == text;
}

// The isolation of a session or of a transaction: the standard's name as asked for, and what it
// means here.
struct Isolation {
  std::string name;
  std::optional<mock::Level> level;
  bool read_only = false;
  bool deferrable = false;  // PostgreSQL's, without effect
};

// What SET changes. Never changed once it is shared: PostgreSQL's ROLLBACK goes back to an old one.
struct Configuration {
  Settings settings;
  Isolation isolation;  // of the transactions to come
  std::optional<mock::Policy> policy;
  std::string database{kFirstDatabase};
};
using ConfigurationPtr = std::shared_ptr<const Configuration>;

struct Savepoint {
  std::string name;
  std::size_t at = 0;
  std::size_t undone = 0;
  ConfigurationPtr now, lasting;
};

// A statement that runs may be cancelled, from its start to its end.
class Cancellable {
 public:
  explicit Cancellable(const SessionFacts& facts) : state_(*facts.state) {
    state_ = SessionFacts::State::kRunning;
  }
  ~Cancellable() { state_ = SessionFacts::State::kIdle; }
  Cancellable(const Cancellable&) = delete;
  Cancellable& operator=(const Cancellable&) = delete;

 private:
  std::atomic<SessionFacts::State>& state_;
};

class SessionOfStore : public Session {
 public:
  SessionOfStore(mock::Store& store, Catalog& catalog, Dialect dialect, std::uint32_t number)
      : store_(store), catalog_(catalog.tables()), number_(number) {
    facts_.dialect = dialect;
    facts_.setting = [this](const std::string& setting) { return shown_setting(setting); };
    facts_.configure = [this](const std::string& name, const std::string& value, bool local) {
      set(name, value, local);
      return shown_setting(name);
    };
    facts_.version = version_of(dialect);
    facts_.database = [this] { return now_->database; };
    first_.settings = sql::first_settings(dialect);
    first_.isolation = {mysql() ? "repeatable read" : "read committed", std::nullopt, false};
    forget_settings();
  }
  ~SessionOfStore() override {
    end_quietly();
    store_.close_session(number_);
  }

  Run run(std::string_view text) override;
  std::variant<std::unique_ptr<Prepared>, Error> prepare(std::string_view text,
                                                         std::span<const Type> types,
                                                         std::span<const Type> otherwise) override;
  std::variant<Result, Error> execute(const Prepared& prepared, std::span<const Datum> parameters,
                                      std::span<const Type> sent) override;
  [[nodiscard]] TransactionState state() const override {
    return failed_  ? TransactionState::kFailed
           : block_ ? TransactionState::kOpen
                    : TransactionState::kIdle;
  }
  [[nodiscard]] bool autocommit() const override { return autocommit_; }
  void reset() override {
    end_quietly();
    block_ = failed_ = false;
    forget_settings();
  }
  [[nodiscard]] Cancel canceller() override {
    return [state = facts_.state] {
      auto expected = SessionFacts::State::kRunning;
      state->compare_exchange_strong(expected, SessionFacts::State::kCancelled);
    };
  }
  void on_connection(std::uint32_t number, CancelOther cancel) override {
    facts_.connection = number;
    facts_.cancel_other = std::move(cancel);
  }
  void on_user(std::string user) override { facts_.user = std::move(user); }
  std::optional<Error> configure(const std::string& setting, const std::string& value) override;
  [[nodiscard]] std::optional<Idle> idle_limit() const override;
  void on_deallocate(Deallocate deallocate) override { deallocate_ = std::move(deallocate); }

 private:
  [[nodiscard]] bool mysql() const { return facts_.dialect == Dialect::kMysql; }
  std::vector<Step> steps(std::string_view text) const;

  // Transactions of the store.
  mock::Transaction& transaction();
  void commit();
  void end_quietly();
  void undo_to(std::size_t size);

  Result perform(const Step& step, std::span<const Datum> parameters,
                 const std::vector<Type>& types);
  Result perform_in_block(const Step& step, std::span<const Datum> parameters,
                          const std::vector<Type>& types);
  Result data(const Statement& statement, std::span<const Datum> parameters,
              std::vector<Type> types);
  std::optional<Result> control(const Statement& statement);
  Result transaction_statement(const Tree& body);
  Result set_statement(const Tree& body);
  std::optional<Result> mysql_own(const MysqlTokens& tokens);
  Result mysql_begin(const MysqlTokens& tokens);
  Result mysql_kill(const MysqlTokens& tokens);
  std::optional<Result> mysql_show(const MysqlTokens& tokens) const;
  Result mysql_show_variables(const MysqlTokens& tokens, std::size_t at) const;
  Result described(const std::string& name) const;
  Result mysql_set(const MysqlTokens& tokens);
  std::size_t mysql_names(const MysqlTokens& tokens, std::size_t at);
  void take_error(const SqlException& exception);
  [[nodiscard]] Error told(const Error& error) const;

  // Settings.
  void forget_settings();
  // PostgreSQL's end of a transaction: what SET LOCAL did goes, and if it is rolled back what SET
  // did.
  void settle_settings(bool committed);
  template <typename Change>
  void change(const Change& change, bool local = false) {
    const auto changed = [&](const ConfigurationPtr& before) {
      auto made = std::make_shared<Configuration>(*before);
      change(*made);
      return made;
    };
    const bool both = now_ == lasting_;
    now_ = changed(now_);
    if (!local) lasting_ = both ? now_ : changed(lasting_);
  }
  void reset_setting(const std::string& name);
  [[nodiscard]] const Isolation& isolation() const {
    return isolation_ ? *isolation_ : now_->isolation;
  }
  // Of a statement that begins now.
  [[nodiscard]] double time_limit_ms(const Step& step) const;
  [[nodiscard]] double turn_limit_ms() const;
  [[nodiscard]] bool in_transaction() const { return block_ || implicit_; }
  std::string shown_setting(const std::string& name) const;
  void set(const std::string& name, const std::string& value, bool local);
  std::optional<mock::Level> level_for(const std::string& standard_name) const;
  void transaction_options(const Tree& options, bool session);
  Result one_row(std::vector<std::string> names, std::vector<std::vector<Datum>> rows) const;

  mock::Store& store_;
  Tables& catalog_;
  Deallocate deallocate_;
  std::vector<ExpressionPtr> given_;  // MySQL: the parameters of the statement that runs
  std::uint32_t number_;
  SessionFacts facts_;
  Configuration first_;       // as the client asked for when it connected
  ConfigurationPtr now_;      // in effect
  ConfigurationPtr lasting_;  // after a COMMIT
  ConfigurationPtr before_;   // the transaction
  // The application's settings that ever were: known from then on, as in PostgreSQL.
  std::set<std::string, std::less<>> own_names_;
  bool autocommit_ = true;

  std::unique_ptr<mock::Transaction> transaction_;
  std::uint64_t begun_ = 0;                  // transactions so far
  std::vector<std::function<void()>> undo_;  // of the catalog
  std::vector<Savepoint> savepoints_;
  bool block_ = false;  // between BEGIN and COMMIT
  bool failed_ = false;
  bool implicit_ = false;               // several statements in one text
  std::optional<Isolation> isolation_;  // of the transaction, or MySQL's next
};

void SessionOfStore::forget_settings() {
  now_ = lasting_ = before_ = std::make_shared<Configuration>(first_);
  isolation_.reset();
  autocommit_ = true;
  facts_.last_insert_id = 0;
}

void SessionOfStore::settle_settings(bool committed) {
  if (mysql()) return;
  if (!committed) lasting_ = before_;
  now_ = before_ = lasting_;
}

std::optional<Error> SessionOfStore::configure(const std::string& setting,
                                               const std::string& value) {
  try {
    set(lowered(setting), value, false);
    first_ = *lasting_;
    before_ = lasting_;
    return std::nullopt;
  } catch (const SqlException& exception) {
    return exception.error;
  }
}

std::optional<Session::Idle> SessionOfStore::idle_limit() const {
  if (mysql()) {
    return Idle{std::stod(now_->settings.at("wait_timeout")), "57P05",
                "The client was disconnected because of inactivity (wait_timeout)"};
  }
  const bool open = block_ || failed_;
  const auto limit = milliseconds_of(
      now_->settings, open ? "idle_in_transaction_session_timeout" : "idle_session_timeout");
  if (limit <= 0) return std::nullopt;
  return open ? Idle{limit / 1000, "25P03",
                     "terminating connection due to idle-in-transaction timeout"}
              : Idle{limit / 1000, "57P05", "terminating connection due to idle-session timeout"};
}

double SessionOfStore::time_limit_ms(const Step& step) const {
  if (!mysql()) return milliseconds_of(now_->settings, "statement_timeout");
  const auto all = 1000 * std::stod(now_->settings.at("max_statement_time"));
  const bool select = step.statement && kind_of(step.statement->tree) == "SelectStmt";
  const auto of_select = select ? std::stod(now_->settings.at("max_execution_time")) : 0;
  return all > 0 && of_select > 0 ? std::min(all, of_select) : std::max(all, of_select);
}

double SessionOfStore::turn_limit_ms() const {
  if (!mysql()) return milliseconds_of(now_->settings, "lock_timeout");
  return std::max(1000 * std::stod(now_->settings.at("innodb_lock_wait_timeout")), 1.0);
}

std::vector<Step> SessionOfStore::steps(std::string_view text) const {
  std::vector<Step> all;
  if (!mysql()) {
    for (auto& statement : parse(text)) all.push_back({std::move(statement), {}});
    return all;
  }
  for (auto& tokens : mysql_statements(text)) {
    static constexpr std::string_view kOwn[] = {"set",      "show",  "use",    "start",  "begin",
                                                "describe", "desc",  "lock",   "unlock", "explain",
                                                "kill",     "flush", "analyze"};
    const auto& first = tokens[0];
    const bool create_database = tokens.size() > 2 &&
                                 (first.text == "create" || first.text == "drop") &&
                                 (tokens[1].text == "database" || tokens[1].text == "schema");
    if (create_database ||
        std::find(std::begin(kOwn), std::end(kOwn), first.text) != std::end(kOwn)) {
      all.push_back({std::nullopt, std::move(tokens)});
      continue;
    }
    ParserMarks marks;
    const auto text_for_parser = as_postgres(tokens, marks);
    if (auto statement = marks.parse(text_for_parser)) all.push_back({std::move(statement), {}});
  }
  return all;
}

mock::Transaction& SessionOfStore::transaction() {
  if (transaction_ != nullptr) return *transaction_;
  mock::Store::BeginOptions options;
  options.level = isolation().level;
  options.policy = now_->policy;
  // What waits for a lock in a database waits here for its turn.
  const auto limit = turn_limit_ms();
  const auto start = std::chrono::steady_clock::now();
  const auto too_long = [&] {
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    return limit > 0 && took.count() >= limit;
  };
  options.give_up = [&] { return facts_.cancelled() || facts_.too_long() || too_long(); };
  transaction_ = store_.begin(number_, options);
  if (transaction_ == nullptr) {
    facts_.go_on();
    if (too_long()) {
      raise("55P03", mysql() ? "Lock wait timeout exceeded; try restarting transaction"
                             : "canceling statement due to lock timeout");
    }
    raise("57P01", "the mock is shutting down");
  }
  ++begun_;
  facts_.now = now_microseconds();
  return *transaction_;
}

void SessionOfStore::undo_to(std::size_t size) {
  while (undo_.size() > size) {
    undo_.back()();
    undo_.pop_back();
  }
}

void SessionOfStore::end_quietly() {
  if (transaction_ != nullptr) {
    undo_to(0);
    transaction_->rollback();
  }
  transaction_.reset();
  undo_.clear();
  savepoints_.clear();
  isolation_.reset();
}

void SessionOfStore::commit() {
  if (transaction_ != nullptr && !transaction_->commit()) {
    const auto failure = transaction_->failure();
    undo_to(0);
    transaction_.reset();
    end_quietly();
    settle_settings(false);
    raise_ended(failure);
  }
  transaction_.reset();
  undo_.clear();
  end_quietly();
  settle_settings(true);
}

// After an error in a statement.
void SessionOfStore::take_error(const SqlException& exception) {
  if (exception.ended || (transaction_ != nullptr && transaction_->failure())) {
    undo_to(0);
    transaction_.reset();
    end_quietly();
    if (mysql()) {
      block_ = false;
    } else {
      failed_ = block_;
      if (!block_) settle_settings(false);
    }
    return;
  }
  if (mysql()) {
    if (!block_ && autocommit_) end_quietly();
    return;
  }
  if (!block_) {
    end_quietly();
    settle_settings(false);
    return;
  }
  failed_ = true;
  // Nobody can use it any more, unless there is a savepoint to go back to.
  if (savepoints_.empty()) {
    const auto isolation = isolation_;
    end_quietly();
    isolation_ = isolation;
  }
}

// PostgreSQL's errors of types: MySQL turns any type into any other, and the mock does not.
Error SessionOfStore::told(const Error& error) const {
  static constexpr std::string_view kOfTypes[] = {"42804", "42725", "42846", "42883"};
  auto changed = error;
  if (mysql() &&
      std::find(std::begin(kOfTypes), std::end(kOfTypes), error.sqlstate) != std::end(kOfTypes)) {
    changed.sqlstate = "0A000";
    changed.message = "a change of types is not supported by the mock: " + error.message;
  }
  return changed;
}

Session::Run SessionOfStore::run(std::string_view text) {
  Run all;
  const Cancellable cancellable(facts_);
  try {
    given_.clear();
    const auto list = steps(text);
    implicit_ = !mysql() && list.size() > 1;
    for (const auto& step : list) all.results.push_back(perform(step, {}, {}));
    if (implicit_ && !block_) commit();
  } catch (const SqlException& exception) {
    take_error(exception);
    all.error = told(exception.error);
  }
  implicit_ = false;
  return all;
}

std::variant<std::unique_ptr<Prepared>, Error> SessionOfStore::prepare(
    std::string_view text, std::span<const Type> types, std::span<const Type> otherwise) {
  try {
    auto made = std::make_unique<PreparedStatement>();
    made->dialect = facts_.dialect;
    auto list = steps(text);
    if (list.size() > 1)
      raise("42601", "cannot insert multiple commands into a prepared statement");
    made->types.assign(types.begin(), types.end());
    if (!list.empty()) {
      made->statement = std::move(list[0].statement);
      made->tokens = std::move(list[0].tokens);
      if (made->statement) {
        const auto& tree = made->statement->tree;
        const bool ends = kind_of(tree) == "TransactionStmt";
        if (failed_ && !ends) {
          raise("25P02",
                "current transaction is aborted, commands ignored until end of transaction block");
        }
        complete(tree, made->types, otherwise);
        if (const auto planned = plan(tree, catalog_, facts_.dialect, made->types)) {
          made->shape = planned->columns;
          made->rows = planned->has_rows;
          made->word = planned->command;
        } else {
          made->word = std::string(kind_of(tree));
          if (made->word == "VariableShowStmt") {
            made->rows = true;
            made->word = "SHOW";
            made->shape = {{shown_name(lowered(text_of(body_of(tree), "name"))), Type::kText, ""}};
          }
        }
      } else {
        made->word = lowered(made->tokens[0].text);
        made->rows = made->word == "show" || made->word == "describe" || made->word == "desc";
      }
    }
    for (auto& type : made->types) {
      if (type == Type::kNull) type = Type::kText;
    }
    return made;
  } catch (const SqlException& exception) {
    // PostgreSQL fails the transaction here too.
    take_error(exception);
    return told(exception.error);
  }
}

std::variant<Result, Error> SessionOfStore::execute(const Prepared& prepared,
                                                    std::span<const Datum> parameters,
                                                    std::span<const Type> sent) {
  const auto& statement = dynamic_cast<const PreparedStatement&>(prepared);
  const Cancellable cancellable(facts_);
  try {
    if (parameters.size() != statement.types.size()) {
      raise("08P01", fmt::format("{} parameters given, {} needed", parameters.size(),
                                 statement.types.size()));
    }
    if (!statement.statement && statement.tokens.empty()) return Result{};
    given_.clear();
    for (std::size_t at = 0; mysql() && at < parameters.size(); ++at) {
      given_.push_back(literal(parameters[at], at < sent.size() ? sent[at] : Type::kText));
    }
    return perform({statement.statement, statement.tokens}, parameters, statement.types);
  } catch (const SqlException& exception) {
    take_error(exception);
    return told(exception.error);
  }
}

Result SessionOfStore::perform(const Step& step, std::span<const Datum> parameters,
                               const std::vector<Type>& types) {
  const bool ending = step.statement && kind_of(step.statement->tree) == "TransactionStmt";
  if (failed_ && !ending) {
    raise("25P02",
          "current transaction is aborted, commands ignored until end of transaction block");
  }
  facts_.until.reset();
  if (const auto limit = time_limit_ms(step); limit > 0) {
    facts_.until = std::chrono::steady_clock::now() +
                   std::chrono::microseconds(static_cast<std::int64_t>(1000 * limit));
  }
  facts_.go_on();
  // A statement that fails in MySQL's open transaction takes back its own writes only: all there
  // are, if the transaction began with it.
  const bool open = mysql() && (block_ || !autocommit_) && !ending;
  if (!open) {
    auto result = perform_in_block(step, parameters, types);
    if (!mysql()) {
      const auto& least = now_->settings.at("client_min_messages");
      std::erase_if(result.notices, [&](const Notice& notice) {
        return least == "error" || (least == "warning" && !notice.warning);
      });
    }
    return result;
  }
  const auto before = transaction_ != nullptr ? transaction_->savepoint() : 0;
  const auto begun = begun_;
  try {
    return perform_in_block(step, parameters, types);
  } catch (const SqlException& exception) {
    if (!exception.ended && transaction_ != nullptr && !transaction_->failure()) {
      transaction_->rollback_to(begun_ == begun ? before : 0);
    }
    throw;
  }
}

Result SessionOfStore::perform_in_block(const Step& step, std::span<const Datum> parameters,
                                        const std::vector<Type>& types) {
  std::optional<Result> result;
  if (!step.statement) {
    result = mysql_own(step.tokens);
    if (!result) not_supported("the statement " + step.tokens[0].text);
    return *result;
  }
  if (auto made = control(*step.statement)) {
    if (!in_transaction()) settle_settings(true);
    return *made;
  }
  const bool schema = is_schema_statement(step.statement->tree);
  if (schema && mysql()) {  // MySQL commits before and after
    commit();
    block_ = false;
  }
  result = data(*step.statement, parameters, types);
  const bool stays = block_ || implicit_ || (mysql() && !autocommit_ && !schema);
  if (!stays) commit();
  return *result;
}

Result SessionOfStore::data(const Statement& statement, std::span<const Datum> parameters,
                            std::vector<Type> types) {
  const auto& tree = statement.tree;
  const auto read_only = [&](const std::string& what) {
    if (isolation().read_only) {
      raise("25006", fmt::format("cannot execute {} in a read-only transaction", what));
    }
  };
  if (is_schema_statement(tree)) {
    read_only("a statement that changes the schema");
    ExecutionContext context(transaction(), catalog_, facts_, sql::run);
    return change_schema(tree, catalog_, facts_.dialect, undo_, context);
  }
  const auto given = types.size();
  const auto planned = plan(tree, catalog_, facts_.dialect, types, mysql() ? &given_ : nullptr);
  if (!planned) not_a_statement_here(tree);
  if (types.size() > given) raise("42P02", fmt::format("there is no parameter ${}", given + 1));
  if (planned->writes) read_only(planned->command);
  // MySQL locks in a transaction that reads only, too.
  if (!planned->locks.empty() && !mysql()) read_only(planned->locks);
  ExecutionContext context(transaction(), catalog_, facts_, sql::run);
  for (std::size_t at = 0; at < parameters.size(); ++at) {
    if (mysql()) break;  // they are literals there
    context.parameters.push_back(parameters[at] ? from_text(*parameters[at], {types[at]})
                                                : Scalar());
  }
  auto result = sql::run(*planned, context);
  if (result.last_insert_id != 0 && !result.given_insert_id) {
    facts_.last_insert_id = result.last_insert_id;
  }
  return result;
}

Result SessionOfStore::one_row(std::vector<std::string> names,
                               std::vector<std::vector<Datum>> rows) const {
  Result result;
  result.has_rows = true;
  for (auto& name : names) result.columns.push_back({std::move(name), Type::kText, ""});
  result.tag = mysql() ? fmt::format("SELECT {}", rows.size()) : "SHOW";
  result.rows = std::move(rows);
  return result;
}

std::optional<Result> SessionOfStore::control(const Statement& statement) {
  const auto kind = kind_of(statement.tree);
  const auto& body = body_of(statement.tree);
  if (kind == "TransactionStmt") return transaction_statement(body);
  if (kind == "VariableSetStmt") return set_statement(body);
  if (kind == "VariableShowStmt") {
    const auto name = lowered(text_of(body, "name"));
    if (name == "all") not_supported("SHOW ALL");
    return one_row({shown_name(name)}, {{shown_setting(name)}});
  }
  if (kind == "DiscardStmt") {
    if (in_transaction()) raise("25001", "DISCARD ALL cannot run inside a transaction block");
    forget_settings();
    if (deallocate_) deallocate_(std::nullopt);
    Result result;
    result.tag = "DISCARD ALL";
    return result;
  }
  if (kind == "DeallocateStmt" && !mysql()) {
    const auto name = text_of(body, "name");
    if (name.empty()) {
      if (deallocate_) deallocate_(std::nullopt);
    } else if (!deallocate_ || !deallocate_(name)) {
      raise("26000", fmt::format("prepared statement \"{}\" does not exist", name));
    }
    Result result;
    result.tag = name.empty() ? "DEALLOCATE ALL" : "DEALLOCATE";
    return result;
  }
  return std::nullopt;
}

// "read committed" and so on, of the standard: at least what the database of that name
// gives, and no weaker than the mock's own level.
std::optional<mock::Level> SessionOfStore::level_for(const std::string& name) const {
  std::optional<mock::Level> least;
  if (name == "read uncommitted" || name == "read committed") least = mock::Level::kReadCommitted;
  // PostgreSQL's is snapshot isolation; InnoDB's reads a snapshot but loses updates.
  if (name == "repeatable read") {
    least = mysql() ? mock::Level::kPrefix : mock::Level::kStrongSessionSnapshotIsolation;
  }
  if (name == "serializable") least = mock::Level::kStrongSessionSerializable;
  if (!least) {
    raise("22023",
          fmt::format("invalid value for parameter \"transaction_isolation\": \"{}\"", name));
  }
  return std::max(*least, catalog_.level());
}

void SessionOfStore::transaction_options(const Tree& options, bool session) {
  auto made = session ? now_->isolation : isolation();
  for (const auto& option : options) {
    const auto& body = body_of(option);
    understood(body, "a transaction's option", {"defname", "arg", "defaction"});
    const auto name = text_of(body, "defname");
    const auto& value = body_of(field(body, "arg"));
    if (name == "transaction_isolation") {
      const auto wanted =
          mysql() ? text_of(field(value, "sval"), "sval")
                  : postgres::checked_isolation(name, text_of(field(value, "sval"), "sval"));
      const bool same = !mysql() && wanted == made.name;
      if (!session && transaction_ != nullptr && !same) {
        raise("25001", "SET TRANSACTION ISOLATION LEVEL must be called before any query");
      }
      made.name = wanted;
      made.level = level_for(made.name);
    } else if (name == "transaction_read_only") {
      const bool only = number_of(field(value, "ival"), "ival") != 0;
      if (!session && made.read_only && !only && transaction_ != nullptr) {
        raise("25001", "transaction read-write mode must be set before any query");
      }
      made.read_only = only;
    } else if (name == "transaction_deferrable") {
      if (!session && transaction_ != nullptr) {
        raise("25001", "SET TRANSACTION [NOT] DEFERRABLE must be called before any query");
      }
      made.deferrable = number_of(field(value, "ival"), "ival") != 0;
    } else {
      not_supported("the option " + name);
    }
  }
  if (session) {
    change([&](Configuration& all) { all.isolation = made; });
  } else {
    isolation_ = made;
  }
}

Result SessionOfStore::transaction_statement(const Tree& body) {
  understood(body, "a transaction's statement", {"kind", "options", "savepoint_name"});
  const auto kind = text_of(body, "kind");
  const auto name = text_of(body, "savepoint_name");
  Result result;
  const auto find = [&] {
    const auto found = std::find_if(savepoints_.rbegin(), savepoints_.rend(),
                                    [&](const Savepoint& one) { return one.name == name; });
    if (found == savepoints_.rend()) {
      raise("3B001", fmt::format("savepoint \"{}\" does not exist", name));
    }
    return found.base() - 1;
  };
  const auto aborted = [&] {
    if (failed_) {
      raise("25P02",
            "current transaction is aborted, commands ignored until end of transaction block");
    }
  };
  if (kind == "TRANS_STMT_BEGIN" || kind == "TRANS_STMT_START") {
    aborted();
    result.tag = kind == "TRANS_STMT_BEGIN" ? "BEGIN" : "START TRANSACTION";
    if (block_) {
      result.notices.push_back({"there is already a transaction in progress", "25001", true});
    }
    block_ = true;
    transaction_options(list(body, "options"), false);
  } else if (kind == "TRANS_STMT_COMMIT" || kind == "TRANS_STMT_ROLLBACK") {
    const bool keep = kind == "TRANS_STMT_COMMIT" && !failed_;
    if (!block_ && !mysql()) {
      result.notices.push_back({"there is no transaction in progress", "25P01", true});
    }
    block_ = failed_ = false;
    result.tag = keep ? "COMMIT" : "ROLLBACK";
    if (keep) {
      commit();
    } else {
      end_quietly();
      settle_settings(false);
    }
  } else if (kind == "TRANS_STMT_SAVEPOINT") {
    aborted();
    if (!block_ && !mysql() && !implicit_) {
      raise("25P01", "SAVEPOINT can only be used in transaction blocks");
    }
    result.tag = "SAVEPOINT";
    if (mysql() && !block_ && autocommit_) return result;  // it ends with its statement
    if (mysql()) std::erase_if(savepoints_, [&](const Savepoint& one) { return one.name == name; });
    const auto at = transaction().savepoint();
    savepoints_.push_back({name, at, undo_.size(), now_, lasting_});
    result.tag = "SAVEPOINT";
  } else if (kind == "TRANS_STMT_RELEASE") {
    aborted();
    if (!block_ && !mysql())
      raise("25P01", "RELEASE SAVEPOINT can only be used in transaction blocks");
    savepoints_.erase(find(), savepoints_.end());
    result.tag = "RELEASE";
  } else if (kind == "TRANS_STMT_ROLLBACK_TO") {
    if (!block_ && !mysql()) {
      raise("25P01", "ROLLBACK TO SAVEPOINT can only be used in transaction blocks");
    }
    const auto found = find();
    if (transaction_ == nullptr || transaction_->failure()) raise_ended(std::nullopt);
    transaction_->rollback_to(found->at);
    undo_to(found->undone);
    if (!mysql()) {
      now_ = found->now;
      lasting_ = found->lasting;
    }
    savepoints_.erase(found + 1, savepoints_.end());
    failed_ = false;
    result.tag = "ROLLBACK";
  } else {
    not_supported("two-phase commit");
  }
  return result;
}

std::string SessionOfStore::shown_setting(const std::string& name) const {
  const auto& session_isolation = now_->isolation;
  auto hyphened = [&](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
      return c == ' ' ? '-' : static_cast<char>(std::toupper(c));
    });
    return text;
  };
  if (name == "transaction_isolation" || (mysql() && name == "tx_isolation")) {
    return mysql() ? hyphened(session_isolation.name) : isolation().name;
  }
  if (name == "default_transaction_isolation" && !mysql()) return session_isolation.name;
  if (name == "transaction_read_only" || (mysql() && name == "tx_read_only") ||
      (!mysql() && name == "default_transaction_read_only")) {
    const bool only =
        mysql() || name[0] == 'd' ? session_isolation.read_only : isolation().read_only;
    return mysql() ? (only ? "1" : "0") : (only ? "on" : "off");
  }
  if (!mysql() && name == "transaction_deferrable") return isolation().deferrable ? "on" : "off";
  if (!mysql() && name == "default_transaction_deferrable") {
    return session_isolation.deferrable ? "on" : "off";
  }
  if (name == "cupel.level")
    return std::string(mock::name(isolation().level.value_or(catalog_.level())));
  if (name == "cupel.database") return now_->database;
  if (mysql() && name == "autocommit") return autocommit_ ? "1" : "0";
  const auto found = now_->settings.find(name);
  if (found != now_->settings.end()) return found->second;
  if (own_names_.contains(name)) return "";
  unknown_setting(facts_.dialect, name);
}

void SessionOfStore::set(const std::string& name, const std::string& value, bool local) {
  if (name == "transaction_isolation" || name == "default_transaction_isolation" ||
      (mysql() && name == "tx_isolation")) {
    auto wanted = mysql() ? lowered(value) : postgres::checked_isolation(name, value);
    if (mysql()) std::replace(wanted.begin(), wanted.end(), '-', ' ');
    const auto level = level_for(wanted);
    if (name == "transaction_isolation" && !mysql()) {
      if (!in_transaction()) return;  // of this statement's own transaction, and gone with it
      if (transaction_ != nullptr && wanted != isolation().name) {
        raise("25001", "SET TRANSACTION ISOLATION LEVEL must be called before any query");
      }
      isolation_ = isolation();
      isolation_->name = wanted;
      isolation_->level = level;
    } else {
      change(
          [&](Configuration& all) {
            all.isolation.name = wanted;
            all.isolation.level = level;
          },
          local);
    }
    return;
  }
  if (name == "transaction_read_only" ||
      name == (mysql() ? "tx_read_only" : "default_transaction_read_only")) {
    bool wanted = false;
    try {
      wanted = mysql() ? std::get<bool>(from_text(value, {Type::kBoolean}))
                       : postgres::checked_boolean(name, value);
    } catch (const SqlException&) {
      if (!mysql()) throw;
      raise("22023", fmt::format("found {} = {}, expected on or off", name, value));
    }
    if (name[0] == 'd' || mysql()) {
      change([&](Configuration& all) { all.isolation.read_only = wanted; }, local);
    } else if (in_transaction()) {
      if (isolation().read_only && !wanted && transaction_ != nullptr) {
        raise("25001", "transaction read-write mode must be set before any query");
      }
      isolation_ = isolation();
      isolation_->read_only = wanted;
    }
    return;
  }
  if (!mysql() && (name == "transaction_deferrable" || name == "default_transaction_deferrable")) {
    const bool wanted = postgres::checked_boolean(name, value);
    if (name[0] == 'd') {
      change([&](Configuration& all) { all.isolation.deferrable = wanted; }, local);
    } else if (in_transaction()) {
      if (transaction_ != nullptr) {
        raise("25001", "SET TRANSACTION [NOT] DEFERRABLE must be called before any query");
      }
      isolation_ = isolation();
      isolation_->deferrable = wanted;
    }
    return;
  }
  if (name == "cupel.level") {
    const auto level = mock::level_of(value);
    if (!level) raise("22023", fmt::format("no level of the mock is called \"{}\"", value));
    if (local && transaction_ != nullptr) {
      raise("25001", "SET LOCAL cupel.level must be called before any query");
    }
    if (!local) change([&](Configuration& all) { all.isolation.level = level; });
    // In a transaction that has not begun its reads, of this one too.
    if (transaction_ == nullptr && (local || (in_transaction() && isolation_))) {
      isolation_ = isolation();
      isolation_->level = level;
    }
    return;
  }
  if (name == "cupel.policy") {
    mock::Policy policy = mock::Policy::kUniform;
    if (value == "latest") {
      policy = mock::Policy::kLatest;
    } else if (value == "adversarial") {
      policy = mock::Policy::kAdversarial;
    } else if (value != "uniform") {
      raise("22023", "cupel.policy is one of uniform, latest and adversarial");
    }
    change([&](Configuration& all) { all.policy = policy; }, local);
    return;
  }
  const auto now = now_->settings.find(name);
  const auto checked =
      checked_setting(facts_.dialect, name, value, now == now_->settings.end() ? "" : now->second);
  change([&](Configuration& all) { all.settings[name] = checked; }, local);
  if (name.find('.') != name.npos) own_names_.insert(name);
}

void SessionOfStore::reset_setting(const std::string& name) {
  if (!mysql()) postgres::check_changeable(name);
  if (name == "transaction_isolation" || name == "transaction_read_only" ||
      name == "transaction_deferrable") {
    if (!mysql()) return set(name, name.ends_with("isolation") ? "read committed" : "off", false);
    not_supported("RESET " + name);
  }
  const auto first = first_.settings.find(name);
  const bool of_isolation = name == "cupel.level" || name == "default_transaction_isolation";
  const bool read_only = name == "default_transaction_read_only";
  const bool deferrable = name == "default_transaction_deferrable";
  const bool own = name.find('.') != name.npos && !name.starts_with("cupel.");
  if (own && !mysql()) checked_setting(facts_.dialect, name, "");
  if (own) own_names_.insert(name);  // as in PostgreSQL, known from then on
  if (first == first_.settings.end() && !of_isolation && !read_only && !deferrable && !own &&
      name != "cupel.policy") {
    unknown_setting(facts_.dialect, name);
  }
  change([&](Configuration& all) {
    if (of_isolation) {
      all.isolation.name = first_.isolation.name;
      all.isolation.level = first_.isolation.level;
    } else if (read_only) {
      all.isolation.read_only = first_.isolation.read_only;
    } else if (deferrable) {
      all.isolation.deferrable = first_.isolation.deferrable;
    } else if (name == "cupel.policy") {
      all.policy = first_.policy;
    } else if (name == "cupel.database") {
      all.database = first_.database;
    } else {
      all.settings[name] = first == first_.settings.end() ? "" : first->second;
    }
  });
}

Result SessionOfStore::set_statement(const Tree& body) {
  understood(body, "SET", {"kind", "name", "args", "is_local"});
  Result result;
  result.tag = "SET";
  const auto kind = text_of(body, "kind");
  const auto name = lowered(text_of(body, "name"));
  if (kind == "VAR_SET_MULTI") {
    if (name == "transaction snapshot") not_supported("SET TRANSACTION SNAPSHOT");
    const bool session = name == "session characteristics";
    if (!session && !in_transaction()) {
      result.notices.push_back(
          {"SET TRANSACTION can only be used in transaction blocks", "25P01", true});
      return result;
    }
    transaction_options(list(body, "args"), session);
    return result;
  }
  if (kind == "VAR_SET_VALUE") {
    std::vector<std::string> values;
    for (const auto& argument : list(body, "args")) {
      const auto& one = body_of(argument);
      if (has(one, "sval")) {
        values.push_back(text_of(one["sval"], "sval"));
      } else if (has(one, "ival")) {
        values.push_back(std::to_string(number_of(one["ival"], "ival")));
      } else if (has(one, "fval")) {
        values.push_back(text_of(one["fval"], "fval"));
      } else if (has(one, "boolval")) {
        values.push_back(flag_of(one["boolval"], "boolval") ? "on" : "off");
      } else {
        not_supported("this value of SET");
      }
    }
    const auto value = postgres::value_of_list(name, values);
    const bool local = flag_of(body, "is_local");
    const bool alone = local && !in_transaction();
    if (alone) {
      result.notices.push_back({"SET LOCAL can only be used in transaction blocks", "25P01", true});
    }
    set(name, value, local);  // and if it is alone it is settled at once
    if (alone) isolation_.reset();
    return result;
  }
  result.tag = "RESET";
  if (kind == "VAR_RESET_ALL") {
    change([&](Configuration& all) { all = first_; });
    return result;
  }
  if (kind == "VAR_RESET" || kind == "VAR_SET_DEFAULT") {
    if (kind == "VAR_SET_DEFAULT") result.tag = "SET";
    reset_setting(name);
    return result;
  }
  not_supported("SET … FROM CURRENT");
}

// DESCRIBE. Indexes that are neither unique nor a foreign key's have no effect and are not told.
Result SessionOfStore::described(const std::string& name) const {
  const auto table = catalog_.find(name);
  if (table == nullptr) raise("42P01", fmt::format("relation \"{}\" does not exist", name));
  std::vector<std::vector<Datum>> rows;
  for (std::size_t at = 0; at < table->columns.size(); ++at) {
    const auto& column = table->columns[at];
    const bool unique =
        std::any_of(table->uniques.begin(), table->uniques.end(),
                    [&](const Unique& one) { return one.columns == std::vector<std::size_t>{at}; });
    Datum otherwise;
    if (!column.default_value.is_null()) {
      std::vector<Type> none;
      Scope scope;
      Binder binder(catalog_, facts_.dialect, none);
      const auto value = binder.assigned(binder.expression(column.default_value, scope), column);
      if (value->kind == Expression::Kind::kConstant) {
        otherwise = shown(value->constant, column.type.type, facts_.dialect);
      } else if (kind_of(column.default_value) == "SQLValueFunction") {
        otherwise = "CURRENT_TIMESTAMP";
      } else {
        not_supported("DESCRIBE of a table with a computed default");
      }
    }
    const auto type =
        column.declared.empty() ? std::string(type_name(column.type.type)) : column.declared;
    const auto begins = [&](const auto& constraint) { return constraint.columns[0] == at; };
    const bool indexed =
        std::any_of(table->uniques.begin(), table->uniques.end(), begins) ||
        std::any_of(table->foreign_keys.begin(), table->foreign_keys.end(), begins);
    const bool key = table->in_key(at) || (table->key.empty() && unique && column.not_null);
    rows.push_back({column.name, type, column.not_null || table->in_key(at) ? "NO" : "YES",
                    key       ? "PRI"
                    : unique  ? "UNI"
                    : indexed ? "MUL"
                              : "",
                    otherwise, column.counter != nullptr ? "auto_increment" : ""});
  }
  return one_row({"Field", "Type", "Null", "Key", "Default", "Extra"}, std::move(rows));
}

// START TRANSACTION.
Result SessionOfStore::mysql_begin(const MysqlTokens& tokens) {
  const auto is = [&](std::size_t at, std::string_view text) { return is_token(tokens, at, text); };
  Result result;
  const auto next = transaction_ == nullptr ? isolation_ : std::nullopt;  // SET TRANSACTION
  commit();
  isolation_ = next;
  block_ = true;
  result.tag = "BEGIN";
  for (std::size_t at = is(0, "start") ? 2 : 1; at < tokens.size(); ++at) {
    if (is(at, "read") && is(at + 1, "only")) {
      isolation_ = isolation();
      isolation_->read_only = true;
      ++at;
    } else if (is(at, "read") && is(at + 1, "write")) {
      ++at;
    } else if (is(at, "with") && is(at + 1, "consistent")) {
      at += 2;
    } else if (!is(at, "work") && !is(at, ",")) {
      raise("42601", fmt::format("syntax error at or near \"{}\"", tokens[at].text));
    }
  }
  return result;
}

Result SessionOfStore::mysql_kill(const MysqlTokens& tokens) {
  const auto is = [&](std::size_t at, std::string_view text) { return is_token(tokens, at, text); };
  Result result;
  const std::size_t last = tokens.size() - 1;
  if (!is(1, "query") || last != 2) not_supported("KILL of a connection");
  std::uint32_t number = 0;
  const auto& text = tokens[last].text;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = wrong == std::errc{} && end == text.data() + text.size();
  if (!is_number || !facts_.cancel_other || !facts_.cancel_other(number)) {
    raise("26000", fmt::format("Unknown thread id: {}", text));
  }
  result.tag = "KILL";
  return result;
}

// SHOW VARIABLES and SHOW STATUS; that word is at `at`.
Result SessionOfStore::mysql_show_variables(const MysqlTokens& tokens, std::size_t at) const {
  const auto is = [&](std::size_t place, std::string_view text) {
    return is_token(tokens, place, text);
  };
  std::string pattern = "%";
  if (is(at + 1, "like") && tokens.size() == at + 3) {
    pattern = lowered(tokens[at + 2].text);
  } else if (tokens.size() != at + 1) {
    if (!(is(at + 1, "where"))) not_supported("this SHOW VARIABLES");
    // WHERE Variable_name IN ('a', 'b') or = 'a' OR …, as drivers ask.
    std::vector<std::vector<Datum>> rows;
    for (std::size_t next = at + 2; next < tokens.size(); ++next) {
      const auto& token = tokens[next];
      if (token.kind == MysqlToken::Kind::kString) {
        try {
          const auto name = lowered(token.text);
          rows.push_back({name, shown_setting(name)});
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
    for (const auto& [name, value] : now_->settings) {
      if (!name.starts_with("cupel.") && like(name, pattern, {.fold_case = true}))
        rows.push_back({name, value});
    }
    for (const char* name : {"autocommit", "transaction_isolation", "tx_isolation"}) {
      if (like(name, pattern, {.fold_case = true})) rows.push_back({name, shown_setting(name)});
    }
  }
  return one_row({"Variable_name", "Value"}, std::move(rows));
}

std::optional<Result> SessionOfStore::mysql_show(const MysqlTokens& tokens) const {
  const auto is = [&](std::size_t place, std::string_view text) {
    return is_token(tokens, place, text);
  };
  if (is(1, "create")) not_supported("SHOW CREATE (DESCRIBE tells the columns)");
  if (is(1, "tables") && tokens.size() == 2) {
    std::vector<std::vector<Datum>> rows;
    for (const auto& table : catalog_.all()) rows.push_back({table->name});
    return one_row({"Tables_in_" + now_->database}, std::move(rows));
  }
  if (is(1, "databases") && tokens.size() == 2) {
    return one_row({"Database"}, {{now_->database}});
  }
  if (is(1, "warnings") || is(1, "errors")) {
    return one_row({"Level", "Code", "Message"}, {});
  }
  if (is(1, "engines")) return one_row({"Engine", "Support"}, {{"InnoDB", "DEFAULT"}});
  std::size_t at = 1;
  if (is(at, "session") || is(at, "global")) ++at;
  if (is(at, "variables") || is(at, "status")) return mysql_show_variables(tokens, at);
  return std::nullopt;
}

std::optional<Result> SessionOfStore::mysql_own(const MysqlTokens& tokens) {
  const auto is = [&](std::size_t at, std::string_view text) { return is_token(tokens, at, text); };
  Result result;
  if (is(0, "set")) return mysql_set(tokens);
  if (is(0, "begin") || is(0, "start")) return mysql_begin(tokens);
  if (is(0, "use") && tokens.size() == 2) {
    change([&](Configuration& all) { all.database = tokens[1].text; });
    result.tag = "USE";
    return result;
  }
  if ((is(0, "create") || is(0, "drop")) && tokens.size() > 2) {
    // There is one database, whatever it is called.
    if (is(0, "drop")) not_supported("DROP DATABASE");
    result.tag = "CREATE DATABASE";
    return result;
  }
  const bool columns = is(0, "show") && (is(1, "columns") || is(1, "fields")) && is(2, "from");
  if (is(0, "describe") || is(0, "desc") || columns) {
    auto at = tokens.size() - 1;
    const std::size_t before = columns ? 3 : 1;
    if (at == before + 2 && tokens[before + 1].text == ".") at = before;  // the database's name
    if (at != before) not_supported("DESCRIBE of anything but a table");
    return described(tokens.back().text);
  }
  if (is(0, "kill")) return mysql_kill(tokens);
  return is(0, "show") ? mysql_show(tokens) : std::nullopt;
}

// NAMES and CHARACTER SET of SET; where the next assignment begins.
std::size_t SessionOfStore::mysql_names(const MysqlTokens& tokens, std::size_t at) {
  const bool names = tokens[at].text == "names";
  at += names ? 1 : 2;
  const auto next = [&] {
    if (at >= tokens.size()) raise("42601", "syntax error at the end of SET NAMES");
    return lowered(tokens[at++].text);
  };
  const auto charset = next();
  const bool three_bytes = charset == "utf8" || charset == "utf8mb3";
  if (!three_bytes && charset != "utf8mb4" && charset != "default" && charset != "ascii") {
    not_supported("the character set " + charset);
  }
  if (names && at < tokens.size() && tokens[at].text == "collate") {
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
    if (collation != "default") set("collation_connection", collation, false);
  }
  if (at < tokens.size() && tokens[at].text != ",") {
    raise("42601", fmt::format("syntax error at or near \"{}\"", tokens[at].text));
  }
  return at + 1;
}

Result SessionOfStore::mysql_set(const MysqlTokens& tokens) {
  const auto is = [&](std::size_t at, std::string_view text) {
    return at < tokens.size() && tokens[at].text == text;
  };
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
    Isolation made = session ? now_->isolation : isolation();
    for (++at; at < tokens.size(); ++at) {
      if (is(at, "isolation") && is(at + 1, "level")) {
        at += 2;
        std::string name;
        while (at < tokens.size() && !is(at, ",")) {
          name += (name.empty() ? "" : " ") + tokens[at++].text;
        }
        made.name = name;
        made.level = level_for(name);
      } else if (is(at, "read") && (is(at + 1, "only") || is(at + 1, "write"))) {
        made.read_only = is(at + 1, "only");
        ++at;
      } else if (!is(at, ",")) {
        raise("42601", fmt::format("syntax error at or near \"{}\"", tokens[at].text));
      }
    }
    if (session) {
      change([&](Configuration& all) { all.isolation = made; });
    } else {
      if (block_)
        raise("25001",
              "transaction characteristics can't be changed while a transaction is in progress");
      isolation_ = made;
    }
    return result;
  }
  // name = value, name = value …
  while (at < tokens.size()) {
    if (is(at, "names") || (is(at, "character") && is(at + 1, "set"))) {
      at = mysql_names(tokens, at);
      continue;
    }
    if (is(at, "session") || is(at, "local")) ++at;
    if (is(at, "global")) not_supported("SET GLOBAL");
    std::string name = tokens[at++].text;
    if (name.starts_with("@@")) {
      name = name.substr(2);
      for (const std::string_view scope : {"session.", "local."}) {
        if (name.starts_with(scope)) name = name.substr(scope.size());
      }
      if (name.starts_with("global.")) not_supported("SET GLOBAL");
    } else if (name.starts_with("@")) {
      not_supported("the user variable " + name);
    }
    if (is(at, ".") && at + 1 < tokens.size()) {
      name += "." + tokens[at + 1].text;
      at += 2;
    }
    if (!is(at, "=") && !is(at, ":=")) raise("42601", "SET needs name = value");
    ++at;
    if (at >= tokens.size()) raise("42601", "SET needs name = value");
    std::string value = tokens[at++].text;
    if (value == "@@sql_mode" || value == "concat") not_supported("a computed value of SET");
    if (at < tokens.size() && !is(at, ",")) not_supported("a computed value of SET");
    ++at;
    if (name == "autocommit") {
      const bool wanted = value == "1" || lowered(value) == "on" || lowered(value) == "true";
      if (wanted && !autocommit_) {
        block_ = false;
        autocommit_ = true;
        commit();
      }
      autocommit_ = wanted;
    } else {
      set(name, value, false);
    }
  }
  return result;
}

}  // namespace

Catalog::Catalog(mock::Level level) : tables_(std::make_unique<Tables>(level)) {}
Catalog::~Catalog() = default;
void Catalog::reset() {
  tables_->reset();
}

std::unique_ptr<Session> Session::open(mock::Store& store, Catalog& catalog, Dialect dialect,
                                       std::string name) {
  return open(store, catalog, dialect, store.open_session(std::move(name)));
}

std::unique_ptr<Session> Session::open(mock::Store& store, Catalog& catalog, Dialect dialect,
                                       std::uint32_t session) {
  return std::make_unique<SessionOfStore>(store, catalog, dialect, session);
}

}  // namespace cupel::sql
