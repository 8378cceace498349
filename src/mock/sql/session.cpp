// Transactions, settings and prepared statements around the plans; see session.hpp.
#include "mock/sql/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/text.hpp"
#include "mock/sql/exec/run.hpp"
#include "mock/sql/settings.hpp"

namespace cupel::sql {

namespace {

struct PreparedStatement : Prepared {
  std::string text;  // as it was prepared
  Tree tree;         // null: an empty text
};

struct Savepoint {
  std::string name;
  std::size_t at = 0;
  std::size_t undone = 0;
  Settings settings, local;
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

// A value in SET or BEGIN, as text.
std::string constant_text(const Tree& node) {
  const auto& one = body_of(node);
  if (has(one, "sval")) return text_of(one["sval"], "sval");
  if (has(one, "ival")) return std::to_string(number_of(one["ival"], "ival"));
  if (has(one, "fval")) return text_of(one["fval"], "fval");
  if (has(one, "boolval")) return flag_of(one["boolval"], "boolval") ? "on" : "off";
  not_supported("this value of a setting");
}

class SessionOfStore : public Session {
 public:
  SessionOfStore(mock::Store& store, Catalog& catalog, std::uint32_t number)
      : store_(store), catalog_(catalog.tables()), number_(number) {}
  ~SessionOfStore() override {
    end(false);
    store_.close_session(number_);
  }

  Run run(std::string_view text) override;
  std::variant<std::unique_ptr<Prepared>, Error> prepare(std::string_view text,
                                                         std::span<const Type> types) override;
  std::variant<Result, Error> execute(const Prepared& prepared,
                                      std::span<const Datum> parameters) override;
  [[nodiscard]] TransactionState state() const override {
    return failed_  ? TransactionState::kFailed
           : block_ ? TransactionState::kOpen
                    : TransactionState::kIdle;
  }
  [[nodiscard]] Cancel canceller() override {
    return [state = facts_.state] {
      auto expected = SessionFacts::State::kRunning;
      state->compare_exchange_strong(expected, SessionFacts::State::kCancelled);
    };
  }
  std::optional<Error> configure(const std::string& setting, const std::string& value) override;
  void on_deallocate(Deallocate deallocate) override { deallocate_ = std::move(deallocate); }

 private:
  // Transactions of the store.
  mock::Transaction& transaction();
  void start_statement();
  void begin_settings();
  void commit();
  void end(bool committed);
  void undo_to(std::size_t size);

  // Statements.
  Result perform(const Tree& tree, std::span<const Datum> parameters,
                 const std::vector<Type>& types);
  Result data(const Tree& tree, std::span<const Datum> parameters, std::vector<Type> types);
  std::optional<Result> control(const Tree& tree);
  Result transaction_statement(const Tree& body);
  Result end_block(bool keep);
  Result savepoint_statement(const std::string& kind, const std::string& name);
  Result set_statement(const Tree& body);
  void check_not_failed() const {
    if (failed_) raise("25P02", "current transaction is aborted, commands ignored until its end");
  }
  void need_block(const char* what) const {
    if (!block_) raise("25P01", "{} can only be used in transaction blocks", what);
  }
  void take_error(const SqlException& exception);

  // Settings.
  [[nodiscard]] bool in_transaction() const { return block_ || implicit_; }
  [[nodiscard]] std::string setting(const std::string& name) const;
  [[nodiscard]] bool read_only() const { return setting("transaction_read_only") == "on"; }
  [[nodiscard]] mock::Level level() const;
  void set(const std::string& name, const std::string& value, bool local);
  void put(const std::string& name, const std::string& value);
  void set_transaction_options(const Tree& options, const std::string& prefix);

  mock::Store& store_;
  Tables& catalog_;
  Deallocate deallocate_;
  std::string text_;  // of the statement that runs, with those that came together with it
  std::uint32_t number_;
  SessionFacts facts_;
  Settings first_ = first_settings();  // as the client asked for when it connected
  Settings settings_ = first_;
  Settings local_;                  // until the transaction ends, instead of those
  std::optional<Settings> before_;  // settings_ before the transaction, if it has changed them

  std::unique_ptr<mock::Transaction> transaction_;
  std::vector<std::function<void()>> undo_;  // of the catalog
  std::vector<Savepoint> savepoints_;
  bool block_ = false;  // between BEGIN and COMMIT
  bool failed_ = false;
  bool implicit_ = false;  // several statements in one text
};

std::optional<Error> SessionOfStore::configure(const std::string& setting,
                                               const std::string& value) {
  try {
    set(base::to_lower(setting), value, false);
    first_ = settings_;
    return std::nullopt;
  } catch (const SqlException& exception) {
    return exception.error;
  }
}

mock::Transaction& SessionOfStore::transaction() {
  if (transaction_ != nullptr) return *transaction_;
  mock::Store::BeginOptions options;
  options.level = level();
  options.policy = mock::policy_of(setting("cupel.policy"));
  // What waits for a lock in a database waits here for its turn.
  facts_.locking.limit_ms = milliseconds_of(setting("lock_timeout"));
  options.give_up = facts_.give_up();
  transaction_ = store_.begin(number_, options);
  if (transaction_ == nullptr) {
    if (options.give_up()) facts_.raise_given_up();
    raise("57P01", "the mock is shutting down");
  }
  facts_.now = now_microseconds();
  facts_.locking.gaps = store_.locks_gaps() && *options.level > mock::Level::kCausal;
  return *transaction_;
}

void SessionOfStore::start_statement() {
  transaction().begin_statement(text_);
  auto& locking = facts_.locking;
  locking.locks = store_.locks();
  const bool strict = catalog_.level() == mock::Level::kStrictSerializable;
  locking.strong = store_.is_versioned();
  locking.snapshot_filters = store_.locks_by_snapshot() || strict;
  locking.limit_ms = milliseconds_of(setting("lock_timeout"));
}

void SessionOfStore::undo_to(std::size_t size) {
  while (undo_.size() > size) {
    undo_.back()();
    undo_.pop_back();
  }
}

// Of a transaction, if there is one.
void SessionOfStore::end(bool committed) {
  if (!committed) {
    undo_to(0);
    if (transaction_ != nullptr) transaction_->rollback();
    if (before_) settings_ = *before_;
  }
  transaction_.reset();
  undo_.clear();
  savepoints_.clear();
  local_.clear();
  before_.reset();
}

void SessionOfStore::commit() {
  if (transaction_ != nullptr && !transaction_->commit()) {
    const auto failure = transaction_->failure();
    end(false);
    raise_ended(failure);
  }
  end(true);
}

// After an error in a statement.
void SessionOfStore::take_error(const SqlException& exception) {
  const bool ended =
      exception.ended || (transaction_ != nullptr && transaction_->failure().has_value());
  failed_ = block_;
  // It is of no use any more, unless there is a savepoint to go back to.
  if (!block_ || ended || savepoints_.empty()) end(false);
}

Session::Run SessionOfStore::run(std::string_view text) {
  Run all;
  const Cancellable cancellable(facts_);
  try {
    text_ = text;
    const auto statements = parse(text);
    implicit_ = statements.size() > 1;
    if (implicit_ && !block_) begin_settings();
    for (const auto& tree : statements) all.results.push_back(perform(tree, {}, {}));
    if (implicit_ && !block_) commit();
  } catch (const SqlException& exception) {
    take_error(exception);
    all.error = exception.error;
  }
  implicit_ = false;
  return all;
}

std::variant<std::unique_ptr<Prepared>, Error> SessionOfStore::prepare(
    std::string_view text, std::span<const Type> types) {
  try {
    auto made = std::make_unique<PreparedStatement>();
    made->text = text;
    auto statements = parse(text);
    if (statements.size() > 1)
      raise("42601", "cannot insert multiple commands into a prepared statement");
    made->types.assign(types.begin(), types.end());
    if (!statements.empty()) {
      const auto& tree = made->tree = std::move(statements[0]);
      const auto kind = kind_of(tree);
      if (kind != "TransactionStmt") check_not_failed();
      check_known(tree);
      if (const auto planned = plan(tree, catalog_, made->types)) {
        made->columns = planned->columns;
        made->has_rows = planned->has_rows;
        made->command = planned->command;
      } else if (kind == "VariableShowStmt") {
        made->has_rows = true;
        made->command = "SHOW";
        const auto name = base::to_lower(text_of(body_of(tree), "name"));
        made->columns = {{name, Type::kText}};
      } else if (kind == "TransactionStmt") {
        made->command =
            text_of(body_of(tree), "kind").substr(std::string_view("TRANS_STMT_").size());
      } else {
        made->command = in_sql(kind);
      }
    }
    std::replace(made->types.begin(), made->types.end(), Type::kNull, Type::kText);
    return made;
  } catch (const SqlException& exception) {
    // PostgreSQL fails the transaction here too.
    take_error(exception);
    return exception.error;
  }
}

namespace {

// For Transaction::begin_statement(); what is too long is cut.
std::string parameters_in_front(std::span<const Datum> parameters) {
  constexpr std::size_t kLongest = 40, kLongestOfAll = 200;
  if (parameters.empty()) return {};
  std::string text;
  for (std::size_t i = 0; i < parameters.size() && text.size() < kLongestOfAll; ++i) {
    text += fmt::format("{}${} = ", i == 0 ? "" : ", ", i + 1);
    if (!parameters[i]) {
      text += "NULL";
      continue;
    }
    auto size = std::min(parameters[i]->size(), kLongest);
    while (size > 0 && size < parameters[i]->size() &&
           (static_cast<unsigned char>((*parameters[i])[size]) & 0xc0) == 0x80)
      --size;
    const bool whole = size == parameters[i]->size();
    text += fmt::format("'{}{}'", parameters[i]->substr(0, size), whole ? "" : "…");
  }
  return fmt::format("{0}{1}{0}", mock::kParametersMark, text);
}

}  // namespace

std::variant<Result, Error> SessionOfStore::execute(const Prepared& prepared,
                                                    std::span<const Datum> parameters) {
  const auto& statement = dynamic_cast<const PreparedStatement&>(prepared);
  const Cancellable cancellable(facts_);
  try {
    if (parameters.size() != statement.types.size()) {
      raise("08P01", "{} parameters given, {} needed", parameters.size(), statement.types.size());
    }
    if (statement.tree.is_null()) return Result{};
    text_ = parameters_in_front(parameters) + statement.text;
    return perform(statement.tree, parameters, statement.types);
  } catch (const SqlException& exception) {
    take_error(exception);
    return exception.error;
  }
}

Result SessionOfStore::perform(const Tree& tree, std::span<const Datum> parameters,
                               const std::vector<Type>& types) {
  if (kind_of(tree) != "TransactionStmt") check_not_failed();
  check_known(tree);
  facts_.until.reset();
  if (const auto limit = milliseconds_of(setting("statement_timeout")); limit > 0) {
    facts_.until = std::chrono::steady_clock::now() +
                   std::chrono::microseconds(static_cast<std::int64_t>(1000 * limit));
  }
  facts_.check_interrupts();
  if (auto result = control(tree)) return *result;
  auto result = data(tree, parameters, types);
  if (!in_transaction()) commit();
  return result;
}

Result SessionOfStore::data(const Tree& tree, std::span<const Datum> parameters,
                            std::vector<Type> types) {
  const auto needs_writing = [&](const std::string& what) {
    if (!read_only()) return;
    raise("25006", "cannot execute {} in a read-only transaction", what);
  };
  const auto given = types.size();
  const auto planned = plan(tree, catalog_, types);
  if (!planned) {
    needs_writing("a statement that changes the schema");
    (void)transaction();  // whose end decides what becomes of it
    return change_schema(tree, catalog_, undo_);
  }
  if (types.size() > given) raise("42P02", "there is no parameter ${}", given + 1);
  if (planned->writes) needs_writing(planned->command);
  if (!planned->locks.empty()) needs_writing(planned->locks);
  start_statement();
  ExecutionContext context(transaction(), catalog_, facts_, sql::run);
  for (std::size_t at = 0; at < parameters.size(); ++at) {
    context.parameters.push_back(parameters[at] ? from_text(*parameters[at], {types[at]})
                                                : Scalar());
  }
  auto result = sql::run(*planned, context);
  if (!planned->locks.empty() && !store_.locks() && !catalog_.ignores_locks.exchange(true)) {
    result.notices.push_back(
        {planned->locks + " locks no row here; with --locks honoured it does"});
  }
  return result;
}

std::optional<Result> SessionOfStore::control(const Tree& tree) {
  const auto kind = kind_of(tree);
  const auto& body = body_of(tree);
  if (kind == "TransactionStmt") return transaction_statement(body);
  if (kind == "VariableSetStmt") return set_statement(body);
  if (kind == "VariableShowStmt") {
    const auto name = base::to_lower(text_of(body, "name"));
    const auto value = name == "cupel.level" ? std::string(mock::name(level())) : setting(name);
    return Result{
        .tag = "SHOW", .has_rows = true, .columns = {{name, Type::kText}}, .rows = {{value}}};
  }
  if (kind == "DiscardStmt") {
    if (in_transaction()) raise("25001", "DISCARD ALL cannot run inside a transaction block");
    settings_ = first_;
    if (deallocate_) deallocate_(std::nullopt);
    return Result{.tag = "DISCARD ALL"};
  }
  if (kind == "DeallocateStmt") {
    const auto name = text_of(body, "name");  // empty: all
    const bool done = deallocate_ && deallocate_(name.empty() ? std::nullopt : std::optional(name));
    if (done || name.empty()) {
      return Result{.tag = name.empty() ? "DEALLOCATE ALL" : "DEALLOCATE"};
    }
    raise("26000", "prepared statement \"{}\" does not exist", name);
  }
  return std::nullopt;
}

Result SessionOfStore::transaction_statement(const Tree& body) {
  const auto kind = text_of(body, "kind");
  if (kind == "TRANS_STMT_BEGIN" || kind == "TRANS_STMT_START") {
    check_not_failed();
    Result result{.tag = kind == "TRANS_STMT_BEGIN" ? "BEGIN" : "START TRANSACTION"};
    if (block_) {
      result.notices.push_back({"there is already a transaction in progress", "25001", true});
    }
    if (!in_transaction()) begin_settings();
    block_ = true;
    set_transaction_options(list(body, "options"), "transaction_");
    return result;
  }
  if (kind == "TRANS_STMT_COMMIT") return end_block(!failed_);
  if (kind == "TRANS_STMT_ROLLBACK") return end_block(false);
  return savepoint_statement(kind, text_of(body, "savepoint_name"));
}

Result SessionOfStore::end_block(bool keep) {
  Result result{.tag = keep ? "COMMIT" : "ROLLBACK"};
  if (!block_) {
    result.notices.push_back({"there is no transaction in progress", "25P01", true});
  }
  block_ = failed_ = false;
  if (keep) {
    commit();
  } else {
    end(false);
  }
  return result;
}

Result SessionOfStore::savepoint_statement(const std::string& kind, const std::string& name) {
  const auto find = [&] {
    const auto found = std::find_if(savepoints_.rbegin(), savepoints_.rend(),
                                    [&](const Savepoint& one) { return one.name == name; });
    if (found == savepoints_.rend()) {
      raise("3B001", "savepoint \"{}\" does not exist", name);
    }
    return found.base() - 1;
  };
  if (kind == "TRANS_STMT_SAVEPOINT") {
    check_not_failed();
    if (!implicit_) need_block("SAVEPOINT");
    const auto at = transaction().savepoint();
    savepoints_.push_back({name, at, undo_.size(), settings_, local_});
    return Result{.tag = "SAVEPOINT"};
  }
  if (kind == "TRANS_STMT_RELEASE") {
    check_not_failed();
    need_block("RELEASE SAVEPOINT");
    savepoints_.erase(find(), savepoints_.end());
    return Result{.tag = "RELEASE"};
  }
  if (kind != "TRANS_STMT_ROLLBACK_TO") not_supported("two-phase commit");
  need_block("ROLLBACK TO SAVEPOINT");
  const auto found = find();
  if (transaction_->failure()) raise_ended(std::nullopt);
  transaction_->rollback_to(found->at);
  undo_to(found->undone);
  settings_ = found->settings;
  local_ = found->local;
  savepoints_.erase(found + 1, savepoints_.end());
  failed_ = false;
  return Result{.tag = "ROLLBACK"};
}

std::string SessionOfStore::setting(const std::string& name) const {
  if (const auto found = local_.find(name); found != local_.end()) return found->second;
  if (name.starts_with("transaction_")) return setting("default_" + name);
  const auto found = settings_.find(name);
  if (found == settings_.end()) not_supported("the setting {}", name);
  return found->second;
}

// cupel.level instead of the mock's own, but no weaker than PostgreSQL has it.
mock::Level SessionOfStore::level() const {
  const auto isolation = setting("transaction_isolation");
  const auto least = isolation == "serializable"      ? mock::Level::kStrongSessionSerializable
                     : isolation == "repeatable read" ? mock::Level::kStrongSessionSnapshotIsolation
                                                      : mock::Level::kReadCommitted;
  return std::max(least, mock::level_of(setting("cupel.level")).value_or(catalog_.level()));
}

// What SET default_transaction_… does in a transaction is not for this one.
void SessionOfStore::begin_settings() {
  for (const std::string name : {"transaction_isolation", "transaction_read_only"}) {
    local_[name] = setting(name);
  }
}

void SessionOfStore::set(const std::string& name, const std::string& value, bool local) {
  const auto checked = checked_setting(name, value);
  const bool of_transaction = name.starts_with("transaction_");
  if (name == "cupel.level") {
    const auto level = mock::level_of(value);
    if (!level) raise("22023", "no level of the mock is called \"{}\"", value);
    const bool whole = store_.is_versioned() || *level == mock::Level::kStrictSerializable;
    if (whole && *level != catalog_.level())
      raise("22023", "this level is that of the whole mock: start it with --level");
  }
  if (transaction_ != nullptr && (of_transaction || (local && name == "cupel.level")) &&
      checked != setting(name) && checked != "on") {
    raise("25001", "{} must be set before any query", name);
  }
  if (local || of_transaction) {
    if (in_transaction()) local_[name] = checked;  // else gone with the statement
    return;
  }
  put(name, checked);
}

void SessionOfStore::put(const std::string& name, const std::string& value) {
  if (in_transaction() && !before_) before_ = settings_;
  settings_[name] = value;
  local_.erase(name);
}

// Those of BEGIN and SET TRANSACTION, or with "default_transaction_" of the session.
void SessionOfStore::set_transaction_options(const Tree& options, const std::string& prefix) {
  for (const auto& option : options) {
    const auto& body = body_of(option);
    const auto name = text_of(body, "defname");  // "transaction_isolation"
    set(prefix + name.substr(name.find('_') + 1), constant_text(field(body, "arg")), false);
  }
}

Result SessionOfStore::set_statement(const Tree& body) {
  const auto kind = text_of(body, "kind");
  const auto name = base::to_lower(text_of(body, "name"));
  Result result{.tag = kind.starts_with("VAR_RESET") ? "RESET" : "SET"};
  const auto outside_of_block = [&](const char* what) {
    result.notices.push_back(
        {fmt::format("{} can only be used in transaction blocks", what), "25P01", true});
  };
  if (kind == "VAR_SET_MULTI") {
    const bool session = name == "session characteristics";
    if (!session && !in_transaction()) outside_of_block("SET TRANSACTION");
    if (session && flag_of(body, "is_local")) not_supported("SET LOCAL SESSION CHARACTERISTICS");
    set_transaction_options(list(body, "args"), session ? "default_transaction_" : "transaction_");
  } else if (kind == "VAR_SET_VALUE") {
    std::string value;
    for (const auto& argument : list(body, "args")) {
      value += (value.empty() ? "" : ", ") + constant_text(argument);
    }
    const bool local = flag_of(body, "is_local");
    if (local && !in_transaction()) outside_of_block("SET LOCAL");
    set(name, value, local);
  } else if (kind == "VAR_RESET_ALL") {
    for (const auto& [one, value] : first_) put(one, value);
  } else if (kind == "VAR_RESET" || kind == "VAR_SET_DEFAULT") {
    const auto first = first_.find(name);
    if (first == first_.end()) not_supported("RESET of {}", name);
    if (flag_of(body, "is_local")) not_supported("SET LOCAL … TO DEFAULT");
    put(name, first->second);
  } else {
    not_supported("SET … FROM CURRENT");
  }
  return result;
}

}  // namespace

Catalog::Catalog(mock::Level level) : tables_(std::make_unique<Tables>(level)) {}
Catalog::~Catalog() = default;
void Catalog::reset() {
  tables_->reset();
}
bool Catalog::ignored_locks() const {
  return tables_->ignores_locks;
}

std::unique_ptr<Session> Session::open(mock::Store& store, Catalog& catalog, std::string name) {
  return open(store, catalog, store.open_session(std::move(name)));
}

std::unique_ptr<Session> Session::open(mock::Store& store, Catalog& catalog,
                                       std::uint32_t session) {
  return std::make_unique<SessionOfStore>(store, catalog, session);
}

}  // namespace cupel::sql
