// Outcomes stay honest in a failover: what was said to be aborted is not on the new primary, and
// what was committed is, where a commit waits for a standby. Redis and an asynchronous standby may
// lose what they acknowledged: that is their loss, and no wrong outcome.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <optional>
#include <thread>

#include "databases/lab/server.hpp"
#include "drivers/conformance.hpp"
#include "servers/writers.hpp"
#include "support/polling.hpp"

namespace cupel::drivers::testing {
namespace {

using cupel::test::poll_until;
using workload::kv_schema;
using workload::Reply;
using workload::Statement;

std::unique_ptr<Database> opened(const lab::Server& server, const std::string& isolation) {
  auto database = open(server.url(), {.isolation = isolation, .statement_timeout = 10});
  if (!database.ok()) throw std::runtime_error(database.error().message);
  return *std::move(database);
}

std::unique_ptr<Connection> connected_to_primary(Database& database) {
  auto connection = database.connect_to_host(database.primary_or_first());
  return connection.ok() ? *std::move(connection) : nullptr;
}

std::string read_one(Connection& connection, std::int64_t key) {
  return run(connection, {read(key)})[0];
}

// A process of PostgreSQL that serves a client whose COMMIT waits for a standby, as it calls
// itself: "postgres: cupel cupel 127.0.0.1(40000) COMMIT waiting for 0/3000060".
std::optional<int> waiting_commit(int server) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream command(entry.path() / "cmdline"), stat(entry.path() / "stat");
    const std::string words{std::istreambuf_iterator<char>(command), {}};
    if (words.find("COMMIT waiting for") == std::string::npos) continue;
    std::string line;
    std::getline(stat, line);
    char state = 0;
    int parent = 0;
    if (std::sscanf(line.c_str() + line.rfind(')') + 1, " %c %d", &state, &parent) == 2 &&
        parent == server) {
      return std::stoi(name);
    }
  }
  return std::nullopt;
}

// A session whose transaction has written its key.
struct Open {
  std::unique_ptr<Connection> connection;
  Open(Database& database, std::int64_t key) : connection(connected_to_primary(database)) {
    Reply reply;
    EXPECT_FALSE(connection->begin());
    EXPECT_FALSE(connection->execute(write(key, key * 11), reply));
  }
};

TEST(PostgresFailover, InTheMiddleOfATransaction) {
  auto started = lab::start(lab::Kind::kPostgresStandby, {.durable = false, .synchronous = true});
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  auto& server = *started;
  const auto database = opened(server, "repeatable-read");
  Tables tables(kv_schema());
  for (std::int64_t key = 1; key <= 4; ++key) tables.row(0, {key}, {key});
  ASSERT_TRUE(database->prepare(tables).ok());
  const Open open(*database, 1), acknowledged(*database, 2), cancelled(*database, 3),
      committing(*database, 4);
  ASSERT_FALSE(acknowledged.connection->commit());

  // The standby has nothing from here on, so a COMMIT waits; its wait is cancelled, and it says so.
  server.pause(1);
  std::optional<int> waits;
  const auto wait_for_commit = [&] {
    return poll_until([&] { return (waits = waiting_commit(server.process())).has_value(); });
  };
  auto commit = std::async(std::launch::async, [&] { return cancelled.connection->commit(); });
  ASSERT_TRUE(wait_for_commit());
  ::kill(*waits, SIGINT);
  const auto doubtful = commit.get();
  ASSERT_TRUE(doubtful);
  EXPECT_EQ(doubtful->txn_outcome, TxnOutcome::kUnknown) << shown(doubtful);
  EXPECT_NE(doubtful->message.find("synchronous replication"), std::string::npos)
      << shown(doubtful);
  EXPECT_FALSE(doubtful->connection_lost);
  EXPECT_EQ(read_one(*cancelled.connection, 3), "3=33");

  // The primary is killed while another waits.
  commit = std::async(std::launch::async, [&] { return committing.connection->commit(); });
  ASSERT_TRUE(wait_for_commit());
  server.kill(0);
  const auto broken = commit.get();
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->txn_outcome, TxnOutcome::kUnknown) << shown(broken);
  EXPECT_TRUE(broken->connection_lost);

  server.resume(1);
  const auto primary = server.failover();
  ASSERT_TRUE(primary.ok()) << primary.error().to_string();
  const auto late = open.connection->commit();
  ASSERT_TRUE(late);
  EXPECT_EQ(late->txn_outcome, TxnOutcome::kAborted) << shown(late);
  EXPECT_TRUE(late->connection_lost);
  const auto reader = connected_to_primary(*database);
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(read_one(*reader, 1), "1=1");
  EXPECT_EQ(read_one(*reader, 2), "2=22");
}

// Sessions write while the Sentinels make another node the primary, and after the old one is gone.
TEST(RedisFailover, UnderLoadNothingAbortedIsThere) {
  auto server = lab::start(lab::Kind::kRedisSentinel, {.durable = false});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  const auto database = opened(*server, "linearizable");
  ASSERT_TRUE(database->prepare(Tables(kv_schema())).ok());
  Writers writers(6, [&] { return connected_to_primary(*database); });
  EXPECT_TRUE(writers.await_commits(100));
  const auto primary = server->failover();
  EXPECT_TRUE(primary.ok()) << primary.error().to_string();
  // The Sentinels would tell the old primary ten seconds later.
  server->kill(0);
  EXPECT_TRUE(writers.await_failure()) << "nobody noticed the failover";
  EXPECT_TRUE(writers.await_commits(primary.ok() ? 200 : 0));
  const auto reported = writers.end();
  const auto reader = connected_to_primary(*database);
  ASSERT_NE(reader, nullptr);
  for (const auto key : reported.aborted) EXPECT_EQ(read_one(*reader, key), "") << "was aborted";
  // The last 200 were acknowledged by the new primary.
  int there = 0;
  for (const auto key : reported.committed) there += read_one(*reader, key).empty() ? 0 : 1;
  EXPECT_GE(there, 200);
}

}  // namespace
}  // namespace cupel::drivers::testing
