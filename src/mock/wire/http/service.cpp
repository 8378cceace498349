// Routes, sessions and JSON: see the header.
#include "mock/wire/http/service.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text/json.hpp"

namespace cupel::wire {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
using sql::TransactionState;

constexpr auto kIdleLongEnough = std::chrono::minutes(1);

// What ends a request; thrown by this file alone.
struct Refusal {
  int status;
  std::string sqlstate, message, detail = {};
  std::optional<std::uint32_t> position = {};
};

Refusal bad_request(std::string message) {
  return {400, "08P01", std::move(message)};
}

int status_of(std::string_view sqlstate) {
  if (sqlstate == "0A000") return 501;
  if (sqlstate == "57P01" || sqlstate == "57P03" || sqlstate == "53300") return 503;
  for (const std::string_view conflict : {"40", "23", "25"}) {
    if (sqlstate.starts_with(conflict)) return 409;
  }
  return 400;
}

Refusal refusal(const sql::Error& error) {
  return {status_of(error.sqlstate), error.sqlstate, error.message, error.detail, error.position};
}

Json error_json(const Refusal& refused) {
  Json error;
  error["sqlstate"] = refused.sqlstate;
  error["message"] = refused.message;
  if (!refused.detail.empty()) error["detail"] = refused.detail;
  if (refused.position) error["position"] = *refused.position;
  return error;
}

std::string text_of(const Json& json) {
  return text::dump(json) + "\n";
}

const char* kind_of(const Json& json) {
  return json.type_name();
}
// "a number", "an array".
std::string a_kind_of(const Json& json) {
  if (json.is_null()) return "null";
  return fmt::format("{} {}", json.is_object() || json.is_array() ? "an" : "a", kind_of(json));
}

Json json_of(const mock::Value& value) {
  switch (value.kind) {
    case mock::Value::Kind::kNull:
      return nullptr;
    case mock::Value::Kind::kInteger:
      return value.integer;
    case mock::Value::Kind::kText:
      return value.text;
  }
  return nullptr;
}

mock::Value value_of(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_string()) return mock::Value::of(json.get<std::string>());
  const bool too_large = json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX;
  if (json.is_number_integer() && !too_large) return mock::Value::of(json.get<std::int64_t>());
  throw bad_request(
      fmt::format("found a value that is {}{}, expected null, an integer of 64 bits or a string",
                  a_kind_of(json), too_large ? " too large" : ""));
}

const char* name_of(sql::Type type) {
  switch (type) {
    case sql::Type::kNull:
      return "unknown";
    case sql::Type::kBoolean:
      return "boolean";
    case sql::Type::kSmallint:
      return "smallint";
    case sql::Type::kInteger:
      return "integer";
    case sql::Type::kBigint:
      return "bigint";
    case sql::Type::kNumeric:
      return "numeric";
    case sql::Type::kText:
      return "text";
    case sql::Type::kVarchar:
      return "varchar";
    case sql::Type::kTimestamp:
      return "timestamp";
    case sql::Type::kTimestampTz:
      return "timestamptz";
  }
  return "text";
}

// Numbers that JSON holds exactly are numbers; numeric stays text.
Json json_of(const sql::Datum& datum, sql::Type type) {
  if (!datum) return nullptr;
  const char* begin = datum->data();
  const char* end = begin + datum->size();
  switch (type) {
    case sql::Type::kBoolean:
      return *datum == "t" || *datum == "true" || *datum == "1";
    case sql::Type::kSmallint:
    case sql::Type::kInteger:
    case sql::Type::kBigint: {
      std::int64_t number = 0;
      const auto [stop, error] = std::from_chars(begin, end, number);
      if (error == std::errc() && stop == end) return number;
      break;
    }
    default:
      break;
  }
  return *datum;
}

sql::Datum datum_of(const Json& json) {
  if (json.is_null()) return std::nullopt;
  if (json.is_string()) return json.get<std::string>();
  if (json.is_boolean()) return json.get<bool>() ? "t" : "f";
  if (json.is_number()) return json.dump();
  throw bad_request(
      fmt::format("found a parameter that is {}, expected null, a boolean, a number or a string",
                  a_kind_of(json)));
}

Json json_of(const sql::Result& result) {
  Json json;
  json["tag"] = result.tag;
  if (result.has_rows) {
    json["columns"] = Json::array();
    for (const auto& column : result.columns) {
      json["columns"].push_back({{"name", column.name}, {"type", name_of(column.type)}});
    }
    json["rows"] = Json::array();
    for (const auto& row : result.rows) {
      auto values = Json::array();
      for (std::size_t i = 0; i < row.size(); ++i)
        values.push_back(json_of(row[i], result.columns[i].type));
      json["rows"].push_back(std::move(values));
    }
  }
  json["affected"] = result.affected;
  for (const auto& notice : result.notices) json["notices"].push_back(notice.message);
  return json;
}

const char* name_of(TransactionState state) {
  switch (state) {
    case TransactionState::kIdle:
      return "idle";
    case TransactionState::kOpen:
      return "open";
    case TransactionState::kFailed:
      return "failed";
  }
  return "idle";
}

// The body, an object of known members.
class Fields {
 public:
  Fields(const std::string& body, std::initializer_list<const char*> known) {
    if (body.find_first_not_of(" \t\r\n") != std::string::npos)
      json_ = Json::parse(body, nullptr, false);
    if (json_.is_discarded()) throw bad_request("found a body that is no JSON, expected an object");
    if (!json_.is_object())
      throw bad_request(
          fmt::format("found a body that is {}, expected an object", a_kind_of(json_)));
    for (const auto& [name, value] : json_.items()) {
      const bool ok = std::any_of(known.begin(), known.end(),
                                  [&, &member = name](const char* k) { return member == k; });
      if (ok) continue;
      std::string expected;
      for (const char* k : known)
        expected += fmt::format("{}`{}`", expected.empty() ? "" : ", ", k);
      throw bad_request(fmt::format("found the member `{}`, expected {}", name,
                                    expected.empty() ? "none" : expected));
    }
  }

  [[nodiscard]] const Json* find(const char* name) const {
    const auto found = json_.find(name);
    return found == json_.end() ? nullptr : &*found;
  }
  [[nodiscard]] const Json& need(const char* name) const {
    const auto* found = find(name);
    if (found == nullptr) throw bad_request(fmt::format("expected the member `{}`", name));
    return *found;
  }
  [[nodiscard]] std::string need_text(const char* name) const { return text(name, need(name)); }
  [[nodiscard]] std::optional<std::string> find_text(const char* name) const {
    const auto* found = find(name);
    return found == nullptr ? std::nullopt : std::optional(text(name, *found));
  }

 private:
  static std::string text(const char* name, const Json& json) {
    if (!json.is_string())
      throw bad_request(
          fmt::format("found `{}` that is {}, expected a string", name, a_kind_of(json)));
    return json.get<std::string>();
  }
  Json json_ = Json::object();
};

class HttpSession {
 public:
  HttpSession(Backend& backend, std::string name) : backend_(backend), name_(std::move(name)) {}
  ~HttpSession() {
    transaction_.reset();
    sql_.reset();
    if (keys_) backend_.close_keys(*keys_);
  }
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  std::mutex busy;
  Clock::time_point used = Clock::now();  // guarded by the table's mutex

  void begin(const Fields& fields) {
    if (transaction_)
      throw Refusal{409, "25001",
                    "found a transaction that is open, expected none; commit or roll back first"};
    if (sql_ && sql_->state() != TransactionState::kIdle) {
      throw Refusal{409, "25001",
                    "found an SQL transaction that is open in this session, which this one would "
                    "wait for; end it first"};
    }
    mock::Store::BeginOptions options;
    if (const auto name = fields.find_text("level")) {
      options.level = mock::level_of(*name);
      if (!options.level || *options.level == mock::Level::kStrictSerializable) {
        throw bad_request(fmt::format(
            "found the level `{}`, expected read-committed, read-atomic, causal, prefix, "
            "strong-session-snapshot-isolation or strong-session-serializable",
            *name));
      }
      if (backend_.is_versioned())
        throw bad_request("found a level, expected none: the level is that of the whole mock");
    }
    if (const auto name = fields.find_text("policy")) {
      options.policy = mock::policy_of(*name);
      if (!options.policy)
        throw bad_request(
            fmt::format("found the policy `{}`, expected uniform, latest or adversarial", *name));
    }
    if (!keys_) keys_ = backend_.open_keys(name_);
    transaction_ = backend_.begin(*keys_, options);
    if (!transaction_) throw Refusal{503, "57P01", "the mock store is shutting down"};
  }

  Json read(const Fields& fields) {
    const auto value = open().read(fields.need_text("key"));
    if (!value) fail();
    return {{"value", json_of(*value)}};
  }
  void write(const Fields& fields) {
    const auto key = fields.need_text("key");
    if (!open().write(key, value_of(fields.need("value")))) fail();
  }
  Json keys(const Fields& fields) {
    auto found = open().keys_with_prefix(fields.find_text("prefix").value_or(""));
    if (transaction_->failure()) fail();
    return {{"keys", std::move(found)}};
  }
  void commit() {
    if (!open().commit()) fail();
    transaction_.reset();
  }
  void rollback() {
    open().rollback();
    transaction_.reset();
  }

  // Several statements, or one with parameters.
  Json sql(const Fields& fields) {
    if (transaction_) {
      throw Refusal{409, "25001",
                    "found a transaction on keys that is open in this session, which SQL would "
                    "wait for; end it first"};
    }
    const auto text = fields.need_text("sql");
    const auto* given = fields.find("parameters");
    if (given != nullptr && !given->is_array()) {
      throw bad_request(
          fmt::format("found `parameters` that is {}, expected an array", a_kind_of(*given)));
    }
    std::vector<sql::Datum> parameters;
    if (given != nullptr) {
      for (const auto& parameter : *given) parameters.push_back(datum_of(parameter));
    }
    if (!sql_) sql_ = backend_.open_sql(name_ + " sql");
    if (!sql_) throw Refusal{503, "57P01", "the mock store is shutting down"};
    Json results = Json::array();
    std::optional<sql::Error> error;
    if (given == nullptr) {
      auto run = sql_->run(text);
      for (const auto& result : run.results) results.push_back(json_of(result));
      error = std::move(run.error);
    } else if (auto prepared = sql_->prepare(text);
               auto* wrong = std::get_if<sql::Error>(&prepared)) {
      error = std::move(*wrong);
    } else {
      auto result = sql_->execute(*std::get<0>(prepared), parameters);
      if (auto* failed = std::get_if<sql::Error>(&result))
        error = std::move(*failed);
      else
        results.push_back(json_of(std::get<sql::Result>(result)));
    }
    Json json;
    json["results"] = std::move(results);
    json["state"] = name_of(sql_->state());
    if (error) {
      const auto refused = refusal(*error);
      status_ = refused.status;
      json["error"] = error_json(refused);
    }
    return json;
  }
  // Of the last sql(), whose results so far are given with an error.
  [[nodiscard]] int status() const { return status_; }

 private:
  mock::Transaction& open() {
    if (!transaction_) throw Refusal{409, "25P01", "found no open transaction; begin one first"};
    return *transaction_;
  }
  [[noreturn]] void fail() {
    const auto failure = transaction_->failure();
    transaction_.reset();
    if (!failure) throw Refusal{409, "40001", "the transaction was rolled back"};
    switch (failure->kind) {
      case mock::Failure::Kind::kConflict:
        throw Refusal{409, "40001", failure->message};
      case mock::Failure::Kind::kDeadlock:
        throw Refusal{409, "40P01", failure->message};
      case mock::Failure::Kind::kEnded:
        throw Refusal{409, "25P03", failure->message};
      case mock::Failure::Kind::kStopped:
        break;
    }
    throw Refusal{503, "57P01", failure->message};
  }

  Backend& backend_;
  std::string name_;
  std::optional<std::uint32_t> keys_;
  std::unique_ptr<mock::Transaction> transaction_;
  std::unique_ptr<sql::Session> sql_;
  int status_ = 200;
};

constexpr const char* kRoutes[] = {"POST /sessions",           "DELETE /sessions/ID",
                                   "POST /sessions/ID/begin",  "POST /sessions/ID/read",
                                   "POST /sessions/ID/write",  "POST /sessions/ID/keys",
                                   "POST /sessions/ID/commit", "POST /sessions/ID/rollback",
                                   "POST /sessions/ID/sql",    "POST /sql"};

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const auto end = std::min(path.find('/'), path.size());
    if (end > 0) parts.emplace_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return parts;
}

bool is_loopback(std::string_view address) {
  return address.empty() || address.starts_with("127.") || address == "::1";
}

// In a time that does not say how much of it is right.
bool is_same_secret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    different |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(secret[i]);
  }
  return different == 0;
}

}  // namespace

class HttpService::State {
 public:
  State(Backend& backend, std::optional<std::string> password, std::vector<std::string> names)
      : backend_(backend), password_(std::move(password)), names_(std::move(names)) {}

  HttpResponse handle(const HttpRequest& request) {
    const bool known = password_ && is_same_secret(request.authorization, "Bearer " + *password_);
    if (auto foreign = refusal_of(request.headers, !request.body.empty(), known, names_)) {
      throw Refusal{foreign->status, "28000", std::move(foreign->message)};
    }
    if (password_ && !known) {
      throw Refusal{
          401, "28P01",
          "expected the header `Authorization: Bearer PASSWORD` with the password of --password"};
    }
    const auto parts = parts_of(request.path);
    const auto& method = request.method;
    if (parts.empty() && method == "GET") {
      return {200, text_of({{"server", "cupel mock"}, {"routes", kRoutes}})};
    }
    if (parts.size() == 1 && parts[0] == "sql") {
      need_post(request);
      const Fields fields(request.body, {"sql", "parameters"});
      HttpSession once(backend_, name_of(request, "http"));
      return sql(once, fields);
    }
    if (parts.empty() || parts[0] != "sessions" || parts.size() > 3) throw no_route(request);
    if (parts.size() == 1) {
      need_post(request);
      const Fields fields(request.body, {"name"});
      return {201, text_of({{"session",
                             open(name_of(request, fields.find_text("name").value_or("http")))}})};
    }
    if (parts.size() == 2) {
      if (method != "DELETE") throw no_route(request);
      close(parts[1]);
      return {204, ""};
    }
    return in_session(request, parts[1], parts[2]);
  }

  void clear() {
    std::map<std::string, std::shared_ptr<HttpSession>> closed;
    const std::lock_guard lock(mutex_);
    closed.swap(sessions_);
  }

 private:
  static std::string name_of(const HttpRequest& request, const std::string& name) {
    return is_loopback(request.peer) ? name : name + "@" + request.peer;
  }
  static Refusal no_route(const HttpRequest& request) {
    return {404, "08P01",
            fmt::format("found {} {}, expected one of the routes that GET / lists", request.method,
                        request.path)};
  }
  static void need_post(const HttpRequest& request) {
    if (request.method != "POST")
      throw Refusal{405, "08P01",
                    fmt::format("found {} {}, expected POST", request.method, request.path)};
  }
  static HttpResponse sql(HttpSession& session, const Fields& fields) {
    const auto json = session.sql(fields);
    return {json.contains("error") ? session.status() : 200, text_of(json)};
  }

  std::string open(std::string name) {
    auto session = std::make_shared<HttpSession>(backend_, std::move(name));
    std::shared_ptr<HttpSession> dropped;  // after the lock
    const std::lock_guard lock(mutex_);
    if (sessions_.size() >= kMaxSessions) {
      // A client that forgot it makes place for one that is here.
      const auto oldest = std::min_element(
          sessions_.begin(), sessions_.end(),
          [](const auto& a, const auto& b) { return a.second->used < b.second->used; });
      if (Clock::now() - oldest->second->used < kIdleLongEnough) {
        throw Refusal{
            503, "53300",
            fmt::format("found {} open sessions, expected no more; DELETE some", kMaxSessions)};
      }
      dropped = std::move(oldest->second);
      sessions_.erase(oldest);
    }
    auto id = std::to_string(++last_id_);
    sessions_.emplace(id, std::move(session));
    return id;
  }

  std::shared_ptr<HttpSession> find(const std::string& id) {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end())
      throw Refusal{404, "08003",
                    fmt::format("found no session `{}`; POST /sessions opens one", id)};
    found->second->used = Clock::now();
    return found->second;
  }

  void close(const std::string& id) {
    const auto session = find(id);
    const std::lock_guard lock(mutex_);
    sessions_.erase(id);  // ended when the last request of it is
  }

  HttpResponse in_session(const HttpRequest& request, const std::string& id,
                          const std::string& action) {
    constexpr std::string_view kActions[] = {"begin",  "read",     "write", "keys",
                                             "commit", "rollback", "sql"};
    if (std::find(std::begin(kActions), std::end(kActions), action) == std::end(kActions))
      throw no_route(request);
    need_post(request);
    const auto session = find(id);
    const std::unique_lock lock(session->busy, std::try_to_lock);
    if (!lock)
      throw Refusal{409, "55006", "another request of this session is under way; one at a time"};
    const auto fields = [&](std::initializer_list<const char*> known) {
      return Fields(request.body, known);
    };
    if (action == "sql") return sql(*session, fields({"sql", "parameters"}));
    if (action == "read") return {200, text_of(session->read(fields({"key"})))};
    if (action == "keys") return {200, text_of(session->keys(fields({"prefix"})))};
    if (action == "begin") session->begin(fields({"level", "policy"}));
    if (action == "write") session->write(fields({"key", "value"}));
    if (action == "commit" || action == "rollback") {
      fields({});
      action == "commit" ? session->commit() : session->rollback();
    }
    return {200, "{}\n"};
  }

  Backend& backend_;
  std::optional<std::string> password_;
  std::vector<std::string> names_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<HttpSession>> sessions_;
  std::uint64_t last_id_ = 0;
};

HttpService::HttpService(Backend& backend, std::optional<std::string> password,
                         std::vector<std::string> names)
    : state_(std::make_unique<State>(backend, std::move(password), std::move(names))) {}
HttpService::~HttpService() = default;

HttpResponse HttpService::handle(const HttpRequest& request) {
  try {
    return state_->handle(request);
  } catch (const Refusal& refused) {
    return {refused.status, text_of({{"error", error_json(refused)}})};
  }
}

void HttpService::clear() {
  state_->clear();
}

std::string http_error(std::string_view sqlstate, std::string_view message) {
  return text_of({{"error", error_json({0, std::string(sqlstate), std::string(message)})}});
}

}  // namespace cupel::wire
