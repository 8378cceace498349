// Membership: a node leaves a real cluster by the product's own commands, the others no longer list
// it, and after its next start it is a member again with the data of the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "databases/lab/loopback.hpp"
#include "databases/lab/server.hpp"
#include "servers/one_statement.hpp"
#include "source_dir.hpp"
#include "support/polling.hpp"

namespace cupel::lab {
namespace {

using base::Seconds;
using Json = nlohmann::json;
using Nodes = std::vector<std::size_t>;

std::string in_redis(const Server& server, std::size_t node, const std::string& command) {
  return ask("127.0.0.1", server.port(node), command + "\r\n", Seconds(10));
}

std::string in_etcd(const Server& server, std::size_t node, const std::string& path,
                    const std::string& body) {
  return ask_until("127.0.0.1", server.port(node),
                   "POST /v3/kv/" + path + " HTTP/1.0\r\nContent-Length: " +
                       std::to_string(body.size()) + "\r\n\r\n" + body,
                   {}, Seconds(10));
}

// A command of ZooKeeper's own shell.
void in_zookeeper(const Server& server, std::size_t node, const std::vector<std::string>& command) {
  std::vector<std::string> arguments{
      "java",
      "-cp",
      "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar",
      "org.apache.zookeeper.ZooKeeperMain",
      "-server",
      "127.0.0.1:" + std::to_string(server.port(node))};
  arguments.insert(arguments.end(), command.begin(), command.end());
  auto process = base::Process::start({.arguments = std::move(arguments),
                                       .output = base::Stream::nothing(),
                                       .errors = base::Stream::nothing()});
  ASSERT_TRUE(process.ok()) << process.error().to_string();
  process->wait(Seconds(30));
}

// A request of a client of NATS, and its answer.
std::string in_nats(const Server& server, std::size_t node, const std::string& subject,
                    const std::string& body) {
  return ask_until("127.0.0.1", server.port(node),
                   "CONNECT {\"verbose\":false}\r\nSUB answer 1\r\nPUB " + subject + " answer " +
                       std::to_string(body.size()) + "\r\n" + body + "\r\n",
                   "}\r\n", Seconds(5));
}

// How many messages a node itself holds of the first stream; -1: it has none.
int messages_in_nats(const Server& server, std::size_t node) {
  const auto ports = Json::parse(server.to_json()).at("nodes").at(node).at("ports");
  const auto said =
      ask_until("127.0.0.1", ports.at(2).get<std::uint16_t>(),
                "GET /jsz?accounts=true&streams=true HTTP/1.0\r\n\r\n", {}, Seconds(5));
  const auto body = said.find("\r\n\r\n");
  if (body == std::string::npos) return -1;
  const auto all = Json::parse(said.substr(body));
  if (!all.contains("account_details")) return -1;
  for (const auto& account : all["account_details"]) {
    if (account.contains("stream_detail")) return account["stream_detail"][0]["state"]["messages"];
  }
  return -1;
}

bool lists(const Server& server, std::size_t node) {
  const auto all = server.members();
  return std::find(all.begin(), all.end(), node) != all.end();
}

// `write` writes one more value by another node, and `read` tells what the node itself holds.
void leaves_and_joins(Server& server, std::size_t node, const std::function<void()>& write,
                      const std::function<bool()>& holds_all) {
  const auto whole = server.members();
  ASSERT_EQ(whole.size(), server.nodes());
  write();
  const auto left = server.leave(node);
  ASSERT_TRUE(left.ok()) << left.error().to_string();
  EXPECT_EQ(server.members().size(), whole.size() - 1);
  EXPECT_FALSE(lists(server, node));
  EXPECT_FALSE(server.running(node));
  EXPECT_FALSE(server.leave(node).ok()) << "it left already";
  write();
  const auto joined = server.start_stopped(Nodes{node}, [] { return false; });
  ASSERT_TRUE(joined.ok()) << joined.error().to_string();
  EXPECT_TRUE(*joined);
  EXPECT_EQ(server.members(), whole);
  EXPECT_TRUE(server.running(node));
  EXPECT_TRUE(test::poll_until(holds_all));
}

Server started(Kind kind, std::uint32_t nodes) {
  auto server = start(kind, {.durable = false, .nodes = nodes});
  if (!server.ok()) throw std::runtime_error(server.error().to_string());
  return *std::move(server);
}

TEST(Membership, OfEtcd) {
  auto server = started(Kind::kEtcd, 3);
  for (int i = 0; i < 2; ++i) {
    const auto leaders = server.primaries();
    ASSERT_EQ(leaders.size(), 1U);
    // First a follower, and then the leader.
    const auto node = i == 0 ? (leaders[0] + 1) % 3 : leaders[0];
    const auto other = (leaders[0] + 2) % 3;
    int values = 0;
    leaves_and_joins(
        server, node,
        [&] {  // the key is a
          const auto value = values++ == 0 ? "MQ==" : "Mg==";
          const auto body = R"({"key":"YQ==","value":")" + std::string(value) + R"("})";
          // Without the leader, the others choose a new one first.
          EXPECT_TRUE(test::poll_until([&] {
            return in_etcd(server, other, "put", body).find("200 OK") != std::string::npos;
          }));
        },
        [&] {
          return in_etcd(server, node, "range", R"({"key":"YQ==","serializable":true})")
                     .find(R"("value":"Mg==")") != std::string::npos;
        });
  }
  // A crash of all is survived as before.
  server.kill();
  ASSERT_TRUE(server.restart().ok());
  EXPECT_EQ(server.members().size(), 3U);
}

TEST(Membership, OfRedisCluster) {
  auto server = started(Kind::kRedisCluster, 6);
  const auto size_of = [&](std::size_t node) { return in_redis(server, node, "DBSIZE"); };
  const auto write_everywhere = [&](const std::string& keys) {
    for (int i = 0; i < 30; ++i) {
      for (const auto node : server.primaries()) {
        in_redis(server, node, "SET " + keys + std::to_string(i) + " 1");
      }
    }
  };
  for (const std::size_t node : {std::size_t{5}, server.primaries().at(1)}) {
    leaves_and_joins(
        server, node, [&] { write_everywhere("k" + std::to_string(node)); },
        [&] {  // as much as its primary
          for (const auto primary : server.primaries()) {
            const auto port = std::to_string(server.port(primary));
            if (in_redis(server, node, "ROLE").find(port) == std::string::npos) continue;
            return size_of(primary) != ":0\r\n" && size_of(node) == size_of(primary);
          }
          return false;
        });
    EXPECT_EQ(server.primaries().size(), 3U);
  }
  // The replica of a primary that left leaves it without one, so the primary has to stay.
  const auto primaries = server.primaries();
  std::size_t replica = 0;
  while (std::find(primaries.begin(), primaries.end(), replica) != primaries.end()) ++replica;
  const auto role = in_redis(server, replica, "ROLE");
  const auto owner = std::find_if(primaries.begin(), primaries.end(), [&](std::size_t node) {
    return role.find(std::to_string(server.port(node))) != std::string::npos;
  });
  ASSERT_NE(owner, primaries.end());
  ASSERT_TRUE(server.leave(replica).ok());
  const auto refused = server.leave(*owner);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("no replica"), std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(lists(server, *owner));
  EXPECT_TRUE(server.running(*owner));
}

// A replica leaves, and gets what was written meanwhile. The primary cannot.
void replica_of_redis_leaves(Kind kind, std::uint32_t nodes) {
  auto server = started(kind, nodes);
  EXPECT_EQ(server.leavers().size(), nodes - 1);
  const auto primary = server.leave(0);
  ASSERT_FALSE(primary.ok());
  EXPECT_EQ(primary.error().message, "node 0 cannot leave now: it is the primary, or no member");
  int values = 0;
  leaves_and_joins(
      server, 1,
      [&] {
        const auto key = std::to_string(++values);
        EXPECT_EQ(in_redis(server, 0, "SET " + key + " 1"), "+OK\r\n");
      },
      [&] { return in_redis(server, 1, "DBSIZE") == ":2\r\n"; });
  // It can be the primary as before, and then leaves no more.
  const auto next = server.failover();
  ASSERT_TRUE(next.ok()) << next.error().to_string();
  EXPECT_EQ(in_redis(server, *next, "DBSIZE"), ":2\r\n");
  EXPECT_FALSE(server.leave(*next).ok());
}

TEST(Membership, OfRedisReplicas) {
  replica_of_redis_leaves(Kind::kRedisReplica, 2);
}

TEST(Membership, OfReplicasUnderSentinels) {
  replica_of_redis_leaves(Kind::kRedisSentinel, 3);
}

TEST(Membership, OfMariadbReplicas) {
  auto server = started(Kind::kMariadbReplica, 2);
  EXPECT_EQ(in_mariadb(server, 0, "CREATE TABLE t (a INT PRIMARY KEY)"), "done");
  EXPECT_EQ(server.leavers(), Nodes{1});
  EXPECT_FALSE(server.leave(0).ok());
  int values = 0;
  const auto write = [&] {
    EXPECT_EQ(in_mariadb(server, 0, "INSERT INTO t VALUES (" + std::to_string(++values) + ")"),
              "done");
  };
  const auto holds_all = [&] {
    return in_mariadb(server, 1, "SELECT count(*) FROM t") == std::to_string(values);
  };
  leaves_and_joins(server, 1, write, holds_all);
  // It follows the primary, also after a crash.
  write();
  EXPECT_TRUE(test::poll_until(holds_all));
  server.kill(1);
  write();
  ASSERT_TRUE(server.restart(1).ok());
  EXPECT_TRUE(test::poll_until(holds_all));
  EXPECT_EQ(in_mariadb(server, 1, "SHOW STATUS LIKE 'Slave_running'"), "ON");
}

TEST(Membership, OfMariadbIsRefusedIfCommitsWaitForTheOnlyReplica) {
  const auto server =
      start(Kind::kMariadbReplica, {.durable = false, .nodes = 2, .synchronous = true});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  EXPECT_NE(server->without_membership().find("commits wait for the only replica"),
            std::string::npos)
      << server->without_membership();
}

// First a follower, and then the leader.
TEST(Membership, OfDqlite) {
  auto server = started(Kind::kDqlite, 3);
  // By the demo's own table of keys, whose values the leader knows.
  const auto in_demo = [&](std::size_t node, const std::string& request) {
    const auto ports = Json::parse(server.to_json()).at("nodes").at(node).at("ports");
    return ask_until("127.0.0.1", ports.at(1).get<std::uint16_t>(), request, {}, Seconds(10));
  };
  const auto await_leader = [&] {
    EXPECT_TRUE(test::poll_until([&] { return server.primaries().size() == 1; }));
    return server.primaries().at(0);
  };
  int values = 0;
  for (int i = 0; i < 2; ++i) {
    const auto leader = await_leader();
    const auto node = i == 0 ? (leader + 1) % 3 : leader;
    const auto other = (leader + 2) % 3;
    leaves_and_joins(
        server, node,
        [&] {
          const auto key = "k" + std::to_string(++values);
          EXPECT_TRUE(test::poll_until([&] {
            return in_demo(other, "PUT /" + key + " HTTP/1.0\r\nContent-Length: 1\r\n\r\n1")
                       .find("done") != std::string::npos;
          }));
        },
        [] { return true; });
    // On a busy machine the nodes choose another leader by themselves, too.
    bool leads = await_leader() == node;
    std::string trouble;
    for (int tries = 0; tries < 20 && !leads; ++tries) {
      const auto next = server.failover();
      if (!next.ok()) trouble = next.error().to_string();
      leads = await_leader() == node;
    }
    ASSERT_TRUE(leads) << trouble;
    const auto said = in_demo(node, "GET /k" + std::to_string(values) + " HTTP/1.0\r\n\r\n");
    EXPECT_EQ(said.substr(said.find("\r\n\r\n") + 4, 1), "1") << said;
  }
}

TEST(Membership, OfPatroni) {
  auto server = started(Kind::kPatroni, 3);
  const auto primary = server.primaries().at(0);
  EXPECT_EQ(in_postgres(server, primary, "CREATE TABLE t (a INT PRIMARY KEY)"), "done");
  EXPECT_EQ(server.leavers().size(), 2U);
  EXPECT_FALSE(server.leave(primary).ok());
  const auto node = (primary + 1) % 3;
  int values = 0;
  leaves_and_joins(
      server, node,
      [&] {
        EXPECT_EQ(
            in_postgres(server, primary, "INSERT INTO t VALUES (" + std::to_string(++values) + ")"),
            "done");
      },
      [&] { return in_postgres(server, node, "SELECT count(*) FROM t") == "2"; });
  EXPECT_EQ(server.primaries(), Nodes{primary});
  // PostgreSQL was shut down in an orderly way, as Patroni does it.
  EXPECT_NE(server.log(node, 1000).find("database system is shut down"), std::string::npos);
}

// First one that leads nothing, and then the leader of the bucket.
TEST(Membership, OfNats) {
  auto server = started(Kind::kNats, 3);
  ASSERT_NE(in_nats(server, 0, "$JS.API.STREAM.CREATE.KV_test",
                    R"({"name":"KV_test","subjects":["test.*"],"num_replicas":3})")
                .find(R"("did_create":true)"),
            std::string::npos);
  int values = 0;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(test::poll_until([&] { return server.primaries().size() == 1; }));
    const auto leader = server.primaries().at(0);
    const auto node = i == 0 ? (leader + 1) % 3 : leader;
    const auto other = (leader + 2) % 3;
    leaves_and_joins(
        server, node,
        [&] {  // without the leader, the others choose a new one first
          const auto subject = "test." + std::to_string(++values);
          EXPECT_TRUE(test::poll_until([&] {
            return in_nats(server, other, subject, "x").find("\"seq\"") != std::string::npos;
          }));
        },
        [&] {
          const int held = messages_in_nats(server, node);
          return held >= values && held == messages_in_nats(server, other);
        });
  }
}

// First a follower, and then the leader.
TEST(Membership, OfZookeeper) {
  auto server = started(Kind::kZookeeper, 3);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(test::poll_until([&] { return server.primaries().size() == 1; }));
    const auto leader = server.primaries().at(0);
    const auto node = i == 0 ? (leader + 1) % 3 : leader;
    const auto other = (leader + 2) % 3;
    // How many znodes a server holds.
    const auto count_in = [&](std::size_t which) {
      const auto said = ask_until("127.0.0.1", server.port(which), "srvr", {}, Seconds(10));
      const auto at = said.find("Node count: ");
      return at == std::string::npos ? 0 : std::atoi(said.c_str() + at + 12);
    };
    int values = 0;
    leaves_and_joins(
        server, node,
        [&] {
          const auto before = count_in(other);
          const auto path = "/znode-" + std::to_string(i) + std::to_string(values++);
          EXPECT_TRUE(test::poll_until([&] {
            in_zookeeper(server, other, {"create", path});
            return count_in(other) == before + 1;
          }));
        },
        [&] { return count_in(node) > 4 && count_in(node) == count_in(other); });
  }
  // Who the members are survives a crash of all.
  ASSERT_TRUE(server.leave(1).ok());
  server.kill();
  const Nodes members{0, 2};
  const auto again = server.start_stopped(members, [] { return false; });
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_TRUE(test::poll_until([&] { return server.primaries().size() == 1; }));
  EXPECT_EQ(server.members(), members);
}

TEST(Membership, OfGalera) {
  auto server = started(Kind::kGalera, 3);
  EXPECT_EQ(in_mariadb(server, 0, "CREATE TABLE t (a INT PRIMARY KEY)"), "done");
  int values = 0;
  leaves_and_joins(
      server, 2,
      [&] {
        EXPECT_EQ(in_mariadb(server, 0, "INSERT INTO t VALUES (" + std::to_string(++values) + ")"),
                  "done");
      },
      [&] { return in_mariadb(server, 2, "SELECT count(*) FROM t") == "2"; });
}

TEST(Membership, OfPostgresStandbys) {
  auto server = started(Kind::kPostgresStandby, 2);
  EXPECT_EQ(in_postgres(server, 0, "CREATE TABLE t (a INT PRIMARY KEY)"), "done");
  EXPECT_EQ(server.leavers(), Nodes{1});
  const auto primary = server.leave(0);
  ASSERT_FALSE(primary.ok());
  EXPECT_EQ(primary.error().message, "node 0 cannot leave now: it is the primary, or no member");
  int values = 0;
  leaves_and_joins(
      server, 1,
      [&] {
        EXPECT_EQ(in_postgres(server, 0, "INSERT INTO t VALUES (" + std::to_string(++values) + ")"),
                  "done");
      },
      [&] { return in_postgres(server, 1, "SELECT count(*) FROM t") == "2"; });
}

TEST(Membership, OfAClusterOfYourOwn) {
  const auto kind = find_kind(std::string(CUPEL_SOURCE_DIR) + "/examples/own_cluster.json");
  ASSERT_TRUE(kind.ok()) << kind.error().to_string();
  auto server = started(*kind, 3);
  ASSERT_EQ(server.without_membership(), "");
  ASSERT_EQ(server.leavers().size(), 3U);
  const auto members = [&] {
    const auto list = ask_until("127.0.0.1", server.port(0),
                                "POST /v3/cluster/member/list HTTP/1.0\r\nContent-Length: 2\r\n\r\n"
                                "{}",
                                {}, Seconds(10));
    int count = 0;
    for (auto at = list.find("peerURLs"); at != std::string::npos;
         at = list.find("peerURLs", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(members(), 3);
  const auto left = server.leave(2);
  ASSERT_TRUE(left.ok()) << left.error().to_string();
  EXPECT_EQ(members(), 2);
  const auto joined = server.start_stopped(Nodes{2}, [] { return false; });
  ASSERT_TRUE(joined.ok()) << joined.error().to_string();
  EXPECT_EQ(members(), 3);
}

TEST(Membership, IsRefusedWithASentence) {
  auto redis = started(Kind::kRedis, 1);
  EXPECT_EQ(redis.without_membership(), "redis is one server, which no node can leave");
  EXPECT_FALSE(redis.leave(0).ok());
  EXPECT_TRUE(redis.running());
  const auto etcd = started(Kind::kEtcd, 1);
  EXPECT_EQ(etcd.without_membership(), "found 1 node, expected at least 2");
  const auto cluster = started(Kind::kRedisCluster, 3);
  EXPECT_NE(cluster.without_membership().find("no replicas"), std::string::npos);
}

}  // namespace
}  // namespace cupel::lab
