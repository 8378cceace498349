// Redis, by hiredis: one connection a session to one server, or to a primary and its replicas.
// Which one is the primary now, each says by ROLE, and first the sentinels, if the URL has them.
//
// A row is one key, `cupel:TABLE:KEY`: a string with the value's decimals or text,
// or a list. A single statement is a single command. A comparison that needs a look
// first is WATCH and GET, then MULTI, SET and EXEC, which does nothing if somebody
// has touched the key meanwhile: a conflict, aborted. Several statements
// (serializable) are one MULTI … EXEC block, preceded by WATCH and GET of the keys
// on which it depends. Redis runs commands and blocks one after the other in one
// thread, so both are atomic.
//
// What was not sent has not happened; nor has what the server refused. A command
// that writes and that was sent without an answer is unknown, and so is an error that
// is not known to mean a refusal (a proxy's, say). Bytes are sent by the driver
// itself and not by hiredis, so that it knows whether any were, and gets no SIGPIPE.
// See docs/drivers/redis.md.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hiredis.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "base/hung_up.hpp"
#include "drivers/cells.hpp"
#include "drivers/key_value.hpp"
#include "drivers/registry.hpp"
#include "drivers/sql.hpp"
#include "drivers/sql_connection.hpp"
#include "drivers/url.hpp"

namespace cupel::drivers {

namespace {

using workload::ColumnType;
using workload::Datum;
using workload::Reply;
using workload::Row;
using workload::Statement;
using workload::StatementKind;

struct Settings {
  std::vector<Host> hosts;
  std::vector<Host> sentinels;  // none: a primary is who says that it is one
  std::string master;           // the sentinels' name for the primary
  std::string user, password;
  std::int64_t database = 0;
  double timeout = 10;
  bool blocks = false;  // several statements a transaction
};

// Whether a host is the one at "HOST:PORT", of which either may be a name or an address.
bool is_at(const Host& host, const std::string& other) {
  if (address(host) == other) return true;
  const auto colon = other.rfind(':');
  if (colon == std::string::npos || other.substr(colon + 1) != std::to_string(host.port)) {
    return false;
  }
  const auto addresses_of = [](const std::string& name) {
    std::set<std::string> found;
    addrinfo hints{}, *first = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    if (::getaddrinfo(name.c_str(), nullptr, &hints, &first) != 0) return found;
    for (const auto* one = first; one != nullptr; one = one->ai_next) {
      found.emplace(reinterpret_cast<const char*>(one->ai_addr), one->ai_addrlen);
    }
    ::freeaddrinfo(first);
    return found;
  };
  const auto ours = addresses_of(host.name), theirs = addresses_of(other.substr(0, colon));
  return std::any_of(ours.begin(), ours.end(),
                     [&](const std::string& one) { return theirs.contains(one); });
}

using Command = std::vector<std::string>;

// What the server said, without hiredis's memory.
struct RedisReply {
  int type = REDIS_REPLY_NIL;
  std::string text;  // of strings, statuses and errors
  std::vector<RedisReply> elements;

  [[nodiscard]] bool error() const { return type == REDIS_REPLY_ERROR; }
  [[nodiscard]] bool nil() const { return type == REDIS_REPLY_NIL; }
};

RedisReply reply_of(const redisReply& reply) {
  RedisReply answer{.type = reply.type, .text = {}, .elements = {}};
  if (reply.str != nullptr) answer.text.assign(reply.str, reply.len);
  if (reply.type == REDIS_REPLY_INTEGER) answer.text = std::to_string(reply.integer);
  if (reply.type == REDIS_REPLY_ARRAY) {
    for (std::size_t i = 0; i < reply.elements; ++i) {
      answer.elements.push_back(reply_of(*reply.element[i]));
    }
  }
  return answer;
}

struct FreeContext {
  void operator()(redisContext* context) const { redisFree(context); }
};

// "MISCONF" of "MISCONF Redis is configured to …".
std::string first_word(const std::string& text) {
  return text.substr(0, text.find(' '));
}

// Errors by which Redis says that it did not run the command, and what they mean.
struct Refusal {
  std::string_view word;
  Cause cause;
};
constexpr std::array kRefusals{
    Refusal{"LOADING", Cause::kConnection},     Refusal{"MASTERDOWN", Cause::kConnection},
    Refusal{"CLUSTERDOWN", Cause::kConnection}, Refusal{"MISCONF", Cause::kConnection},
    Refusal{"NOREPLICAS", Cause::kConnection},  Refusal{"OOM", Cause::kConnection},
    Refusal{"BUSY", Cause::kConnection},        Refusal{"READONLY", Cause::kConnection},
    Refusal{"MOVED", Cause::kStatement},        Refusal{"ASK", Cause::kStatement},
    Refusal{"CROSSSLOT", Cause::kStatement},    Refusal{"TRYAGAIN", Cause::kConflict},
    Refusal{"NOAUTH", Cause::kStatement},       Refusal{"NOPERM", Cause::kStatement},
    Refusal{"WRONGTYPE", Cause::kStatement},    Refusal{"EXECABORT", Cause::kStatement}};

// What to do about it.
std::string_view advice(std::string_view word) {
  if (word == "MOVED" || word == "ASK" || word == "CROSSSLOT") {
    return "; this is a node of a cluster, and the driver speaks to single servers";
  }
  if (word == "READONLY") return "; this is a replica: give the URL of its master";
  if (word == "NOAUTH") return "; write the password as redis://:PASSWORD@HOST";
  if (word == "WRONGPASS") return "; check the user and password of the URL";
  if (word == "MISCONF") return "; the server cannot save to its disk";
  return "";
}

// An error as the answer to a command; `writes`: to one that would have changed
// something.
Failure failure_of(const RedisReply& answer, bool writes) {
  const auto word = first_word(answer.text);
  Failure failure{.txn_outcome = writes ? TxnOutcome::kUnknown : TxnOutcome::kAborted,
                  .cause = Cause::kStatement,
                  .code = word,
                  .message = sql::one_line(answer.text) + std::string(advice(word))};
  const auto* known = std::find_if(kRefusals.begin(), kRefusals.end(),
                                   [&](const Refusal& refusal) { return refusal.word == word; });
  if (known != kRefusals.end()) {
    failure.txn_outcome = TxnOutcome::kAborted;
    failure.cause = known->cause;
  } else if (answer.text.starts_with("ERR unknown command") ||
             answer.text.starts_with("ERR wrong number of arguments")) {
    failure.txn_outcome = TxnOutcome::kAborted;
  }
  return failure;
}

// A socket with a server, and commands over it.
class Line {
 public:
  static base::Result<std::unique_ptr<Line>> connect(const Settings& settings, const Host& host) {
    const timeval limit{
        static_cast<time_t>(settings.timeout),
        static_cast<suseconds_t>(
            (settings.timeout - static_cast<double>(static_cast<time_t>(settings.timeout))) * 1e6)};
    auto line = std::make_unique<Line>();
    line->context_.reset(redisConnectWithTimeout(host.name.c_str(), host.port, limit));
    auto* context = line->context_.get();
    const auto cannot = [&](std::string_view why) {
      return base::Error{.message =
                             fmt::format("cannot connect to Redis at {}: {}", address(host), why)};
    };
    if (context == nullptr) return cannot("out of memory");
    if (context->err != 0) {
      return cannot(fmt::format("{}; is the server running?", context->errstr));
    }
    if (redisSetTimeout(context, limit) != REDIS_OK) return cannot(context->errstr);
    redisEnableKeepAlive(context);
    std::vector<Command> hello;
    if (!settings.password.empty()) {
      hello.push_back(settings.user.empty() ? Command{"AUTH", settings.password}
                                            : Command{"AUTH", settings.user, settings.password});
    }
    if (settings.database != 0) {
      hello.push_back({"SELECT", std::to_string(settings.database)});
    }
    hello.push_back({"PING"});
    std::vector<RedisReply> answers;
    if (auto failure = line->send(hello, answers)) {
      return cannot(failure->message + "; is it a Redis server, and running?");
    }
    for (const auto& answer : answers) {
      if (answer.error()) return cannot(failure_of(answer, false).message);
    }
    return line;
  }

  // Sends all at once and reads an answer for each. A failure leaves the line of no
  // use; kAborted if nothing was sent.
  MaybeFailure send(const std::vector<Command>& commands, std::vector<RedisReply>& answers) {
    answers.clear();
    if (lost_) {
      return Failure{.txn_outcome = TxnOutcome::kAborted,
                     .cause = Cause::kConnection,
                     .code = "lost",
                     .message = "the connection was lost before",
                     .connection_lost = true};
    }
    if (base::hung_up(context_->fd)) return broken(0, false, "the server closed the connection");
    std::string bytes;
    for (const auto& command : commands) {
      bytes += fmt::format("*{}\r\n", command.size());
      for (const auto& word : command) bytes += fmt::format("${}\r\n{}\r\n", word.size(), word);
    }
    for (std::size_t sent = 0; sent < bytes.size();) {
      const auto count =
          ::send(context_->fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return broken(errno, sent > 0, {});
      sent += static_cast<std::size_t>(count);
    }
    while (answers.size() < commands.size()) {
      void* raw = nullptr;
      errno = 0;
      if (redisGetReply(context_.get(), &raw) != REDIS_OK) {
        return broken(context_->err == REDIS_ERR_IO ? errno : 0, true, context_->errstr);
      }
      answers.push_back(reply_of(*static_cast<redisReply*>(raw)));
      freeReplyObject(raw);
    }
    return std::nullopt;
  }

 private:
  Failure broken(int number, bool sent, const std::string& words) {
    lost_ = true;
    const bool timeout = number == EAGAIN || number == EWOULDBLOCK || number == ETIMEDOUT;
    std::string message = !words.empty() && number == 0 ? words : std::strerror(number);
    if (timeout) message = "no answer in time";
    return {.txn_outcome = sent ? TxnOutcome::kUnknown : TxnOutcome::kAborted,
            .cause = timeout ? Cause::kTimeout : Cause::kConnection,
            .code = timeout ? "timeout" : "lost",
            .message = std::move(message),
            .connection_lost = true};
  }

  std::unique_ptr<redisContext, FreeContext> context_;
  bool lost_ = false;
};

class RedisConnection final : public KeyValueConnection {
 public:
  RedisConnection(std::unique_ptr<Line> line, bool blocks, workload::Schema schema)
      : KeyValueConnection({.interactive = "Redis has no interactive transactions: between MULTI "
                                           "and EXEC nothing is answered",
                            .several = blocks ? "" : kOnlyOne,
                            .ranges = "Redis has no order of keys"},
                           std::move(schema)),
        line_(std::move(line)) {}

 protected:
  MaybeFailure run(std::span<const Statement> statements, std::span<Reply> replies) override {
    return statements.size() == 1 && is_one_command(statements[0])
               ? one_command(statements[0], replies[0])
               : block(statements, replies);
  }
  [[nodiscard]] MaybeFailure refuse(const Statement& statement) const override {
    if (column_type(statement) != ColumnType::kList ||
        (statement.kind != StatementKind::kWrite && statement.kind != StatementKind::kInsert)) {
      return std::nullopt;
    }
    return refused("a write of a whole list; lists are appended to, read and deleted");
  }

 private:
  // The state of a watched key as the block goes on.
  using States = std::map<std::string, std::optional<std::string>>;

  [[nodiscard]] std::string key_of(const Statement& statement) const {
    return text_key(table_of(statement), statement.key[0]);
  }
  static bool expects_absent(const Statement& statement) {
    return statement.kind == StatementKind::kInsert ||
           (statement.kind == StatementKind::kCompareAndSet &&
            std::holds_alternative<std::monostate>(statement.values[0]));
  }
  static bool depends(const Statement& statement) {
    return statement.kind == StatementKind::kInsert ||
           statement.kind == StatementKind::kCompareAndSet;
  }
  // SET NX does what an insertion needs by itself.
  static bool is_one_command(const Statement& statement) {
    return !depends(statement) || expects_absent(statement);
  }
  static bool is_read(const Statement& statement) { return statement.kind == StatementKind::kRead; }
  // The command of a statement that does not depend on what is there, or whose
  // comparison has succeeded.
  [[nodiscard]] Command command(const Statement& statement) const {
    const auto key = key_of(statement);
    switch (statement.kind) {
      case StatementKind::kRead:
        if (column_type(statement) == ColumnType::kList) return {"LRANGE", key, "0", "-1"};
        return {"GET", key};
      case StatementKind::kDelete:
        return {"DEL", key};
      case StatementKind::kAppend:
        return {"RPUSH", key, workload::to_string(statement.values[0])};
      case StatementKind::kCompareAndSet:
        return {"SET", key, workload::to_string(statement.values[1])};
      case StatementKind::kInsert:
      case StatementKind::kWrite:
      case StatementKind::kRange:
        break;
    }
    return {"SET", key, workload::to_string(statement.values[0])};
  }

  void fill_in(const Statement& statement, const RedisReply& answer, Reply& reply) const {
    if (!is_read(statement)) return;
    const auto type = column_type(statement);
    if (answer.type == REDIS_REPLY_ARRAY) {
      for (const auto& element : answer.elements) {
        reply.elements.push_back(from_text(ColumnType::kInteger, element.text));
      }
    } else if (!answer.nil()) {
      reply.rows.push_back({statement.key, {from_text(type, answer.text)}});
    }
  }

  MaybeFailure one_command(const Statement& statement, Reply& reply) {
    auto words = command(statement);
    const bool if_absent = expects_absent(statement);
    if (if_absent) words.emplace_back("NX");
    std::vector<RedisReply> answers;
    if (auto failure = line_->send({words}, answers)) {
      return is_read(statement) ? aborted(*std::move(failure)) : failure;
    }
    const auto& answer = answers[0];
    if (answer.error()) return failure_of(answer, !is_read(statement));
    if (if_absent && answer.nil()) {
      if (statement.kind == StatementKind::kInsert) return there_already(words[1]);
      reply.succeeded = false;
    }
    fill_in(statement, answer, reply);
    return std::nullopt;
  }

  // WATCH and GET of the keys that are compared: nothing is changed by that.
  MaybeFailure look(std::span<const Statement> statements, States& states) {
    Command watch{"WATCH"};
    std::vector<Command> commands{{}};
    for (const auto& statement : statements) {
      if (!depends(statement)) continue;
      const auto key = key_of(statement);
      if (!states.emplace(key, std::nullopt).second) continue;
      watch.push_back(key);
      commands.push_back({"GET", key});
    }
    if (states.empty()) return std::nullopt;
    commands[0] = watch;
    std::vector<RedisReply> answers;
    if (auto failure = line_->send(commands, answers)) return aborted(*std::move(failure));
    for (const auto& answer : answers) {
      if (answer.error()) return failure_of(answer, false);
    }
    for (std::size_t i = 1; i < answers.size(); ++i) {
      if (!answers[i].nil()) states[watch[i]] = answers[i].text;
    }
    return std::nullopt;
  }
  // After a look that nothing follows.
  MaybeFailure forget(MaybeFailure outcome) {
    std::vector<RedisReply> ignored;
    auto failure = line_->send({{"UNWATCH"}}, ignored);
    if (!outcome || !failure) return outcome;
    outcome->connection_lost = true;
    return outcome;
  }

  MaybeFailure block(std::span<const Statement> statements, std::span<Reply> replies) {
    States states;
    if (auto failure = look(statements, states)) {
      return failure->connection_lost ? failure : forget(failure);
    }
    // EXEC runs the block only if the watched keys still hold what was seen, so
    // comparisons can be decided here, each after the writes before it.
    std::vector<Command> commands{{"MULTI"}};
    std::vector<std::size_t> whose;  // statements, by command of the block
    bool writes = false;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      const auto& statement = statements[i];
      const auto key = key_of(statement);
      const auto state = states.find(key);
      if (depends(statement)) {
        const auto& now = state->second;
        const bool fits =
            expects_absent(statement) ? !now : now == workload::to_string(statement.values[0]);
        if (!fits && statement.kind == StatementKind::kInsert) return forget(there_already(key));
        replies[i].succeeded = fits;
        if (!fits) continue;
      }
      auto words = command(statement);
      if (state != states.end() && !is_read(statement)) {
        if (words[0] == "SET") {
          state->second = words[2];
        } else {
          state->second.reset();  // DEL; there are no lists among the watched keys
        }
      }
      writes = writes || !is_read(statement);
      whose.push_back(i);
      commands.push_back(std::move(words));
    }
    // A failed comparison alone was decided by the GET.
    if (whose.empty() && statements.size() == 1) return forget(std::nullopt);
    commands.push_back({"EXEC"});
    std::vector<RedisReply> answers;
    if (auto failure = line_->send(commands, answers)) {
      return writes ? failure : aborted(*std::move(failure));
    }
    const auto& result = answers.back();
    // Without a block its commands ran, or not, one by one.
    if (answers.front().error()) {
      auto failure = failure_of(answers.front(), writes);
      if (writes) failure.txn_outcome = TxnOutcome::kUnknown;
      return failure;
    }
    if (result.nil()) {
      return Failure{.txn_outcome = TxnOutcome::kAborted,
                     .cause = Cause::kConflict,
                     .code = "WATCH",
                     .message = "a watched key was changed before EXEC"};
    }
    if (result.error()) {
      // EXECABORT: some command was refused, and its own error says more.
      const auto first = std::find_if(answers.begin(), answers.end(),
                                      [](const RedisReply& answer) { return answer.error(); });
      auto failure = failure_of(*first, writes);
      if (first_word(result.text) == "EXECABORT") failure.txn_outcome = TxnOutcome::kAborted;
      return failure;
    }
    for (std::size_t i = 0; i < whose.size(); ++i) {
      if (i >= result.elements.size()) break;
      const auto& answer = result.elements[i];
      if (!answer.error()) {
        fill_in(statements[whose[i]], answer, replies[whose[i]]);
        continue;
      }
      // Redis does not undo the rest of a block.
      auto failure = failure_of(answer, writes);
      if (writes) {
        failure.txn_outcome = TxnOutcome::kUnknown;
        failure.message += "; the rest of the block was run";
      }
      return failure;
    }
    return std::nullopt;
  }

  std::unique_ptr<Line> line_;
};

class RedisDatabase final : public Database {
 public:
  explicit RedisDatabase(Settings settings) : settings_(std::move(settings)) {}

  base::Status open() {
    // All, since prepare() waits until every replica has the first rows.
    for (const auto& host : settings_.hosts) {
      if (auto line = Line::connect(settings_, host); !line) return std::move(line).error();
    }
    if (auto known = primary_is_known(); !known) return known;
    const auto& host = settings_.hosts[primary_or_first()];
    auto line = Line::connect(settings_, host);
    if (!line) return std::move(line).error();
    std::vector<RedisReply> answers;
    if (auto failure = (*line)->send({{"INFO"}}, answers)) {
      return cannot("ask", host, failure->message);
    }
    if (answers[0].error()) return cannot("ask", host, failure_of(answers[0], false).message);
    auto info = rows_of(answers[0].text);
    if (info["role"] == "slave") {
      return base::Error{.message =
                             fmt::format("found a replica at {}, which takes no writes; give "
                                         "the URL of its master, {}:{}",
                                         address(host), info["master_host"], info["master_port"])};
    }
    learn(info, **line);
    return base::Ok{};
  }

  [[nodiscard]] Facts facts() const override { return facts_; }
  [[nodiscard]] workload::Needs can() const override {
    return {.multiple = settings_.blocks, .deletes = true, .lists = true, .compare_and_set = true};
  }
  [[nodiscard]] bool fails_over() const override { return settings_.hosts.size() > 1; }

  [[nodiscard]] std::vector<std::string> hosts() const override {
    std::vector<std::string> names;
    for (const auto& host : settings_.hosts) names.push_back(address(host));
    return names;
  }

  base::Result<bool> takes_writes(std::uint32_t number) override {
    const auto& host = settings_.hosts[number];
    if (!settings_.sentinels.empty()) {
      const auto primary = monitored();
      if (!primary) return primary.error();
      if (!is_at(host, *primary)) return false;
    }
    auto line = Line::connect(settings_, host);
    if (!line) return std::move(line).error();
    std::vector<RedisReply> answers;
    if (auto failure = (*line)->send({{"ROLE"}}, answers)) {
      return cannot("ask", host, failure->message);
    }
    if (answers[0].error()) return cannot("ask", host, failure_of(answers[0], false).message);
    return !answers[0].elements.empty() && answers[0].elements[0].text == "master";
  }

  base::Status prepare(const workload::Workload& workload) override {
    const auto& schema = workload.schema();
    if (auto fits = one_cell_a_row(schema, facts_.product); !fits) return fits;
    auto line = Line::connect(settings_, settings_.hosts[primary_or_first()]);
    if (!line) return std::move(line).error();
    if (auto dropped = drop(**line, schema); !dropped) return dropped;
    constexpr std::size_t kCommandsAtOnce = 500;
    std::vector<Command> commands;
    base::Status status = base::Ok{};
    const auto flush = [&] {
      if (status.ok() && !commands.empty()) status = run(**line, commands);
      commands.clear();
    };
    workload.load([&](std::uint32_t number, const Row& row) {
      const auto& table = schema.tables[number];
      const auto key = text_key(table, row.key[0]);
      const auto& value = row.values[0];
      if (std::holds_alternative<std::monostate>(value)) return;  // no key is its null
      if (table.columns[0].type == ColumnType::kList) {
        Command push{"RPUSH", key};
        for (const auto& element : sql::list_elements(sql::ListForm::kText, value)) {
          push.push_back(workload::to_string(element));
        }
        if (push.size() > 2) commands.push_back(std::move(push));
      } else {
        commands.push_back({"SET", key, workload::to_string(value)});
      }
      if (commands.size() >= kCommandsAtOnce) flush();
    });
    flush();
    if (status) status = await_replicas(**line);
    if (status) schema_ = schema;
    return status;
  }

  base::Result<std::unique_ptr<Connection>> connect_to_host(std::uint32_t host) override {
    auto line = Line::connect(settings_, settings_.hosts[host]);
    if (!line) return std::move(line).error();
    return std::unique_ptr<Connection>(
        std::make_unique<RedisConnection>(*std::move(line), settings_.blocks, schema_));
  }

  void clean() override {
    auto line = Line::connect(settings_, settings_.hosts[primary_or_first()]);
    if (line) (void)drop(**line, schema_);
  }

 private:
  static base::Error cannot(std::string_view what, const Host& host, const std::string& why) {
    return {.message = fmt::format("cannot {} Redis at {}: {}", what, address(host), why)};
  }

  // The answer to INFO: "name:value" rows.
  static std::map<std::string, std::string> rows_of(std::string_view text) {
    std::map<std::string, std::string> info;
    for (std::size_t from = 0; from < text.size();) {
      const auto end = std::min(text.find('\n', from), text.size());
      const auto row = text.substr(from, end - from);
      const auto colon = row.find(':');
      if (colon != std::string_view::npos) {
        info[std::string(row.substr(0, colon))] = sql::one_line(row.substr(colon + 1));
      }
      from = end + 1;
    }
    return info;
  }

  void learn(std::map<std::string, std::string>& info, Line& line) {
    const bool valkey = info["server_name"] == "valkey";
    facts_ = {
        .product = valkey ? "Valkey" : "Redis",
        .version = info[valkey ? "valkey_version" : "redis_version"],
        .isolation = settings_.blocks ? "serializable" : "linearizable",
        .detail = fmt::format("mode={}, appendonly={}, replicas={}", info["redis_mode"],
                              info["aof_enabled"] == "1" ? "yes" : "no", info["connected_slaves"])};
    std::vector<RedisReply> answers;
    // May be forbidden, or renamed; then nothing is said of it.
    if (!line.send({{"CONFIG", "GET", "appendfsync"}}, answers) &&
        answers[0].elements.size() == 2) {
      facts_.detail += ", appendfsync=" + answers[0].elements[1].text;
    }
    if (settings_.hosts.size() > 1) facts_.detail += fmt::format(", {} hosts", hosts().size());
    if (!settings_.sentinels.empty()) {
      facts_.detail += fmt::format(", {} sentinels", settings_.sentinels.size());
    }
  }

  // Where the primary is by the first sentinel that answers ("Guidelines for Redis clients with
  // support for Redis Sentinel" in Redis' manual, which also asks for the short time-out).
  [[nodiscard]] base::Result<std::string> monitored() const {
    Settings brief;
    brief.timeout = std::min(settings_.timeout, 0.5);
    std::string why;
    for (const auto& sentinel : settings_.sentinels) {
      auto line = Line::connect(brief, sentinel);
      if (!line) {
        why = line.error().message;
        continue;
      }
      std::vector<RedisReply> answers;
      if (auto failure =
              (*line)->send({{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", settings_.master}}, answers)) {
        why = fmt::format("{}: {}", address(sentinel), failure->message);
      } else if (answers[0].elements.size() == 2) {
        return answers[0].elements[0].text + ':' + answers[0].elements[1].text;
      } else {
        why = answers[0].error()
                  ? fmt::format("{}: {}", address(sentinel), answers[0].text)
                  : fmt::format("{} knows no master `{}`", address(sentinel), settings_.master);
      }
    }
    return base::Error{.message = "no sentinel says where the primary is: " + why};
  }

  // Or no host would ever be the primary.
  [[nodiscard]] base::Status primary_is_known() const {
    if (settings_.sentinels.empty()) return base::Ok{};
    const auto primary = monitored();
    if (!primary) return base::Ok{};  // they may answer later
    for (const auto& host : settings_.hosts) {
      if (is_at(host, *primary)) return base::Ok{};
    }
    return base::Error{
        .message = fmt::format("the sentinels have the primary at {}, but the URL's hosts are {}; "
                               "name the hosts as the sentinels do",
                               *primary, fmt::join(hosts(), ", "))};
  }

  // So that whoever reads from a replica sees the first rows.
  base::Status await_replicas(Line& line) const {
    if (settings_.hosts.size() < 2) return base::Ok{};
    const auto replicas = settings_.hosts.size() - 1;
    const auto patience = static_cast<std::int64_t>(settings_.timeout * 900);  // ms
    std::vector<RedisReply> answers;
    const Command wait{"WAIT", std::to_string(replicas), std::to_string(patience)};
    if (auto failure = line.send({wait}, answers)) {
      return base::Error{.message = "cannot wait for Redis' replicas: " + failure->message};
    }
    const auto following = to_integer(answers[0].text);
    if (!answers[0].error() && following && *following >= static_cast<std::int64_t>(replicas)) {
      return base::Ok{};
    }
    return base::Error{.message = fmt::format("{} of the URL's {} other hosts follow the primary "
                                              "as its replicas, expected all of them",
                                              answers[0].text, replicas)};
  }

  static base::Status run(Line& line, const std::vector<Command>& commands) {
    const auto cannot_load = [](const std::string& why) {
      return base::Error{.message = "cannot load the rows into Redis: " + why};
    };
    std::vector<RedisReply> answers;
    if (auto failure = line.send(commands, answers)) return cannot_load(failure->message);
    for (const auto& answer : answers) {
      if (answer.error()) return cannot_load(failure_of(answer, true).message);
    }
    return base::Ok{};
  }

  // Names of tables hold nothing that a pattern of SCAN takes otherwise.
  static base::Status drop(Line& line, const workload::Schema& schema) {
    const auto cannot_clear = [](const std::string& why) {
      return base::Error{.message = "cannot clear the keys in Redis: " + why};
    };
    for (const auto& table : schema.tables) {
      std::string cursor = "0";
      do {
        std::vector<RedisReply> answers;
        const Command scan{"SCAN", cursor, "MATCH", text_prefix(table) + '*', "COUNT", "1000"};
        if (auto failure = line.send({scan}, answers)) {
          return cannot_clear(failure->message);
        }
        if (answers[0].error() || answers[0].elements.size() != 2) {
          return cannot_clear(failure_of(answers[0], false).message);
        }
        Command remove{"DEL"};
        for (const auto& key : answers[0].elements[1].elements) remove.push_back(key.text);
        cursor = answers[0].elements[0].text;
        if (remove.size() > 1) {
          if (auto done = run(line, {remove}); !done) return done;
        }
      } while (cursor != "0");
    }
    return base::Ok{};
  }

  Settings settings_;
  Facts facts_;
  workload::Schema schema_;
};

std::string form_of_url(const std::string& text) {
  return fmt::format(
      "found `{}`, expected redis://[:PASSWORD@]HOST[:PORT][,HOST…][/NUMBER]"
      "[?sentinels=HOST[:PORT],…&master=NAME] with the number of a database",
      without_password(text));
}

base::Result<Settings> settings_of(const std::string& text, const OpenOptions& options) {
  auto url = parse_url(text);
  if (!url) return std::move(url).error();
  const auto form = [&] { return base::Error{.message = form_of_url(text)}; };
  if (url->hosts.empty()) return form();
  Settings settings;
  settings.hosts = url->hosts;
  settings.user = url->user;
  settings.password = url->password;
  if (!url->path.empty()) {
    const auto number = to_integer(url->path);
    if (!number || *number < 0 || *number > 1'000'000) return form();
    settings.database = *number;
  }
  const auto sentinels = take_option(*url, "sentinels");
  const auto master = take_option(*url, "master");
  if (auto unknown = unknown_options(*url, "sentinels and master")) return *std::move(unknown);
  if (sentinels.has_value() != master.has_value()) {
    return base::Error{.message =
                           "found only one of the options sentinels and master, expected "
                           "both: the sentinels' addresses and their name for the primary"};
  }
  if (sentinels) {
    const auto parsed = parse_url("redis://" + *sentinels);
    if (!parsed || parsed->hosts.empty() || master->empty()) return form();
    settings.sentinels = parsed->hosts;
    settings.master = *master;
  }
  fill_in(settings.hosts, 6379);
  fill_in(settings.sentinels, 26379);
  settings.timeout = options.statement_timeout;
  settings.blocks = options.isolation == "serializable";
  return settings;
}

}  // namespace

base::Result<std::unique_ptr<Database>> open_redis(const std::string& text,
                                                   const OpenOptions& options) {
  auto settings = settings_of(text, options);
  if (!settings) return std::move(settings).error();
  auto database = std::make_unique<RedisDatabase>(*std::move(settings));
  if (auto opened = database->open(); !opened) return std::move(opened).error();
  return std::unique_ptr<Database>(std::move(database));
}

}  // namespace cupel::drivers
