// The engine and the oracle agree on every level of random histories of every
// kind. A disagreement prints its seed and the shrunk history.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <vector>

#include "oracle/oracle.hpp"
#include "property/agreement.hpp"
#include "property/random_history.hpp"

namespace cupel::test {
namespace {

constexpr std::uint64_t kSeedsPerKind = 300;

// Of a committed transaction, a list to which somebody appends.
bool reads_a_list_in_a_range(const history::History& h) {
  std::vector<bool> appended(h.key_count());
  for (std::size_t o = 0; o < h.op_count(); ++o) {
    const auto op = h.op(history::OpId(o));
    if (op.kind == history::OpKind::kAppend) appended[op.key.index()] = true;
  }
  for (std::size_t o = 0; o < h.op_count(); ++o) {
    const history::OpId id(o);
    if (h.kind(id) != history::OpKind::kRangeRead) continue;
    if (h.status(h.txn_of(id)) != history::TxnStatus::kCommitted) continue;
    const auto range = h.range(h.op(id));
    const auto keys = h.keys_between(h.value(range.low), h.value(range.high));
    for (const auto key : keys) {
      if (appended[key.index()]) return true;
    }
  }
  return false;
}

class EngineVsOracle : public testing::TestWithParam<int> {};

TEST_P(EngineVsOracle, Agree) {
  const int kind = GetParam();
  std::uint64_t compared = 0;
  for (std::uint64_t i = 0; i < kSeedsPerKind; ++i) {
    const std::uint64_t seed = i * kKindCount + static_cast<std::uint64_t>(kind);
    const Sketch sketch = random_sketch(kind_of_seed(seed), seed);
    if (!is_compared(build(sketch))) continue;
    ++compared;
    const std::string text = disagreement(sketch).empty() ? "" : first_disagreement(seed, 1);
    ASSERT_TRUE(text.empty()) << text;
  }
  EXPECT_GE(compared, kSeedsPerKind / 2);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EngineVsOracle, testing::Range(0, kKindCount),
                         [](const auto& info) {
                           std::string text(name(static_cast<Kind>(info.param)));
                           for (char& c : text) c = c == '-' ? '_' : c;
                           return text;
                         });

// A range read that does not return a list saw it empty.
TEST(RangesOverLists, Agree) {
  std::uint64_t compared = 0, over_appended = 0;
  for (std::uint64_t i = 1; i < 4 * kSeedsPerKind; i += 4) {
    for (const Kind kind : {Kind::kRange, Kind::kEverything}) {
      const std::uint64_t seed = i * kKindCount + static_cast<std::uint64_t>(kind);
      const auto h = build(random_sketch(kind, seed));
      if (!is_compared(h)) continue;
      ++compared;
      over_appended += reads_a_list_in_a_range(h);
      const std::string text = disagreement(h).empty() ? "" : first_disagreement(seed, 1);
      ASSERT_TRUE(text.empty()) << text;
    }
  }
  EXPECT_GE(compared, kSeedsPerKind);
  EXPECT_GE(over_appended, compared / 8);
}

// A generator whose histories all get one answer would test nothing.
TEST(RandomHistory, MakesBothAnswersAtEveryLevel) {
  std::map<levels::Level, std::array<int, 2>> answers;
  for (std::uint64_t seed = 0; seed < 1100; ++seed) {
    const auto h = build(random_sketch(kind_of_seed(seed), seed));
    if (oracle::writer_choices(h) > 50) continue;
    for (const auto level : levels::all_levels()) {
      if (levels::needs_real_time(level) && !h.has_all_times()) continue;
      if (level == levels::Level::kLinearizable && !oracle::is_single_object(h)) continue;
      ++answers[level][oracle::oracle_satisfies(h, level)];
    }
  }
  for (const auto level : levels::all_levels()) {
    EXPECT_GE(answers[level][0], 15) << "violated at " << levels::name(level);
    EXPECT_GE(answers[level][1], 15) << "satisfied at " << levels::name(level);
  }
}

// The engine gives up session order only where it must; here it must.
TEST(RandomHistory, SometimesViolatesSessionOrderAlone) {
  int serializable = 0, snapshot = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto h = build(random_sketch(Kind::kSessionOrder, seed));
    if (oracle::writer_choices(h) > 50) continue;
    serializable += oracle::oracle_satisfies(h, levels::Level::kSerializable) &&
                    !oracle::oracle_satisfies(h, levels::Level::kStrongSessionSerializable);
    snapshot += oracle::oracle_satisfies(h, levels::Level::kSnapshotIsolation) &&
                !oracle::oracle_satisfies(h, levels::Level::kStrongSessionSnapshotIsolation);
  }
  EXPECT_GE(serializable, 20);
  EXPECT_GE(snapshot, 20);
}

// Two rows of one key with different values in one range read; of these histories
// read-committed must allow some and forbid some.
bool returns_two_values(const Sketch& sketch) {
  for (const auto& session : sketch.sessions) {
    for (const auto& txn : session.txns) {
      for (const auto& op : txn.ops) {
        std::map<Atom, Atom> first;
        for (const auto& [key, value] : op.entries) {
          if (first.try_emplace(key, value).first->second != value) return true;
        }
      }
    }
  }
  return false;
}
TEST(RandomHistory, SometimesReturnsAKeyTwice) {
  int allowed = 0, forbidden = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const Sketch sketch = random_sketch(Kind::kRangeRows, seed);
    const auto h = build(sketch);
    if (!returns_two_values(sketch) || !is_compared(h)) continue;
    ++(oracle::oracle_satisfies(h, levels::Level::kReadCommitted) ? allowed : forbidden);
  }
  EXPECT_GE(allowed, 40);
  EXPECT_GE(forbidden, 40);
}

TEST(RandomHistory, IsDeterministic) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(random_sketch(kind_of_seed(seed), seed), random_sketch(kind_of_seed(seed), seed));
  }
}

}  // namespace
}  // namespace cupel::test
