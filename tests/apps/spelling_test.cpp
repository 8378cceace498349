// What somebody may have meant, and when nothing is near enough to say.
#include "apps/spelling.hpp"

#include <gtest/gtest.h>

namespace cupel::apps {
namespace {

TEST(Spelling, FindsTheNearestName) {
  const std::vector<std::string> names = {"check", "stats", "convert", "generate"};
  EXPECT_EQ(nearest("chekc", names), "check");  // neighbours swapped
  const std::vector<std::string> options = {"--timeout", "--window-timeout", "--end-after"};
  EXPECT_EQ(nearest("--timeout-window", options), "--window-timeout");  // another order
  EXPECT_EQ(nearest("--timeout-of-window", options), "");
  EXPECT_EQ(nearest("stat", names), "stats");  // one left out
  EXPECT_EQ(nearest("convertt", names), "convert");
  EXPECT_EQ(nearest("CONVERT", names), "convert");
  EXPECT_EQ(nearest("gen", names), "generate");  // the only one that begins so
  EXPECT_EQ(nearest("frobnicate", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("c", names), "");
  EXPECT_EQ(nearest(std::string(1000, 'c'), names), "");
}

TEST(Spelling, TwoThatBeginSoAreNone) {
  const std::vector<std::string> names = {"snapshot-isolation", "snapshot-something"};
  EXPECT_EQ(nearest("snapshot", names), "");
}

TEST(Spelling, KnowsAllNames) {
  EXPECT_EQ(nearest("Snapshot Isolaton", level_names()), "snapshot-isolation");
  EXPECT_EQ(nearest("jespen", format_names()), "jepsen");
  EXPECT_EQ(nearest("writeskew", anomaly_names()), "write-skew");
  EXPECT_EQ(nearest("G-singel", anomaly_names()), "G-single");
}

TEST(Spelling, Lists) {
  const std::vector<std::string> names = {"a", "b", "c"};
  EXPECT_EQ(one_of(names), "a, b or c");
  EXPECT_EQ(one_of(std::span(names).first(1)), "a");
  EXPECT_EQ(did_you_mean("x", names), "");
}

}  // namespace
}  // namespace cupel::apps
