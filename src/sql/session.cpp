// Transactions, settings and prepared statements around the plans; see session.hpp.
#include "sql/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <set>

#include "base/text.hpp"
#include "sql/dialect/dialect.hpp"
#include "sql/dialect/session_control.hpp"
#include "sql/exec/describe.hpp"
#include "sql/exec/query_run.hpp"
#include "sql/exec/run.hpp"
#include "sql/exec/schema.hpp"
#include "sql/parse/sql_words.hpp"

namespace cupel::sql {

namespace {

// "AlterTableStmt" is ALTER TABLE; and what to use instead of such statements.
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

// A parameter as a literal of its type.
ExpressionPtr literal(const Datum& value, Type sent) {
  if (!value) return constant({}, {Type::kNull});
  if (sent == Type::kBoolean) return constant(std::int64_t{*value == "t"}, {Type::kBigint});
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
  std::string text;  // as it was prepared
  std::string word;
  ParsedStatement parsed;  // nothing: an empty text
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

class SessionOfStore : public Session, private SessionControl {
 public:
  SessionOfStore(mock::Store& store, Catalog& catalog, const Dialect& dialect, std::uint32_t number)
      : store_(store),
        catalog_(catalog.tables()),
        dialect_(dialect),
        rules_(dialect.rules().transactions),
        number_(number),
        facts_{dialect, dialect.rules().values} {
    facts_.setting = [this](const std::string& name) { return setting(name); };
    facts_.configure = [this](const std::string& name, const std::string& value, bool local) {
      set(name, value, local);
      return setting(name);
    };
    facts_.version = dialect.version();
    facts_.database = [this] { return now_->database; };
    first_.settings = dialect.first_settings();
    first_.isolation = {.name = dialect.first_isolation()};
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
  // What the dialect's own statements do with the session.
  void begin() override;
  [[nodiscard]] bool in_block() const override { return block_; }
  void set_autocommit(bool wanted) override;
  [[nodiscard]] Isolation isolation_of(Scope scope) const override {
    return scope == Scope::kSession ? now_->isolation : isolation();
  }
  void set_isolation(const Isolation& isolation, Scope scope) override;
  [[nodiscard]] mock::Level level_for(const std::string& isolation) const override;
  [[nodiscard]] const Settings& settings() const override { return now_->settings; }
  [[nodiscard]] std::string setting(const std::string& name) const override;
  void set(const std::string& name, const std::string& value) override { set(name, value, false); }
  [[nodiscard]] std::string database() const override { return now_->database; }
  void set_database(const std::string& name) override {
    change([&](Configuration& all) { all.database = name; });
  }
  [[nodiscard]] std::vector<std::string> tables() const override;
  [[nodiscard]] std::vector<std::vector<Datum>> described(const std::string& table) const override {
    return sql::described(table, catalog_, dialect_);
  }
  bool cancel(std::uint32_t connection) override {
    return facts_.cancel_other && facts_.cancel_other(connection);
  }

  // Transactions of the store.
  mock::Transaction& transaction();
  void start_statement();
  void commit();
  void end_quietly();
  void undo_to(std::size_t size);

  Result perform(const ParsedStatement& parsed, std::span<const Datum> parameters,
                 const std::vector<Type>& types);
  Result perform_in_block(const ParsedStatement& parsed, std::span<const Datum> parameters,
                          const std::vector<Type>& types);
  Result data(const Statement& statement, std::span<const Datum> parameters,
              std::vector<Type> types);
  std::optional<Result> control(const Statement& statement);
  Result transaction_statement(const Tree& body);
  Result set_statement(const Tree& body);
  void take_error(const SqlException& exception);

  // Settings.
  void forget_settings();
  // The end of a transaction that undoes settings: what SET LOCAL did goes, and if it is rolled
  // back what SET did.
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
  [[nodiscard]] bool in_transaction() const { return block_ || implicit_; }
  void set(const std::string& name, const std::string& value, bool local);
  void set_transaction_setting(const TransactionSetting& setting, const std::string& name,
                               const std::string& value, bool local);
  void check_before_reads(const TransactionSetting& setting, const Isolation& wanted) const;
  [[nodiscard]] bool literals() const { return dialect_.rules().queries.parameters_are_literals; }
  void transaction_options(const Tree& options, bool session);

  mock::Store& store_;
  Tables& catalog_;
  const Dialect& dialect_;
  const Dialect::TransactionRules& rules_;
  Deallocate deallocate_;
  std::vector<ExpressionPtr> given_;  // the parameters of the statement that runs, as literals
  std::string text_;                  // of that statement, with those that came together with it
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
  std::optional<Isolation> isolation_;  // of the transaction, or of the next
};

void SessionOfStore::forget_settings() {
  now_ = lasting_ = before_ = std::make_shared<Configuration>(first_);
  isolation_.reset();
  autocommit_ = true;
  facts_.last_insert_id = 0;
}

void SessionOfStore::settle_settings(bool committed) {
  if (!rules_.undo_settings) return;
  if (!committed) lasting_ = before_;
  now_ = before_ = lasting_;
}

std::optional<Error> SessionOfStore::configure(const std::string& setting,
                                               const std::string& value) {
  try {
    set(base::to_lower(setting), value, false);
    first_ = *lasting_;
    before_ = lasting_;
    return std::nullopt;
  } catch (const SqlException& exception) {
    return exception.error;
  }
}

std::optional<Session::Idle> SessionOfStore::idle_limit() const {
  return dialect_.idle_limit(now_->settings, block_ || failed_);
}

mock::Transaction& SessionOfStore::transaction() {
  if (transaction_ != nullptr) return *transaction_;
  mock::Store::BeginOptions options;
  options.level = isolation().level;
  options.policy = now_->policy;
  // What waits for a lock in a database waits here for its turn.
  const auto limit = dialect_.turn_limit_ms(now_->settings);
  const auto start = std::chrono::steady_clock::now();
  const auto too_long = [&] {
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    return limit > 0 && took.count() >= limit;
  };
  options.give_up = [&] { return facts_.cancelled() || facts_.timed_out() || too_long(); };
  transaction_ = store_.begin(number_, options);
  if (transaction_ == nullptr) {
    facts_.check_interrupts();
    if (too_long()) raise("55P03", dialect_.turn_limit_message());
    raise("57P01", "the mock is shutting down");
  }
  ++begun_;
  facts_.now = now_microseconds();
  return *transaction_;
}

void SessionOfStore::start_statement() {
  transaction().begin_statement(text_);
  auto& locking = facts_.locking;
  locking.locks = store_.locks();
  const bool strict = catalog_.level() == mock::Level::kStrictSerializable;
  locking.strong = store_.is_of_product() || strict;
  locking.snapshot_filters = store_.locks_by_snapshot() || strict;
  locking.gaps =
      store_.locks_gaps() && isolation().level.value_or(catalog_.level()) > mock::Level::kCausal;
  locking.limit_ms = dialect_.turn_limit_ms(now_->settings);
  locking.limit_message = dialect_.turn_limit_message();
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
    if (rules_.fail_with_statement) {
      failed_ = block_;
      if (!block_) settle_settings(false);
    } else {
      block_ = false;
    }
    return;
  }
  if (!rules_.fail_with_statement) {
    if (!block_ && autocommit_) end_quietly();
    return;
  }
  if (!block_) {
    end_quietly();
    settle_settings(false);
    return;
  }
  failed_ = true;
  // It is of no use any more, unless there is a savepoint to go back to.
  if (savepoints_.empty()) {
    const auto isolation = isolation_;
    end_quietly();
    isolation_ = isolation;
  }
}

Session::Run SessionOfStore::run(std::string_view text) {
  Run all;
  const Cancellable cancellable(facts_);
  try {
    given_.clear();
    text_ = text;
    const auto list = dialect_.statements(text);
    implicit_ = rules_.span_text && list.size() > 1;
    for (const auto& parsed : list) all.results.push_back(perform(parsed, {}, {}));
    if (implicit_ && !block_) commit();
  } catch (const SqlException& exception) {
    take_error(exception);
    all.error = dialect_.reported(exception.error);
  }
  implicit_ = false;
  return all;
}

std::variant<std::unique_ptr<Prepared>, Error> SessionOfStore::prepare(
    std::string_view text, std::span<const Type> types, std::span<const Type> otherwise) {
  try {
    auto made = std::make_unique<PreparedStatement>();
    made->text = text;
    auto list = dialect_.statements(text);
    if (list.size() > 1)
      raise("42601", "cannot insert multiple commands into a prepared statement");
    made->types.assign(types.begin(), types.end());
    if (!list.empty()) {
      made->parsed = std::move(list[0]);
      if (made->parsed.statement) {
        const auto& tree = made->parsed.statement->tree;
        const bool ends = kind_of(tree) == "TransactionStmt";
        if (failed_ && !ends) {
          raise("25P02",
                "current transaction is aborted, commands ignored until end of transaction block");
        }
        if (!literals()) complete(tree, made->types, otherwise);
        if (const auto planned = plan(tree, catalog_, dialect_, made->types)) {
          made->shape = planned->columns;
          made->rows = planned->has_rows;
          made->word = planned->command;
        } else {
          made->word = std::string(kind_of(tree));
          if (made->word == "VariableShowStmt") {
            made->rows = true;
            made->word = "SHOW";
            made->shape = {
                {shown_name(base::to_lower(text_of(body_of(tree), "name"))), Type::kText, ""}};
          }
        }
      } else {
        made->word = made->parsed.own->command();
        made->rows = made->parsed.own->has_rows();
      }
    }
    for (auto& type : made->types) {
      if (type == Type::kNull) type = Type::kText;
    }
    return made;
  } catch (const SqlException& exception) {
    // PostgreSQL fails the transaction here too.
    take_error(exception);
    return dialect_.reported(exception.error);
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
    if (!statement.parsed.statement && !statement.parsed.own) return Result{};
    given_.clear();
    text_ = statement.text;
    for (std::size_t at = 0; literals() && at < parameters.size(); ++at) {
      given_.push_back(literal(parameters[at], at < sent.size() ? sent[at] : Type::kText));
    }
    return perform(statement.parsed, parameters, statement.types);
  } catch (const SqlException& exception) {
    take_error(exception);
    return dialect_.reported(exception.error);
  }
}

Result SessionOfStore::perform(const ParsedStatement& parsed, std::span<const Datum> parameters,
                               const std::vector<Type>& types) {
  const bool ending = parsed.statement && kind_of(parsed.statement->tree) == "TransactionStmt";
  if (failed_ && !ending) {
    raise("25P02",
          "current transaction is aborted, commands ignored until end of transaction block");
  }
  facts_.until.reset();
  const bool select = parsed.statement && kind_of(parsed.statement->tree) == "SelectStmt";
  if (const auto limit = dialect_.statement_limit_ms(now_->settings, select); limit > 0) {
    facts_.until = std::chrono::steady_clock::now() +
                   std::chrono::microseconds(static_cast<std::int64_t>(1000 * limit));
  }
  facts_.check_interrupts();
  // A statement that fails alone in an open transaction takes back its own writes only: all there
  // are, if the transaction began with it.
  const bool open = !rules_.fail_with_statement && (block_ || !autocommit_) && !ending;
  if (!open) {
    auto result = perform_in_block(parsed, parameters, types);
    std::erase_if(result.notices,
                  [&](const Notice& notice) { return !dialect_.shows(notice, now_->settings); });
    return result;
  }
  const auto before = transaction_ != nullptr ? transaction_->savepoint() : 0;
  const auto begun = begun_;
  try {
    return perform_in_block(parsed, parameters, types);
  } catch (const SqlException& exception) {
    if (!exception.ended && transaction_ != nullptr && !transaction_->failure()) {
      transaction_->rollback_to(begun_ == begun ? before : 0);
    }
    throw;
  }
}

Result SessionOfStore::perform_in_block(const ParsedStatement& parsed,
                                        std::span<const Datum> parameters,
                                        const std::vector<Type>& types) {
  std::optional<Result> result;
  if (parsed.own) return parsed.own->run(*this);
  if (auto made = control(*parsed.statement)) {
    if (!in_transaction()) settle_settings(true);
    return *made;
  }
  const bool schema = is_schema_statement(parsed.statement->tree);
  if (schema && rules_.end_at_schema_changes) {
    commit();
    block_ = false;
  }
  result = data(*parsed.statement, parameters, types);
  const bool stays = block_ || implicit_ || (!autocommit_ && !schema);
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
    return change_schema(tree, catalog_, dialect_, undo_, context);
  }
  const auto given = types.size();
  const auto planned = plan(tree, catalog_, dialect_, types, literals() ? &given_ : nullptr);
  if (!planned) not_a_statement_here(tree);
  if (types.size() > given) raise("42P02", fmt::format("there is no parameter ${}", given + 1));
  if (planned->writes) read_only(planned->command);
  if (!planned->locks.empty() && rules_.locks_are_writes) read_only(planned->locks);
  start_statement();
  ExecutionContext context(transaction(), catalog_, facts_, sql::run);
  for (std::size_t at = 0; !literals() && at < parameters.size(); ++at) {
    context.parameters.push_back(parameters[at] ? from_text(*parameters[at], {types[at]})
                                                : Scalar());
  }
  auto result = sql::run(*planned, context);
  if (result.last_insert_id != 0 && !result.given_insert_id) {
    facts_.last_insert_id = result.last_insert_id;
  }
  return result;
}

std::optional<Result> SessionOfStore::control(const Statement& statement) {
  const auto kind = kind_of(statement.tree);
  const auto& body = body_of(statement.tree);
  if (kind == "TransactionStmt") return transaction_statement(body);
  if (kind == "VariableSetStmt") return set_statement(body);
  if (kind == "VariableShowStmt") {
    const auto name = base::to_lower(text_of(body, "name"));
    if (name == "all") not_supported("SHOW ALL");
    Result result;
    result.has_rows = true;
    result.columns.push_back({shown_name(name), Type::kText, ""});
    result.rows.push_back({setting(name)});
    result.tag = "SHOW";
    return result;
  }
  if (kind == "DiscardStmt") {
    if (in_transaction()) raise("25001", "DISCARD ALL cannot run inside a transaction block");
    forget_settings();
    if (deallocate_) deallocate_(std::nullopt);
    Result result;
    result.tag = "DISCARD ALL";
    return result;
  }
  if (kind == "DeallocateStmt" && rules_.deallocate) {
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

void SessionOfStore::begin() {
  const auto next = transaction_ == nullptr ? isolation_ : std::nullopt;  // SET TRANSACTION
  commit();
  isolation_ = next;
  block_ = true;
}

void SessionOfStore::set_autocommit(bool wanted) {
  if (wanted && !autocommit_) {
    block_ = false;
    autocommit_ = true;
    commit();
  }
  autocommit_ = wanted;
}

void SessionOfStore::set_isolation(const Isolation& isolation, Scope scope) {
  if (scope == Scope::kTransaction) {
    isolation_ = isolation;
  } else {
    change([&](Configuration& all) { all.isolation = isolation; });
  }
}

std::vector<std::string> SessionOfStore::tables() const {
  std::vector<std::string> names;
  for (const auto& table : catalog_.all()) names.push_back(table->name);
  return names;
}

// "read committed" and so on, of the standard: at least what the database of that name
// gives, and no weaker than the mock's own level.
mock::Level SessionOfStore::level_for(const std::string& name) const {
  return std::max(dialect_.least_level(name), catalog_.level());
}

void SessionOfStore::transaction_options(const Tree& options, bool session) {
  auto made = session ? now_->isolation : isolation();
  for (const auto& option : options) {
    const auto& body = body_of(option);
    check_fields(body, "a transaction's option", {"defname", "arg", "defaction"});
    const auto name = text_of(body, "defname");
    const auto& value = body_of(field(body, "arg"));
    if (name == "transaction_isolation") {
      const auto wanted = dialect_.isolation_from(name, text_of(field(value, "sval"), "sval"));
      if (!session && transaction_ != nullptr && wanted != made.name) {
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
  set_isolation(made, session ? Scope::kSession : Scope::kTransaction);
}

Result SessionOfStore::transaction_statement(const Tree& body) {
  check_fields(body, "a transaction's statement", {"kind", "options", "savepoint_name"});
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
    if (!block_ && rules_.control_needs_block) {
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
    if (!block_ && rules_.control_needs_block && !implicit_) {
      raise("25P01", "SAVEPOINT can only be used in transaction blocks");
    }
    result.tag = "SAVEPOINT";
    if (!block_ && !implicit_ && autocommit_) return result;  // it ends with its statement
    if (rules_.savepoints_replace) {
      std::erase_if(savepoints_, [&](const Savepoint& one) { return one.name == name; });
    }
    const auto at = transaction().savepoint();
    savepoints_.push_back({name, at, undo_.size(), now_, lasting_});
    result.tag = "SAVEPOINT";
  } else if (kind == "TRANS_STMT_RELEASE") {
    aborted();
    if (!block_ && rules_.control_needs_block)
      raise("25P01", "RELEASE SAVEPOINT can only be used in transaction blocks");
    savepoints_.erase(find(), savepoints_.end());
    result.tag = "RELEASE";
  } else if (kind == "TRANS_STMT_ROLLBACK_TO") {
    if (!block_ && rules_.control_needs_block) {
      raise("25P01", "ROLLBACK TO SAVEPOINT can only be used in transaction blocks");
    }
    const auto found = find();
    if (transaction_ == nullptr || transaction_->failure()) raise_ended(std::nullopt);
    transaction_->rollback_to(found->at);
    undo_to(found->undone);
    if (rules_.undo_settings) {
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

std::string SessionOfStore::setting(const std::string& name) const {
  if (const auto known = dialect_.transaction_setting(name); known && known->shown) {
    const auto& of = known->session ? now_->isolation : isolation();
    switch (known->of) {
      case TransactionSetting::Of::kIsolation:
        return dialect_.isolation_text(of.name);
      case TransactionSetting::Of::kReadOnly:
        return dialect_.boolean_text(of.read_only);
      case TransactionSetting::Of::kDeferrable:
        return dialect_.boolean_text(of.deferrable);
    }
  }
  if (name == "cupel.level")
    return std::string(mock::name(isolation().level.value_or(catalog_.level())));
  if (name == "cupel.database") return now_->database;
  if (rules_.autocommit_setting && name == "autocommit") {
    return dialect_.boolean_text(autocommit_);
  }
  const auto found = now_->settings.find(name);
  if (found != now_->settings.end()) return found->second;
  if (own_names_.contains(name)) return "";
  throw dialect_.unknown_setting(name);
}

// transaction_isolation and its like.
void SessionOfStore::set_transaction_setting(const TransactionSetting& setting,
                                             const std::string& name, const std::string& value,
                                             bool local) {
  Isolation wanted;
  const auto take = [&](Isolation& made) {
    switch (setting.of) {
      case TransactionSetting::Of::kIsolation:
        made.name = wanted.name;
        made.level = wanted.level;
        break;
      case TransactionSetting::Of::kReadOnly:
        made.read_only = wanted.read_only;
        break;
      case TransactionSetting::Of::kDeferrable:
        made.deferrable = wanted.deferrable;
        break;
    }
  };
  if (setting.of == TransactionSetting::Of::kIsolation) {
    wanted.name = dialect_.isolation_from(name, value);
    wanted.level = level_for(wanted.name);
  } else {
    wanted.read_only = wanted.deferrable = dialect_.boolean_from(name, value);
  }
  if (setting.session) {
    change([&](Configuration& all) { take(all.isolation); }, local);
    return;
  }
  if (!in_transaction()) return;  // of this statement's own transaction, and gone with it
  if (transaction_ != nullptr) check_before_reads(setting, wanted);
  isolation_ = isolation();
  take(*isolation_);
}

// What a transaction that has begun its reads cannot change any more.
void SessionOfStore::check_before_reads(const TransactionSetting& setting,
                                        const Isolation& wanted) const {
  switch (setting.of) {
    case TransactionSetting::Of::kIsolation:
      if (wanted.name != isolation().name) {
        raise("25001", "SET TRANSACTION ISOLATION LEVEL must be called before any query");
      }
      break;
    case TransactionSetting::Of::kReadOnly:
      if (isolation().read_only && !wanted.read_only) {
        raise("25001", "transaction read-write mode must be set before any query");
      }
      break;
    case TransactionSetting::Of::kDeferrable:
      raise("25001", "SET TRANSACTION [NOT] DEFERRABLE must be called before any query");
  }
}

void SessionOfStore::set(const std::string& name, const std::string& value, bool local) {
  if (const auto known = dialect_.transaction_setting(name)) {
    set_transaction_setting(*known, name, value, local);
    return;
  }
  if (name == "cupel.level") {
    const auto level = mock::level_of(value);
    if (!level) raise("22023", fmt::format("no level of the mock is called \"{}\"", value));
    if (*level == mock::Level::kStrictSerializable && *level != catalog_.level()) {
      raise("22023", "strict-serializable is a level of the whole mock: start it with --level");
    }
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
  const auto checked = dialect_.checked_setting(
      name, value, now == now_->settings.end() ? std::string_view() : now->second);
  change([&](Configuration& all) { all.settings[name] = checked; }, local);
  if (name.find('.') != name.npos) own_names_.insert(name);
}

void SessionOfStore::reset_setting(const std::string& name) {
  dialect_.check_resettable(name);
  if (name == "transaction_isolation" || name == "transaction_read_only" ||
      name == "transaction_deferrable") {
    return set(name, name.ends_with("isolation") ? "read committed" : "off", false);
  }
  const auto first = first_.settings.find(name);
  const bool of_isolation = name == "cupel.level" || name == "default_transaction_isolation";
  const bool read_only = name == "default_transaction_read_only";
  const bool deferrable = name == "default_transaction_deferrable";
  const bool own = name.find('.') != name.npos && !name.starts_with("cupel.");
  if (own) own_names_.insert(name);  // as in PostgreSQL, known from then on
  if (first == first_.settings.end() && !of_isolation && !read_only && !deferrable && !own &&
      name != "cupel.policy") {
    throw dialect_.unknown_setting(name);
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
  check_fields(body, "SET", {"kind", "name", "args", "is_local"});
  Result result;
  result.tag = "SET";
  const auto kind = text_of(body, "kind");
  const auto name = base::to_lower(text_of(body, "name"));
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
    const auto value = dialect_.value_of_list(name, values);
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

}  // namespace

Catalog::Catalog(mock::Level level) : tables_(std::make_unique<Tables>(level)) {}
Catalog::~Catalog() = default;
void Catalog::reset() {
  tables_->reset();
}

std::unique_ptr<Session> Session::open(mock::Store& store, Catalog& catalog, Product product,
                                       std::string name) {
  return open(store, catalog, product, store.open_session(std::move(name)));
}

std::unique_ptr<Session> Session::open(mock::Store& store, Catalog& catalog, Product product,
                                       std::uint32_t session) {
  return std::make_unique<SessionOfStore>(store, catalog, dialect_of(product), session);
}

}  // namespace cupel::sql
