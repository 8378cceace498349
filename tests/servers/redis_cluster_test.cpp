// The Redis driver on a Redis Cluster: the conformance suite, redirections while a slot moves,
// reads of replicas, and that what was said to be aborted is nowhere after a primary is replaced.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>
#include <thread>

#include "databases/drivers/redis/slots.hpp"
#include "databases/lab/loopback.hpp"
#include "databases/lab/server.hpp"
#include "drivers/conformance.hpp"
#include "servers/writers.hpp"
#include "support/polling.hpp"

namespace cupel::drivers::testing {
namespace {

using workload::kv_schema;
using workload::Reply;
using workload::Statement;
using Texts = std::vector<std::string>;

// Shared by all cases of this process that do not break it.
lab::Server& cluster() {
  static auto started = lab::start(lab::Kind::kRedisCluster, {.durable = false});
  if (!started.ok()) throw std::runtime_error(started.error().to_string());
  return *started;
}

Subject subject(const std::string& name, const std::string& options, const std::string& isolation) {
  return {.name = name,
          .open = [=] { return open(cluster().url() + options, {.isolation = isolation}); }};
}

INSTANTIATE_TEST_SUITE_P(RedisCluster, Conformance,
                         ::testing::Values(subject("Linearizable", "", ""),
                                           subject("OneSlot", "?slot=one", "serializable")),
                         subject_name);

std::unique_ptr<Connection> connected_to(Database& database, std::uint32_t host) {
  auto connection = database.connect_to_host(host);
  if (!connection.ok()) throw std::runtime_error(connection.error().message);
  return *std::move(connection);
}

std::string by_hand(const lab::Server& server, std::size_t node, const std::string& command) {
  return lab::ask("127.0.0.1", server.port(node), command + "\r\n", base::Seconds(10));
}
std::string id_of(const lab::Server& server, std::size_t node) {
  const auto answer = by_hand(server, node, "CLUSTER MYID");  // "$40", a line feed, the id
  return answer.substr(answer.find('\n') + 1, 40);
}
std::string key_text(std::int64_t key) {
  return fmt::format("cupel:{}:{}", kv_schema().tables[0].name, key);
}
// The node of the primaries that has the key.
std::size_t owner_of(const lab::Server& server, std::int64_t key) {
  for (const auto node : server.primaries()) {
    if (!by_hand(server, node, "GET " + key_text(key)).starts_with("-MOVED")) return node;
  }
  throw std::runtime_error("no primary has the key");
}

std::string error_of(const std::string& url, const std::string& isolation) {
  const auto database = open(url, {.isolation = isolation, .statement_timeout = 3});
  return database.ok() ? "" : database.error().message;
}

TEST(RedisClusterServer, KeysAreOnAllPrimariesOrInOneSlot) {
  const auto spread = opened(cluster().url());
  Tables tables(kv_schema());
  for (std::int64_t key = 1; key <= 30; ++key) tables.row(0, {key}, {key});
  ASSERT_TRUE(spread->prepare(tables).ok());
  std::set<std::size_t> owners;
  for (std::int64_t key = 1; key <= 30; ++key) {
    const auto owner = owner_of(cluster(), key);
    owners.insert(owner);
    EXPECT_EQ(by_hand(cluster(), owner, fmt::format("CLUSTER KEYSLOT {}", key_text(key))),
              fmt::format(":{}\r\n", redis::slot_of(key_text(key))));
  }
  EXPECT_EQ(owners.size(), 3U);
  EXPECT_EQ(spread->hosts(), (Texts{"primaries", "replicas"}));
  EXPECT_TRUE(spread->fails_over());
  EXPECT_EQ(spread->facts().product, "Redis Cluster");
  spread->clean();

  const auto together = opened(cluster().url() + "?slot=one", "serializable");
  ASSERT_TRUE(together->prepare(tables).ok());
  const auto connection = connected_to(*together, 0);
  EXPECT_EQ(run(*connection, {read(1), write(2, 22), read(30)}), (Texts{"1=1", "", "30=30"}));
  int sizes = 0;
  for (const auto node : cluster().primaries()) {
    sizes += by_hand(cluster(), node, "DBSIZE") == ":30\r\n" ? 1 : 0;
  }
  EXPECT_EQ(sizes, 1);
  together->clean();
}

TEST(RedisClusterServer, SaysWhatItCannot) {
  EXPECT_NE(error_of(cluster().url(), "serializable").find("?slot=one"), std::string::npos);
  EXPECT_NE(error_of(cluster().url() + "?slot=two", "").find("slot=two, expected one"),
            std::string::npos);
  EXPECT_NE(error_of(cluster().url() + "?sentinels=127.0.0.1&master=a", "").find("Sentinels"),
            std::string::npos);
  auto single = lab::start(lab::Kind::kRedis, {.durable = false});
  ASSERT_TRUE(single.ok());
  EXPECT_NE(error_of(single->url() + "?slot=one", "").find("no node of a cluster"),
            std::string::npos);
  // One node that answers is enough, whoever it is.
  const auto one = opened("redis://127.0.0.1:1,127.0.0.1:" + std::to_string(cluster().port(5)));
  EXPECT_EQ(one->hosts().size(), 2U);
}

// A slot moves from one primary to another: keys that are not there yet are asked for at the other
// one (-ASK), and all once it has moved (-MOVED).
TEST(RedisClusterServer, FollowsASlotThatMoves) {
  auto& server = cluster();
  const auto database = opened(server.url());
  constexpr std::int64_t kKey = 7;
  ASSERT_TRUE(database->prepare(Tables(kv_schema())).ok());
  const auto connection = connected_to(*database, 0);
  EXPECT_EQ(run(*connection, {read(kKey)}), Texts{""});
  const auto from = owner_of(server, kKey);
  const auto primaries = server.primaries();
  const auto to = primaries[0] == from ? primaries[1] : primaries[0];
  const auto slot = redis::slot_of(key_text(kKey));
  const auto set_slot = [&](std::size_t node, const std::string& how) {
    EXPECT_EQ(by_hand(server, node, fmt::format("CLUSTER SETSLOT {} {}", slot, how)), "+OK\r\n");
  };
  set_slot(to, "IMPORTING " + id_of(server, from));
  set_slot(from, "MIGRATING " + id_of(server, to));
  ASSERT_TRUE(by_hand(server, from, "GET " + key_text(kKey)).starts_with("-ASK"));
  EXPECT_EQ(run(*connection, {write(kKey, 1)}), Texts{""});
  EXPECT_EQ(run(*connection, {read(kKey)}), Texts{fmt::format("{}=1", kKey)});
  EXPECT_EQ(connection->node(), fmt::format("127.0.0.1:{}, primary", server.port(to)));
  EXPECT_EQ(run(*connection, {compare_and_set(kKey, 1, 2)}), Texts{""});
  EXPECT_EQ(run(*connection, {compare_and_set(kKey, 1, 3)}), Texts{"not set"});
  EXPECT_EQ(run(*connected_to(*database, 0), {read(kKey)}), Texts{fmt::format("{}=2", kKey)});
  set_slot(to, "NODE " + id_of(server, to));
  set_slot(from, "NODE " + id_of(server, to));
  ASSERT_TRUE(by_hand(server, from, "GET " + key_text(kKey)).starts_with("-MOVED"));
  EXPECT_EQ(run(*connection, {compare_and_set(kKey, 2, 4)}), Texts{""});
  EXPECT_EQ(run(*connection, {read(kKey)}), Texts{fmt::format("{}=4", kKey)});
}

TEST(RedisClusterServer, ReadsFromReplicas) {
  auto& server = cluster();
  const auto database = opened(server.url());
  Tables tables(kv_schema());
  for (std::int64_t key = 1; key <= 9; ++key) tables.row(0, {key}, {key});
  ASSERT_TRUE(database->prepare(tables).ok());
  const auto replicas = connected_to(*database, 1);
  const auto primaries = server.primaries();
  for (std::int64_t key = 1; key <= 9; ++key) {
    EXPECT_EQ(run(*replicas, {read(key)}), Texts{fmt::format("{0}={0}", key)});
    ASSERT_TRUE(replicas->node());
    EXPECT_NE(replicas->node()->find(", replica"), std::string::npos) << *replicas->node();
    for (const auto node : primaries) {
      EXPECT_EQ(replicas->node()->find(std::to_string(server.port(node))), std::string::npos);
    }
  }
  // It writes on the primary.
  EXPECT_EQ(run(*replicas, {write(1, 11)}), Texts{""});
  EXPECT_NE(replicas->node()->find(", primary"), std::string::npos) << *replicas->node();
  EXPECT_TRUE(test::poll_until([&] { return run(*replicas, {read(1)}) == Texts{"1=11"}; }));
}

TEST(RedisClusterFailover, NothingAbortedIsThere) {
  auto started = lab::start(lab::Kind::kRedisCluster, {.durable = false});
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  auto& server = *started;
  const auto database = opened(server.url());
  ASSERT_TRUE(database->prepare(Tables(kv_schema())).ok());
  Writers writers(6, [&]() -> std::unique_ptr<Connection> {
    auto made = database->connect(0);
    return made.ok() ? *std::move(made) : nullptr;
  });
  EXPECT_TRUE(writers.await_commits(100));
  const auto moved = server.failover();  // each shard's, in an orderly way
  EXPECT_TRUE(moved.ok()) << moved.error().to_string();
  EXPECT_TRUE(writers.await_commits(100));
  const auto victim = server.primaries().at(0);
  server.kill(victim);
  EXPECT_TRUE(writers.await_failure()) << "nobody noticed the crash";
  // Its replica takes over.
  EXPECT_TRUE(test::poll_until([&] { return server.primaries().size() == 3; }));
  EXPECT_TRUE(writers.await_commits(300));
  const auto reported = writers.end();
  const auto reader = connected_to(*database, 0);
  int there = 0;
  for (const auto key : reported.aborted) {
    EXPECT_EQ(run(*reader, {read(key)}), Texts{""}) << "was aborted";
  }
  for (const auto key : reported.committed) {
    there += run(*reader, {read(key)}) == Texts{""} ? 0 : 1;
  }
  EXPECT_FALSE(reported.aborted.empty());
  EXPECT_GE(there, 300);
}

}  // namespace
}  // namespace cupel::drivers::testing
