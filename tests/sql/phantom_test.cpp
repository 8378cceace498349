// What a statement that looks at many rows did not see: a row that is inserted later comes
// after it, and two that each miss the other's row are no serializable history.
#include <set>

#include "sql/bench.hpp"

namespace cupel::sql {
namespace {

// Two sessions each insert a row if they see none. The rows that are there in the end.
int rows(mock::Level level, std::uint64_t seed, const char* looks) {
  mock::Options options;
  options.level = level;
  options.seed = seed;
  Bench sql(options);
  sql("CREATE TABLE t (a int, b int, x int, PRIMARY KEY (a, b))");
  int inserted = 0;
  for (auto* session : {sql.session.get(), sql.other.get()}) {
    ++inserted;
    Bench::in(*session, "BEGIN");
    const bool none = Bench::in(*session, looks) == "0";
    if (none) {
      const auto told =
          Bench::in(*session, "INSERT INTO t VALUES (1, " + std::to_string(inserted) + ", 7)");
      EXPECT_TRUE(told == "INSERT 0 1" || told == "error 40001") << told;
    }
    if (Bench::in(*session, none ? "COMMIT" : "ROLLBACK") != "COMMIT") --inserted;
  }
  return inserted;
}

class Phantoms : public ::testing::TestWithParam<const char*> {};

TEST_P(Phantoms, AreWhatTheLevelAllows) {
  for (const auto level :
       {mock::Level::kReadCommitted, mock::Level::kCausal, mock::Level::kPrefix,
        mock::Level::kStrongSessionSnapshotIsolation, mock::Level::kStrongSessionSerializable}) {
    std::set<int> seen;
    for (std::uint64_t seed = 0; seed < 40; ++seed) seen.insert(rows(level, seed, GetParam()));
    const bool serializable = level == mock::Level::kStrongSessionSerializable;
    EXPECT_EQ(seen, (serializable ? std::set<int>{1} : std::set<int>{1, 2})) << name(level);
  }
}

INSTANTIATE_TEST_SUITE_P(Looks, Phantoms,
                         ::testing::Values("SELECT count(*) FROM t",
                                           "SELECT count(*) FROM t WHERE a = 1",
                                           "SELECT count(*) FROM t WHERE x = 7"));

// The history has what was not there, or no check could tell.
TEST(MockSqlPhantoms, AreInTheHistory) {
  mock::Options options;
  options.level = mock::Level::kStrongSessionSnapshotIsolation;
  Bench sql(options);
  sql("CREATE TABLE t (a int PRIMARY KEY)");
  EXPECT_EQ(sql("SELECT count(*) FROM t"), "0");
  EXPECT_EQ(sql("SELECT count(*) FROM t"), "0");
  Bench::in(*sql.other, "INSERT INTO t VALUES (5)");
  const auto history = sql.store.history();
  ASSERT_TRUE(history.ok());
  // The later of the two in its session reads null where the row came; the insert looks too.
  EXPECT_EQ(history->op_count(), 3U);
}

}  // namespace
}  // namespace cupel::sql
