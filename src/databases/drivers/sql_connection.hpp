// What the SQL drivers share beyond texts: how a statement becomes prepared
// statements and a reply, that whatever fails is rolled back, and how tables are
// made and filled.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "databases/drivers/driver.hpp"
#include "databases/drivers/sql.hpp"

namespace cupel::drivers::sql {

// A driver implements the five below; they never roll back of themselves.
class SqlConnection : public Connection {
 public:
  explicit SqlConnection(Texts texts) : texts_(std::move(texts)) {}

  MaybeFailure begin() final;
  MaybeFailure execute(const workload::Statement& statement, workload::Reply& reply) final;
  MaybeFailure commit() final;
  void rollback() final;
  [[nodiscard]] std::size_t ended_at_statement() const final { return ended_at_; }

 protected:
  // BEGIN.
  virtual MaybeFailure start() = 0;
  // Runs a prepared text (made on its first use) with the statement's values. Its
  // rows, if it is a query, are added to `rows`; `touched`: rows that an UPDATE
  // matched, or that an INSERT made.
  virtual MaybeFailure run(const Text& text, const workload::Statement& statement,
                           std::vector<workload::Row>& rows, std::uint64_t& touched) = 0;
  // COMMIT; a failure is kAborted only if that is certain once undo() has been called.
  virtual MaybeFailure end() = 0;
  // ROLLBACK, if there is anything to; false: the connection is of no use.
  virtual bool undo() = 0;
  // Whether a transaction is open, as the last answer said; none: servers of this kind do not say.
  [[nodiscard]] virtual std::optional<bool> in_transaction() { return std::nullopt; }

  [[nodiscard]] const Dialect& dialect() const { return texts_.dialect(); }
  [[nodiscard]] const workload::Schema& schema() const { return texts_.schema(); }

 private:
  MaybeFailure failed(Failure failure);
  void look_for_silent_end();

  Texts texts_;
  bool reported_open_ = false;  // the answer to BEGIN said that a transaction is open
  std::size_t statements_ = 0;  // of the transaction
  std::size_t ended_at_ = 0;
};

// One connection that runs SQL as text, for making tables.
using RunSql = std::function<base::Status(const std::string& sql)>;

// Drops the schema's tables if they are there, makes them and loads the rows, in
// transactions of some thousand rows.
base::Status make_tables(const Dialect& dialect, const workload::Workload& workload,
                         const RunSql& run);
base::Status drop_tables(const workload::Schema& schema, const RunSql& run);

// The same for a cluster: the first host makes the tables; then a row in a table
// of its own is waited for on all others, so that whoever connects anywhere sees
// what was loaded. `connect` connects to a host by number.
base::Status make_tables(const Dialect& dialect, const workload::Workload& workload,
                         std::uint32_t hosts, double wait_seconds,
                         const std::function<base::Result<RunSql>(std::uint32_t host)>& connect);

// What an SQL database can do: everything.
workload::Needs all_needs();

// The first line of a message, without spaces at its ends.
std::string one_line(std::string_view message);

// Whether SQLite, which has one code for all errors of a statement, reports a missing table.
bool is_missing_table(std::string_view sqlite_message);

}  // namespace cupel::drivers::sql
