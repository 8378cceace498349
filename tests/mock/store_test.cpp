// The store: turns, patience, savepoints, shut-down, names and what the history says.
#include "engine/mock/store.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace cupel::mock {
namespace {

Options quiet(Level level = Level::kCausal) {
  Options options;
  options.level = level;
  return options;
}

TEST(MockStore, OwnWritesAreReadAndPrefixesListed) {
  Store store(quiet());
  const auto s = store.open_session("a");
  const auto t = store.begin(s);
  EXPECT_EQ(t->read("x"), Value());
  EXPECT_TRUE(t->write("x", Value::of(1)));
  EXPECT_TRUE(t->write("xy", Value::of(std::string("two"))));
  EXPECT_EQ(t->read("x"), Value::of(1));
  EXPECT_EQ(t->read("xy"), Value::of(std::string("two")));
  EXPECT_EQ(t->keys_with_prefix("x"), (std::vector<std::string>{"x", "xy"}));
  EXPECT_TRUE(t->keys_with_prefix("y").empty());
  EXPECT_TRUE(t->commit());
  EXPECT_FALSE(t->failure());
}

TEST(MockStore, ARolledBackTransactionIsNeverReadFrom) {
  Store store(quiet(Level::kReadCommitted));
  const auto s = store.open_session("a");
  {
    const auto t = store.begin(s);
    t->write("x", Value::of(1));
  }  // destroyed while open
  const auto t = store.begin(s);
  EXPECT_TRUE(t->keys_with_prefix("").empty());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(t->read("x"), Value());
  t->rollback();
  const auto history = store.history();
  ASSERT_TRUE(history.ok());
  ASSERT_EQ(history->txn_count(), 2U);
  EXPECT_EQ(history->status(history::TxnId(0)), history::TxnStatus::kAborted);
}

TEST(MockStore, AScanBetweenListsWhatIsThere) {
  Store store(quiet());
  store.set_initial("b/1", Value::of(1));
  const auto s = store.open_session("a");
  const auto t = store.begin(s);
  for (const char* key : {"a/1", "c/1", "c/2", "d/1"}) t->write(key, Value::of(2));
  using Keys = std::vector<std::string>;
  EXPECT_EQ(t->scan_between("b", "d", "/1"), (Keys{"b/1", "c/1"}));
  EXPECT_EQ(t->scan_between("b", "d/1", ""), (Keys{"b/1", "c/1", "c/2"}));
  EXPECT_EQ(t->scan_between("d", "b", ""), Keys());
  EXPECT_EQ(t->scan_between("b", "b", ""), Keys());
}

// Two sessions each scan a part of the keys and then write into the part that the other
// scanned: one of them must have seen the other's. Where a part was not scanned both may.
TEST(MockStore, AScanBetweenSawWhatWasNotThere) {
  const auto both_miss = [](std::uint64_t seed, const char* first_low, const char* first_writes) {
    Store store({.level = Level::kStrongSessionSerializable, .seed = seed});
    const auto one = store.open_session("one"), other = store.open_session("other");
    const auto step = [&](std::uint32_t session, const char* low, const char* high,
                          const char* writes) {
      const auto t = store.begin(session);
      bool none = true;
      for (const auto& key : t->scan_between(low, high, "/1")) {
        const auto value = t->read(key);
        none = none && value == Value();
      }
      return none && t->write(writes, Value::of(7)) && t->commit();
    };
    step(one, "x", "y", "z/1");  // covered by the next one in part
    const bool first = step(one, first_low, "b8", first_writes);
    const bool second = step(other, "b1", "b9", "b4/1");
    return first && second;
  };
  int missed = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    EXPECT_FALSE(both_miss(seed, "b2", "b6/1")) << seed;
    missed += both_miss(seed, "b5", "b6/1");  // b4 was not scanned
    missed += both_miss(seed, "b2", "b6/2");  // another ending
  }
  EXPECT_GT(missed, 20);
}

// A transaction that scanned, saw no key and wrote it has read null there: no other writer of
// the key can be put before it.
TEST(MockStore, WhatWasScannedAndThenWrittenWasReadAsNull) {
  Store store(quiet(Level::kStrongSessionSerializable));
  const auto s = store.open_session("a");
  const auto t = store.begin(s);
  EXPECT_TRUE(t->scan_between("x", "y", "").empty());
  EXPECT_TRUE(t->write("x", Value::of(1)));
  EXPECT_TRUE(t->scan("w", '/').empty());
  EXPECT_TRUE(t->write("w", Value::of(1)));
  EXPECT_TRUE(t->write("y", Value::of(1)));
  EXPECT_TRUE(t->commit());
  const auto history = store.history();
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(history->op_count(), 5U);
}

TEST(MockStore, SavepointsTakeWritesBackAndReadsOfThem) {
  Store store(quiet());
  const auto s = store.open_session("a");
  const auto t = store.begin(s);
  t->write("x", Value::of(1));
  const auto savepoint = t->savepoint();
  t->write("x", Value::of(2));
  t->write("y", Value::of(3));
  EXPECT_EQ(t->read("x"), Value::of(2));
  t->rollback_to(savepoint);
  EXPECT_EQ(t->read("x"), Value::of(1));
  EXPECT_EQ(t->read("y"), Value());
  EXPECT_EQ(t->keys_with_prefix(""), (std::vector<std::string>{"x"}));
  EXPECT_TRUE(t->commit());
  const auto history = store.history();
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(history->op_count(), 3U);  // w(x,1) r(x,1) r(y,null)
}

TEST(MockStore, AnIdleTransactionThatKeepsOthersWaitingIsRolledBack) {
  auto options = quiet();
  options.patience_s = 0.05;
  Store store(options);
  const auto a = store.open_session("a");
  const auto b = store.open_session("b");
  const auto idle = store.begin(a);
  idle->write("x", Value::of(1));
  const auto next = store.begin(b);  // by the same thread: would wait for itself
  ASSERT_NE(next, nullptr);
  EXPECT_FALSE(idle->write("x", Value::of(2)));
  ASSERT_TRUE(idle->failure());
  EXPECT_EQ(idle->failure()->kind, Failure::Kind::kEnded);
  EXPECT_FALSE(idle->commit());
  EXPECT_EQ(idle->read("x"), std::nullopt);
  EXPECT_EQ(next->read("x"), Value());
  EXPECT_TRUE(next->commit());
}

TEST(MockStore, TurnsAreFirstComeFirstServed) {
  auto options = quiet();
  options.patience_s = 600;  // however busy the machine is
  Store store(options);
  const auto first = store.open_session("first");
  auto open = store.begin(first);
  std::vector<int> order;
  std::vector<std::thread> threads;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([&, i] {
      const auto t = store.begin(store.open_session("s"));
      order.push_back(i);  // guarded by the turn
      t->commit();
    });
    while (store.waiting() <= static_cast<std::size_t>(i)) std::this_thread::yield();
  }
  open->commit();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(MockStore, AClosedSessionOfTheSameNameGoesOn) {
  Store store(quiet());
  const auto first = store.continue_session("psql"), beside = store.continue_session("psql");
  EXPECT_NE(first, beside) << "both are open";
  EXPECT_NE(store.continue_session("other"), first);
  store.close_session(beside);
  store.close_session(first);
  EXPECT_EQ(store.continue_session("psql"), first) << "the one closed last";
  EXPECT_EQ(store.continue_session("psql"), beside);
  const auto third = store.continue_session("psql");
  EXPECT_NE(third, first);
  EXPECT_NE(third, beside);
  store.close_session(first);
  EXPECT_NE(store.open_session("psql"), first) << "open_session() is always a new one";
  EXPECT_EQ(store.continue_session("psql"), first);
}

TEST(MockStore, ShutDownEndsOpenAndWaitingTransactions) {
  Store store(quiet());
  const auto a = store.open_session("a");
  const auto open = store.begin(a);
  std::atomic<bool> gave_null = false;
  std::thread waiting([&] { gave_null = store.begin(store.open_session("b")) == nullptr; });
  while (store.waiting() == 0) std::this_thread::yield();
  store.shut_down();
  waiting.join();
  EXPECT_TRUE(gave_null);
  EXPECT_FALSE(open->commit());
  ASSERT_TRUE(open->failure());
  EXPECT_EQ(open->failure()->kind, Failure::Kind::kStopped);
  EXPECT_EQ(store.begin(a), nullptr);
}

TEST(MockStore, ATransactionMayOutliveItsStore) {
  auto store = std::make_unique<Store>(quiet());
  const auto t = store->begin(store->open_session("a"));
  store.reset();
  EXPECT_FALSE(t->write("x", Value::of(1)));
}

TEST(MockStore, ResetForgetsEverything) {
  Store store(quiet());
  const auto s = store.open_session("a");
  const auto t = store.begin(s);
  t->write("x", Value::of(1));
  EXPECT_TRUE(t->commit());
  const auto open = store.begin(s);
  store.reset(7);
  EXPECT_FALSE(open->commit());
  EXPECT_EQ(store.history()->txn_count(), 0U);
  const auto after = store.begin(s);
  EXPECT_EQ(after->read("x"), Value());
  EXPECT_TRUE(after->keys_with_prefix("").empty());
}

TEST(MockStore, KeysMayHoldSomethingAtFirst) {
  Store store(quiet(Level::kReadCommitted));
  store.set_initial("x", Value::of(7));
  const auto t = store.begin(store.open_session("a"));
  EXPECT_EQ(t->read("x"), Value::of(7));
  EXPECT_EQ(t->keys_with_prefix(""), std::vector<std::string>{"x"});
  t->commit();
  const auto history = store.history();
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(history->value(history->initial_value(history::KeyId(0))).to_string(), "7");
}

// Several writers, each of a session of its own: nobody lags, at any level.
TEST(MockStore, TheLastChoiceIsWhatWasCommittedLast) {
  for (const auto level :
       {Level::kReadCommitted, Level::kReadAtomic, Level::kCausal, Level::kPrefix,
        Level::kStrongSessionSnapshotIsolation, Level::kStrongSessionSerializable}) {
    auto options = quiet(level);
    options.choose = [](std::size_t allowed) { return allowed - 1; };
    Store store(options);
    std::vector<decltype(store.open_session("a"))> sessions;
    for (int s = 0; s < 4; ++s) sessions.push_back(store.open_session(std::to_string(s)));
    for (std::int64_t i = 0; i < 40; ++i) {
      const auto t = store.begin(sessions[static_cast<std::size_t>(i * 7 % 4)]);
      EXPECT_EQ(t->read("x"), i == 0 ? Value() : Value::of(i)) << name(level);
      EXPECT_TRUE(t->write("x", Value::of(i + 1)));
      EXPECT_TRUE(t->commit());
    }
  }
}

TEST(MockStore, SessionsOfOneNameAreDistinguished) {
  Store store(quiet());
  for (int i = 0; i < 2; ++i) {
    const auto s = store.open_session("a");
    const auto t = store.begin(s);
    t->write("x", Value::of(i));
    t->commit();
    store.close_session(s);
  }
  const auto history = store.history();
  ASSERT_TRUE(history.ok());
  ASSERT_EQ(history->session_count(), 2U);
  EXPECT_EQ(history->session_name(history::SessionId(1)), "a#2");
}

TEST(MockStore, AbortRateIsAShareOfTheCommits) {
  auto options = quiet();
  options.abort_rate = 0.25;
  options.seed = 3;
  Store store(options);
  const auto s = store.open_session("a");
  int aborted = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto t = store.begin(s);
    t->write("x", Value::of(i));
    if (t->commit()) continue;
    ++aborted;
    EXPECT_EQ(t->failure()->kind, Failure::Kind::kConflict);
  }
  EXPECT_GT(aborted, 200);
  EXPECT_LT(aborted, 300);
}

TEST(MockStore, ManyThreadsTakeTurns) {
  Store store(quiet());
  std::vector<std::thread> threads;
  std::atomic<int> commits = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const auto s = store.open_session("s" + std::to_string(i));
      for (int n = 0; n < 50; ++n) {
        const auto t = store.begin(s);
        t->read("x");
        t->write("x", Value::of(i * 1000 + n));
        commits += t->commit();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(commits, 400);
  EXPECT_EQ(store.history()->txn_count(), 400U);
}

TEST(MockStore, LevelsHaveTheirNames) {
  EXPECT_EQ(name(Level::kCausal), "causal");
  EXPECT_EQ(level_of("sser"), Level::kStrongSessionSerializable);
  EXPECT_EQ(level_of("read-committed"), Level::kReadCommitted);
  EXPECT_EQ(level_of("serializable"), Level::kStrongSessionSerializable);
  EXPECT_EQ(level_of("SI"), Level::kStrongSessionSnapshotIsolation);
  EXPECT_EQ(level_of("linearizable"), std::nullopt);
  EXPECT_EQ(level_of("nonsense"), std::nullopt);
}

}  // namespace
}  // namespace cupel::mock
