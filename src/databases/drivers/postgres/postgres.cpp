// PostgreSQL, and what speaks its protocol, by libpq: one connection a session, the
// session's number choosing among the URL's hosts.
//
// A connection pooler may give each transaction another server connection. So nothing
// outlives a transaction: statements are prepared without a name, in the message that
// runs them, and settings are SET LOCAL in the message that begins the transaction.
// The driver looks for a pooler, because the result has to say that there is one.
//
// Nothing here waits without end. The server is asked to give up a statement after
// the time-out (statement_timeout); if it says nothing for five seconds more, it
// hangs, and the connection is given up: everything is sent and awaited with
// libpq's asynchronous calls and poll().
//
// COMMIT is the one statement whose failure may be unknown. It is an abort if the
// server answers so: with the tag ROLLBACK, or with an SQLSTATE that it gives
// before it commits (class 40 but 40003, 23, 25), or if the server had closed the
// connection before. No answer, a connection that breaks, a shutdown, a cancelled
// COMMIT, one with a warning, and every other SQLSTATE are unknown. See
// docs/reference/drivers/postgres.md.
#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "base/hung_up.hpp"
#include "databases/drivers/plugin.hpp"
#include "databases/drivers/postgres/settings.hpp"
#include "databases/drivers/sql_connection.hpp"

namespace cupel::drivers {

namespace {

using Clock = std::chrono::steady_clock;
using postgres::address;
using postgres::kGrace;
using postgres::Parameters;
using postgres::Seconds;
using postgres::Settings;
using sql::Text;
using workload::ColumnType;
using workload::Datum;
using workload::Row;
using workload::Statement;

// Of pg_type.dat; they never change.
constexpr Oid kInt8 = 20, kInt2 = 21, kInt4 = 23, kText = 25;

struct FinishConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Handle = std::unique_ptr<PGconn, FinishConnection>;
using Result = std::unique_ptr<PGresult, ClearResult>;

Cause cause_of(std::string_view state) {
  const auto kind = state.substr(0, 2);
  if (kind == "40" || state == "55P03") return Cause::kConflict;  // lock_not_available
  if (kind == "23") return Cause::kConstraint;
  if (state == "57014" || state == "25P03" || state == "57P05") return Cause::kTimeout;
  // 25006: a standby, which was a primary before a failover.
  if (state == "42P01" || state == "3F000") return Cause::kGone;  // no such table, no such schema
  if (kind == "08" || kind == "57" || kind == "53" || state == "25006") return Cause::kConnection;
  return Cause::kStatement;
}

// SQLSTATEs with which a COMMIT says that it has rolled back. 57014 and the like
// are left out: between the commit record and the answer a server may wait for
// replicas, and what comes then is not about the transaction.
bool commit_certainly_failed(std::string_view state) {
  const auto kind = state.substr(0, 2);
  return (kind == "40" && state != "40003") || kind == "23" || kind == "25";
}

class PostgresConnection final : public sql::SqlConnection {
 public:
  PostgresConnection(Handle connection, const Settings& settings, sql::Texts texts)
      : SqlConnection(std::move(texts)),
        connection_(std::move(connection)),
        begin_(settings.begin),
        timeout_(settings.timeout) {
    PQsetnonblocking(connection_.get(), 1);
    // Notices would go to standard error.
    PQsetNoticeReceiver(
        connection_.get(),
        [](void* self, const PGresult* notice) {
          static_cast<PostgresConnection*>(self)->look_at(notice);
        },
        this);
  }

  [[nodiscard]] PGconn* get() const { return connection_.get(); }

  void begin_by(std::string text) { begin_ = std::move(text); }

  // A setting of every transaction from here on. A failure: the server does not let this user
  // change it, or does not know it.
  MaybeFailure set_in_transactions(const std::string& setting) {
    const auto text = fmt::format("; SET LOCAL {}", setting);
    Result result;
    auto failure = simple("BEGIN ISOLATION LEVEL READ COMMITTED" + text, result);
    if (!undo() && !failure) failure = lost(Cause::kConnection);
    if (!failure) settings_ += text;
    return failure;
  }

  // Looks from here on whether transactions run in several processes of the server.
  void watch_for_pooler(std::shared_ptr<std::atomic<bool>> shares_connections) {
    shares_connections_ = std::move(shares_connections);
  }

  [[nodiscard]] bool transaction_is_open() const {
    return PQtransactionStatus(connection_.get()) == PQTRANS_INTRANS;
  }

  // Begins a transaction as start() does.
  MaybeFailure begin_anyhow() {
    Result result;
    return simple(begin_ + settings_, result);
  }

  // The answer inside a transaction like those of the workload, which is rolled back.
  base::Result<std::string> ask_in_transaction(const std::string& text) {
    auto answer = ask(begin_ + settings_ + "; " + text);
    if (!undo()) return base::Error{.message = "ROLLBACK failed"};
    return answer;
  }

  // The same as run_text(), with the statement time-out, which lasts as long as the transaction
  // that the text is or begins.
  base::Status run_in_time(const std::string& text) {
    if (PQtransactionStatus(connection_.get()) != PQTRANS_IDLE) return run_text(text);
    const auto setting = "SET LOCAL " + timeout_setting();
    return run_text(text == "BEGIN" ? text + "; " + setting : setting + "; " + text);
  }

  [[nodiscard]] std::string timeout_setting() const {
    return fmt::format("statement_timeout = {}",
                       std::max(1, static_cast<int>(timeout_.count() * 1000)));
  }

  base::Status run_text(const std::string& text) {
    Result result;
    if (auto failure = simple(text, result)) return base::Error{.message = failure->message};
    return base::Ok{};
  }
  base::Result<int> count_rows(const std::string& text) {
    Result result;
    if (auto failure = simple(text, result)) return base::Error{.message = failure->message};
    return PQntuples(result.get());
  }
  // The first cell of a query's first row.
  base::Result<std::string> ask(const std::string& text) {
    Result result;
    if (auto failure = simple(text, result)) return base::Error{.message = failure->message};
    if (PQntuples(result.get()) == 0) return base::Error{.message = "no row"};
    return std::string(PQgetvalue(result.get(), 0, 0));
  }

 protected:
  MaybeFailure start() override {
    // After 1, 2, 4 … transactions: it costs next to nothing.
    const bool look = std::has_single_bit(++transactions_);
    if (look && shares_connections_ && !*shares_connections_) {
      if (auto failure = look_for_pooler()) return failure;
    }
    return begin_anyhow();
  }

  MaybeFailure run(const Text& text, const Statement& statement, std::vector<Row>& rows,
                   std::uint64_t& touched) override {
    Result result;
    types_.resize(text.slots.size());
    strings_.resize(text.slots.size());
    values_.resize(text.slots.size());
    for (std::size_t i = 0; i < text.slots.size(); ++i) {
      types_[i] = text.slots[i].type == ColumnType::kInteger ? kInt8 : kText;
      Datum scratch;
      const auto& datum = sql::bound(dialect(), text.slots[i], statement, scratch);
      strings_[i] = workload::to_string(datum);
      values_[i] = std::holds_alternative<std::monostate>(datum) ? nullptr : strings_[i].c_str();
      if (strings_[i].find('\0') != std::string::npos) {
        return Failure{.txn_outcome = TxnOutcome::kAborted,
                       .cause = Cause::kStatement,
                       .code = "22021",
                       .message = "text with a zero byte, which PostgreSQL cannot hold"};
      }
    }
    const bool sent =
        PQsendQueryParams(connection_.get(), text.sql.c_str(), static_cast<int>(values_.size()),
                          types_.data(), values_.data(), nullptr, nullptr, 0) == 1;
    if (auto failure = answer(sent, result)) return failure;
    if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) {
      const std::string_view count = PQcmdTuples(result.get());
      std::from_chars(count.data(), count.data() + count.size(), touched);
      return std::nullopt;
    }
    const int columns = PQnfields(result.get());
    for (int r = 0; r < PQntuples(result.get()); ++r) {
      auto& row = rows.emplace_back();
      for (int c = 0; c < columns; ++c) {
        auto& cells = static_cast<std::uint32_t>(c) < text.key_columns ? row.key : row.values;
        cells.push_back(cell(result.get(), r, c));
      }
    }
    touched = rows.size();
    return std::nullopt;
  }

  MaybeFailure end() override {
    // Nothing that is sent from here on can arrive.
    if (PQstatus(connection_.get()) == CONNECTION_BAD ||
        base::hung_up(PQsocket(connection_.get()))) {
      return lost(Cause::kConnection);
    }
    Result result;
    doubt_.reset();
    committing_ = true;
    auto failure = simple("COMMIT", result);
    committing_ = false;
    if (failure) return failure;
    // A transaction in which something failed: COMMIT succeeds at rolling back.
    if (std::strcmp(PQcmdStatus(result.get()), "ROLLBACK") == 0) {
      return Failure{.txn_outcome = TxnOutcome::kAborted,
                     .cause = Cause::kStatement,
                     .code = "ROLLBACK",
                     .message = "the server answered COMMIT with ROLLBACK"};
    }
    return std::exchange(doubt_, std::nullopt);
  }

  // By the status in the last answer.
  [[nodiscard]] std::optional<bool> in_transaction() override { return transaction_is_open(); }

  bool undo() override {
    switch (PQtransactionStatus(connection_.get())) {
      case PQTRANS_IDLE:
        return true;
      case PQTRANS_INTRANS:
      case PQTRANS_INERROR: {
        Result result;
        return !simple("ROLLBACK", result);
      }
      case PQTRANS_ACTIVE:
      case PQTRANS_UNKNOWN:
        break;
    }
    return false;
  }

 private:
  MaybeFailure simple(const std::string& text, Result& result) {
    return answer(PQsendQuery(connection_.get(), text.c_str()) == 1, result);
  }

  MaybeFailure look_for_pooler() {
    Result result;
    if (auto failure = simple("SELECT pg_backend_pid()", result)) {
      if (failure->connection_lost) return failure;
      shares_connections_.reset();  // a server that does not know the function is not asked again
      return std::nullopt;
    }
    const std::string process = PQntuples(result.get()) == 0 ? "" : PQgetvalue(result.get(), 0, 0);
    if (!process_.empty() && process != process_) *shares_connections_ = true;
    process_ = process;
    return std::nullopt;
  }

  // A warning with the answer to COMMIT takes something back from it: that the wait for a
  // synchronous standby was cancelled, which may not have the transaction.
  void look_at(const PGresult* notice) {
    const auto field = [&](int code) {
      const auto* text = PQresultErrorField(notice, code);
      return std::string(text == nullptr ? "" : text);
    };
    const auto state = field(PG_DIAG_SQLSTATE);
    if (!committing_ || field(PG_DIAG_SEVERITY_NONLOCALIZED) != "WARNING" ||
        (!state.starts_with("01") && !state.starts_with("57"))) {
      return;
    }
    doubt_ = Failure{.txn_outcome = TxnOutcome::kUnknown,
                     .cause = Cause::kTimeout,
                     .code = state,
                     .message = message_of(notice)};
  }

  // The last result of what was sent; waits until the connection is ready for more.
  MaybeFailure answer(bool sent, Result& last) {
    last.reset();
    if (!sent) return lost(Cause::kConnection);
    const auto deadline =
        Clock::now() + std::chrono::ceil<std::chrono::milliseconds>(timeout_ + kGrace);
    for (bool flushed = false;;) {
      if (!flushed) {
        const int left = PQflush(connection_.get());
        if (left < 0) return lost(Cause::kConnection);
        flushed = left == 0;
      }
      while (flushed && PQisBusy(connection_.get()) == 0) {
        Result result(PQgetResult(connection_.get()));
        if (!result) return failure_of(last.get());
        // An error is not covered by what may follow it.
        if (!last || PQresultStatus(last.get()) != PGRES_FATAL_ERROR) last = std::move(result);
      }
      if (!wait(deadline, flushed ? POLLIN : POLLIN | POLLOUT)) return lost(Cause::kTimeout);
      if (PQconsumeInput(connection_.get()) == 0) return lost(Cause::kConnection);
    }
  }

  bool wait(Clock::time_point deadline, int events) {
    for (;;) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return false;
      pollfd socket{PQsocket(connection_.get()), static_cast<short>(events), 0};
      const int ready = poll(&socket, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
  }

  // No answer, and none to come: whether a COMMIT took place cannot be known.
  MaybeFailure lost(Cause cause) {
    auto message = sql::one_line(PQerrorMessage(connection_.get()));
    if (cause == Cause::kTimeout) {
      message = fmt::format("no answer for {} s", (timeout_ + kGrace).count());
    } else if (message.empty()) {
      message = "the connection is closed";
    }
    return Failure{.txn_outcome = committing_ ? TxnOutcome::kUnknown : TxnOutcome::kAborted,
                   .cause = cause,
                   .code = cause == Cause::kTimeout ? "timeout" : "08006",
                   .message = std::move(message),
                   .connection_lost = true};
  }

  MaybeFailure failure_of(const PGresult* result) {
    if (result == nullptr) return lost(Cause::kConnection);
    const auto status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) {
      // A server that closed after its answer has answered all the same.
      return std::nullopt;
    }
    const auto* field = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (field == nullptr || PQstatus(connection_.get()) == CONNECTION_BAD) {
      // libpq's own words, or a FATAL error: the server ends the connection.
      auto failure = lost(Cause::kConnection);
      if (field != nullptr) {
        failure->code = field;
        failure->message = message_of(result);
      }
      return failure;
    }
    const std::string state = field;
    return Failure{.txn_outcome = committing_ && !commit_certainly_failed(state)
                                      ? TxnOutcome::kUnknown
                                      : TxnOutcome::kAborted,
                   .cause = cause_of(state),
                   .code = state,
                   .message = message_of(result)};
  }

  static std::string message_of(const PGresult* result) {
    const auto* primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    return sql::one_line(primary != nullptr ? primary : PQresultErrorMessage(result));
  }

  static Datum cell(const PGresult* result, int row, int column) {
    if (PQgetisnull(result, row, column) == 1) return {};
    const std::string_view bytes(PQgetvalue(result, row, column),
                                 static_cast<std::size_t>(PQgetlength(result, row, column)));
    const Oid type = PQftype(result, column);
    if (type == kInt8 || type == kInt4 || type == kInt2) {
      std::int64_t integer = 0;
      const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), integer);
      if (error == std::errc() && end == bytes.data() + bytes.size()) return integer;
    }
    return std::string(bytes);
  }

  Handle connection_;
  std::string begin_;
  std::string settings_;  // of each transaction: "; SET LOCAL …", sent with begin_
  Seconds timeout_;
  bool committing_ = false;
  MaybeFailure doubt_;  // what the server added to its answer to COMMIT
  std::uint64_t transactions_ = 0;
  std::string process_;  // of the server, when it was last asked
  std::shared_ptr<std::atomic<bool>> shares_connections_;
  std::vector<Oid> types_;
  std::vector<std::string> strings_;
  std::vector<const char*> values_;
};

base::Error no_transactions(const Parameters& host) {
  return {.message = fmt::format("the connection pooler at {} is in statement mode, which has no "
                                 "transactions of several statements. Set its pool mode to "
                                 "transaction or session, or name the server itself in the URL",
                                 address(host))};
}

class PostgresDatabase final : public Database {
 public:
  explicit PostgresDatabase(Settings settings) : settings_(std::move(settings)) {}

  base::Status open() {
    for (std::size_t host = 0; host < settings_.hosts.size(); ++host) {
      if (auto connection = connect_to(host); !connection) return std::move(connection).error();
    }
    const auto first = primary_or_first();
    auto connection = connect_to(first);
    if (!connection) return std::move(connection).error();
    if (auto learned = learn(**connection, settings_.hosts[first]); !learned) return learned;
    if (facts_.product == "PostgreSQL") learn_of_pooler(**connection, first);
    return base::Ok{};
  }

  [[nodiscard]] Facts facts() const override {
    auto facts = facts_;
    if (*shares_connections_) facts.pooler = "transaction";
    return facts;
  }
  [[nodiscard]] bool fails_over() const override { return fails_over_; }
  [[nodiscard]] workload::Needs can() const override { return sql::all_needs(); }

  base::Status prepare(const workload::Workload& workload) override {
    const auto first = primary_or_first();
    auto status = sql::make_tables(
        settings_.dialect, workload, static_cast<std::uint32_t>(settings_.hosts.size()),
        (settings_.timeout * 3).count(), [&](std::uint32_t host) -> base::Result<sql::RunSql> {
          auto connection = connect_to(host == 0 ? first : host == first ? 0 : host);
          if (!connection) return std::move(connection).error();
          std::shared_ptr<PostgresConnection> shared = *std::move(connection);
          return sql::RunSql(
              [shared](const std::string& text) { return shared->run_in_time(text); });
        });
    if (!status) {
      return base::Error{
          .message = fmt::format("cannot make the tables on PostgreSQL at {}: {}{}",
                                 address(settings_.hosts[first]), status.error().message,
                                 postgres::advice(status.error().message, settings_.hosts[first]))};
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
    for (const auto& host : settings_.hosts) names.push_back(address(host));
    return names;
  }

  base::Result<std::unique_ptr<Connection>> connect_to_host(std::uint32_t host) override {
    auto connection = connect_to(host);
    if (!connection) return std::move(connection).error();
    return std::unique_ptr<Connection>(*std::move(connection));
  }

  // A standby has no serializable (manual, 27.4.5).
  base::Result<std::unique_ptr<Connection>> connect_to_read(std::uint32_t host) override {
    auto connection = connect_to(host);
    if (!connection) return std::move(connection).error();
    const auto standby = (*connection)->ask("SELECT pg_is_in_recovery()");
    if (standby && *standby == "t" && settings_.begin.ends_with("SERIALIZABLE")) {
      (*connection)->begin_by("BEGIN ISOLATION LEVEL REPEATABLE READ");
    }
    return std::unique_ptr<Connection>(*std::move(connection));
  }

  base::Result<bool> takes_writes(std::uint32_t host) override {
    auto connection = connect_to(host);
    if (!connection) return std::move(connection).error();
    const auto standby = (*connection)->ask("SELECT pg_is_in_recovery()");
    return standby ? base::Result<bool>(*standby == "f") : standby.error();
  }

  void clean() override {
    if (auto connection = connect_to(primary_or_first())) {
      (void)sql::drop_tables(
          schema_, [&](const std::string& text) { return (*connection)->run_in_time(text); });
    }
  }

 private:
  base::Status learn(PostgresConnection& connection, const Parameters& host) {
    const auto version = connection.ask("SELECT version()");
    if (!version) return version.error();
    // "PostgreSQL 15.6 (Debian …) on …", "CockroachDB CCL v23.1.0 (…", "PostgreSQL 11.2-YB-…"
    const auto first = version->find_first_of("0123456789");
    const auto* reported = PQparameterStatus(connection.get(), "server_version");
    facts_.product = "PostgreSQL";
    facts_.version = reported == nullptr ? "" : reported;
    facts_.version.erase(std::min(facts_.version.find(' '), facts_.version.size()));
    if (version->rfind("PostgreSQL", 0) != 0 || version->find("-YB-") != std::string::npos) {
      facts_.product = version->substr(0, version->find(' '));
      if (version->find("-YB-") != std::string::npos) facts_.product = "YugabyteDB";
      if (first != std::string::npos) {
        facts_.version = version->substr(first, version->find_first_of(" ,(", first) - first);
      }
    }
    if (const auto began = connection.begin_anyhow()) {
      return base::Error{.message = fmt::format("{} refuses `{}`: {}", facts_.product,
                                                settings_.begin, began->message)};
    }
    if (!connection.transaction_is_open()) return no_transactions(host);
    // What the server made of it: some give a stronger level than was asked for.
    const auto level = connection.ask("SHOW transaction_isolation");
    (void)connection.run_text("ROLLBACK");
    facts_.isolation = level ? *level : settings_.begin;
    for (const auto* name : {"synchronous_commit", "enable_seqscan"}) {
      if (const auto value = connection.ask_in_transaction(fmt::format("SHOW {}", name))) {
        facts_.detail += fmt::format("{}{}={}", facts_.detail.empty() ? "" : ", ", name, *value);
      }
    }
    if (settings_.hosts.size() > 1) {
      facts_.detail += fmt::format(", {} hosts", settings_.hosts.size());
      learn_of_patroni(connection);
    }
    return base::Ok{};
  }

  // A pooler or proxy tells its clients another process than the server's, or is Pgpool-II. Two
  // sessions whose transactions run in one process show that it is in transaction mode.
  void learn_of_pooler(PostgresConnection& connection, std::size_t host) {
    const auto process = connection.ask("SELECT pg_backend_pid()");
    const auto pgpool = connection.ask("SHOW pool_version");
    if (!process || (!pgpool && *process == fmt::to_string(PQbackendPID(connection.get())))) return;
    facts_.pooler = "session";
    if (pgpool) {
      // Reads may go to any of its servers.
      const auto servers = connection.count_rows("SHOW pool_nodes");
      fails_over_ = fails_over_ || !servers || *servers > 1;
      facts_.detail += fmt::format(", Pgpool-II {} with {} server{}", *pgpool,
                                   servers ? *servers : 0, servers && *servers == 1 ? "" : "s");
    }
    const auto other = connect_to(host);
    if (!other) return;
    const auto shared = (*other)->ask_in_transaction("SELECT pg_backend_pid()");
    if (shared && *shared == *process) *shares_connections_ = true;
  }

  // Patroni, whose sessions have its name, makes another host the primary. In its synchronous mode
  // that one has every commit that was waited for.
  void learn_of_patroni(PostgresConnection& connection) {
    const auto runs = connection.ask(
        "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'Patroni'");
    if (!runs || *runs != "t") return;
    const auto waits = connection.ask(
        "SELECT current_setting('synchronous_standby_names') <> '' AND "
        "current_setting('synchronous_commit') NOT IN ('off', 'local')");
    fails_over_ = !waits || *waits != "t";
    facts_.detail += fails_over_ ? ", Patroni asynchronous" : ", Patroni synchronous";
  }

  base::Result<std::unique_ptr<PostgresConnection>> connect_to(std::size_t number) {
    const auto& host = settings_.hosts[number];
    std::vector<const char*> names, values;
    for (const auto& [name, value] : host) {
      names.push_back(name.c_str());
      values.push_back(value.c_str());
    }
    names.push_back(nullptr);
    values.push_back(nullptr);
    Handle connection(PQconnectStartParams(names.data(), values.data(), 0));
    const auto cannot = [&](std::string_view why) {
      auto line = sql::one_line(why);
      // After "connection to server at "127.0.0.1", port 5432 failed: " is the reason.
      if (const auto colon = line.find(" failed: "); colon != std::string::npos) {
        line.erase(0, colon + 9);
      }
      return base::Error{.message = fmt::format("cannot connect to PostgreSQL at {}: {}{}",
                                                address(host), line, postgres::advice(line, host))};
    };
    if (!connection) return cannot("out of memory");
    // Like PQconnectdb, which cannot be made to stop waiting for a server that
    // takes the connection and says nothing.
    const auto deadline =
        Clock::now() + std::chrono::ceil<std::chrono::milliseconds>(settings_.timeout);
    auto waiting_for = PGRES_POLLING_WRITING;
    if (PQstatus(connection.get()) == CONNECTION_BAD) {
      return cannot(PQerrorMessage(connection.get()));
    }
    while (waiting_for != PGRES_POLLING_OK) {
      if (waiting_for == PGRES_POLLING_FAILED) return cannot(PQerrorMessage(connection.get()));
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) {
        return cannot(fmt::format("no answer within {} s", settings_.timeout.count()));
      }
      pollfd socket{PQsocket(connection.get()),
                    static_cast<short>(waiting_for == PGRES_POLLING_READING ? POLLIN : POLLOUT), 0};
      if (poll(&socket, 1, static_cast<int>(std::min<std::int64_t>(left, 1000))) > 0) {
        waiting_for = PQconnectPoll(connection.get());
      }
    }
    workload::Schema schema;
    {
      const std::lock_guard lock(mutex_);
      schema = schema_;
    }
    auto made = std::make_unique<PostgresConnection>(
        std::move(connection), settings_, sql::Texts(settings_.dialect, std::move(schema)));
    if (auto failure = made->set_in_transactions(made->timeout_setting())) {
      // PgBouncer's words. Other poolers take BEGIN, and end the transaction with it: learn().
      const bool by_statement = failure->message.find("statement pooling") != std::string::npos;
      return by_statement ? no_transactions(host) : cannot(failure->message);
    }
    // Small tables would be read whole, and at serializable a table read whole
    // conflicts with every write to it. Others do not know the setting.
    if (!settings_.leave_seqscan) made->set_in_transactions("enable_seqscan = off");
    // By default a deadlock costs each session a second. Only a superuser may set this.
    if (!settings_.leave_deadlock_timeout) made->set_in_transactions("deadlock_timeout = '20ms'");
    if (facts_.product == "PostgreSQL") made->watch_for_pooler(shares_connections_);
    return made;
  }

  Settings settings_;
  Facts facts_;
  bool fails_over_ = false;
  // Transactions of a session were seen to run in several processes of the server.
  std::shared_ptr<std::atomic<bool>> shares_connections_ =
      std::make_shared<std::atomic<bool>>(false);
  std::mutex mutex_;
  workload::Schema schema_;
};

}  // namespace

base::Result<std::unique_ptr<Database>> open_postgres(const std::string& url,
                                                      const OpenOptions& options) {
  auto settings = postgres::parse_settings(url, options);
  if (!settings) return std::move(settings).error();
  auto database = std::make_unique<PostgresDatabase>(*std::move(settings));
  if (auto opened = database->open(); !opened) return std::move(opened).error();
  return std::unique_ptr<Database>(std::move(database));
}

}  // namespace cupel::drivers

CUPEL_DRIVER_PLUGIN(cupel::drivers::open_postgres, nullptr)
