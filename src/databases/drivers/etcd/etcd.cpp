// etcd, by its HTTP/JSON gateway: one connection a session to one of the hosts.
//
// A row is one key, `cupel:TABLE:KEY`. A single read, write or delete is one request
// (range, put, deleterange), a single compare-and-set or insert one txn that compares
// the value, or the revision of its creation with 0. Several statements
// (serializable) are one txn as well: etcd wants no key written twice in it, so the
// driver works out what the statements do to each key, reads first and writes the
// last value of each. What depends on what is there (comparisons, inserts, appends)
// is read before, and the txn compares that no revision has changed: else it does
// nothing, a conflict, aborted.
//
// Reads are linearizable, except at the level `local`, where a member answers by what it knows
// (etcd's `serializable: true`). A request
// that changes something and was sent without an answer is unknown, and so are all
// errors but those by which etcd says that it refused the request itself. See
// docs/reference/drivers/etcd.md.
#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "base/sigpipe.hpp"
#include "databases/drivers/base64.hpp"
#include "databases/drivers/cells.hpp"
#include "databases/drivers/key_value.hpp"
#include "databases/drivers/plugin.hpp"
#include "databases/drivers/sql.hpp"
#include "databases/drivers/sql_connection.hpp"
#include "databases/drivers/url.hpp"

namespace cupel::drivers {

namespace {

using nlohmann::json;
using workload::ColumnType;
using workload::Datum;
using workload::Reply;
using workload::Row;
using workload::Statement;
using workload::StatementKind;
using Clock = std::chrono::steady_clock;

struct Settings {
  std::vector<Host> hosts;
  double timeout = 10;
  bool several = false;  // statements a transaction
  bool local = false;    // a member answers reads by itself
};

std::string decoded(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return {};
  const auto& text = found->get_ref<const std::string&>();
  return from_base64(text).value_or(text);  // not what etcd writes: shown as it is
}

// The first key after all that start with the prefix.
std::string end_of(std::string prefix) {
  ++prefix.back();
  return prefix;
}

// The gateway's gRPC codes; it answers with them beside the HTTP status.
enum Code : std::uint8_t {
  kInvalidArgument = 3,
  kNotFound = 5,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kUnimplemented = 12,
  kUnauthenticated = 16,
};

// An answer that is no success. etcd refuses a request before it is proposed to the
// cluster with the codes below; with all others (`request timed out`, `leader
// changed`, 503) it may have been applied.
Failure failure_of(int status, const std::string& body, bool writes) {
  const auto answer = json::parse(body, nullptr, false);
  std::string words;
  int code = -1;
  if (answer.is_object()) {
    if (const auto found = answer.find("error"); found != answer.end() && found->is_string()) {
      words = sql::one_line(found->get<std::string>());
    }
    if (const auto found = answer.find("code"); found != answer.end() && found->is_number()) {
      code = found->get<int>();
    }
  }
  if (words.empty()) words = sql::one_line(std::string_view(body).substr(0, 200));
  Failure failure{.txn_outcome = writes ? TxnOutcome::kUnknown : TxnOutcome::kAborted,
                  .cause = Cause::kConnection,
                  .code = fmt::format("HTTP {}", status),
                  .message = words.empty() ? std::string("no words") : words};
  switch (code) {
    case kInvalidArgument:
    case kNotFound:
    case kPermissionDenied:
    case kFailedPrecondition:
    case kUnimplemented:
    case kUnauthenticated:
      failure.txn_outcome = TxnOutcome::kAborted;
      failure.cause = Cause::kStatement;
      break;
    case kResourceExhausted:
      // gRPC has the code for messages that are too long, answers too. And "database space
      // exceeded" is also etcd's answer to a request that it has just applied, if the space was
      // exceeded since it was let in.
      if (words.find("too many requests") != std::string::npos) {
        failure.txn_outcome = TxnOutcome::kAborted;
      }
      break;
    default:
      if (words.find("timed out") != std::string::npos) failure.cause = Cause::kTimeout;
  }
  if (words.find("user name is empty") != std::string::npos || code == kUnauthenticated) {
    failure.message += "; the driver knows no users: switch authentication off for the test";
  }
  return failure;
}

// A keep-alive connection to a host.
class Gateway {
 public:
  Gateway(Host host, double timeout)
      : host_(std::move(host)), timeout_(timeout), client_(host_.name, host_.port) {
    const auto limit = std::chrono::microseconds(static_cast<std::int64_t>(timeout * 1e6));
    client_.set_connection_timeout(limit);
    client_.set_read_timeout(limit);
    client_.set_write_timeout(limit);
    client_.set_keep_alive(true);
    client_.set_tcp_nodelay(true);
  }

  [[nodiscard]] std::string where() const { return address(host_); }

  MaybeFailure post(const char* path, const json& request, bool writes, json& answer) {
    return ask("POST", path, request.dump(), writes, answer);
  }
  MaybeFailure get(const char* path, json& answer) { return ask("GET", path, {}, false, answer); }

 private:
  MaybeFailure ask(const char* method, const char* path, std::string body, bool writes,
                   json& answer) {
    if (lost_) return lost_before();
    httplib::Request request;
    request.method = method;
    request.path = path;
    request.body = std::move(body);
    if (!request.body.empty()) request.set_header("Content-Type", "application/json");
    std::string text;
    request.content_receiver = [&](const char* bytes, std::size_t size, std::uint64_t,
                                   std::uint64_t) {
      text.append(bytes, size);
      return true;
    };
    httplib::Response response;
    auto error = httplib::Error::Success;
    const auto began = Clock::now();
    bool answered = false;
    {
      const base::WithoutSigpipe guard;
      answered = client_.send(request, response, error);
    }
    answer = json::parse(text, nullptr, false);
    // The gateway ends its errors with a trailer, which cpp-httplib takes for a broken
    // answer; what is a whole object was all of it.
    answered = answered || (response.status >= 400 && answer.is_object());
    if (!answered) {
      lost_ = true;
      // Without a connection nothing was sent.
      const bool sent =
          error != httplib::Error::Connection && error != httplib::Error::ConnectionTimeout;
      const std::chrono::duration<double> took = Clock::now() - began;
      const bool timeout =
          error == httplib::Error::ConnectionTimeout || took.count() >= timeout_ * 0.95;
      return Failure{
          .txn_outcome = sent && writes ? TxnOutcome::kUnknown : TxnOutcome::kAborted,
          .cause = timeout ? Cause::kTimeout : Cause::kConnection,
          .code = httplib::to_string(error),
          .message = fmt::format("{} {}", sent ? "no answer from" : "cannot connect to", where()),
          .connection_lost = true};
    }
    if (response.status != 200) return failure_of(response.status, text, writes);
    if (answer.is_object()) return std::nullopt;
    return Failure{.txn_outcome = writes ? TxnOutcome::kUnknown : TxnOutcome::kAborted,
                   .cause = Cause::kConnection,
                   .code = "JSON",
                   .message = fmt::format("the answer of {} is no JSON object", where())};
  }

  Host host_;
  double timeout_;
  httplib::Client client_;
  bool lost_ = false;
};

// What a key holds, and the revision of its last change; 0: it is absent.
struct Seen {
  std::optional<std::string> value;
  std::string revision = "0";
};

// Of the answer to a range request for one key.
Seen seen_of(const json& range) {
  Seen seen;
  const auto kvs = range.find("kvs");
  if (kvs == range.end() || !kvs->is_array() || kvs->empty()) return seen;
  const auto& kv = kvs->front();
  seen.value = decoded(kv, "value");
  if (const auto found = kv.find("mod_revision"); found != kv.end()) {
    seen.revision = found->is_string() ? found->get<std::string>() : found->dump();
  }
  return seen;
}

json range_of(const std::string& key) {
  return {{"key", to_base64(key)}};
}
json put_of(const std::string& key, const std::string& value) {
  return {{"key", to_base64(key)}, {"value", to_base64(value)}};
}
json compared(const std::string& key, const char* target, const char* field, json value) {
  return {
      {"key", to_base64(key)}, {"target", target}, {"result", "EQUAL"}, {field, std::move(value)}};
}
json was_absent(const std::string& key) {
  return compared(key, "CREATE", "create_revision", "0");
}

bool succeeded(const json& answer) {
  return answer.value("succeeded", false);
}

class EtcdConnection final : public KeyValueConnection {
 public:
  EtcdConnection(std::unique_ptr<Gateway> gateway, const Settings& settings,
                 workload::Schema schema)
      : KeyValueConnection(
            {.interactive = "etcd has no interactive transactions: a txn is one request",
             .several = settings.several ? "" : kOnlyOne,
             .ranges = "the driver keeps keys as text, in no order of their values"},
            std::move(schema)),
        gateway_(std::move(gateway)),
        local_(settings.local) {}

 protected:
  MaybeFailure run(std::span<const Statement> statements, std::span<Reply> replies) override {
    return statements.size() == 1 && statements[0].kind != StatementKind::kAppend
               ? one(statements[0], replies[0])
               : several(statements, replies);
  }

 private:
  [[nodiscard]] std::string key_of(const Statement& statement) const {
    return text_key(table_of(statement), statement.key[0]);
  }

  MaybeFailure one(const Statement& statement, Reply& reply) {
    const auto key = key_of(statement);
    json answer;
    switch (statement.kind) {
      case StatementKind::kRead: {
        auto request = range_of(key);
        if (local_) request["serializable"] = true;
        auto failure = gateway_->post("/v3/kv/range", request, false, answer);
        if (!failure) fill(statement, seen_of(answer).value, reply);
        return failure;
      }
      case StatementKind::kDelete:
        return gateway_->post("/v3/kv/deleterange", range_of(key), true, answer);
      case StatementKind::kInsert:
      case StatementKind::kCompareAndSet: {
        const bool insert = statement.kind == StatementKind::kInsert;
        const auto& expected = statement.values[0];
        const bool absent = insert || std::holds_alternative<std::monostate>(expected);
        const auto value = workload::to_string(statement.values[insert ? 0 : 1]);
        const json request{
            {"compare", json::array({absent ? was_absent(key)
                                            : compared(key, "VALUE", "value",
                                                       to_base64(workload::to_string(expected)))})},
            {"success", json::array({{{"request_put", put_of(key, value)}}})}};
        if (auto failure = gateway_->post("/v3/kv/txn", request, true, answer)) return failure;
        reply.succeeded = succeeded(answer);
        if (insert && !reply.succeeded) return there_already(key);
        return std::nullopt;
      }
      case StatementKind::kWrite:
      case StatementKind::kAppend:
      case StatementKind::kRange:
        break;
    }
    return gateway_->post("/v3/kv/put", put_of(key, workload::to_string(statement.values[0])), true,
                          answer);
  }

  static bool depends(const Statement& statement) {
    return statement.kind == StatementKind::kInsert ||
           statement.kind == StatementKind::kCompareAndSet ||
           statement.kind == StatementKind::kAppend;
  }

  // One txn that ranges over the keys (each once) if the comparisons hold, then
  // does the writes.
  MaybeFailure txn(const std::vector<std::string>& keys, json compares, json writes,
                   std::map<std::string, Seen>& seen) {
    const bool mutation = !writes.empty();
    json success = json::array();
    for (const auto& key : keys) success.push_back({{"request_range", range_of(key)}});
    for (auto& write : writes) success.push_back(std::move(write));
    json answer;
    const bool compared_any = !compares.empty();
    if (auto failure = gateway_->post(
            "/v3/kv/txn", {{"compare", std::move(compares)}, {"success", std::move(success)}},
            mutation, answer)) {
      return failure;
    }
    if (!succeeded(answer)) {
      return Failure{
          .txn_outcome = compared_any || !mutation ? TxnOutcome::kAborted : TxnOutcome::kUnknown,
          .cause = Cause::kConflict,
          .code = "txn",
          .message = "a key that the transaction depends on was changed before it"};
    }
    const auto responses = answer.find("responses");
    const bool whole =
        responses != answer.end() && responses->is_array() && responses->size() >= keys.size();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!whole || !(*responses)[i].contains("response_range")) {
        return Failure{.txn_outcome = mutation ? TxnOutcome::kUnknown : TxnOutcome::kAborted,
                       .cause = Cause::kConnection,
                       .code = "JSON",
                       .message = "the answer to a txn lacks what was read"};
      }
      seen[keys[i]] = seen_of((*responses)[i]["response_range"]);
    }
    return std::nullopt;
  }

  MaybeFailure several(std::span<const Statement> statements, std::span<Reply> replies) {
    // What must be known before the txn can be written.
    std::vector<std::string> first, then;
    for (const auto& statement : statements) {
      const auto key = key_of(statement);
      if (depends(statement) && std::find(first.begin(), first.end(), key) == first.end()) {
        first.push_back(key);
      }
    }
    std::map<std::string, Seen> seen;
    if (!first.empty()) {
      if (auto failure = txn(first, json::array(), json::array(), seen)) {
        return aborted(*std::move(failure));
      }
    }
    json compares = json::array();
    for (const auto& key : first) {
      compares.push_back(compared(key, "MOD", "mod_revision", seen[key].revision));
    }
    // What each key holds after the statements so far, if one of them wrote it.
    std::map<std::string, std::optional<std::string>> written;
    std::vector<std::pair<std::size_t, std::string>> to_fill;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      const auto& statement = statements[i];
      const auto key = key_of(statement);
      const auto own = written.find(key);
      const auto now = [&] { return own != written.end() ? own->second : seen[key].value; };
      switch (statement.kind) {
        case StatementKind::kRead:
          if (own != written.end()) {
            fill(statement, own->second, replies[i]);
          } else {
            to_fill.emplace_back(i, key);
            if (std::find(then.begin(), then.end(), key) == then.end()) then.push_back(key);
          }
          break;
        case StatementKind::kDelete:
          written[key] = std::nullopt;
          break;
        case StatementKind::kInsert:
          if (now()) return there_already(key);
          [[fallthrough]];
        case StatementKind::kWrite:
          written[key] = workload::to_string(statement.values[0]);
          break;
        case StatementKind::kAppend:
          written[key] = appended(now().value_or(""), statement.values[0]);
          break;
        case StatementKind::kCompareAndSet: {
          replies[i].succeeded = holds_expected(statement, now());
          if (replies[i].succeeded) written[key] = workload::to_string(statement.values[1]);
          break;
        }
        case StatementKind::kRange:
          break;
      }
    }
    json writes = json::array();
    for (const auto& [key, value] : written) {
      if (value) {
        writes.push_back({{"request_put", put_of(key, *value)}});
      } else {
        writes.push_back({{"request_delete_range", range_of(key)}});
      }
    }
    // Also without a write: all reads are of one moment.
    if (auto failure = txn(then, std::move(compares), std::move(writes), seen)) return failure;
    for (const auto& [i, key] : to_fill) fill(statements[i], seen[key].value, replies[i]);
    return std::nullopt;
  }

  std::unique_ptr<Gateway> gateway_;
  bool local_;
};

class EtcdDatabase final : public Database {
 public:
  explicit EtcdDatabase(Settings settings) : settings_(std::move(settings)) {}

  base::Status open() {
    for (std::size_t host = 0; host < settings_.hosts.size(); ++host) {
      Gateway gateway(settings_.hosts[host], settings_.timeout);
      json version;
      if (auto failure = gateway.get("/version", version)) {
        return base::Error{
            .message = fmt::format("cannot connect to etcd at {}: {}; is the server running there?",
                                   gateway.where(), failure->message)};
      }
      if (!version.contains("etcdserver")) {
        return base::Error{.message = fmt::format(
                               "found a server at {} whose /version names no etcdserver, expected "
                               "etcd 3.4 or later",
                               gateway.where())};
      }
      // Is there a leader, and a gateway under /v3?
      json answer;
      if (auto failure = gateway.post("/v3/kv/range", range_of("cupel:"), false, answer)) {
        return base::Error{.message = fmt::format("cannot read from etcd at {}: {}",
                                                  gateway.where(), failure->message)};
      }
      if (host > 0) continue;
      facts_ = {.product = "etcd",
                .version = version.value("etcdserver", ""),
                .isolation = settings_.several ? "serializable"
                             : settings_.local ? "local"
                                               : "linearizable",
                .detail = {}};
      json members;
      if (!gateway.post("/v3/cluster/member/list", json::object(), false, members) &&
          members.contains("members")) {
        facts_.detail = fmt::format("members={}", members["members"].size());
      }
    }
    return base::Ok{};
  }

  [[nodiscard]] Facts facts() const override { return facts_; }
  [[nodiscard]] workload::Needs can() const override {
    return {.multiple = settings_.several, .deletes = true, .lists = true, .compare_and_set = true};
  }

  base::Status prepare(const workload::Workload& workload) override {
    const auto& schema = workload.schema();
    if (auto fits = one_cell_a_row(schema, facts_.product); !fits) return fits;
    if (auto dropped = drop(schema); !dropped) return dropped;
    Gateway gateway(settings_.hosts[0], settings_.timeout);
    constexpr std::size_t kPutsInTxn = 100;  // etcd's limit is 128 (--max-txn-ops)
    json puts = json::array();
    base::Status status = base::Ok{};
    const auto flush = [&] {
      if (!status || puts.empty()) return;
      json answer;
      if (auto failure = gateway.post("/v3/kv/txn", {{"success", std::move(puts)}}, true, answer)) {
        status = base::Error{.message = fmt::format("cannot load the rows into etcd at {}: {}",
                                                    gateway.where(), failure->message)};
      }
      puts = json::array();
    };
    workload.load([&](std::uint32_t number, const Row& row) {
      const auto& value = row.values[0];
      if (std::holds_alternative<std::monostate>(value)) return;  // no key is its null
      puts.push_back({{"request_put", put_of(text_key(schema.tables[number], row.key[0]),
                                             workload::to_string(value))}});
      if (puts.size() >= kPutsInTxn) flush();
    });
    flush();
    if (status) schema_ = schema;
    return status;
  }

  base::Status join(const workload::Schema& schema) override {
    if (auto fits = one_cell_a_row(schema, facts_.product); !fits) return fits;
    schema_ = schema;
    return base::Ok{};
  }

  [[nodiscard]] std::vector<std::string> hosts() const override {
    std::vector<std::string> names;
    for (const auto& host : settings_.hosts) names.push_back(Gateway(host, 1).where());
    return names;
  }

  base::Result<std::unique_ptr<Connection>> connect_to_host(std::uint32_t host) override {
    auto gateway = std::make_unique<Gateway>(settings_.hosts[host], settings_.timeout);
    json answer;
    if (auto failure = gateway->get("/version", answer)) {
      return base::Error{.message = fmt::format("cannot connect to etcd at {}: {}; is the server "
                                                "running there?",
                                                gateway->where(), failure->message)};
    }
    return std::unique_ptr<Connection>(
        std::make_unique<EtcdConnection>(std::move(gateway), settings_, schema_));
  }

  void clean() override { (void)drop(schema_); }

 private:
  base::Status drop(const workload::Schema& schema) const {
    Gateway gateway(settings_.hosts[0], settings_.timeout);
    for (const auto& table : schema.tables) {
      const auto prefix = text_prefix(table);
      json answer;
      if (auto failure =
              gateway.post("/v3/kv/deleterange",
                           {{"key", to_base64(prefix)}, {"range_end", to_base64(end_of(prefix))}},
                           true, answer)) {
        return base::Error{.message = fmt::format("cannot clear the keys in etcd at {}: {}",
                                                  gateway.where(), failure->message)};
      }
    }
    return base::Ok{};
  }

  Settings settings_;
  Facts facts_;
  workload::Schema schema_;
};

}  // namespace

base::Result<std::unique_ptr<Database>> open_etcd(const std::string& text,
                                                  const OpenOptions& options) {
  auto url = parse_url(text);
  if (!url) return std::move(url).error();
  if (url->hosts.empty() || !url->path.empty() || !url->user.empty() || !url->password.empty()) {
    return base::Error{.message = fmt::format(
                           "found `{}`, expected etcd://HOST[:PORT][,HOST[:PORT]…] without user "
                           "and path",
                           without_password(text))};
  }
  if (auto unknown = unknown_options(*url, "none")) return *std::move(unknown);
  Settings settings;
  settings.hosts = std::move(url->hosts);
  fill_in(settings.hosts, 2379);
  settings.timeout = options.statement_timeout;
  settings.several = options.isolation == "serializable";
  settings.local = options.isolation == "local";
  auto database = std::make_unique<EtcdDatabase>(std::move(settings));
  if (auto opened = database->open(); !opened) return std::move(opened).error();
  return std::unique_ptr<Database>(std::move(database));
}

}  // namespace cupel::drivers

CUPEL_DRIVER_PLUGIN(cupel::drivers::open_etcd, nullptr)
