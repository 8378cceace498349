// ZooKeeper, by its C client: one ZooKeeper session a session, at one of the hosts.
//
// A row is the znode /cupel:TABLE/KEY. Its data are `=` and the value; a deleted row keeps its
// znode, without data, so that a znode's version only ever grows, and what is written if a version
// is still the same is written only if nothing happened meanwhile. A single write or delete is one
// set. A comparison, an insert and an append are a get and then a set at the version that was seen:
// a conflict, aborted, if it is another by then. Several statements (serializable) are one multi,
// which checks the versions of all that was read.
//
// A server answers reads by what it knows. What goes before a read decides what it may miss: at
// `linearizable` a multi of one check, which goes through the quorum as a write does; at `sync` a
// sync; at `local` nothing.
//
// A request that changes something and was sent without an answer is unknown. See
// docs/reference/drivers/zookeeper.md.
#define THREADED  // the client's synchronous functions
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

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
using workload::Reply;
using workload::Row;
using workload::Statement;
using workload::StatementKind;

// What goes before a read.
enum class Barrier : std::uint8_t { kQuorum, kSync, kNone };

struct Settings {
  std::vector<Host> hosts;
  double timeout = 10;
  bool several = false;  // statements a transaction
  Barrier barrier = Barrier::kQuorum;
  std::string isolation;
};

// The library has these as data, which a library that is loaded late cannot give.
constexpr int kSessionEvent = -1, kConnected = 3, kAnyVersion = -1;
char kScheme[] = "world", kAnyone[] = "anyone";
ACL kAll{.perms = 0x1f, .id = {.scheme = kScheme, .id = kAnyone}};
const ACL_vector kEveryone{.count = 1, .data = &kAll};

// "/cupel:TABLE"
std::string path_of(const workload::Table& table) {
  auto prefix = text_prefix(table);
  prefix.pop_back();
  return '/' + prefix;
}
// "/cupel:TABLE/7". Neither a slash nor a dot alone may be in a name, nor may it be empty.
std::string path_of(const workload::Table& table, const workload::Datum& key) {
  std::string name;
  for (const char c : workload::to_string(key)) {
    const auto byte = static_cast<unsigned char>(c);
    name += std::isalnum(byte) != 0 || c == '-' || c == '_' ? std::string(1, c)
                                                            : fmt::format("%{:02x}", byte);
  }
  return path_of(table) + '/' + (name.empty() ? "%" : name);
}

// A znode's data: of an absent row none.
std::string data_of(const std::optional<std::string>& value) {
  return value ? '=' + *value : std::string();
}

// An answer that is no success. `writes`: to a request that would have changed something.
Failure failure_of(int code, bool writes) {
  Failure failure{.txn_outcome = TxnOutcome::kAborted,
                  .cause = Cause::kStatement,
                  .code = zerror(code),
                  .message = zerror(code)};
  switch (code) {
    // By these a server says that it refused the request, or the library that it did not send it.
    case ZBADVERSION:
    case ZNODEEXISTS:
    case ZNONODE:
      failure.cause = Cause::kConflict;
      break;
    case ZTHROTTLEDOP:
    case ZNOTREADONLY:
      failure.cause = Cause::kConnection;
      break;
    case ZINVALIDSTATE:
      failure.cause = Cause::kConnection;
      failure.connection_lost = true;
      break;
    case ZNOAUTH:
    case ZINVALIDACL:
    case ZBADARGUMENTS:
    case ZMARSHALLINGERROR:
    case ZUNIMPLEMENTED:
      break;
    default:
      if (writes) failure.txn_outcome = TxnOutcome::kUnknown;
      failure.cause = code == ZOPERATIONTIMEOUT ? Cause::kTimeout : Cause::kConnection;
      failure.connection_lost = true;
  }
  return failure;
}

// What a row holds, and the version of its znode.
struct Seen {
  bool exists = false;  // the znode
  std::optional<std::string> value;
  int version = 0;
};

// Answers to functions of the library that give theirs to another thread.
class Answer {
 public:
  void set(int code) {
    const std::lock_guard lock(mutex_);
    code_ = code;
    changed_.notify_all();
  }
  std::optional<int> wait(double seconds) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return !!code_; });
    return code_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<int> code_;
};

// A session with one server.
class ZooSession {
 public:
  static base::Result<std::unique_ptr<ZooSession>> connect(const Host& host, double timeout) {
    auto session = std::make_unique<ZooSession>();
    zoo_set_debug_level(static_cast<ZooLogLevel>(0));
    session->handle_ =
        zookeeper_init(address(host).c_str(), watch, static_cast<int>(timeout * 1000), nullptr,
                       session.get(), ZOO_NO_LOG_CLIENTENV);
    const auto cannot = [&](std::string_view why) {
      return base::Error{
          .message = fmt::format("cannot connect to ZooKeeper at {}: {}", address(host), why)};
    };
    if (session->handle_ == nullptr) return cannot("its name is no host's");
    if (!session->connected_.wait(timeout)) {
      return cannot(fmt::format("no session within {} s; do the servers have a quorum?", timeout));
    }
    return session;
  }
  ZooSession() = default;
  ZooSession(const ZooSession&) = delete;
  ZooSession& operator=(const ZooSession&) = delete;
  ~ZooSession() {
    if (handle_ != nullptr) zookeeper_close(handle_);
  }

  // Absent is no failure.
  MaybeFailure get(const std::string& path, Seen& seen) {
    if (auto failure = lost()) return failure;
    buffer_.resize(kLargest);
    int size = static_cast<int>(buffer_.size());
    Stat stat{};
    const int code = zoo_get(handle_, path.c_str(), 0, buffer_.data(), &size, &stat);
    seen = {};
    if (code == ZNONODE) return std::nullopt;
    if (code != ZOK) return failed(code, false);
    seen.exists = true;
    seen.version = stat.version;
    if (size > 0) seen.value = std::string(buffer_.data() + 1, static_cast<std::size_t>(size) - 1);
    return std::nullopt;
  }

  // Sets the data whatever it is. `exists`: whether there is such a znode; else nothing happened.
  MaybeFailure set(const std::string& path, const std::string& data, bool& exists) {
    if (auto failure = lost()) return failure;
    const int code =
        zoo_set(handle_, path.c_str(), data.data(), static_cast<int>(data.size()), kAnyVersion);
    exists = code != ZNONODE;
    return code == ZOK || code == ZNONODE ? std::nullopt : failed(code, true);
  }
  MaybeFailure create(const std::string& path, const std::string& data, bool& created) {
    if (auto failure = lost()) return failure;
    const int code = zoo_create(handle_, path.c_str(), data.data(), static_cast<int>(data.size()),
                                &kEveryone, 0, nullptr, 0);
    created = code == ZOK;
    if (code == ZOK || code == ZNODEEXISTS) return std::nullopt;
    auto failure = failed(code, true);
    // The parent is not there, which is the table.
    if (failure && code == ZNONODE) failure->cause = Cause::kGone;
    return failure;
  }
  // All or nothing.
  MaybeFailure multi(const std::vector<zoo_op_t>& operations, bool writes) {
    if (auto failure = lost()) return failure;
    std::vector<zoo_op_result_t> results(operations.size());
    const int code =
        zoo_multi(handle_, static_cast<int>(operations.size()), operations.data(), results.data());
    return code == ZOK ? MaybeFailure() : failed(code, writes);
  }
  MaybeFailure sync(const std::string& path) {
    if (auto failure = lost()) return failure;
    Answer answer;
    const int code = zoo_async(
        handle_, path.c_str(),
        [](int result, const char*, const void* waiting) {
          static_cast<Answer*>(const_cast<void*>(waiting))->set(result);
        },
        &answer);
    if (code != ZOK) return failed(code, false);
    // The library answers everything, if need be with a lost connection.
    const int result = answer.wait(1e6).value_or(ZOPERATIONTIMEOUT);
    return result == ZOK ? std::nullopt : failed(result, false);
  }
  MaybeFailure children(const std::string& path, std::vector<std::string>& names) {
    if (auto failure = lost()) return failure;
    String_vector found{};
    const int code = zoo_get_children(handle_, path.c_str(), 0, &found);
    if (code == ZNONODE) return std::nullopt;
    if (code != ZOK) return failed(code, false);
    for (int i = 0; i < found.count; ++i) names.emplace_back(found.data[i]);
    deallocate_String_vector(&found);
    return std::nullopt;
  }
  MaybeFailure remove(const std::string& path) {
    if (auto failure = lost()) return failure;
    const int code = zoo_delete(handle_, path.c_str(), kAnyVersion);
    return code == ZOK || code == ZNONODE ? std::nullopt : failed(code, true);
  }

 private:
  static constexpr std::size_t kLargest = std::size_t{1} << 20;  // of the servers' default

  static void watch(zhandle_t*, int type, int state, const char*, void* context) {
    if (type == kSessionEvent && state == kConnected) {
      static_cast<ZooSession*>(context)->connected_.set(ZOK);
    }
  }
  // What is not sent has not happened.
  MaybeFailure lost() {
    if (!lost_ && zoo_state(handle_) == kConnected) return std::nullopt;
    lost_ = true;
    return lost_before();
  }
  MaybeFailure failed(int code, bool writes) {
    auto failure = failure_of(code, writes);
    lost_ = lost_ || failure.connection_lost;
    return failure;
  }

  zhandle_t* handle_ = nullptr;
  Answer connected_;
  bool lost_ = false;
  std::vector<char> buffer_;
};

class ZooConnection final : public KeyValueConnection {
 public:
  ZooConnection(std::unique_ptr<ZooSession> session, const Settings& settings,
                workload::Schema schema)
      : KeyValueConnection(
            {.interactive = "ZooKeeper has no interactive transactions: a multi is one request",
             .several = settings.several ? "" : kOnlyOne,
             .ranges = "ZooKeeper has no order of keys"},
            std::move(schema)),
        session_(std::move(session)),
        several_(settings.several),
        barrier_(settings.barrier) {}

 protected:
  MaybeFailure run(std::span<const Statement> statements, std::span<Reply> replies) override {
    return statements.size() == 1 && !depends(statements[0]) ? one(statements[0], replies[0])
                                                             : several(statements, replies);
  }

 private:
  // A row as the statements go on.
  struct State {
    Seen seen;
    std::optional<std::string> value;
    bool written = false;
    bool observed = false;  // an answer or a write depends on what it held
  };
  using States = std::map<std::string, State>;

  [[nodiscard]] std::string path(const Statement& statement) const {
    return path_of(table_of(statement), statement.key[0]);
  }
  static bool depends(const Statement& statement) {
    return statement.kind == StatementKind::kInsert ||
           statement.kind == StatementKind::kCompareAndSet ||
           statement.kind == StatementKind::kAppend;
  }

  // What goes before a read, so that it sees what was acknowledged by then.
  MaybeFailure pass_barrier(const Statement& statement) {
    const auto table = path_of(table_of(statement));
    if (barrier_ == Barrier::kNone) return std::nullopt;
    if (barrier_ == Barrier::kSync) return session_->sync(table);
    std::vector<zoo_op_t> check(1);
    zoo_check_op_init(check.data(), table.c_str(), kAnyVersion);
    auto failure = session_->multi(check, false);
    if (failure && failure->code == zerror(ZNONODE)) failure->cause = Cause::kGone;
    return failure;
  }

  // A read, a write or a delete.
  MaybeFailure one(const Statement& statement, Reply& reply) {
    const auto where = path(statement);
    if (statement.kind == StatementKind::kRead) {
      if (auto failure = pass_barrier(statement)) return aborted(*std::move(failure));
      Seen seen;
      auto failure = session_->get(where, seen);
      if (!failure) fill(statement, seen.value, reply);
      return failure;
    }
    const bool deletes = statement.kind == StatementKind::kDelete;
    const auto data = deletes ? std::string() : data_of(workload::to_string(statement.values[0]));
    bool exists = false;
    auto failure = session_->set(where, data, exists);
    if (failure || exists || deletes) return failure;
    bool created = false;
    failure = session_->create(where, data, created);
    if (failure || created) return failure;
    // Somebody else made it in between; it is never removed.
    return session_->set(where, data, exists);
  }

  MaybeFailure look(std::span<const Statement> statements, States& states) {
    for (const auto& statement : statements) {
      const auto where = path(statement);
      const auto [found, fresh] = states.try_emplace(where);
      if (!fresh) continue;
      // A multi checks what was read, so that it may be old.
      if (!several_) {
        if (auto failure = pass_barrier(statement)) return failure;
      }
      auto& seen = found->second.seen;
      auto failure = session_->get(where, seen);
      if (!failure && !seen.exists) {
        // So that there is a version to check. An absent row may have a znode.
        bool created = false;
        failure = session_->create(where, {}, created);
        if (!failure) failure = session_->get(where, seen);
      }
      if (failure) return failure;
      found->second.value = seen.value;
    }
    return std::nullopt;
  }

  // What a statement makes of a row, and answers.
  MaybeFailure apply(const Statement& statement, State& state, Reply& reply) const {
    const bool blind =
        statement.kind == StatementKind::kWrite || statement.kind == StatementKind::kDelete;
    if (!blind && !state.written) state.observed = true;
    switch (statement.kind) {
      case StatementKind::kRead:
        fill(statement, state.value, reply);
        return std::nullopt;
      case StatementKind::kDelete:
        state.value.reset();
        break;
      case StatementKind::kInsert:
        if (state.value) return there_already(path(statement));
        [[fallthrough]];
      case StatementKind::kWrite:
        state.value = workload::to_string(statement.values[0]);
        break;
      case StatementKind::kAppend:
        state.value = appended(state.value.value_or(""), statement.values[0]);
        break;
      case StatementKind::kCompareAndSet: {
        reply.succeeded = holds_expected(statement, state.value);
        if (!reply.succeeded) return std::nullopt;
        state.value = workload::to_string(statement.values[1]);
        break;
      }
      case StatementKind::kRange:
        break;
    }
    state.written = true;
    return std::nullopt;
  }

  MaybeFailure several(std::span<const Statement> statements, std::span<Reply> replies) {
    States states;
    if (auto failure = look(statements, states)) return aborted(*std::move(failure));
    for (std::size_t i = 0; i < statements.size(); ++i) {
      if (auto failure = apply(statements[i], states[path(statements[i])], replies[i])) {
        return failure;
      }
    }
    std::vector<zoo_op_t> operations;
    std::map<std::string, std::string> data;  // lives as long as the operations
    bool writes = false;
    for (const auto& [where, state] : states) {
      const int version = state.observed ? state.seen.version : kAnyVersion;
      auto& operation = operations.emplace_back();
      if (state.written) {
        const auto& text = data[where] = data_of(state.value);
        zoo_set_op_init(&operation, where.c_str(), text.data(), static_cast<int>(text.size()),
                        version, nullptr);
        writes = true;
      } else {
        zoo_check_op_init(&operation, where.c_str(), version);
      }
    }
    // One failed comparison was decided after a barrier.
    if (!writes && !several_) return std::nullopt;
    return session_->multi(operations, writes);
  }

  std::unique_ptr<ZooSession> session_;
  bool several_;
  Barrier barrier_;
};

// What a server answers to a command of four letters; tells at once that nobody is there.
base::Result<std::string> four_letters(const Host& host, std::string_view command, double timeout) {
  auto answer = base::ask({host.name, host.port}, command, base::Seconds(timeout));
  if (answer.ok()) return answer;
  return base::Error{
      .message = fmt::format("cannot connect to ZooKeeper at {}: {}; is the server running there?",
                             address(host), answer.error().message)};
}

class ZooDatabase final : public Database {
 public:
  explicit ZooDatabase(Settings settings) : settings_(std::move(settings)) {}

  base::Status open() {
    std::string version;
    for (const auto& host : settings_.hosts) {
      const auto answer = four_letters(host, "srvr", settings_.timeout);
      if (!answer) return answer.error();
      if (answer->find("ookeeper") == std::string::npos &&
          answer->find("srvr") == std::string::npos) {
        return base::Error{
            .message = fmt::format("found a server at {} that is not ZooKeeper", address(host))};
      }
      // "Zookeeper version: 3.8.0-…, built on …"; it may be forbidden to say so.
      const auto at = answer->find("version: ");
      if (at == std::string::npos || !version.empty()) continue;
      version = answer->substr(at + 9, answer->find_first_of("-, ", at + 9) - at - 9);
    }
    facts_ = {.product = "ZooKeeper",
              .version = version,
              .isolation = settings_.isolation,
              .detail = fmt::format("{} hosts", settings_.hosts.size())};
    for (const auto& host : settings_.hosts) {
      auto session = ZooSession::connect(host, settings_.timeout);
      if (!session) return std::move(session).error();
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
    auto session = ZooSession::connect(settings_.hosts[0], settings_.timeout);
    if (!session) return std::move(session).error();
    if (auto dropped = drop(**session, schema); !dropped) return dropped;
    MaybeFailure failure;
    bool created = false;
    for (const auto& table : schema.tables) {
      if (!failure) failure = (*session)->create(path_of(table), {}, created);
    }
    std::vector<std::pair<std::string, std::string>> rows;  // path, data
    const auto flush = [&] {
      std::vector<zoo_op_t> operations(rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& [path, data] = rows[i];
        zoo_create_op_init(&operations[i], path.c_str(), data.data(), static_cast<int>(data.size()),
                           &kEveryone, 0, nullptr, 0);
      }
      if (!failure && !rows.empty()) failure = (*session)->multi(operations, true);
      rows.clear();
    };
    workload.load([&](std::uint32_t number, const Row& row) {
      const auto& value = row.values[0];
      if (std::holds_alternative<std::monostate>(value)) return;  // no row is its null
      rows.emplace_back(path_of(schema.tables[number], row.key[0]),
                        data_of(workload::to_string(value)));
      if (rows.size() >= kAtOnce) flush();
    });
    flush();
    if (!failure) schema_ = schema;
    return done("load the rows into", failure);
  }

  [[nodiscard]] std::vector<std::string> hosts() const override {
    std::vector<std::string> names;
    for (const auto& host : settings_.hosts) names.push_back(address(host));
    return names;
  }
  base::Result<std::unique_ptr<Connection>> connect_to_host(std::uint32_t number) override {
    const auto& host = settings_.hosts[number];
    // The library would try again and again, until the time-out.
    if (const auto there = four_letters(host, "ruok", settings_.timeout); !there) {
      return there.error();
    }
    auto session = ZooSession::connect(host, settings_.timeout);
    if (!session) return std::move(session).error();
    return std::unique_ptr<Connection>(
        std::make_unique<ZooConnection>(*std::move(session), settings_, schema_));
  }

  void clean() override {
    for (const auto& host : settings_.hosts) {
      if (!four_letters(host, "ruok", settings_.timeout)) continue;
      if (auto session = ZooSession::connect(host, settings_.timeout)) {
        (void)drop(**session, schema_);
        return;
      }
    }
  }

 private:
  static constexpr std::size_t kAtOnce = 200;

  [[nodiscard]] static base::Status done(std::string_view what, const MaybeFailure& failure) {
    if (!failure) return base::Ok{};
    return base::Error{.message = fmt::format("cannot {} ZooKeeper: {}", what, failure->message)};
  }

  static base::Status drop(ZooSession& session, const workload::Schema& schema) {
    MaybeFailure failure;
    for (const auto& table : schema.tables) {
      const auto parent = path_of(table);
      std::vector<std::string> names;
      if (!failure) failure = session.children(parent, names);
      for (auto& name : names) name = parent + '/' + name;
      for (std::size_t begin = 0; begin < names.size() && !failure; begin += kAtOnce) {
        std::vector<zoo_op_t> operations(std::min(kAtOnce, names.size() - begin));
        for (std::size_t i = 0; i < operations.size(); ++i) {
          zoo_delete_op_init(&operations[i], names[begin + i].c_str(), kAnyVersion);
        }
        failure = session.multi(operations, true);
      }
      if (!failure) failure = session.remove(parent);
    }
    return done("clear the rows in", failure);
  }

  Settings settings_;
  Facts facts_;
  workload::Schema schema_;
};

}  // namespace

base::Result<std::unique_ptr<Database>> open_zookeeper(const std::string& text,
                                                       const OpenOptions& options) {
  auto url = parse_url(text);
  if (!url) return std::move(url).error();
  if (url->hosts.empty() || !url->path.empty() || !url->user.empty() || !url->password.empty()) {
    return base::Error{.message = fmt::format(
                           "found `{}`, expected zookeeper://HOST[:PORT][,HOST[:PORT]…] without "
                           "user and path",
                           without_password(text))};
  }
  if (auto unknown = unknown_options(*url, "none")) return *std::move(unknown);
  Settings settings;
  settings.hosts = std::move(url->hosts);
  fill_in(settings.hosts, 2181);
  settings.timeout = options.statement_timeout;
  settings.isolation = options.isolation;
  settings.several = options.isolation == "serializable";
  if (options.isolation == "sync") settings.barrier = Barrier::kSync;
  if (options.isolation == "local") settings.barrier = Barrier::kNone;
  auto database = std::make_unique<ZooDatabase>(std::move(settings));
  if (auto opened = database->open(); !opened) return std::move(opened).error();
  return std::unique_ptr<Database>(std::move(database));
}

}  // namespace cupel::drivers

CUPEL_DRIVER_PLUGIN(cupel::drivers::open_zookeeper, nullptr)
