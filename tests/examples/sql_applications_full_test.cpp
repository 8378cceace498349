// The thesis's figures 4.11 and 4.12 with longer runs: what fails rarely fails too, and what
// is valid is so in many runs.
#include "examples/failing.hpp"

namespace cupel::applications {
namespace {

using mock::Level;

// Figure 4.11: all twelve under read committed.
TEST(SqlApplicationsFull, TpccUnderReadCommitted) {
  auto application = tpcc();
  EXPECT_EQ(failed(*application, Level::kReadCommitted, kAll, 200, 500), kAll);
}

// And under causal consistency all but A4 and A11, if orders of one number are all kept.
TEST(SqlApplicationsFull, TpccUnderCausalWithTwoAndThreeSessions) {
  auto application = tpcc({.duplicates = true});
  const auto expected = without(kAll, {"A4", "A11"});
  EXPECT_EQ(failed(*application, Level::kCausal, expected, 200, 60, 2), expected);
  EXPECT_EQ(failed(*application, Level::kCausal, {}, 60, 60, 3), expected);
}

TEST(SqlApplicationsFull, TpccWithKeysUnderCausal) {
  auto application = tpcc();
  EXPECT_EQ(failed(*application, Level::kCausal, {}, 60, 200), without(kAll, {"A3", "A5", "A11"}));
}

TEST(SqlApplicationsFull,
     NothingButVoterFailsUnderSnapshotIsolationAndNothingUnderSerializability) {
  for (const auto level :
       {Level::kStrongSessionSnapshotIsolation, Level::kStrongSessionSerializable}) {
    EXPECT_EQ(failed(*tpcc(), level, {}, 20), Names{});
    EXPECT_EQ(failed(*smallbank(), level, {}, 50), Names{});
    EXPECT_EQ(failed(*wikipedia(), level, {}, 30), Names{});
  }
  EXPECT_EQ(failed(*voter(), Level::kStrongSessionSerializable, {}, 50, 60), Names{});
}

}  // namespace
}  // namespace cupel::applications
