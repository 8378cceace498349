// What each level accepts and rejects: for each anomaly that separates a level from those it
// implies, a history that the level rejects and the same with a single edit, which it
// accepts. The levels that it implies directly accept both, so a failure names the axiom.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "engine/levels/decide.hpp"
#include "support/history_language.hpp"
#include "verdicts.hpp"

namespace cupel::levels {
namespace {

struct Case {
  Level level;
  const char* anomaly;
  const char* rejected;
  const char* accepted;
  bool weaker_accept = true;  // the levels that `level` implies directly accept the rejected one
  friend void PrintTo(const Case& one, std::ostream* out) { *out << one.anomaly; }
};

// NOLINTBEGIN(bugprone-suspicious-missing-comma)
constexpr Case kCases[] = {
    {Level::kReadCommitted, "aborted_read", "s1: !w(x,1) | s2: r(x,1)", "s1: w(x,1) | s2: r(x,1)"},
    {Level::kReadCommitted, "intermediate_read", "s1: w(x,1) w(x,2) | s2: r(x,1)",
     "s1: w(x,1) w(x,2) | s2: r(x,2)"},
    {Level::kReadCommitted, "non_monotonic_read", "s1: w(x,1) ; w(x,2) w(y,2) | s2: r(y,2) r(x,1)",
     "s1: w(x,1) ; w(x,2) w(y,2) | s2: r(y,2) r(x,2)"},
    {Level::kReadAtomic, "fractured_read", "s1: w(x,1) w(y,1) | s2: r(x,nil) r(y,1)",
     "s1: w(x,1) w(y,1) | s2: r(x,1) r(y,1)"},
    {Level::kReadAtomic, "non_repeatable_read", "s1: w(x,1) | s2: r(x,nil) r(x,1)",
     "s1: w(x,1) | s2: r(x,1) r(x,1)"},
    {Level::kReadCommitted, "aborted_row", "s1: w(x,1) ; !w(x,2) | s2: range(w,y,[x=1 x=2])",
     "s1: w(x,1) ; w(x,2) | s2: range(w,y,[x=1 x=2])"},
    {Level::kReadAtomic, "two_rows_of_a_key", "s1: w(x,1) | s2: w(x,2) | s3: range(w,y,[x=1 x=2])",
     "s1: w(x,1) | s2: w(x,2) | s3: range(w,y,[x=1 x=1])"},
    {Level::kReadAtomic, "session_guarantee_violation", "s1: w(x,1) ; r(x,nil)",
     "s1: w(x,1) ; r(x,1)"},
    {Level::kCausal, "causality_violation", "s1: w(x,1) | s2: r(x,1) w(y,1) | s3: r(y,1) r(x,nil)",
     "s1: w(x,1) | s2: r(x,1) w(y,1) | s3: r(y,1) r(x,1)"},
    {Level::kPrefix, "long_fork",
     "s1: w(x,1) | s2: w(y,1) | s3: r(x,1) r(y,nil) | "
     "s4: r(y,1) r(x,nil)",
     "s1: w(x,1) | s2: w(y,1) | s3: r(x,1) r(y,nil) | s4: r(y,1) r(x,1)"},
    {Level::kSnapshotIsolation, "lost_update", "s1: r(x,nil) w(x,1) | s2: r(x,nil) w(x,2)",
     "s1: r(x,nil) w(x,1) | s2: r(x,1) w(x,2)"},
    {Level::kSnapshotIsolation, "long_fork",
     "s1: w(x,1) | s2: w(y,1) | s3: r(x,1) r(y,nil) | "
     "s4: r(y,1) r(x,nil)",
     "s1: w(x,1) | s2: w(y,1) | s3: r(x,1) r(y,nil) | s4: r(y,1) r(x,1)"},
    {Level::kGeneralizedSnapshotIsolation, "read_from_the_future",
     "s1: r(x,1) @0-1 | s2: w(x,1) @5-6", "s1: r(x,1) @0-5 | s2: w(x,1) @5-6"},
    {Level::kStrongSessionSnapshotIsolation, "stale_read_in_a_session_that_a_conflict_orders",
     "s1: w(x,1) w(z,1) ; r(y,nil) | s2: r(z,nil) w(x,2) w(y,1)",
     "s1: w(x,1) w(z,1) ; r(y,1) | s2: r(z,nil) w(x,2) w(y,1)"},
    {Level::kStrongSessionSnapshotIsolation, "stale_read_in_a_session", "s1: w(x,1) ; r(x,nil)",
     "s1: w(x,1) ; r(x,1)", false},  // prefix has session order, too
    {Level::kStrongSnapshotIsolation, "stale_read", "s1: w(x,1) @0-1 | s2: r(x,nil) @5-6",
     "s1: w(x,1) @0-5 | s2: r(x,nil) @5-6"},
    {Level::kSerializable, "write_skew",
     "s1: r(x,nil) r(y,nil) w(x,1) | s2: r(x,nil) r(y,nil) w(y,1)",
     "s1: r(x,nil) r(y,nil) w(x,1) | s2: r(x,1) r(y,nil) w(y,1)"},
    {Level::kStrongSessionSerializable, "write_skew_around_a_session",
     "s1: r(x,nil) w(y,1) | s2: w(x,1) ; r(y,nil)", "s1: r(x,nil) w(y,1) | s2: w(x,1) ; r(y,1)"},
    {Level::kStrictSerializable, "write_skew_around_real_time",
     "s1: r(x,nil) w(y,1) @0-10 | s2: w(x,1) @2-3 | s3: r(y,nil) @4-5",
     "s1: r(x,nil) w(y,1) @0-10 | s2: w(x,1) @2-3 | s3: r(y,1) @4-5"},
    {Level::kLinearizable, "stale_read", "s1: w(x,1) @0-1 | s2: r(x,nil) @5-6",
     "s1: w(x,1) @0-1 | s2: r(x,1) @5-6"},
    {Level::kLinearizable, "failed_compare_and_set_that_should_have_succeeded",
     "s1: w(x,1) @0-1 | s2: cas!(x,1,2) @5-6", "s1: w(x,1) @0-1 | s2: cas!(x,7,2) @5-6"},
};
// NOLINTEND(bugprone-suspicious-missing-comma)

class Anomalies : public testing::TestWithParam<Case> {};

TEST_P(Anomalies, TheLevelRejectsItAndAcceptsItsNeighbour) {
  const Case& c = GetParam();
  EXPECT_EQ(status_of(c.rejected, c.level), Verdict::kViolated) << c.rejected;
  EXPECT_EQ(status_of(c.accepted, c.level), Verdict::kSatisfied) << c.accepted;
  EXPECT_EQ(edits(c.rejected, c.accepted), 1u) << "more than one edit apart";
  if (!c.weaker_accept) return;
  for (const auto& weaker : spec_of(c.level).implies) {
    if (!weaker) continue;
    EXPECT_EQ(status_of(c.rejected, *weaker), Verdict::kSatisfied) << name(*weaker);
    EXPECT_EQ(status_of(c.accepted, *weaker), Verdict::kSatisfied) << name(*weaker);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Anomalies, testing::ValuesIn(kCases), [](const auto& info) {
  return std::string(short_name(info.param.level)) + "_" + info.param.anomaly;
});

TEST(Levels, EachHasACase) {
  for (const Level level : all_levels()) {
    bool found = false;
    for (const Case& c : kCases) found = found || c.level == level;
    EXPECT_TRUE(found) << name(level)
                       << ": add a row to kCases in tests/levels/anomalies_test.cpp, "
                       << "a history that violates it and one that does not";
  }
}

// What a level needs of a history: without it there is no answer, never a "yes".
TEST(Levels, RefuseAHistoryWithoutTimesAtRealTime) {
  for (const Level level : all_levels()) {
    const auto wanted = needs_real_time(level) ? Verdict::kRefused : Verdict::kSatisfied;
    const auto history = test::history_of("s1: w(x,1) | s2: r(x,1)");
    Decider decider(history, 0, 1, false);
    base::Budget budget;
    EXPECT_EQ(decider.decide(level, budget).status, wanted) << name(level);
    EXPECT_EQ(decider.refusal(level).has_value(), wanted == Verdict::kRefused) << name(level);
  }
}

TEST(Levels, OfSingleObjectsRefuseATransactionOfTwo) {
  const auto history = test::history_of("s1: w(x,1) w(y,1) @0-1 | s2: r(x,1) @5-6");
  Decider decider(history, 0, 1, false);
  for (const Level level : all_levels()) {
    EXPECT_EQ(decider.refusal(level).has_value(), level == Level::kLinearizable) << name(level);
  }
}

TEST(Levels, OfSingleObjectsRefuseARangeButNoAbortedTransaction) {
  for (const auto& [text, refused] :
       {std::pair("s1: !w(x,1) w(y,1) @0-1 | s2: r(x,nil) @5-6", false),
        std::pair("s1: range(a,c,[]) @0-1 | s2: r(x,nil) @5-6", true)}) {
    const auto history = test::history_of(text);
    Decider decider(history, 0, 1, false);
    EXPECT_EQ(decider.refusal(Level::kLinearizable).has_value(), refused) << text;
  }
}

// ---- Rules of the description that no anomaly of the table shows

// Both ends of an interval move by the drift.
TEST(RealTime, DriftWidensIntervalsAtBothEnds) {
  for (const auto level : {Level::kStrictSerializable, Level::kLinearizable}) {
    const char* text = "s1: w(x,1) @0-10 | s2: r(x,nil) @15-20";
    EXPECT_EQ(status_of(text, level, 2), Verdict::kViolated) << name(level);
    EXPECT_EQ(status_of(text, level, 4), Verdict::kSatisfied) << name(level);
  }
}

TEST(RealTime, AnIndeterminateTransactionHasNoEnd) {
  for (const auto level : {Level::kStrictSerializable, Level::kLinearizable}) {
    const char* unsure = "s1: ?w(x,1) @0-1 | s2: r(x,nil) @5-6 | s3: r(x,1) @7-8";
    const char* sure = "s1: w(x,1) @0-1 | s2: r(x,nil) @5-6 | s3: r(x,1) @7-8";
    expect_apart(level, sure, unsure);
  }
}

TEST(Sessions, AnIndeterminateTransactionIsAfterItsPredecessor) {
  const char* before = "s1: r(z,2) w(y,1) ; ?w(x,1) | s2: r(x,1) w(z,2)";
  const char* apart = "s1: r(z,nil) w(y,1) ; ?w(x,1) | s2: r(x,1) w(z,2)";
  expect_apart(Level::kStrongSessionSerializable, before, apart);
  expect_apart(Level::kCausal, before, apart);
  EXPECT_EQ(status_of(before, Level::kSerializable), Verdict::kSatisfied)
      << "it asks for no session order";
}

// The sessions of a key decide it apart only where each session is one sequence.
TEST(Parts, ACycleThroughTwoTransactionsOfASession) {
  expect_apart(Level::kSerializable,
               "s1: r(x,1) w(p,1) | s2: w(x,1) r(q,1) ; r(p,1) w(y,1) | s3: r(y,1) w(q,1)",
               "s1: r(x,1) w(p,1) | s2: w(x,1) r(q,nil) ; r(p,1) w(y,1) | s3: r(y,1) w(q,1)");
  expect_apart(Level::kStrongSessionSerializable,
               "s1: r(x,1) w(p,1) | s2: ?w(x,1) w(q,1) ; r(p,1) w(y,1) | s3: r(y,1) r(q,nil)",
               "s1: r(x,1) w(p,1) | s2: ?w(x,1) w(q,1) ; r(p,1) w(y,1) | s3: r(y,1) r(q,1)");
}

struct Pair {
  const char* rejected;
  const char* accepted;
};

// Single objects, decided by their zones.
TEST(Zones, EachRule) {
  const Pair pairs[] = {
      // a read before its write
      {"s1: r(x,1) @0-1 | s2: w(x,1) @5-6", "s1: r(x,1) @0-5 | s2: w(x,1) @5-6"},
      // two compare-and-sets of one version
      {"s1: w(x,1) @0-1 | s2: cas(x,1,2) @2-9 | s3: cas(x,1,3) @2-9",
       "s1: w(x,1) @0-1 | s2: cas(x,1,2) @2-9 | s3: cas(x,2,3) @2-9"},
      // compare-and-sets that need each other
      {"s1: cas(x,1,2) @0-9 | s2: cas(x,2,1) @0-9", "s1: cas(x,1,2) @0-9 | s2: cas(x,nil,1) @0-9"},
      // an old version of a chain
      {"s1: w(x,1) @0-1 | s2: cas(x,1,2) @2-3 | s3: r(x,1) @5-6",
       "s1: w(x,1) @0-1 | s2: cas(x,1,2) @2-3 | s3: r(x,2) @5-6"},
      // back to a version that was left
      {"s1: w(x,1) @0-9 | s2: w(x,2) @0-13 | s3: r(x,1) @10-11 ; r(x,2) @12-13 ; r(x,1) @14-15",
       "s1: w(x,1) @0-9 | s2: w(x,2) @0-13 | s3: r(x,1) @10-11 ; r(x,2) @12-13 ; r(x,2) @14-15"},
      // the initial version, after another was seen
      {"s1: w(x,1) @0-20 | s2: r(x,1) @1-2 | s3: r(x,nil) @3-4",
       "s1: w(x,1) @0-20 | s2: r(x,1) @1-2 | s3: r(x,1) @3-4"},
      // session order where the clock is too coarse
      {"s1: w(x,1) @0-5 ; r(x,nil) @5-6", "s1: w(x,1) @0-5 ; r(x,1) @5-6"},
  };
  for (const auto& [rejected, accepted] : pairs)
    expect_apart(Level::kLinearizable, rejected, accepted);
  EXPECT_EQ(status_of("s1: ?w(x,1) @0-1 | s2: r(x,nil) @5-6", Level::kLinearizable),
            Verdict::kSatisfied);
}

// Snapshot isolation and serializability in the sense of Adya ask for no session order, and no
// level without real time asks for it.
TEST(Levels, AskForNoOrderThatTheirSpecDoesNotName) {
  for (const Level level : all_levels()) {
    if (!has_session_order(level) && !needs_real_time(level)) {
      EXPECT_EQ(status_of("s1: w(x,1) ; r(x,nil)", level), Verdict::kSatisfied) << name(level);
    }
    if (!needs_real_time(level)) {
      EXPECT_EQ(status_of("s1: w(x,1) @0-1 | s2: r(x,nil) @5-6", level), Verdict::kSatisfied)
          << name(level);
    }
  }
}

}  // namespace
}  // namespace cupel::levels
