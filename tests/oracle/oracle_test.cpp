// The oracle against answers worked out by hand, with a neighbour one edit away
// for each. The engine is held to the same list in tests/check/figures_test.cpp.
#include "oracle/oracle.hpp"

#include <gtest/gtest.h>

#include "support/examples.hpp"
#include "support/history_language.hpp"

namespace cupel::test {
namespace {

class OracleExample : public testing::TestWithParam<Example> {};

TEST_P(OracleExample, HasTheKnownAnswer) {
  const auto& example = GetParam();
  const auto h = history_of(example.text);
  std::vector<levels::Level> satisfied, violated;
  for (const auto level : meaningful_levels(h, oracle::is_single_object(h))) {
    (oracle::oracle_satisfies(h, level) ? satisfied : violated).push_back(level);
  }
  EXPECT_EQ(strongest_of(satisfied), example.strongest) << example.text;
  EXPECT_EQ(weakest_of(violated), example.weakest) << example.text;
}

INSTANTIATE_TEST_SUITE_P(Known, OracleExample, testing::ValuesIn(all_examples()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Oracle, ClockDriftWidensIntervals) {
  const auto h = history_of("s1: w(x,1) @0-10 | s2: r(x,nil) @20-30");
  EXPECT_FALSE(oracle::oracle_satisfies(h, levels::Level::kStrictSerializable, 4));
  EXPECT_TRUE(oracle::oracle_satisfies(h, levels::Level::kStrictSerializable, 5));
}

TEST(Oracle, CountsChoices) {
  EXPECT_EQ(oracle::writer_choices(history_of("s1: w(x,1) | s2: w(x,1) | s3: r(x,1) r(x,1)")), 4);
}

}  // namespace
}  // namespace cupel::test
