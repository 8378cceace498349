// `cupel run` on RocksDB: each mode satisfies what it promises, whatever the workload
// and seed, and the weaker ones violate what they do not promise.
#include <gtest/gtest.h>

#include <atomic>
#include <ostream>

#include "engine/levels/product.hpp"
#include "run/run_and_check.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::run {
namespace {

using check::Verdict;
using levels::Level;

std::optional<CheckedRun> checked_run(const std::string& isolation, const std::string& workload,
                                      std::uint64_t seed, std::uint64_t keys, std::uint64_t txns) {
  const test::ScratchFolder folder;
  RunAndCheckOptions options;
  options.url = "rocksdb:" + folder.path("db?lock_timeout=100");
  options.open = {.isolation = isolation, .statement_timeout = 5};
  options.workload = workload;
  options.run.sessions = 6;
  options.run.txns = txns;
  options.run.seed = seed;
  options.shape.keys = keys;
  options.history = folder.path("history.jsonl");
  options.overwrite = true;
  const std::atomic<bool> stop = false;
  Progress progress;
  auto result = run_and_check(options, stop, progress, [](Stage) {});
  EXPECT_TRUE(result.ok()) << result.error().message;
  if (!result.ok()) return std::nullopt;
  return std::move(result).value();
}

struct Mode {
  const char* isolation;
  Level promised;
  bool ranges;
  friend void PrintTo(const Mode& one, std::ostream* out) { *out << one.isolation; }
};

class RocksdbRun : public testing::TestWithParam<Mode> {};

TEST_P(RocksdbRun, SatisfiesWhatItPromises) {
  const auto& mode = GetParam();
  EXPECT_EQ(levels::promised("RocksDB", mode.isolation), mode.promised);
  for (const std::string workload :
       {"general", "mini", "append", "range-b", "range-rqh", "range-idh"}) {
    if (workload.starts_with("range") && !mode.ranges) continue;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const auto ran = checked_run(mode.isolation, workload, seed, 10, 60);
      ASSERT_TRUE(ran);
      EXPECT_EQ(ran->asked, std::vector<Level>{mode.promised});
      EXPECT_EQ(ran->verdict(), Verdict::kSatisfied) << workload << " seed " << seed;
      EXPECT_GT(ran->run.committed, 50U) << workload << " seed " << seed;
      EXPECT_EQ(ran->run.unknown, 0U);
      for (const auto& [reason, count] : ran->run.reasons) {
        EXPECT_TRUE(reason.starts_with("conflict")) << reason << ": " << count;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Modes, RocksdbRun,
    testing::Values(Mode{"pessimistic-snapshot", Level::kSnapshotIsolation, true},
                    Mode{"pessimistic", Level::kReadCommitted, true},
                    Mode{"pessimistic-for-update", Level::kSerializable, false},
                    Mode{"optimistic-snapshot", Level::kSnapshotIsolation, true},
                    Mode{"optimistic", Level::kReadCommitted, true},
                    Mode{"optimistic-for-update", Level::kSerializable, false}),
    [](const testing::TestParamInfo<Mode>& info) {
      std::string name = info.param.isolation;
      std::erase(name, '-');
      return name;
    });

// Some seed of a contended load violates a level that the mode does not promise, and
// none the promised one: the suite above could have failed.
void promises_no_more(const std::string& isolation, Level promised, Level stronger) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto ran = checked_run(isolation, "mini", seed, 4, 600);
    ASSERT_TRUE(ran);
    EXPECT_EQ(ran->result(promised).verdict, Verdict::kSatisfied) << isolation << " seed " << seed;
    if (ran->result(stronger).verdict == Verdict::kViolated) return;
  }
  ADD_FAILURE() << isolation << " never violated the stronger level";
}

TEST(RocksdbModes, WithoutASnapshotThereIsNoSnapshotIsolation) {
  promises_no_more("pessimistic", Level::kReadCommitted, Level::kSnapshotIsolation);
  promises_no_more("optimistic", Level::kReadCommitted, Level::kSnapshotIsolation);
}
TEST(RocksdbModes, SnapshotsAreNotSerializable) {
  promises_no_more("pessimistic-snapshot", Level::kSnapshotIsolation, Level::kSerializable);
  promises_no_more("optimistic-snapshot", Level::kSnapshotIsolation, Level::kSerializable);
}

}  // namespace
}  // namespace cupel::run
