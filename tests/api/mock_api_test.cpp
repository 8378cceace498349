// The mock store's public API: the worked example at the top of its header is compiled and
// run here, and both the code and its output are compared with the header.
#include <gtest/gtest.h>

#include "api/header_example.hpp"
#include "cupel/mock.hpp"

namespace {

// The example, word for word.
std::string example() {
  std::string error;
  auto store = cupel::MockStore::open({.level = cupel::Level::kCausal}, error);
  if (!store) return error;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    store->reset(seed);
    auto opening = store->begin("bank");
    opening.write("balance", 100);
    opening.commit();
    std::int64_t paid = 0;
    for (const char* client : {"alice", "bob"}) {
      auto transaction = store->begin(client);
      const auto seen = transaction.read("balance");
      const auto* balance = seen ? std::get_if<std::int64_t>(&*seen) : nullptr;
      if (balance == nullptr || *balance < 60) continue;  // destroyed: rolled back
      transaction.write("balance", *balance - 60);
      if (transaction.commit()) paid += 60;
    }
    if (paid <= 100) continue;
    const auto history = store->history(error);
    if (!history) return error;
    const auto answer =
        cupel::check_history(*history, {.levels = {cupel::Level::kSnapshotIsolation}});
    return "paid " + std::to_string(paid) + ": " + answer.levels[0].anomalies[0].name;
  }
  return "never paid too much";
}

TEST(MockHeader, OpensWithTheExampleOfThisTest) {
  cupel::test::expect_example("include/cupel/mock.hpp", "tests/api/mock_api_test.cpp", example());
}

TEST(MockApi, KeepsToTheLevelItWasOpenedAt) {
  std::string error;
  for (const auto level :
       {cupel::Level::kReadCommitted, cupel::Level::kCausal, cupel::Level::kSerializable}) {
    auto store = cupel::MockStore::open({.level = level, .seed = 5}, error);
    ASSERT_TRUE(store) << error;
    for (int i = 0; i < 60; ++i) {
      auto txn = store->begin("s" + std::to_string(i % 3));
      txn.read("x");
      txn.read("y");
      if (!txn.write(i % 2 ? "x" : "y", "v" + std::to_string(i))) {
        EXPECT_NE(txn.failure(), "");
        continue;
      }
      EXPECT_TRUE(txn.commit());
    }
    const auto history = store->history(error);
    ASSERT_TRUE(history) << error;
    EXPECT_EQ(cupel::check_history(*history, {.levels = {level}}).levels[0].verdict,
              cupel::Verdict::kSatisfied);
  }
}

TEST(MockApi, SaysWhatIsWrong) {
  std::string error;
  EXPECT_FALSE(cupel::MockStore::open({.level = cupel::Level::kLinearizable}, error));
  EXPECT_NE(error.find("linearizable"), std::string::npos) << error;
  EXPECT_FALSE(cupel::MockStore::open({.uniform = 0}, error));
  EXPECT_NE(error.find("weights"), std::string::npos) << error;
  EXPECT_FALSE(cupel::MockStore::open({.abort_rate = 2}, error));
  EXPECT_FALSE(cupel::MockStore::open({.delay_ms = -1}, error));
  auto store = cupel::MockStore::open({}, error);
  ASSERT_TRUE(store);
  auto strict = store->begin("a", cupel::Level::kStrictSerializable);
  EXPECT_FALSE(strict.read("x"));
  EXPECT_NE(strict.failure().find("strict-serializable"), std::string::npos);
  store->shut_down();
  auto late = store->begin("a");
  EXPECT_FALSE(late.commit());
  EXPECT_NE(late.failure(), "");
}

TEST(MockApi, NamesOfSessionsAreUtf8) {
  std::string error;
  auto store = cupel::MockStore::open({}, error);
  ASSERT_TRUE(store) << error;
  auto transaction = store->begin("caf\xc3");
  EXPECT_FALSE(transaction.read("x"));
  EXPECT_NE(transaction.failure().find("UTF-8"), std::string::npos) << transaction.failure();
  EXPECT_TRUE(store->begin("caf\xc3\xa9").read("x"));
}

TEST(MockApi, TakesChoicesAndSavepoints) {
  std::string error;
  std::size_t asked = 0;
  auto store = cupel::MockStore::open({.choose =
                                           [&](std::size_t allowed) {
                                             asked = allowed;
                                             return allowed - 1;
                                           }},
                                      error);
  ASSERT_TRUE(store) << error;
  for (int i = 0; i < 3; ++i) {
    auto txn = store->begin("w" + std::to_string(i));
    txn.write("x", i);
    const auto here = txn.savepoint();
    txn.write("y", i);
    txn.rollback_to(here);
    EXPECT_TRUE(txn.commit());
  }
  auto txn = store->begin("r");
  EXPECT_EQ(txn.read("x"), cupel::Scalar(std::int64_t{2}));
  EXPECT_EQ(asked, 4u);
  EXPECT_EQ(txn.keys_with_prefix(""), std::vector<std::string>{"x"});
  txn.rollback();
}

}  // namespace
