// What docs/plots/abort-rate.svg shows, as a test: on PostgreSQL at serializable, with
// 24 sessions on the same keys, mini-transactions are aborted less often than general
// transactions of 20 operations (MTC, figure 11).
#include <gtest/gtest.h>

#include "databases/lab/server.hpp"
#include "run/run_and_check.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::run {
namespace {

class AbortRate : public testing::Test {
 protected:
  void SetUp() override {
    auto started = lab::start(lab::Kind::kPostgres,
                              {.server_options = {"deadlock_timeout=20ms"}, .durable = false});
    ASSERT_TRUE(started.ok()) << started.error().to_string();
    server_.emplace(*std::move(started));
  }

  // Of two seeds together. Also expects that what did commit is serializable.
  double rate(const std::string& workload, std::uint64_t keys, std::uint32_t ops) {
    RunResult sum;
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      RunAndCheckOptions options;
      options.url = server_->url();
      options.open.isolation = "serializable";
      options.workload = workload;
      options.shape.keys = keys;
      options.shape.min_ops = options.shape.max_ops = ops;
      options.run.sessions = 24;
      options.run.txns = 50;
      options.run.seed = seed;
      options.history = folder_.path("history.jsonl");
      options.overwrite = true;
      Progress progress;
      const auto ran = run_and_check(options, false, progress, [](Stage) {});
      EXPECT_TRUE(ran.ok()) << ran.error().message;
      if (!ran.ok()) return -1;
      EXPECT_EQ(ran->verdict(), check::Verdict::kSatisfied) << workload << " seed " << seed;
      EXPECT_EQ(ran->run.committed + ran->run.aborted, 24U * 50U);
      sum.committed += ran->run.committed;
      sum.aborted += ran->run.aborted;
    }
    return sum.abort_rate();
  }

  const test::ScratchFolder folder_;
  std::optional<lab::Server> server_;
};

TEST_F(AbortRate, OfMiniTransactionsIsLowerThanOfLongOnes) {
  for (const std::uint64_t keys : {100U, 500U}) {
    const double mini = rate("mini", keys, 4);  // mini has its own number of operations
    const double general = rate("general", keys, 20);
    EXPECT_GT(mini, 0) << "no contention at all: nothing was compared";
    EXPECT_LT(mini, general / 2) << keys << " keys";
    RecordProperty("rates_" + std::to_string(keys),
                   std::to_string(mini) + " " + std::to_string(general));
  }
}

}  // namespace
}  // namespace cupel::run
