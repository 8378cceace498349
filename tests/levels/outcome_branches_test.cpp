// Indeterminate compare-and-sets: one that somebody read from did see what it expected. Each
// rule by a history that is rejected, and one, a single edit apart, that is not.
#include "engine/levels/outcome_branches.hpp"

#include <gtest/gtest.h>

#include "verdicts.hpp"

namespace cupel::levels {
namespace {

TEST(Outcomes, OneThatWasReadFromSawWhatItExpected) {
  for (const Level level : {Level::kReadCommitted, Level::kCausal, Level::kSerializable}) {
    expect_apart(level, "s1: w(x,1) | s2: ?cas(x,7,2) | s3: r(x,2)",
                 "s1: w(x,1) | s2: ?cas(x,1,2) | s3: r(x,2)");
    expect_apart(level, "s1: ?cas(x,7,2) | s2: r(x,2)", "s1: ?cas(x,nil,2) | s2: r(x,2)");
  }
  expect_apart(Level::kLinearizable, "s1: w(x,1) @0-1 | s2: ?cas(x,7,2) @2-3 | s3: r(x,2) @4-5",
               "s1: w(x,1) @0-1 | s2: ?cas(x,1,2) @2-3 | s3: r(x,2) @4-5");
}

// Nobody misses one that nobody read from.
TEST(Outcomes, OneThatNobodyReadFromNeedNotHaveHappened) {
  for (const Level level : {Level::kCausal, Level::kSerializable}) {
    expect_apart(level, "s1: w(x,1) | s2: ?cas(x,7,2) | s3: r(x,2)",
                 "s1: w(x,1) | s2: ?cas(x,7,2) | s3: r(x,1)");
  }
}

TEST(Outcomes, ItIsTheLastVersionThatWasExpected) {
  // s1 wrote 1 over the null that s2 expects
  expect_apart(Level::kSerializable, "s1: cas(x,nil,1) | s2: ?cas(x,nil,2) | s3: r(x,2)",
               "s1: cas(x,nil,1) | s2: ?cas(x,1,2) | s3: r(x,2)");
  // 7 is the value of another key
  expect_apart(Level::kSerializable, "s1: w(a,7) w(x,1) | s2: ?cas(x,7,2) | s3: r(a,7) r(x,2)",
               "s1: w(a,7) w(x,1) | s2: ?cas(x,1,2) | s3: r(a,7) r(x,2)");
}

TEST(Outcomes, EachOfATransactionSawWhatItExpected) {
  expect_apart(Level::kSerializable, "s1: ?cas(x,nil,1) cas(x,7,2) | s2: r(x,2)",
               "s1: ?cas(x,nil,1) cas(x,1,2) | s2: r(x,2)");
}

TEST(Outcomes, EachOfSeveralTransactionsSawWhatItExpected) {
  for (const Level level : {Level::kCausal, Level::kSerializable}) {
    expect_apart(level, "s1: ?cas(x,nil,1) | s2: ?cas(y,7,1) | s3: r(x,1) r(y,1)",
                 "s1: ?cas(x,nil,1) | s2: ?cas(y,nil,1) | s3: r(x,1) r(y,1)");
  }
}

// If s1 happened, s2 did not: both saw the first y. If it did not, s3 read the x of s4, and s2
// is free again.
TEST(Outcomes, OneMayNotHaveHappenedThoughItCouldHaveBeenRead) {
  expect_apart(
      Level::kSerializable,
      "s1: ?cas(x,nil,1) cas(y,nil,3) | s2: ?cas(y,nil,2) | s3: r(x,1) r(y,2) | s4: w(x,2)",
      "s1: ?cas(x,nil,1) cas(y,nil,3) | s2: ?cas(y,nil,2) | s3: r(x,1) r(y,2) | s4: w(x,1)");
}

// --- who took effect in a witness ---

std::string witness(const char* text, Level level) {
  const auto h = test::history_of(text);
  Decider decider(h, 0, 1, true);
  base::Budget budget;
  const auto decision = decider.decide(level, budget);
  if (!decision.witness) return "none";
  std::string names;
  for (const TxnId txn : decision.witness->order)
    names += (names.empty() ? "" : " ") + name_of(h, txn);
  return names;
}

TEST(Witnesses, ContainTheUnsureThatWereSeen) {
  for (const Level level : {Level::kCausal, Level::kSerializable}) {
    EXPECT_EQ(witness("s1: ?w(x,1) | s2: r(x,1)", level), "s1 s2") << name(level);
    EXPECT_EQ(witness("s1: ?w(x,1) | s2: r(x,nil)", level), "s2") << name(level);
    EXPECT_EQ(witness("s1: ?a(x,1) | s2: a(x,2) | s3: l(x,[1 2])", level), "s1 s2 s3")
        << name(level);
    EXPECT_EQ(witness("s1: ?a(x,1) | s2: a(x,2) | s3: l(x,[2])", level), "s2 s3") << name(level);
  }
}

}  // namespace
}  // namespace cupel::levels
