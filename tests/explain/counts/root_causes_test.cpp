// RootCauses: one each, however often it shows; floods are cut and the rest is found
// they hide; and whatever is found is a violation of the whole history.
#include "engine/explain/counts/root_causes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "data/history/builder.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/counts/whole_history.hpp"
#include "engine/explain/shrink/shrink.hpp"
#include "property/random_history.hpp"

namespace cupel::test {
namespace {

using check::Verdict;
using history::OpId;
using history::ScalarView;
using levels::Level;

std::optional<counts::WholeHistory> analysis_of(const history::History& history,
                                                check::Options options = {}) {
  base::Budget budget;
  options.threads = 1;
  const auto result = check::check(history, options);
  return counts::analyze_history(history, result, options, budget, 60);
}
std::map<std::string, int> names_of(const counts::WholeHistory& analysis) {
  std::map<std::string, int> names;
  for (const auto& cause : analysis.causes.found) ++names[cause.name];
  return names;
}
using Names = std::map<std::string, int>;

TEST(RootCauses, ASatisfiedHistoryHasNoAnalysis) {
  EXPECT_FALSE(analysis_of(history_of("w(x,1) | r(x,1)")).has_value());
  // What is not asked is not looked for.
  check::Options options;
  options.asked = {Level::kReadCommitted};
  const auto lost = history_of("r(x,nil) w(x,1) | r(x,nil) w(x,2)");
  EXPECT_FALSE(analysis_of(lost, options).has_value());
}

TEST(RootCauses, ManyReadsOfOneLostKeyAreOne) {
  history::HistoryBuilder b;
  const auto x = b.key(ScalarView::of(std::string_view("x")));
  for (int i = 0; i < 5000; ++i) {
    b.begin(b.session(std::to_string(i % 10)), history::TxnStatus::kCommitted, {});
    b.read(x, b.value(100 + i));
    b.end();
  }
  const auto history = std::move(b).finish().value();
  const auto analysis = analysis_of(history);
  ASSERT_EQ(analysis->causes.found.size(), 1u);
  EXPECT_EQ(analysis->causes.found[0].occurrences, 5000u);
  EXPECT_EQ(analysis->causes.found[0].violation.internal.size(), 1u);
  EXPECT_TRUE(analysis->causes.all);
  ASSERT_EQ(analysis->counts.size(), 1u);
  EXPECT_EQ(analysis->counts[0].count, 5000u);
}

TEST(RootCauses, ReadersOfOneOutdatedVersionAreOne) {
  const auto analysis = analysis_of(
      history_of("w(x,1) w(y,1) | r(y,1) r(x,nil) | r(y,1) r(x,nil) | r(y,1) r(x,nil) | r(x,1)"));
  ASSERT_EQ(analysis->causes.found.size(), 1u);
  EXPECT_EQ(analysis->causes.found[0].name, "non-monotonic-read");
  EXPECT_EQ(analysis->causes.found[0].occurrences, 3u);
  EXPECT_TRUE(analysis->causes.all);
}

TEST(RootCauses, RepeatedReadsOfOneVersionAreOne) {
  const auto analysis = analysis_of(history_of("a: r(x,2) r(x,2) r(x,2) r(x,2) ; w(x,2)"));
  ASSERT_TRUE(analysis);
  EXPECT_EQ(analysis->causes.found.size(), 1u);
  EXPECT_TRUE(analysis->causes.left_out.empty());
}

// One transaction missed all that another wrote.
TEST(RootCauses, StaleReadsOfSeveralKeysByOneTransactionAreOne) {
  history::HistoryBuilder b;
  const auto x = b.key(ScalarView::of(std::string_view("x")));
  const auto y = b.key(ScalarView::of(std::string_view("y")));
  const auto write = [&](const char* session, int value, history::Time at) {
    b.begin(b.session(session), history::TxnStatus::kCommitted, {.invoke = at, .complete = at + 1});
    for (const auto key : {x, y}) b.write(key, b.value(value));
    b.end();
  };
  write("0", 1, 0);
  write("1", 2, 10);
  b.begin(b.session("2"), history::TxnStatus::kCommitted, {.invoke = 20, .complete = 21});
  for (const auto key : {x, y}) b.read(key, b.value(1));
  b.end();
  const auto analysis = analysis_of(std::move(b).finish().value());
  ASSERT_TRUE(analysis);
  EXPECT_EQ(names_of(*analysis), (Names{{"G-single-realtime", 1}}));
  EXPECT_TRUE(analysis->causes.all);
}

TEST(RootCauses, UpdatesLostFromOneVersionAreOne) {
  const auto analysis = analysis_of(
      history_of("r(x,nil) w(x,1) | r(x,nil) w(x,2) | r(x,nil) w(x,3) | r(x,nil) w(x,4)"));
  ASSERT_EQ(analysis->causes.found.size(), 1u);
  EXPECT_EQ(analysis->causes.found[0].name, "lost-update");
  EXPECT_EQ(analysis->causes.found[0].occurrences, 3u);
}

TEST(RootCauses, AFloodHidesNothingElse) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += "r(k" + std::to_string(i) + ",nil) w(k" + std::to_string(i) + ",1) | r(k" +
            std::to_string(i) + ",nil) w(k" + std::to_string(i) + ",2) | ";
  }
  for (int i = 0; i < 20; ++i) text += "r(t" + std::to_string(i) + ",9) | ";
  text += "r(x,nil) r(y,nil) w(x,1) | r(x,nil) r(y,nil) w(y,1)";
  const auto analysis = analysis_of(history_of(text));
  EXPECT_EQ(names_of(*analysis),
            (Names{{"thin-air-read", 3}, {"lost-update", 3}, {"write-skew", 1}}));
  EXPECT_EQ(analysis->causes.left_out,
            (std::vector<std::pair<std::string, std::uint64_t>>{{"thin-air-read", 17}}));
  EXPECT_TRUE(analysis->causes.all);
  Names counts;
  for (const auto& one : analysis->counts) counts[one.name] = static_cast<int>(one.count);
  EXPECT_EQ(counts, (Names{{"thin-air-read", 20}, {"lost-update", 40}, {"write-skew", 1}}));
}

TEST(RootCauses, OfOneNameThereAreEnoughOverAllLevels) {
  // With the reads of k unknown, those of x and y still say something of the same two.
  std::string text;
  for (int i = 0; i < 6; ++i) {
    const auto n = std::to_string(i), k = "k" + n, x = "x" + n, y = "y" + n;
    if (i > 0) text += " | ";
    text += "r(" + k + ",nil) r(" + y + ",nil) w(" + k + ",1) w(" + x + ",1) | ";
    text += "r(" + k + ",nil) r(" + x + ",nil) w(" + k + ",2) w(" + y + ",1)";
  }
  const auto analysis = analysis_of(history_of(text));
  EXPECT_EQ(names_of(*analysis)["lost-update"], 3);
  for (const auto& cause : analysis->causes.found) {
    if (cause.name == "lost-update") {
      EXPECT_EQ(cause.level, Level::kSnapshotIsolation);
    }
  }
}

// A session that lost sight of its own write, and a reader of the same version in another
// session, in whose past that write is.
TEST(RootCauses, ReadersOfOneVersionUnderTwoNamesAreTwo) {
  const auto analysis =
      analysis_of(history_of("w(x,1) w(p,1) | r(p,1) w(x,2) ; r(x,1) ; w(q,1) | r(q,1) ; r(x,1)"));
  EXPECT_EQ(names_of(*analysis),
            (Names{{"session-guarantee-violation", 1}, {"causality-violation", 1}}));
  EXPECT_TRUE(analysis->causes.all);
}

// Cycles that the counts do not include: three of them, and one of another name after them.
TEST(RootCauses, OfANameThatIsNotCountedThereAreThree) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    const auto key = [&](const char* name) { return name + std::to_string(i); };
    text += "r(" + key("a") + ",nil) w(" + key("b") + ",1) | r(" + key("b") + ",nil) w(" +
            key("c") + ",1) | r(" + key("c") + ",nil) w(" + key("a") + ",1) | ";
  }
  const auto analysis = analysis_of(history_of(text + "r(x,nil) w(y,1) | r(y,nil) w(x,1)"));
  EXPECT_EQ(names_of(*analysis)["G2-item"], 3);
  EXPECT_FALSE(analysis->causes.all);
  ASSERT_FALSE(analysis->causes.left_out.empty());
  EXPECT_EQ(analysis->causes.left_out.front().first, "G2-item");
}

// The check may report a name that is gone once the causes before it are set aside.
TEST(RootCauses, WhatIsReportedIsCounted) {
  const auto history = history_of("init=0 w(z,5) | r(x,0) w(x,1) | r(x,0) w(x,2)");
  check::Options options;
  options.asked = {Level::kSnapshotIsolation};
  const auto reported = shrink::counterexamples(history, check::check(history, options));
  ASSERT_EQ(reported.size(), 1u);
  counts::WholeHistory analysis;
  for (int again = 0; again < 2; ++again) {
    counts::count_reported(history, reported, analysis);
    ASSERT_EQ(analysis.counts.size(), 1u);
    EXPECT_EQ(analysis.counts[0].name, "lost-update");
    EXPECT_EQ(analysis.counts[0].count, 1u);
    EXPECT_FALSE(analysis.counts[0].exact);
    ASSERT_EQ(analysis.counts[0].keys.size(), 1u);
    EXPECT_EQ(history.key(analysis.counts[0].keys[0]).to_string(), "x");
  }
  analysis.counts[0] = {"lost-update", 7, true, {}, 3};  // of an exact count the keys are known
  counts::count_reported(history, reported, analysis);
  EXPECT_EQ(analysis.counts[0].count, 7u);
  EXPECT_TRUE(analysis.counts[0].keys.empty());
}

TEST(RootCauses, MostSevereFirst) {
  const auto analysis = analysis_of(history_of(
      "r(a,nil) r(b,nil) w(a,1) | r(a,nil) r(b,nil) w(b,1) | r(x,nil) w(x,1) | r(x,nil) w(x,2) | "
      "w(p,1) | r(p,1) w(q,1) | r(q,1) r(p,nil) | r(t,5)"));
  std::vector<std::string> names;
  for (const auto& cause : analysis->causes.found) names.push_back(cause.name);
  EXPECT_EQ(names, (std::vector<std::string>{"thin-air-read", "causality-violation", "lost-update",
                                             "write-skew"}));
}

TEST(RootCauses, WhatTheCheckFoundAtAnotherLevelIsNotFoundAgain) {
  // Causal and snapshot isolation do not imply each other: the check finds one for each.
  const auto history =
      history_of("w(p,1) | r(p,1) w(q,1) | r(q,1) r(p,nil) | r(x,nil) w(x,1) | r(x,nil) w(x,2)");
  auto result = check::check(history, {});
  check::Options alone;
  alone.asked = {Level::kSnapshotIsolation};
  auto lost = check::check(history_of("r(x,nil) w(x,1) | r(x,nil) w(x,2)"), alone);
  ASSERT_TRUE(lost.levels[0].violation.has_value());
  // In the whole history these two come last.
  for (auto& level : result.levels) {
    if (level.level != Level::kSnapshotIsolation) continue;
    level.violation = lost.levels[0].violation;
    level.explained_at = level.level;
    for (auto& edge : level.violation->derivation.edges) {
      const auto shift = [](auto& id, std::uint32_t by) {
        if (id.valid()) id.raw += by;
      };
      for (auto* txn : {&edge.from, &edge.to, &edge.reader, &edge.writer}) shift(*txn, 3);
      for (auto* op : {&edge.from_op, &edge.to_op, &edge.witness}) shift(*op, 5);
      if (edge.key.valid()) edge.key = history.op(OpId(5)).key;
    }
  }
  base::Budget budget;
  const auto analysis = counts::analyze_history(history, result, {}, budget, 60);
  ASSERT_EQ(analysis->causes.found.size(), 2u);
  EXPECT_EQ(names_of(*analysis), (Names{{"causality-violation", 1}, {"lost-update", 1}}));
  EXPECT_TRUE(analysis->causes.found[0].from_check);
  EXPECT_TRUE(analysis->causes.found[1].from_check);
  EXPECT_TRUE(analysis->causes.all);
}

TEST(RootCauses, NoTimeLeavesWhatTheCheckFound) {
  base::Budget budget;
  const auto history =
      history_of("r(x,nil) w(x,1) | r(x,nil) w(x,2) | r(y,nil) w(y,1) | r(y,nil) w(y,2)");
  const auto result = check::check(history, {});
  const auto analysis = counts::analyze_history(history, result, {}, budget, 0);
  ASSERT_EQ(analysis->causes.found.size(), 1u);
  EXPECT_TRUE(analysis->causes.found[0].from_check);
  EXPECT_FALSE(analysis->causes.all);
  EXPECT_EQ(analysis->counts[0].count, 2u);
}

TEST(RootCauses, AreViolationsOfTheWholeHistory) {
  int several = 0;
  for (std::uint64_t seed = 700000; seed < 702400; ++seed) {
    const Sketch sketch = random_sketch(kind_of_seed(seed), seed);
    const auto history = build(sketch);
    const auto result = check::check(history, {});
    base::Budget budget;
    const auto analysis = counts::analyze_history(history, result, {}, budget, 60);
    if (!analysis) continue;
    ASSERT_FALSE(analysis->causes.found.empty()) << to_text(sketch);
    if (analysis->causes.found.size() > 1) ++several;
    std::set<std::tuple<std::string, std::vector<std::uint32_t>, std::vector<history::KeyId>>> once;
    for (const auto& cause : analysis->causes.found) {
      // Asked alone: the ladder may not have asked it.
      check::Options alone_options;
      alone_options.asked = {cause.level};
      const auto alone = check::check(history, alone_options);
      EXPECT_EQ(alone.levels[0].verdict, Verdict::kViolated)
          << cause.name << " at " << levels::name(cause.level) << "\n"
          << to_text(sketch);
      const auto counted =
          std::find_if(analysis->counts.begin(), analysis->counts.end(), [&](const auto& one) {
            return one.name == cause.name ||
                   (one.name.starts_with("G1c") && cause.name.starts_with("G1c"));
          });
      ASSERT_NE(counted, analysis->counts.end());
      EXPECT_GE(counted->count, 1u);
      std::vector<std::uint32_t> transactions;
      for (const auto& one : explain::explain(history, cause.level, cause.violation))
        for (const auto txn : one.transactions) transactions.push_back(txn.raw);
      std::sort(transactions.begin(), transactions.end());
      EXPECT_TRUE(once.insert({cause.name, transactions, cause.keys}).second)
          << cause.name << " twice\n"
          << to_text(sketch);
    }
  }
  EXPECT_GT(several, 50);
}

}  // namespace
}  // namespace cupel::test
