// MariaDB, MySQL and Galera clusters, by libmariadb: prepared statements, one
// connection a session, the session's number choosing among the URL's hosts.
//
// Nothing here waits without end: the server gives up a statement after the
// time-out where it can (max_statement_time, max_execution_time), lock waits are
// short, and a socket that says nothing for five seconds more is given up.
//
// COMMIT is the one statement whose failure may be unknown. It is an abort if the
// server says so: a deadlock (1213, which is also how Galera reports a failed
// certification) or a record that changed since it was read (1020). After any other
// error on a connection that still answers, the server is asked whether the
// transaction is still open: if so, COMMIT did nothing, and ROLLBACK makes that
// certain (Galera's 1047, "WSREP has not yet prepared node", is refused before it is
// begun). All else is unknown: no answer, a broken connection, and 1180, which
// Galera also answers when a write set was sent and the group was lost before it
// was certified. See docs/reference/drivers/mysql.md.
#include <fmt/format.h>
#include <mysql.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cctype>
#include <chrono>
#include <memory>
#include <mutex>

#include "base/hung_up.hpp"
#include "base/text.hpp"
#include "databases/drivers/mysql/connection_number.hpp"
#include "databases/drivers/plugin.hpp"
#include "databases/drivers/sql_connection.hpp"
#include "databases/drivers/url.hpp"

namespace cupel::drivers {

namespace {

using Clock = std::chrono::steady_clock;
using sql::Text;
using workload::Datum;
using workload::Row;
using workload::Statement;

// The server's and the library's error numbers, of mysqld_error.h and errmsg.h.
enum Code : unsigned {
  kDuplicateEntry = 1062,
  kUnknownCommand = 1047,
  kNoSuchTable = 1146,
  kServerShutdown = 1053,
  kDuplicateForeign = 1761,
  kRowIsReferenced = 1451,
  kNoReferencedRow = 1452,
  kCheckFailed = 4025,  // MariaDB's; MySQL's is 3819
  kLockWaitTimeout = 1205,
  kDeadlock = 1213,
  kRecordChanged = 1020,
  kQueryInterrupted = 1317,
  kStatementTimeout = 1969,  // MariaDB's max_statement_time
  kQueryTimeout = 3024,      // MySQL's max_execution_time
  kConnectionKilled = 1927,
  kUnknownVariable = 1193,
  kAccessDenied = 1045,
  kDatabaseDenied = 1044,
  kUnknownDatabase = 1049,
  kNoSocket = 2002,
  kNoHost = 2003,
  kUnknownHost = 2005,
  kServerGone = 2006,
  kServerLost = 2013,
  kTlsError = 2026,
  kTlsRequired = 3159,  // require_secure_transport
  kPluginNotLoaded = 2059,
  kPluginError = 2061,  // MySQL's caching_sha2_password without TLS
};
bool is_library(unsigned code) {
  return code >= 2000 && code < 3000;
}

struct CloseConnection {
  void operator()(MYSQL* connection) const { mysql_close(connection); }
};
struct CloseStatement {
  void operator()(MYSQL_STMT* statement) const { mysql_stmt_close(statement); }
};
struct FreeResult {
  void operator()(MYSQL_RES* result) const { mysql_free_result(result); }
};
using Handle = std::unique_ptr<MYSQL, CloseConnection>;
using Prepared = std::unique_ptr<MYSQL_STMT, CloseStatement>;
using Result = std::unique_ptr<MYSQL_RES, FreeResult>;

constexpr unsigned kGraceSeconds = 5;  // beyond the server's own time-out

struct Settings {
  Url url;
  std::string socket;
  std::vector<std::pair<mysql_option, std::string>> texts;  // of TLS
  std::optional<bool> tls, verify;
  std::string level;      // as the driver names it
  std::string isolation;  // as SET TRANSACTION ISOLATION LEVEL names it
  double timeout = 10;
  sql::Dialect dialect{sql::Product::kMysql, sql::ListForm::kText};
};

Cause cause_of(unsigned code) {
  switch (code) {
    case kDeadlock:
    case kLockWaitTimeout:
    case kRecordChanged:
      return Cause::kConflict;
    case kDuplicateEntry:
    case kDuplicateForeign:
    case kRowIsReferenced:
    case kNoReferencedRow:
    case kCheckFailed:
    case 3819:
      return Cause::kConstraint;
    case kQueryInterrupted:
    case kStatementTimeout:
    case kQueryTimeout:
      return Cause::kTimeout;
    case kNoSuchTable:
    case kUnknownDatabase:
      return Cause::kGone;
    case kServerShutdown:
    case kConnectionKilled:
    case kUnknownCommand:
      return Cause::kConnection;  // Galera: the node is not of the cluster now
    default:
      return is_library(code) ? Cause::kConnection : Cause::kStatement;
  }
}

class MysqlConnection final : public sql::SqlConnection {
 public:
  // `shares_connections` is set if transactions are seen to run in several of the server's
  // connections.
  MysqlConnection(Handle connection, const Settings& settings, sql::Texts texts,
                  std::shared_ptr<std::atomic<bool>> shares_connections)
      : SqlConnection(std::move(texts)),
        connection_(std::move(connection)),
        patience_(static_cast<unsigned>(settings.timeout + 0.999) + kGraceSeconds),
        shares_connections_(std::move(shares_connections)) {}
  ~MysqlConnection() override { prepared_.clear(); }

  base::Status run_text(const std::string& text) {
    if (auto failure = simple(text)) return base::Error{.message = failure->message};
    return base::Ok{};
  }
  // The last cell of a query's first row: the value of SHOW VARIABLES too.
  base::Result<std::string> ask(const std::string& text) {
    if (mysql_real_query(connection_.get(), text.data(), text.size()) != 0) {
      return base::Error{.message = sql::one_line(mysql_error(connection_.get()))};
    }
    const Result result(mysql_store_result(connection_.get()));
    const auto row = result ? mysql_fetch_row(result.get()) : nullptr;
    if (row == nullptr) return base::Error{.message = "no row"};
    const char* last = row[mysql_num_fields(result.get()) - 1];
    return std::string(last == nullptr ? "" : last);
  }
  [[nodiscard]] unsigned long number_in_greeting() const {
    return mysql_thread_id(connection_.get());
  }
  // What the last error was of.
  [[nodiscard]] unsigned last_error() const { return mysql_errno(connection_.get()); }

 protected:
  MaybeFailure start() override {
    // After 1, 2, 4 … transactions: it costs next to nothing.
    if (std::has_single_bit(++transactions_) && knows_number_ && !*shares_connections_) {
      if (auto failure = look_for_proxy()) return failure;
    }
    return simple("START TRANSACTION");
  }

  MaybeFailure run(const Text& text, const Statement& statement, std::vector<Row>& rows,
                   std::uint64_t& touched) override {
    if (lost_) return closed();
    if (prepared_.size() <= text.number) prepared_.resize(text.number + 1);
    auto& slot = prepared_[text.number];
    const auto began = Clock::now();
    if (!slot) {
      Prepared made(mysql_stmt_init(connection_.get()));
      if (!made) return failure_of(mysql_errno(connection_.get()), "out of memory", began);
      if (mysql_stmt_prepare(made.get(), text.sql.data(), text.sql.size()) != 0) {
        return failure_of(mysql_stmt_errno(made.get()), mysql_stmt_error(made.get()), began);
      }
      slot = std::move(made);
    }
    auto* prepared = slot.get();
    std::vector<Datum> scratch(text.slots.size());
    std::vector<MYSQL_BIND> parameters(text.slots.size());
    std::vector<long long> integers(text.slots.size());
    for (std::size_t i = 0; i < text.slots.size(); ++i) {
      auto& parameter = parameters[i];
      const auto& datum = sql::bound(dialect(), text.slots[i], statement, scratch[i]);
      if (const auto* integer = std::get_if<std::int64_t>(&datum)) {
        integers[i] = *integer;
        parameter.buffer_type = MYSQL_TYPE_LONGLONG;
        parameter.buffer = &integers[i];
      } else if (const auto* bytes = std::get_if<std::string>(&datum)) {
        parameter.buffer_type = MYSQL_TYPE_STRING;
        parameter.buffer = const_cast<char*>(bytes->data());
        parameter.buffer_length = bytes->size();
      } else {
        parameter.buffer_type = MYSQL_TYPE_NULL;
      }
    }
    const auto failed = [&] {
      return failure_of(mysql_stmt_errno(prepared), mysql_stmt_error(prepared), began);
    };
    if (!parameters.empty() && mysql_stmt_bind_param(prepared, parameters.data())) return failed();
    if (mysql_stmt_execute(prepared) != 0) return failed();
    const auto fields = mysql_stmt_field_count(prepared);
    if (fields == 0) {
      touched = mysql_stmt_affected_rows(prepared);
      return std::nullopt;
    }
    if (mysql_stmt_store_result(prepared) != 0) return failed();
    auto outcome =
        fetch(prepared, fields, text.key_columns, rows) ? MaybeFailure() : MaybeFailure(failed());
    mysql_stmt_free_result(prepared);
    touched = rows.size();
    return outcome;
  }

  MaybeFailure end() override {
    // Nothing that is sent from here on can arrive.
    lost_ = lost_ || base::hung_up(mysql_get_socket(connection_.get()));
    if (lost_) return closed();
    auto failure = simple("COMMIT");
    if (!failure) return failure;
    const auto code = last_code_;
    if (code == kDeadlock || code == kRecordChanged) return failure;
    failure->txn_outcome = TxnOutcome::kUnknown;
    if (!failure->connection_lost && still_open() && undo())
      failure->txn_outcome = TxnOutcome::kAborted;
    return failure;
  }

  bool undo() override { return !lost_ && !simple("ROLLBACK"); }

  // By the status in the last answer.
  [[nodiscard]] std::optional<bool> in_transaction() override {
    unsigned status = 0;
    if (mariadb_get_infov(connection_.get(), MARIADB_CONNECTION_SERVER_STATUS, &status) != 0) {
      return std::nullopt;
    }
    return (status & SERVER_STATUS_IN_TRANS) != 0;
  }

 private:
  MaybeFailure simple(const std::string& text) {
    if (lost_) return closed();
    const auto began = Clock::now();
    if (mysql_real_query(connection_.get(), text.data(), text.size()) != 0) {
      return failure_of(mysql_errno(connection_.get()), mysql_error(connection_.get()), began);
    }
    // A query's rows, which nobody asked for.
    const Result result(mysql_store_result(connection_.get()));
    return std::nullopt;
  }

  MaybeFailure look_for_proxy() {
    const auto began = Clock::now();
    const auto number = ask("SELECT CONNECTION_ID()");
    if (!number) {
      auto failure =
          failure_of(mysql_errno(connection_.get()), number.error().message.c_str(), began);
      // A server that does not know the function is not asked again.
      if (!failure.connection_lost) knows_number_ = false;
      return failure.connection_lost ? MaybeFailure(std::move(failure)) : std::nullopt;
    }
    if (!number_.empty() && *number != number_) *shares_connections_ = true;
    number_ = *number;
    return std::nullopt;
  }

  // Every answer says whether a transaction is open; one that reads no table and
  // that Galera answers in any state.
  bool still_open() { return !simple("SELECT 1") && in_transaction().value_or(false); }

  Failure failure_of(unsigned code, const char* message, Clock::time_point began) {
    last_code_ = code;
    Failure failure{.txn_outcome = TxnOutcome::kAborted,
                    .cause = cause_of(code),
                    .code = fmt::to_string(code),
                    .message = sql::one_line(message)};
    // 1158 to 1161: the server's words for a socket that failed.
    if (is_library(code) || code == kServerShutdown || code == kConnectionKilled ||
        (code >= 1158 && code <= 1161)) {
      failure.connection_lost = lost_ = true;
      // The library says "lost" of a socket that timed out, too.
      if (Clock::now() - began >= std::chrono::seconds(patience_ - 1)) {
        failure.cause = Cause::kTimeout;
      }
    }
    return failure;
  }

  static Failure closed() {
    return {.txn_outcome = TxnOutcome::kAborted,
            .cause = Cause::kConnection,
            .code = fmt::to_string(static_cast<unsigned>(kServerGone)),
            .message = "the connection is closed",
            .connection_lost = true};
  }

  // The rows of a stored result; false on an error.
  static bool fetch(MYSQL_STMT* prepared, unsigned fields, std::uint32_t key_columns,
                    std::vector<Row>& rows) {
    const Result metadata(mysql_stmt_result_metadata(prepared));
    if (!metadata) return false;
    struct Cell {
      bool integer = false;
      long long number = 0;
      std::string bytes = std::string(256, '\0');
      unsigned long length = 0;
      my_bool null = 0, cut = 0;
    };
    std::vector<Cell> cells(fields);
    std::vector<MYSQL_BIND> binds(fields);
    for (unsigned i = 0; i < fields; ++i) {
      const auto& field = *mysql_fetch_field_direct(metadata.get(), i);
      auto& cell = cells[i];
      auto& bind = binds[i];
      switch (field.type) {
        case MYSQL_TYPE_TINY:
        case MYSQL_TYPE_SHORT:
        case MYSQL_TYPE_INT24:
        case MYSQL_TYPE_LONG:
        case MYSQL_TYPE_LONGLONG:
          cell.integer = (field.flags & UNSIGNED_FLAG) == 0;
          break;
        default:
          break;
      }
      bind.buffer_type = cell.integer ? MYSQL_TYPE_LONGLONG : MYSQL_TYPE_STRING;
      bind.buffer = cell.integer ? static_cast<void*>(&cell.number) : cell.bytes.data();
      bind.buffer_length = cell.integer ? sizeof cell.number : cell.bytes.size();
      bind.length = &cell.length;
      bind.is_null = &cell.null;
      bind.error = &cell.cut;
    }
    if (mysql_stmt_bind_result(prepared, binds.data())) return false;
    for (;;) {
      const int code = mysql_stmt_fetch(prepared);
      if (code == MYSQL_NO_DATA) return true;
      if (code != 0 && code != MYSQL_DATA_TRUNCATED) return false;
      auto& row = rows.emplace_back();
      for (unsigned i = 0; i < fields; ++i) {
        const auto& cell = cells[i];
        auto& data = i < key_columns ? row.key : row.values;
        if (cell.null) {
          data.emplace_back();
        } else if (cell.integer) {
          data.emplace_back(std::int64_t{cell.number});
        } else if (cell.length <= cell.bytes.size()) {
          data.emplace_back(cell.bytes.substr(0, cell.length));
        } else {
          std::string whole(cell.length, '\0');
          MYSQL_BIND bind = binds[i];
          bind.buffer = whole.data();
          bind.buffer_length = whole.size();
          if (mysql_stmt_fetch_column(prepared, &bind, i, 0) != 0) return false;
          data.emplace_back(std::move(whole));
        }
      }
    }
  }

  Handle connection_;
  unsigned patience_;  // seconds
  bool lost_ = false;
  unsigned last_code_ = 0;
  std::uint64_t transactions_ = 0;
  bool knows_number_ = true;
  std::string number_;  // of the server's connection, when it was last asked
  std::shared_ptr<std::atomic<bool>> shares_connections_;
  std::vector<Prepared> prepared_;  // by Text::number
};

std::string address(const Settings& settings, const Host& host) {
  if (!settings.socket.empty()) return settings.socket;
  const auto name = host.name.empty() ? "localhost" : host.name;
  return host.port == 0 ? name : fmt::format("{}:{}", name, host.port);
}

// What to do about a connection that was refused.
std::string advice(unsigned code, const Settings& settings) {
  switch (code) {
    case kAccessDenied:
      // It is also the answer to an account that requires TLS.
      return settings.tls.value_or(false) || !settings.texts.empty()
                 ? "; check the user and the password in the URL"
                 : "; check the user and the password in the URL, and add `?ssl=1` if the account "
                   "requires TLS";
    case kTlsRequired:
    case kPluginError:
    case kPluginNotLoaded:
      return ". Add `?ssl=1` to the URL: this account or server requires TLS";
    case kDatabaseDenied:
      return fmt::format("; grant the user the database: GRANT ALL ON {}.* TO …",
                         settings.url.path);
    case kUnknownDatabase:
      return fmt::format("; make it with CREATE DATABASE {}, or name another in the URL",
                         settings.url.path);
    case kNoSocket:
    case kNoHost:
    case kUnknownHost:
    case kServerGone:
    case kServerLost:
      return "; is the server running there, and are host and port right?";
    case kTlsError:
      return "; see the URL's options ssl, ssl-ca and ssl-verify-server-cert";
    default:
      return "";
  }
}

class MysqlDatabase final : public Database {
 public:
  explicit MysqlDatabase(Settings settings) : settings_(std::move(settings)) {}

  base::Status open() {
    for (std::size_t host = 0; host < settings_.url.hosts.size(); ++host) {
      auto connection = connect_to(host);
      if (!connection) return std::move(connection).error();
      if (host == 0) learn(**connection);
    }
    return base::Ok{};
  }

  [[nodiscard]] Facts facts() const override {
    auto facts = facts_;
    if (*shares_connections_) facts.pooler = "multiplexed";
    return facts;
  }
  [[nodiscard]] workload::Needs can() const override { return sql::all_needs(); }

  base::Status prepare(const workload::Workload& workload) override {
    const auto first = primary_or_first();
    auto status = sql::make_tables(
        settings_.dialect, workload, static_cast<std::uint32_t>(settings_.url.hosts.size()),
        settings_.timeout * 3, [&](std::uint32_t host) -> base::Result<sql::RunSql> {
          auto connection = connect_to(host == 0 ? first : host == first ? 0 : host);
          if (!connection) return std::move(connection).error();
          std::shared_ptr<MysqlConnection> shared = *std::move(connection);
          return sql::RunSql([shared](const std::string& text) { return shared->run_text(text); });
        });
    if (!status) {
      return base::Error{.message = fmt::format(
                             "cannot make the tables on {} at {}: {}", facts_.product,
                             address(settings_, settings_.url.hosts[0]), status.error().message)};
    }
    const std::lock_guard lock(mutex_);
    schema_ = workload.schema();
    return status;
  }

  base::Status join(const workload::Schema& schema) override {
    const std::lock_guard lock(mutex_);
    schema_ = schema;
    return base::Ok{};
  }

  [[nodiscard]] std::vector<std::string> hosts() const override {
    std::vector<std::string> names;
    for (const auto& host : settings_.url.hosts) names.push_back(address(settings_, host));
    return names;
  }

  base::Result<bool> takes_writes(std::uint32_t host) override {
    auto connection = connect_to(host);
    if (!connection) return std::move(connection).error();
    const auto read_only = (*connection)->ask("SELECT @@read_only");
    return read_only ? base::Result<bool>(*read_only == "0") : read_only.error();
  }

  base::Result<std::unique_ptr<Connection>> connect_to_host(std::uint32_t host) override {
    auto connection = connect_to(host);
    if (!connection) return std::move(connection).error();
    return std::unique_ptr<Connection>(*std::move(connection));
  }

  void clean() override {
    if (auto connection = connect_to(primary_or_first())) {
      (void)sql::drop_tables(
          schema_, [&](const std::string& text) { return (*connection)->run_text(text); });
    }
  }

 private:
  void learn(MysqlConnection& connection) {
    const auto variable = [&](const std::string& name) {
      const auto value = connection.ask("SHOW VARIABLES LIKE '" + name + "'");
      return value ? *value : std::string();
    };
    const auto version = connection.ask("SELECT VERSION()");
    facts_.version = version ? *version : "";
    const bool mariadb = facts_.version.find("MariaDB") != std::string::npos;
    facts_.version.erase(std::min(facts_.version.find('-'), facts_.version.size()));
    const auto provider = variable("wsrep_provider");
    const bool galera = variable("wsrep_on") == "ON" && !provider.empty() && provider != "none";
    facts_.product = mariadb ? "MariaDB" : "MySQL";
    if (galera) facts_.product += " Galera";
    auto level = connection.ask(mariadb ? "SELECT @@SESSION.tx_isolation"
                                        : "SELECT @@SESSION.transaction_isolation");
    facts_.isolation = base::to_lower(level ? *level : settings_.isolation, "-", ' ');
    std::vector<std::string> names{"innodb_snapshot_isolation", "innodb_flush_log_at_trx_commit"};
    if (galera) names.insert(names.end(), {"wsrep_sync_wait", "wsrep_trx_fragment_size"});
    for (const auto& name : names) {
      // The session's, where there is one: SHOW VARIABLES gives that.
      const auto value = variable(name);
      if (value.empty()) continue;
      facts_.detail += fmt::format("{}{}={}", facts_.detail.empty() ? "" : ", ", name, value);
    }
    if (galera) {
      if (const auto nodes = connection.ask("SHOW STATUS LIKE 'wsrep_cluster_size'")) {
        facts_.detail += ", wsrep_cluster_size=" + *nodes;
      }
    }
    // A proxy tells its clients another connection than the server's.
    const auto number = connection.ask("SELECT CONNECTION_ID()");
    if (number && !is_number_in_greeting(*number, connection.number_in_greeting())) {
      facts_.pooler = "session";
    }
    if (settings_.url.hosts.size() > 1) {
      facts_.detail += fmt::format(", {} hosts", settings_.url.hosts.size());
    }
  }

  base::Result<std::unique_ptr<MysqlConnection>> connect_to(std::size_t number) {
    static const bool ready = mysql_library_init(0, nullptr, nullptr) == 0;
    const auto& host = settings_.url.hosts[number];
    const auto cannot = [&](unsigned code, std::string_view why) {
      return base::Error{.message = fmt::format("cannot connect to MariaDB or MySQL at {}: {}{}",
                                                address(settings_, host), sql::one_line(why),
                                                advice(code, settings_))};
    };
    Handle connection(ready ? mysql_init(nullptr) : nullptr);
    if (!connection) return cannot(0, "out of memory");
    auto* raw = connection.get();
    // Whole seconds, at least one.
    const auto seconds = static_cast<unsigned>(settings_.timeout + 0.999);
    const unsigned patience = seconds + kGraceSeconds;
    mysql_options(raw, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    mysql_options(raw, MYSQL_OPT_READ_TIMEOUT, &patience);
    mysql_options(raw, MYSQL_OPT_WRITE_TIMEOUT, &patience);
    mysql_options(raw, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    for (const auto& [option, value] : settings_.texts) mysql_options(raw, option, value.c_str());
    if (settings_.tls) {
      const my_bool on = *settings_.tls ? 1 : 0;
      mysql_options(raw, MYSQL_OPT_SSL_ENFORCE, &on);
    }
    if (settings_.verify) {
      const my_bool on = *settings_.verify ? 1 : 0;
      mysql_options(raw, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &on);
    }
    if (host.port != 0 && settings_.socket.empty()) {
      // Else the library takes "localhost" for a socket, whatever the port.
      const unsigned protocol = MYSQL_PROTOCOL_TCP;
      mysql_options(raw, MYSQL_OPT_PROTOCOL, &protocol);
    }
    const auto text_or_null = [](const std::string& text) {
      return text.empty() ? nullptr : text.c_str();
    };
    // CLIENT_FOUND_ROWS: an UPDATE counts the rows it matched, even if it wrote what
    // was there already.
    if (mysql_real_connect(raw, text_or_null(host.name), text_or_null(settings_.url.user),
                           settings_.url.password.c_str(), text_or_null(settings_.url.path),
                           host.port, text_or_null(settings_.socket),
                           CLIENT_FOUND_ROWS) == nullptr) {
      return cannot(mysql_errno(raw), mysql_error(raw));
    }
    // The library is content without TLS if the server has none.
    if ((settings_.tls.value_or(false) || !settings_.texts.empty()) &&
        mysql_get_ssl_cipher(raw) == nullptr) {
      return cannot(kTlsError, "the server offers no TLS, and the URL asks for it");
    }
    const std::string version = mysql_get_server_info(raw);
    workload::Schema schema;
    {
      const std::lock_guard lock(mutex_);
      schema = schema_;
    }
    auto made = std::make_unique<MysqlConnection>(std::move(connection), settings_,
                                                  sql::Texts(settings_.dialect, std::move(schema)),
                                                  shares_connections_);
    const auto lock_wait = std::clamp(static_cast<int>(settings_.timeout / 4), 1, 5);
    for (const auto& text :
         {"SET SESSION TRANSACTION ISOLATION LEVEL " + settings_.isolation,
          // A value that does not fit must be an error, not another value.
          std::string("SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"),
          fmt::format("SET SESSION innodb_lock_wait_timeout = {}", lock_wait),
          fmt::format("SET SESSION lock_wait_timeout = {}", seconds)}) {
      if (auto set = made->run_text(text); !set) return cannot(0, set.error().message);
    }
    // MariaDB's for all statements, or MySQL's for queries; older ones have neither.
    if (!made->run_text(fmt::format("SET SESSION max_statement_time = {}", settings_.timeout))) {
      (void)made->run_text(fmt::format("SET SESSION max_execution_time = {}",
                                       static_cast<int>(settings_.timeout * 1000)));
    }
    if (settings_.level == "snapshot") {
      if (auto set = made->run_text("SET SESSION innodb_snapshot_isolation = ON"); !set) {
        if (made->last_error() != kUnknownVariable) return cannot(0, set.error().message);
        return base::Error{
            .message = fmt::format(
                "found isolation `snapshot` and a server at {} of version {}, which has no "
                "innodb_snapshot_isolation; expected MariaDB 10.6.18, 10.11.8, 11.4.2 or later, or "
                "another level, such as repeatable-read",
                address(settings_, host), version)};
      }
    }
    return made;
  }

  Settings settings_;
  Facts facts_;
  std::shared_ptr<std::atomic<bool>> shares_connections_ =
      std::make_shared<std::atomic<bool>>(false);
  std::mutex mutex_;
  workload::Schema schema_;
};

base::Result<std::optional<bool>> take_switch(Url& url, const std::string& name) {
  const auto value = take_option(url, name);
  if (!value) return std::optional<bool>();
  for (const auto* yes : {"1", "true", "on", "yes"}) {
    if (*value == yes) return std::optional<bool>(true);
  }
  for (const auto* no : {"0", "false", "off", "no"}) {
    if (*value == no) return std::optional<bool>(false);
  }
  return base::Error{.message = fmt::format("found {}={} in the URL, expected {}=1 or {}=0", name,
                                            *value, name, name)};
}

// The option for TLS of another client, and what it is here.
std::optional<base::Error> foreign_tls_option(const Url& url) {
  for (const auto& [name, value] : url.options) {
    const auto plain = base::to_lower(name, "_", '-');
    if (plain != "ssl-mode" && plain != "sslmode" && plain != "usessl" && plain != "tls" &&
        plain != "requiressl") {
      continue;
    }
    const auto mode = base::to_lower(value, "-", '_');
    const bool off = mode == "disabled" || mode == "disable" || mode == "false" || mode == "0";
    const bool verifies = mode.starts_with("verify");
    return base::Error{
        .message =
            fmt::format("the URL has the option `{}`, which is of another client. Write {}", name,
                        verifies ? "`ssl-ca=FILE` and `ssl-verify-server-cert=1`"
                        : off    ? "`ssl=0`"
                                 : "`ssl=1`")};
  }
  return std::nullopt;
}

base::Result<Settings> parse_settings(const std::string& text, const OpenOptions& options) {
  auto url = parse_url(text);
  if (!url) return std::move(url).error();
  Settings settings;
  settings.timeout = options.statement_timeout;
  settings.level = options.isolation;
  settings.isolation = options.isolation == "snapshot" ? "repeatable-read" : options.isolation;
  std::transform(
      settings.isolation.begin(), settings.isolation.end(), settings.isolation.begin(),
      [](unsigned char c) { return c == '-' ? ' ' : static_cast<char>(std::toupper(c)); });
  if (!url->hosts.empty() && url->path.empty()) {
    return base::Error{.message = fmt::format("`{}` names no database. Write its name after the "
                                              "host: mysql://USER@HOST/DATABASE",
                                              without_password(text))};
  }
  if (url->hosts.empty() || url->path.find('/') != std::string::npos) {
    return base::Error{.message =
                           fmt::format("found `{}`, expected "
                                       "mysql://[USER[:PASSWORD]@]HOST[:PORT][,HOST…]/DATABASE",
                                       without_password(text))};
  }
  settings.socket = take_option(*url, "socket").value_or("");
  constexpr std::pair<const char*, mysql_option> kTexts[] = {
      {"ssl-ca", MYSQL_OPT_SSL_CA},
      {"ssl-capath", MYSQL_OPT_SSL_CAPATH},
      {"ssl-cert", MYSQL_OPT_SSL_CERT},
      {"ssl-key", MYSQL_OPT_SSL_KEY},
      {"ssl-cipher", MYSQL_OPT_SSL_CIPHER},
      {"ssl-crl", MYSQL_OPT_SSL_CRL},
      {"tls-version", MARIADB_OPT_TLS_VERSION}};
  for (const auto& [name, option] : kTexts) {
    if (auto value = take_option(*url, name))
      settings.texts.emplace_back(option, *std::move(value));
  }
  auto tls = take_switch(*url, "ssl");
  if (!tls) return std::move(tls).error();
  settings.tls = *tls;
  auto verify = take_switch(*url, "ssl-verify-server-cert");
  if (!verify) return std::move(verify).error();
  settings.verify = *verify;
  const auto lists = sql::parse_list_form(take_option(*url, "list"));
  if (!lists) return lists.error();
  settings.dialect.lists = *lists;
  if (auto foreign = foreign_tls_option(*url)) return *std::move(foreign);
  if (auto unknown = unknown_options(
          *url,
          "list, socket, ssl, ssl-ca, ssl-capath, ssl-cert, ssl-key, ssl-cipher, ssl-crl, "
          "ssl-verify-server-cert or tls-version")) {
    return *std::move(unknown);
  }
  settings.url = *std::move(url);
  return settings;
}

}  // namespace

base::Result<std::unique_ptr<Database>> open_mysql(const std::string& url,
                                                   const OpenOptions& options) {
  auto settings = parse_settings(url, options);
  if (!settings) return std::move(settings).error();
  auto database = std::make_unique<MysqlDatabase>(*std::move(settings));
  if (auto opened = database->open(); !opened) return std::move(opened).error();
  return std::unique_ptr<Database>(std::move(database));
}

}  // namespace cupel::drivers

CUPEL_DRIVER_PLUGIN(cupel::drivers::open_mysql, nullptr)
