// Redis, etcd, ZooKeeper and NATS on real servers: the conformance suite one statement at a time
// and in blocks, what is said of wrong URLs and passwords, and what a failure means when a server
// refuses, is killed or stands still.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hiredis.h>

#include <chrono>
#include <csignal>
#include <map>
#include <thread>

#include "databases/lab/server.hpp"
#include "drivers/conformance.hpp"
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

constexpr auto kRedis = lab::Kind::kRedis;
constexpr auto kEtcd = lab::Kind::kEtcd;
constexpr auto kZookeeper = lab::Kind::kZookeeper;
constexpr auto kNats = lab::Kind::kNats;

// One server of a kind for all cases of this process.
lab::Server& server(lab::Kind kind) {
  static std::map<lab::Kind, lab::Server> servers;
  auto found = servers.find(kind);
  if (found == servers.end()) {
    auto started = lab::start(kind, {.durable = false, .nodes = 1});
    if (!started.ok()) throw std::runtime_error(started.error().to_string());
    found = servers.emplace(kind, *std::move(started)).first;
  }
  return found->second;
}

Subject subject(const std::string& name, lab::Kind kind, const std::string& isolation) {
  return {.name = name, .open = [=] { return open(server(kind).url(), {.isolation = isolation}); }};
}

INSTANTIATE_TEST_SUITE_P(Redis, Conformance,
                         ::testing::Values(subject("Linearizable", kRedis, ""),
                                           subject("Serializable", kRedis, "serializable")),
                         subject_name);
INSTANTIATE_TEST_SUITE_P(Etcd, Conformance,
                         ::testing::Values(subject("Linearizable", kEtcd, ""),
                                           subject("Serializable", kEtcd, "serializable")),
                         subject_name);

INSTANTIATE_TEST_SUITE_P(Zookeeper, Conformance,
                         ::testing::Values(subject("Linearizable", kZookeeper, ""),
                                           subject("Serializable", kZookeeper, "serializable")),
                         subject_name);

INSTANTIATE_TEST_SUITE_P(Nats, Conformance, ::testing::Values(subject("Linearizable", kNats, "")),
                         subject_name);

MaybeFailure issue(Connection& connection, const std::vector<Statement>& statements) {
  std::vector<Reply> replies;
  return connection.transact(statements, replies);
}

void expect_error(const std::string& url, std::initializer_list<const char*> parts) {
  const auto database = open(url, {.isolation = {}, .statement_timeout = 3});
  const auto message = database.ok() ? "nothing" : database.error().message;
  for (const auto* part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << url << ": " << message;
  }
  EXPECT_EQ(message.find("secret"), std::string::npos) << message;
}

// A command past the driver; its answer as text.
std::string by_hand(const lab::Server& redis, const std::vector<std::string>& words) {
  auto* context = redisConnect("127.0.0.1", redis.port());
  if (context == nullptr || context->err != 0) return "cannot connect";
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const auto& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  auto* reply = static_cast<redisReply*>(
      redisCommandArgv(context, static_cast<int>(texts.size()), texts.data(), sizes.data()));
  std::string text = reply == nullptr ? "nothing" : reply->str == nullptr ? "" : reply->str;
  freeReplyObject(reply);
  redisFree(context);
  return text;
}

// Blocks work out what is read after a write of the same key, and write each key
// once: what a store that runs one statement after the other would answer.
void blocks(lab::Kind kind) {
  const auto database = opened(server(kind).url(), "serializable");
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  const auto connection = connected(*database);
  EXPECT_EQ(
      run(*connection, {read(1), write(1, 11), read(1), compare_and_set(1, 11, 12), read(1),
                        compare_and_set(1, 11, 13), remove(1), read(1), insert(1, 14), read(1),
                        compare_and_set(3, workload::Datum(), 30), read(3), read(2)}),
      (Texts{"1=10", "", "1=11", "", "1=12", "not set", "", "", "", "1=14", "", "3=30", "2=20"}));
  EXPECT_EQ(run(*connected(*database), {read(1), read(2), read(3)}),
            (Texts{"1=14", "2=20", "3=30"}));
  // Failed comparisons only, and reads.
  EXPECT_EQ(run(*connection, {compare_and_set(1, 1, 2), read(2), compare_and_set(2, 1, 2)}),
            (Texts{"not set", "2=20", "not set"}));
}
TEST(RedisServer, BlocksAreOneAfterTheOther) {
  blocks(kRedis);
}
TEST(EtcdServer, BlocksAreOneAfterTheOther) {
  blocks(kEtcd);
}
TEST(ZookeeperServer, BlocksAreOneAfterTheOther) {
  blocks(kZookeeper);
}

// Money is moved between two keys by blocks that compare both: its sum never
// changes, whoever looks.
void transfers(lab::Kind kind) {
  const auto database = opened(server(kind).url(), "serializable");
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  std::vector<std::thread> threads;
  std::vector<std::string> problems(4);
  std::atomic<int> moved = 0;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const auto connection = connected(*database, t);
      for (int i = 0; i < 60 && problems[t].empty(); ++i) {
        std::vector<Reply> replies;
        const std::vector<Statement> look{read(1), read(2)};
        auto failure = connection->transact(look, replies);
        if (!failure) {
          const auto one = std::get<std::int64_t>(replies[0].rows.at(0).values.at(0));
          const auto two = std::get<std::int64_t>(replies[1].rows.at(0).values.at(0));
          if (one + two != 30) problems[t] = fmt::format("{} + {}", one, two);
          if (t == 0) continue;  // only looks
          const std::vector<Statement> move{compare_and_set(1, one, one - 1),
                                            compare_and_set(2, two, two + 1)};
          failure = connection->transact(move, replies);
          if (!failure && replies[0].succeeded != replies[1].succeeded) {
            // One of the two compared well: that half is done, and is undone again.
            // It cannot be, while both keys change together.
            problems[t] = "half a transfer";
          }
          if (!failure && replies[0].succeeded) ++moved;
        }
        if (failure &&
            (failure->cause != Cause::kConflict || failure->txn_outcome != TxnOutcome::kAborted)) {
          problems[t] = shown(failure);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& problem : problems) EXPECT_EQ(problem, "");
  EXPECT_GT(moved, 0);
  EXPECT_EQ(run(*connected(*database), {read(1), read(2)}),
            (Texts{fmt::format("1={}", 10 - moved), fmt::format("2={}", 20 + moved)}));
}
TEST(RedisServer, BlocksAreAtomic) {
  transfers(kRedis);
}
TEST(EtcdServer, BlocksAreAtomic) {
  transfers(kEtcd);
}

// What is not possible is refused before anything is sent.
void refusals(lab::Kind kind) {
  const auto database = opened(server(kind).url());
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  EXPECT_FALSE(database->can().multiple);
  const auto connection = connected(*database);
  Reply reply;
  for (const auto& outcome :
       {issue(*connection, {write(1, 11), write(2, 21)}), issue(*connection, {range(1, 2)}),
        issue(*connection, {write(1, 1, 9)}), connection->begin(),
        connection->execute(read(1), reply), connection->commit()}) {
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted) << shown(outcome);
    EXPECT_EQ(outcome->cause, Cause::kStatement) << shown(outcome);
    EXPECT_FALSE(outcome->connection_lost);
  }
  EXPECT_EQ(run(*connection, {read(1)}), (Texts{"1=10"}));
  // Tables that do not fit are named.
  const auto status = database->prepare(
      Tables({{{.name = "cupel_wide",
                .key = {{"k", ColumnType::kInteger}},
                .columns = {{"a", ColumnType::kInteger}, {"b", ColumnType::kInteger}}}}}));
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("cupel_wide"), std::string::npos);
}
TEST(RedisServer, SaysWhatItCannot) {
  refusals(kRedis);
}
TEST(EtcdServer, SaysWhatItCannot) {
  refusals(kEtcd);
}

// A server that is killed between two requests: both reads and writes are aborted, and what was
// acknowledged is there afterwards.
void killed(lab::Kind kind) {
  auto started = lab::start(kind, {});
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  auto& mine = *started;
  const auto database = opened(mine.url(), "serializable", 20);
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  const auto one = connected(*database);
  const auto two = connected(*database, 1);
  const auto three = connected(*database, 2);
  run(*two, {write(2, 22)});
  run(*one, {read(1)});
  run(*three, {read(1)});
  mine.kill();
  const auto looked = issue(*one, {read(1)});
  ASSERT_TRUE(looked);
  EXPECT_EQ(looked->txn_outcome, TxnOutcome::kAborted) << shown(looked);
  EXPECT_EQ(looked->cause, Cause::kConnection) << shown(looked);
  EXPECT_TRUE(looked->connection_lost);
  for (auto* connection : {two.get(), three.get()}) {
    const auto outcome =
        issue(*connection, {connection == two.get() ? write(2, 23) : compare_and_set(1, 10, 11)});
    ASSERT_TRUE(outcome);
    // The driver saw that the server had closed the connection, and sent nothing.
    EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted) << shown(outcome);
    EXPECT_EQ(outcome->cause, Cause::kConnection) << shown(outcome);
    EXPECT_TRUE(outcome->connection_lost);
    const auto again = issue(*connection, {write(2, 24)});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->txn_outcome, TxnOutcome::kAborted) << shown(again);
    EXPECT_TRUE(again->connection_lost);
  }
  const auto refused = database->connect(0);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("is the server running"), std::string::npos)
      << refused.error().message;
  ASSERT_TRUE(mine.restart().ok());
  EXPECT_EQ(run(*connected(*database), {read(1), read(2)}), (Texts{"1=10", "2=22"}));
}
TEST(RedisServer, Killed) {
  killed(kRedis);
}
TEST(EtcdServer, Killed) {
  killed(kEtcd);
}

// A server that stands still (SIGSTOP) answers nothing and closes nothing: what was
// sent to it may be done when it goes on, and is.
void stopped(lab::Kind kind) {
  auto started = lab::start(kind, {.durable = false});
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  auto& mine = *started;
  // What is not stopped must be done in this time too.
  const auto database = opened(mine.url(), "serializable", 3);
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  const auto one = connected(*database);
  const auto two = connected(*database, 1);
  const auto three = connected(*database, 2);
  for (auto* connection : {one.get(), two.get(), three.get()}) run(*connection, {read(1)});
  cupel::test::stand_still(mine.process());
  const auto began = Clock::now();
  const auto looked = issue(*one, {read(1)});
  const auto written = issue(*two, {write(2, 23)});
  const auto block = issue(*three, {write(3, 33), read(1), write(4, 44)});
  const auto refused = database->connect(0);
  const auto waited = Clock::now() - began;
  ::kill(mine.process(), SIGCONT);
  EXPECT_LT(waited, std::chrono::seconds(60));
  EXPECT_FALSE(refused.ok());
  for (const auto& outcome : {looked, written, block}) {
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->cause, Cause::kTimeout) << shown(outcome);
    EXPECT_TRUE(outcome->connection_lost);
  }
  EXPECT_EQ(looked->txn_outcome, TxnOutcome::kAborted) << shown(looked);
  EXPECT_EQ(written->txn_outcome, TxnOutcome::kUnknown) << shown(written);
  EXPECT_EQ(block->txn_outcome, TxnOutcome::kUnknown) << shown(block);
  Texts seen;
  // At most five seconds: a write that was lost on the way never shows.
  (void)cupel::test::poll_until(
      [&] {
        auto connection = database->connect(3);
        std::vector<Reply> replies;
        const std::vector<Statement> reads{read(1), read(2), read(3), read(4)};
        if (connection.ok() && !(*connection)->transact(reads, replies)) {
          seen.clear();
          for (const auto& reply : replies) seen.push_back(shown(reply));
        }
        return seen.size() == 4 && seen[1] == "2=23" && !seen[2].empty();
      },
      std::chrono::seconds(5));
  // A block is done or not, as a whole.
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_EQ(seen[0], "1=10");
  EXPECT_TRUE(seen[1] == "2=20" || seen[1] == "2=23") << seen[1];
  EXPECT_EQ(seen[2].empty(), seen[3].empty());
}
TEST(RedisServer, StandingStill) {
  stopped(kRedis);
}
TEST(EtcdServer, StandingStill) {
  stopped(kEtcd);
}

TEST(RedisServer, SaysWhatItIs) {
  const auto facts = opened(server(kRedis).url())->facts();
  EXPECT_EQ(facts.product, "Redis");
  EXPECT_GE(std::stoi(facts.version), 6);
  EXPECT_EQ(facts.isolation, "linearizable");
  EXPECT_EQ(facts.detail, "mode=standalone, appendonly=yes, replicas=0, appendfsync=no");
  EXPECT_EQ(opened(server(kRedis).url(), "serializable")->facts().isolation, "serializable");
}

TEST(EtcdServer, SaysWhatItIs) {
  const auto facts = opened(server(kEtcd).url())->facts();
  EXPECT_EQ(facts.product, "etcd");
  EXPECT_GE(std::stoi(facts.version), 3);
  EXPECT_EQ(facts.isolation, "linearizable");
  EXPECT_EQ(facts.detail, "members=1");
}

TEST(RedisServer, ErrorsSayWhatToDo) {
  const auto url = server(kRedis).url();
  expect_error("redis:", {"expected redis://"});
  expect_error(url + ",127.0.0.1:1", {"127.0.0.1:1", "is the server running"});
  expect_error(url + "?master=cupel", {"only one of the options sentinels and master"});
  expect_error(url + "?sentinels=127.0.0.1:x&master=cupel", {"expected redis://"});
  expect_error(url + "/x", {"number of a database"});
  expect_error(url + "/99", {"out of range"});
  expect_error(url + "?tls=1", {"`tls`", "Write sentinels, master and slot"});
  expect_error("redis://127.0.0.1:1", {"refused", "is the server running"});
  expect_error(fmt::format("redis://127.0.0.1:{}", server(kEtcd).port()),
               {"cannot connect", "is it a Redis server"});
  EXPECT_TRUE(open(url + "/1", {}).ok());
  auto started = lab::start(kRedis, {.server_options = {"requirepass=secret"}, .durable = false});
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  const auto guarded = fmt::format("127.0.0.1:{}", started->port());
  EXPECT_TRUE(open("redis://:secret@" + guarded, {}).ok());
  EXPECT_TRUE(open("redis://default:secret@" + guarded, {}).ok());
  expect_error("redis://" + guarded, {"NOAUTH", "redis://:PASSWORD@HOST"});
  expect_error("redis://:secretly-wrong@" + guarded, {"WRONGPASS", "check the user and password"});
}

TEST(EtcdServer, ErrorsSayWhatToDo) {
  const auto url = server(kEtcd).url();
  expect_error("etcd:", {"expected etcd://"});
  expect_error(url + "/x", {"expected etcd://"});
  expect_error("etcd://ann:secret@127.0.0.1", {"expected etcd://", "***"});
  expect_error(url + "?tls=1", {"`tls`", "takes none"});
  expect_error("etcd://127.0.0.1:1", {"127.0.0.1:1", "is the server running"});
  // Each host of the URL is asked.
  expect_error(url + ",127.0.0.1:1", {"127.0.0.1:1", "is the server running"});
  expect_error(fmt::format("etcd://127.0.0.1:{}", server(kRedis).port()), {"etcd"});
  const auto twice = opened(url + fmt::format(",127.0.0.1:{}", server(kEtcd).port()));
  ASSERT_TRUE(twice->prepare(two_rows()).ok());
  run(*connected(*twice, 0), {write(1, 11)});
  EXPECT_EQ(run(*connected(*twice, 1), {read(1)}), (Texts{"1=11"}));
}

TEST(ZookeeperServer, ErrorsSayWhatToDo) {
  const auto url = server(kZookeeper).url();
  expect_error("zookeeper:", {"expected zookeeper://"});
  expect_error(url + "/x", {"expected zookeeper://"});
  expect_error("zookeeper://ann:secret@127.0.0.1", {"expected zookeeper://", "***"});
  expect_error(url + "?tls=1", {"`tls`", "takes none"});
  expect_error(url + ",127.0.0.1:1", {"127.0.0.1:1", "is the server running"});
}

// A row that was deleted and made again is another one, though it holds the same: who looked before
// must not write.
TEST(ZookeeperServer, VersionsOutliveADelete) {
  const auto database = opened(server(kZookeeper).url(), "local");
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  const auto connection = connected(*database);
  EXPECT_EQ(run(*connection, {remove(1)}), (Texts{""}));
  EXPECT_EQ(run(*connection, {read(1)}), (Texts{""}));
  EXPECT_EQ(run(*connection, {insert(1, 10)}), (Texts{""}));
  EXPECT_EQ(run(*connection, {read(1)}), (Texts{"1=10"}));
  EXPECT_EQ(run(*connection, {remove(7)}), (Texts{""}));  // was never there
  EXPECT_EQ(run(*connection, {compare_and_set(1, 11, 12)}), (Texts{"not set"}));
}

TEST(NatsServer, ErrorsSayWhatToDo) {
  const auto url = server(kNats).url();
  expect_error("nats:", {"expected nats://"});
  expect_error(url + "/x", {"expected nats://"});
  expect_error("nats://ann:secret@127.0.0.1/x", {"expected nats://", "***"});
  expect_error(url + "?tls=1", {"`tls`", "Write replicas"});
  expect_error(url + "?replicas=9", {"replicas"});
  expect_error(url + ",127.0.0.1:1", {"127.0.0.1:1", "is the server running"});
  const auto database = opened(url + "?replicas=3");
  const auto prepared = database->prepare(two_rows());
  ASSERT_FALSE(prepared.ok());
  EXPECT_NE(prepared.error().message.find("with 3 replicas"), std::string::npos)
      << prepared.error().message;
}

// A publish that nobody acknowledges may have happened; what was not sent has not, nor has what
// the server gave to nobody.
TEST(NatsServer, Outcomes) {
  auto started = lab::start(kNats, {.durable = false, .nodes = 1});
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  const auto database = opened(started->url(), "", 1);
  EXPECT_EQ(database->facts().product, "NATS JetStream");
  EXPECT_GE(std::stoi(database->facts().version), 2);
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  const auto connection = connected(*database);
  EXPECT_EQ(run(*connection, {write(1, 11)}), (Texts{""}));
  const auto expect = [&](const Statement& statement, TxnOutcome outcome, Cause cause) {
    const auto failure = issue(*connection, {statement});
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->txn_outcome, outcome) << shown(failure);
    EXPECT_EQ(failure->cause, cause) << shown(failure);
  };
  started->pause(0);
  expect(write(1, 12), TxnOutcome::kUnknown, Cause::kTimeout);
  expect(read(1), TxnOutcome::kAborted, Cause::kTimeout);
  expect(compare_and_set(1, 11, 13), TxnOutcome::kAborted, Cause::kTimeout);  // its read
  started->resume(0);
  EXPECT_EQ(run(*connected(*database), {read(1)}), (Texts{"1=12"}));
  const auto local = opened(started->url(), "local");
  ASSERT_TRUE(local->prepare(two_rows()).ok());
  EXPECT_EQ(run(*connected(*local), {remove(1)}), (Texts{""}));
  EXPECT_EQ(run(*connected(*local), {read(1)}), (Texts{""}));
  EXPECT_EQ(run(*connected(*local), {read(2)}), (Texts{"2=20"}));
  database->clean();
  expect(write(1, 14), TxnOutcome::kAborted, Cause::kConnection);
  started->kill();
  expect(write(1, 15), TxnOutcome::kAborted, Cause::kConnection);
  EXPECT_FALSE(database->connect(0).ok());
}

// What Redis refuses has not happened: no memory, a replica, blocks with such a
// command in them.
TEST(RedisServer, RefusalsAreAborts) {
  auto started = lab::start(kRedis, {.durable = false});
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  const auto database = opened(started->url(), "serializable");
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  const auto connection = connected(*database);
  const auto expect_abort = [&](const std::vector<Statement>& statements, const char* code) {
    const auto outcome = issue(*connection, statements);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted) << shown(outcome);
    EXPECT_EQ(outcome->code, code) << shown(outcome);
    EXPECT_FALSE(outcome->connection_lost);
  };
  by_hand(*started, {"CONFIG", "SET", "maxmemory", "1"});
  expect_abort({write(1, 11)}, "OOM");
  expect_abort({read(2), write(1, 11), remove(2)}, "OOM");
  expect_abort({compare_and_set(1, 10, 11)}, "OOM");
  by_hand(*started, {"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(run(*connection, {read(1), read(2)}), (Texts{"1=10", "2=20"}));
  by_hand(*started, {"REPLICAOF", "127.0.0.1", "1"});
  expect_abort({write(1, 11)}, "READONLY");
  expect_abort({remove(2), write(1, 11)}, "READONLY");
  expect_error(started->url(), {"replica", "master, 127.0.0.1:1"});
  by_hand(*started, {"REPLICAOF", "NO", "ONE"});
  EXPECT_EQ(run(*connection, {read(1), read(2)}), (Texts{"1=10", "2=20"}));
  // A value that no one of us wrote: as it is, or a refusal.
  by_hand(*started, {"SET", "cupel:cupel_kv:1", "seven"});
  EXPECT_EQ(run(*connection, {read(1)}), (Texts{"1=\"seven\""}));
  by_hand(*started, {"DEL", "cupel:cupel_kv:1"});
  by_hand(*started, {"RPUSH", "cupel:cupel_kv:1", "7"});
  expect_abort({read(1)}, "WRONGTYPE");
  expect_abort({compare_and_set(1, 7, 8)}, "WRONGTYPE");
  // Redis undoes no block: what failed half way is no abort.
  const auto half = issue(*connection, {write(2, 21), read(1)});
  ASSERT_TRUE(half);
  EXPECT_EQ(half->txn_outcome, TxnOutcome::kUnknown) << shown(half);
  EXPECT_EQ(run(*connection, {read(2)}), (Texts{"2=21"}));
}

TEST(RedisServer, OnlyTheTablesKeysAreDropped) {
  auto& redis = server(kRedis);
  by_hand(redis, {"SET", "mine", "stays"});
  by_hand(redis, {"SET", "cupel:cupel_kvx:1", "stays"});
  const auto database = opened(redis.url());
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  database->clean();
  EXPECT_EQ(by_hand(redis, {"GET", "mine"}), "stays");
  EXPECT_EQ(by_hand(redis, {"GET", "cupel:cupel_kvx:1"}), "stays");
  EXPECT_EQ(by_hand(redis, {"GET", "cupel:cupel_kv:1"}), "");
}

// A txn of more operations than etcd takes is refused as a whole.
TEST(EtcdServer, ATxnTooLongIsAnAbort) {
  const auto database = opened(server(kEtcd).url(), "serializable");
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  const auto connection = connected(*database);
  std::vector<Statement> statements;
  for (int key = 0; key < 200; ++key) statements.push_back(write(key, 1));
  const auto outcome = issue(*connection, statements);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted) << shown(outcome);
  EXPECT_EQ(outcome->cause, Cause::kStatement) << shown(outcome);
  EXPECT_NE(outcome->message.find("too many operations"), std::string::npos) << shown(outcome);
  EXPECT_EQ(run(*connection, {read(1), read(2)}), (Texts{"1=10", "2=20"}));
}

// etcd lets a request in by the space that there is then, and looks again when it has applied it:
// if the space was exceeded meanwhile, it answers a write that it did with the error of one that it
// refused. With many at once some of them are.
TEST(EtcdServer, ExceededSpaceIsUnknown) {
  auto started =
      lab::start(kEtcd, {.server_options = {"quota-backend-bytes=4194304"}, .durable = false});
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  const auto database = opened(started->url());
  ASSERT_TRUE(database->prepare(Tables(kv_schema(ColumnType::kText))).ok());
  constexpr int kWriters = 64, kMostWrites = 200;
  std::vector<MaybeFailure> outcomes(kWriters);
  std::vector<int> keys(kWriters);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kWriters; ++t) {
      threads.emplace_back([&, t, connection = connected(*database)] {
        for (int i = 0; i < kMostWrites && !outcomes[t]; ++i) {
          keys[t] = t * kMostWrites + i;
          outcomes[t] = issue(*connection, {write(keys[t], std::string(20'000, 'x'))});
        }
      });
    }
  }
  const auto reader = connected(*database);
  int applied = 0;
  for (int t = 0; t < kWriters; ++t) {
    const auto& outcome = outcomes[t];
    ASSERT_TRUE(outcome);
    EXPECT_NE(outcome->message.find("space exceeded"), std::string::npos) << shown(outcome);
    EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kUnknown) << shown(outcome);
    EXPECT_FALSE(outcome->connection_lost);
    applied += run(*reader, {read(keys[t])})[0].empty() ? 0 : 1;
  }
  RecordProperty("applied", applied);
}

}  // namespace
}  // namespace cupel::drivers::testing
