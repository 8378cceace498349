// The counts, each definition on a history that shows it, and on random histories
// against brute force and against the engine's verdicts.
#include "engine/explain/counts/anomaly_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/random.hpp"
#include "data/history/mask.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/why/glossary.hpp"
#include "explain/counts/brute_force.hpp"
#include "property/random_history.hpp"

namespace cupel::test {
namespace {

using check::Verdict;
using history::History;
using history::OpId;
using levels::Level;

std::map<std::string, std::uint64_t> counts_of(const History& history) {
  base::Budget budget;
  const counts::AnomalyCounts counts(history, budget);
  EXPECT_TRUE(counts.finished());
  std::map<std::string, std::uint64_t> by_name;
  for (const auto& one : counts.counts()) by_name[one.name] = one.count;
  return by_name;
}
std::map<std::string, std::uint64_t> counts_of(std::string_view text) {
  return counts_of(history_of(text));
}
using Counts = std::map<std::string, std::uint64_t>;

TEST(AnomalyCounts, ALostUpdateIsAVersionThatTwoOverwrite) {
  EXPECT_EQ(counts_of("r(x,nil) w(x,1) | r(x,nil) w(x,2)"), (Counts{{"lost-update", 1}}));
  EXPECT_EQ(counts_of("r(x,nil) w(x,1) | r(x,nil) w(x,2) | r(x,nil) w(x,3)"),
            (Counts{{"lost-update", 1}}));
  EXPECT_EQ(counts_of("r(x,nil) w(x,1) | r(x,1) w(x,2)"), Counts{});
  EXPECT_EQ(counts_of("l(x,[]) a(x,1) | l(x,[]) a(x,2)"), (Counts{{"lost-update", 1}}));
  EXPECT_EQ(counts_of("w(x,0) | cas(x,0,1) | cas(x,0,2)"), (Counts{{"lost-update", 1}}));
}

TEST(AnomalyCounts, AWriteSkewIsAPairOfTransactions) {
  EXPECT_EQ(counts_of("r(x,nil) r(y,nil) w(x,1) | r(x,nil) r(y,nil) w(y,1)"),
            (Counts{{"write-skew", 1}}));
  EXPECT_EQ(counts_of("r(x,nil) w(y,1) | r(y,nil) w(x,1)"), (Counts{{"write-skew", 1}}));
  EXPECT_EQ(counts_of("r(x,nil) w(y,1) | r(y,1) w(x,1)"), Counts{});
}

TEST(AnomalyCounts, ANonRepeatableReadIsNoCausalityViolation) {
  EXPECT_EQ(counts_of("w(x,1) | r(x,nil) r(x,1)"), (Counts{{"non-repeatable-read", 1}}));
  // Of another key it is one.
  EXPECT_EQ(counts_of("w(x,1) | r(x,1) w(y,1) | r(y,1) r(x,nil)"),
            (Counts{{"causality-violation", 1}}));
}

TEST(AnomalyCounts, AReadCountsUnderTheFirstNameOnly) {
  EXPECT_EQ(counts_of("w(x,1) ; w(x,2) w(y,3) | r(y,3) r(x,1)"),
            (Counts{{"non-monotonic-read", 1}}));
  EXPECT_EQ(counts_of("w(x,1) ; w(x,2) w(y,3) | r(x,1) r(y,3)"), (Counts{{"fractured-read", 1}}));
  EXPECT_EQ(counts_of("w(x,1) w(y,1) | w(x,2) w(y,2) | r(x,1) r(y,2)"),
            (Counts{{"fractured-read", 1}}));
  EXPECT_EQ(counts_of("w(x,1) ; r(x,nil)"), (Counts{{"session-guarantee-violation", 1}}));
  EXPECT_EQ(counts_of("w(x,1) | r(x,1) w(y,1) | r(y,1) r(x,nil)"),
            (Counts{{"causality-violation", 1}}));
  EXPECT_EQ(counts_of("w(x,1) | r(x,1) w(y,1) | r(y,1) r(x,1)"), Counts{});
}

TEST(AnomalyCounts, ALongForkIsAPairOfVersions) {
  EXPECT_EQ(counts_of("w(x,1) | w(y,1) | r(x,1) r(y,nil) | r(x,nil) r(y,1)"),
            (Counts{{"long-fork", 1}}));
  EXPECT_EQ(counts_of("w(x,1) | w(y,1) | r(x,1) r(y,nil) | r(x,nil) r(y,1) | r(x,nil) r(y,1)"),
            (Counts{{"long-fork", 1}}));
  EXPECT_EQ(counts_of("w(x,1) | w(y,1) | r(x,1) r(y,nil) | r(x,1) r(y,1)"), Counts{});
}

TEST(AnomalyCounts, ACircleOfReadsIsCountedOnce) {
  EXPECT_EQ(counts_of("w(x,1) r(y,1) | w(y,1) r(x,1)"), (Counts{{"G1c", 1}}));
  EXPECT_EQ(counts_of("r(x,1) ; w(y,1) | r(y,1) ; w(x,1)"), (Counts{{"G1c-process", 1}}));
}

TEST(AnomalyCounts, InternalAnomaliesAreCountedByRead) {
  EXPECT_EQ(counts_of("r(x,7) r(y,8) | r(x,7)"), (Counts{{"thin-air-read", 3}}));
  EXPECT_EQ(counts_of("l(x,[1 2 3]) | l(x,[1 2 3])"), (Counts{{"thin-air-read", 2}}));
  EXPECT_EQ(counts_of("!w(x,1) | r(x,1)"), (Counts{{"aborted-read", 1}}));
}

TEST(AnomalyCounts, SeveralPossibleWritersMakeACountAtLeast) {
  base::Budget budget;
  const auto history = history_of("w(z,1) | w(z,1) | r(z,1) | r(x,nil) w(x,1) | r(x,nil) w(x,2)");
  const counts::AnomalyCounts counts(history, budget);
  ASSERT_EQ(counts.counts().size(), 1u);
  EXPECT_EQ(counts.counts()[0].name, "lost-update");
  EXPECT_FALSE(counts.counts()[0].exact);
}

TEST(AnomalyCounts, ABudgetThatIsUpEndsIt) {
  base::Budget budget(std::chrono::duration<double>(0), 0);
  const auto history = history_of("r(x,nil) w(x,1) | r(x,nil) w(x,2)");
  EXPECT_FALSE(counts::AnomalyCounts(history, budget).finished());
}

// Many readers of two keys each among a few writers: what random histories of a store
// seldom have.
Sketch readers_and_writers(std::uint64_t seed) {
  base::Random random(seed);
  std::string text;
  const auto key = [&](std::uint64_t k) { return std::string(1, static_cast<char>('a' + k)); };
  const auto value = [&](std::uint64_t v) {
    return v == 0 ? std::string("nil") : std::to_string(v);
  };
  for (std::uint64_t k = 0; k < 3; ++k) {
    for (std::uint64_t v = 1; v <= 2; ++v) {
      text += "w" + key(k) + value(v) + ": ";
      if (random.below(2) == 0) text += "r(" + key(k) + "," + value(v - 1) + ") ";
      if (random.below(3) == 0)
        text += "r(" + key((k + 1) % 3) + "," + value(random.below(2)) + ") ";
      text += "w(" + key(k) + "," + value(v) + ") | ";
    }
  }
  for (int r = 0; r < 5; ++r) {
    const auto k = random.below(3);
    text += "r(" + key(k) + "," + value(random.below(3)) + ") r(" + key((k + 1) % 3) + "," +
            value(random.below(3)) + ") | ";
  }
  return parse_sketch(text + "r(a,nil)");
}

TEST(AnomalyCounts, AgreesWithBruteForce) {
  Counts met;
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const Sketch sketch = readers_and_writers(seed);
    const auto history = build(sketch);
    const auto expected = counts_by_brute_force(history);
    ASSERT_TRUE(expected.has_value());
    ASSERT_EQ(counts_of(history), *expected) << to_text(sketch);
    for (const auto& [name, count] : *expected) met[name] += count;
  }
  for (std::uint64_t seed = 1; seed <= 12000; ++seed) {
    const Kind kind = kind_of_seed(seed);
    if (kind == Kind::kList || kind == Kind::kListStatuses || kind == Kind::kRange) continue;
    const Sketch sketch = random_sketch(kind, seed);
    const auto history = build(sketch);
    const auto expected = counts_by_brute_force(history);
    if (!expected) continue;
    auto found = counts_of(history);
    for (const auto& kind_name : explain::anomalies()) {
      // Brute force knows nothing of what shows inside one transaction or read.
      if (!expected->contains(std::string(kind_name.name)) && kind_name.weakest.size() == 3 &&
          kind_name.name[0] != 'G') {
        found.erase(std::string(kind_name.name));
      }
    }
    ASSERT_EQ(found, *expected) << "seed " << seed << "\n" << to_text(sketch);
    for (const auto& [name, count] : *expected) met[name] += count;
    ++compared;
  }
  EXPECT_GT(compared, 2000);
  for (const char* name :
       {"non-monotonic-read", "session-guarantee-violation", "fractured-read",
        "causality-violation", "G1c", "G1c-process", "long-fork", "lost-update", "write-skew"}) {
    EXPECT_GT(met[name], 0u) << name;
  }
}

// Whatever is counted is there: a level that forbids all that goes by the name is violated.
// What the check knows already changes no count.
TEST(AnomalyCounts, KnowingWhatTheCheckDidCountsTheSame) {
  int causal = 0;
  for (std::uint64_t seed = 1; seed <= 6000; ++seed) {
    const auto history = build(random_sketch(kind_of_seed(seed), seed));
    check::Options options;
    options.asked = {
        seed % 2 == 0 ? Level::kSnapshotIsolation : Level::kStrongSessionSnapshotIsolation,
        Level::kCausal};
    const auto result = check::check(history, options);
    if (!result.accesses) continue;  // nothing is violated
    const counts::PriorResult known{result.accesses,
                                    result.levels[1].verdict == Verdict::kSatisfied, 2};
    causal += known.causal ? 1 : 0;
    base::Budget budget;
    const counts::AnomalyCounts alone(history, budget), informed(history, budget, known);
    ASSERT_TRUE(alone.finished() && informed.finished());
    ASSERT_EQ(alone.counts().size(), informed.counts().size()) << seed;
    for (std::size_t i = 0; i < alone.counts().size(); ++i) {
      const auto &a = alone.counts()[i], &b = informed.counts()[i];
      EXPECT_EQ(a.name, b.name) << seed;
      EXPECT_EQ(a.count, b.count) << seed << " " << a.name;
      EXPECT_EQ(a.exact, b.exact) << seed << " " << a.name;
      EXPECT_EQ(a.keys, b.keys) << seed << " " << a.name;
    }
    for (std::uint32_t r = 0; r < alone.accesses().reads.size(); ++r) {
      for (std::size_t m = 0; m < counts::kMarkCount; ++m) {
        const auto mark = static_cast<counts::Mark>(m);
        ASSERT_EQ(alone.marked(r, mark), informed.marked(r, mark))
            << seed << " " << counts::name(mark);
      }
    }
  }
  EXPECT_GT(causal, 100);
}

TEST(AnomalyCounts, CountsOnlyWhatViolates) {
  int met = 0;
  for (std::uint64_t seed = 500000; seed < 503600; ++seed) {
    const Sketch sketch = random_sketch(kind_of_seed(seed), seed);
    const auto history = build(sketch);
    const auto counts = counts_of(history);
    if (counts.empty()) continue;
    const auto result = check::check(history, {});
    for (const auto& [name, count] : counts) {
      const auto all = explain::anomalies();
      const auto entry =
          std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
      ASSERT_NE(entry, all.end()) << name;
      for (const auto& level : result.levels) {
        const bool forbids =
            std::any_of(entry->weakest.begin(), entry->weakest.end(), [&](Level one) {
              return one != Level::kLinearizable && levels::implies(level.level, one);
            });
        if (!forbids || level.verdict == Verdict::kRefused) continue;
        ++met;
        EXPECT_EQ(level.verdict, Verdict::kViolated)
            << name << " at " << levels::name(level.level) << ", seed " << seed << "\n"
            << to_text(sketch);
      }
    }
  }
  EXPECT_GT(met, 1000);
}

TEST(Mask, AnUnknownReadConstrainsNothingAndIdsStay) {
  const auto history =
      history_of("r(x,7) w(y,1) | cas(x,5,6) | cas!(x,5,6) | range(a,c,[a=1]) | l(z,[9]) a(z,1)");
  std::vector<OpId> all;
  for (std::uint32_t i = 0; i < history.op_count(); ++i) all.push_back(OpId(i));
  const auto masked = history::with_unknown(history, all);
  EXPECT_EQ(masked.op_count(), history.op_count());
  EXPECT_EQ(masked.op(OpId(1)).kind, history::OpKind::kWrite);
  EXPECT_EQ(masked.op(OpId(2)).kind, history::OpKind::kWrite);
  EXPECT_EQ(masked.value(masked.op(OpId(2)).value).integer, 6);
  EXPECT_EQ(masked.op(OpId(3)).kind, history::OpKind::kRead);
  for (const auto& level : check::check(masked, {}).levels) {
    EXPECT_NE(level.verdict, Verdict::kViolated) << levels::name(level.level);
  }
}

}  // namespace
}  // namespace cupel::test
