// NATS, the key-value buckets of JetStream: one connection a session to one of the hosts.
//
// A table is a bucket of its own, `cupel_TABLE`, which is the stream KV_cupel_TABLE with one
// message a key; a row is the subject $KV.cupel_TABLE.KEY. The driver makes the stream itself,
// because the library's buckets are always read by direct get. A write is a publish that the stream
// acknowledges. What depends on what is there (comparisons, inserts, appends) is read from the
// stream's leader before, with the number of its message, its revision; the publish names that
// revision as the last one of its subject, and is refused if it is not.
//
// Reads are answered by the stream's leader, except at the level `local`, where the server that the
// session is connected to answers by its own replica (direct get). A publish without an
// acknowledgement is unknown. See docs/reference/drivers/nats.md.
#include <fmt/format.h>
#include <nats/nats.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <csignal>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <variant>

#include "base/ask.hpp"
#include "databases/drivers/cells.hpp"
#include "databases/drivers/key_value.hpp"
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

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

constexpr std::uint16_t kPort = 4222;
constexpr Milliseconds kStep{1000};        // of a direct get that has no answer
constexpr std::int64_t kMostReplicas = 5;  // of a stream, by NATS
// Headers of NATS' protocol.
constexpr const char* kOperation = "KV-Operation";
constexpr const char* kExpected = "Nats-Expected-Last-Subject-Sequence";

struct Settings {
  std::vector<Host> hosts;
  std::string user, password;
  double timeout = 10;
  std::int64_t replicas = 1;
  bool local = false;  // the session's server answers reads by itself
};

// What a token of a subject may hold stays, all else becomes =XX.
std::string token(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    result += plain ? std::string(1, c) : fmt::format("={:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

std::string bucket_of(const workload::Table& table) {
  return "cupel_" + token(table.name);
}
std::string stream_of(const workload::Table& table) {
  return "KV_" + bucket_of(table);
}

struct Free {
  void operator()(natsOptions* options) const { natsOptions_Destroy(options); }
  void operator()(natsConnection* connection) const { natsConnection_Destroy(connection); }
  void operator()(jsCtx* context) const { jsCtx_Destroy(context); }
  void operator()(natsMsg* message) const { natsMsg_Destroy(message); }
  void operator()(jsPubAck* ack) const { jsPubAck_Destroy(ack); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

// The library ignores SIGPIPE for the whole process when it starts.
void start_library() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction before {};
    ::sigaction(SIGPIPE, nullptr, &before);
    nats_Open(-1);
    ::sigaction(SIGPIPE, &before, nullptr);
  });
}

std::string words_of(natsStatus status) {
  natsStatus last = NATS_OK;
  const char* words = nats_GetLastError(&last);
  if (words == nullptr || last != status || *words == '\0') words = natsStatus_GetText(status);
  auto line = sql::one_line(words);
  // "(jsm.c:1520): stream not found": the place in the library is of no use to anybody.
  if (const auto end = line.find("): "); line.starts_with('(') && end != std::string::npos) {
    line.erase(0, end + 3);
  }
  return line;
}

// What a failure means. A publish is refused for certain if the leader said that the revision is
// another one, or if the server knows nobody who would take it.
Failure failure_of(natsStatus status, int code, bool writes, bool closed) {
  Failure failure{.txn_outcome = writes ? TxnOutcome::kUnknown : TxnOutcome::kAborted,
                  .cause = Cause::kConnection,
                  .code = code != 0 ? fmt::format("JS {}", code) : natsStatus_GetText(status),
                  .message = words_of(status),
                  .connection_lost = closed};
  if (code == JSStreamWrongLastSequenceErr) {
    failure.txn_outcome = TxnOutcome::kAborted;
    failure.cause = Cause::kConflict;
  } else if (code == JSStreamNotFoundErr) {
    failure.cause = Cause::kGone;
  } else if (status == NATS_NO_RESPONDERS) {
    failure.txn_outcome = TxnOutcome::kAborted;
    failure.code = "no responders";
    failure.message = "the server knows no leader of the stream";
  } else if (status == NATS_TIMEOUT) {
    failure.cause = Cause::kTimeout;
    failure.message = "no answer in time";
  }
  return failure;
}

// What a key holds, and the number of its last message; 0: there never was one.
struct Seen {
  std::optional<std::string> value;
  std::uint64_t revision = 0;
};

Seen seen_of(natsMsg* message) {
  Seen seen{.value = {}, .revision = natsMsg_GetSequence(message)};
  const char* operation = nullptr;
  const bool marker = natsMsgHeader_Get(message, kOperation, &operation) == NATS_OK;
  if (marker && operation != nullptr) return seen;  // DEL or PURGE
  seen.value.emplace(natsMsg_GetData(message),
                     static_cast<std::size_t>(natsMsg_GetDataLength(message)));
  return seen;
}

// A publish: a value, or a marker that the key is deleted.
struct Change {
  std::optional<std::string> value;
  std::optional<std::uint64_t> expected = {};  // the last revision; none: any
};

// A connection to a host, without the library's reconnecting: what was sent before a connection
// broke must not be sent again.
class Line {
 public:
  static base::Result<std::unique_ptr<Line>> connect(const Settings& settings, const Host& host) {
    start_library();
    auto line = std::unique_ptr<Line>(new Line);
    line->timeout_ = Milliseconds(std::max<std::int64_t>(1, std::llround(settings.timeout * 1000)));
    natsOptions* options = nullptr;
    auto status = natsOptions_Create(&options);
    const Owned<natsOptions> owned(options);
    const auto set = [&](natsStatus next) { status = status == NATS_OK ? next : status; };
    if (status == NATS_OK) {
      set(natsOptions_SetURL(options, ("nats://" + address(host)).c_str()));
      set(natsOptions_SetTimeout(options, line->timeout_.count()));
      set(natsOptions_SetAllowReconnect(options, false));
      set(natsOptions_SetIgnoreDiscoveredServers(options, true));
      set(natsOptions_SetSendAsap(options, true));
      if (!settings.user.empty()) {
        set(natsOptions_SetUserInfo(options, settings.user.c_str(), settings.password.c_str()));
      }
    }
    natsConnection* connection = nullptr;
    if (status == NATS_OK) set(natsConnection_Connect(&connection, options));
    line->connection_.reset(connection);
    jsOptions defaults;
    jsOptions_Init(&defaults);
    defaults.Wait = line->timeout_.count();
    jsCtx* context = nullptr;
    if (status == NATS_OK) set(natsConnection_JetStream(&context, connection, &defaults));
    line->context_.reset(context);
    if (status == NATS_OK) return line;
    return base::Error{.message = fmt::format(
                           "cannot connect to NATS at {}: {}; {}", address(host), words_of(status),
                           status == NATS_CONNECTION_AUTH_FAILED ? "are user and password right?"
                                                                 : "is the server running there?")};
  }

  [[nodiscard]] jsCtx* context() const { return context_.get(); }

  // Of the stream's leader.
  MaybeFailure read(const std::string& stream, const std::string& subject, Seen& seen) {
    natsMsg* message = nullptr;
    auto code = static_cast<jsErrCode>(0);
    const auto status =
        js_GetLastMsg(&message, context(), stream.c_str(), subject.c_str(), nullptr, &code);
    const Owned<natsMsg> owned(message);
    seen = status == NATS_OK ? seen_of(message) : Seen{};
    if (status == NATS_OK || code == JSNoMessageFoundErr) return std::nullopt;
    return failure(status, code, false);
  }

  // Of the server's own replica. A server without a replica of the stream does not answer, and one
  // without the stream does not either. So a direct get waits in steps; after each, the leader of
  // the metadata is asked whether the stream exists. All steps together take timeout_ at most.
  MaybeFailure read_directly(const std::string& stream, const std::string& subject, Seen& seen) {
    seen = {};
    const auto deadline = Clock::now() + timeout_;
    const auto step = std::min(kStep, std::max(Milliseconds(1), timeout_ / 2));
    const auto wait = [&](Milliseconds most) {
      const auto left = std::chrono::ceil<Milliseconds>(deadline - Clock::now());
      return std::clamp(left, Milliseconds(1), most);
    };
    jsDirectGetMsgOptions what;
    jsDirectGetMsgOptions_Init(&what);
    what.LastBySubject = subject.c_str();
    while (true) {
      // After a stream was gone, its existence is asked first, since that has an answer.
      if (gone_.contains(stream)) {
        if (!has_stream(stream, wait(timeout_))) return stream_not_found();
        gone_.erase(stream);
      }
      jsOptions limits;
      jsOptions_Init(&limits);
      limits.Wait = wait(step).count();
      natsMsg* message = nullptr;
      const auto status = js_DirectGetMsg(&message, context(), stream.c_str(), &limits, &what);
      const Owned<natsMsg> owned(message);
      if (status == NATS_OK) seen = seen_of(message);
      if (status == NATS_OK || status == NATS_NOT_FOUND) return std::nullopt;
      const bool unanswered = status == NATS_NO_RESPONDERS || status == NATS_TIMEOUT;
      if (unanswered && !has_stream(stream, wait(timeout_))) {
        gone_.insert(stream);
        return stream_not_found();
      }
      if (status != NATS_TIMEOUT || Clock::now() >= deadline) return failure(status, 0, false);
    }
  }

  MaybeFailure publish(const std::string& subject, const Change& change) {
    // What is not sent has no effect.
    if (natsConnection_IsClosed(connection_.get())) {
      return failure_of(NATS_CONNECTION_CLOSED, 0, false, true);
    }
    natsMsg* message = nullptr;
    const auto& bytes = change.value ? *change.value : std::string();
    auto status = natsMsg_Create(&message, subject.c_str(), nullptr, bytes.data(),
                                 static_cast<int>(bytes.size()));
    const Owned<natsMsg> owned(message);
    if (status == NATS_OK && !change.value) status = natsMsgHeader_Set(message, kOperation, "DEL");
    if (status == NATS_OK && change.expected) {
      status = natsMsgHeader_Set(message, kExpected, std::to_string(*change.expected).c_str());
    }
    if (status != NATS_OK) return failure(status, 0, false);
    jsPubAck* ack = nullptr;
    auto code = static_cast<jsErrCode>(0);
    status = js_PublishMsg(&ack, context(), message, nullptr, &code);
    const Owned<jsPubAck> owned_ack(ack);
    if (status == NATS_OK) return std::nullopt;
    return failure(status, code, true);
  }

 private:
  Line() = default;

  [[nodiscard]] Failure stream_not_found() const {
    auto why = failure(NATS_ERR, JSStreamNotFoundErr, false);
    why.message = "stream not found";
    return why;
  }

  // False only if the leader of the metadata says so.
  [[nodiscard]] bool has_stream(const std::string& stream, Milliseconds wait) {
    jsOptions limits;
    jsOptions_Init(&limits);
    limits.Wait = wait.count();
    jsStreamInfo* info = nullptr;
    auto code = static_cast<jsErrCode>(0);
    const auto status = js_GetStreamInfo(&info, context(), stream.c_str(), &limits, &code);
    if (status == NATS_OK) jsStreamInfo_Destroy(info);
    return status == NATS_OK || code != JSStreamNotFoundErr;
  }

  [[nodiscard]] Failure failure(natsStatus status, int code, bool writes) const {
    return failure_of(status, code, writes, natsConnection_IsClosed(connection_.get()));
  }

  // In this order: the context goes first.
  Owned<natsConnection> connection_;
  Owned<jsCtx> context_;
  Milliseconds timeout_{};
  std::set<std::string> gone_;  // streams that did not exist when they were last read
};

class NatsConnection final : public KeyValueConnection {
 public:
  NatsConnection(std::unique_ptr<Line> line, bool local, workload::Schema schema)
      : KeyValueConnection({.interactive = "NATS has no transactions",
                            .several = "of NATS, which has none of several keys",
                            .ranges = "the driver keeps keys as text, in no order of their values"},
                           std::move(schema)),
        line_(std::move(line)),
        local_(local) {}

 protected:
  MaybeFailure run(std::span<const Statement> statements, std::span<Reply> replies) override {
    return one(statements[0], replies[0]);
  }

 private:
  [[nodiscard]] std::string subject_of(const Statement& statement) const {
    return fmt::format("$KV.{}.{}", bucket_of(table_of(statement)),
                       token(workload::to_string(statement.key[0])));
  }

  MaybeFailure look(const Statement& statement, bool direct, Seen& seen) {
    const auto stream = stream_of(table_of(statement));
    const auto subject = subject_of(statement);
    return direct ? line_->read_directly(stream, subject, seen)
                  : line_->read(stream, subject, seen);
  }

  MaybeFailure one(const Statement& statement, Reply& reply) {
    const auto& values = statement.values;
    switch (statement.kind) {
      case StatementKind::kRead: {
        Seen seen;
        auto failure = look(statement, local_, seen);
        if (!failure) fill(statement, seen.value, reply);
        return failure;
      }
      case StatementKind::kWrite:
        return line_->publish(subject_of(statement), {.value = workload::to_string(values[0])});
      case StatementKind::kDelete:
        return line_->publish(subject_of(statement), {.value = std::nullopt});
      case StatementKind::kInsert:
      case StatementKind::kAppend:
      case StatementKind::kCompareAndSet:
      case StatementKind::kRange:
        break;
    }
    return update(statement, reply);
  }

  // Reads, and writes what follows from it if nothing was written in between.
  MaybeFailure update(const Statement& statement, Reply& reply) {
    Seen seen;
    if (auto failure = look(statement, false, seen)) return aborted(*std::move(failure));
    const auto& values = statement.values;
    Change change{.value = {}, .expected = seen.revision};
    if (statement.kind == StatementKind::kAppend) {
      change.value = appended(seen.value.value_or(""), values[0]);
    } else if (statement.kind == StatementKind::kInsert) {
      if (seen.value) {
        return there_already(workload::to_string(statement.key[0]));
      }
      change.value = workload::to_string(values[0]);
    } else {
      reply.succeeded = holds_expected(statement, seen.value);
      if (!reply.succeeded) return std::nullopt;
      change.value = workload::to_string(values[1]);
    }
    return line_->publish(subject_of(statement), change);
  }

  std::unique_ptr<Line> line_;
  bool local_;
};

// What a server says first on a connection, as JSON: its name, its version, whether it has
// JetStream. Not an object: it says nothing of the kind.
nlohmann::json greeting(const Host& host, double timeout) {
  const auto text = base::ask(
      {host.name, host.port}, "", base::Seconds(timeout),
      [](std::string_view answer) { return answer.find('\n') != std::string_view::npos; });
  if (!text.ok() || !text->starts_with("INFO ")) return {};
  return nlohmann::json::parse(text->substr(5, text->find('\n') - 5), nullptr, false);
}

class NatsDatabase final : public Database {
 public:
  explicit NatsDatabase(Settings settings) : settings_(std::move(settings)) {}

  base::Status open() {
    for (const auto& host : settings_.hosts) {
      if (auto line = Line::connect(settings_, host); !line) return std::move(line).error();
      const auto info = greeting(host, settings_.timeout);
      if (!info.is_object() || !info.value("jetstream", false)) {
        return base::Error{.message = fmt::format("found NATS without JetStream at {}; start it "
                                                  "with --jetstream",
                                                  address(host))};
      }
      if (!facts_.version.empty()) continue;
      facts_ = {.product = "NATS JetStream",
                .version = info.value("version", std::string("unknown")),
                .isolation = settings_.local ? "local" : "linearizable",
                .detail = fmt::format("replicas={}", settings_.replicas)};
    }
    return base::Ok{};
  }

  [[nodiscard]] Facts facts() const override { return facts_; }
  [[nodiscard]] workload::Needs can() const override {
    return {.deletes = true, .lists = true, .compare_and_set = true};
  }

  base::Status prepare(const workload::Workload& workload) override {
    const auto& schema = workload.schema();
    if (auto fits = one_cell_a_row(schema, facts_.product); !fits) return fits;
    auto line = Line::connect(settings_, settings_.hosts[0]);
    if (!line) return std::move(line).error();
    for (const auto& table : schema.tables) {
      if (auto made = make_bucket(**line, table); !made) return made;
    }
    base::Status status = base::Ok{};
    workload.load([&](std::uint32_t number, const Row& row) {
      const auto& value = row.values[0];
      if (!status || std::holds_alternative<std::monostate>(value)) return;
      const auto subject = fmt::format("$KV.{}.{}", bucket_of(schema.tables[number]),
                                       token(workload::to_string(row.key[0])));
      if (auto failure = (*line)->publish(subject, {.value = workload::to_string(value)})) {
        status = base::Error{.message = fmt::format("cannot load the rows into NATS at {}: {}",
                                                    address(settings_.hosts[0]), failure->message)};
      }
    });
    if (status) schema_ = schema;
    return status;
  }

  [[nodiscard]] std::vector<std::string> hosts() const override {
    std::vector<std::string> names;
    for (const auto& host : settings_.hosts) names.push_back(address(host));
    return names;
  }

  base::Result<std::unique_ptr<Connection>> connect_to_host(std::uint32_t host) override {
    auto line = Line::connect(settings_, settings_.hosts[host]);
    if (!line) return std::move(line).error();
    return std::unique_ptr<Connection>(
        std::make_unique<NatsConnection>(*std::move(line), settings_.local, schema_));
  }

  void clean() override {
    auto line = Line::connect(settings_, settings_.hosts[0]);
    if (!line) return;
    for (const auto& table : schema_.tables) {
      auto code = static_cast<jsErrCode>(0);
      js_DeleteStream((*line)->context(), stream_of(table).c_str(), nullptr, &code);
    }
  }

 private:
  [[nodiscard]] base::Error refusal(const std::string& bucket, natsStatus status) const {
    return {.message = fmt::format("cannot make the bucket {} with {} replica{} in NATS at {}: {}",
                                   bucket, settings_.replicas, settings_.replicas == 1 ? "" : "s",
                                   address(settings_.hosts[0]), words_of(status))};
  }

  // A stream as buckets have them, empty.
  base::Status make_bucket(Line& line, const workload::Table& table) const {
    const auto name = stream_of(table);
    auto code = static_cast<jsErrCode>(0);
    auto status = js_DeleteStream(line.context(), name.c_str(), nullptr, &code);
    if (status != NATS_OK && code != JSStreamNotFoundErr) return refusal(bucket_of(table), status);
    const auto subjects = fmt::format("$KV.{}.>", bucket_of(table));
    const char* subject = subjects.c_str();
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = name.c_str();
    config.Subjects = &subject;
    config.SubjectsLen = 1;
    config.MaxMsgsPerSubject = 1;
    config.Discard = js_DiscardNew;
    config.Storage = js_FileStorage;
    config.Replicas = settings_.replicas;
    config.AllowRollup = true;
    config.DenyDelete = true;
    config.AllowDirect = settings_.local;
    status = js_AddStream(nullptr, line.context(), &config, nullptr, &code);
    if (status != NATS_OK) return refusal(bucket_of(table), status);
    return base::Ok{};
  }

  Settings settings_;
  Facts facts_;
  workload::Schema schema_;
};

}  // namespace

base::Result<std::unique_ptr<Database>> open_nats(const std::string& text,
                                                  const OpenOptions& options) {
  auto url = parse_url(text);
  if (!url) return std::move(url).error();
  if (url->hosts.empty() || !url->path.empty()) {
    return base::Error{
        .message = fmt::format("found `{}`, expected "
                               "nats://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]…] without a path",
                               without_password(text))};
  }
  Settings settings;
  settings.hosts = std::move(url->hosts);
  settings.replicas = std::min(static_cast<std::int64_t>(settings.hosts.size()), kMostReplicas);
  if (const auto replicas = take_option(*url, "replicas")) {
    auto number = option_number("replicas", *replicas, 1, kMostReplicas);
    if (!number) return std::move(number).error();
    settings.replicas = *number;
  }
  if (auto unknown = unknown_options(*url, "replicas")) return *std::move(unknown);
  fill_in(settings.hosts, kPort);
  settings.user = std::move(url->user);
  settings.password = std::move(url->password);
  settings.timeout = options.statement_timeout;
  settings.local = options.isolation == "local";
  auto database = std::make_unique<NatsDatabase>(std::move(settings));
  if (auto opened = database->open(); !opened) return std::move(opened).error();
  return std::unique_ptr<Database>(std::move(database));
}

}  // namespace cupel::drivers

CUPEL_DRIVER_PLUGIN(cupel::drivers::open_nats, nullptr)
