// How much a checker may spend on a candidate: with little effort it refuses some of what is
// allowed, never all, and allows nothing that is not; with any it decides exactly.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.hpp"
#include "engine/check/check.hpp"
#include "engine/mock/admissibility.hpp"
#include "support/parameter_name.hpp"

namespace cupel::mock {
namespace {

constexpr auto kAny = std::numeric_limits<std::size_t>::max();

class Effort : public testing::TestWithParam<Level> {};

// Two checkers of one history, whose reads both allowed.
TEST_P(Effort, LittleOfItAllowsLess) {
  int fewer = 0, as_many = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const auto quick = order_admissibility(GetParam()), exact = order_admissibility(GetParam());
    const auto both = [&](auto&& call) {
      call(*quick);
      call(*exact);
    };
    base::Random random(seed);
    constexpr int kSessions = 12;
    for (Txn t = 0; t < 150; ++t) {
      const auto session = static_cast<Session>(random.below(kSessions));
      both([&](AdmissibilityChecker& checker) { checker.begin(t, session, GetParam()); });
      bool alive = true;
      std::vector<Key> written;
      for (int i = 0; i < 6 && alive; ++i) {
        const auto key = static_cast<Key>(random.below(12));
        if (random.chance(0.6)) {
          quick->set_effort(kAny);
          alive = exact->try_write(key);
          ASSERT_EQ(quick->try_write(key), alive) << "with any effort it is exact";
          written.push_back(key);
          continue;
        }
        if (std::find(written.begin(), written.end(), key) != written.end()) continue;
        std::vector<Txn> asked, allowed, without;
        exact->candidates(key, asked);
        for (const Txn w : asked) {
          if (!exact->try_read(key, w)) continue;
          exact->undo_last();
          allowed.push_back(w);
        }
        quick->set_effort(0);
        for (const Txn w : asked) {
          if (!quick->try_read(key, w)) continue;
          quick->undo_last();
          without.push_back(w);
        }
        ASSERT_FALSE(without.empty()) << "every read has an answer";
        ASSERT_TRUE(std::includes(allowed.begin(), allowed.end(), without.begin(), without.end(),
                                  [](Txn a, Txn b) { return a + 1 < b + 1; }));
        ++(without.size() < allowed.size() ? fewer : as_many);
        const Txn chosen = allowed[random.below(allowed.size())];
        quick->set_effort(kAny);
        both([&](AdmissibilityChecker& checker) { ASSERT_TRUE(checker.try_read(key, chosen)); });
      }
      both([&](AdmissibilityChecker& checker) {
        if (!alive || !checker.commit()) checker.abort();
      });
    }
  }
  EXPECT_GT(fewer, 0);
  EXPECT_GT(as_many, fewer);
}

// Longer than what is mostly spent on a candidate.
TEST_P(Effort, LongHistoriesAreWithinTheLevel) {
  Store store({.level = GetParam(), .seed = 3});
  base::Random random(4);
  std::vector<std::uint32_t> sessions;
  for (int s = 0; s < 30; ++s) sessions.push_back(store.open_session(std::to_string(s)));
  for (int t = 0; t < 2500; ++t) {
    const auto txn = store.begin(sessions[random.below(sessions.size())]);
    bool alive = true;
    for (int i = 0; i < 6 && alive; ++i) {
      const auto key = "k" + std::to_string(random.below(60));
      alive =
          random.chance(0.7) ? txn->write(key, Value::of(10 * t + i)) : txn->read(key).has_value();
    }
    if (alive) txn->commit();
  }
  check::Options options;
  options.asked = {*levels::parse_level(name(GetParam()))};
  EXPECT_EQ(check::check(*store.history(), options).levels[0].verdict, check::Verdict::kSatisfied);
}

INSTANTIATE_TEST_SUITE_P(Levels, Effort,
                         testing::Values(Level::kPrefix, Level::kStrongSessionSnapshotIsolation,
                                         Level::kStrongSessionSerializable),
                         test::parameter_name);

}  // namespace
}  // namespace cupel::mock
