// The SQL drivers' common part: see the header.
#include "databases/drivers/sql_connection.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace cupel::drivers::sql {

using workload::Row;
using workload::Statement;
using workload::StatementKind;

MaybeFailure SqlConnection::failed(Failure failure) {
  // What came after the end was run by itself, and cannot be undone.
  if (ended_at_ != 0) failure.txn_outcome = TxnOutcome::kUnknown;
  if (!failure.connection_lost && !undo()) failure.connection_lost = true;
  return failure;
}

// A server that does not say of a new transaction that it is open says nothing by that later.
void SqlConnection::look_for_silent_end() {
  if (reported_open_ && ended_at_ == 0 && !in_transaction().value_or(true)) ended_at_ = statements_;
}

MaybeFailure SqlConnection::begin() {
  statements_ = ended_at_ = 0;
  if (auto failure = start()) {
    failure->txn_outcome = TxnOutcome::kAborted;  // nothing was done yet
    return failed(*std::move(failure));
  }
  reported_open_ = in_transaction().value_or(false);
  return std::nullopt;
}

MaybeFailure SqlConnection::execute(const Statement& statement, workload::Reply& reply) {
  reply = {};
  const auto plan = texts_.plan(statement);
  if (!plan) {
    return failed({.txn_outcome = TxnOutcome::kAborted,
                   .cause = Cause::kStatement,
                   .code = "cupel",
                   .message = plan.error().message});
  }
  const Plan& how = **plan;
  ++statements_;
  std::uint64_t touched = 0;
  auto failure = run(how.first, statement, reply.rows, touched);
  if (!failure && how.if_none && touched == 0) {
    failure = run(*how.if_none, statement, reply.rows, touched);
  }
  if (failure && how.absent_wanted && failure->cause == Cause::kConstraint &&
      dialect().product == Product::kMysql) {
    // InnoDB undid the insert alone; the transaction goes on.
    failure.reset();
    touched = 0;
  }
  if (failure) {
    // No commit was asked for, so there is none.
    failure->txn_outcome = TxnOutcome::kAborted;
    reply = {};
    return failed(*std::move(failure));
  }
  look_for_silent_end();
  if (statement.kind == StatementKind::kCompareAndSet || statement.kind == StatementKind::kDelete) {
    reply.succeeded = touched > 0;
  } else if (how.list) {
    if (!reply.rows.empty()) {
      reply.elements = list_elements(dialect().lists, reply.rows[0].values[0]);
    }
    reply.rows.clear();
  } else if (statement.kind == StatementKind::kRead) {
    for (auto& row : reply.rows) row.key = statement.key;
  }
  return std::nullopt;
}

MaybeFailure SqlConnection::commit() {
  if (auto failure = end()) return failed(*std::move(failure));
  return std::nullopt;
}

void SqlConnection::rollback() {
  undo();
}

base::Status make_tables(const Dialect& dialect, const workload::Workload& workload,
                         const RunSql& run) {
  const auto& schema = workload.schema();
  if (auto dropped = drop_tables(schema, run); !dropped) return dropped;
  for (const auto& table : schema.tables) {
    if (auto made = run(create_table(dialect, table)); !made) return made;
  }
  constexpr std::size_t kRowsInStatement = 500;
  constexpr std::size_t kRowsInTransaction = 10000;
  std::vector<std::vector<Row>> waiting(schema.tables.size());
  base::Status status = base::Ok{};
  std::size_t in_transaction = 0;
  const auto flush = [&](std::size_t table) {
    auto& rows = waiting[table];
    if (rows.empty() || !status) return;
    if (in_transaction == 0) status = run("BEGIN");
    if (status) status = run(insert_rows(dialect, schema.tables[table], rows));
    in_transaction += rows.size();
    rows.clear();
    if (status && in_transaction >= kRowsInTransaction) {
      status = run("COMMIT");
      in_transaction = 0;
    }
  };
  workload.load([&](std::uint32_t table, const Row& row) {
    waiting[table].push_back(row);
    if (waiting[table].size() >= kRowsInStatement) flush(table);
  });
  for (std::size_t table = 0; table < waiting.size(); ++table) flush(table);
  if (status && in_transaction > 0) status = run("COMMIT");
  return status;
}

base::Status drop_tables(const workload::Schema& schema, const RunSql& run) {
  for (const auto& table : schema.tables) {
    if (auto dropped = run(drop_table(table)); !dropped) return dropped;
  }
  return base::Ok{};
}

base::Status make_tables(const Dialect& dialect, const workload::Workload& workload,
                         std::uint32_t hosts, double wait_seconds,
                         const std::function<base::Result<RunSql>(std::uint32_t)>& connect) {
  using Clock = std::chrono::steady_clock;
  auto first = connect(0);
  if (!first) return std::move(first).error();
  if (auto made = make_tables(dialect, workload, *first); !made || hosts == 1) return made;
  // Hosts replicate in order: who has the marker has all that was written before
  // it. Its name is new each time, so no earlier run's can be taken for it.
  const auto marker = fmt::format(
      "cupel_ready_{}_{}", getpid(),
      std::chrono::system_clock::now().time_since_epoch() / std::chrono::microseconds(1));
  if (auto made = (*first)("CREATE TABLE " + marker + " (k BIGINT PRIMARY KEY)"); !made)
    return made;
  base::Status status = base::Ok{};
  for (std::uint32_t host = 1; host < hosts && status; ++host) {
    auto other = connect(host);
    if (!other) {
      status = std::move(other).error();
      break;
    }
    const auto deadline = Clock::now() + std::chrono::duration<double>(wait_seconds);
    while (!(status = (*other)("SELECT k FROM " + marker)) && Clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    if (!status) {
      status = base::Error{
          .message = fmt::format("host {} of the URL does not see the tables made on the first "
                                 "host after {} s ({}); are they of one cluster?",
                                 host + 1, wait_seconds, status.error().message)};
    }
  }
  const auto dropped = (*first)("DROP TABLE " + marker);
  return status ? dropped : status;
}

workload::Needs all_needs() {
  return {.interactive = true,
          .multiple = true,
          .tables = true,
          .ranges = true,
          .deletes = true,
          .lists = true,
          .compare_and_set = true};
}

bool is_missing_table(std::string_view sqlite_message) {
  return sqlite_message.starts_with("no such table: ");
}

std::string one_line(std::string_view message) {
  const auto first = message.find_first_not_of(" \n\r\t");
  if (first == std::string_view::npos) return {};
  const auto line = message.substr(first, message.find('\n', first) - first);
  return std::string(line.substr(0, line.find_last_not_of(" \r\t") + 1));
}

}  // namespace cupel::drivers::sql
