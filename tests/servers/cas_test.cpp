// `cupel run` on Redis and etcd: compare-and-set is linearizable, blocks of several
// statements are strict serializable, over many seeds; and a killed server leaves
// nothing in the history that is not so.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "databases/lab/server.hpp"
#include "engine/levels/level.hpp"
#include "run/run_and_check.hpp"
#include "support/polling.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::run {
namespace {

using check::Verdict;
using levels::Level;

constexpr std::uint64_t kSeeds = 6;

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

RunAndCheckOptions load(const std::string& url, const std::string& isolation,
                        const std::string& workload, std::uint64_t seed) {
  RunAndCheckOptions options;
  options.url = url;
  options.open = {.isolation = isolation, .statement_timeout = 30};
  options.workload = workload;
  options.run.sessions = 8;
  options.run.txns = 150;
  options.run.seed = seed;
  options.shape.keys = 5;
  return options;
}

std::optional<CheckedRun> checked_run(RunAndCheckOptions options, Progress& progress,
                                      const std::atomic<bool>& stop) {
  const test::ScratchFolder folder;
  options.history = folder.path("history.jsonl");
  options.overwrite = true;
  auto result = run_and_check(options, stop, progress, [](Stage) {});
  EXPECT_TRUE(result.ok()) << result.error().message;
  if (!result.ok()) return std::nullopt;
  return std::move(result).value();
}
std::optional<CheckedRun> checked_run(const RunAndCheckOptions& options) {
  Progress progress;
  return checked_run(options, progress, false);
}

// What the product promises at its default is linearizability, and it holds.
void compare_and_set_is_linearizable(lab::Kind kind) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto ran = checked_run(load(server(kind).url(), "", "lwt", seed));
    ASSERT_TRUE(ran);
    EXPECT_TRUE(ran->promised);
    EXPECT_EQ(ran->asked, std::vector<Level>{Level::kLinearizable});
    EXPECT_EQ(ran->verdict(), Verdict::kSatisfied) << "seed " << seed;
    EXPECT_EQ(ran->run.unknown, 0U);
    // Enough of all kinds that it could have failed.
    for (const auto* job : {"read", "insert-if-absent", "compare-and-set"}) {
      ASSERT_TRUE(ran->run.jobs.contains(job)) << job;
    }
    EXPECT_GT(ran->run.jobs.at("read").committed, 300U);
    EXPECT_GT(ran->run.jobs.at("compare-and-set").committed, 100U);
  }
}
TEST(RedisRun, CompareAndSetIsLinearizable) {
  compare_and_set_is_linearizable(lab::Kind::kRedis);
}
TEST(EtcdRun, CompareAndSetIsLinearizable) {
  compare_and_set_is_linearizable(lab::Kind::kEtcd);
}

// Reads that one member answers alone miss what another acknowledged: some seed shows it.
void local_reads_are_stale(const std::string& url) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= 20 && !seen.contains("G-single-realtime"); ++seed) {
    auto options = load(url, "local", "lwt", seed);
    options.run.sessions = 9;
    options.shape.keys = 2;
    const auto ran = checked_run(options);
    ASSERT_TRUE(ran);
    EXPECT_FALSE(ran->promised);
    EXPECT_EQ(ran->result(Level::kReadCommitted).verdict, Verdict::kSatisfied);
    seen = anomalies(*ran);
  }
  EXPECT_TRUE(seen.contains("G-single-realtime"));
}
TEST(EtcdRun, LocalReadsAreStale) {
  auto etcd = lab::start(lab::Kind::kEtcd, {.durable = false, .nodes = 3});
  ASSERT_TRUE(etcd.ok()) << etcd.error().to_string();
  local_reads_are_stale(etcd->url());
}

void blocks_are_strict_serializable(lab::Kind kind) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const auto* workload : {"general", "mini", "append"}) {
      const auto ran = checked_run(load(server(kind).url(), "serializable", workload, seed));
      ASSERT_TRUE(ran);
      EXPECT_EQ(ran->asked, std::vector<Level>{Level::kStrictSerializable});
      EXPECT_EQ(ran->verdict(), Verdict::kSatisfied) << workload << " seed " << seed;
      EXPECT_GT(ran->run.committed, 300U) << workload;
    }
  }
}
TEST(RedisRun, BlocksAreStrictSerializable) {
  blocks_are_strict_serializable(lab::Kind::kRedis);
}
TEST(EtcdRun, BlocksAreStrictSerializable) {
  blocks_are_strict_serializable(lab::Kind::kEtcd);
}

// Killed in the middle of a run and started again, with every commit on its disk:
// some transactions are unknown, and with them the history is still linearizable.
void a_crash_is_survived(lab::Kind kind) {
  auto started = lab::start(kind, {});
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  auto& mine = *started;
  auto options = load(mine.url(), "", "lwt", 7);
  options.run.txns = 0;  // until stopped
  options.shape.keys = 200;
  Progress progress;
  std::optional<CheckedRun> ran;
  std::atomic<bool> stop = false, ended = false;
  std::thread runner([&] {
    ran = checked_run(options, progress, stop);
    ended = true;
  });
  const auto until = [&](std::uint64_t committed) {
    // Counters, which notify nobody. How long it takes is the machine's affair.
    while (progress.committed < committed && !ended) test::back_off(std::chrono::milliseconds(5));
  };
  until(200);
  mine.kill();
  const auto status = mine.restart();
  const auto before = progress.committed.load();
  if (status.ok()) until(before + 200);
  stop = true;
  runner.join();
  ASSERT_TRUE(status.ok()) << status.error().to_string();
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->result(Level::kLinearizable).verdict, Verdict::kSatisfied);
  EXPECT_GT(ran->run.reconnects, 0U);
  EXPECT_GT(ran->run.committed, before + 100);  // it went on
}
TEST(RedisRun, ACrashIsSurvived) {
  a_crash_is_survived(lab::Kind::kRedis);
}
TEST(EtcdRun, ACrashIsSurvived) {
  a_crash_is_survived(lab::Kind::kEtcd);
}

// A run of one job that goes on in the background until stop() is called or this ends.
class BackgroundRun {
 public:
  explicit BackgroundRun(const RunAndCheckOptions& options)
      : thread_([this, options] {
          ran_ = checked_run(options, progress_, stop_);
          ended_ = true;
        }) {}
  ~BackgroundRun() { stop(); }
  BackgroundRun(const BackgroundRun&) = delete;
  BackgroundRun& operator=(const BackgroundRun&) = delete;

  // So many more commits. Counters notify nobody; how long it takes is the machine's affair.
  void await_commits(std::uint64_t more) {
    const auto goal = progress_.committed + more;
    while (progress_.committed < goal && !ended_) test::back_off(std::chrono::milliseconds(5));
  }
  std::optional<CheckedRun>& stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return ran_;
  }

 private:
  Progress progress_;
  std::atomic<bool> stop_ = false, ended_ = false;
  std::optional<CheckedRun> ran_;
  std::thread thread_;
};

RunAndCheckOptions over_failover(const std::string& url) {
  auto options = load(url, "", "lwt", 1);
  options.run.txns = 0;  // until stopped
  options.run.read_from = ReadFrom::kPrimary;
  options.run.rate = 1000;
  options.analysis.check.asked = {Level::kLinearizable};
  return options;
}

// The primary hands over, and refuses writes from then on: certain aborts, after which the
// sessions go on at the new one.
TEST(RedisRun, ANewPrimaryIsFound) {
  auto redis = lab::start(lab::Kind::kRedisReplica, {.durable = false});
  ASSERT_TRUE(redis.ok()) << redis.error().to_string();
  BackgroundRun run(over_failover(redis->url()));
  run.await_commits(200);
  const auto primary = redis->failover();
  run.await_commits(600);
  const auto& ran = run.stop();
  ASSERT_TRUE(primary.ok()) << primary.error().to_string();
  ASSERT_TRUE(ran);
  EXPECT_TRUE(ran->several_servers);
  EXPECT_FALSE(ran->promised);
  EXPECT_GE(ran->run.reasons.at("connection lost READONLY"), 1U);
  EXPECT_EQ(ran->run.unknown, 0U);
}

// The Sentinels make another node the primary. The old one takes writes until they tell it, and
// crashes before: what it acknowledged meanwhile is lost.
TEST(RedisRun, AFailoverLosesAcknowledgedWrites) {
  auto redis = lab::start(lab::Kind::kRedisSentinel, {.durable = false});
  ASSERT_TRUE(redis.ok()) << redis.error().to_string();
  BackgroundRun run(over_failover(redis->url()));
  run.await_commits(200);
  const auto primary = redis->failover();
  run.await_commits(600);
  redis->kill(0);
  run.await_commits(600);
  const auto& ran = run.stop();
  ASSERT_TRUE(primary.ok()) << primary.error().to_string();
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->result(Level::kLinearizable).verdict, Verdict::kViolated);
  EXPECT_EQ(ran->result(Level::kReadCommitted).verdict, Verdict::kSatisfied);
}

// Reads that go through the quorum see everything, also when the leader crashes; those that one
// server answers alone are stale.
TEST(ZookeeperRun, ReadsAreStaleUnlessTheyGoThroughTheQuorum) {
  auto zookeeper = lab::start(lab::Kind::kZookeeper, {.durable = false});
  ASSERT_TRUE(zookeeper.ok()) << zookeeper.error().to_string();
  local_reads_are_stale(zookeeper->url());
  auto options = load(zookeeper->url(), "linearizable", "lwt", 1);
  options.run.sessions = 9;
  options.run.txns = 0;
  options.run.rate = 1000;
  BackgroundRun run(options);
  run.await_commits(200);
  const auto leaders = zookeeper->primaries();
  if (!leaders.empty()) zookeeper->kill(leaders[0]);
  run.await_commits(200);
  const auto restarted =
      leaders.empty() ? base::Status(base::Ok{}) : zookeeper->restart(leaders[0]);
  const auto& ran = run.stop();
  EXPECT_EQ(leaders.size(), 1U);
  EXPECT_TRUE(restarted.ok()) << restarted.error().to_string();
  ASSERT_TRUE(ran);
  EXPECT_TRUE(ran->promised);
  // The end of the load by hand leaves no time for final reads, which a run of several hosts has.
  for (const auto level : ran->asked)
    EXPECT_EQ(ran->result(level).verdict, Verdict::kSatisfied) << levels::name(level);
  EXPECT_GT(ran->run.reconnects, 0U);
}

// What the database cannot do is said before anything is run.
void other_workloads_are_refused(lab::Kind kind) {
  for (const auto* workload : {"general", "range-b", "smallbank"}) {
    auto options = load(server(kind).url(), "", workload, 1);
    const test::ScratchFolder folder;
    options.history = folder.path("history.jsonl");
    options.overwrite = true;
    const std::atomic<bool> stop = false;
    Progress progress;
    EXPECT_FALSE(run_and_check(options, stop, progress, [](Stage) {}).ok()) << workload;
  }
}
TEST(RedisRun, OtherWorkloadsAreRefused) {
  other_workloads_are_refused(lab::Kind::kRedis);
}
TEST(EtcdRun, OtherWorkloadsAreRefused) {
  other_workloads_are_refused(lab::Kind::kEtcd);
}

}  // namespace
}  // namespace cupel::run
