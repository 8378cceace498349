// PostgreSQL, and what speaks its protocol, by libpq: prepared statements, one
// connection a session, the session's number choosing among the URL's hosts.
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
// docs/drivers/postgres.md.
#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>

#include "base/hung_up.hpp"
#include "drivers/registry.hpp"
#include "drivers/sql_connection.hpp"
#include "drivers/url.hpp"

namespace cupel::drivers {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
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
struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};
using Handle = std::unique_ptr<PGconn, FinishConnection>;
using Result = std::unique_ptr<PGresult, ClearResult>;

struct Settings {
  std::vector<std::map<std::string, std::string>> hosts;  // libpq's parameters, one map a host
  std::string begin;                                      // "BEGIN ISOLATION LEVEL …"
  Seconds timeout{10};
  bool leave_seqscan = false, leave_deadlock_timeout = false;  // the URL sets them
  sql::Dialect dialect{sql::Product::kPostgres, sql::ListForm::kText};
};

constexpr Seconds kGrace{5};  // beyond the server's own time-out

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const auto comma = std::min(text.find(',', from), text.size());
    parts.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return parts;
}

std::string address(const std::map<std::string, std::string>& host) {
  const auto of = [&](const char* name) {
    const auto found = host.find(name);
    return found == host.end() ? std::string() : found->second;
  };
  auto where = of("host").empty() ? of("hostaddr") : of("host");
  if (where.empty()) where = "the default socket";
  return of("port").empty() ? where : where + ':' + of("port");
}

Cause cause_of(std::string_view state) {
  const auto kind = state.substr(0, 2);
  if (kind == "40" || state == "55P03") return Cause::kConflict;  // lock_not_available
  if (kind == "23") return Cause::kConstraint;
  if (state == "57014" || state == "25P03" || state == "57P05") return Cause::kTimeout;
  // 25006: a standby, which was a primary before a failover.
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

  base::Status run_text(const std::string& text) {
    Result result;
    if (auto failure = simple(text, result)) return base::Error{.message = failure->message};
    return base::Ok{};
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
    Result result;
    return simple(begin_, result);
  }

  MaybeFailure run(const Text& text, const Statement& statement, std::vector<Row>& rows,
                   std::uint64_t& touched) override {
    const auto name = fmt::format("cupel{}", text.number);
    if (prepared_.size() <= text.number) prepared_.resize(text.number + 1);
    Result result;
    if (!prepared_[text.number]) {
      std::vector<Oid> types;
      for (const auto& slot : text.slots) {
        types.push_back(slot.type == ColumnType::kInteger ? kInt8 : kText);
      }
      const bool sent = PQsendPrepare(connection_.get(), name.c_str(), text.sql.c_str(),
                                      static_cast<int>(types.size()), types.data()) == 1;
      if (auto failure = answer(sent, result)) return failure;
      prepared_[text.number] = true;
    }
    strings_.resize(text.slots.size());
    values_.resize(text.slots.size());
    for (std::size_t i = 0; i < text.slots.size(); ++i) {
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
        PQsendQueryPrepared(connection_.get(), name.c_str(), static_cast<int>(values_.size()),
                            values_.data(), nullptr, nullptr, 0) == 1;
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
  Seconds timeout_;
  bool committing_ = false;
  MaybeFailure doubt_;          // what the server added to its answer to COMMIT
  std::vector<bool> prepared_;  // by Text::number
  std::vector<std::string> strings_;
  std::vector<const char*> values_;
};

// What to do about a connection that was refused, by the server's words: libpq has
// no code for them. In another language than English, no advice.
std::string advice(std::string_view message, const std::map<std::string, std::string>& host) {
  const auto says = [&](std::string_view words) {
    return message.find(words) != std::string_view::npos;
  };
  const auto of = [&](const char* name) {
    const auto found = host.find(name);
    return found == host.end() ? std::string() : found->second;
  };
  if (says("password authentication failed") || says("no password supplied") ||
      says("authentication failed")) {
    return "; check the user and the password in the URL";
  }
  if (says("database") && says("does not exist")) {
    return fmt::format("; make it with `createdb {}`, or name another in the URL", of("dbname"));
  }
  if (says("role") && says("does not exist")) {
    return "; name a user that the server has in the URL: postgres://USER:PASSWORD@HOST/DATABASE";
  }
  if (says("no pg_hba.conf entry")) {
    return "; let this user connect from here in the server's pg_hba.conf";
  }
  if (says("SSL")) return "; see the parameter sslmode";
  if (says("refused") || says("No such file") || says("timeout") || says("no answer") ||
      says("could not translate") || says("unreachable") || says("No route")) {
    return "; is the server running there, and are host and port right?";
  }
  return "";
}

class PostgresDatabase final : public Database {
 public:
  explicit PostgresDatabase(Settings settings) : settings_(std::move(settings)) {}

  base::Status open() {
    for (std::size_t host = 0; host < settings_.hosts.size(); ++host) {
      if (auto connection = connect_to(host); !connection) return std::move(connection).error();
    }
    auto connection = connect_to(primary_or_first());
    return connection ? learn(**connection) : std::move(connection).error();
  }

  [[nodiscard]] Facts facts() const override { return facts_; }
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
          return sql::RunSql([shared](const std::string& text) { return shared->run_text(text); });
        });
    if (!status) {
      return base::Error{.message =
                             fmt::format("cannot make the tables on PostgreSQL at {}: {}",
                                         address(settings_.hosts[0]), status.error().message)};
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
          schema_, [&](const std::string& text) { return (*connection)->run_text(text); });
    }
  }

 private:
  base::Status learn(PostgresConnection& connection) {
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
    if (const auto began = connection.run_text(settings_.begin); !began) {
      return base::Error{.message = fmt::format("{} refuses `{}`: {}", facts_.product,
                                                settings_.begin, began.error().message)};
    }
    // What the server made of it: some give a stronger level than was asked for.
    const auto level = connection.ask("SHOW transaction_isolation");
    (void)connection.run_text("ROLLBACK");
    facts_.isolation = level ? *level : settings_.begin;
    for (const auto* name : {"synchronous_commit", "enable_seqscan"}) {
      if (const auto value = connection.ask(fmt::format("SHOW {}", name))) {
        facts_.detail += fmt::format("{}{}={}", facts_.detail.empty() ? "" : ", ", name, *value);
      }
    }
    if (settings_.hosts.size() > 1) {
      facts_.detail += fmt::format(", {} hosts", settings_.hosts.size());
      learn_of_patroni(connection);
    }
    return base::Ok{};
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
                                                address(host), line, advice(line, host))};
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
    const auto limit = made->run_text(
        fmt::format("SET statement_timeout = {}",
                    std::max(1, static_cast<int>(settings_.timeout.count() * 1000))));
    if (!limit) return cannot(limit.error().message);
    // Small tables would be read whole, and at serializable a table read whole
    // conflicts with every write to it. Others do not know the setting.
    if (!settings_.leave_seqscan) (void)made->run_text("SET enable_seqscan = off");
    // By default a deadlock costs each session a second. Only a superuser may set this.
    if (!settings_.leave_deadlock_timeout) (void)made->run_text("SET deadlock_timeout = '20ms'");
    return made;
  }

  Settings settings_;
  Facts facts_;
  bool fails_over_ = false;
  std::mutex mutex_;
  workload::Schema schema_;
};

base::Result<Settings> parse_settings(std::string url, const OpenOptions& options) {
  Settings settings;
  settings.timeout = Seconds(options.statement_timeout);
  // libpq takes half a password for a host or a port, and says so aloud.
  if (auto checked = parse_url(url); !checked) return std::move(checked).error();
  // The one option that is ours; libpq knows the others.
  const auto query = std::min(url.find('?'), url.size());
  for (auto at = url.find("list=", query); at != std::string::npos;
       at = url.find("list=", at + 1)) {
    if (url[at - 1] != '?' && url[at - 1] != '&') continue;
    const auto end = std::min(url.find('&', at), url.size());
    const auto lists = sql::parse_list_form(url.substr(at + 5, end - at - 5));
    if (!lists) return lists.error();
    settings.dialect.lists = *lists;
    url.erase(at, end - at + 1);
    while (!url.empty() && (url.back() == '?' || url.back() == '&')) url.pop_back();
    break;
  }
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, FreeOptions> parsed(
      PQconninfoParse(url.c_str(), &message));
  if (!parsed) {
    // libpq may quote the URL, password and all: shown only where there is none.
    const std::string why = message == nullptr ? "out of memory" : sql::one_line(message);
    PQfreemem(message);
    const auto shown = without_password(url);
    return base::Error{
        .message = fmt::format("found the URL `{}`, expected "
                               "postgres://[USER[:PASSWORD]@]HOST[:PORT][,HOST…]/DATABASE{}{}; "
                               "write `%40`, `%3A` and `%2F` for `@`, `:` and `/` in a password",
                               shown, shown == url ? ": " : "", shown == url ? why : "")};
  }
  std::map<std::string, std::string> common;
  for (const auto* option = parsed.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) common[option->keyword] = option->val;
  }
  settings.leave_seqscan = common["options"].find("enable_seqscan") != std::string::npos;
  settings.leave_deadlock_timeout = common["options"].find("deadlock_timeout") != std::string::npos;
  if (common["options"].empty()) common.erase("options");
  common.try_emplace("fallback_application_name", "cupel");
  common.try_emplace("client_encoding", "UTF8");
  common.try_emplace("tcp_user_timeout",
                     fmt::to_string(static_cast<int>((settings.timeout + kGrace).count() * 1000)));
  // A session goes to the host of its number, not to the first that answers.
  const auto names = split(common["host"]);
  const auto addresses = split(common["hostaddr"]);
  const auto ports = split(common["port"]);
  const auto hosts = std::max(names.size(), addresses.size());
  if (ports.size() != 1 && ports.size() != hosts) {
    return base::Error{.message = fmt::format("found {} ports for {} hosts in the URL, expected "
                                              "one for each, or one for all",
                                              ports.size(), hosts)};
  }
  for (std::size_t i = 0; i < hosts; ++i) {
    auto host = common;
    const auto set = [&](const char* name, const std::vector<std::string>& values) {
      const auto& value = values.size() == 1 ? values[0] : values[i];
      if (value.empty()) {
        host.erase(name);
      } else {
        host[name] = value;
      }
    };
    if ((names.size() != 1 && names.size() != hosts) ||
        (addresses.size() != 1 && addresses.size() != hosts)) {
      return base::Error{.message = "found different numbers of host and hostaddr in the URL"};
    }
    set("host", names);
    set("hostaddr", addresses);
    set("port", ports);
    settings.hosts.push_back(std::move(host));
  }
  auto level = options.isolation;
  std::replace(level.begin(), level.end(), '-', ' ');
  std::transform(level.begin(), level.end(), level.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  settings.begin = "BEGIN ISOLATION LEVEL " + level;
  return settings;
}

}  // namespace

base::Result<std::unique_ptr<Database>> open_postgres(const std::string& url,
                                                      const OpenOptions& options) {
  auto settings = parse_settings(url, options);
  if (!settings) return std::move(settings).error();
  auto database = std::make_unique<PostgresDatabase>(*std::move(settings));
  if (auto opened = database->open(); !opened) return std::move(opened).error();
  return std::unique_ptr<Database>(std::move(database));
}

}  // namespace cupel::drivers
