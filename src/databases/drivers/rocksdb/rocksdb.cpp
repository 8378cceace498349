// RocksDB: an embedded store of ordered keys, by TransactionDB (pessimistic: locks
// on what is written) or OptimisticTransactionDB (what was written is compared at
// the commit).
//
// A process can open a database once, so everything of this process that names the
// same folder shares one Store. A row is one key of the store, as databases/drivers/cells.hpp
// writes keys and rows; a range is an iterator inside the transaction, which sees
// its own writes. What reads a row to write it (appends, comparisons, inserts, some
// of a row's columns) reads by GetForUpdate, which locks the key or has it compared.
//
// -snapshot: a snapshot at the begin, read from throughout; whoever writes what has
// changed since is refused: snapshot isolation. Without one a read returns what was
// committed last: read committed. -for-update: without one, and every read is a
// GetForUpdate: serializable, without ranges, whose gaps nothing locks.
//
// A commit that fails with Busy, TryAgain or TimedOut is an abort. After any other
// failure the log may hold it: unknown. See docs/reference/drivers/rocksdb.md.
#include <fmt/format.h>
#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>

#include "databases/drivers/cells.hpp"
#include "databases/drivers/plugin.hpp"
#include "databases/drivers/sql.hpp"
#include "databases/drivers/sql_connection.hpp"
#include "databases/drivers/url.hpp"

namespace cupel::drivers {

namespace {

using workload::ColumnType;
using workload::Datum;
using workload::Reply;
using workload::Row;
using workload::Statement;
using workload::StatementKind;
using workload::Table;

struct Settings {
  std::string path;
  std::string isolation;
  bool optimistic = false;
  bool snapshot = false;
  bool for_update = false;
  bool sync = false;
  std::int64_t lock_timeout_ms = 1000;
};

// A database that this process has open, and the tables that it has by now: no
// other process can make or drop one.
class Store {
 public:
  explicit Store(std::unique_ptr<rocksdb::TransactionDB> db)
      : pessimistic_(db.get()), optimistic_(nullptr), db_(std::move(db)) {}
  explicit Store(std::unique_ptr<rocksdb::OptimisticTransactionDB> db)
      : pessimistic_(nullptr), optimistic_(db.get()), db_(std::move(db)) {}

  [[nodiscard]] bool optimistic() const { return optimistic_ != nullptr; }

  // A new transaction, in the place of an old one that is over.
  void begin(const Settings& settings, std::unique_ptr<rocksdb::Transaction>& transaction) {
    rocksdb::WriteOptions write;
    write.sync = settings.sync;
    rocksdb::Transaction* begun = nullptr;
    if (optimistic_ != nullptr) {
      rocksdb::OptimisticTransactionOptions options;
      options.set_snapshot = settings.snapshot;
      begun = optimistic_->BeginTransaction(write, options, transaction.get());
    } else {
      rocksdb::TransactionOptions options;
      options.set_snapshot = settings.snapshot;
      options.deadlock_detect = true;
      options.lock_timeout = settings.lock_timeout_ms;
      begun = pessimistic_->BeginTransaction(write, options, transaction.get());
    }
    if (begun != transaction.get()) transaction.reset(begun);
  }

  // Past all transactions: for the rows before a run.
  rocksdb::DB& plain() { return *db_->GetBaseDB(); }

  bool has(const std::string& table) const {
    const std::shared_lock lock(mutex_);
    return tables_.contains(table);
  }
  void add(const std::string& table) {
    const std::unique_lock lock(mutex_);
    tables_.insert(table);
  }
  void remove(const std::string& table) {
    const std::unique_lock lock(mutex_);
    tables_.erase(table);
  }

 private:
  rocksdb::TransactionDB* pessimistic_;
  rocksdb::OptimisticTransactionDB* optimistic_;
  std::unique_ptr<rocksdb::StackableDB> db_;
  mutable std::shared_mutex mutex_;
  std::set<std::string> tables_;
};

// The stores of this process by their folders.
class Stores {
 public:
  static Stores& all() {
    static Stores stores;
    return stores;
  }

  base::Result<std::shared_ptr<Store>> open(const std::string& folder, bool optimistic) {
    const std::lock_guard lock(mutex_);
    auto found = open_.find(folder);
    if (found == open_.end()) {
      auto made = make(folder, optimistic);
      if (!made) return std::move(made).error();
      found = open_.emplace(folder, Shared{*std::move(made), 0}).first;
    } else if (found->second.store->optimistic() != optimistic) {
      return base::Error{.message =
                             fmt::format("this process has the RocksDB database {} open with {} "
                                         "transactions; close it, or use the same kind",
                                         folder, optimistic ? "pessimistic" : "optimistic")};
    }
    ++found->second.users;
    // The last user closes it under the lock, so that no one finds it half closed.
    return std::shared_ptr<Store>(found->second.store.get(), [this, folder](Store*) {
      const std::lock_guard last(mutex_);
      const auto mine = open_.find(folder);
      if (--mine->second.users == 0) open_.erase(mine);
    });
  }
  bool is_open(const std::string& folder) {
    const std::lock_guard lock(mutex_);
    return open_.contains(folder);
  }

 private:
  struct Shared {
    std::unique_ptr<Store> store;
    int users;
  };

  static base::Result<std::unique_ptr<Store>> make(const std::string& folder, bool optimistic) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.keep_log_file_num = 2;
    rocksdb::Status status;
    std::unique_ptr<Store> store;
    if (optimistic) {
      rocksdb::OptimisticTransactionDB* db = nullptr;
      status = rocksdb::OptimisticTransactionDB::Open(options, folder, &db);
      if (status.ok()) {
        store = std::make_unique<Store>(std::unique_ptr<rocksdb::OptimisticTransactionDB>(db));
      }
    } else {
      rocksdb::TransactionDB* db = nullptr;
      status = rocksdb::TransactionDB::Open(options, {}, folder, &db);
      if (status.ok()) {
        store = std::make_unique<Store>(std::unique_ptr<rocksdb::TransactionDB>(db));
      }
    }
    if (status.ok()) return store;
    const auto words = sql::one_line(status.ToString());
    const auto* advice = words.find("lock") != std::string::npos
                             ? "is another program using it?"
                             : "is it a folder that this user may write, and a RocksDB database?";
    return base::Error{.message = fmt::format("cannot open the RocksDB database {}: {}; {}", folder,
                                              words, advice)};
  }

  std::mutex mutex_;
  std::map<std::string, Shared> open_;
};

// "Busy", "TimedOut(LockTimeout)".
std::string code_name(const rocksdb::Status& status) {
  const auto words = sql::one_line(status.ToString());
  switch (status.subcode()) {
    case rocksdb::Status::kDeadlock:
      return "Busy(Deadlock)";
    case rocksdb::Status::kLockTimeout:
      return "TimedOut(LockTimeout)";
    case rocksdb::Status::kNoSpace:
      return "NoSpace";
    default:
      break;
  }
  switch (status.code()) {
    case rocksdb::Status::kBusy:
      return "Busy";
    case rocksdb::Status::kTryAgain:
      return "TryAgain";
    case rocksdb::Status::kTimedOut:
      return "TimedOut";
    case rocksdb::Status::kExpired:
      return "Expired";
    case rocksdb::Status::kIOError:
      return "IOError";
    case rocksdb::Status::kCorruption:
      return "Corruption";
    default:
      return words.substr(0, words.find(':'));
  }
}

bool is_conflict(const rocksdb::Status& status) {
  return status.IsBusy() || status.IsTryAgain() || status.IsTimedOut();
}

Failure failure_of(const rocksdb::Status& status, TxnOutcome txn_outcome) {
  Cause cause = Cause::kStatement;
  if (is_conflict(status)) {
    cause = Cause::kConflict;
  } else if (status.IsExpired()) {
    cause = Cause::kTimeout;
  } else if (status.IsIOError() || status.IsCorruption() || status.IsShutdownInProgress()) {
    cause = Cause::kConnection;  // the disk is to a folder what a network is to a server
  }
  return {.txn_outcome = txn_outcome,
          .cause = cause,
          .code = code_name(status),
          .message = sql::one_line(status.ToString())};
}

class RocksdbConnection final : public Connection {
 public:
  RocksdbConnection(std::shared_ptr<Store> store, const Settings& settings, workload::Schema schema)
      : store_(std::move(store)), settings_(settings), schema_(std::move(schema)) {}

  MaybeFailure begin() override {
    rollback();
    store_->begin(settings_, transaction_);
    open_ = true;
    read_ = {};
    if (settings_.snapshot) read_.snapshot = transaction_->GetSnapshot();
    return std::nullopt;
  }

  MaybeFailure execute(const Statement& statement, Reply& reply) override {
    reply = {};
    if (!open_) return refused("a statement outside a transaction");
    if (auto wrong = misfit(schema_, statement); !wrong.empty()) {
      return failed(refused("a statement that does not fit the schema: " + wrong));
    }
    const auto& table = schema_.tables[statement.table];
    if (!store_->has(table.name)) {
      auto gone = refused(fmt::format("there is no table {} in {}", table.name, settings_.path));
      gone.cause = Cause::kGone;
      return failed(std::move(gone));
    }
    auto failure = run(table, statement, reply);
    if (!failure) return std::nullopt;
    reply = {};
    return failed(*std::move(failure));
  }

  MaybeFailure commit() override {
    if (!open_) return refused("a commit outside a transaction");
    const auto status = transaction_->Commit();
    open_ = false;
    if (status.ok()) return std::nullopt;
    transaction_.reset();  // gives its locks back; in whatever state it is
    return failure_of(status, is_conflict(status) || status.IsExpired() ? TxnOutcome::kAborted
                                                                        : TxnOutcome::kUnknown);
  }

  void rollback() override {
    if (!open_) return;
    open_ = false;
    if (!transaction_->Rollback().ok()) transaction_.reset();
  }

 private:
  // The row of a key as bytes; none if it is absent.
  using Found = std::optional<std::string>;

  Failure failed(Failure failure) {
    rollback();
    return failure;
  }

  MaybeFailure get(const std::string& key, bool for_update, Found& found) {
    std::string bytes;
    auto* family = store_->plain().DefaultColumnFamily();
    const auto status = for_update ? transaction_->GetForUpdate(read_, family, key, &bytes)
                                   : transaction_->Get(read_, family, key, &bytes);
    found.reset();
    if (status.ok()) found = std::move(bytes);
    if (status.ok() || status.IsNotFound()) return std::nullopt;
    return failure_of(status, TxnOutcome::kAborted);
  }

  MaybeFailure put(const std::string& key, const std::vector<Datum>& cells) {
    const auto status = transaction_->Put(key, row_bytes(cells));
    if (status.ok()) return std::nullopt;
    return failure_of(status, TxnOutcome::kAborted);
  }

  // Bytes that are no row of ours come back as they are, in the first column.
  static std::vector<Datum> cells(const Table& table, const std::string& bytes) {
    if (auto row = parse_row(bytes, table.columns.size())) return *std::move(row);
    std::vector<Datum> row(table.columns.size());
    row[0] = bytes;
    return row;
  }
  static std::vector<Datum> chosen(const Statement& statement, std::vector<Datum> row) {
    if (statement.columns.empty()) return row;
    std::vector<Datum> values;
    for (const auto column : statement.columns) values.push_back(row[column]);
    return values;
  }

  MaybeFailure run(const Table& table, const Statement& statement, Reply& reply) {
    const auto key = ordered_key(table, statement.key);
    const auto& columns = statement.columns;
    const auto column = columns.empty() ? 0 : columns[0];
    Found found;
    switch (statement.kind) {
      case StatementKind::kRead: {
        if (auto failure = get(key, settings_.for_update, found)) return failure;
        const bool list = (columns.size() == 1 || table.columns.size() == 1) &&
                          table.columns[column].type == ColumnType::kList;
        if (!found) return std::nullopt;
        auto row = cells(table, *found);
        if (list) {
          reply.elements = sql::list_elements(sql::ListForm::kText, row[column]);
        } else {
          reply.rows.push_back({statement.key, chosen(statement, std::move(row))});
        }
        return std::nullopt;
      }
      case StatementKind::kRange:
        return range(table, statement, reply);
      case StatementKind::kDelete: {
        const auto status = transaction_->Delete(key);
        if (status.ok()) return std::nullopt;
        return failure_of(status, TxnOutcome::kAborted);
      }
      case StatementKind::kWrite: {
        std::vector<Datum> row(table.columns.size());
        // Some of the columns: the others keep what they hold.
        const auto distinct = std::set<std::uint32_t>(columns.begin(), columns.end()).size();
        if (!columns.empty() && distinct < row.size()) {
          if (auto failure = get(key, true, found)) return failure;
          if (found) row = cells(table, *found);
        }
        for (std::size_t i = 0; i < statement.values.size(); ++i) {
          const auto at = columns.empty() ? i : columns[i];
          row[at] = normal(table.columns[at].type, statement.values[i]);
        }
        return put(key, row);
      }
      case StatementKind::kInsert: {
        if (auto failure = get(key, true, found)) return failure;
        if (found) {
          return Failure{.txn_outcome = TxnOutcome::kAborted,
                         .cause = Cause::kConstraint,
                         .code = "exists",
                         .message = fmt::format("a row of {} is there already", table.name)};
        }
        std::vector<Datum> row(table.columns.size());
        for (std::size_t i = 0; i < statement.values.size(); ++i) {
          const auto at = columns.empty() ? i : columns[i];
          row[at] = normal(table.columns[at].type, statement.values[i]);
        }
        return put(key, row);
      }
      case StatementKind::kAppend: {
        if (auto failure = get(key, true, found)) return failure;
        std::string list;
        if (found) {
          const auto row = cells(table, *found);
          if (!std::holds_alternative<std::monostate>(row[0])) list = workload::to_string(row[0]);
        }
        return put(key, {Datum(appended(list, statement.values[0]))});
      }
      case StatementKind::kCompareAndSet: {
        if (auto failure = get(key, true, found)) return failure;
        const auto type = table.columns[column].type;
        const auto& expected = statement.values[0];
        std::vector<Datum> row(table.columns.size());
        if (found) row = cells(table, *found);
        const bool absent_wanted = std::holds_alternative<std::monostate>(expected);
        reply.succeeded = absent_wanted ? !found : found && row[column] == normal(type, expected);
        if (!reply.succeeded) return std::nullopt;
        row[column] = normal(type, statement.values[1]);
        return put(key, row);
      }
    }
    return std::nullopt;
  }

  MaybeFailure range(const Table& table, const Statement& statement, Reply& reply) {
    if (settings_.for_update) {
      return refused(fmt::format("a range in {}, where nothing locks the gaps between rows",
                                 settings_.isolation));
    }
    const auto low = ordered_key(table, statement.key);
    const auto high = ordered_key(table, statement.high);
    const std::unique_ptr<rocksdb::Iterator> rows(transaction_->GetIterator(read_));
    for (rows->Seek(low); rows->Valid() && rows->key().compare(high) <= 0; rows->Next()) {
      auto key = parse_ordered_key(table, rows->key().ToStringView());
      if (!key) key = std::vector<Datum>{rows->key().ToString()};
      reply.rows.push_back(
          {*std::move(key), chosen(statement, cells(table, rows->value().ToString()))});
    }
    if (rows->status().ok()) return std::nullopt;
    return failure_of(rows->status(), TxnOutcome::kAborted);
  }

  std::shared_ptr<Store> store_;  // outlives the transaction
  Settings settings_;
  workload::Schema schema_;
  std::unique_ptr<rocksdb::Transaction> transaction_;
  rocksdb::ReadOptions read_;
  bool open_ = false;
};

// Removes every key of a table.
rocksdb::Status drop(rocksdb::DB& db, const Table& table) {
  constexpr int kKeysInBatch = 1000;
  const auto prefix = ordered_prefix(table);
  const std::unique_ptr<rocksdb::Iterator> keys(db.NewIterator({}));
  rocksdb::WriteBatch batch;
  rocksdb::Status status;
  for (keys->Seek(prefix); status.ok() && keys->Valid() && keys->key().starts_with(prefix);
       keys->Next()) {
    batch.Delete(keys->key());
    if (batch.Count() < kKeysInBatch) continue;
    status = db.Write({}, &batch);
    batch.Clear();
  }
  if (status.ok()) status = keys->status();
  if (status.ok() && batch.Count() > 0) status = db.Write({}, &batch);
  return status;
}

class RocksdbDatabase final : public Database {
 public:
  RocksdbDatabase(Settings settings, std::shared_ptr<Store> store, bool made)
      : settings_(std::move(settings)), store_(std::move(store)), made_(made) {}

  [[nodiscard]] Facts facts() const override {
    return {.product = "RocksDB",
            .version = fmt::format("{}.{}.{}", ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH),
            .isolation = settings_.isolation,
            .detail = fmt::format("{}, sync={}",
                                  settings_.optimistic
                                      ? std::string("OptimisticTransactionDB")
                                      : fmt::format("TransactionDB, write committed, "
                                                    "lock_timeout={}, deadlock detection",
                                                    settings_.lock_timeout_ms),
                                  settings_.sync ? "on" : "off")};
  }

  [[nodiscard]] workload::Needs can() const override {
    auto needs = sql::all_needs();
    needs.ranges = !settings_.for_update;
    return needs;
  }

  base::Status prepare(const workload::Workload& workload) override {
    // clean() may have closed it.
    if (!store_) {
      auto store = Stores::all().open(settings_.path, settings_.optimistic);
      if (!store) return std::move(store).error();
      store_ = *std::move(store);
    }
    auto& db = store_->plain();
    rocksdb::Status status;
    for (const auto& table : workload.schema().tables) {
      if (status.ok()) status = drop(db, table);
    }
    constexpr int kRowsInBatch = 1000;
    rocksdb::WriteBatch batch;
    const auto& tables = workload.schema().tables;
    workload.load([&](std::uint32_t number, const Row& row) {
      if (!status.ok()) return;
      const auto& table = tables[number];
      std::vector<Datum> cells;
      for (std::size_t i = 0; i < row.values.size(); ++i) {
        cells.push_back(normal(table.columns[i].type, row.values[i]));
      }
      batch.Put(ordered_key(table, row.key), row_bytes(cells));
      if (batch.Count() < kRowsInBatch) return;
      status = db.Write({}, &batch);
      batch.Clear();
    });
    if (status.ok() && batch.Count() > 0) status = db.Write({}, &batch);
    if (!status.ok()) {
      return base::Error{.message = fmt::format("cannot load the rows into {}: {}", settings_.path,
                                                sql::one_line(status.ToString()))};
    }
    for (const auto& table : tables) store_->add(table.name);
    schema_ = workload.schema();
    return base::Ok{};
  }

  base::Result<std::unique_ptr<Connection>> connect(std::uint32_t) override {
    if (!store_) {
      return base::Error{
          .message = fmt::format("the database {} was removed; prepare it again", settings_.path)};
    }
    return std::unique_ptr<Connection>(
        std::make_unique<RocksdbConnection>(store_, settings_, schema_));
  }

  void clean() override {
    if (!store_) return;
    for (const auto& table : schema_.tables) {
      store_->remove(table.name);
      (void)drop(store_->plain(), table);
    }
    if (!made_) return;
    store_.reset();
    // Others of this process may use it still.
    if (!Stores::all().is_open(settings_.path)) {
      (void)rocksdb::DestroyDB(settings_.path, rocksdb::Options());
    }
  }

 private:
  Settings settings_;
  std::shared_ptr<Store> store_;
  bool made_;  // the folder was not there before
  workload::Schema schema_;
};

base::Result<Settings> parse_settings(const std::string& text, const OpenOptions& options) {
  auto url = parse_url(text);
  if (!url) return std::move(url).error();
  Settings settings;
  settings.path = url->path;
  if (!url->hosts.empty()) {
    if (!url->hosts[0].name.empty()) {
      return base::Error{.message = fmt::format("found the host `{}` in {}, expected rocksdb:PATH",
                                                url->hosts[0].name, text)};
    }
    settings.path = '/' + settings.path;
  }
  if (settings.path.empty() || settings.path == "/") {
    return base::Error{.message = fmt::format(
                           "found `{}`, expected rocksdb:PATH with the path of a folder", text)};
  }
  if (const auto sync = take_option(*url, "sync")) {
    if (*sync != "on" && *sync != "off") {
      return base::Error{
          .message = fmt::format("found sync={} in the URL, expected sync=on or sync=off", *sync)};
    }
    settings.sync = *sync == "on";
  }
  if (const auto wait = take_option(*url, "lock_timeout")) {
    const auto number = option_number("lock_timeout", *wait, 0, 3'600'000);
    if (!number) return number.error();
    settings.lock_timeout_ms = *number;
  }
  settings.lock_timeout_ms = std::min(settings.lock_timeout_ms,
                                      static_cast<std::int64_t>(options.statement_timeout * 1000));
  if (auto unknown = unknown_options(*url, "sync or lock_timeout")) return *std::move(unknown);
  settings.isolation = options.isolation;
  settings.optimistic = options.isolation.starts_with("optimistic");
  settings.snapshot = options.isolation.ends_with("-snapshot");
  settings.for_update = options.isolation.ends_with("-for-update");
  return settings;
}

}  // namespace

base::Result<std::unique_ptr<Database>> open_rocksdb(const std::string& url,
                                                     const OpenOptions& options) {
  auto settings = parse_settings(url, options);
  if (!settings) return std::move(settings).error();
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path given(settings->path);
  if (fs::exists(given, error) && !fs::is_directory(given, error)) {
    return base::Error{
        .message = fmt::format("found a file at {}, expected a folder with a RocksDB database, or "
                               "nothing",
                               settings->path)};
  }
  const auto parent = fs::absolute(given, error).lexically_normal().parent_path();
  if (!fs::is_directory(parent, error)) {
    return base::Error{.message = fmt::format("cannot open the RocksDB database {}: there is no "
                                              "folder {}; make it, or give another path",
                                              settings->path, parent.string())};
  }
  const bool there = fs::is_directory(given, error);
  if (there && !fs::is_empty(given, error) && !fs::exists(given / "CURRENT", error)) {
    return base::Error{.message = fmt::format("found a folder with other files at {}, expected a "
                                              "RocksDB database, an empty folder or nothing",
                                              settings->path)};
  }
  // One name a folder, so that all who mean it share it.
  auto whole = fs::weakly_canonical(given, error);
  if (whole.filename().empty()) whole = whole.parent_path();
  settings->path = whole.string();
  auto store = Stores::all().open(settings->path, settings->optimistic);
  if (!store) return std::move(store).error();
  return std::unique_ptr<Database>(
      std::make_unique<RocksdbDatabase>(*std::move(settings), *std::move(store), !there));
}

}  // namespace cupel::drivers

CUPEL_DRIVER_PLUGIN(cupel::drivers::open_rocksdb, nullptr)
