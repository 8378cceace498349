// The mock store as a database: the conformance suite at its levels, what each statement
// does to one session, URLs.
#include <gtest/gtest.h>

#include "drivers/conformance.hpp"

namespace cupel::drivers::testing {
namespace {

using workload::Datum;

// Read committed promises a session nothing of what it did before: there the freshest values
// are read, so that what one session did alone is what it sees.
Subject subject(const std::string& name, const std::string& path, bool prevents_lost_update) {
  return {.name = name,
          .open = [=] { return open("mock:" + path, {}); },
          .prevents_lost_update = prevents_lost_update,
          .others_lag = true,
          .same_data = false};
}
INSTANTIATE_TEST_SUITE_P(
    Mock, Conformance,
    ::testing::Values(subject("ReadCommitted", "read-committed?policy=latest", false),
                      subject("ReadAtomic", "read-atomic", false),
                      subject("Causal", "causal", false),
                      subject("CausalAdversarial", "causal?policy=adversarial", false),
                      subject("Prefix", "prefix", false),
                      subject("SnapshotIsolation", "strong-session-snapshot-isolation", true),
                      subject("Serializable", "strong-session-serializable", true)),
    subject_name);

std::unique_ptr<Database> opened(const std::string& url) {
  auto database = open(url, {});
  EXPECT_TRUE(database.ok()) << database.error().to_string();
  return *std::move(database);
}

TEST(MockDriver, DoesWhatTheStatementsSay) {
  for (const char* level : {"read-atomic", "causal", "prefix", "serializable"}) {
    auto database = opened(std::string("mock:") + level);
    Tables tables(workload::kv_schema());
    tables.row(0, {Datum{5}}, {Datum{50}});
    ASSERT_TRUE(database->prepare(tables).ok());
    auto connection = std::move(*database->connect(0));
    EXPECT_EQ(run(*connection, {read(5), write(5, 51), read(5), read(6)}),
              (std::vector<std::string>{"5=50", "", "5=51", ""}));
    const auto replies =
        run(*connection, {insert(-7, 70), range(-10, 10), remove(5), range(-10, 10), range(0, 10)});
    EXPECT_EQ(replies[1], "-7=70, 5=51");
    EXPECT_EQ(replies[3], "-7=70");
    EXPECT_EQ(replies[4], "");
    EXPECT_EQ(run(*connection, {compare_and_set(9, {}, 1), read(9)}).back(), "9=1");
    database->clean();
  }
}

// Two sessions each look at a range and make a row in it if they see none. Who saw none comes
// before whoever made one, so at serializable one of them saw the other's; below both may not.
TEST(MockDriver, RangesHavePhantomsWhereTheLevelHas) {
  const auto both = [](const std::string& level, std::uint64_t seed, std::int64_t place) {
    auto database = opened("mock:" + level + "?seed=" + std::to_string(seed));
    Tables tables(workload::kv_schema());
    EXPECT_TRUE(database->prepare(tables).ok());
    int made = 0;
    for (const std::uint32_t session : {0U, 1U}) {
      auto connection = std::move(*database->connect(session));
      EXPECT_FALSE(connection->begin());
      workload::Reply reply;
      EXPECT_FALSE(connection->execute(range(10, 20), reply));
      if (reply.rows.empty()) {
        const auto failure = connection->execute(write(place + session, 1), reply);
        if (!failure) made += connection->commit() ? 0 : 1;
      }
      connection->rollback();
    }
    return made == 2;
  };
  for (const char* level :
       {"read-committed", "causal", "prefix", "snapshot-isolation", "serializable"}) {
    int low = 0, high = 0;  // the ends of the range belong to it
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      low += both(level, seed, 10);
      high += both(level, seed, 19);
    }
    const bool serializable = std::string(level) == "serializable";
    EXPECT_EQ(low > 0, !serializable) << level;
    EXPECT_EQ(high > 0, !serializable) << level;
    EXPECT_TRUE(both(level, 0, 21)) << level;  // outside: nobody looked there
  }
}

TEST(MockDriver, SaysWhatItDoesNotKnow) {
  for (const char* url : {"mock:linearizable", "mock:causal?policy=worst", "mock:causal?colour=red",
                          "mock:causal?seed=-1", "mock://host/causal"}) {
    EXPECT_FALSE(open(url, {}).ok()) << url;
  }
  EXPECT_FALSE(open("mock:causal", {.isolation = "prefix"}).ok());
  EXPECT_FALSE(open("mock:prefix", {.isolation = "causal"}).ok());
  EXPECT_FALSE(open("mock:prefix?seed=1", {.isolation = "causal"}).ok());
  EXPECT_TRUE(open("mock:prefix", {.isolation = "prefix"}).ok());
  EXPECT_EQ(*isolation_of("mock:prefix?seed=1", ""), "prefix");
  EXPECT_EQ(*isolation_of("mock:?seed=1", ""), "causal");
  EXPECT_EQ(opened("mock:")->facts().isolation, "causal");
}

}  // namespace
}  // namespace cupel::drivers::testing
