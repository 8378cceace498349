// The test servers themselves: each kind starts, answers, keeps what it acknowledged
// through a crash, stops, and leaves no files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "base/process.hpp"
#include "databases/lab/kinds.hpp"
#include "databases/lab/log.hpp"
#include "databases/lab/loopback.hpp"
#include "databases/lab/programs.hpp"
#include "databases/lab/server.hpp"
#include "servers/one_statement.hpp"
#include "source_dir.hpp"
#include "support/polling.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::lab {
namespace {

using base::Seconds;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return Seconds(std::chrono::steady_clock::now() - start).count();
}

std::string in_redis(const Server& server, const std::string& command, std::size_t node = 0) {
  return ask("127.0.0.1", server.port(node), command + "\r\n", Seconds(10));
}

std::string in_etcd(const Server& server, const std::string& path, const std::string& body) {
  return ask("127.0.0.1", server.port(),
             "POST " + path + " HTTP/1.0\r\nContent-Length: " + std::to_string(body.size()) +
                 "\r\n\r\n" + body,
             Seconds(10));
}

// Whether a process has this text in its command line.
bool some_process_mentions(const std::string& text) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    if (std::atoi(entry.path().filename().c_str()) <= 0) continue;
    std::ostringstream line;
    line << std::ifstream(entry.path() / "cmdline").rdbuf();
    if (line.str().find(text) != std::string::npos) return true;
  }
  return false;
}

// The shared memory segment that the PostgreSQL under `directory` holds, as its
// postmaster.pid names it; -1 when there is no such file. Other tests' servers
// come and go meanwhile, so that their number would say nothing.
int segment_of(const std::string& directory) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.path().filename() != "postmaster.pid") continue;
    std::ifstream in(entry.path());
    std::string line;
    for (int i = 0; i < 7; ++i) std::getline(in, line);
    std::istringstream fields(line);
    unsigned long key = 0;
    int id = -1;
    return fields >> key >> id ? id : -1;
  }
  return -1;
}

bool segment_exists(int id) {
  std::ifstream in("/proc/sysvipc/shm");
  std::string line;
  std::getline(in, line);  // the header
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    long key = 0;
    int segment = -1;
    if (fields >> key >> segment && segment == id) return true;
  }
  return false;
}

// The files of shared memory that a process of PostgreSQL maps.
std::set<std::string> shared_files_of(int process) {
  std::set<std::string> files;
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (const auto at = line.find("/dev/shm/"); at != std::string::npos) {
      files.insert(line.substr(at));
    }
  }
  return files;
}

// Asks until this is the answer, for as long as a busy machine may need; gives the last.
template <class Ask>
std::string in_time(const std::string& expected, const Ask& ask) {
  std::string answer;
  (void)cupel::test::poll_until([&] { return (answer = ask()) == expected; });
  return answer;
}

void expect_nothing_left(const std::string& directory, std::uint16_t port) {
  EXPECT_FALSE(std::filesystem::exists(directory));
  EXPECT_FALSE(some_process_mentions(directory));
  EXPECT_EQ(ask("127.0.0.1", port, "PING\r\n", Seconds(1)), "");
}

TEST(Lab, Postgres) {
  const auto began = std::chrono::steady_clock::now();
  auto server = start(Kind::kPostgres, {.server_options = {"deadlock_timeout=123ms"}});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  RecordProperty("seconds_to_start", std::to_string(seconds_since(began)));
  const auto port = std::to_string(server->port());
  EXPECT_EQ(server->url(), "postgres://cupel@127.0.0.1:" + port + "/cupel");
  EXPECT_EQ(server->guarded_url(), "postgres://guarded:secret@127.0.0.1:" + port + "/cupel");
  EXPECT_EQ(in_postgres(*server, 0, "SHOW deadlock_timeout"), "123ms");  // ours is 20ms
  EXPECT_EQ(in_postgres(*server, 0, "SHOW fsync"), "on");
  EXPECT_EQ(in_postgres(*server, 0, "SELECT current_user", "user=guarded password=secret"),
            "guarded");
  EXPECT_NE(in_postgres(*server, 0, "SELECT 1", "user=guarded password=wrong")
                .find("password authentication failed"),
            std::string::npos);
  EXPECT_EQ(in_postgres(*server, 0, "CREATE TABLE t (a int)"), "done");
  EXPECT_EQ(in_postgres(*server, 0, "INSERT INTO t VALUES (7)"), "done");
  const auto first_segment = segment_of(server->directory());
  EXPECT_TRUE(segment_exists(first_segment));
  server->kill();
  EXPECT_FALSE(server->running());
  EXPECT_FALSE(some_process_mentions(server->directory()));
  EXPECT_EQ(in_postgres(*server, 0, "SELECT 1").substr(0, 6), "error:");
  const auto restarted = server->restart();
  ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
  EXPECT_EQ(in_postgres(*server, 0, "SELECT a FROM t"), "7");
  // Stopped after another crash: the shared memory of the dead server goes too.
  const auto second_segment = segment_of(server->directory());
  EXPECT_TRUE(segment_exists(second_segment));
  const auto shared_files = shared_files_of(server->process());
  EXPECT_FALSE(shared_files.empty());
  server->kill();
  for (const auto& file : shared_files) EXPECT_FALSE(std::filesystem::exists(file)) << file;
  const auto directory = server->directory();
  server->stop();
  server->stop();
  expect_nothing_left(directory, server->port());
  EXPECT_FALSE(segment_exists(first_segment));
  EXPECT_FALSE(segment_exists(second_segment));
}

// PostgreSQL forks for each connection, and does not start while a process of an
// earlier start lives: a crash must also end those that are just being made.
TEST(Lab, ACrashEndsConnectionsThatAreBeingMade) {
  auto server = start(Kind::kPostgres, {.durable = false});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  std::atomic<bool> stop = false;
  std::atomic<int> answered = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 6; ++i) {
    clients.emplace_back([&] {
      while (!stop) {
        if (in_postgres(*server, 0, "SELECT 1") != "1") continue;
        ++answered;
        answered.notify_one();
      }
    });
  }
  for (int crash = 0; crash < 8; ++crash) {
    // In the middle of what the clients do.
    const int before = answered;
    for (int now = before; now < before + 10; now = answered) answered.wait(now);
    server->kill();
    EXPECT_FALSE(some_process_mentions(server->directory()));
    EXPECT_EQ(segment_of(server->directory()), -1) << "what a process still held is not cleared";
    const auto restarted = server->restart();
    EXPECT_TRUE(restarted.ok()) << restarted.error().to_string();
    if (!restarted.ok()) break;
  }
  stop = true;
  for (auto& client : clients) client.join();
}

TEST(Lab, PostgresThatIsNotDurableStillSurvivesACrash) {
  std::string directory;
  std::uint16_t port = 0;
  {
    auto server = start(Kind::kPostgres, {.durable = false});
    ASSERT_TRUE(server.ok()) << server.error().to_string();
    directory = server->directory();
    port = server->port();
    EXPECT_EQ(in_postgres(*server, 0, "SHOW fsync"), "off");
    EXPECT_EQ(in_postgres(*server, 0, "CREATE TABLE t AS SELECT 7 AS a"), "done");
    const auto restarted = server->restart();  // kills it
    ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
    EXPECT_EQ(in_postgres(*server, 0, "SELECT a FROM t"), "7");
  }
  expect_nothing_left(directory, port);
}

TEST(Lab, Mariadb) {
  const auto began = std::chrono::steady_clock::now();
  auto server = start(Kind::kMariadb, {.server_options = {"innodb_snapshot_isolation=ON"}});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  RecordProperty("seconds_to_start", std::to_string(seconds_since(began)));
  EXPECT_EQ(server->url(), "mysql://cupel@127.0.0.1:" + std::to_string(server->port()) + "/cupel");
  EXPECT_EQ(in_mariadb(*server, 0, "SELECT @@innodb_snapshot_isolation"), "1");
  EXPECT_EQ(in_mariadb(*server, 0, "SELECT @@innodb_flush_log_at_trx_commit"), "1");
  EXPECT_EQ(in_mariadb(*server, 0, "SELECT user()", "guarded", "secret"), "guarded@127.0.0.1");
  EXPECT_NE(in_mariadb(*server, 0, "SELECT 1", "guarded", "wrong").find("Access denied"),
            std::string::npos);
  EXPECT_EQ(in_mariadb(*server, 0, "CREATE TABLE t (a int PRIMARY KEY)"), "done");
  EXPECT_EQ(in_mariadb(*server, 0, "INSERT INTO t VALUES (7)"), "done");
  server->kill();
  EXPECT_EQ(in_mariadb(*server, 0, "SELECT 1").substr(0, 6), "error:");
  const auto restarted = server->restart();
  ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
  EXPECT_EQ(in_mariadb(*server, 0, "SELECT a FROM t"), "7");
  const auto directory = server->directory();
  server->stop();
  expect_nothing_left(directory, server->port());
}

TEST(Lab, Galera) {
  const auto began = std::chrono::steady_clock::now();
  auto server = start(Kind::kGalera, {.durable = false});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  RecordProperty("seconds_to_start", std::to_string(seconds_since(began)));
  ASSERT_EQ(server->nodes(), 3u);
  const auto size = "SHOW STATUS LIKE 'wsrep_cluster_size'";
  EXPECT_EQ(in_mariadb(*server, 0, "CREATE TABLE t (a int PRIMARY KEY)"), "done");
  EXPECT_EQ(in_mariadb(*server, 1, "INSERT INTO t VALUES (7)"), "done");
  for (std::size_t node = 0; node < 3; ++node) {
    EXPECT_EQ(in_time("3", [&] { return in_mariadb(*server, node, size); }), "3");
    EXPECT_EQ(in_mariadb(*server, node, "SET STATEMENT wsrep_sync_wait=1 FOR SELECT a FROM t"),
              "7");
    EXPECT_EQ(server->url(node),
              "mysql://cupel@127.0.0.1:" + std::to_string(server->port(node)) + "/cupel");
  }
  // One node crashes; the others go on; it comes back and learns what it missed.
  server->kill(2);
  EXPECT_FALSE(server->running(2));
  EXPECT_TRUE(server->running(0));
  EXPECT_EQ(in_time("done",  // until they see that it is gone
                    [&] { return in_mariadb(*server, 0, "INSERT INTO t VALUES (8)"); }),
            "done");
  auto restarted = server->restart(2);
  ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
  EXPECT_EQ(in_mariadb(*server, 2, "SET STATEMENT wsrep_sync_wait=1 FOR SELECT max(a) FROM t"),
            "8");
  EXPECT_EQ(in_time("3", [&] { return in_mariadb(*server, 2, size); }), "3");
  // All of them at once.
  restarted = server->restart();
  ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
  for (std::size_t node = 0; node < 3; ++node) {
    EXPECT_EQ(in_time("3", [&] { return in_mariadb(*server, node, size); }), "3");
    EXPECT_EQ(in_mariadb(*server, node, "SET STATEMENT wsrep_sync_wait=1 FOR SELECT sum(a) FROM t"),
              "15");
  }
  const auto directory = server->directory();
  server->stop();
  expect_nothing_left(directory, server->port(0));
  expect_nothing_left(directory, server->port(2));
}

TEST(Lab, PostgresStandby) {
  auto server = start(Kind::kPostgresStandby, {.durable = false, .nodes = 3, .synchronous = true});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  ASSERT_EQ(server->nodes(), 3u);
  const auto at = [&](std::size_t node, const std::string& sql) {
    return in_postgres(*server, node, sql);
  };
  EXPECT_EQ(at(0, "SELECT pg_is_in_recovery()"), "f");
  EXPECT_EQ(at(0, "SHOW synchronous_standby_names"), "*");
  EXPECT_EQ(at(0, "CREATE TABLE t AS SELECT 7 AS a"), "done");
  for (const std::size_t standby : {1U, 2U}) {
    EXPECT_EQ(at(standby, "SELECT pg_is_in_recovery()"), "t");
    EXPECT_EQ(in_time("7", [&] { return at(standby, "SELECT a FROM t"); }), "7");
    EXPECT_NE(at(standby, "INSERT INTO t VALUES (8)").find("read-only"), std::string::npos);
  }
  // A standby comes back, and then the primary.
  server->kill(1);
  EXPECT_EQ(at(0, "INSERT INTO t VALUES (8)"), "done");
  auto restarted = server->restart(1);
  ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
  EXPECT_EQ(in_time("15", [&] { return at(1, "SELECT sum(a) FROM t"); }), "15");
  restarted = server->restart(0);
  ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
  EXPECT_EQ(in_time("done", [&] { return at(0, "INSERT INTO t VALUES (9)"); }), "done");
  EXPECT_EQ(in_time("24", [&] { return at(2, "SELECT sum(a) FROM t"); }), "24");
  // Another takes its place, and it becomes a standby; node 2 was away meanwhile.
  EXPECT_EQ(server->primaries(), std::vector<std::size_t>{0});
  server->kill(2);
  const auto primary = server->failover();
  ASSERT_TRUE(primary.ok()) << primary.error().to_string();
  EXPECT_EQ(*primary, 1U);
  EXPECT_FALSE(server->running(0));
  // A failover that did not get further than its promotion: the promoted node stays the primary.
  std::ofstream(server->directory() + "/primary") << "0 1\n";
  restarted = server->restart(1);
  ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
  EXPECT_EQ(at(1, "SELECT pg_is_in_recovery()"), "f");
  for (const std::size_t standby : {0U, 2U}) {
    restarted = server->restart(standby);
    ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
    EXPECT_EQ(at(standby, "SELECT pg_is_in_recovery()"), "t");
  }
  EXPECT_EQ(server->primaries(), std::vector<std::size_t>{1});
  // What only the old primary had is still somewhere.
  EXPECT_TRUE(std::filesystem::exists(server->directory() + "/postgres-standby-0.before/base"));
  EXPECT_EQ(at(1, "INSERT INTO t VALUES (10)"), "done");
  for (const std::size_t standby : {0U, 2U}) {
    EXPECT_EQ(in_time("34", [&] { return at(standby, "SELECT sum(a) FROM t"); }), "34");
  }
  const auto directory = server->directory();
  server->stop();
  for (const std::size_t node : {0U, 1U, 2U}) expect_nothing_left(directory, server->port(node));
}

TEST(Lab, MariadbReplica) {
  auto server = start(Kind::kMariadbReplica, {.durable = false, .synchronous = true});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  ASSERT_EQ(server->nodes(), 2u);
  const auto read = [&] { return in_mariadb(*server, 1, "SELECT max(a) FROM t"); };
  EXPECT_EQ(in_mariadb(*server, 1, "SELECT @@read_only"), "1");
  EXPECT_NE(in_mariadb(*server, 1, "CREATE TABLE u (a int)").find("read-only"), std::string::npos);
  EXPECT_EQ(in_mariadb(*server, 0, "SHOW STATUS LIKE 'Rpl_semi_sync_master_status'"), "ON");
  EXPECT_EQ(in_mariadb(*server, 0, "CREATE TABLE t (a int PRIMARY KEY)"), "done");
  EXPECT_EQ(in_mariadb(*server, 0, "INSERT INTO t VALUES (7)"), "done");
  EXPECT_EQ(in_time("7", read), "7");
  // The replica crashes, and then the primary.
  auto restarted = server->restart(1);
  ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
  EXPECT_EQ(in_mariadb(*server, 0, "INSERT INTO t VALUES (8)"), "done");
  EXPECT_EQ(in_time("8", read), "8");
  restarted = server->restart(0);
  ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
  EXPECT_EQ(in_mariadb(*server, 0, "INSERT INTO t VALUES (9)"), "done");
  EXPECT_EQ(in_time("9", read), "9");
}

TEST(Lab, EtcdOfThreeNodesOutlivesOne) {
  auto server = start(Kind::kEtcd, {.durable = false, .nodes = 3});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  ASSERT_EQ(server->nodes(), 3u);
  const auto put = [&](const std::string& value) {
    return in_etcd(*server, "/v3/kv/put", R"({"key":"YQ==","value":")" + value + "\"}");
  };
  EXPECT_NE(put("Nw==").find("200 OK"), std::string::npos);
  const auto leaders = server->primaries();
  const auto next = server->failover();
  ASSERT_TRUE(next.ok()) << next.error().to_string();
  EXPECT_NE(leaders, std::vector<std::size_t>{*next});
  EXPECT_EQ(server->primaries(), std::vector<std::size_t>{*next});
  server->kill(2);
  EXPECT_TRUE(cupel::test::poll_until(
      [&] { return put("OA==").find("200 OK") != std::string::npos; }));  // a new leader
  const auto restarted = server->restart(2);
  ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
  const auto directory = server->directory();
  server->stop();
  expect_nothing_left(directory, server->port(0));
}

// Neither answers before both run, since one of three is no majority.
TEST(Lab, NodesStartTogetherAndMayBeWaitedForLater) {
  auto server = start(Kind::kEtcd, {.durable = false, .nodes = 3});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  server->kill(0);
  server->shut_down(1);
  server->resume(0);
  EXPECT_FALSE(server->running(0) || server->running(1));
  EXPECT_FALSE(server->answers(0));
  const std::vector<std::size_t> stopped{0, 1};
  const auto early = server->start_stopped(stopped, [] { return true; });
  ASSERT_TRUE(early.ok()) << early.error().to_string();
  EXPECT_FALSE(*early);
  EXPECT_TRUE(server->running(0) && server->running(1));
  const auto later = server->start_stopped(stopped, [] { return false; });
  ASSERT_TRUE(later.ok()) << later.error().to_string();
  EXPECT_TRUE(*later);
  for (std::size_t node = 0; node < 3; ++node) EXPECT_TRUE(server->answers(node));
}

TEST(Lab, EveryKindHasItsOwnDescription) {
  for (const auto kind : all_kinds()) {
    EXPECT_EQ(*find_kind(std::string(name(kind))), kind) << name(kind);
    EXPECT_FALSE(summary(kind).empty()) << name(kind);
  }
  EXPECT_EQ(name(Kind::kPostgres), "postgres");
  EXPECT_EQ(name(Kind::kGalera), "galera");
  EXPECT_EQ(name(Kind::kEtcd), "etcd");
}

TEST(Lab, OneServerHasNoFailover) {
  auto server = start(Kind::kRedis, {.durable = false});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  const auto primary = server->failover();
  ASSERT_FALSE(primary.ok());
  EXPECT_EQ(primary.error().message, "redis has no failover that could be asked for");
}

TEST(Lab, NoKindStartsMoreNodesThanItHas) {
  const auto redis = start(Kind::kRedis, {.nodes = 2});
  ASSERT_FALSE(redis.ok());
  EXPECT_EQ(redis.error().message, "found 2 nodes, but redis has 1 to 1");
}

TEST(Lab, Redis) {
  auto server = start(Kind::kRedis, {});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  EXPECT_EQ(server->url(), "redis://127.0.0.1:" + std::to_string(server->port()));
  EXPECT_EQ(in_redis(*server, "SET a 7"), "+OK\r\n");
  server->kill();
  EXPECT_EQ(in_redis(*server, "GET a"), "");
  const auto restarted = server->restart();
  ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
  EXPECT_EQ(in_redis(*server, "GET a"), "$1\r\n7\r\n");
  const auto directory = server->directory();
  server->stop();
  expect_nothing_left(directory, server->port());
}

TEST(Lab, RedisReplica) {
  auto server = start(Kind::kRedisReplica, {.durable = false});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  ASSERT_EQ(server->nodes(), 2u);
  EXPECT_EQ(server->primaries(), std::vector<std::size_t>{0});
  EXPECT_EQ(in_redis(*server, "SET a 7"), "+OK\r\n");
  const auto read = [&] { return in_redis(*server, "GET a", 1); };
  EXPECT_EQ(in_time("$1\r\n7\r\n", read), "$1\r\n7\r\n");
  EXPECT_EQ(in_redis(*server, "SET a 8", 1).substr(0, 9), "-READONLY");
  const auto primary = server->failover();
  ASSERT_TRUE(primary.ok()) << primary.error().to_string();
  EXPECT_EQ(*primary, 1U);
  // Who is what outlives a crash.
  server->kill();
  EXPECT_FALSE(server->failover().ok());
  const auto restarted = server->restart();
  ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
  EXPECT_EQ(server->primaries(), std::vector<std::size_t>{1});
  EXPECT_EQ(in_redis(*server, "SET a 9", 1), "+OK\r\n");
  EXPECT_FALSE(start(Kind::kRedisReplica, {.server_options = {"requirepass=secret"}}).ok());
}

// The port of a node's Sentinel, from the URL.
std::uint16_t sentinel_port(const Server& server, std::size_t node) {
  const auto url = server.url(node);
  const auto colon = url.find(':', url.find("?sentinels="));
  return static_cast<std::uint16_t>(std::atoi(url.c_str() + colon + 1));
}

TEST(Lab, SentinelsReplaceAPrimaryThatCrashed) {
  auto server = start(Kind::kRedisSentinel, {.durable = false});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  ASSERT_EQ(server->nodes(), 3u);
  EXPECT_EQ(server->primaries(), std::vector<std::size_t>{0});
  EXPECT_EQ(in_redis(*server, "SET a 7"), "+OK\r\n");
  const auto sentinel_answers = [&](std::size_t node) {
    return ask("127.0.0.1", sentinel_port(*server, node), "PING\r\n", Seconds(1));
  };
  EXPECT_EQ(sentinel_answers(0), "+PONG\r\n");
  server->kill(0);
  EXPECT_EQ(sentinel_answers(0), "");  // it was on the same host
  EXPECT_EQ(sentinel_answers(1), "+PONG\r\n");
  std::vector<std::size_t> primaries;
  EXPECT_TRUE(cupel::test::poll_until([&] {
    primaries = server->primaries();
    return !primaries.empty();
  }));
  ASSERT_EQ(primaries.size(), 1U);
  EXPECT_EQ(in_redis(*server, "GET a", primaries[0]), "$1\r\n7\r\n");
  const auto restarted = server->restart(0);
  ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
  EXPECT_TRUE(cupel::test::poll_until([&] { return !sentinel_answers(0).empty(); }));
  const auto directory = server->directory();
  std::vector<std::uint16_t> ports;
  for (std::size_t node = 0; node < 3; ++node) {
    ports.push_back(server->port(node));
    ports.push_back(sentinel_port(*server, node));
  }
  server->stop();
  for (const auto port : ports) expect_nothing_left(directory, port);
}

TEST(Lab, RedisCluster) {
  auto server = start(Kind::kRedisCluster, {.durable = false});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  ASSERT_EQ(server->nodes(), 6u);
  const auto primaries = server->primaries();
  EXPECT_EQ(primaries, (std::vector<std::size_t>{0, 1, 2}));
  // The key is on one of them; a replica and the other primaries say where.
  std::size_t owner = 0;
  for (const auto node : primaries) {
    if (in_redis(*server, "SET a 7", node) == "+OK\r\n") owner = node;
  }
  const auto port = ":" + std::to_string(server->port(owner));
  for (std::size_t node = 0; node < 6; ++node) {
    if (node == owner) continue;
    const auto answer = in_redis(*server, "SET a 8", node);
    EXPECT_NE(answer.find(port), std::string::npos) << answer;
  }
  const auto primary = server->failover();
  ASSERT_TRUE(primary.ok()) << primary.error().to_string();
  EXPECT_EQ(server->primaries(), (std::vector<std::size_t>{3, 4, 5}));
  // A replica takes over from one that crashed, and keeps its part when that one is back.
  server->kill(4);
  EXPECT_TRUE(cupel::test::poll_until([&] { return server->primaries().size() == 3; }));
  const auto now = server->primaries();
  EXPECT_EQ(std::count(now.begin(), now.end(), 4u), 0);
  ASSERT_TRUE(server->restart(4).ok());
  EXPECT_EQ(server->primaries(), now);
  const auto directory = server->directory();
  server->stop();
  expect_nothing_left(directory, server->port());
}

TEST(Lab, RedisClusterHasThreePrimariesOrMore) {
  for (const std::uint32_t nodes : {4, 5}) {
    const auto server = start(Kind::kRedisCluster, {.nodes = nodes});
    ASSERT_FALSE(server.ok());
    EXPECT_EQ(server.error().message,
              "found " + std::to_string(nodes) +
                  " nodes, expected 3 without replicas, or from 6 on: redis-cluster needs three "
                  "primaries, and gives each a replica");
  }
  auto without = start(Kind::kRedisCluster, {.durable = false, .nodes = 3});
  ASSERT_TRUE(without.ok()) << without.error().to_string();
  EXPECT_EQ(without->primaries().size(), 3U);
  EXPECT_FALSE(without->failover().ok());
}

TEST(Lab, RedisWithAPassword) {
  auto server = start(Kind::kRedis, {.server_options = {"requirepass=secret"}});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  EXPECT_EQ(in_redis(*server, "GET a").substr(0, 7), "-NOAUTH");
  EXPECT_EQ(in_redis(*server, "AUTH wrong").substr(0, 10), "-WRONGPASS");
  EXPECT_EQ(in_redis(*server, "AUTH secret"), "+OK\r\n");
}

TEST(Lab, Etcd) {
  auto server = start(Kind::kEtcd, {});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  EXPECT_EQ(server->url(), "etcd://127.0.0.1:" + std::to_string(server->port()));
  // Keys and values are base64: a, 7.
  EXPECT_NE(in_etcd(*server, "/v3/kv/put", R"({"key":"YQ==","value":"Nw=="})").find("200 OK"),
            std::string::npos);
  server->kill();
  EXPECT_EQ(in_etcd(*server, "/v3/kv/range", R"({"key":"YQ=="})"), "");
  const auto restarted = server->restart();
  ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
  EXPECT_NE(in_etcd(*server, "/v3/kv/range", R"({"key":"YQ=="})").find(R"("value":"Nw==")"),
            std::string::npos);
  const auto directory = server->directory();
  server->stop();
  expect_nothing_left(directory, server->port());
}

TEST(Lab, Zookeeper) {
  auto server = start(Kind::kZookeeper, {.durable = false, .nodes = 1});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  const auto port = server->port();
  EXPECT_EQ(server->url(), "zookeeper://127.0.0.1:" + std::to_string(port));
  EXPECT_EQ(ask("127.0.0.1", port, "ruok", Seconds(10)), "imok");
  EXPECT_EQ(server->primaries(), std::vector<std::size_t>{0});
  const auto directory = server->directory();
  server->stop();
  expect_nothing_left(directory, port);
}

TEST(Lab, NatsOfThreeNodes) {
  auto server = start(Kind::kNats, {.nodes = 3});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  // Its protocol is text, so a bucket can be made without the client library.
  const auto request = [&](std::size_t node, const std::string& subject, const std::string& body) {
    return ask_until("127.0.0.1", server->port(node),
                     "CONNECT {\"verbose\":false}\r\nSUB answer 1\r\nPUB " + subject + " answer " +
                         std::to_string(body.size()) + "\r\n" + body + "\r\n",
                     "\"did_create\":true", Seconds(10));
  };
  const auto made = request(0, "$JS.API.STREAM.CREATE.KV_a",
                            R"({"name":"KV_a","subjects":["a.*"],"num_replicas":3})");
  EXPECT_NE(made.find("\"did_create\":true"), std::string::npos) << made;
  auto leaders = server->primaries();
  ASSERT_EQ(leaders.size(), 1U);
  const auto next = server->failover();
  ASSERT_TRUE(next.ok()) << next.error().to_string();
  EXPECT_NE(*next, leaders[0]);
  EXPECT_EQ(server->primaries(), std::vector<std::size_t>{*next});
  const auto directory = server->directory();
  server->stop();
  expect_nothing_left(directory, server->port());
}

TEST(Lab, DqliteOfThreeNodes) {
  auto server = start(Kind::kDqlite, {.nodes = 3});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  EXPECT_EQ(server->url(), "dqlite://127.0.0.1:" + std::to_string(server->port(0)) +
                               ",127.0.0.1:" + std::to_string(server->port(1)) +
                               ",127.0.0.1:" + std::to_string(server->port(2)));
  const auto leaders = server->primaries();
  ASSERT_EQ(leaders.size(), 1U);
  const auto next = server->failover();
  ASSERT_TRUE(next.ok()) << next.error().to_string();
  EXPECT_NE(*next, leaders[0]);
  EXPECT_EQ(server->primaries(), std::vector<std::size_t>{*next});
  // A third one leads when that one is gone; all know their cluster when they start again.
  server->kill(*next);
  EXPECT_TRUE(cupel::test::poll_until([&] { return server->primaries().size() == 1; }));
  server->kill();
  const auto restarted = server->restart();
  ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
  EXPECT_EQ(server->primaries().size(), 1U);
  const auto directory = server->directory();
  server->stop();
  expect_nothing_left(directory, server->port());
}

// One of two nodes votes, and two of five stand by.
TEST(Lab, DqliteOfAnyNumberOfNodes) {
  for (const std::uint32_t nodes : {1, 2, 5}) {
    const auto server = start(Kind::kDqlite, {.nodes = nodes});
    ASSERT_TRUE(server.ok()) << server.error().to_string();
    EXPECT_EQ(server->primaries().size(), 1U);
    for (std::size_t node = 0; node < nodes; ++node) EXPECT_TRUE(server->answers(node)) << node;
  }
}

TEST(Lab, AServerThatDoesNotStartShowsTheEndOfItsLog) {
  const auto redis = start(Kind::kRedis, {.server_options = {"no-such-option=1"}});
  ASSERT_FALSE(redis.ok());
  EXPECT_NE(redis.error().message.find("redis did not start: it exited with 1"), std::string::npos)
      << redis.error().message;
  EXPECT_NE(redis.error().message.find("Bad directive"), std::string::npos)
      << redis.error().message;
  const auto etcd = start(Kind::kEtcd, {.server_options = {"no-such-option=1"}});
  ASSERT_FALSE(etcd.ok());
  EXPECT_NE(etcd.error().message.find("no-such-option"), std::string::npos) << etcd.error().message;
}

TEST(Lab, AMissingProgramNamesThePackage) {
  const std::string before = std::getenv("PATH");
  // Redis is looked for in PATH; the server folders that are looked into besides do
  // not have it on Debian.
  ::setenv("PATH", "/no/such/folder", 1);
  const auto redis = start(Kind::kRedis, {});
  ::setenv("PATH", before.c_str(), 1);
  ASSERT_FALSE(redis.ok());
  EXPECT_EQ(redis.error().message,
            "found no program `redis-server`; install the Debian package redis-server");
}

TEST(Lab, AClusterOfOnesOwn) {
  const auto kind = find_kind(std::string(CUPEL_SOURCE_DIR) + "/examples/own_cluster.json");
  ASSERT_TRUE(kind.ok()) << kind.error().to_string();
  EXPECT_EQ(*find_kind(std::string(name(*kind))), *kind);
  std::string directory;
  {
    auto server = start(*kind, {});
    ASSERT_TRUE(server.ok()) << server.error().to_string();
    directory = server->directory();
    EXPECT_EQ(server->nodes(), 3U);
    EXPECT_EQ(server->url().rfind("etcd://127.0.0.1:", 0), 0U) << server->url();
    const auto members =
        ask("127.0.0.1", server->port(1),
            "POST /v3/cluster/member/list HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}", Seconds(5));
    EXPECT_NE(members.find("node-2"), std::string::npos) << members;
    server->kill(2);
    EXPECT_FALSE(server->running(2));
    const auto again = server->restart(2);
    EXPECT_TRUE(again.ok()) << again.error().to_string();
  }
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST(Lab, ADescriptionWithAMistakeNamesIt) {
  const test::ScratchFolder folder;
  int number = 0;
  const auto error = [&](const std::string& text) {
    const auto file = folder.file("own" + std::to_string(++number) + ".json", text);
    const auto kind = find_kind(file);
    return kind.ok() ? "none" : kind.error().message;
  };
  EXPECT_EQ(error(R"({"url": "redis://HOSTS"})"), "found no field `start`, expected it");
  EXPECT_EQ(error(R"({"url": "redis://here", "start": "x"})").rfind("url: found", 0), 0U);
  EXPECT_EQ(error(R"({"url": "redis://HOSTS", "start": "x", "node": 3})")
                .rfind("node: found an unknown field", 0),
            0U);
  EXPECT_EQ(error(R"({"url": "redis://HOSTS", "start": "x", "nodes": 99})"),
            "nodes: found 99, expected a number from 1 to 9");
  const auto dead = find_kind(folder.file(
      "dead.json", R"({"url": "redis://HOSTS", "start": "echo no such thing; exit 3"})"));
  ASSERT_TRUE(dead.ok());
  const auto server = start(*dead, {});
  ASSERT_FALSE(server.ok());
  EXPECT_NE(server.error().message.find("no such thing"), std::string::npos)
      << server.error().message;
}

// Its commands have the user and the variables of its processes.
TEST(Lab, AClusterOfOnesOwnIsAskedAsItIsStarted) {
  const test::ScratchFolder folder;
  const auto kind = find_kind(
      folder.file("own.json", R"({"url": "redis://HOSTS", "start": "id -u > user; exec sleep 600",
                      "status": "[ \"$(id -u)/$HOME/$CUPEL_LAB\" = \"$(cat user)/$PWD/$PWD\" ]",
                      "patience": 10})"));
  ASSERT_TRUE(kind.ok()) << kind.error().to_string();
  const auto file = folder.path("lab");
  auto server = start(*kind, {.detached = true, .state_file = file});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  // Another program, to which the description is not there any more.
  std::ostringstream state;
  state << std::ifstream(file).rdbuf();
  auto text = state.str();
  text.replace(text.find("own.json"), 3, "was");
  std::ofstream(file) << text;
  auto attached = Server::attach(file);
  ASSERT_TRUE(attached.ok()) << attached.error().to_string();
  EXPECT_TRUE(attached->answers(0));
  attached->stop();
  EXPECT_FALSE(server->running());
  EXPECT_FALSE(std::filesystem::exists(server->directory()));
}

TEST(Lab, AnInstallationCanBeInterrupted) {
  const test::ScratchFolder folder;
  const auto kind = find_kind(folder.file(
      "slow.json", R"({"url": "redis://HOSTS", "install": "sleep 600", "start": "sleep 600"})"));
  ASSERT_TRUE(kind.ok()) << kind.error().to_string();
  const std::atomic<bool> interrupted = true;
  const auto server = start(*kind, {.interrupted = &interrupted});
  ASSERT_FALSE(server.ok());
  EXPECT_NE(server.error().message.find("interrupted"), std::string::npos);
}

// The server's user may put links where root writes and reads.
TEST(Lab, LinksOfTheServersUserLeadNowhere) {
  const test::ScratchFolder folder;
  Site site{.kind = Kind::kRedis,
            .directory = folder.path("site"),
            .user = user_of(Kind::kRedis),
            .options = {},
            .nodes = {}};
  std::filesystem::create_directory(site.directory);
  std::filesystem::permissions(folder.path("."), std::filesystem::perms(0755));
  if (site.user) {
    ASSERT_EQ(::chown(site.directory.c_str(), site.user->user, site.user->group), 0);
  }
  const auto secret = folder.file("secret", "secret\n");
  const auto link = site.directory + "/link.log";
  std::filesystem::create_symlink(secret, link);
  EXPECT_EQ(text_of_log(link), "");
  EXPECT_FALSE(
      base::Process::start({.arguments = {"echo", "more"}, .output = base::Stream::file(link)})
          .ok());
  const auto written = write_as_user(site, link, "text\n");
  EXPECT_TRUE(written.ok()) << written.error().to_string();
  EXPECT_EQ(text_of_log(link), "text\n");
  EXPECT_EQ(text_of_log(secret), "secret\n");
}

TEST(Lab, APausedServerAnswersOnceItGoesOn) {
  auto server = start(Kind::kRedis, {});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  const auto answers = [&](double seconds) {
    return ask("127.0.0.1", server->port(), "PING\r\n", base::Seconds(seconds)) == "+PONG\r\n";
  };
  server->pause(0);
  EXPECT_TRUE(server->running());
  EXPECT_FALSE(answers(0.2));
  server->resume(0);
  EXPECT_TRUE(answers(5));
}

TEST(Lab, AnotherProgramCanStopADetachedServer) {
  const test::ScratchFolder folder;
  const auto file = folder.path("lab");
  std::string directory;
  std::uint16_t port = 0;
  {
    auto server = start(Kind::kRedis, {.detached = true, .state_file = file});
    ASSERT_TRUE(server.ok()) << server.error().to_string();
    directory = server->directory();
    port = server->port();
    EXPECT_EQ(in_redis(*server, "SET a 7"), "+OK\r\n");
  }
  {
    auto server = Server::attach(file);
    ASSERT_TRUE(server.ok()) << server.error().to_string();
    EXPECT_TRUE(server->running());
    EXPECT_EQ(in_redis(*server, "GET a"), "$1\r\n7\r\n");
    server->kill();
    const auto restarted = server->restart();
    ASSERT_TRUE(restarted.ok()) << restarted.error().to_string();
  }
  {
    auto server = Server::attach(file);
    ASSERT_TRUE(server.ok()) << server.error().to_string();
    EXPECT_TRUE(server->running());
    EXPECT_EQ(in_redis(*server, "GET a"), "$1\r\n7\r\n");
    server->stop();
  }
  expect_nothing_left(directory, port);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_FALSE(Server::attach(file).ok());
}

// An id that was used again is another process: it is neither shown nor signalled.
TEST(Lab, AnIdUsedAgainIsLeftAlone) {
  auto bystander = base::Process::start({.arguments = {"sleep", "1000"}});
  ASSERT_TRUE(bystander.ok());
  const test::ScratchFolder folder;
  const auto file = folder.path("cupel-lab-reuse");
  const auto start = *base::process_start(bystander->id());
  std::ofstream(file) << R"({"cupel_lab":1,"kind":"redis","directory":")" << file
                      << R"(.d","durable":true,"server_options":[],"nodes":[{"pid":)"
                      << bystander->id() << R"(,"start":)" << start - 1
                      << R"(,"ports":[1],"directory":"","log":"","arguments":[]}]})";
  auto server = Server::attach(file);
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  EXPECT_FALSE(server->running());
  server->kill();
  server->stop();
  EXPECT_TRUE(bystander->running());
}

}  // namespace
}  // namespace cupel::lab
