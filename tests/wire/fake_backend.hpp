// A backend without a store, for the protocols' tests and fuzz targets: sessions that
// know a handful of statements, and keys in a map.
//
//   select N      one row of a bigint column `n`, N (N a number, or $1 or ? for a parameter)
//   rows N        rows 1 to N
//   types         one row with each type
//   nothing       a result without rows, 3 rows affected
//   begin, commit, rollback (capitals are the same in every first word)
//   fail CODE     the error with that SQLSTATE, which fails an open transaction
//   wait          until the backend is shut down
//   anything else 42601 at character 1
// Statements are separated by semicolons. What they may give is checked by the tests of
// src/mock/sql; here it only has to come through.
#pragma once

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "base/text.hpp"
#include "mock/wire/backend.hpp"

namespace cupel::wire {

struct FakePrepared : sql::Prepared {
  std::string text;
};

class FakeBackend : public Backend {
 public:
  struct Log {
    std::mutex mutex;
    std::condition_variable changed;
    bool stopped = false;
    std::vector<std::string> statements;  // of all sessions, with parameters behind a bar
    std::vector<std::string> names;       // of sessions
    std::map<std::string, mock::Value> keys;
    int open = 0;  // sessions
  };
  Log log;

  std::unique_ptr<sql::Session> open_sql(const std::string& name) override;
  [[nodiscard]] bool is_versioned() const override { return false; }
  std::uint32_t open_keys(const std::string& name) override {
    const std::lock_guard lock(log.mutex);
    log.names.push_back(name);
    ++log.open;
    return static_cast<std::uint32_t>(log.names.size());
  }
  void close_keys(std::uint32_t /*session*/) override {
    const std::lock_guard lock(log.mutex);
    --log.open;
  }
  std::unique_ptr<mock::Transaction> begin(std::uint32_t session,
                                           const mock::Store::BeginOptions& options) override;
  void shut_down() override {
    const std::lock_guard lock(log.mutex);
    log.stopped = true;
    log.changed.notify_all();
  }
};

class FakeSession : public sql::Session {
 public:
  void on_deallocate(Deallocate /*deallocate*/) override {}
  FakeSession(FakeBackend::Log& log, std::string name) : log_(log) {
    const std::lock_guard lock(log_.mutex);
    log_.names.push_back(std::move(name));
    ++log_.open;
  }
  ~FakeSession() override {
    const std::lock_guard lock(log_.mutex);
    --log_.open;
  }

  Run run(std::string_view text) override {
    Run run;
    while (!text.empty()) {
      const auto end = text.find(';');
      const auto statement = trimmed(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (statement.empty()) continue;
      auto result = one(statement, {});
      if (auto* error = std::get_if<sql::Error>(&result)) {
        run.error = *error;
        return run;
      }
      run.results.push_back(std::get<0>(std::move(result)));
    }
    return run;
  }

  std::variant<std::unique_ptr<sql::Prepared>, sql::Error> prepare(
      std::string_view statement, std::span<const sql::Type> types) override {
    auto prepared = std::make_unique<FakePrepared>();
    prepared->text = trimmed(statement);
    const auto word = first_word(prepared->text);
    if (word == "unknown") return wrong();
    const auto is_parameter = [](char c) { return c == '$' || c == '?'; };
    prepared->types.assign(
        std::count_if(prepared->text.begin(), prepared->text.end(), is_parameter),
        sql::Type::kBigint);
    for (std::size_t i = 0; i < types.size() && i < prepared->types.size(); ++i) {
      if (types[i] != sql::Type::kNull) prepared->types[i] = types[i];
    }
    prepared->has_rows = word == "select" || word == "rows" || word == "types";
    if (prepared->has_rows) prepared->columns = word == "types" ? all_columns() : number_column();
    prepared->command = word == "begin"      ? "BEGIN"
                        : word == "commit"   ? "COMMIT"
                        : word == "rollback" ? "ROLLBACK"
                        : word == "nothing"  ? "INSERT"
                                             : "SELECT";
    return prepared;
  }

  std::variant<sql::Result, sql::Error> execute(const sql::Prepared& prepared,
                                                std::span<const sql::Datum> parameters) override {
    return one(static_cast<const FakePrepared&>(prepared).text, parameters);
  }
  [[nodiscard]] sql::TransactionState state() const override { return state_; }

  static std::vector<sql::Column> number_column() {
    return {{.name = "n", .type = sql::Type::kBigint}};
  }
  static std::vector<sql::Column> all_columns() {
    using enum sql::Type;
    std::vector<sql::Column> columns;
    for (const auto type : {kBoolean, kSmallint, kInteger, kBigint, kNumeric, kText, kVarchar,
                            kTimestamp, kTimestampTz, kText}) {
      columns.push_back({.name = "c" + std::to_string(columns.size()), .type = type});
    }
    return columns;
  }
  static std::vector<sql::Datum> all_values() {
    return {"t",
            "-2",
            "70000",
            "-9007199254740993",
            "-12.50",
            "tea",
            "cup",
            "2024-02-29 12:34:56.5",
            "1999-12-31 23:59:59+00",
            std::nullopt};
  }

 private:
  static std::string trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == ';'))
      text.remove_suffix(1);
    return std::string(text);
  }
  static std::string first_word(const std::string& statement) {
    return base::to_lower(statement.substr(0, statement.find(' ')));
  }
  static sql::Error wrong() {
    return {.sqlstate = "42601", .message = "syntax error", .detail = {}, .position = 1};
  }
  static sql::Result tagged(std::string tag) {
    sql::Result result;
    result.tag = std::move(tag);
    return result;
  }

  std::variant<sql::Result, sql::Error> one(const std::string& text,
                                            std::span<const sql::Datum> parameters) {
    {
      const std::lock_guard lock(log_.mutex);
      if (log_.statements.size() < 10000) {
        auto said = text;
        for (const auto& parameter : parameters) said += "|" + parameter.value_or("null");
        log_.statements.push_back(said);
      }
    }
    const auto space = text.find(' ');
    const auto word = first_word(text);
    const auto rest = space == std::string::npos ? std::string() : text.substr(space + 1);
    if (state_ == sql::TransactionState::kFailed && word != "rollback" && word != "commit") {
      return sql::Error{.sqlstate = "25P02",
                        .message = "current transaction is aborted",
                        .detail = {},
                        .position = {}};
    }
    if (word == "begin") {
      auto result = tagged("BEGIN");
      if (state_ == sql::TransactionState::kOpen)
        result.notices.push_back({"there is already a transaction in progress", "25001", true});
      state_ = sql::TransactionState::kOpen;
      return result;
    }
    if (word == "commit" || word == "rollback") {
      const bool failed = state_ == sql::TransactionState::kFailed || word == "rollback";
      state_ = sql::TransactionState::kIdle;
      return tagged(failed ? "ROLLBACK" : "COMMIT");
    }
    auto result = tagged("SELECT 1");
    result.has_rows = true;
    result.columns = number_column();
    if (word == "select") {
      if (!parameters.empty())
        result.rows = {{parameters[0]}};
      else
        result.rows = {{rest}};
      return result;
    }
    if (word == "rows") {
      int count = 0;
      std::from_chars(rest.data(), rest.data() + rest.size(), count);
      for (int i = 1; i <= count && i <= 100000; ++i) result.rows.push_back({std::to_string(i)});
      result.tag = "SELECT " + std::to_string(result.rows.size());
      return result;
    }
    if (word == "types") {
      result.columns = all_columns();
      result.rows = {all_values()};
      return result;
    }
    if (word == "nothing") {
      auto written = tagged("INSERT 0 3");
      written.affected = 3;
      return written;
    }
    if (word == "wait") {
      std::unique_lock lock(log_.mutex);
      log_.changed.wait(lock, [&] { return log_.stopped; });
      return sql::Error{.sqlstate = "57P01", .message = "stopped", .detail = {}, .position = {}};
    }
    if (state_ == sql::TransactionState::kOpen) state_ = sql::TransactionState::kFailed;
    if (word == "fail")
      return sql::Error{
          .sqlstate = rest, .message = "as asked", .detail = "in detail", .position = {}};
    return wrong();
  }

  FakeBackend::Log& log_;
  sql::TransactionState state_ = sql::TransactionState::kIdle;
};

class FakeTransaction : public mock::Transaction {
 public:
  explicit FakeTransaction(FakeBackend::Log& log) : log_(log) {}
  std::optional<mock::Value> read(std::string_view key) override {
    const std::lock_guard lock(log_.mutex);
    const auto found = log_.keys.find(std::string(key));
    return found == log_.keys.end() ? mock::Value{} : found->second;
  }
  // Keys have no numbers here.
  bool read_each(std::span<const mock::KeyNumber> keys,
                 const std::function<void(const mock::Value&)>& /*seen*/) override {
    return keys.empty();
  }
  bool has_read(std::string_view /*key*/) override { return false; }
  std::vector<std::string> keys_with_prefix(std::string_view prefix) override {
    const std::lock_guard lock(log_.mutex);
    std::vector<std::string> keys;
    for (const auto& [key, value] : log_.keys) {
      if (std::string_view(key).starts_with(prefix)) keys.push_back(key);
    }
    return keys;
  }
  bool write(std::string_view key, mock::Value value) override {
    const std::lock_guard lock(log_.mutex);
    log_.keys[std::string(key)] = std::move(value);
    return true;
  }
  bool commit() override {
    const std::lock_guard lock(log_.mutex);
    if (!log_.keys.contains("conflict")) return true;
    failure_ = mock::Failure{mock::Failure::Kind::kConflict,
                             "what it read does not go with what it wrote"};
    return false;
  }
  void rollback() override {}
  std::size_t savepoint() override { return 0; }
  void rollback_to(std::size_t /*savepoint*/) override {}
  [[nodiscard]] const std::optional<mock::Failure>& failure() const override { return failure_; }

 private:
  FakeBackend::Log& log_;
  std::optional<mock::Failure> failure_;
};

inline std::unique_ptr<sql::Session> FakeBackend::open_sql(const std::string& name) {
  return std::make_unique<FakeSession>(log, name);
}
inline std::unique_ptr<mock::Transaction> FakeBackend::begin(
    std::uint32_t /*session*/, const mock::Store::BeginOptions& /*options*/) {
  const std::lock_guard lock(log.mutex);
  if (log.stopped) return nullptr;
  return std::make_unique<FakeTransaction>(log);
}

}  // namespace cupel::wire
