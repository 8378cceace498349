// Mock: the mock store as an embedded database with known answers.
//
// A cell is a key of the store: the row's ordered key (databases/drivers/cells.hpp), a byte 0x02
// and the column's number. Cells are what the history records, so the store's level is the
// history's. A row is there if one of its cells is not null; deleting writes nulls. Rows
// before a run are initial values. A range scans for rows, so that one that was not there is
// read as absent, and reads the cells of each.
// A comparison reads and writes, and so does an append, to a list kept as text. Below snapshot
// isolation there are no lists: another's append would be lost, which no history of a list
// can express.
//
// Each Database has a store of its own: it is gone with it. See docs/reference/drivers/mock.md.
#include <fmt/format.h>

#include <limits>
#include <numeric>
#include <set>

#include "databases/drivers/cells.hpp"
#include "databases/drivers/registry.hpp"
#include "databases/drivers/sql.hpp"
#include "databases/drivers/url.hpp"
#include "engine/mock/store.hpp"

namespace cupel::drivers {

namespace {

using workload::Datum;
using workload::Reply;
using workload::Row;
using workload::Statement;
using workload::StatementKind;
using workload::Table;

std::string cell_key(const std::string& row, std::uint32_t column) {
  return row + '\x02' + std::to_string(column);
}

mock::Value value_of(const Datum& datum) {
  if (const auto* number = std::get_if<std::int64_t>(&datum)) return mock::Value::of(*number);
  if (const auto* text = std::get_if<std::string>(&datum)) return mock::Value::of(*text);
  return {};
}
Datum datum_of(mock::Value value) {
  switch (value.kind) {
    case mock::Value::Kind::kInteger:
      return value.integer;
    case mock::Value::Kind::kText:
      return std::move(value.text);
    case mock::Value::Kind::kNull:
      break;
  }
  return {};
}
bool is_null(const Datum& datum) {
  return std::holds_alternative<std::monostate>(datum);
}

class MockConnection final : public Connection {
 public:
  MockConnection(std::shared_ptr<mock::Store> store, workload::Schema schema, std::uint32_t session)
      : store_(std::move(store)), schema_(std::move(schema)), session_(session) {}
  ~MockConnection() override {
    transaction_.reset();
    store_->close_session(session_);
  }

  MaybeFailure begin() override {
    transaction_.reset();
    transaction_ = store_->begin(session_);
    if (transaction_) return std::nullopt;
    return Failure{.txn_outcome = TxnOutcome::kAborted,
                   .cause = Cause::kConnection,
                   .code = "stopped",
                   .message = "the mock store is shutting down",
                   .connection_lost = true};
  }

  MaybeFailure execute(const Statement& statement, Reply& reply) override {
    reply = {};
    if (!transaction_) return refused("a statement outside a transaction");
    auto failure = run(statement, reply);
    if (!failure) return std::nullopt;
    rollback();
    reply = {};
    return failure;
  }

  MaybeFailure commit() override {
    if (!transaction_) return refused("a commit outside a transaction");
    auto failure = transaction_->commit() ? MaybeFailure() : over();
    transaction_.reset();
    return failure;
  }

  void rollback() override { transaction_.reset(); }

 private:
  // Why the transaction is over. It certainly did not commit.
  MaybeFailure over() {
    const auto& failure = transaction_->failure();
    Failure report;
    report.txn_outcome = TxnOutcome::kAborted;
    report.message = failure ? failure->message : "the transaction is over";
    switch (failure ? failure->kind : mock::Failure::Kind::kEnded) {
      case mock::Failure::Kind::kConflict:
        report.cause = Cause::kConflict;
        report.code = "conflict";
        break;
      case mock::Failure::Kind::kDeadlock:
        report.cause = Cause::kConflict;
        report.code = "deadlock";
        break;
      case mock::Failure::Kind::kEnded:
        report.cause = Cause::kTimeout;
        report.code = "ended";
        break;
      case mock::Failure::Kind::kStopped:
        report.cause = Cause::kConnection;
        report.code = "stopped";
        report.connection_lost = true;
        break;
    }
    return report;
  }

  // The cells of these columns; none if they do not show that the row is there.
  MaybeFailure read_row(const std::string& row, std::span<const std::uint32_t> columns,
                        std::optional<std::vector<Datum>>& cells) {
    std::vector<Datum> found;
    bool present = false;
    for (const auto column : columns) {
      auto value = transaction_->read(cell_key(row, column));
      if (!value) return over();
      found.push_back(datum_of(*std::move(value)));
      present = present || !is_null(found.back());
    }
    cells.reset();
    if (present) cells = std::move(found);
    return std::nullopt;
  }

  MaybeFailure write_cell(const std::string& row, std::uint32_t column, const Datum& datum) {
    if (transaction_->write(cell_key(row, column), value_of(datum))) return std::nullopt;
    return over();
  }

  MaybeFailure run(const Statement& statement, Reply& reply) {
    if (auto wrong = misfit(schema_, statement); !wrong.empty()) {
      return refused("a statement that does not fit the schema: " + wrong);
    }
    const Table& table = schema_.tables[statement.table];
    const auto row = ordered_key(table, statement.key);
    std::vector<std::uint32_t> all(table.columns.size());
    std::iota(all.begin(), all.end(), 0u);
    const auto& columns = statement.columns.empty() ? all : statement.columns;
    std::optional<std::vector<Datum>> cells;
    switch (statement.kind) {
      case StatementKind::kRead:
        if (table.columns[columns[0]].type == workload::ColumnType::kList) {
          if (auto failure = read_row(row, columns, cells)) return failure;
          if (cells) reply.elements = sql::list_elements(sql::ListForm::kText, (*cells)[0]);
          return std::nullopt;
        }
        if (auto failure = read_row(row, columns, cells)) return failure;
        if (cells) reply.rows.push_back({statement.key, *std::move(cells)});
        return std::nullopt;
      case StatementKind::kRange:
        return range(table, statement, columns, reply);
      case StatementKind::kDelete:
        for (const auto column : all) {
          if (auto failure = write_cell(row, column, {})) return failure;
        }
        return std::nullopt;
      case StatementKind::kInsert:
        if (auto failure = read_row(row, all, cells)) return failure;
        if (cells) {
          return Failure{.txn_outcome = TxnOutcome::kAborted,
                         .cause = Cause::kConstraint,
                         .code = "exists",
                         .message = fmt::format("a row of {} is there already", table.name)};
        }
        [[fallthrough]];
      case StatementKind::kWrite:
        for (std::size_t i = 0; i < statement.values.size(); ++i) {
          const auto type = table.columns[columns[i]].type;
          if (auto failure = write_cell(row, columns[i], normal(type, statement.values[i])))
            return failure;
        }
        return std::nullopt;
      case StatementKind::kCompareAndSet: {
        const auto type = table.columns[columns[0]].type;
        if (auto failure = read_row(row, columns, cells)) return failure;
        const Datum& expected = statement.values[0];
        reply.succeeded =
            is_null(expected) ? !cells : cells && (*cells)[0] == normal(type, expected);
        if (!reply.succeeded) return std::nullopt;
        return write_cell(row, columns[0], normal(type, statement.values[1]));
      }
      case StatementKind::kAppend: {
        if (auto failure = read_row(row, columns, cells)) return failure;
        const auto list = cells ? workload::to_string((*cells)[0]) : std::string();
        return write_cell(row, columns[0], Datum(appended(list, statement.values[0])));
      }
    }
    return refused("a statement of an unknown kind");
  }

  MaybeFailure range(const Table& table, const Statement& statement,
                     std::span<const std::uint32_t> columns, Reply& reply) {
    // No row's key begins with another's, so the cells of the high row end before 0x03.
    const auto low = ordered_key(table, statement.key);
    const auto after = ordered_key(table, statement.high) + '\x03';
    std::set<std::string> rows;
    for (const auto column : columns) {
      const auto ending = cell_key("", column);
      for (const auto& key : transaction_->scan_between(low, after, ending)) {
        rows.insert(key.substr(0, key.size() - ending.size()));
      }
    }
    if (transaction_->failure()) return over();
    for (const auto& row : rows) {
      std::optional<std::vector<Datum>> cells;
      if (auto failure = read_row(row, columns, cells)) return failure;
      auto key = parse_ordered_key(table, row);
      if (cells && key) reply.rows.push_back({*std::move(key), *std::move(cells)});
    }
    return std::nullopt;
  }

  std::shared_ptr<mock::Store> store_;
  workload::Schema schema_;
  std::uint32_t session_;
  std::unique_ptr<mock::Transaction> transaction_;
};

class MockDatabase final : public Database {
 public:
  explicit MockDatabase(const mock::Options& options) : options_(options) {}

  [[nodiscard]] Facts facts() const override {
    return {
        .product = "cupel mock",
        .version = "1",
        .isolation = std::string(mock::name(options_.level)),
        .detail = fmt::format("seed={}, uniform={:g}, latest={:g}, adversarial={:g}", options_.seed,
                              options_.uniform, options_.latest, options_.adversarial)};
  }
  [[nodiscard]] workload::Needs can() const override {
    return {.interactive = true,
            .multiple = true,
            .tables = true,
            .ranges = true,
            .deletes = true,
            .lists = options_.level >= mock::Level::kStrongSessionSnapshotIsolation,
            .compare_and_set = true};
  }

  // Its store is its own, and what a seed decides must not depend on the name of a run.
  [[nodiscard]] bool shared() const override { return false; }
  base::Status prepare(const workload::Workload& workload) override {
    store_ = std::make_shared<mock::Store>(options_);
    schema_ = workload.schema();
    workload.load([&](std::uint32_t number, const Row& row) {
      const auto& table = schema_.tables[number];
      const auto key = ordered_key(table, row.key);
      for (std::uint32_t i = 0; i < row.values.size(); ++i) {
        store_->set_initial(cell_key(key, i),
                            value_of(normal(table.columns[i].type, row.values[i])));
      }
    });
    return base::Ok{};
  }

  base::Result<std::unique_ptr<Connection>> connect(std::uint32_t session) override {
    if (!store_) {
      return base::Error{.message = "the mock store has no tables; prepare it again"};
    }
    const auto id = store_->open_session(std::to_string(session));
    return std::unique_ptr<Connection>(std::make_unique<MockConnection>(store_, schema_, id));
  }

  void clean() override { store_.reset(); }

 private:
  mock::Options options_;
  workload::Schema schema_;
  std::shared_ptr<mock::Store> store_;
};

}  // namespace

base::Result<std::unique_ptr<Database>> open_mock(const std::string& text,
                                                  const OpenOptions& options) {
  auto url = parse_url(text);
  if (!url) return std::move(url).error();
  mock::Options store;
  const auto& asked = url->path.empty() ? options.isolation : url->path;
  const auto level = mock::level_of(asked);
  if (!url->hosts.empty() || !level) {
    return base::Error{
        .message = fmt::format("found `{}`, expected mock:LEVEL with read-committed, "
                               "read-atomic, causal, prefix, snapshot-isolation or serializable "
                               "(sessions are always in order)",
                               text)};
  }
  // Where no isolation was asked for it is the URL's (driver.cpp).
  if (!url->path.empty() && mock::level_of(options.isolation) != *level) {
    return base::Error{
        .message = fmt::format("found the level {} in the URL and the isolation {}, expected one "
                               "of them",
                               url->path, options.isolation)};
  }
  store.level = *level;
  if (const auto seed = take_option(*url, "seed")) {
    const auto number = option_number("seed", *seed, 0, std::numeric_limits<std::int64_t>::max());
    if (!number) return number.error();
    store.seed = static_cast<std::uint64_t>(*number);
  }
  if (const auto policy = take_option(*url, "policy")) {
    const auto known = mock::policy_of(*policy);
    if (!known) {
      return base::Error{
          .message = fmt::format(
              "found policy={} in the URL, expected uniform, latest or adversarial", *policy)};
    }
    store.uniform = 0;
    mock::weight_of(store, *known) = 1;
  }
  if (auto unknown = unknown_options(*url, "seed, policy")) return *std::move(unknown);
  store.patience_s = options.statement_timeout;
  return std::unique_ptr<Database>(std::make_unique<MockDatabase>(store));
}

}  // namespace cupel::drivers
