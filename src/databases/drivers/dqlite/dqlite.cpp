// dqlite, by its wire protocol: one connection a session, always to the leader, for no other node
// takes SQL. A host that is not the leader says so, and who is; the driver follows.
//
// SQL is SQLite's. Locks are waited for up to busy_timeout by asking again, since dqlite itself
// answers SQLITE_BUSY at once; what it refuses so has not begun.
//
// COMMIT is the one statement whose failure may be unknown. It has certainly not begun if the node
// is not the leader or does not know the database, which it forgets with its leadership; or if it
// is busy, or a constraint fails, and a ROLLBACK afterwards finds a transaction. A leader that
// loses the leadership while it commits says "leadership lost": another one may yet commit. This
// and all else is unknown. See docs/reference/drivers/dqlite.md.
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "base/hung_up.hpp"
#include "base/tcp.hpp"
#include "databases/drivers/cells.hpp"
#include "databases/drivers/dqlite/protocol.hpp"
#include "databases/drivers/registry.hpp"
#include "databases/drivers/sql_connection.hpp"
#include "databases/drivers/sqlite_options.hpp"
#include "databases/drivers/url.hpp"

namespace cupel::drivers {

namespace {

using Clock = std::chrono::steady_clock;
using dqlite::AnswerType;
using sql::Text;
using workload::Datum;
using workload::Row;
using workload::Statement;

constexpr std::uint16_t kDefaultPort = 9001;
constexpr double kToFindLeader = 2;  // seconds for a host to say whether it is one

// SQLite's result codes, and the two that dqlite adds.
enum Code : std::uint64_t {
  kAbort = 4,
  kBusy = 5,
  kLocked = 6,
  kRaftNotLeader = 7,  // as 1.11 passes it on; SQLite's is out of memory
  kInterrupt = 9,
  kIoError = 10,
  kNotFound = 12,  // the connection has opened no database
  kFull = 13,
  kConstraint = 19,
  kBusySnapshot = kBusy | 2U << 8U,
  kNotLeader = kIoError | 40U << 8U,
  kLeadershipLost = kIoError | 41U << 8U,
};
std::uint64_t plain(std::uint64_t code) {
  return code & 0xffU;
}

std::string code_name(std::uint64_t code) {
  switch (code) {
    case kBusySnapshot:
      return "SQLITE_BUSY_SNAPSHOT";
    case kNotLeader:
      return "SQLITE_IOERR_NOT_LEADER";
    case kLeadershipLost:
      return "SQLITE_IOERR_LEADERSHIP_LOST";
    default:
      break;
  }
  switch (plain(code)) {
    case 1:
      return "SQLITE_ERROR";
    case kAbort:
      return "SQLITE_ABORT";
    case kBusy:
      return "SQLITE_BUSY";
    case kLocked:
      return "SQLITE_LOCKED";
    case kIoError:
      return "SQLITE_IOERR";
    case kNotFound:
      return "SQLITE_NOTFOUND";
    case kConstraint:
      return "SQLITE_CONSTRAINT";
    default:
      return fmt::format("SQLITE_{}", code);
  }
}

Cause cause_of(std::uint64_t code) {
  switch (plain(code)) {
    case kBusy:
    case kLocked:
      return Cause::kConflict;
    case kConstraint:
      return Cause::kConstraint;
    case kInterrupt:
      return Cause::kTimeout;
    case kAbort:  // the node shuts down
    case kRaftNotLeader:
    case kIoError:
    case kNotFound:
    case kFull:
      return Cause::kConnection;
    default:
      return Cause::kStatement;
  }
}

struct Settings : SqliteOptions {
  std::vector<Host> hosts;
  std::string database = "cupel";
  double timeout = 10;
};

// An answer to a request.
struct Answer {
  AnswerType type = AnswerType::kFailure;
  std::string body;
};

// A connection and its requests, one after the other. What fails to be sent or answered leaves it
// of no use; kAborted if nothing was sent.
class Line {
 public:
  static base::Result<std::unique_ptr<Line>> connect(const Host& host, double timeout) {
    const base::Patience patience{base::Seconds(timeout)};
    auto socket = base::connect_tcp({host.name, host.port}, patience);
    if (!socket.ok()) return std::move(socket).error();
    return std::make_unique<Line>(*std::move(socket));
  }
  explicit Line(base::Descriptor socket) : socket_(std::move(socket)) {}

  MaybeFailure ask(std::string_view request, Answer& answer, double timeout) {
    if (lost_) return broken(false, "the connection was lost before");
    if (base::hung_up(socket_.get())) return broken(false, "the server closed the connection");
    const base::Patience patience{base::Seconds(timeout)};
    const auto bytes = std::exchange(greeting_, {}) + std::string(request);
    if (auto sent = base::send_all(socket_, bytes, patience); !sent) {
      return broken(true, sent.error().message);
    }
    return receive(answer, patience);
  }

  // A further answer to the last request.
  MaybeFailure receive(Answer& answer, double timeout) {
    return receive(answer, base::Patience(base::Seconds(timeout)));
  }

  // An answer that is none of this protocol.
  Failure malformed() { return broken(true, "found an answer that is no dqlite's"); }

 private:
  MaybeFailure receive(Answer& answer, const base::Patience& patience) {
    std::string header;
    if (auto failure = read(dqlite::kHeaderSize, header, patience)) return failure;
    const auto [type, size] = dqlite::parse_header(header);
    if (size > dqlite::kLargestBody) return malformed();
    answer.type = type;
    return read(static_cast<std::size_t>(size), answer.body, patience);
  }

  MaybeFailure read(std::size_t size, std::string& bytes, const base::Patience& patience) {
    bytes.clear();
    std::array<char, 16384> buffer;
    while (bytes.size() < size) {
      const auto count =
          ::recv(socket_.get(), buffer.data(), std::min(buffer.size(), size - bytes.size()), 0);
      if (count > 0) {
        bytes.append(buffer.data(), static_cast<std::size_t>(count));
      } else if (count == 0) {
        return broken(true, "the server closed the connection");
      } else if (errno != EAGAIN && errno != EINTR) {
        return broken(true, std::strerror(errno));
      } else if (!patience.wait(socket_.get(), POLLIN)) {
        auto failure = broken(true, patience.late().message);
        failure.cause = Cause::kTimeout;
        failure.code = "timeout";
        return failure;
      }
    }
    return std::nullopt;
  }

  Failure broken(bool sent, std::string message) {
    lost_ = true;
    return {.txn_outcome = sent ? TxnOutcome::kUnknown : TxnOutcome::kAborted,
            .cause = Cause::kConnection,
            .code = "lost",
            .message = std::move(message),
            .connection_lost = true};
  }

  base::Descriptor socket_;
  std::string greeting_ = dqlite::hello();  // goes with the first request
  bool lost_ = false;
};

// The failure that an answer reports, as one of a statement that is no COMMIT.
Failure failure_of(const Answer& answer, Line& line) {
  const auto said =
      answer.type == AnswerType::kFailure ? dqlite::parse_failure(answer.body) : std::nullopt;
  if (!said) return line.malformed();
  auto cause = cause_of(said->code);
  if (cause == Cause::kStatement && sql::is_missing_table(said->message)) cause = Cause::kGone;
  return {.txn_outcome = TxnOutcome::kAborted,
          .cause = cause,
          .code = code_name(said->code),
          .message = sql::one_line(said->message),
          // A node that is no leader has forgotten what this connection opened.
          .connection_lost = cause == Cause::kConnection || said->code == 0};
}

class DqliteConnection final : public sql::SqlConnection {
 public:
  DqliteConnection(std::unique_ptr<Line> line, const Settings& settings, sql::Texts texts)
      : SqlConnection(std::move(texts)),
        line_(std::move(line)),
        timeout_(settings.timeout),
        busy_timeout_(settings.busy_timeout),
        begin_text_("BEGIN " + settings.mode) {}

  base::Status run_text(const std::string& text) {
    if (!dqlite::can_be_sent(text)) return base::Error{.message = kZeroByte};
    std::uint64_t touched = 0;
    if (auto failure = execute_text(text, {}, touched)) {
      return base::Error{.message = failure->message};
    }
    return base::Ok{};
  }

  // The first cell of a query's first row.
  base::Result<std::string> ask(const std::string& text) {
    std::vector<std::vector<Datum>> rows;
    if (auto failure = query_text(text, {}, rows)) return base::Error{.message = failure->message};
    if (rows.empty() || rows[0].empty()) return base::Error{.message = "no row"};
    return workload::to_string(rows[0][0]);
  }

 protected:
  MaybeFailure start() override { return control(begin_text_); }

  MaybeFailure run(const Text& text, const Statement& statement, std::vector<Row>& rows,
                   std::uint64_t& touched) override {
    auto failure = run_bound(text, statement, rows, touched);
    // libdqlite 1.11 does not pass on the words of SQLite, which has one code for all errors of a
    // statement.
    if (failure && failure->cause == Cause::kStatement &&
        is_gone(schema().tables[statement.table].name)) {
      failure->cause = Cause::kGone;
    }
    return failure;
  }

  MaybeFailure end() override {
    auto failure = control("COMMIT");
    if (!failure || failure->code == code_name(kNotLeader) ||
        failure->code == code_name(kNotFound)) {
      return failure;
    }
    if (failure->code == "lost" || failure->code == "timeout") return failure;  // knows if sent
    failure->txn_outcome = TxnOutcome::kUnknown;
    const bool refused = failure->cause == Cause::kConflict || failure->cause == Cause::kConstraint;
    if (refused && !control("ROLLBACK")) failure->txn_outcome = TxnOutcome::kAborted;
    return failure;
  }

  // The server undoes what a connection leaves open.
  bool undo() override {
    const auto failure = control("ROLLBACK");
    return !failure || failure->message.find("no transaction is active") != std::string::npos;
  }

 private:
  static constexpr const char* kZeroByte =
      "a text with a zero byte, which dqlite's protocol cannot send";

  MaybeFailure run_bound(const Text& text, const Statement& statement, std::vector<Row>& rows,
                         std::uint64_t& touched) {
    std::vector<Datum> parameters;
    for (const auto& slot : text.slots) {
      Datum scratch;
      parameters.push_back(sql::bound(dialect(), slot, statement, scratch));
      const auto* bytes = std::get_if<std::string>(&parameters.back());
      if (bytes != nullptr && !dqlite::can_be_sent(*bytes)) return refused(kZeroByte);
    }
    if (parameters.size() > dqlite::kMostParameters) {
      return refused(fmt::format("{} values in one statement, and dqlite takes {}",
                                 parameters.size(), dqlite::kMostParameters));
    }
    if (!text.sql.starts_with("SELECT ")) return execute_text(text.sql, parameters, touched);
    std::vector<std::vector<Datum>> found;
    if (auto failure = query_text(text.sql, parameters, found)) return failure;
    for (auto& cells : found) {
      auto& row = rows.emplace_back();
      const auto middle =
          cells.begin() + std::min<std::ptrdiff_t>(text.key_columns, std::ssize(cells));
      row.key.assign(cells.begin(), middle);
      row.values.assign(middle, cells.end());
    }
    touched = rows.size();
    return std::nullopt;
  }

  // Asked in the same transaction: of a failed statement SQLite undoes that statement alone.
  bool is_gone(const std::string& table) {
    std::vector<std::vector<Datum>> rows;
    const std::array<Datum, 1> name{table};
    return !query_text("SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?", name,
                       rows) &&
           rows.empty();
  }

  MaybeFailure control(const std::string& text) {
    std::uint64_t touched = 0;
    return execute_text(text, {}, touched);
  }

  // Sends a request until the server is not busy, or too long.
  MaybeFailure ask_patiently(const std::string& request, Answer& answer) {
    const auto give_up_at = Clock::now() + busy_timeout_;
    for (int tries = 0;; ++tries) {
      if (auto failure = line_->ask(request, answer, timeout_)) return failure;
      if (answer.type != AnswerType::kFailure) return std::nullopt;
      auto failure = failure_of(answer, *line_);
      if (failure.code != code_name(kBusy) || Clock::now() >= give_up_at) return failure;
      std::this_thread::sleep_for(
          std::chrono::microseconds(std::min(200 << std::min(tries, 5), 5000)));
    }
  }

  MaybeFailure execute_text(std::string_view text, std::span<const Datum> parameters,
                            std::uint64_t& touched) {
    Answer answer;
    if (auto failure = ask_patiently(dqlite::execute(text, parameters), answer)) return failure;
    const auto result =
        answer.type == AnswerType::kResult ? dqlite::parse_result(answer.body) : std::nullopt;
    if (!result) return line_->malformed();
    touched = *result;
    return std::nullopt;
  }

  MaybeFailure query_text(std::string_view text, std::span<const Datum> parameters,
                          std::vector<std::vector<Datum>>& rows) {
    Answer answer;
    if (auto failure = ask_patiently(dqlite::query(text, parameters), answer)) return failure;
    for (;;) {
      if (answer.type != AnswerType::kRows) return failure_of(answer, *line_);
      auto batch = dqlite::parse_rows(answer.body);
      if (!batch) return line_->malformed();
      std::move(batch->rows.begin(), batch->rows.end(), std::back_inserter(rows));
      if (batch->last) return std::nullopt;
      if (auto failure = line_->receive(answer, timeout_)) return failure;
    }
  }

  std::unique_ptr<Line> line_;
  double timeout_;
  std::chrono::milliseconds busy_timeout_;
  std::string begin_text_;
};

// None: the address is empty, or none.
std::optional<Host> host_of(const std::string& address) {
  const auto url = parse_url("dqlite://" + address);
  if (!url || url->hosts.size() != 1 || url->hosts[0].name.empty()) return std::nullopt;
  return url->hosts[0];
}

class DqliteDatabase final : public Database {
 public:
  explicit DqliteDatabase(Settings settings) : settings_(std::move(settings)) {}

  base::Status open() {
    auto connection = connect_to_leader();
    if (!connection) return std::move(connection).error();
    const auto sqlite = (*connection)->ask("SELECT sqlite_version()");
    if (!sqlite) return base::Error{.message = cannot(sqlite.error().message)};
    facts_ = {.product = "dqlite",
              .version = "1",  // the protocol does not say more
              .isolation = "serializable",
              .detail = fmt::format("SQLite {}, begin {}, {} hosts", *sqlite, settings_.mode,
                                    settings_.hosts.size())};
    return base::Ok{};
  }

  [[nodiscard]] Facts facts() const override { return facts_; }
  [[nodiscard]] workload::Needs can() const override { return sql::all_needs(); }

  base::Status prepare(const workload::Workload& workload) override {
    auto connection = connect_to_leader();
    if (!connection) return std::move(connection).error();
    auto made = sql::make_tables(settings_.dialect, workload, [&](const std::string& text) {
      return (*connection)->run_text(text);
    });
    if (!made) return base::Error{.message = "cannot make the tables: " + made.error().message};
    const std::lock_guard lock(mutex_);
    schema_ = workload.schema();
    return made;
  }

  base::Result<std::unique_ptr<Connection>> connect(std::uint32_t session) override {
    auto connection = connect_to_leader(session);
    if (!connection) return std::move(connection).error();
    return std::unique_ptr<Connection>(*std::move(connection));
  }

  void clean() override {
    if (auto connection = connect_to_leader()) {
      (void)sql::drop_tables(
          schema_, [&](const std::string& text) { return (*connection)->run_text(text); });
    }
  }

 private:
  // A line on which the database is open, if this host is the leader. No error, no line: it is not,
  // and `leader` is whom it takes for it, if anyone.
  base::Result<std::unique_ptr<Line>> open_on(const Host& host, std::string& leader) const {
    const auto timeout = std::min(settings_.timeout, kToFindLeader);
    auto line = Line::connect(host, timeout);
    if (!line) return std::move(line).error();
    Answer answer;
    // Without a database: a leader says that there is none, and any other node that it is none.
    auto failure = (*line)->ask(dqlite::execute("SELECT 1"), answer, timeout);
    if (!failure) failure = failure_of(answer, **line);
    if (failure->code == code_name(kNotLeader)) {
      if (!(*line)->ask(dqlite::ask_leader(), answer, timeout) &&
          answer.type == AnswerType::kServer) {
        leader = dqlite::parse_leader(answer.body).value_or("");
      }
      return std::unique_ptr<Line>();
    }
    if (failure->code != code_name(kNotFound)) return base::Error{.message = failure->message};
    failure = (*line)->ask(dqlite::open_database(settings_.database), answer, timeout);
    if (!failure && answer.type != AnswerType::kDatabase) failure = failure_of(answer, **line);
    if (failure) return base::Error{.message = failure->message};
    return line;
  }

  // Sessions ask different hosts first: of two nodes that both take themselves for the leader, all
  // would otherwise choose the same one.
  base::Result<std::unique_ptr<DqliteConnection>> connect_to_leader(std::uint32_t session = 0) {
    std::deque<Host> next(settings_.hosts.begin(), settings_.hosts.end());
    std::rotate(next.begin(), next.begin() + session % std::ssize(next), next.end());
    std::vector<std::string> tried;
    std::string why = "no host is the leader";
    while (!next.empty()) {
      const auto host = next.front();
      next.pop_front();
      if (std::find(tried.begin(), tried.end(), address(host)) != tried.end()) continue;
      tried.push_back(address(host));
      std::string leader;
      auto line = open_on(host, leader);
      if (!line) {
        why = fmt::format("{}: {}", address(host), line.error().message);
        continue;
      }
      if (*line) {
        const std::lock_guard lock(mutex_);
        return std::make_unique<DqliteConnection>(*std::move(line), settings_,
                                                  sql::Texts(settings_.dialect, schema_));
      }
      if (const auto other = host_of(leader)) next.push_front(*other);
    }
    return base::Error{.message = cannot(why)};
  }

  static std::string cannot(std::string_view why) {
    return fmt::format(
        "cannot connect to dqlite: {}; are the nodes running, and a majority of them?", why);
  }

  Settings settings_;
  Facts facts_;
  std::mutex mutex_;
  workload::Schema schema_;
};

base::Result<Settings> parse_settings(const std::string& text, const OpenOptions& options) {
  auto url = parse_url(text);
  if (!url) return std::move(url).error();
  Settings settings;
  if (url->hosts.empty() || !url->user.empty() || !url->password.empty()) {
    return base::Error{.message = fmt::format(
                           "found `{}`, expected dqlite://HOST[:PORT][,HOST[:PORT]…][/DATABASE] "
                           "without a user",
                           without_password(text))};
  }
  settings.hosts = std::move(url->hosts);
  fill_in(settings.hosts, kDefaultPort);
  if (!url->path.empty()) settings.database = url->path;
  if (!dqlite::can_be_sent(settings.database)) {
    return base::Error{.message = "found a zero byte in the name of the database, expected none"};
  }
  settings.timeout = options.statement_timeout;
  auto common = take_sqlite_options(*url, options.statement_timeout);
  if (!common) return std::move(common).error();
  static_cast<SqliteOptions&>(settings) = *std::move(common);
  if (auto unknown = unknown_options(*url, "mode, busy_timeout or list")) {
    return *std::move(unknown);
  }
  return settings;
}

}  // namespace

base::Result<std::unique_ptr<Database>> open_dqlite(const std::string& url,
                                                    const OpenOptions& options) {
  auto settings = parse_settings(url, options);
  if (!settings) return std::move(settings).error();
  auto database = std::make_unique<DqliteDatabase>(*std::move(settings));
  if (auto opened = database->open(); !opened) return std::move(opened).error();
  return std::unique_ptr<Database>(std::move(database));
}

}  // namespace cupel::drivers
