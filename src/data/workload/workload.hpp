// Workload: which transactions each session runs, and on which tables.
//
// A workload only says what to issue; the runner issues it, fills in values that
// are new, and records. Two kinds of job: fixed statements, known beforehand (so
// that they can be written to a file, or handed to a database in one piece), and
// programs, which decide by what they read.
//
// The same options and seed give the same jobs for each session, in the same
// order, whatever the other sessions do. (What a job makes of the values that it
// reads is another matter: programs, and lwt's expected values.)
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"
#include "data/workload/generate.hpp"
#include "data/workload/statement.hpp"

namespace cupel::workload {

// One transaction as a program sees it while it runs. After a failure it is dead:
// every further execute() answers with nothing, ok() is false, and the program
// should return soon; nothing it does then reaches the database.
class Transaction {
 public:
  virtual ~Transaction() = default;
  // The answer stays valid until the next call.
  virtual const Reply& execute(const Statement& statement) = 0;
  [[nodiscard]] virtual bool ok() const = 0;
  // The program wants its effects undone: the runner rolls back, the job counts as
  // aborted by choice and is not retried.
  virtual void give_up() = 0;
  // A positive number that no other write of the run has.
  virtual std::int64_t unique() = 0;
  virtual base::Random& random() = 0;
};

struct Job {
  std::string name;                        // "transaction", "new-order": statistics are by name
  std::vector<Statement> statements = {};  // fixed; or, if empty,
  // May be run again from the start (a retry): keep no state of it outside.
  std::function<void(Transaction&)> program = {};
  // If set, of a job with fixed statements: called once it has committed, with the
  // statements as they were issued and their replies, before the session's next
  // job is asked for. So a database that takes a transaction in one piece can run
  // compare-and-sets from a value seen before.
  std::function<void(std::span<const Statement>, std::span<const Reply>)> seen = {};
  // If set: called once it has committed, before the session's next job is asked for.
  std::function<void()> committed = {};
};

// What a database must be able to do for a workload to run on it.
struct Needs {
  bool interactive = false;      // several statements in a transaction, one after the other
  bool multiple = false;         // several statements in a transaction, all known beforehand
  bool tables = false;           // tables beyond cupel_kv
  bool ranges = false;           // kRange
  bool deletes = false;          // kInsert and kDelete
  bool lists = false;            // kAppend
  bool compare_and_set = false;  // kCompareAndSet

  bool operator==(const Needs&) const = default;
};

struct WorkloadOptions {
  std::uint32_t sessions = 10;
  std::uint32_t min_ops = 4,
                max_ops = 8;  // statements a transaction, where the workload leaves it open
  std::uint64_t keys = 100;
  double read_share = 0.5;      // of the statements of mixed transactions
  double read_only_share = 0;   // of the transactions: reads only
  double write_only_share = 0;  // of the transactions: writes only
  double rmw_share = 0;         // of the transactions: each write after a read of its key
  Distribution distribution = Distribution::kUniform;
  double duplicates = 0;   // share of writes whose value is one of a few
  bool tombstones = true;  // range-*: a delete writes a value of its own (VIPER); false: it deletes
  double scale = 1;        // of the application workloads' tables (1: as in the papers)
  std::uint64_t seed = 1;
};

class Workload {
 public:
  virtual ~Workload() = default;
  [[nodiscard]] virtual const Schema& schema() const = 0;
  [[nodiscard]] virtual Needs needs() const = 0;
  [[nodiscard]] virtual std::uint32_t sessions() const = 0;  // 0, 1 … are asked for jobs

  // The rows that are there before the run, table by table; all columns.
  using RowSink = std::function<void(std::uint32_t table, const Row& row)>;
  virtual void load(const RowSink& sink) const = 0;
  // What load() put into a cell; null if it made no such row. Any thread.
  [[nodiscard]] virtual Datum loaded(std::uint32_t table, const std::vector<Datum>& key,
                                     std::uint32_t column) const = 0;
  // What most cells hold at first: the history's default initial value.
  [[nodiscard]] virtual Datum default_initial() const = 0;

  // The next job of a session; none: the session is done (workload files).
  // Different sessions may be asked at the same time, one session by one thread.
  virtual std::optional<Job> next(std::uint32_t session) = 0;
};

struct WorkloadInfo {
  std::string_view name;       // "general", "tpcc" …
  std::string_view summary;    // one line
  std::string_view source;     // where it is from: "PolySI, section 5.1", …
  std::string_view page;       // "docs/reference/workloads/general.md"
  WorkloadOptions defaults{};  // as the source has them
};
std::span<const WorkloadInfo> all_workloads();

// Errors: an unknown name (with those that there are), an option out of range.
base::Result<std::unique_ptr<Workload>> make_workload(std::string_view name,
                                                      const WorkloadOptions& options);

}  // namespace cupel::workload
