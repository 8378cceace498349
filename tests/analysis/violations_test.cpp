// violations_of: the one list of what is reported, each violation once.
#include "engine/analysis/violations.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/history_language.hpp"

namespace cupel::analysis {
namespace {

std::string shown(const Violations& violations) {
  std::string names;
  for (const auto& one : violations.shown) {
    names += one.anomaly.name + (one.small != nullptr ? " small" : "") + "; ";
  }
  return names;
}

TEST(ViolationsOf, HasTheViolationOfTheCheckAndTheFurtherCauses) {
  const auto history = test::history_of(
      "init=0 a: r(x,0) w(x,1) | b: r(x,0) w(x,2) | c: r(y,0) w(y,1) | d: r(y,0) w(y,2)");
  const auto found = analyze(history, {});
  const auto all = violations_of(history, found, 10);
  EXPECT_EQ(shown(all), "lost-update small; lost-update small; ");
  EXPECT_TRUE(all.left_out.empty());
  ASSERT_EQ(all.shown.size(), 2u);
  EXPECT_NE(all.shown[0].originals, all.shown[1].originals);

  const auto one = violations_of(history, found, 1);
  EXPECT_EQ(shown(one), "lost-update small; ");
  EXPECT_EQ(one.left_out.at("lost-update"), 1u);

  const auto whole = analyze(history, {.shrink_seconds = 0, .whole_history = false});
  EXPECT_EQ(shown(violations_of(history, whole, 10)), "lost-update; ");
}

TEST(ViolationsOf, ListsInternalAnomaliesByKind) {
  const auto history = test::history_of("a: w(x,1) w(x,2) | b: r(x,1) | c: ! w(y,1) | d: r(y,1)");
  const auto found = analyze(history, {});
  const auto all = violations_of(history, found, 10);
  EXPECT_EQ(all.shown.size(), 2u) << shown(all);
  for (const auto& one : all.shown) {
    EXPECT_FALSE(one.anomaly.summary.empty());
    EXPECT_FALSE(one.levels.empty());
    EXPECT_LT(one.internal, one.violation->internal.size());
  }
}

TEST(ViolationsOf, OfASatisfiedHistoryThereAreNone) {
  const auto history = test::history_of("init=0 a: r(x,0) w(x,1) | b: r(x,1)");
  EXPECT_TRUE(violations_of(history, analyze(history, {}), 10).shown.empty());
}

}  // namespace
}  // namespace cupel::analysis
