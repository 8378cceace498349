// Sizes at which reads with many possible writers once were too much: range reads
// with deletes, where an absent key has as many candidates as it has deletes, and
// duplicate values. Valid histories and each injected anomaly are decided, rightly, in
// a time that leaves room for a slow and busy machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "data/workload/generate.hpp"
#include "engine/check/check.hpp"

namespace cupel::test {
namespace {

using check::Verdict;
using levels::Level;
using workload::GenerateOptions;
using workload::Shape;
using workload::Store;

constexpr double kTimeoutSeconds = 120;
constexpr std::uint32_t kAllLevelsUpTo = 100;  // transactions of a session

GenerateOptions ranges(std::uint32_t txns_per_session) {
  GenerateOptions o;
  o.shape = Shape::kRange;
  o.sessions = 10;
  o.txns_per_session = txns_per_session;
  return o;
}

// Every level asked apart, so that none is settled by another.
void expect_verdicts(const GenerateOptions& o, std::optional<Level> satisfied,
                     std::optional<Level> violated) {
  const auto h = workload::generate(o);
  ASSERT_TRUE(h.ok());
  for (const Level level : levels::all_levels()) {
    if (level == Level::kLinearizable) continue;
    // The largest are asked at the weak levels, whose search this is about.
    if (o.txns_per_session > kAllLevelsUpTo && !levels::is_weak(level)) continue;
    check::Options options;
    options.asked = {level};
    options.threads = 1;
    options.timeout_seconds = kTimeoutSeconds;
    const auto result = check::check(h.value(), options).levels[0];
    const std::string what = std::string(levels::name(level)) + " by " + result.decided_by +
                             ", store " + std::string(workload::name(o.store)) +
                             (o.inject.empty() ? std::string() : " with " + o.inject.front());
    EXPECT_NE(result.verdict, Verdict::kUnknown) << what << ": " << result.detail;
    if (violated && levels::implies(level, *violated)) {
      EXPECT_EQ(result.verdict, Verdict::kViolated) << what;
    } else if (satisfied && levels::implies(*satisfied, level) &&
               (!violated || levels::implies(*violated, level))) {
      EXPECT_EQ(result.verdict, Verdict::kSatisfied) << what;
    }
  }
}

constexpr std::pair<std::string_view, Level> kForbiddenBy[] = {
    {"thin-air-read", Level::kReadCommitted},
    {"aborted-read", Level::kReadCommitted},
    {"future-read", Level::kReadCommitted},
    {"not-my-last-write", Level::kReadCommitted},
    {"not-my-own-write", Level::kReadCommitted},
    {"intermediate-read", Level::kReadCommitted},
    {"non-repeatable-read", Level::kReadAtomic},
    {"session-guarantee-violation", Level::kReadAtomic},
    {"non-monotonic-read", Level::kReadCommitted},
    {"fractured-read", Level::kReadAtomic},
    {"causality-violation", Level::kCausal},
    {"long-fork", Level::kPrefix},
    {"lost-update", Level::kSnapshotIsolation},
    {"write-skew", Level::kSerializable}};

class Ranges : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Ranges, OfEveryStoreAreDecided) {
  for (const Store store : workload::all_stores()) {
    GenerateOptions o = ranges(GetParam());
    o.store = store;
    expect_verdicts(o, levels::parse_level(workload::name(store)), std::nullopt);
  }
}

TEST_P(Ranges, WithEachAnomalyAreDecided) {
  for (const auto& [anomaly, first] : kForbiddenBy) {
    GenerateOptions o = ranges(GetParam());
    o.inject = {std::string(anomaly)};
    expect_verdicts(o, Level::kStrongSessionSnapshotIsolation, first);
  }
}

TEST_P(Ranges, WithDuplicateValuesAreDecidedAtWeakLevels) {
  GenerateOptions o = ranges(GetParam());
  o.duplicates = 0.3;
  expect_verdicts(o, Level::kStrongSessionSnapshotIsolation, std::nullopt);
}

TEST_P(Ranges, RegistersWithDuplicateValuesAreDecided) {
  GenerateOptions o = ranges(GetParam());
  o.shape = Shape::kRegister;
  o.duplicates = 0.3;
  expect_verdicts(o, Level::kStrongSessionSnapshotIsolation, std::nullopt);
}

// Transactions that end at the same moment are in no order that the clocks show, and which delete
// a read saw depends on what later transactions must not have seen: with each seed at other places.
TEST(ManyRanges, OfACausalStoreAreDecidedWithAnySeed) {
  for (const bool times : {true, false}) {
    for (const std::uint64_t seed : {7, 12, 20}) {
      GenerateOptions o = ranges(1000);
      o.store = Store::kCausal;
      o.seed = seed;
      o.times = times;
      expect_verdicts(o, Level::kCausal, std::nullopt);
    }
  }
}

TEST(ManyRanges, OfACausalStoreAreDecidedWithManySessions) {
  GenerateOptions o = ranges(400);
  o.store = Store::kCausal;
  o.sessions = 50;
  o.seed = 9;
  expect_verdicts(o, Level::kCausal, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Ranges, testing::Values(100, 1000), [](const auto& info) {
  return std::to_string(10 * info.param) + "Transactions";
});

}  // namespace
}  // namespace cupel::test
