// Faults of a node's clock and disk, each by what clients of real servers notice.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>

#include "databases/lab/disk/disk.hpp"
#include "databases/lab/loopback.hpp"
#include "databases/lab/namespaces.hpp"
#include "databases/lab/server.hpp"
#include "servers/one_statement.hpp"
#include "support/polling.hpp"

namespace cupel::lab {
namespace {

constexpr base::Seconds kAnswer{10};
constexpr double kBusy = 30;  // seconds that a busy machine may take

double machine() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string redis(const Server& server, const std::string& command) {
  auto answer = ask("127.0.0.1", server.port(), command + "\r\n", kAnswer);
  if (answer.starts_with('$')) answer.erase(0, answer.find('\n') + 1);  // its length
  if (answer.starts_with('*')) answer.erase(0, answer.find('\n', answer.find('\n') + 1) + 1);
  return answer.substr(0, answer.find('\r'));
}

Server started(Kind kind, const Options& options) {
  auto server = start(kind, options);
  EXPECT_TRUE(server.ok()) << server.error().to_string();
  return *std::move(server);
}

class NodeClocks : public testing::Test {
 protected:
  void SetUp() override { enter_namespaces(); }
  // `now` tells the server's time in seconds.
  static void change(Server& server, const std::function<double()>& now) {
    EXPECT_EQ(server.without_clocks(), "");
    EXPECT_NEAR(now(), machine(), kBusy);
    for (const double offset : {100'000.0, -100'000.0, 0.0}) {
      ASSERT_TRUE(server.set_clock(0, {.offset = offset}).ok());
      EXPECT_NEAR(now() - machine(), offset, kBusy);
    }
    ASSERT_TRUE(server.set_clock(0, {.rate = 10}).ok());
    const auto begin = now(), machine_begin = machine();
    ASSERT_TRUE(test::poll_until([&] { return machine() > machine_begin + 0.1; }));
    const auto passed = machine() - machine_begin;
    EXPECT_GE(now() - begin, passed * 5);
    ASSERT_TRUE(server.set_clock(0, {}).ok());
    EXPECT_NEAR(now(), machine(), kBusy);
  }
};

TEST_F(NodeClocks, OfPostgres) {
  auto server = started(Kind::kPostgres, {.durable = false, .clocks = true});
  change(server, [&] {
    return std::atof(
        in_postgres(server, 0, "SELECT extract(epoch FROM clock_timestamp())").c_str());
  });
}

TEST_F(NodeClocks, OfMariadb) {
  auto server = started(Kind::kMariadb, {.durable = false, .clocks = true});
  change(server, [&] {
    return std::atof(in_mariadb(server, 0, "SELECT UNIX_TIMESTAMP(SYSDATE(6))").c_str());
  });
}

TEST_F(NodeClocks, OfRedis) {
  auto server = started(Kind::kRedis, {.durable = false, .clocks = true});
  change(server, [&] { return std::atof(redis(server, "TIME").c_str()); });
}

TEST_F(NodeClocks, NotOfEtcd) {
  auto server = started(Kind::kEtcd, {.clocks = true});
  EXPECT_NE(server.without_clocks().find("Go program"), std::string::npos);
  EXPECT_FALSE(server.set_clock(0, {.offset = 1}).ok());
}

class NodeDisks : public testing::Test {
 protected:
  void SetUp() override {
    enter_namespaces();
    if (const auto why = disks_forbidden(); !why.empty()) GTEST_SKIP() << why;
  }
  static void lose_power(Server& server) {
    server.kill();
    const auto lost = server.lose_unsynced(0);
    ASSERT_TRUE(lost.ok()) << lost.error().to_string();
    const auto up = server.restart();
    ASSERT_TRUE(up.ok()) << up.error().to_string();
  }
};

TEST_F(NodeDisks, PostgresKeepsWhatItSynced) {
  auto server = started(Kind::kPostgres, {.disks = true});
  ASSERT_EQ(in_postgres(server, 0, "CREATE TABLE t AS SELECT 42 AS n"), "done");
  lose_power(server);
  EXPECT_EQ(in_postgres(server, 0, "SELECT n FROM t"), "42");

  ASSERT_TRUE(server.set_disk(0, {.full = true}).ok());
  const auto large = "CREATE TABLE u AS SELECT repeat('x', 1000) FROM generate_series(1, 5000)";
  EXPECT_NE(in_postgres(server, 0, large).find("No space left on device"), std::string::npos);
  EXPECT_GT(server.disk_count(0).refused, 0U);
  ASSERT_TRUE(server.set_disk(0, {}).ok());
  EXPECT_EQ(in_postgres(server, 0, large), "done");

  // What a restart without loss finds is another matter than what lasts: nothing is lost here.
  server.kill();
  ASSERT_TRUE(server.restart().ok());
  EXPECT_EQ(in_postgres(server, 0, "SELECT count(*) FROM u"), "5000");
}

TEST_F(NodeDisks, PostgresLosesWhatItDoesNotSync) {
  auto server = started(Kind::kPostgres, {.durable = false, .disks = true});
  ASSERT_EQ(in_postgres(server, 0, "CREATE TABLE t AS SELECT 42 AS n"), "done");
  lose_power(server);
  EXPECT_NE(in_postgres(server, 0, "SELECT n FROM t").find("does not exist"), std::string::npos);
}

TEST_F(NodeDisks, RedisKeepsWhatItSyncedAndEndsWithItsDisk) {
  auto server = started(Kind::kRedis, {.disks = true});
  ASSERT_EQ(redis(server, "SET a 1"), "+OK");
  lose_power(server);
  EXPECT_EQ(redis(server, "GET a"), "1");
  for (const DiskFault& fault : {DiskFault{.full = true}, DiskFault{.errors = 1}}) {
    ASSERT_TRUE(server.set_disk(0, fault).ok());
    EXPECT_NE(redis(server, "SET b 1"), "+OK");
    ASSERT_TRUE(server.set_disk(0, {}).ok());
    const std::size_t node = 0;
    const auto up = server.start_stopped({&node, 1}, [] { return false; });
    ASSERT_TRUE(up.ok()) << up.error().to_string();
    EXPECT_EQ(redis(server, "GET a"), "1");
    EXPECT_EQ(redis(server, "SET b 1"), "+OK");
  }
  EXPECT_GT(server.disk_count(0).refused, 0U);
  EXPECT_GT(server.disk_count(0).failed, 0U);
}

TEST_F(NodeDisks, RedisLosesWhatItDoesNotSync) {
  auto server = started(Kind::kRedis, {.durable = false, .disks = true});
  ASSERT_EQ(redis(server, "SET a 1"), "+OK");
  server.kill();
  ASSERT_TRUE(server.restart().ok());
  EXPECT_EQ(redis(server, "GET a"), "1");
  lose_power(server);
  EXPECT_EQ(redis(server, "GET a"), "");  // none
}

TEST_F(NodeDisks, MariadbKeepsWhatItSynced) {
  auto server = started(Kind::kMariadb, {.disks = true});
  ASSERT_EQ(in_mariadb(server, 0, "CREATE TABLE t AS SELECT 42 AS n"), "done");
  lose_power(server);
  EXPECT_EQ(in_mariadb(server, 0, "SELECT n FROM t"), "42");
}

TEST_F(NodeDisks, EtcdKeepsWhatItSynced) {
  auto server = started(Kind::kEtcd, {.disks = true});
  const auto post = [&](const std::string& path, const std::string& body) {
    return ask(
        "127.0.0.1", server.port(),
        fmt::format("POST {} HTTP/1.0\r\nContent-Length: {}\r\n\r\n{}", path, body.size(), body),
        kAnswer);
  };
  ASSERT_NE(post("/v3/kv/put", R"({"key":"YQ==","value":"Yg=="})").find(" 200 OK"),
            std::string::npos);
  lose_power(server);
  EXPECT_NE(post("/v3/kv/range", R"({"key":"YQ=="})").find(R"("value":"Yg==")"), std::string::npos);
}

}  // namespace
}  // namespace cupel::lab
