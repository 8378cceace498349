// Range queries, inserts and deletes on the mock store in process: what `cupel run` records is
// within the store's level, phantoms included, and leaves a level above it. No transaction of
// these workloads reads and writes, so the first such above prefix is strict serializability.
#include <gtest/gtest.h>

#include <map>

#include "data/formats/formats.hpp"
#include "engine/check/check.hpp"
#include "run/run.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::run {
namespace {

using check::Verdict;
using levels::Level;

class MockRun : public testing::TestWithParam<const char*> {
 protected:
  // What a run at this level records.
  std::optional<history::History> history(const std::string& level, std::uint64_t seed,
                                          bool tombstones) {
    auto database = drivers::open("mock:" + level + "?seed=" + std::to_string(seed), {});
    EXPECT_TRUE(database.ok());
    workload::WorkloadOptions shape{
        .sessions = 3, .min_ops = 2, .max_ops = 3, .keys = 4, .seed = seed};
    shape.tombstones = tombstones;
    auto workload = workload::make_workload(GetParam(), shape);
    EXPECT_TRUE(workload.ok());
    EXPECT_TRUE((*database)->prepare(**workload).ok());
    std::string error;
    const auto path = scratch_.path() + "/history.jsonl";
    auto recorder =
        Recorder::open(path, {.default_initial = (*workload)->default_initial()}, error);
    Progress progress;
    const std::atomic<bool> stop = false;
    const auto ran =
        run::run({**database, **workload, *recorder},
                 {.sessions = shape.sessions, .txns = 25, .seed = seed}, {}, stop, progress);
    EXPECT_TRUE(ran.ok()) << ran.error().message;
    EXPECT_GT(ran->committed, 10U);
    EXPECT_TRUE(recorder->close(error)) << error;
    auto read = formats::read(path);
    EXPECT_TRUE(read.ok()) << read.error().to_string();
    if (!read.ok()) return std::nullopt;
    return std::move(read).value();
  }
  static Verdict verdict(const history::History& history, Level level) {
    check::Options options;
    options.asked = {level};
    options.timeout_seconds = 30;
    return check::check(history, options).levels.front().verdict;
  }

  const test::ScratchFolder scratch_;
};

TEST_P(MockRun, RangesAreWithinTheLevel) {
  struct Case {
    const char* name;
    Level level, above;
  };
  for (const auto& [name, level, above] :
       {Case{"read-committed", Level::kReadCommitted, Level::kReadAtomic},
        Case{"causal", Level::kCausal, Level::kPrefix},
        Case{"prefix", Level::kPrefix, Level::kStrictSerializable},
        Case{"strong-session-snapshot-isolation", Level::kStrongSessionSnapshotIsolation,
             Level::kStrictSerializable},
        Case{"strong-session-serializable", Level::kStrongSessionSerializable,
             Level::kStrictSerializable}}) {
    std::map<Verdict, int> within, beyond;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const auto recorded = history(name, seed, seed % 2 == 0);
      ASSERT_TRUE(recorded);
      const auto at_level = verdict(*recorded, level);
      ++within[at_level];
      ++beyond[verdict(*recorded, above)];
      EXPECT_EQ(at_level, Verdict::kSatisfied) << name << ", seed " << seed;
    }
    EXPECT_EQ(within.size(), 1U) << name;
    EXPECT_GT(beyond[Verdict::kViolated], 0) << name;
  }
}

class MockLists : public MockRun {};

TEST_P(MockLists, AreWithinTheLevel) {
  for (const auto& [name, level] :
       {std::pair{"strong-session-snapshot-isolation", Level::kStrongSessionSnapshotIsolation},
        std::pair{"strong-session-serializable", Level::kStrongSessionSerializable}}) {
    int beyond = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const auto recorded = history(name, seed, false);
      ASSERT_TRUE(recorded);
      EXPECT_EQ(verdict(*recorded, level), Verdict::kSatisfied) << name << ", seed " << seed;
      beyond += verdict(*recorded, Level::kStrictSerializable) == Verdict::kViolated;
    }
    EXPECT_GT(beyond, 0) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Appends, MockLists, testing::Values("append"));
INSTANTIATE_TEST_SUITE_P(Workloads, MockRun, testing::Values("range-b", "range-rqh", "range-idh"),
                         [](const auto& info) {
                           std::string name = info.param;
                           name.erase(name.find('-'), 1);
                           return name;
                         });

}  // namespace
}  // namespace cupel::run
