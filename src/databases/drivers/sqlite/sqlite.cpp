// SQLite: an embedded database, one connection a session.
//
// serializable is what SQLite gives with private caches; read-uncommitted is
// PRAGMA read_uncommitted on a shared cache, where readers see what others have
// not committed. Locks are waited for up to busy_timeout; then, or when SQLite
// says that waiting is of no use (SQLITE_BUSY_SNAPSHOT), the transaction is
// rolled back: a conflict, and certainly aborted.
//
// COMMIT: SQLITE_BUSY leaves the transaction open, and it is rolled back. Any
// other error is an abort if the transaction is still open and ROLLBACK undoes it;
// if SQLite closed it itself, or the disk failed, the log may hold a commit that a
// reader finds after a crash: unknown. See docs/reference/drivers/sqlite.md.
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <thread>

#include "databases/drivers/registry.hpp"
#include "databases/drivers/sql_connection.hpp"
#include "databases/drivers/sqlite_options.hpp"
#include "databases/drivers/url.hpp"

namespace cupel::drivers {

namespace {

using Clock = std::chrono::steady_clock;
using sql::Text;
using workload::Datum;
using workload::Row;
using workload::Statement;

struct CloseDatabase {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
struct CloseStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Handle = std::unique_ptr<sqlite3, CloseDatabase>;
using Prepared = std::unique_ptr<sqlite3_stmt, CloseStatement>;

struct Settings : SqliteOptions {
  std::string path;
  std::string journal = "wal";
  std::string synchronous = "normal";
  bool read_uncommitted = false;
};

// How long a lock is waited for in one call of sqlite3_step. SQLite's own handler
// sleeps up to 100 ms at a time, and leaves a short transaction waiting for longer
// than its rivals take.
class Patience {
 public:
  explicit Patience(std::chrono::milliseconds limit) : limit_(limit) {}
  void start() { deadline_ = Clock::now() + limit_; }
  bool wait(int tries) {
    if (Clock::now() >= deadline_) return false;
    std::this_thread::sleep_for(
        std::chrono::microseconds(std::min(100 << std::min(tries, 5), 2000)));
    return true;
  }
  static int busy(void* self, int tries) {
    return static_cast<Patience*>(self)->wait(tries) ? 1 : 0;
  }

 private:
  std::chrono::milliseconds limit_;
  Clock::time_point deadline_;
};

// "SQLITE_BUSY_SNAPSHOT"; the plain code's name for extended codes not listed.
std::string code_name(int extended) {
  switch (extended) {
    case SQLITE_BUSY_SNAPSHOT:
      return "SQLITE_BUSY_SNAPSHOT";
    case SQLITE_BUSY_RECOVERY:
      return "SQLITE_BUSY_RECOVERY";
    case SQLITE_LOCKED_SHAREDCACHE:
      return "SQLITE_LOCKED_SHAREDCACHE";
    case SQLITE_CONSTRAINT_PRIMARYKEY:
      return "SQLITE_CONSTRAINT_PRIMARYKEY";
    case SQLITE_IOERR_WRITE:
      return "SQLITE_IOERR_WRITE";
    case SQLITE_IOERR_FSYNC:
      return "SQLITE_IOERR_FSYNC";
    case SQLITE_IOERR_READ:
      return "SQLITE_IOERR_READ";
    default:
      break;
  }
  switch (extended & 0xff) {
    case SQLITE_ERROR:
      return "SQLITE_ERROR";
    case SQLITE_PERM:
      return "SQLITE_PERM";
    case SQLITE_BUSY:
      return "SQLITE_BUSY";
    case SQLITE_LOCKED:
      return "SQLITE_LOCKED";
    case SQLITE_NOMEM:
      return "SQLITE_NOMEM";
    case SQLITE_READONLY:
      return "SQLITE_READONLY";
    case SQLITE_INTERRUPT:
      return "SQLITE_INTERRUPT";
    case SQLITE_IOERR:
      return "SQLITE_IOERR";
    case SQLITE_CORRUPT:
      return "SQLITE_CORRUPT";
    case SQLITE_FULL:
      return "SQLITE_FULL";
    case SQLITE_CANTOPEN:
      return "SQLITE_CANTOPEN";
    case SQLITE_PROTOCOL:
      return "SQLITE_PROTOCOL";
    case SQLITE_CONSTRAINT:
      return "SQLITE_CONSTRAINT";
    case SQLITE_NOTADB:
      return "SQLITE_NOTADB";
    default:
      return fmt::format("SQLITE_{}", extended);
  }
}

Cause cause_of(int extended) {
  switch (extended & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return Cause::kConflict;  // a race for the lock of the log, lost too often
    case SQLITE_CONSTRAINT:
      return Cause::kConstraint;
    case SQLITE_INTERRUPT:
      return Cause::kTimeout;
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
      return Cause::kConnection;  // the disk is to a file what a network is to a server
    default:
      return Cause::kStatement;
  }
}

class SqliteConnection final : public sql::SqlConnection {
 public:
  SqliteConnection(Handle db, const Settings& settings, sql::Texts texts)
      : SqlConnection(std::move(texts)), db_(std::move(db)), patience_(settings.busy_timeout) {
    sqlite3_extended_result_codes(db_.get(), 1);
    sqlite3_busy_handler(db_.get(), Patience::busy, &patience_);
    begin_text_ = "BEGIN " + settings.mode;
  }
  ~SqliteConnection() override {
    prepared_.clear();
    begin_.reset();
    commit_.reset();
    rollback_.reset();
  }

  // Runs any SQL; rows of a query are counted and dropped.
  base::Status run_text(const std::string& text) {
    Prepared statement;
    if (auto failure = ready(statement, text)) return base::Error{.message = failure->message};
    const int code = step_all(statement.get());
    if (code != SQLITE_DONE) return base::Error{.message = error(code).message};
    return base::Ok{};
  }

  // The first cell of a query's first row, as text.
  base::Result<std::string> ask(const std::string& text) {
    Prepared statement;
    if (auto failure = ready(statement, text)) return base::Error{.message = failure->message};
    const int code = step(statement.get());
    if (code != SQLITE_ROW) return base::Error{.message = error(code).message};
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement.get(), 0));
    return std::string(bytes == nullptr ? "" : bytes);
  }

 protected:
  MaybeFailure start() override { return control(begin_, begin_text_); }

  MaybeFailure run(const Text& text, const Statement& statement, std::vector<Row>& rows,
                   std::uint64_t& touched) override {
    if (prepared_.size() <= text.number) prepared_.resize(text.number + 1);
    auto& slot = prepared_[text.number];
    if (auto failure = ready(slot, text.sql)) return failure;
    auto* prepared = slot.get();
    for (std::size_t i = 0; i < text.slots.size(); ++i) {
      Datum scratch;
      const auto& datum = sql::bound(dialect(), text.slots[i], statement, scratch);
      const int place = static_cast<int>(i) + 1;
      if (const auto* integer = std::get_if<std::int64_t>(&datum)) {
        sqlite3_bind_int64(prepared, place, *integer);
      } else if (const auto* bytes = std::get_if<std::string>(&datum)) {
        sqlite3_bind_text64(prepared, place, bytes->data(), bytes->size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8);
      } else {
        sqlite3_bind_null(prepared, place);
      }
    }
    const bool query = sqlite3_column_count(prepared) > 0;
    int code = step(prepared);
    while (code == SQLITE_ROW) {
      auto& row = rows.emplace_back();
      for (int i = 0; i < sqlite3_column_count(prepared); ++i) {
        auto& cells = static_cast<std::uint32_t>(i) < text.key_columns ? row.key : row.values;
        cells.push_back(cell(prepared, i));
      }
      code = sqlite3_step(prepared);
    }
    MaybeFailure outcome;
    if (code != SQLITE_DONE) outcome = error(code);
    touched = query ? rows.size() : static_cast<std::uint64_t>(sqlite3_changes64(db_.get()));
    sqlite3_reset(prepared);
    return outcome;
  }

  MaybeFailure end() override {
    auto failure = control(commit_, "COMMIT");
    if (!failure) return failure;
    // Still open: the commit did not take place, and undo() sees that it never does;
    // but where the disk failed, the log may hold all of it for who recovers it.
    const bool undone = sqlite3_get_autocommit(db_.get()) == 0 && undo();
    failure->txn_outcome = undone && failure->cause != Cause::kConnection ? TxnOutcome::kAborted
                                                                          : TxnOutcome::kUnknown;
    return failure;
  }

  bool undo() override {
    if (sqlite3_get_autocommit(db_.get()) != 0) return true;
    return !control(rollback_, "ROLLBACK") || sqlite3_get_autocommit(db_.get()) != 0;
  }

 private:
  MaybeFailure ready(Prepared& statement, const std::string& text) {
    if (statement) return std::nullopt;
    // Compiling reads the schema, which another connection may have locked.
    patience_.start();
    for (int tries = 0;; ++tries) {
      sqlite3_stmt* made = nullptr;
      const int code = sqlite3_prepare_v3(db_.get(), text.data(), static_cast<int>(text.size()),
                                          SQLITE_PREPARE_PERSISTENT, &made, nullptr);
      statement.reset(made);
      if (code == SQLITE_OK) return std::nullopt;
      if ((code & 0xff) != SQLITE_LOCKED || !patience_.wait(tries)) return error(code);
    }
  }

  // The first step of a statement: the one that takes its locks.
  int step(sqlite3_stmt* statement) {
    patience_.start();
    for (int tries = 0;; ++tries) {
      const int code = sqlite3_step(statement);
      // In a shared cache SQLite does not ask the busy handler.
      if (code != SQLITE_LOCKED_SHAREDCACHE || !patience_.wait(tries)) return code;
      sqlite3_reset(statement);
    }
  }
  int step_all(sqlite3_stmt* statement) {
    int code = step(statement);
    while (code == SQLITE_ROW) code = sqlite3_step(statement);
    return code;
  }

  MaybeFailure control(Prepared& statement, const std::string& text) {
    if (auto failure = ready(statement, text)) return failure;
    const int code = step(statement.get());
    MaybeFailure outcome;
    if (code != SQLITE_DONE) outcome = error(code);
    sqlite3_reset(statement.get());
    return outcome;
  }

  Failure error(int code) {
    Failure failure{.txn_outcome = TxnOutcome::kAborted,
                    .cause = cause_of(code),
                    .code = code_name(code),
                    .message = sql::one_line(sqlite3_errmsg(db_.get()))};
    if (code == SQLITE_ERROR && sql::is_missing_table(failure.message)) {
      failure.cause = Cause::kGone;
    }
    return failure;
  }

  static Datum cell(sqlite3_stmt* statement, int column) {
    switch (sqlite3_column_type(statement, column)) {
      case SQLITE_INTEGER:
        return std::int64_t{sqlite3_column_int64(statement, column)};
      case SQLITE_NULL:
        return {};
      default: {
        const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
        const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
        return bytes == nullptr ? std::string() : std::string(bytes, size);
      }
    }
  }

  Handle db_;
  Patience patience_;
  std::string begin_text_;
  std::vector<Prepared> prepared_;  // by Text::number
  Prepared begin_, commit_, rollback_;
};

// Says that a run uses the database file, so that no other removes it: a shared lock on a file
// beside it, which the last one removes. Not on the database itself, for to close any descriptor of
// that gives up SQLite's own locks.
class UseOfFile {
 public:
  explicit UseOfFile(const std::string& database) : path_(database + "-cupel") {
    for (;;) {
      descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
      if (descriptor_ < 0) return;  // SQLite will say that the folder cannot be written
      struct stat ours = {};
      struct stat there = {};
      // A file system without such locks: then the database is never removed.
      if (::flock(descriptor_, LOCK_SH) != 0 || ::fstat(descriptor_, &ours) != 0) return;
      if (::stat(path_.c_str(), &there) == 0 && ours.st_ino == there.st_ino) return;
      ::close(descriptor_);  // the last run removed it meanwhile
    }
  }
  UseOfFile(const UseOfFile&) = delete;
  UseOfFile& operator=(const UseOfFile&) = delete;
  ~UseOfFile() {
    if (alone()) ::unlink(path_.c_str());
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  // Whether no other run uses the file; then none begins to before this is destroyed. To be asked
  // at the end only: after a "no", the others do not know of this one any more.
  bool alone() { return descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0; }

 private:
  std::string path_;
  int descriptor_ = -1;
};

class SqliteDatabase final : public Database {
 public:
  explicit SqliteDatabase(Settings settings)
      : settings_(std::move(settings)), use_(settings_.path) {
    std::error_code ignored;
    made_ = !std::filesystem::exists(settings_.path, ignored);
  }
  ~SqliteDatabase() override { keeper_.reset(); }

  base::Status open() {
    auto connection = connect_here();
    if (!connection) return std::move(connection).error();
    // Setting the journal takes a lock that a running program may hold; it answers
    // with the journal that is in force.
    // Two programs that set it at once get "database is locked" without a wait by SQLite.
    const auto give_up_at = std::chrono::steady_clock::now() + settings_.busy_timeout;
    auto journal = (*connection)->ask("PRAGMA journal_mode=" + settings_.journal);
    while (!journal && std::chrono::steady_clock::now() < give_up_at) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      journal = (*connection)->ask("PRAGMA journal_mode=" + settings_.journal);
    }
    if (!journal) {
      return base::Error{.message = fmt::format("cannot use the SQLite database {}: {}",
                                                settings_.path, journal.error().message)};
    }
    if (*journal != settings_.journal) {
      return base::Error{
          .message = fmt::format("found journal_mode={} after asking SQLite for {} on {}; try "
                                 "?journal=delete, or a local file system",
                                 *journal, settings_.journal, settings_.path)};
    }
    // A shared cache lives as long as a connection to it does.
    if (settings_.read_uncommitted) keeper_ = *std::move(connection);
    return base::Ok{};
  }

  [[nodiscard]] Facts facts() const override {
    return {.product = "SQLite",
            .version = sqlite3_libversion(),
            .isolation = settings_.read_uncommitted ? "read uncommitted" : "serializable",
            .detail = fmt::format("journal_mode={}, begin {}, synchronous={}{}", settings_.journal,
                                  settings_.mode, settings_.synchronous,
                                  settings_.read_uncommitted ? ", shared cache" : "")};
  }
  [[nodiscard]] workload::Needs can() const override { return sql::all_needs(); }

  base::Status prepare(const workload::Workload& workload) override {
    auto connection = connect_here();
    if (!connection) return std::move(connection).error();
    auto made = sql::make_tables(settings_.dialect, workload, [&](const std::string& text) {
      return (*connection)->run_text(text);
    });
    if (!made) {
      return base::Error{.message = fmt::format("cannot make the tables in {}: {}", settings_.path,
                                                made.error().message)};
    }
    const std::lock_guard lock(mutex_);
    schema_ = workload.schema();
    return made;
  }

  base::Status join(const workload::Schema& schema) override {
    const std::lock_guard lock(mutex_);
    schema_ = schema;
    return base::Ok{};
  }

  base::Result<std::unique_ptr<Connection>> connect(std::uint32_t) override {
    auto connection = connect_here();
    if (!connection) return std::move(connection).error();
    return std::unique_ptr<Connection>(*std::move(connection));
  }

  void clean() override {
    if (made_ && use_.alone()) {
      keeper_.reset();
      std::error_code ignored;
      for (const auto* suffix : {"", "-wal", "-shm", "-journal"}) {
        std::filesystem::remove(settings_.path + suffix, ignored);
      }
      return;
    }
    if (auto connection = connect_here()) {
      (void)sql::drop_tables(
          schema_, [&](const std::string& text) { return (*connection)->run_text(text); });
    }
  }

 private:
  base::Result<std::unique_ptr<SqliteConnection>> connect_here() {
    sqlite3* raw = nullptr;
    const int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
        (settings_.read_uncommitted ? SQLITE_OPEN_SHAREDCACHE : SQLITE_OPEN_PRIVATECACHE);
    const int code = sqlite3_open_v2(settings_.path.c_str(), &raw, flags, nullptr);
    Handle db(raw);
    const auto cannot = [&](const std::string& why) {
      return base::Error{
          .message = fmt::format("cannot open the SQLite database {}: {}", settings_.path, why)};
    };
    if (code != SQLITE_OK) {
      const auto folder = std::filesystem::path(settings_.path).parent_path();
      std::error_code ignored;
      if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
        return cannot(
            fmt::format("there is no folder {}; make it, or give another path", folder.string()));
      }
      if (raw == nullptr) return cannot("out of memory");
      // SQLite's own errno is that of its last attempt, to open the file for reading.
      const bool there = std::filesystem::exists(settings_.path, ignored);
      const auto asked = there ? settings_.path : folder.empty() ? "." : folder.string();
      const bool may = access(asked.c_str(), there ? R_OK | W_OK : W_OK | X_OK) == 0;
      return cannot(fmt::format("{}{}; is it a file that this user may write?", sqlite3_errmsg(raw),
                                may ? "" : std::string(": ") + std::strerror(errno)));
    }
    workload::Schema schema;
    {
      const std::lock_guard lock(mutex_);
      schema = schema_;
    }
    auto connection = std::make_unique<SqliteConnection>(
        std::move(db), settings_, sql::Texts(settings_.dialect, std::move(schema)));
    // The first to read the file: says whether it is a database at all.
    for (const auto& text :
         {std::string("SELECT count(*) FROM sqlite_schema"),
          "PRAGMA synchronous=" + settings_.synchronous,
          fmt::format("PRAGMA read_uncommitted={}", settings_.read_uncommitted ? 1 : 0)}) {
      if (auto done = connection->run_text(text); !done) {
        return cannot(done.error().message + "; expected a SQLite 3 database or no file");
      }
    }
    return connection;
  }

  Settings settings_;
  UseOfFile use_;
  bool made_ = false;  // the file was not there before
  std::mutex mutex_;
  workload::Schema schema_;
  std::unique_ptr<SqliteConnection> keeper_;
};

base::Result<Settings> parse_settings(const std::string& text, const OpenOptions& options) {
  auto url = parse_url(text);
  if (!url) return std::move(url).error();
  Settings settings;
  settings.path = url->path;
  if (!url->hosts.empty()) {
    // sqlite:///var/x is common; sqlite://x would name a host.
    if (!url->hosts[0].name.empty()) {
      return base::Error{.message = fmt::format("found the host `{}` in {}, expected sqlite:PATH",
                                                url->hosts[0].name, text)};
    }
    settings.path = '/' + settings.path;
  }
  if (settings.path.empty() || settings.path == ":memory:" || settings.path == "/") {
    return base::Error{
        .message = fmt::format("found `{}`, expected sqlite:PATH with the path of a file: sessions "
                               "have a connection each, and cannot share a database in memory",
                               text)};
  }
  auto common = take_sqlite_options(*url, options.statement_timeout);
  if (!common) return std::move(common).error();
  static_cast<SqliteOptions&>(settings) = *std::move(common);
  auto journal =
      take_choice(*url, "journal", settings.journal, {"wal", "delete", "truncate", "persist"});
  if (!journal) return std::move(journal).error();
  settings.journal = *std::move(journal);
  auto synchronous =
      take_choice(*url, "synchronous", settings.synchronous, {"off", "normal", "full"});
  if (!synchronous) return std::move(synchronous).error();
  settings.synchronous = *std::move(synchronous);
  if (auto unknown = unknown_options(*url, "mode, journal, synchronous, busy_timeout or list")) {
    return *std::move(unknown);
  }
  settings.read_uncommitted = options.isolation == "read-uncommitted";
  return settings;
}

}  // namespace

base::Result<std::unique_ptr<Database>> open_sqlite(const std::string& url,
                                                    const OpenOptions& options) {
  auto settings = parse_settings(url, options);
  if (!settings) return std::move(settings).error();
  auto database = std::make_unique<SqliteDatabase>(*std::move(settings));
  if (auto opened = database->open(); !opened) return std::move(opened).error();
  return std::unique_ptr<Database>(std::move(database));
}

}  // namespace cupel::drivers
