// Redis, by hiredis: one connection a session to one server, or to a primary and its replicas.
// Which one is the primary now, each says by ROLE, and first the sentinels, if the URL has them.
// A Redis Cluster is one more case: cluster.hpp. To a run it is two hosts, its primaries and its
// replicas, and either client finds the node that has a key.
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
// is not known to mean a refusal (a proxy's, say).
// See docs/reference/drivers/redis.md.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <set>

#include "databases/drivers/cells.hpp"
#include "databases/drivers/key_value.hpp"
#include "databases/drivers/plugin.hpp"
#include "databases/drivers/redis/cluster.hpp"
#include "databases/drivers/redis/line.hpp"
#include "databases/drivers/redis/slots.hpp"
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

using redis::ClusterLines;
using redis::Command;
using redis::failure_of;
using redis::first_word;
using redis::Line;
using redis::RedisReply;
using redis::Settings;
using redis::Slots;

// By which all keys are in one slot of a cluster.
std::string stored_key(const Settings& settings, const std::string& key) {
  constexpr std::string_view kPrefix = "cupel";
  return settings.one_slot ? fmt::format("{{{}}}{}", kPrefix, key.substr(kPrefix.size())) : key;
}

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

class RedisConnection final : public KeyValueConnection {
 public:
  RedisConnection(std::unique_ptr<Line> line, const Settings& settings, workload::Schema schema)
      : RedisConnection(settings, std::move(schema)) {
    line_ = std::move(line);
  }
  RedisConnection(ClusterLines cluster, const Settings& settings, workload::Schema schema)
      : RedisConnection(settings, std::move(schema)) {
    cluster_.emplace(std::move(cluster));
  }

  [[nodiscard]] std::optional<std::string> node() const override {
    return cluster_ ? std::optional(cluster_->node()) : std::nullopt;
  }

 protected:
  MaybeFailure run(std::span<const Statement> statements, std::span<Reply> replies) override {
    if (!cluster_) return run_on(*line_, statements, replies);
    // One statement, or keys that are all in one slot.
    return cluster_->transact(key_of(statements[0]),
                              std::all_of(statements.begin(), statements.end(), is_read),
                              [&](Line& line) {
                                std::fill(replies.begin(), replies.end(), Reply());
                                return run_on(line, statements, replies);
                              });
  }
  [[nodiscard]] MaybeFailure refuse(const Statement& statement) const override {
    if (column_type(statement) != ColumnType::kList ||
        (statement.kind != StatementKind::kWrite && statement.kind != StatementKind::kInsert)) {
      return std::nullopt;
    }
    return refused("a write of a whole list; lists are appended to, read and deleted");
  }

 private:
  RedisConnection(const Settings& settings, workload::Schema schema)
      : KeyValueConnection({.interactive = "Redis has no interactive transactions: between MULTI "
                                           "and EXEC nothing is answered",
                            .several = settings.blocks ? "" : kOnlyOne,
                            .ranges = "Redis has no order of keys"},
                           std::move(schema)),
        settings_(settings) {}

  MaybeFailure run_on(Line& line, std::span<const Statement> statements, std::span<Reply> replies) {
    return statements.size() == 1 && is_one_command(statements[0])
               ? one_command(line, statements[0], replies[0])
               : block(line, statements, replies);
  }

  // The state of a watched key as the block goes on.
  using States = std::map<std::string, std::optional<std::string>>;

  [[nodiscard]] std::string key_of(const Statement& statement) const {
    return stored_key(settings_, text_key(table_of(statement), statement.key[0]));
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

  MaybeFailure one_command(Line& line, const Statement& statement, Reply& reply) {
    auto words = command(statement);
    const bool if_absent = expects_absent(statement);
    if (if_absent) words.emplace_back("NX");
    std::vector<RedisReply> answers;
    if (auto failure = line.send({words}, answers)) {
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
  MaybeFailure look(Line& line, std::span<const Statement> statements, States& states) {
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
    if (auto failure = line.send(commands, answers)) return aborted(*std::move(failure));
    for (const auto& answer : answers) {
      if (answer.error()) return failure_of(answer, false);
    }
    for (std::size_t i = 1; i < answers.size(); ++i) {
      if (!answers[i].nil()) states[watch[i]] = answers[i].text;
    }
    return std::nullopt;
  }
  // After a look that nothing follows.
  static MaybeFailure forget(Line& line, MaybeFailure outcome) {
    std::vector<RedisReply> ignored;
    auto failure = line.send({{"UNWATCH"}}, ignored);
    if (!outcome || !failure) return outcome;
    outcome->connection_lost = true;
    return outcome;
  }

  MaybeFailure block(Line& line, std::span<const Statement> statements, std::span<Reply> replies) {
    States states;
    if (auto failure = look(line, statements, states)) {
      return failure->connection_lost ? failure : forget(line, failure);
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
        if (!fits && statement.kind == StatementKind::kInsert)
          return forget(line, there_already(key));
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
    if (whose.empty() && statements.size() == 1) return forget(line, std::nullopt);
    commands.push_back({"EXEC"});
    std::vector<RedisReply> answers;
    if (auto failure = line.send(commands, answers)) {
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

  Settings settings_;
  std::unique_ptr<Line> line_;           // to the one server
  std::optional<ClusterLines> cluster_;  // or to a cluster
};

class RedisDatabase final : public Database {
 public:
  explicit RedisDatabase(Settings settings) : settings_(std::move(settings)) {}

  base::Status open() {
    // All, since prepare() waits until every replica has the first rows; a cluster's know the rest.
    std::optional<base::Error> missing;
    for (const auto& host : settings_.hosts) {
      auto line = Line::connect(settings_, host);
      if (!line) {
        if (!missing) missing = std::move(line).error();
        continue;
      }
      auto info = info_of(**line, host);
      if (info && (*info)["redis_mode"] == "cluster") return open_cluster(*info, **line, host);
    }
    if (missing) return *std::move(missing);
    if (settings_.one_slot) {
      return base::Error{.message =
                             "found the option slot, but the server is no node of a "
                             "cluster; leave it out"};
    }
    if (auto known = primary_is_known(); !known) return known;
    const auto& host = settings_.hosts[primary_or_first()];
    auto line = Line::connect(settings_, host);
    if (!line) return std::move(line).error();
    auto info = info_of(**line, host);
    if (!info) return std::move(info).error();
    if ((*info)["role"] == "slave") {
      return base::Error{
          .message = fmt::format("found a replica at {}, which takes no writes; give "
                                 "the URL of its master, {}:{}",
                                 address(host), (*info)["master_host"], (*info)["master_port"])};
    }
    learn(*info, **line);
    return base::Ok{};
  }

  [[nodiscard]] Facts facts() const override { return facts_; }
  [[nodiscard]] workload::Needs can() const override {
    return {.multiple = settings_.blocks, .deletes = true, .lists = true, .compare_and_set = true};
  }
  [[nodiscard]] bool fails_over() const override {
    return cluster_.has_value() || settings_.hosts.size() > 1;
  }

  [[nodiscard]] std::vector<std::string> hosts() const override {
    if (cluster_) {
      return cluster_->replicas() > 0 ? std::vector<std::string>{"primaries", "replicas"}
                                      : std::vector<std::string>{"primaries"};
    }
    std::vector<std::string> names;
    for (const auto& host : settings_.hosts) names.push_back(address(host));
    return names;
  }

  [[nodiscard]] std::vector<std::string> nodes() const override {
    if (!cluster_) return hosts();
    std::vector<std::string> names;
    for (const auto& node : cluster_->nodes()) names.push_back(address(node));
    return names;
  }

  base::Result<bool> takes_writes(std::uint32_t number) override {
    if (cluster_) {  // either client sends them to the primaries
      auto slots = current_slots();
      if (!slots) return std::move(slots).error();
      return true;
    }
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
    auto opened = primaries();
    if (!opened) return std::move(opened).error();
    auto& servers = *opened;
    base::Status status = base::Ok{};
    for (auto& one : servers.all) {
      if (status) status = drop(*one.line, schema);
    }
    if (!status) return status;
    const auto flush = [&](Primary& one) {
      if (status.ok() && !one.commands.empty()) status = run(*one.line, one.commands);
      one.commands.clear();
    };
    constexpr std::size_t kCommandsAtOnce = 500;
    workload.load([&](std::uint32_t number, const Row& row) {
      auto command = load_command(schema.tables[number], row);
      if (command.empty()) return;
      auto* one = servers.of(command[1]);
      if (one == nullptr) {
        status = base::Error{.message = "cannot load the rows into Redis: a slot has no primary"};
        return;
      }
      one->commands.push_back(std::move(command));
      if (one->commands.size() >= kCommandsAtOnce) flush(*one);
    });
    for (auto& one : servers.all) {
      flush(one);
      if (status) status = await_replicas(*one.line, one.replicas);
    }
    if (status) schema_ = schema;
    return status;
  }

  base::Status join(const workload::Schema& schema) override {
    if (auto fits = one_cell_a_row(schema, facts_.product); !fits) return fits;
    schema_ = schema;
    return base::Ok{};
  }

  base::Result<std::unique_ptr<Connection>> connect(std::uint32_t session) override {
    return cluster_ ? connect_to_host(kPrimariesHost) : Database::connect(session);
  }

  base::Result<std::unique_ptr<Connection>> connect_to_host(std::uint32_t host) override {
    if (cluster_) {
      auto slots = current_slots();
      if (!slots) return std::move(slots).error();
      using Reads = ClusterLines::Reads;
      ClusterLines lines(settings_, *std::move(slots),
                         host == kPrimariesHost ? Reads::kPrimary : Reads::kReplica, turn_++);
      return std::unique_ptr<Connection>(
          std::make_unique<RedisConnection>(std::move(lines), settings_, schema_));
    }
    auto line = Line::connect(settings_, settings_.hosts[host]);
    if (!line) return std::move(line).error();
    return std::unique_ptr<Connection>(
        std::make_unique<RedisConnection>(*std::move(line), settings_, schema_));
  }

  void clean() override {
    auto servers = primaries();
    if (!servers) return;
    for (auto& one : servers->all) (void)drop(*one.line, schema_);
  }

 private:
  static constexpr std::uint32_t kPrimariesHost = 0;  // of a cluster, to a run

  // A server that takes writes now, and what it is to be loaded with.
  struct Primary {
    std::unique_ptr<Line> line;
    std::size_t replicas = 0;
    std::vector<Command> commands = {};
  };
  struct Primaries {
    std::vector<Primary> all;
    std::optional<Slots> slots;  // of a cluster, whose primaries are in this order
    Primary* of(const std::string& key) {
      if (!slots) return all.data();
      const auto owner = slots->primary_of(redis::slot_of(key));
      const auto hosts = slots->primaries();
      for (std::size_t i = 0; owner && i < hosts.size(); ++i) {
        if (address(hosts[i].first) == address(*owner)) return &all[i];
      }
      return nullptr;
    }
  };

  base::Result<Primaries> primaries() {
    Primaries found;
    if (!cluster_) {
      auto line = Line::connect(settings_, settings_.hosts[primary_or_first()]);
      if (!line) return std::move(line).error();
      found.all.push_back({*std::move(line), settings_.hosts.size() - 1});
      return found;
    }
    auto slots = current_slots();
    if (!slots) return std::move(slots).error();
    for (const auto& [host, replicas] : slots->primaries()) {
      auto line = Line::connect(settings_, host);
      if (!line) return std::move(line).error();
      found.all.push_back({*std::move(line), replicas});
    }
    found.slots = *std::move(slots);
    return found;
  }

  // By any node that was there at the start.
  [[nodiscard]] base::Result<Slots> current_slots() {
    auto hosts = cluster_->nodes();
    hosts.insert(hosts.end(), settings_.hosts.begin(), settings_.hosts.end());
    return redis::ask_for_slots(settings_, hosts, turn_++);
  }

  base::Status open_cluster(std::map<std::string, std::string>& info, Line& line,
                            const Host& host) {
    if (!settings_.sentinels.empty()) {
      return base::Error{
          .message = fmt::format("found Sentinels in the URL, but {} is a node of a cluster, which "
                                 "replaces its primaries itself; leave them out",
                                 address(host))};
    }
    if (settings_.blocks && !settings_.one_slot) {
      return base::Error{.message =
                             "found isolation `serializable`, whose transactions have several "
                             "keys; Redis Cluster runs a transaction only if all its keys are in "
                             "one slot; put them there with ?slot=one in the URL, or run with "
                             "--isolation linearizable"};
    }
    auto slots = redis::ask_for_slots(settings_, settings_.hosts);
    if (!slots) return std::move(slots).error();
    cluster_ = *std::move(slots);
    learn(info, line);
    return base::Ok{};
  }

  // Empty: no key is the null.
  [[nodiscard]] Command load_command(const workload::Table& table, const Row& row) const {
    const auto key = stored_key(settings_, text_key(table, row.key[0]));
    const auto& value = row.values[0];
    if (std::holds_alternative<std::monostate>(value)) return {};
    if (table.columns[0].type != ColumnType::kList) return {"SET", key, workload::to_string(value)};
    Command push{"RPUSH", key};
    for (const auto& element : sql::list_elements(sql::ListForm::kText, value)) {
      push.push_back(workload::to_string(element));
    }
    return push.size() > 2 ? push : Command();
  }

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

  static base::Result<std::map<std::string, std::string>> info_of(Line& line, const Host& host) {
    std::vector<RedisReply> answers;
    if (auto failure = line.send({{"INFO"}}, answers)) return cannot("ask", host, failure->message);
    if (answers[0].error()) return cannot("ask", host, failure_of(answers[0], false).message);
    return rows_of(answers[0].text);
  }

  void learn(std::map<std::string, std::string>& info, Line& line) {
    const bool valkey = info["server_name"] == "valkey";
    const auto replicas =
        cluster_ ? std::to_string(cluster_->replicas()) : info["connected_slaves"];
    facts_ = {.product = std::string(valkey ? "Valkey" : "Redis") + (cluster_ ? " Cluster" : ""),
              .version = info[valkey ? "valkey_version" : "redis_version"],
              .isolation = settings_.blocks ? "serializable" : "linearizable",
              .detail = fmt::format("mode={}, appendonly={}, replicas={}", info["redis_mode"],
                                    info["aof_enabled"] == "1" ? "yes" : "no", replicas)};
    std::vector<RedisReply> answers;
    // May be forbidden, or renamed; then nothing is said of it.
    if (!line.send({{"CONFIG", "GET", "appendfsync"}}, answers) &&
        answers[0].elements.size() == 2) {
      facts_.detail += ", appendfsync=" + answers[0].elements[1].text;
    }
    if (cluster_) {
      facts_.detail += fmt::format(", {} primaries", cluster_->primaries().size());
      if (settings_.one_slot) facts_.detail += ", one slot";
      return;
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
  base::Status await_replicas(Line& line, std::size_t replicas) const {
    if (replicas == 0) return base::Ok{};
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
    return base::Error{.message = fmt::format("{} of {} other hosts follow the primary as its "
                                              "replicas, expected all of them",
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
  base::Status drop(Line& line, const workload::Schema& schema) const {
    const auto cannot_clear = [](const std::string& why) {
      return base::Error{.message = "cannot clear the keys in Redis: " + why};
    };
    for (const auto& table : schema.tables) {
      std::string cursor = "0";
      do {
        std::vector<RedisReply> answers;
        const Command scan{"SCAN",  cursor,
                           "MATCH", stored_key(settings_, text_prefix(table)) + '*',
                           "COUNT", "1000"};
        if (auto failure = line.send({scan}, answers)) {
          return cannot_clear(failure->message);
        }
        if (answers[0].error() || answers[0].elements.size() != 2) {
          return cannot_clear(failure_of(answers[0], false).message);
        }
        std::vector<Command> removals;  // one a key, since a cluster takes no keys of several slots
        for (const auto& key : answers[0].elements[1].elements) {
          removals.push_back({"DEL", key.text});
        }
        cursor = answers[0].elements[0].text;
        if (auto done = run(line, removals); !done) return done;
      } while (cursor != "0");
    }
    return base::Ok{};
  }

  Settings settings_;
  std::optional<Slots> cluster_;  // as it was at the start; none: it is no cluster
  std::atomic<std::uint32_t> turn_ = 0;
  Facts facts_;
  workload::Schema schema_;
};

std::string form_of_url(const std::string& text) {
  return fmt::format(
      "found `{}`, expected redis://[:PASSWORD@]HOST[:PORT][,HOST…][/NUMBER]"
      "[?sentinels=HOST[:PORT],…&master=NAME] with the number of a database; ?slot=one is for a "
      "cluster",
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
  const auto slot = take_option(*url, "slot");
  if (auto unknown = unknown_options(*url, "sentinels, master and slot"))
    return *std::move(unknown);
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
  if (slot && *slot != "one") {
    return base::Error{.message = fmt::format("found the option slot={}, expected one", *slot)};
  }
  settings.one_slot = slot.has_value();
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

CUPEL_DRIVER_PLUGIN(cupel::drivers::open_redis, nullptr)
