// Exploring by the public API: the worked example of its header, and what its answer says.
#include "cupel/mock_explore.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "api/header_example.hpp"

namespace {

// The example, word for word.
std::string example() {
  std::string error;
  const auto overdraw = [](cupel::MockStore& store) {
    auto opening = store.begin("bank");
    opening.write("balance", 100);
    opening.commit();
    int paid[2] = {0, 0};
    const auto withdraw = [&](int client) {
      auto transaction = store.begin(client == 0 ? "alice" : "bob");
      const auto seen = transaction.read("balance");
      const auto* balance = seen ? std::get_if<std::int64_t>(&*seen) : nullptr;
      if (balance == nullptr || *balance < 60) return;
      transaction.write("balance", *balance - 60);
      if (transaction.commit()) paid[client] = 60;
    };
    store.interleave({[&] { withdraw(0); }, [&] { withdraw(1); }});
    return cupel::MockOutcome{std::to_string(paid[0]) + " " + std::to_string(paid[1]),
                              paid[0] + paid[1] <= 100};
  };
  const auto explored = cupel::explore({.level = cupel::Level::kPrefix}, overdraw, {}, error);
  if (!explored) return error;
  return std::to_string(explored->states.size()) + " states, of " +
         std::to_string(explored->histories) + " histories " + std::to_string(explored->failures) +
         " fail";
}

TEST(MockExploreHeader, OpensWithTheExampleOfThisTest) {
  cupel::test::expect_example("include/cupel/mock_explore.hpp", "tests/api/mock_explore_test.cpp",
                              example());
}

// Two clients of two increments each.
cupel::MockOutcome increments(cupel::MockStore& store) {
  const auto client = [&](const char* name) {
    for (int i = 0; i < 2; ++i) {
      auto transaction = store.begin(name);
      const auto seen = transaction.read("x");
      const auto* number = seen ? std::get_if<std::int64_t>(&*seen) : nullptr;
      transaction.write("x", number ? *number + 1 : 1);
      transaction.commit();
    }
  };
  store.interleave({[&] { client("a"); }, [&] { client("b"); }});
  auto last = store.begin("check");
  const auto seen = last.read("x");
  last.commit();
  return {.good = seen == cupel::Scalar(std::int64_t{4})};
}

TEST(MockExplore, AFailureIsRepeatedByItsChoices) {
  std::string error;
  const auto explored = cupel::explore({.level = cupel::Level::kCausal}, increments, {}, error);
  ASSERT_TRUE(explored) << error;
  EXPECT_EQ(explored->incomplete, "");
  EXPECT_LT(explored->histories, explored->runs) << "some orders repeat a history";
  ASSERT_TRUE(explored->first_failure);
  EXPECT_GT(explored->failures, 1u);
  EXPECT_LT(explored->failures, explored->histories);
  auto store = cupel::MockStore::open(
      {.choose = cupel::prescribed(explored->first_failure->choices)}, error);
  ASSERT_TRUE(store) << error;
  EXPECT_FALSE(increments(*store).good);
  const auto again = store->history(error);
  ASSERT_TRUE(again) << error;
  const auto in_words = [&](const cupel::History& history) {
    const auto path = testing::TempDir() + "mock_explore_test.jsonl";
    EXPECT_TRUE(cupel::write_history(history, path, "cupel", error)) << error;
    return cupel::test::text_of(path);
  };
  EXPECT_NE(in_words(*again), "");
  EXPECT_EQ(in_words(*again), in_words(explored->first_failure->history));
}

// What is explored is all, and not more: random runs come to the same states and to no others.
TEST(MockExplore, RandomRunsComeToTheSameStates) {
  for (const auto level : {cupel::Level::kReadCommitted, cupel::Level::kCausal,
                           cupel::Level::kSnapshotIsolation, cupel::Level::kSerializable}) {
    const auto two_keys = [](cupel::MockStore& store) {
      std::string seen[2];
      const auto client = [&](int number) {
        for (int i = 0; i < 2; ++i) {
          auto transaction = store.begin(std::to_string(number));
          for (const char* key : {"x", "y"}) {
            const auto value = transaction.read(key);
            const auto* text = value ? std::get_if<std::string>(&*value) : nullptr;
            seen[number] += text ? *text : "-";
          }
          transaction.write(number == i ? "x" : "y",
                            std::string(1, static_cast<char>('a' + 2 * number + i)));
          seen[number] += transaction.commit() ? ";" : "!";
        }
      };
      store.interleave({[&] { client(0); }, [&] { client(1); }});
      return cupel::MockOutcome{seen[0] + "|" + seen[1]};
    };
    std::string error;
    const auto explored = cupel::explore({.level = level}, two_keys, {}, error);
    ASSERT_TRUE(explored) << error;
    EXPECT_EQ(explored->incomplete, "");
    std::set<std::string> sampled;
    auto store = cupel::MockStore::open({.level = level}, error);
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
      store->reset(seed);
      const auto state = two_keys(*store).state;
      EXPECT_TRUE(explored->states.contains(state)) << state;
      sampled.insert(state);
    }
    EXPECT_GT(sampled.size(), 1u);
    EXPECT_EQ(sampled.size(), explored->states.size()) << cupel::name(level);
  }
}

TEST(MockExplore, SaysWhyItIsNotAll) {
  std::string error;
  const auto few = cupel::explore({}, increments, {.runs = 3}, error);
  ASSERT_TRUE(few) << error;
  EXPECT_EQ(few->runs, 3u);
  EXPECT_NE(few->incomplete.find("3 runs"), std::string::npos) << few->incomplete;
  const auto late = cupel::explore({}, increments, {.time_s = 0}, error);
  ASSERT_TRUE(late) << error;
  EXPECT_NE(late->incomplete.find("0 s"), std::string::npos) << late->incomplete;
  const auto first = cupel::explore({}, increments, {.until_failure = true}, error);
  ASSERT_TRUE(first && first->first_failure) << error;
  EXPECT_NE(first->incomplete.find("first failure"), std::string::npos) << first->incomplete;
  int runs = 0;
  const auto moody = cupel::explore(
      {},
      [&](cupel::MockStore& store) {
        for (int i = 0; i < 2; ++i) {
          auto transaction = store.begin(std::to_string(i));
          if (++runs % 3 != 0) transaction.read("x");
          transaction.write("x", i);
          transaction.commit();
        }
        auto last = store.begin("last");
        last.read("x");
        return cupel::MockOutcome{};
      },
      {.runs = 500}, error);
  ASSERT_TRUE(moody) << error;
  EXPECT_NE(moody->incomplete.find("did not repeat"), std::string::npos) << moody->incomplete;
  EXPECT_FALSE(cupel::explore({.abort_rate = 0.5}, increments, {}, error));
  EXPECT_NE(error.find("abort_rate"), std::string::npos) << error;
  EXPECT_FALSE(cupel::explore({.level = cupel::Level::kLinearizable}, increments, {}, error));
  EXPECT_FALSE(cupel::explore({.choose = cupel::prescribed({})}, increments, {}, error));
  EXPECT_NE(error.find("choose"), std::string::npos) << error;
}

TEST(MockInterleave, TheSeedDecidesTheOrderAndThrowsArePassedOn) {
  std::string error;
  auto store = cupel::MockStore::open({}, error);
  ASSERT_TRUE(store) << error;
  const auto order = [&](std::uint64_t seed) {
    store->reset(seed);
    std::string came;
    const auto client = [&](char name) {
      for (int i = 0; i < 3; ++i) {
        auto transaction = store->begin(std::string(1, name));
        came += name;
        transaction.commit();
      }
    };
    store->interleave({[&] { client('a'); }, [&] { client('b'); }, [&] { client('c'); }});
    return came;
  };
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto came = order(seed);
    EXPECT_EQ(came.size(), 9u);
    orders.insert(came);
  }
  EXPECT_GT(orders.size(), 200u);  // of 1680
  EXPECT_EQ(order(7), order(7));
  store->interleave({});
  EXPECT_THROW(store->interleave({[] {}, [] { throw std::runtime_error("it broke"); }}),
               std::runtime_error);
}

// A client may hand over while it handles an exception, and start clients of its own.
TEST(MockInterleave, ClientsHandOverInsideOfHandlersAndOfClients) {
  std::string error;
  auto store = cupel::MockStore::open({}, error);
  auto inner = cupel::MockStore::open({}, error);
  ASSERT_TRUE(store && inner) << error;
  const auto transaction = [](cupel::MockStore& in, const std::string& session) {
    in.begin(session).commit();
  };
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    store->reset(seed);
    int handled = 0, thrown = 0;
    const auto client = [&](const std::string& name) {
      for (int i = 0; i < 3; ++i) {
        transaction(*store, name);
        try {
          throw name + std::to_string(i);
        } catch (const std::string& mine) {
          transaction(*store, name);
          try {
            transaction(*store, name);
            throw std::runtime_error(mine);
          } catch (const std::runtime_error& again) {
            transaction(*store, name);
            handled += again.what() == mine && mine == name + std::to_string(i);
          }
        }
      }
      try {
        inner->interleave({[&] { transaction(*store, name + " inside"); },
                           [&] {
                             transaction(*inner, name);
                             throw 7;
                           }});
      } catch (const int number) {
        thrown += number == 7 && std::uncaught_exceptions() == 0;
      }
      transaction(*store, name);
    };
    store->interleave({[&] { client("a"); }, [&] { client("b"); }, [&] { client("c"); }});
    EXPECT_EQ(handled, 9);
    EXPECT_EQ(thrown, 3);
  }
}

}  // namespace
