// The ladder where one level takes longer than there is time: registers with two values, which
// hundreds of writes wrote, so that whose value a read saw is open nearly everywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.hpp"
#include "check/check.hpp"
#include "history/builder.hpp"

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

// Causal consistency is asked first and takes hours; read committed takes no time, also where
// sanitizers and other tests do.
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
