// The SQL drivers on real servers: the conformance suite at each level, levels
// that behave as they are called, what is said of wrong URLs and passwords, and
// what a failure means when a server is killed or stands still in the middle.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <sstream>
#include <thread>

#include "databases/lab/server.hpp"
#include "drivers/conformance.hpp"
#include "mock/proxy/plain_mysql.hpp"
#include "servers/standing_still.hpp"
#include "support/polling.hpp"

namespace cupel::drivers::testing {
namespace {

using workload::ColumnType;
using workload::kv_schema;
using workload::Reply;
using workload::Statement;
using Texts = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

// One server of a kind for all cases of this process.
lab::Server& server(lab::Kind kind) {
  static std::map<lab::Kind, lab::Server> servers;
  auto found = servers.find(kind);
  if (found == servers.end()) {
    auto started = lab::start(kind, {.durable = false});
    if (!started.ok()) throw std::runtime_error(started.error().to_string());
    found = servers.emplace(kind, *std::move(started)).first;
  }
  return found->second;
}

base::Result<std::unique_ptr<Database>> open_on(lab::Kind kind, const std::string& query,
                                                const std::string& isolation, double timeout = 10) {
  return open(server(kind).url() + query, {.isolation = isolation, .statement_timeout = timeout});
}

Subject subject(const std::string& name, lab::Kind kind, const std::string& query,
                const std::string& isolation, bool prevents_lost_update) {
  return {.name = name,
          .open = [=] { return open_on(kind, query, isolation); },
          .prevents_lost_update = prevents_lost_update,
          .sees_uncommitted = isolation == "read-uncommitted" && kind != lab::Kind::kPostgres};
}

constexpr auto kPostgres = lab::Kind::kPostgres;
constexpr auto kMariadb = lab::Kind::kMariadb;

INSTANTIATE_TEST_SUITE_P(
    Postgres, Conformance,
    ::testing::Values(subject("Serializable", kPostgres, "", "serializable", true),
                      subject("RepeatableRead", kPostgres, "", "repeatable-read", true),
                      subject("ReadCommitted", kPostgres, "", "read-committed", false),
                      subject("Json", kPostgres, "?list=json", "", true)),
    subject_name);
INSTANTIATE_TEST_SUITE_P(
    Mariadb, Conformance,
    ::testing::Values(subject("Serializable", kMariadb, "", "serializable", true),
                      subject("Snapshot", kMariadb, "", "snapshot", true),
                      subject("RepeatableRead", kMariadb, "", "", false),
                      subject("ReadCommitted", kMariadb, "", "read-committed", false),
                      subject("ReadUncommitted", kMariadb, "", "read-uncommitted", false),
                      subject("Json", kMariadb, "?list=json", "snapshot", true)),
    subject_name);

std::unique_ptr<Database> opened(lab::Kind kind, const std::string& isolation,
                                 double timeout = 10) {
  auto database = open_on(kind, "", isolation, timeout);
  EXPECT_TRUE(database.ok()) << database.error().message;
  return database.ok() ? *std::move(database) : nullptr;
}
void expect_error(const std::string& url, std::initializer_list<const char*> parts) {
  const auto started = Clock::now();
  const auto database = open(url, {.isolation = {}, .statement_timeout = 3});
  const auto message = database.ok() ? "nothing" : database.error().message;
  for (const auto* part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << url << ": " << message;
  }
  EXPECT_EQ(message.find("secret"), std::string::npos) << message;
  EXPECT_EQ(message.find("wrong-one"), std::string::npos) << message;
  EXPECT_LT(Clock::now() - started, std::chrono::seconds(30));  // not the minutes of TCP
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << text;
  return text.replace(at, what.size(), with);
}

// Reads 1 and 2 in two transactions that write 2 and 1: how many of them commit.
int write_skew(Database& database) {
  EXPECT_TRUE(database.prepare(two_rows()).ok());
  const auto one = connected(database, 0);
  const auto two = connected(database, 1);
  Reply reply;
  MaybeFailure first, second;
  EXPECT_FALSE(one->begin());
  EXPECT_FALSE(two->begin());
  EXPECT_FALSE(one->execute(read(1), reply));
  EXPECT_FALSE(two->execute(read(2), reply));
  // Where reads lock, one waits for the other; then one of them is the victim.
  auto writer = std::async(std::launch::async, [&] {
    Reply mine;
    first = one->execute(write(2, 0), mine);
    if (!first) first = one->commit();
  });
  writer.wait_for(std::chrono::milliseconds(100));  // nothing says that it waits for a lock
  second = two->execute(write(1, 0), reply);
  if (!second) second = two->commit();
  writer.get();
  for (const auto& outcome : {first, second}) {
    if (!outcome) continue;
    EXPECT_EQ(outcome->cause, Cause::kConflict) << shown(outcome);
    EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted) << shown(outcome);
  }
  return (first ? 0 : 1) + (second ? 0 : 1);
}

// Two transactions that read 1 and then write it: how many commit.
int lost_update(Database& database) {
  EXPECT_TRUE(database.prepare(two_rows()).ok());
  const auto one = connected(database, 0);
  const auto two = connected(database, 1);
  Reply reply;
  EXPECT_FALSE(one->begin());
  EXPECT_FALSE(two->begin());
  EXPECT_FALSE(one->execute(read(1), reply));
  EXPECT_FALSE(two->execute(read(1), reply));
  auto first = one->execute(write(1, 11), reply);
  if (!first) first = one->commit();
  auto second = two->execute(write(1, 12), reply);
  if (!second) second = two->commit();
  EXPECT_FALSE(first) << shown(first);
  if (second) {
    EXPECT_EQ(second->cause, Cause::kConflict) << shown(second);
    EXPECT_EQ(second->txn_outcome, TxnOutcome::kAborted) << shown(second);
  }
  return (first ? 0 : 1) + (second ? 0 : 1);
}

TEST(PostgresServer, GivesTheLevelsItNames) {
  const std::map<std::string, std::pair<int, int>> expected{
      // committed of two with a lost update, and with a write skew
      {"read-committed", {2, 2}},
      {"repeatable-read", {1, 2}},
      {"serializable", {1, 1}}};
  for (const auto& [level, committed] : expected) {
    const auto database = opened(kPostgres, level);
    ASSERT_NE(database, nullptr);
    const auto facts = database->facts();
    EXPECT_EQ(facts.product, "PostgreSQL");
    EXPECT_GE(std::stoi(facts.version), 13);
    auto name = level;
    std::replace(name.begin(), name.end(), '-', ' ');
    EXPECT_EQ(facts.isolation, name);
    EXPECT_EQ(lost_update(*database), committed.first) << level;
    EXPECT_EQ(write_skew(*database), committed.second) << level;
  }
}

TEST(PostgresServer, ErrorsSayWhatToDo) {
  auto& postgres = server(kPostgres);
  const auto url = postgres.guarded_url();
  EXPECT_TRUE(open(url, {}).ok());
  expect_error(postgres.guarded_url("wrong-one"),
               {"password authentication failed", "check the user"});
  expect_error(replaced(url, ":secret@", "@"), {"no password supplied", "check the user"});
  expect_error(replaced(url, "/cupel", "/nowhere"),
               {"\"nowhere\" does not exist", "createdb nowhere"});
  expect_error(replaced(url, fmt::format(":{}", postgres.port()), ":1"),
               {"refused", "is the server running"});
  expect_error(url + "?sslmode=maybe", {"sslmode"});
  expect_error(replaced(url, "127.0.0.1", "127.0.0.1,127.0.0.1") + "?nothing=1",
               {"`nothing`", "libpq"});
  expect_error(
      fmt::format("postgres://cupel@127.0.0.1:{}?user=guarded&password=secret", postgres.port()),
      {"does not exist. The URL names no database", "postgres://USER@HOST/DATABASE"});
  expect_error(url + "?sslmode=require", {"SSL", "sslmode"});
  expect_error(url + "?list=xml", {"list=xml", "list=json"});
  // Since version 15 only the owner of a database makes tables in its schema public.
  const auto database = open(url, {});
  ASSERT_TRUE(database.ok()) << database.error().message;
  if (std::stoi((*database)->facts().version) < 15) return;
  auto schema = kv_schema();
  schema.tables[0].name = "cupel_of_another";
  const auto made = (*database)->prepare(Tables(std::move(schema)));
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("permission denied for schema public. Run `GRANT CREATE ON "
                                      "SCHEMA public TO guarded`, or name a database"),
            std::string::npos)
      << made.error().message;
}

// What the driver says of a server that is killed in a transaction: aborted, also if that is seen
// at the commit. And the server still has what was acknowledged.
void killed(lab::Kind kind, const std::string& isolation) {
  auto started = lab::start(kind, {});
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  auto& mine = *started;
  auto database = open(mine.url(), {.isolation = isolation, .statement_timeout = 20});
  ASSERT_TRUE(database.ok()) << database.error().message;
  ASSERT_TRUE((*database)->prepare(two_rows()).ok());
  const auto one = connected(**database);
  const auto two = connected(**database, 1);
  Reply reply;
  run(*two, {write(2, 22)});
  ASSERT_FALSE(one->begin());
  ASSERT_FALSE(one->execute(write(1, 11), reply));
  ASSERT_FALSE(two->begin());
  ASSERT_FALSE(two->execute(write(2, 23), reply));
  mine.kill();
  const auto statement = one->execute(read(1), reply);
  ASSERT_TRUE(statement);
  EXPECT_EQ(statement->txn_outcome, TxnOutcome::kAborted) << shown(statement);
  EXPECT_EQ(statement->cause, Cause::kConnection) << shown(statement);
  EXPECT_TRUE(statement->connection_lost);
  const auto commit = two->commit();
  ASSERT_TRUE(commit);
  // The server had closed the connection, so COMMIT was not sent.
  EXPECT_EQ(commit->txn_outcome, TxnOutcome::kAborted) << shown(commit);
  EXPECT_EQ(commit->cause, Cause::kConnection) << shown(commit);
  EXPECT_TRUE(commit->connection_lost);
  // A connection that is lost stays so, and says so.
  const auto again = one->begin();
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->connection_lost);
  const auto refused = (*database)->connect(0);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("is the server running"), std::string::npos)
      << refused.error().message;
  ASSERT_TRUE(mine.restart().ok());
  EXPECT_EQ(run(*connected(**database), {read(1), read(2)}), (Texts{"1=10", "2=22"}));
}

// A process and its children, which serve the connections of PostgreSQL.
std::vector<int> processes_under(int parent) {
  std::vector<int> ids{parent};
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(entry.path() / "stat");
    std::string line;
    std::getline(in, line);
    // ID (NAME) STATE PARENT …
    std::istringstream rest(line.substr(line.rfind(')') + 1));
    char state = 0;
    int of = 0;
    if (rest >> state >> of && of == parent) ids.push_back(std::stoi(name));
  }
  return ids;
}

// A server that stands still (SIGSTOP) answers nothing and closes nothing.
void stopped(lab::Kind kind, const std::string& isolation) {
  auto started = lab::start(kind, {.durable = false});
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  auto& mine = *started;
  // What is not stopped must be done in this time too.
  auto database = open(mine.url(), {.isolation = isolation, .statement_timeout = 3});
  ASSERT_TRUE(database.ok()) << database.error().message;
  ASSERT_TRUE((*database)->prepare(two_rows()).ok());
  const auto one = connected(**database);
  const auto two = connected(**database, 1);
  Reply reply;
  ASSERT_FALSE(one->begin());
  ASSERT_FALSE(one->execute(write(1, 11), reply));
  ASSERT_FALSE(two->begin());
  ASSERT_FALSE(two->execute(write(2, 23), reply));
  const auto stopped_ones = processes_under(mine.process());
  for (const auto id : stopped_ones) cupel::test::stand_still(id);
  const auto began = Clock::now();
  const auto statement = one->execute(read(1), reply);
  const auto commit = two->commit();
  const auto refused = (*database)->connect(0);
  const auto waited = Clock::now() - began;
  for (const auto id : stopped_ones) ::kill(id, SIGCONT);
  EXPECT_LT(waited, std::chrono::seconds(60));
  ASSERT_TRUE(statement);
  EXPECT_EQ(statement->txn_outcome, TxnOutcome::kAborted) << shown(statement);
  EXPECT_EQ(statement->cause, Cause::kTimeout) << shown(statement);
  EXPECT_TRUE(statement->connection_lost);
  ASSERT_TRUE(commit);
  EXPECT_EQ(commit->txn_outcome, TxnOutcome::kUnknown) << shown(commit);
  EXPECT_EQ(commit->cause, Cause::kTimeout) << shown(commit);
  EXPECT_TRUE(commit->connection_lost);
  EXPECT_FALSE(refused.ok());
  // It goes on: the first is undone, the second was sent, and may be either.
  std::string first, second;
  EXPECT_TRUE(cupel::test::poll_until([&] {
    auto connection = (*database)->connect(2);
    std::vector<Reply> replies;
    const std::vector<Statement> reads{read(1), read(2)};
    if (!connection.ok() || (*connection)->transact(reads, replies)) return false;
    first = shown(replies[0]);
    second = shown(replies[1]);
    return true;
  }));
  EXPECT_EQ(first, "1=10");
  EXPECT_TRUE(second == "2=20" || second == "2=23") << second;
}

TEST(PostgresServer, Killed) {
  killed(kPostgres, "serializable");
}
TEST(PostgresServer, StandingStill) {
  stopped(kPostgres, "serializable");
}

// A statement that waits for a lock longer than it may is aborted by the server;
// the connection goes on.
TEST(PostgresServer, AStatementThatTakesTooLong) {
  const auto database = opened(kPostgres, "read-committed", 0.5);
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  const auto one = connected(*database);
  const auto two = connected(*database, 1);
  Reply reply;
  ASSERT_FALSE(one->begin());
  ASSERT_FALSE(one->execute(write(1, 11), reply));
  ASSERT_FALSE(two->begin());
  const auto outcome = two->execute(write(1, 12), reply);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->code, "57014");
  EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted);
  EXPECT_EQ(outcome->cause, Cause::kTimeout);
  EXPECT_FALSE(outcome->connection_lost);
  ASSERT_FALSE(one->commit());
  EXPECT_EQ(run(*two, {read(1)}), (Texts{"1=11"}));
}

// The server looks for deadlocks only after ten seconds, unless the driver asks for less.
TEST(PostgresServer, ADeadlockCostsNoSecond) {
  auto slow = lab::start(kPostgres, {.server_options = {"deadlock_timeout=10s"}, .durable = false});
  ASSERT_TRUE(slow.ok()) << slow.error().to_string();
  const auto deadlock = [&](const std::string& url) {
    auto database = open(url, {.isolation = "read-committed", .statement_timeout = 2});
    EXPECT_TRUE(database.ok());
    EXPECT_TRUE((*database)->prepare(two_rows()).ok());
    const auto one = connected(**database);
    const auto two = connected(**database, 1);
    Reply reply;
    EXPECT_FALSE(one->begin());
    EXPECT_FALSE(two->begin());
    EXPECT_FALSE(one->execute(write(1, 11), reply));
    EXPECT_FALSE(two->execute(write(2, 22), reply));
    std::string codes;
    {
      Reply other;
      const std::jthread waits([&] {
        if (const auto failed = one->execute(write(2, 12), other)) codes += failed->code;
      });
      Reply own;
      if (const auto failed = two->execute(write(1, 21), own)) return failed->code;
    }
    return codes;
  };
  EXPECT_EQ(deadlock(slow->url()), "40P01");
  // Who sets it in the URL means it: the statement's own limit ends it first.
  EXPECT_EQ(deadlock(slow->url() + "?options=-c%20deadlock_timeout%3D10s"), "57014");
}

// Sessions are spread over the hosts of a URL: here one server by two addresses,
// one of which is closed.
TEST(PostgresServer, SessionsAreSpreadOverTheHosts) {
  auto& postgres = server(kPostgres);
  const auto here = fmt::format("127.0.0.1:{}", postgres.port());
  const auto both =
      replaced(postgres.url(), here, here + ",localhost:" + std::to_string(postgres.port()));
  const auto database = open(both, {});
  ASSERT_TRUE(database.ok()) << database.error().message;
  ASSERT_TRUE((*database)->prepare(two_rows()).ok());
  EXPECT_EQ(run(*connected(**database, 0), {read(1)}), (Texts{"1=10"}));
  EXPECT_EQ(run(*connected(**database, 1), {write(1, 11)}), (Texts{""}));
  EXPECT_EQ(run(*connected(**database, 2), {read(1)}), (Texts{"1=11"}));
  // A host that is not there is named, whichever session meets it.
  expect_error(replaced(postgres.url(), here, here + ",127.0.0.1:1"), {"127.0.0.1:1", "refused"});
}

TEST(MariadbServer, GivesTheLevelsItNames) {
  const std::map<std::string, std::pair<int, int>> expected{
      // committed of two with a lost update, and with a write skew
      {"read-committed", {2, 2}},
      {"repeatable-read", {2, 2}},
      {"snapshot", {1, 2}}};
  for (const auto& [level, committed] : expected) {
    const auto database = opened(kMariadb, level);
    ASSERT_NE(database, nullptr);
    const auto facts = database->facts();
    EXPECT_EQ(facts.product, "MariaDB");
    EXPECT_GE(std::stoi(facts.version), 10);
    EXPECT_EQ(facts.isolation, level == "read-committed" ? "read committed" : "repeatable read");
    EXPECT_NE(facts.detail.find(level == "snapshot" ? "innodb_snapshot_isolation=ON"
                                                    : "innodb_snapshot_isolation=OFF"),
              std::string::npos)
        << facts.detail;
    EXPECT_EQ(lost_update(*database), committed.first) << level;
    EXPECT_EQ(write_skew(*database), committed.second) << level;
  }
  const auto database = opened(kMariadb, "serializable");
  EXPECT_EQ(database->facts().isolation, "serializable");
  EXPECT_EQ(write_skew(*database), 1);
}

TEST(MariadbServer, ErrorsSayWhatToDo) {
  auto& mariadb = server(kMariadb);
  const auto url = mariadb.guarded_url();
  EXPECT_TRUE(open(url, {}).ok());
  expect_error(mariadb.guarded_url("wrong-one"), {"Access denied", "check the user"});
  expect_error(replaced(url, "/cupel", "/nowhere"), {"nowhere"});
  expect_error(replaced(mariadb.url(), "/cupel", ""), {"/DATABASE"});
  expect_error(replaced(url, fmt::format(":{}", mariadb.port()), ":1"), {"is the server running"});
  expect_error(url + "?sslmode=maybe", {"`sslmode`", "`ssl=1`"});
  expect_error(url + "?ssl=maybe", {"ssl=maybe", "ssl=1"});
  expect_error(url + "?ssl-ca=/nowhere/ca.pem&ssl=1",
               {"cannot connect", "see the URL's options ssl"});
  expect_error(url + "?ssl=1", {"offers no TLS", "see the URL's options ssl"});
  expect_error(url + "?list=xml", {"list=xml", "list=json"});
  // The server says no more than that the access is denied.
  auto root = cupel::proxy::PlainMysql::connect(
      {.host = "127.0.0.1", .port = mariadb.port(), .user = "root"});
  ASSERT_TRUE(root.ok()) << root.error().message;
  ASSERT_TRUE(root->run("CREATE USER careful REQUIRE SSL").ok());
  expect_error(fmt::format("mysql://careful@127.0.0.1:{}/cupel", mariadb.port()),
               {"Access denied", "add `?ssl=1` if the account requires TLS"});
  EXPECT_TRUE(root->run("DROP USER careful").ok());
}

TEST(MariadbServer, Killed) {
  killed(kMariadb, "serializable");
}
TEST(MariadbServer, StandingStill) {
  stopped(kMariadb, "serializable");
}

// InnoDB undoes only the statement that waited too long; the driver undoes the rest.
TEST(MariadbServer, ALockWaitThatTakesTooLongAbortsAll) {
  const auto database = opened(kMariadb, "read-committed", 4);
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  const auto one = connected(*database);
  const auto two = connected(*database, 1);
  Reply reply;
  ASSERT_FALSE(one->begin());
  ASSERT_FALSE(one->execute(write(1, 11), reply));
  ASSERT_FALSE(two->begin());
  ASSERT_FALSE(two->execute(write(2, 22), reply));
  const auto outcome = two->execute(write(1, 12), reply);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->code, "1205");
  EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted);
  EXPECT_EQ(outcome->cause, Cause::kConflict);
  EXPECT_FALSE(outcome->connection_lost);
  ASSERT_FALSE(one->commit());
  EXPECT_EQ(run(*two, {read(1), read(2)}), (Texts{"1=11", "2=20"}));
}

// Two nodes that write the same row: the first to commit wins, and the other's
// COMMIT is a deadlock, which is certain not to have happened.
TEST(GaleraServer, CertificationFailsAtCommit) {
  const auto database = opened(lab::Kind::kGalera, "repeatable-read");
  ASSERT_NE(database, nullptr);
  EXPECT_EQ(database->facts().product, "MariaDB Galera");
  EXPECT_NE(database->facts().detail.find("wsrep_cluster_size=3"), std::string::npos)
      << database->facts().detail;
  int commits_refused = 0;
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(database->prepare(two_rows()).ok());
    const auto one = connected(*database, 0);
    const auto two = connected(*database, 1);
    Reply reply;
    ASSERT_FALSE(one->begin());
    ASSERT_FALSE(two->begin());
    ASSERT_FALSE(one->execute(write(1, 11), reply));
    ASSERT_FALSE(two->execute(write(1, 12), reply));
    MaybeFailure first, second;
    std::thread committer([&] { first = one->commit(); });
    second = two->commit();
    committer.join();
    // One at least; both only if neither had certified when the other came.
    EXPECT_TRUE(first || second);
    for (const auto& outcome : {first, second}) {
      if (!outcome) continue;
      ++commits_refused;
      EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted) << shown(outcome);
      EXPECT_EQ(outcome->cause, Cause::kConflict) << shown(outcome);
      EXPECT_FALSE(outcome->connection_lost);
    }
    const auto expected = !first ? "1=11" : !second ? "1=12" : "1=10";
    // The nodes apply what was certified a little later.
    std::string seen;
    EXPECT_TRUE(cupel::test::poll_until([&] {
      seen = run(*connected(*database, 2), {read(1)})[0];
      return seen == expected;
    })) << seen;
  }
  EXPECT_GE(commits_refused, 5);
}

// A node that is cut off from the others refuses statements; none is committed.
TEST(GaleraServer, ANodeAloneRefuses) {
  auto started = lab::start(lab::Kind::kGalera, {.durable = false});
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  auto& mine = *started;
  auto database = open(mine.url(), {.isolation = {}, .statement_timeout = 30});
  ASSERT_TRUE(database.ok()) << database.error().message;
  ASSERT_TRUE((*database)->prepare(two_rows()).ok());
  const auto one = connected(**database, 0);
  const auto two = connected(**database, 0);
  Reply reply;
  ASSERT_FALSE(one->begin());
  ASSERT_FALSE(one->execute(write(1, 11), reply));
  ASSERT_FALSE(two->begin());
  ASSERT_FALSE(two->execute(write(2, 22), reply));
  mine.kill(1);
  mine.kill(2);
  MaybeFailure refused;
  // The node finds out by its own timeouts.
  ASSERT_TRUE(cupel::test::poll_until([&] {
    refused = one->execute(read(1), reply);
    return refused.has_value();
  }));
  EXPECT_EQ(refused->code, "1047") << shown(refused);
  EXPECT_EQ(refused->txn_outcome, TxnOutcome::kAborted) << shown(refused);
  EXPECT_EQ(refused->cause, Cause::kConnection) << shown(refused);
  const auto commit = two->commit();
  ASSERT_TRUE(commit);
  RecordProperty("commit", shown(commit));
  // Whatever is said of it, it is true of what the cluster has afterwards.
  ASSERT_TRUE(mine.restart().ok());
  const auto seen = run(*connected(**database, 0), {read(1), read(2)});
  EXPECT_EQ(seen[0], "1=10");
  if (commit->txn_outcome == TxnOutcome::kAborted) {
    EXPECT_EQ(seen[1], "2=20") << shown(commit);
  }
}

}  // namespace
}  // namespace cupel::drivers::testing
