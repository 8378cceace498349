// Transactions, settings and prepared statements around the plans; see session.hpp.
#include "sql/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/text.hpp"
#include "sql/exec/query_run.hpp"
#include "sql/exec/run.hpp"
#include "sql/exec/schema.hpp"
#include "sql/parse/sql_words.hpp"

namespace cupel::sql {

namespace {

constexpr const char* kAborted =
    "current transaction is aborted, commands ignored until end of transaction block";

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
  Tree tree;  // null: an empty text
};

// Of a session or of a transaction: the standard's name as asked for, and what it means here.
struct Isolation {
  std::string name = "read committed";
  std::optional<mock::Level> level = {};
  bool read_only = false;
  bool deferrable = false;  // without effect

  void take(const Isolation& other, TransactionSetting::Of what) {
    switch (what) {
      case TransactionSetting::Of::kIsolation:
        name = other.name;
        level = other.level;
        break;
      case TransactionSetting::Of::kReadOnly:
        read_only = other.read_only;
        break;
      case TransactionSetting::Of::kDeferrable:
        deferrable = other.deferrable;
        break;
    }
  }
};

// The least that PostgreSQL gives for the standard's name.
mock::Level least_level(const std::string& isolation) {
  if (isolation == "repeatable read") return mock::Level::kStrongSessionSnapshotIsolation;
  if (isolation == "serializable") return mock::Level::kStrongSessionSerializable;
  return mock::Level::kReadCommitted;
}

// What SET changes. Never changed once it is shared: ROLLBACK goes back to an old one.
struct Configuration {
  Settings settings = first_settings();
  Isolation isolation;  // of the transactions to come
  std::optional<mock::Policy> policy;
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

Result result_of(std::string tag) {
  Result result;
  result.tag = std::move(tag);
  return result;
}

class SessionOfStore : public Session {
 public:
  SessionOfStore(mock::Store& store, Catalog& catalog, std::uint32_t number)
      : store_(store), catalog_(catalog.tables()), number_(number) {
    facts_.version = kVersion;
    facts_.setting = [this](const std::string& name) { return setting(name); };
    facts_.configure = [this](const std::string& name, const std::string& value, bool local) {
      set(name, value, local);
      return setting(name);
    };
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
  std::variant<Result, Error> execute(const Prepared& prepared,
                                      std::span<const Datum> parameters) override;
  [[nodiscard]] TransactionState state() const override {
    return failed_  ? TransactionState::kFailed
           : block_ ? TransactionState::kOpen
                    : TransactionState::kIdle;
  }
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
  [[nodiscard]] std::optional<Idle> idle_limit() const override {
    return sql::idle_limit(now_->settings, block_ || failed_);
  }
  void on_deallocate(Deallocate deallocate) override { deallocate_ = std::move(deallocate); }

 private:
  // Transactions of the store.
  mock::Transaction& transaction();
  void start_statement();
  void commit();
  void end_quietly();
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
  Result deallocate(const std::string& name);
  void check_not_failed() const {
    if (failed_) raise("25P02", kAborted);
  }
  void need_block(const char* what) const {
    if (!block_) raise("25P01", fmt::format("{} can only be used in transaction blocks", what));
  }
  void take_error(const SqlException& exception);

  // Settings.
  void forget_settings() {
    now_ = lasting_ = before_ = std::make_shared<Configuration>(first_);
    isolation_.reset();
  }
  // The end of a transaction: what SET LOCAL did goes, and if it is rolled back what SET did.
  void settle_settings(bool committed) {
    if (!committed) lasting_ = before_;
    now_ = before_ = lasting_;
  }
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
  [[nodiscard]] const Isolation& isolation() const {
    return isolation_ ? *isolation_ : now_->isolation;
  }
  [[nodiscard]] bool in_transaction() const { return block_ || implicit_; }
  [[nodiscard]] std::string setting(const std::string& name) const;
  void set(const std::string& name, const std::string& value, bool local);
  void set_level(const std::string& value, bool local);
  void set_of_transaction(const TransactionSetting& setting, const std::string& name,
                          const std::string& value, bool local);
  void set_transaction_options(const Tree& options, const std::string& prefix);
  void reset_setting(const std::string& name);

  mock::Store& store_;
  Tables& catalog_;
  Deallocate deallocate_;
  std::string text_;  // of the statement that runs, with those that came together with it
  std::uint32_t number_;
  SessionFacts facts_;
  Configuration first_;       // as the client asked for when it connected
  ConfigurationPtr now_;      // in effect
  ConfigurationPtr lasting_;  // after a COMMIT
  ConfigurationPtr before_;   // the transaction
  // The application's settings that ever were: known from then on, as in PostgreSQL.
  std::set<std::string, std::less<>> own_names_;

  std::unique_ptr<mock::Transaction> transaction_;
  std::vector<std::function<void()>> undo_;  // of the catalog
  std::vector<Savepoint> savepoints_;
  bool block_ = false;  // between BEGIN and COMMIT
  bool failed_ = false;
  bool implicit_ = false;               // several statements in one text
  std::optional<Isolation> isolation_;  // of the transaction, or of the next
};

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

mock::Transaction& SessionOfStore::transaction() {
  if (transaction_ != nullptr) return *transaction_;
  mock::Store::BeginOptions options;
  options.level = isolation().level;
  options.policy = now_->policy;
  // What waits for a lock in a database waits here for its turn.
  const auto limit = milliseconds_of(now_->settings, "lock_timeout");
  const auto start = std::chrono::steady_clock::now();
  const auto too_long = [&] {
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    return limit > 0 && took.count() >= limit;
  };
  options.give_up = [&] { return facts_.cancelled() || facts_.timed_out() || too_long(); };
  transaction_ = store_.begin(number_, options);
  if (transaction_ == nullptr) {
    facts_.check_interrupts();
    if (too_long()) raise("55P03", kLockTimeout);
    raise("57P01", "the mock is shutting down");
  }
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
  locking.limit_ms = milliseconds_of(now_->settings, "lock_timeout");
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
  const bool ended =
      exception.ended || (transaction_ != nullptr && transaction_->failure().has_value());
  if (ended) {
    undo_to(0);
    transaction_.reset();
  }
  failed_ = block_;
  if (!block_) {
    end_quietly();
    settle_settings(false);
  } else if (ended || savepoints_.empty()) {
    // It is of no use any more, unless there is a savepoint to go back to.
    const auto isolation = isolation_;
    end_quietly();
    if (!ended) isolation_ = isolation;
  }
}

Session::Run SessionOfStore::run(std::string_view text) {
  Run all;
  const Cancellable cancellable(facts_);
  try {
    text_ = text;
    const auto statements = parse(text);
    implicit_ = statements.size() > 1;
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
    std::string_view text, std::span<const Type> types, std::span<const Type> otherwise) {
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
      complete(tree, made->types, otherwise);
      if (const auto planned = plan(tree, catalog_, made->types)) {
        made->shape = planned->columns;
        made->rows = planned->has_rows;
        made->word = planned->command;
      } else if (kind == "VariableShowStmt") {
        made->rows = true;
        made->word = "SHOW";
        const auto name = shown_name(base::to_lower(text_of(body_of(tree), "name")));
        made->shape = {{name, Type::kText, ""}};
      } else {
        made->word = std::string(kind);
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

std::variant<Result, Error> SessionOfStore::execute(const Prepared& prepared,
                                                    std::span<const Datum> parameters) {
  const auto& statement = dynamic_cast<const PreparedStatement&>(prepared);
  const Cancellable cancellable(facts_);
  try {
    if (parameters.size() != statement.types.size()) {
      raise("08P01", fmt::format("{} parameters given, {} needed", parameters.size(),
                                 statement.types.size()));
    }
    if (statement.tree.is_null()) return Result{};
    text_ = statement.text;
    return perform(statement.tree, parameters, statement.types);
  } catch (const SqlException& exception) {
    take_error(exception);
    return exception.error;
  }
}

Result SessionOfStore::perform(const Tree& tree, std::span<const Datum> parameters,
                               const std::vector<Type>& types) {
  if (kind_of(tree) != "TransactionStmt") check_not_failed();
  facts_.until.reset();
  if (const auto limit = milliseconds_of(now_->settings, "statement_timeout"); limit > 0) {
    facts_.until = std::chrono::steady_clock::now() +
                   std::chrono::microseconds(static_cast<std::int64_t>(1000 * limit));
  }
  facts_.check_interrupts();
  auto result = control(tree);
  if (result) {
    if (!in_transaction()) settle_settings(true);
  } else {
    result = data(tree, parameters, types);
    if (!in_transaction()) commit();
  }
  const auto& least = now_->settings.at("client_min_messages");
  std::erase_if(result->notices, [&](const Notice& notice) {
    return least == "error" || (least == "warning" && !notice.warning);
  });
  return *result;
}

Result SessionOfStore::data(const Tree& tree, std::span<const Datum> parameters,
                            std::vector<Type> types) {
  const auto read_only = [&](const std::string& what) {
    if (isolation().read_only) {
      raise("25006", fmt::format("cannot execute {} in a read-only transaction", what));
    }
  };
  if (is_schema_statement(tree)) {
    read_only("a statement that changes the schema");
    (void)transaction();  // whose end decides what becomes of it
    return change_schema(tree, catalog_, undo_);
  }
  const auto given = types.size();
  const auto planned = plan(tree, catalog_, types);
  if (!planned) not_supported(in_sql(kind_of(tree)));
  if (types.size() > given) raise("42P02", fmt::format("there is no parameter ${}", given + 1));
  if (planned->writes) read_only(planned->command);
  if (!planned->locks.empty()) read_only(planned->locks);
  start_statement();
  ExecutionContext context(transaction(), catalog_, facts_, sql::run);
  for (std::size_t at = 0; at < parameters.size(); ++at) {
    context.parameters.push_back(parameters[at] ? from_text(*parameters[at], {types[at]})
                                                : Scalar());
  }
  return sql::run(*planned, context);
}

std::optional<Result> SessionOfStore::control(const Tree& tree) {
  const auto kind = kind_of(tree);
  const auto& body = body_of(tree);
  if (kind == "TransactionStmt") return transaction_statement(body);
  if (kind == "VariableSetStmt") return set_statement(body);
  if (kind == "VariableShowStmt") {
    const auto name = base::to_lower(text_of(body, "name"));
    auto result = result_of("SHOW");
    result.has_rows = true;
    result.columns.push_back({shown_name(name), Type::kText, ""});
    result.rows.push_back({setting(name)});
    return result;
  }
  if (kind == "DiscardStmt") {
    if (in_transaction()) raise("25001", "DISCARD ALL cannot run inside a transaction block");
    forget_settings();
    if (deallocate_) deallocate_(std::nullopt);
    return result_of("DISCARD ALL");
  }
  if (kind == "DeallocateStmt") return deallocate(text_of(body, "name"));
  return std::nullopt;
}

Result SessionOfStore::deallocate(const std::string& name) {
  if (name.empty()) {
    if (deallocate_) deallocate_(std::nullopt);
    return result_of("DEALLOCATE ALL");
  }
  if (!deallocate_ || !deallocate_(name)) {
    raise("26000", fmt::format("prepared statement \"{}\" does not exist", name));
  }
  return result_of("DEALLOCATE");
}

Result SessionOfStore::transaction_statement(const Tree& body) {
  check_fields(body, "a transaction's statement", {"kind", "options", "savepoint_name"});
  const auto kind = text_of(body, "kind");
  if (kind == "TRANS_STMT_BEGIN" || kind == "TRANS_STMT_START") {
    check_not_failed();
    auto result = result_of(kind == "TRANS_STMT_BEGIN" ? "BEGIN" : "START TRANSACTION");
    if (block_) {
      result.notices.push_back({"there is already a transaction in progress", "25001", true});
    }
    block_ = true;
    set_transaction_options(list(body, "options"), "");
    return result;
  }
  if (kind == "TRANS_STMT_COMMIT") return end_block(!failed_);
  if (kind == "TRANS_STMT_ROLLBACK") return end_block(false);
  return savepoint_statement(kind, text_of(body, "savepoint_name"));
}

Result SessionOfStore::end_block(bool keep) {
  auto result = result_of(keep ? "COMMIT" : "ROLLBACK");
  if (!block_) {
    result.notices.push_back({"there is no transaction in progress", "25P01", true});
  }
  block_ = failed_ = false;
  if (keep) {
    commit();
  } else {
    end_quietly();
    settle_settings(false);
  }
  return result;
}

Result SessionOfStore::savepoint_statement(const std::string& kind, const std::string& name) {
  const auto find = [&] {
    const auto found = std::find_if(savepoints_.rbegin(), savepoints_.rend(),
                                    [&](const Savepoint& one) { return one.name == name; });
    if (found == savepoints_.rend()) {
      raise("3B001", fmt::format("savepoint \"{}\" does not exist", name));
    }
    return found.base() - 1;
  };
  if (kind == "TRANS_STMT_SAVEPOINT") {
    check_not_failed();
    if (!implicit_) need_block("SAVEPOINT");
    const auto at = transaction().savepoint();
    savepoints_.push_back({name, at, undo_.size(), now_, lasting_});
    return result_of("SAVEPOINT");
  }
  if (kind == "TRANS_STMT_RELEASE") {
    check_not_failed();
    need_block("RELEASE SAVEPOINT");
    savepoints_.erase(find(), savepoints_.end());
    return result_of("RELEASE");
  }
  if (kind != "TRANS_STMT_ROLLBACK_TO") not_supported("two-phase commit");
  need_block("ROLLBACK TO SAVEPOINT");
  const auto found = find();
  if (transaction_ == nullptr || transaction_->failure()) raise_ended(std::nullopt);
  transaction_->rollback_to(found->at);
  undo_to(found->undone);
  now_ = found->now;
  lasting_ = found->lasting;
  savepoints_.erase(found + 1, savepoints_.end());
  failed_ = false;
  return result_of("ROLLBACK");
}

std::string SessionOfStore::setting(const std::string& name) const {
  if (const auto known = transaction_setting(name)) {
    const auto& of = known->session ? now_->isolation : isolation();
    if (known->of == TransactionSetting::Of::kIsolation) return of.name;
    const bool on = known->of == TransactionSetting::Of::kReadOnly ? of.read_only : of.deferrable;
    return on ? "on" : "off";
  }
  if (name == "cupel.level")
    return std::string(mock::name(isolation().level.value_or(catalog_.level())));
  const auto found = now_->settings.find(name);
  if (found != now_->settings.end()) return found->second;
  if (own_names_.contains(name)) return "";
  throw unknown_setting(name);
}

// transaction_isolation and its like.
void SessionOfStore::set_of_transaction(const TransactionSetting& setting, const std::string& name,
                                        const std::string& value, bool local) {
  using Of = TransactionSetting::Of;
  Isolation wanted;
  if (setting.of == Of::kIsolation) {
    wanted.name = checked_isolation(name, value);
    // No weaker than the mock's own level.
    wanted.level = std::max(least_level(wanted.name), catalog_.level());
  } else {
    wanted.read_only = wanted.deferrable = checked_boolean(name, value);
  }
  if (setting.session) {
    change([&](Configuration& all) { all.isolation.take(wanted, setting.of); }, local);
    return;
  }
  if (!in_transaction()) return;  // of this statement's own transaction, and gone with it
  if (transaction_ != nullptr) {  // whose reads have begun
    if (setting.of == Of::kIsolation && wanted.name != isolation().name) {
      raise("25001", "SET TRANSACTION ISOLATION LEVEL must be called before any query");
    }
    if (setting.of == Of::kReadOnly && isolation().read_only && !wanted.read_only) {
      raise("25001", "transaction read-write mode must be set before any query");
    }
    if (setting.of == Of::kDeferrable) {
      raise("25001", "SET TRANSACTION [NOT] DEFERRABLE must be called before any query");
    }
  }
  isolation_ = isolation();
  isolation_->take(wanted, setting.of);
}

// Those of BEGIN and SET TRANSACTION; `prefix`: "default_" for the session's.
void SessionOfStore::set_transaction_options(const Tree& options, const std::string& prefix) {
  for (const auto& option : options) {
    const auto& body = body_of(option);
    check_fields(body, "a transaction's option", {"defname", "arg", "defaction"});
    const auto name = prefix + text_of(body, "defname");
    const auto known = transaction_setting(name);
    if (!known) not_supported("the option " + name);
    const auto& value = body_of(field(body, "arg"));
    const auto text = has(value, "sval") ? text_of(value["sval"], "sval")
                      : number_of(field(value, "ival"), "ival") != 0 ? "on"
                                                                     : "off";
    set_of_transaction(*known, name, text, false);
  }
}

void SessionOfStore::set_level(const std::string& value, bool local) {
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
}

void SessionOfStore::set(const std::string& name, const std::string& value, bool local) {
  if (const auto known = transaction_setting(name)) {
    set_of_transaction(*known, name, value, local);
    return;
  }
  if (name == "cupel.level") return set_level(value, local);
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
      checked_setting(name, value, now == now_->settings.end() ? std::string_view() : now->second);
  change([&](Configuration& all) { all.settings[name] = checked; }, local);
  if (is_own_name(name)) own_names_.insert(name);
}

void SessionOfStore::reset_setting(const std::string& name) {
  check_changeable(name);
  const auto known = transaction_setting(name);
  if (known && !known->session) {
    const bool isolation = known->of == TransactionSetting::Of::kIsolation;
    return set(name, isolation ? "read committed" : "off", false);
  }
  change([&](Configuration& all) {
    const auto first = first_.settings.find(name);
    if (known) {
      all.isolation.take(first_.isolation, known->of);
    } else if (name == "cupel.level") {
      all.isolation.level = first_.isolation.level;
    } else if (name == "cupel.policy") {
      all.policy = first_.policy;
    } else if (first != first_.settings.end()) {
      all.settings[name] = first->second;
    } else if (is_own_name(name)) {
      all.settings[name] = "";
    } else {
      throw unknown_setting(name);
    }
  });
  if (is_own_name(name)) own_names_.insert(name);  // as in PostgreSQL, known from then on
}

// A value in SET, as text.
std::string set_value(const Tree& argument) {
  const auto& one = body_of(argument);
  if (has(one, "sval")) return text_of(one["sval"], "sval");
  if (has(one, "ival")) return std::to_string(number_of(one["ival"], "ival"));
  if (has(one, "fval")) return text_of(one["fval"], "fval");
  if (has(one, "boolval")) return flag_of(one["boolval"], "boolval") ? "on" : "off";
  not_supported("this value of SET");
}

Result SessionOfStore::set_statement(const Tree& body) {
  check_fields(body, "SET", {"kind", "name", "args", "is_local"});
  const auto kind = text_of(body, "kind");
  const auto name = base::to_lower(text_of(body, "name"));
  auto result = result_of(kind.starts_with("VAR_RESET") ? "RESET" : "SET");
  const auto outside_of_block = [&](const char* what) {
    result.notices.push_back(
        {fmt::format("{} can only be used in transaction blocks", what), "25P01", true});
  };
  if (kind == "VAR_SET_MULTI") {
    const bool session = name == "session characteristics";
    if (name == "transaction snapshot") not_supported("SET TRANSACTION SNAPSHOT");
    if (session || in_transaction()) {
      set_transaction_options(list(body, "args"), session ? "default_" : "");
    } else {
      outside_of_block("SET TRANSACTION");
    }
  } else if (kind == "VAR_SET_VALUE") {
    std::vector<std::string> values;
    for (const auto& argument : list(body, "args")) values.push_back(set_value(argument));
    const bool local = flag_of(body, "is_local");
    const bool alone = local && !in_transaction();
    if (alone) outside_of_block("SET LOCAL");
    set(name, value_of_list(name, values), local);  // and if it is alone it is settled at once
    if (alone) isolation_.reset();
  } else if (kind == "VAR_RESET_ALL") {
    change([&](Configuration& all) { all = first_; });
  } else if (kind == "VAR_RESET" || kind == "VAR_SET_DEFAULT") {
    reset_setting(name);
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

std::unique_ptr<Session> Session::open(mock::Store& store, Catalog& catalog, std::string name) {
  return open(store, catalog, store.open_session(std::move(name)));
}

std::unique_ptr<Session> Session::open(mock::Store& store, Catalog& catalog,
                                       std::uint32_t session) {
  return std::make_unique<SessionOfStore>(store, catalog, session);
}

}  // namespace cupel::sql
