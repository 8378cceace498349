// Rows of the store, read when asked for; see the header.
#include "mock/sql/table/execution_context.hpp"

#include <algorithm>
#include <optional>

namespace cupel::sql {

namespace {

// Numbers with a fraction, times and text are text in the store, as people read them.
mock::Value stored(const Scalar& value, Type type) {
  if (is_null(value)) return {};
  if (type == Type::kBoolean) return mock::Value::of(std::int64_t{std::get<bool>(value)});
  if (is_integer(type)) return mock::Value::of(std::get<std::int64_t>(value));
  return mock::Value::of(to_text(value, type));
}

Scalar loaded(mock::Value value, const FullType& type) {
  if (value.kind == mock::Value::Kind::kNull) return {};
  if (value.kind == mock::Value::Kind::kInteger) {
    if (type.type == Type::kBoolean) return value.integer != 0;
    if (is_integer(type.type)) return value.integer;
    return from_text(std::to_string(value.integer), type);
  }
  if (is_string(type.type)) return std::move(value.text);
  return from_text(value.text, type);
}

}  // namespace

void raise_ended(const std::optional<mock::Failure>& failure) {
  Error error{"40001", "could not serialize access: the transaction was ended"};
  if (failure) {
    if (failure->kind == mock::Failure::Kind::kStopped) error.sqlstate = "57P01";
    if (failure->kind == mock::Failure::Kind::kDeadlock) error.sqlstate = "40P01";
    if (failure->kind == mock::Failure::Kind::kEnded) error.sqlstate = "25P03";
    error.message = failure->message;
  }
  throw SqlException{std::move(error), true};
}

StoredRow::StoredRow(ExecutionContext& context, TablePtr table, std::string key,
                     std::vector<Scalar> key_values)
    : context_(context),
      table_(std::move(table)),
      key_(std::move(key)),
      key_values_(std::move(key_values)),
      cells_(table_->columns.size()) {}

mock::Value StoredRow::read(const std::string& key) const {
  return context_.read(key, latest_ || context_.latest());
}

bool StoredRow::present() {
  // What a constraint reads is not what the statement's expressions see.
  const bool aside = context_.latest() && !latest_;
  if (present_ && !aside) return *present_;
  const auto value = read(key_);
  const bool there = value.kind == mock::Value::Kind::kInteger && value.integer != 0;
  if (!aside) present_ = there;
  return there;
}

void StoredRow::read_latest() {
  if (latest_) return;
  latest_ = true;
  present_.reset();
  std::fill(cells_.begin(), cells_.end(), std::nullopt);
}

bool StoredRow::lock(const RowLock& lock) {
  if (!context_.facts.locking.locks) return true;
  if (!context_.lock(key_, lock, table_->name)) return false;
  // Others may have changed it before this had the lock.
  latest_ = false;
  read_latest();
  return true;
}

void StoredRow::set_present(bool present) {
  context_.write(key_, mock::Value::of(std::int64_t{present}));
  present_ = present;
}

Scalar StoredRow::cell(std::size_t column) {
  if (const auto place = table_->in_key(column)) return key_values_[*place];
  const bool aside = context_.latest() && !latest_;
  if (cells_[column] && !aside) return *cells_[column];
  auto value = loaded(read(table_->cell_key(key_, column)), table_->columns[column].type);
  if (!aside) cells_[column] = value;
  return value;
}

void StoredRow::set_cell(std::size_t column, const Scalar& value) {
  context_.write(table_->cell_key(key_, column), stored(value, table_->columns[column].type.type));
  cells_[column] = value;
}

void SessionFacts::check_interrupts() const {
  if (cancelled()) raise("57014", "canceling statement due to user request");
  if (timed_out()) raise("57014", "canceling statement due to statement timeout");
}

std::function<bool()> SessionFacts::give_up() const {
  return [this, start = std::chrono::steady_clock::now()] {
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    return cancelled() || timed_out() || (locking.limit_ms > 0 && took.count() >= locking.limit_ms);
  };
}

void SessionFacts::raise_given_up() const {
  check_interrupts();
  raise("55P03", "canceling statement due to lock timeout");
}

mock::Value ExecutionContext::read(const std::string& key, bool latest) {
  facts.check_interrupts();
  auto value = latest ? transaction_.read_latest(key) : transaction_.read(key);
  if (!value) raise_ended(transaction_.failure());
  return std::move(*value);
}

bool ExecutionContext::lock(const std::string& name, const RowLock& lock,
                            const std::string& table) {
  const auto& locking = facts.locking;
  if (!locking.locks) return true;
  const mock::LockOptions options{.wait = lock.wait == RowLock::Wait::kWait,
                                  .give_up = facts.give_up()};
  switch (transaction_.lock(name, lock.mode, options)) {
    case mock::LockResult::kGranted:
    case mock::LockResult::kGrantedLater:
      return true;
    case mock::LockResult::kNotAvailable:
      if (lock.wait == RowLock::Wait::kSkip) return false;
      raise("55P03", "could not obtain lock on row in relation \"{}\"", table);
    case mock::LockResult::kGivenUp:
      facts.raise_given_up();
    case mock::LockResult::kEnded:
      break;
  }
  raise_ended(transaction_.failure());
}

void ExecutionContext::lock_gaps(const Table& table) {
  if (facts.locking.gaps) lock(table.prefix, {.mode = mock::LockMode::kGap}, table.name);
}

void ExecutionContext::write(const std::string& key, mock::Value value) {
  facts.check_interrupts();
  if (!transaction_.write(key, std::move(value))) raise_ended(transaction_.failure());
}

StoredRow& ExecutionContext::row(const TablePtr& table, const std::string& key,
                                 std::vector<Scalar> key_values) {
  auto& place = rows_[key];
  if (place == nullptr) {
    place = std::make_unique<StoredRow>(*this, table, key, std::move(key_values));
  }
  return *place;
}

StoredRow& ExecutionContext::row(const TablePtr& table, const std::vector<Scalar>& key_values) {
  return row(table, table->row_key(key_values), key_values);
}

StoredRow& ExecutionContext::new_row(const TablePtr& table) {
  const auto number = table->row_numbers->next();
  return row(table, table->row_number_key(number), {number});
}

std::vector<StoredRow*> ExecutionContext::rows(const TablePtr& table,
                                               const std::vector<Scalar>& first) {
  std::vector<StoredRow*> found;
  if (!table->key.empty() && first.size() == table->key.size()) {
    found.push_back(&row(table, first));
    return found;
  }
  const auto prefix = first.empty() ? table->prefix : table->row_key(first);
  for (const auto& key : transaction_.scan(prefix, '/')) {
    found.push_back(&row(table, key, *table->key_values(key)));
  }
  if (transaction_.failure()) raise_ended(transaction_.failure());
  std::sort(found.begin(), found.end(), [](const StoredRow* left, const StoredRow* right) {
    return left->key_values() < right->key_values();
  });
  return found;
}

}  // namespace cupel::sql
