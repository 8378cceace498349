// The ladder if one level takes longer than there is time. Two kinds of tests: a script in place of
// the engine, which shows the order of the decisions; and registers with two values, which hundreds
// of writes wrote, so that nearly every read has many possible writers.
#include "engine/check/ladder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/verdict.hpp"
#include "data/history/builder.hpp"
#include "engine/check/check.hpp"

namespace cupel {
namespace {

using check::Verdict;
using levels::Level;

constexpr int kSessions = 8, kTxns = 160, kOps = 4, kKeys = 3, kValues = 2;

// Of a serializable store, but that a read in fifty gives an old value.
history::History two_values(std::uint64_t seed) {
  base::Random random(seed);
  history::HistoryBuilder b;
  std::vector<history::SessionId> sessions;
  for (int s = 0; s < kSessions; ++s) sessions.push_back(b.session(std::to_string(s)));
  std::vector<history::KeyId> keys;
  for (int k = 0; k < kKeys; ++k) keys.push_back(b.key(k));
  b.set_default_initial(b.value(0));
  std::vector<std::vector<int>> written(kKeys, {0});  // each key's values so far
  for (int t = 0; t < kTxns; ++t) {
    b.begin(sessions[random.below(kSessions)], history::TxnStatus::kCommitted);
    std::vector<int> own(kKeys, -1);
    for (int o = 0; o < kOps; ++o) {
      const auto k = random.below(kKeys);
      if (random.chance(0.5)) {
        own[k] = static_cast<int>(random.below(kValues));
        b.write(keys[k], b.value(own[k]));
      } else if (own[k] >= 0) {
        b.read(keys[k], b.value(own[k]));
      } else {
        const auto& past = written[k];
        b.read(keys[k],
               b.value(random.chance(0.02) ? past[random.below(past.size())] : past.back()));
      }
    }
    b.end();
    for (int k = 0; k < kKeys; ++k) {
      if (own[k] >= 0) written[k].push_back(own[k]);
    }
  }
  auto built = std::move(b).finish();
  EXPECT_TRUE(built.ok());
  return *std::move(built);
}

const check::LevelResult& of(const check::CheckResult& result, Level level) {
  return *std::find_if(result.levels.begin(), result.levels.end(),
                       [&](const auto& one) { return one.level == level; });
}

// Gives the verdicts of a script, in no time. A level of `slow` uses up its attempt at every call:
// a violated one then has a proof without edges, instead of one edge.
class Script : public check::LevelDecider {
 public:
  std::map<Level, base::Verdict> verdicts;  // satisfied if absent
  std::set<Level> slow;
  bool polynomial = true;  // the weak levels
  std::vector<Level> calls;

  std::optional<std::string> refusal(Level) override { return std::nullopt; }
  void prepare(base::Budget&) override {}
  bool is_polynomial(Level level) override { return polynomial && levels::is_weak(level); }
  levels::Decision decide(Level level, base::Budget& budget) override {
    calls.push_back(level);
    levels::Decision decision;
    decision.status = base::Verdict::kSatisfied;
    decision.decided_by = "script";
    if (const auto it = verdicts.find(level); it != verdicts.end()) decision.status = it->second;
    const bool cut_off = slow.contains(level) && budget.seconds_left() < 15;
    if (cut_off) budget.meet(base::Limit::kTime);
    if (decision.status == base::Verdict::kViolated) {
      decision.violation.emplace().derivation.edges.resize(cut_off ? 0 : 1);
    }
    return decision;
  }
  // Place of the last call for the level.
  [[nodiscard]] std::ptrdiff_t last(Level level) const {
    return calls.rend() - std::find(calls.rbegin(), calls.rend(), level);
  }
};

using base::Verdict;

TEST(Ladder, DecidesPolynomialLevelsFirst) {
  Script script;
  script.verdicts = {{Level::kCausal, Verdict::kViolated},
                     {Level::kSnapshotIsolation, Verdict::kViolated}};
  script.slow = {Level::kSnapshotIsolation};
  base::Budget budget(std::chrono::duration<double>(20), 0);
  check::Ladder ladder(&script, budget);
  ladder.decide_all(levels::all_levels());
  ASSERT_GE(script.calls.size(), 4u);
  EXPECT_EQ(std::vector(script.calls.begin(), script.calls.begin() + 4),
            (std::vector{Level::kCausal, Level::kReadCommitted, Level::kReadAtomic,
                         Level::kSnapshotIsolation}));
  EXPECT_EQ(ladder.known(Level::kReadCommitted).verdict, Verdict::kSatisfied);
  EXPECT_EQ(ladder.known(Level::kReadAtomic).verdict, Verdict::kSatisfied);
  EXPECT_EQ(ladder.known(Level::kSerializable).verdict, Verdict::kViolated);
}

TEST(Ladder, WithoutALimitTriesFirstWhatSettlesThePolynomialLevels) {
  for (const auto verdict : {Verdict::kSatisfied, Verdict::kViolated}) {
    Script script;
    script.verdicts = {{Level::kStrictSerializable, verdict}};
    base::Budget budget;
    check::Ladder ladder(&script, budget);
    ladder.decide_all(levels::all_levels());
    ASSERT_FALSE(script.calls.empty());
    EXPECT_EQ(script.calls.front(), Level::kStrictSerializable);
    const bool satisfied = verdict == Verdict::kSatisfied;
    for (const Level level : levels::all_levels()) {
      if (level == Level::kStrictSerializable || level == Level::kLinearizable) continue;
      EXPECT_EQ(ladder.known(level).verdict, Verdict::kSatisfied) << levels::name(level);
      EXPECT_EQ(ladder.known(level).decided_by == "implied-by:strict-serializable", satisfied)
          << levels::name(level);
    }
  }
}

TEST(Ladder, WithoutALimitDecidesPolynomialLevelsAfterOneShortAttempt) {
  Script script;
  script.verdicts = {{Level::kStrictSerializable, Verdict::kUnknown},
                     {Level::kCausal, Verdict::kViolated}};
  script.slow = {Level::kStrictSerializable};
  base::Budget budget;
  check::Ladder ladder(&script, budget);
  ladder.decide_all(levels::all_levels());
  ASSERT_GE(script.calls.size(), 4u);
  EXPECT_EQ(std::vector(script.calls.begin(), script.calls.begin() + 4),
            (std::vector{Level::kStrictSerializable, Level::kCausal, Level::kReadCommitted,
                         Level::kReadAtomic}));
}

TEST(Ladder, CompletesACutOffProofAfterEveryVerdict) {
  Script script;
  script.verdicts = {{Level::kSnapshotIsolation, Verdict::kViolated}};
  for (const Level level : levels::all_levels()) {
    if (levels::implies(level, Level::kSnapshotIsolation))
      script.verdicts[level] = Verdict::kViolated;
  }
  script.slow = {Level::kSnapshotIsolation, Level::kStrictSerializable};
  base::Budget budget(std::chrono::duration<double>(100), 0);
  check::Ladder ladder(&script, budget);
  ladder.decide_all(levels::all_levels());
  for (const Level level : levels::all_levels()) {
    const auto& known = ladder.known(level);
    EXPECT_TRUE(ladder.done(level)) << levels::name(level);
    if (known.verdict == Verdict::kViolated && known.explained_at == Level::kSnapshotIsolation) {
      EXPECT_EQ(known.violation->derivation.edges.size(), 1u) << levels::name(level);
    }
    if (level == Level::kSnapshotIsolation || level == Level::kStrictSerializable) continue;
    EXPECT_LT(script.last(level), script.last(Level::kSnapshotIsolation)) << levels::name(level);
  }
}

TEST(Ladder, NoHardLevelIsAskedAgainBeforeAllOthersWereAsked) {
  Script script;
  script.polynomial = false;
  script.verdicts = {{Level::kCausal, Verdict::kUnknown},
                     {Level::kStrictSerializable, Verdict::kViolated},
                     {Level::kStrongSessionSerializable, Verdict::kViolated}};
  script.slow = {Level::kCausal};
  base::Budget budget(std::chrono::duration<double>(20), 0);
  check::Ladder ladder(&script, budget);
  ladder.decide_all(std::vector{Level::kReadCommitted, Level::kReadAtomic, Level::kCausal,
                                Level::kStrongSessionSerializable, Level::kStrictSerializable});
  const auto first = std::find(script.calls.begin(), script.calls.end(), Level::kCausal);
  const auto again = std::find(first + 1, script.calls.end(), Level::kCausal);
  ASSERT_NE(again, script.calls.end());
  for (const Level weak : {Level::kReadCommitted, Level::kReadAtomic}) {
    EXPECT_LT(std::find(script.calls.begin(), script.calls.end(), weak), again);
    EXPECT_EQ(ladder.known(weak).verdict, Verdict::kSatisfied);
  }
}

// Causal consistency takes hours; read committed takes no time, also where sanitizers and other
// tests do.
TEST(Ladder, OneLevelLeavesTimeToTheOthers) {
  const auto h = two_values(3);
  check::Options options;
  options.threads = 1;
  options.timeout_seconds = 6;
  const auto result = check::check(h, options);
  EXPECT_EQ(of(result, Level::kReadCommitted).verdict, Verdict::kSatisfied);
  for (const auto& one : result.levels) {
    EXPECT_EQ(one.verdict == Verdict::kUnknown || one.verdict == Verdict::kRefused,
              !one.detail.empty())
        << levels::name(one.level);
  }
}

}  // namespace
}  // namespace cupel
