// A statement while it runs: the rows it has looked at, each key of the store read once at
// most, and only when an expression asks for it. That is what makes the reads minimal.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "mock/sql/table/table.hpp"

namespace cupel::sql {

class Row {
 public:
  Row() = default;
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  virtual ~Row() = default;
  virtual Scalar cell(std::size_t column) = 0;
};

// The row of a left join without partner, and of no group.
class NullRow : public Row {
 public:
  Scalar cell(std::size_t) override { return {}; }
};

class ValueRow : public Row {
 public:
  explicit ValueRow(std::vector<Scalar> cells) : values(std::move(cells)) {}
  Scalar cell(std::size_t column) override { return values[column]; }
  std::vector<Scalar> values;
};

class ExecutionContext;

// FOR UPDATE and its like, and what UPDATE and DELETE do with the rows that they find.
struct RowLock {
  enum class Wait : std::uint8_t { kWait, kNoWait, kSkip };
  mock::LockMode mode = mock::LockMode::kUpdate;
  Wait wait = Wait::kWait;
};

// A row of a table in the store.
class StoredRow : public Row {
 public:
  StoredRow(ExecutionContext& context, TablePtr table, std::string key,
            std::vector<Scalar> key_values);
  Scalar cell(std::size_t column) override;
  bool present();  // reads `has`
  void set_present(bool present);
  // From now on its cells are read as they were committed last; what was read before is forgotten.
  void read_latest();
  // Locks it, and reads it so. False: it is locked by another, and the statement skips those.
  bool lock(const RowLock& lock);
  void set_cell(std::size_t column, const Scalar& value);  // writes; not of the primary key

  [[nodiscard]] const TablePtr& table() const { return table_; }
  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] const std::vector<Scalar>& key_values() const { return key_values_; }

 private:
  [[nodiscard]] mock::Value read(const std::string& key) const;
  ExecutionContext& context_;
  TablePtr table_;
  std::string key_;
  std::vector<Scalar> key_values_;
  bool latest_ = false;
  std::optional<bool> present_;
  std::vector<std::optional<Scalar>> cells_;
};

// What statements do about locks.
struct Locking {
  bool locks = false;   // the store has them
  bool strong = false;  // constraints are checked on what was committed last
  bool gaps = false;    // InnoDB: whoever scans what it locks keeps others from adding rows
  bool snapshot_filters = false;  // PostgreSQL: rows are found by the snapshot, then locked
  double limit_ms = 0;            // of a wait; 0: none
};

// What expressions ask of the session.
struct SessionFacts {
  std::int64_t now = 0;  // when the transaction began
  Locking locking = {};

  // What ends the statement that runs: somebody else, or its time.
  enum class State : std::uint8_t { kIdle, kRunning, kCancelled };
  std::shared_ptr<std::atomic<State>> state = std::make_shared<std::atomic<State>>(State::kIdle);
  std::optional<std::chrono::steady_clock::time_point> until = {};
  [[nodiscard]] bool cancelled() const { return *state == State::kCancelled; }
  [[nodiscard]] bool timed_out() const {
    return until && std::chrono::steady_clock::now() >= *until;
  }
  void check_interrupts() const;  // raises 57014 if it is one of these
  // Whether a wait that begins now has to end: for these, or the limit of a lock's.
  [[nodiscard]] std::function<bool()> give_up() const;
  [[noreturn]] void raise_given_up() const;
};

struct Frame;
struct Select;
// Takes a row of a query as values of its outputs; false to end it.
using RowSink = std::function<bool(std::vector<Scalar>&)>;
// Runs a query: what the expression of a sub-query asks for (exec/run.hpp).
using RunQuery = void (*)(const Select& select, ExecutionContext& context, const Frame* outer,
                          const RowSink& row);

class ExecutionContext {
 public:
  ExecutionContext(mock::Transaction& transaction, Tables& tables, const SessionFacts& session,
                   RunQuery run)
      : catalog(tables), facts(session), run_query(run), transaction_(transaction) {}

  Tables& catalog;
  const SessionFacts& facts;
  RunQuery run_query;
  std::vector<Scalar> parameters;
  // Answers of sub-queries that do not depend on the row, by their plan.
  std::unordered_map<const Select*, std::shared_ptr<std::vector<Scalar>>> answers;

  // `latest`: as it was committed last. Raises 40001 when the store ended the transaction.
  mock::Value read(const std::string& key, bool latest);
  void write(const std::string& key, mock::Value value);

  StoredRow& row(const TablePtr& table, const std::string& key, std::vector<Scalar> key_values);
  StoredRow& row(const TablePtr& table, const std::vector<Scalar>& key_values);
  StoredRow& new_row(const TablePtr& table);  // of a table without a primary key
  // Locks the name until the transaction ends; nothing where the store has no locks. False: another
  // holds it, and the lock says to skip those. `table` is for the message.
  bool lock(const std::string& name, const RowLock& lock, const std::string& table);
  // Keeps others from adding rows to the table, where the store is one that does.
  void lock_gaps(const Table& table);
  // The transaction reads only what it has locked.
  [[nodiscard]] bool reads_lock() const { return facts.locking.locks && transaction_.reads_lock(); }

  // While it lives, all is read as it was committed last, where constraints are strong.
  class Latest {
   public:
    explicit Latest(ExecutionContext& context) : context_(context), before_(context.latest_) {
      context.latest_ = context.latest_ || context.facts.locking.strong;
    }
    ~Latest() { context_.latest_ = before_; }
    Latest(const Latest&) = delete;
    Latest& operator=(const Latest&) = delete;

   private:
    ExecutionContext& context_;
    bool before_;
  };
  [[nodiscard]] bool latest() const { return latest_; }

  // Rows that may be there, in the order of their primary keys; nothing is read. With the
  // first values of the key only those rows; all of the values: the one, known or not.
  std::vector<StoredRow*> rows(const TablePtr& table, const std::vector<Scalar>& first = {});

  template <typename T, typename... Args>
  T& keep(Args&&... args) {
    auto made = std::make_unique<T>(std::forward<Args>(args)...);
    T& kept = *made;
    kept_.push_back(std::move(made));
    return kept;
  }
  NullRow null_row;

 private:
  mock::Transaction& transaction_;
  bool latest_ = false;
  std::unordered_map<std::string, std::unique_ptr<StoredRow>> rows_;
  std::deque<std::unique_ptr<Row>> kept_;
};

[[noreturn]] void raise_ended(const std::optional<mock::Failure>& failure);

}  // namespace cupel::sql
