// The thesis's figures 4.11 and 4.12, a small slice: which assertion fails at which level,
// with three sessions. An assertion that fails must do so within a number of runs; one that
// is valid must not fail in any.
#include "examples/failing.hpp"

namespace cupel::applications {
namespace {

using mock::Level;

// As in the thesis: with two orders of one number both kept, all but A4 and A11.
TEST(SqlApplications, TpccWithDuplicatesUnderCausal) {
  auto application = tpcc({.duplicates = true});
  const auto expected = without(kAll, {"A4", "A11"});
  EXPECT_EQ(failed(*application, Level::kCausal, expected, 40, 60), expected);
}

// With primary keys the later order replaces the earlier, line by line: A4 fails as A6
// does, and what is written together stays together.
TEST(SqlApplications, TpccUnderCausal) {
  auto application = tpcc();
  const auto expected = without(kAll, {"A3", "A5", "A11"});
  EXPECT_EQ(failed(*application, Level::kCausal, expected, 40), expected);
}

// Orders of equally many lines replace each other whole.
TEST(SqlApplications, TpccOfEquallyManyLinesUnderCausal) {
  auto application = tpcc({.lines_min = 5, .lines_max = 5});
  const auto expected = without(kAll, {"A3", "A4", "A5", "A6", "A7", "A11"});
  EXPECT_EQ(failed(*application, Level::kCausal, expected, 40), expected);
}

TEST(SqlApplications, TpccIsRightUnderSnapshotIsolationAndSerializability) {
  auto application = tpcc();
  EXPECT_EQ(failed(*application, Level::kStrongSessionSnapshotIsolation, {}, 3), Names{});
  EXPECT_EQ(failed(*application, Level::kStrongSessionSerializable, {}, 3), Names{});
}

TEST(SqlApplications, SmallBank) {
  auto application = smallbank();
  EXPECT_EQ(failed(*application, Level::kReadCommitted, {"A13"}, 10, 60), Names{"A13"});
  EXPECT_EQ(failed(*application, Level::kCausal, {"A13"}, 10, 60), Names{"A13"});
  EXPECT_EQ(failed(*application, Level::kStrongSessionSnapshotIsolation, {}, 10, 60), Names{});
  EXPECT_EQ(failed(*application, Level::kStrongSessionSerializable, {}, 10, 60), Names{});
}

// Of all these the only one that write skew breaks: two who count do not write what the
// other counted.
TEST(SqlApplications, Voter) {
  auto application = voter();
  EXPECT_EQ(failed(*application, Level::kReadCommitted, {"A14"}, 10, 60), Names{"A14"});
  EXPECT_EQ(failed(*application, Level::kCausal, {"A14"}, 10, 60), Names{"A14"});
  EXPECT_EQ(failed(*application, Level::kStrongSessionSnapshotIsolation, {"A14"}, 10, 60),
            Names{"A14"});
  EXPECT_EQ(failed(*application, Level::kStrongSessionSerializable, {}, 10, 60), Names{});
}

TEST(SqlApplications, Wikipedia) {
  auto application = wikipedia();
  const Names all = {"A15", "A16", "A17"};
  EXPECT_EQ(failed(*application, Level::kReadCommitted, all, 40, 60), all);
  EXPECT_EQ(failed(*application, Level::kCausal, all, 40, 60), all);
  EXPECT_EQ(failed(*application, Level::kStrongSessionSnapshotIsolation, {}, 10, 60), Names{});
  EXPECT_EQ(failed(*application, Level::kStrongSessionSerializable, {}, 10, 60), Names{});
}

// SERIAL is not weakened: two edits never have one number, and A17 is valid.
TEST(SqlApplications, WikipediaWithSerial) {
  auto application = wikipedia(Numbers::kSerial);
  const Names counts = {"A15", "A16"};
  EXPECT_EQ(failed(*application, Level::kReadCommitted, {}, 10, 60), counts);
  EXPECT_EQ(failed(*application, Level::kCausal, {}, 10, 60), counts);
}

// The same options give the same outcome.
TEST(SqlApplications, ARunIsRepeatedByItsSeed) {
  auto application = tpcc();
  RunOptions options;
  options.seed = 7;
  const auto first = run(*application, options), second = run(*application, options);
  EXPECT_EQ(first.violated, second.violated);
  EXPECT_EQ(first.committed, second.committed);
  EXPECT_EQ(first.refused, second.refused);
  EXPECT_EQ(first.first_refusal, second.first_refusal);
}

}  // namespace
}  // namespace cupel::applications
