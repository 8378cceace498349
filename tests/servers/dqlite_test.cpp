// dqlite on real nodes: the conformance suite, what is said of wrong URLs, and what a failure means
// when a node is killed, stands still, or hands its leadership over.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <csignal>
#include <functional>
#include <future>
#include <map>

#include "databases/lab/server.hpp"
#include "drivers/conformance.hpp"
#include "servers/standing_still.hpp"
#include "servers/writers.hpp"
#include "support/polling.hpp"

namespace cupel::drivers::testing {
namespace {

using cupel::test::poll_until;
using workload::kv_schema;
using workload::Reply;
using workload::Statement;
using Texts = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

lab::Server started(std::uint32_t nodes) {
  auto server = lab::start(lab::Kind::kDqlite, {.nodes = nodes});
  if (!server.ok()) throw std::runtime_error(server.error().to_string());
  return *std::move(server);
}

// One node, or three, for all cases of this process.
lab::Server& server(std::uint32_t nodes) {
  static std::map<std::uint32_t, lab::Server> servers;
  auto found = servers.find(nodes);
  if (found == servers.end()) found = servers.emplace(nodes, started(nodes)).first;
  return found->second;
}

Subject subject(const std::string& name, std::uint32_t nodes, const std::string& query) {
  return {.name = name, .open = [=] { return open(server(nodes).url() + query, {}); }};
}

INSTANTIATE_TEST_SUITE_P(Dqlite, Conformance,
                         ::testing::Values(subject("OneNode", 1, ""), subject("Cluster", 3, ""),
                                           subject("Immediate", 1, "?mode=immediate"),
                                           subject("Json", 1, "?list=json")),
                         subject_name);

TEST(DqliteServer, SaysWhatItIs) {
  const auto facts = opened(server(3).url())->facts();
  EXPECT_EQ(facts.product, "dqlite");
  EXPECT_EQ(facts.isolation, "serializable");
  EXPECT_NE(facts.detail.find("SQLite 3."), std::string::npos) << facts.detail;
  EXPECT_NE(facts.detail.find("begin deferred, 3 hosts"), std::string::npos) << facts.detail;
}

TEST(DqliteServer, ErrorsSayWhatToDo) {
  const auto url = server(1).url();
  const auto says = [](const std::string& wrong, std::initializer_list<const char*> parts) {
    const auto database = open(wrong, {.isolation = {}, .statement_timeout = 3});
    const auto message = database.ok() ? "nothing" : database.error().message;
    for (const auto* part : parts) {
      EXPECT_NE(message.find(part), std::string::npos) << wrong << ": " << message;
    }
    EXPECT_EQ(message.find("secret"), std::string::npos) << message;
  };
  says("dqlite:", {"expected dqlite://"});
  says("dqlite://user:secret@127.0.0.1", {"expected dqlite://", "without a user"});
  says("dqlite://127.0.0.1:1", {"127.0.0.1:1", "refused", "are the nodes running"});
  says(url + "?mode=later", {"mode=later", "deferred, immediate, exclusive"});
  says(url + "?busy_timeout=-1", {"busy_timeout"});
  says(url + "?list=xml", {"list=xml", "list=json"});
  says(url + "?tls=1", {"`tls`", "mode, busy_timeout or list"});
  EXPECT_TRUE(open(url + "/other", {}).ok());
}

// The URL may name any node: who is no leader says who is.
TEST(DqliteServer, AnyHostLeadsToTheLeader) {
  auto& cluster = server(3);
  ASSERT_TRUE(opened(cluster.url())->prepare(two_rows()).ok());
  for (std::size_t node = 0; node < cluster.nodes(); ++node) {
    const auto database = opened(cluster.url(node));
    ASSERT_NE(database, nullptr);
    ASSERT_TRUE(database->prepare(two_rows()).ok());
    EXPECT_EQ(run(*connected(*database), {read(1)}), (Texts{"1=10"}));
  }
}

// Two transactions that read what the other writes: one commits, the other one is a conflict.
TEST(DqliteServer, PreventsWriteSkewAndLostUpdate) {
  for (const std::int64_t second_reads : {1, 2}) {
    const auto database = opened(server(3).url() + "?busy_timeout=50");
    ASSERT_TRUE(database->prepare(two_rows()).ok());
    const auto one = connected(*database);
    const auto two = connected(*database);
    Reply reply;
    ASSERT_FALSE(one->begin());
    ASSERT_FALSE(two->begin());
    ASSERT_FALSE(one->execute(read(1), reply));
    ASSERT_FALSE(two->execute(read(second_reads), reply));
    ASSERT_FALSE(one->execute(write(2, 21), reply));
    // The lock is taken, and it is waited for no longer than busy_timeout.
    const auto locked = two->execute(write(1, 11), reply);
    ASSERT_TRUE(locked);
    EXPECT_EQ(locked->code, "SQLITE_BUSY");
    EXPECT_EQ(locked->cause, Cause::kConflict);
    EXPECT_EQ(locked->txn_outcome, TxnOutcome::kAborted);
    EXPECT_FALSE(locked->connection_lost);
    // A snapshot that is no longer the newest.
    ASSERT_FALSE(two->begin());
    ASSERT_FALSE(two->execute(read(second_reads), reply));
    ASSERT_FALSE(one->commit());
    const auto late = two->execute(write(1, 12), reply);
    ASSERT_TRUE(late);
    EXPECT_EQ(late->code, "SQLITE_BUSY_SNAPSHOT");
    EXPECT_EQ(late->cause, Cause::kConflict);
    EXPECT_EQ(late->txn_outcome, TxnOutcome::kAborted);
    EXPECT_EQ(run(*two, {read(1), read(2)}), (Texts{"1=10", "2=21"}));
  }
}

// A text with a zero byte cannot be sent, and is not cut off at it.
TEST(DqliteServer, RefusesWhatTheProtocolCannotHold) {
  const auto database = opened(server(1).url());
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  const auto connection = connected(*database);
  Reply reply;
  ASSERT_FALSE(connection->begin());
  const auto refused = connection->execute(write(1, std::string("a\0b", 3)), reply);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->txn_outcome, TxnOutcome::kAborted);
  EXPECT_EQ(refused->cause, Cause::kStatement);
  EXPECT_NE(refused->message.find("zero byte"), std::string::npos) << refused->message;
  EXPECT_EQ(run(*connection, {read(1)}), (Texts{"1=10"}));
}

TEST(DqliteServer, Killed) {
  auto mine = started(1);
  const auto database = opened(mine.url(), "", 20);
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  const auto one = connected(*database);
  const auto two = connected(*database);
  Reply reply;
  run(*two, {write(2, 22)});
  ASSERT_FALSE(one->begin());
  ASSERT_FALSE(one->execute(write(1, 11), reply));
  ASSERT_FALSE(two->begin());
  ASSERT_FALSE(two->execute(read(2), reply));
  mine.kill();
  for (const auto& outcome : {one->execute(read(1), reply), two->commit(), one->begin()}) {
    ASSERT_TRUE(outcome);
    // The driver saw that the server had closed the connection, and sent nothing.
    EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted) << shown(outcome);
    EXPECT_EQ(outcome->cause, Cause::kConnection) << shown(outcome);
    EXPECT_TRUE(outcome->connection_lost);
  }
  const auto refused = database->connect(0);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("are the nodes running"), std::string::npos);
  ASSERT_TRUE(mine.restart().ok());
  EXPECT_EQ(run(*connected(*database), {read(1), read(2)}), (Texts{"1=10", "2=22"}));
}

// A node that stands still answers nothing and closes nothing; a COMMIT that was sent is unknown.
TEST(DqliteServer, StandingStill) {
  auto mine = started(1);
  const auto database = opened(mine.url(), "", 3);
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  const auto one = connected(*database);
  const auto two = connected(*database);
  Reply reply;
  ASSERT_FALSE(one->begin());
  ASSERT_FALSE(one->execute(read(1), reply));
  ASSERT_FALSE(two->begin());
  ASSERT_FALSE(two->execute(write(2, 23), reply));
  cupel::test::stand_still(mine.process());
  const auto began = Clock::now();
  const auto statement = one->execute(write(1, 11), reply);
  const auto commit = two->commit();
  const auto refused = database->connect(0);
  const auto waited = Clock::now() - began;
  ::kill(mine.process(), SIGCONT);
  EXPECT_LT(waited, std::chrono::seconds(60));
  EXPECT_FALSE(refused.ok());
  for (const auto& outcome : {statement, commit}) {
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->cause, Cause::kTimeout) << shown(outcome);
    EXPECT_TRUE(outcome->connection_lost);
  }
  EXPECT_EQ(statement->txn_outcome, TxnOutcome::kAborted) << shown(statement);
  EXPECT_EQ(commit->txn_outcome, TxnOutcome::kUnknown) << shown(commit);
  Texts seen;
  EXPECT_TRUE(poll_until([&] {
    auto connection = database->connect(0);
    std::vector<Reply> replies;
    const std::vector<Statement> reads{read(1), read(2)};
    if (!connection.ok() || (*connection)->transact(reads, replies)) return false;
    seen = {shown(replies[0]), shown(replies[1])};
    return true;
  }));
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0], "1=10");
  EXPECT_TRUE(seen[1] == "2=20" || seen[1] == "2=23") << seen[1];
}

// A leader that hands over forgets its open transactions: it certainly commits none of them.
TEST(DqliteFailover, InTheMiddleOfATransaction) {
  auto mine = started(3);
  const auto database = opened(mine.url());
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  const auto writer = connected(*database);
  const auto back_again = connected(*database);
  Reply reply;
  const auto leaders = mine.primaries();
  ASSERT_EQ(leaders.size(), 1U);
  ASSERT_FALSE(back_again->begin());
  ASSERT_FALSE(back_again->execute(read(1), reply));
  ASSERT_FALSE(writer->begin());
  ASSERT_FALSE(writer->execute(write(1, 11), reply));
  const auto second = mine.failover();
  ASSERT_TRUE(second.ok()) << second.error().to_string();
  EXPECT_NE(*second, leaders.front());
  const auto late = writer->commit();
  ASSERT_TRUE(late);
  EXPECT_EQ(late->txn_outcome, TxnOutcome::kAborted) << shown(late);
  EXPECT_EQ(late->code, "SQLITE_IOERR_NOT_LEADER") << shown(late);
  EXPECT_TRUE(late->connection_lost);
  EXPECT_EQ(run(*connected(*database), {read(1), write(2, 22)}), (Texts{"1=10", ""}));
  // The same node once more: it does not go on with the transaction of its first time.
  std::size_t leader = *second;
  for (int tries = 0; tries < 3 && leader != leaders.front(); ++tries) {
    const auto next = mine.failover();
    ASSERT_TRUE(next.ok()) << next.error().to_string();
    leader = *next;
  }
  ASSERT_EQ(leader, leaders.front());
  const auto stale = back_again->execute(read(2), reply);
  ASSERT_TRUE(stale) << shown(reply);
  EXPECT_EQ(stale->txn_outcome, TxnOutcome::kAborted) << shown(stale);
  EXPECT_TRUE(stale->connection_lost);
  EXPECT_EQ(run(*connected(*database), {read(1), read(2)}), (Texts{"1=10", "2=22"}));
}

// Sessions write while the leader hands over, and while the next one is killed: nothing that was
// aborted is there, and all that was committed is.
TEST(DqliteFailover, UnderLoad) {
  auto mine = started(3);
  const auto database = opened(mine.url());
  ASSERT_TRUE(database->prepare(Tables(kv_schema())).ok());
  Writers writers(4, [&]() -> std::unique_ptr<Connection> {
    auto made = database->connect(0);
    return made.ok() ? *std::move(made) : nullptr;
  });
  EXPECT_TRUE(writers.await_commits(50));
  const auto second = mine.failover();
  EXPECT_TRUE(second.ok()) << second.error().to_string();
  EXPECT_TRUE(writers.await_commits(50));
  if (second.ok()) mine.kill(*second);
  EXPECT_TRUE(writers.await_commits(50));
  const auto reported = writers.end();
  EXPECT_GT(writers.failures(), 0) << "nobody noticed";
  const auto reader = connected(*database);
  ASSERT_NE(reader, nullptr);
  for (const auto key : reported.aborted) {
    EXPECT_EQ(run(*reader, {read(key)})[0], "") << "was aborted";
  }
  for (const auto key : reported.committed) {
    EXPECT_EQ(run(*reader, {read(key)})[0], fmt::format("{}=1", key)) << "was committed";
  }
}

}  // namespace
}  // namespace cupel::drivers::testing
