// The levels of products: each anomaly that a product allows comes with some seed, one that it
// forbids never comes, and locks keep what they promise (docs/reference/mock-levels.md).
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <future>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "engine/check/check.hpp"
#include "engine/levels/level.hpp"
#include "engine/mock/lock_table.hpp"
#include "engine/mock/store.hpp"

namespace cupel::mock {
namespace {

constexpr std::uint64_t kSeeds = 1000;

struct ProductLevel {
  const char* name;
  Product product;
  Level level;
  // Which anomalies it allows.
  bool unrepeatable, lost_update, write_skew, phantom_skew, long_fork, stale;
  // The level of cupel's that every history satisfies whose transactions take no locks themselves.
  levels::Level promised;

  friend void PrintTo(const ProductLevel& one, std::ostream* out) { *out << one.name; }
};

constexpr auto kReadCommitted = Level::kReadCommitted;
constexpr auto kRepeatable = Level::kStrongSessionSnapshotIsolation;
constexpr auto kSerializable = Level::kStrongSessionSerializable;
using Engine = levels::Level;

constexpr std::array kProductLevels = {
    ProductLevel{"postgres_read_committed", Product::kPostgres, kReadCommitted, true, true, true,
                 true, true, false, Engine::kReadCommitted},
    ProductLevel{"postgres_repeatable_read", Product::kPostgres, kRepeatable, false, false, true,
                 true, false, false, Engine::kStrongSnapshotIsolation},
    ProductLevel{"postgres_serializable", Product::kPostgres, kSerializable, false, false, false,
                 false, false, false, Engine::kSerializable},
    ProductLevel{"mysql_read_committed", Product::kMysql, kReadCommitted, true, true, true, true,
                 true, false, Engine::kReadCommitted},
    ProductLevel{"mysql_repeatable_read", Product::kMysql, Level::kPrefix, false, true, true, true,
                 false, false, Engine::kPrefix},
    ProductLevel{"mysql_serializable", Product::kMysql, kSerializable, false, false, false, false,
                 false, false, Engine::kStrictSerializable},
    ProductLevel{"mariadb_snapshot", Product::kMariadbSnapshot, Level::kPrefix, false, false, true,
                 true, false, false, Engine::kStrongSnapshotIsolation},
    ProductLevel{"galera_read_committed", Product::kGalera, kReadCommitted, true, true, true, true,
                 true, true, Engine::kReadCommitted},
    ProductLevel{"galera_repeatable_read", Product::kGalera, Level::kPrefix, false, true, true,
                 true, false, true, Engine::kPrefix},
    ProductLevel{"strict_serializable", Product::kNone, Level::kStrictSerializable, false, false,
                 false, false, false, false, Engine::kStrictSerializable},
};

Options options_of(const ProductLevel& level, std::uint64_t seed) {
  Options options;
  options.product = level.product;
  options.level = level.level;
  options.seed = seed;
  return options;
}

using Client = std::function<bool(Transaction&)>;  // true: commit

// The clients at the same time, each one transaction; which of them committed.
std::vector<bool> interleaved(Store& store, const std::vector<Client>& clients,
                              const Store::BeginOptions& asked = {}) {
  std::vector<char> done(clients.size(), 0);
  std::vector<std::function<void()>> functions;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const auto session = store.open_session("client " + std::to_string(i));
    functions.emplace_back([&, i, session] {
      const auto txn = store.begin(session, asked);
      done[i] = clients[i](*txn) && txn->commit();
    });
  }
  store.interleave(functions);
  return {done.begin(), done.end()};
}

std::int64_t number(const std::optional<Value>& value) {
  return value ? value->integer : -1;
}

// The node of a session that read something new has it; so the third node is asked last.
std::int64_t at_last(Store& store, const char* key) {
  const auto txn = store.begin(store.open_session("last"));
  return number(txn->read_latest(key));
}

class MockProducts : public testing::TestWithParam<ProductLevel> {
 protected:
  // In how many runs it came about.
  int count(const std::function<bool(Store&)>& came) {
    int times = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      Store store(options_of(GetParam(), seed));
      times += came(store);
    }
    return times;
  }
};

TEST_P(MockProducts, UnrepeatableRead) {
  const auto times = count([](Store& store) {
    std::int64_t first = 0, second = 0;
    const auto done = interleaved(store, {[](Transaction& t) { return t.write("x", Value::of(1)); },
                                          [&](Transaction& t) {
                                            first = number(t.read("x"));
                                            second = number(t.read("x"));
                                            return true;
                                          }});
    return done[1] && first != second;
  });
  EXPECT_EQ(times > 0, GetParam().unrepeatable) << times;
}

bool increments(Transaction& t) {
  const auto seen = t.read("x");
  return seen && t.write("x", Value::of(seen->integer + 1));
}

TEST_P(MockProducts, LostUpdate) {
  int refused = 0, runs = 0;
  const auto times = count([&](Store& store) {
    Store::BeginOptions asked;  // which is never less than the level of the store
    if (++runs % 2 == 0) asked.level = Level::kReadCommitted;
    const auto done = interleaved(store, {increments, increments}, asked);
    refused += !done[0] || !done[1];
    const auto history = store.history();
    check::Options options;
    options.asked = {levels::Level::kSnapshotIsolation};
    return check::check(*history, options).levels[0].verdict == check::Verdict::kViolated;
  });
  EXPECT_EQ(times > 0, GetParam().lost_update) << times;
  if (!GetParam().lost_update) {
    EXPECT_GT(refused, 0);
  }
}

TEST_P(MockProducts, WriteSkew) {
  const auto times = count([](Store& store) {
    const auto leaves = [](const char* own, const char* other) {
      return
          [=](Transaction& t) { return number(t.read(other)) == 0 && t.write(own, Value::of(1)); };
    };
    const auto done = interleaved(store, {leaves("x", "y"), leaves("y", "x")});
    return done[0] && done[1];
  });
  EXPECT_EQ(times > 0, GetParam().write_skew) << times;
}

TEST_P(MockProducts, WriteSkewOfPhantoms) {
  const auto times = count([](Store& store) {
    const auto adds = [](const char* key) {
      return [=](Transaction& t) {
        const bool empty = t.scan("t/", '/').empty();
        return empty && !t.failure() && t.write(key, Value::of(1));
      };
    };
    const auto done = interleaved(store, {adds("t/1"), adds("t/2")});
    return done[0] && done[1];
  });
  EXPECT_EQ(times > 0, GetParam().phantom_skew) << times;
}

TEST_P(MockProducts, LongFork) {
  const auto times = count([](Store& store) {
    std::array<std::int64_t, 4> seen = {};
    const auto reads = [&](const char* first, const char* second, std::size_t at) {
      return [=, &seen](Transaction& t) {
        seen[at] = number(t.read(first));
        seen[at + 1] = number(t.read(second));
        return true;
      };
    };
    const auto done = interleaved(store, {[](Transaction& t) { return t.write("x", Value::of(1)); },
                                          [](Transaction& t) { return t.write("y", Value::of(1)); },
                                          reads("x", "y", 0), reads("y", "x", 2)});
    return done[2] && done[3] && seen == std::array<std::int64_t, 4>{0, 1, 0, 1};
  });
  EXPECT_EQ(times > 0, GetParam().long_fork) << times;
}

// Who begins after a commit sees it, on a server that is one.
TEST_P(MockProducts, StaleRead) {
  const auto times = count([](Store& store) {
    const auto writer = store.begin(store.open_session("writer"));
    if (!writer->write("x", Value::of(1)) || !writer->commit()) return true;
    return number(store.begin(store.open_session("reader"))->read("x")) == 0;
  });
  EXPECT_EQ(times > 0, GetParam().stale) << times;
}

// Tries again whatever is refused, as an application has to.
void with_retries(Store& store, std::uint32_t session, const Client& client) {
  for (int tries = 0; tries < 100; ++tries) {
    const auto txn = store.begin(session);
    if (client(*txn) && txn->commit()) return;
    if (!txn->failure()) return;
  }
  FAIL() << "refused 100 times";
}

bool buys_with_lock(Transaction& t) {
  t.begin_statement();
  const auto locked = t.lock("stock/1", LockMode::kUpdate, {});
  if (locked == LockResult::kEnded) return false;
  const auto left = t.read_latest("stock/1/number");
  if (!left || left->integer == 0) return false;
  t.begin_statement();
  return t.write("stock/1/number", Value::of(left->integer - 1));
}

// Three customers and a stock of two: with FOR UPDATE, or an atomic update, it is never sold out
// below zero, and nobody's purchase is lost.
TEST_P(MockProducts, LocksKeepTheStock) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Store store(options_of(GetParam(), seed));
    store.set_initial("stock/1/number", Value::of(5));
    std::vector<std::function<void()>> customers;
    for (int i = 0; i < 3; ++i) {
      const auto session = store.open_session("customer");
      customers.emplace_back([&store, session] { with_retries(store, session, buys_with_lock); });
    }
    store.interleave(customers);
    const auto history = store.history();
    ASSERT_TRUE(history.ok());
    std::int64_t left = 5;
    // What the last writer left, on whichever node it is.
    for (int tries = 0; tries < 50; ++tries)
      left = std::min(left, at_last(store, "stock/1/number"));
    ASSERT_EQ(left, 2) << "seed " << seed;
  }
}

// What histories of any programs satisfy, judged by the engine, with the times of begins and ends.
TEST_P(MockProducts, HistoriesSatisfyWhatIsPromised) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Store store(options_of(GetParam(), seed));
    base::Random random(seed);
    std::int64_t value = 0;
    std::vector<std::function<void()>> clients;
    for (int i = 0; i < 4; ++i) {
      const auto session = store.open_session("client");
      clients.emplace_back([&, session] {
        for (int round = 0; round < 5; ++round) {
          const auto txn = store.begin(session);
          bool live = true;
          for (int at = 0; at < 4 && live; ++at) {
            const auto key = "k" + std::to_string(random.below(4));
            live = random.chance(0.4) ? txn->write(key, Value::of(++value))
                                      : txn->read(key).has_value();
          }
          if (live) txn->commit();
        }
      });
    }
    store.interleave(clients);
    const auto history = store.history();
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    check::Options options;
    options.asked = {GetParam().promised};
    ASSERT_EQ(check::check(*history, options).levels[0].verdict, check::Verdict::kSatisfied)
        << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, MockProducts, testing::ValuesIn(kProductLevels),
                         [](const auto& info) { return std::string(info.param.name); });

// --- locks

Options locking(Level level = Level::kCausal) {
  Options options;
  options.level = level;
  options.overlap = options.locks = true;
  return options;
}

TEST(MockLocks, NoWaitAndSkipLockedAskWithoutWaiting) {
  Store store(locking());
  const auto a = store.begin(store.open_session("a")), b = store.begin(store.open_session("b"));
  EXPECT_EQ(a->lock("x", LockMode::kUpdate, {}), LockResult::kGranted);
  EXPECT_EQ(b->lock("x", LockMode::kShare, {.wait = false}), LockResult::kNotAvailable);
  EXPECT_EQ(b->lock("y", LockMode::kUpdate, {.wait = false}), LockResult::kGranted);
  a->rollback();
  EXPECT_EQ(b->lock("x", LockMode::kShare, {.wait = false}), LockResult::kGranted);
}

TEST(MockLocks, ALockThatIsGivenBackIsFree) {
  Store store(locking());
  const auto a = store.begin(store.open_session("a")), b = store.begin(store.open_session("b"));
  for (const auto mode : {LockMode::kUpdate, LockMode::kShare})
    EXPECT_EQ(a->lock("x", mode, {}), LockResult::kGranted);
  a->unlock("x", LockMode::kUpdate);
  EXPECT_EQ(b->lock("x", LockMode::kUpdate, {.wait = false}), LockResult::kNotAvailable);
  EXPECT_EQ(b->lock("x", LockMode::kShare, {.wait = false}), LockResult::kGranted);
  a->unlock("x", LockMode::kShare);
  EXPECT_EQ(b->lock("x", LockMode::kUpdate, {.wait = false}), LockResult::kGranted);
}

TEST(MockLocks, AWaitEndsWithTheHolder) {
  auto options = locking();
  std::atomic<std::uint32_t> committed = 0;
  options.committed = [&](std::uint32_t commits) { committed = commits; };
  Store store(options);
  store.set_initial("x", Value::of(1));
  auto a = store.begin(store.open_session("a"));
  ASSERT_EQ(a->lock("x", LockMode::kUpdate, {}), LockResult::kGranted);
  std::promise<void> waits;
  std::once_flag once;
  const LockOptions patiently{.give_up = [&] {
    std::call_once(once, [&] { waits.set_value(); });
    return false;
  }};
  std::thread waiting([&] {
    const auto b = store.begin(store.open_session("b"));
    EXPECT_EQ(b->lock("x", LockMode::kUpdate, patiently), LockResult::kGrantedLater);
    EXPECT_EQ(committed, 1U);
    EXPECT_EQ(b->read_latest("x"), Value::of(2));
    EXPECT_TRUE(b->commit());
  });
  waits.get_future().wait();
  EXPECT_TRUE(a->write("x", Value::of(2)) && a->commit());
  waiting.join();
  EXPECT_EQ(committed, 2U);
}

TEST(MockLocks, GivingUpEndsAWaitAndPatienceTheHolder) {
  auto options = locking();
  options.patience_s = 0.2;
  Store store(options);
  const auto a = store.begin(store.open_session("a")), b = store.begin(store.open_session("b"));
  ASSERT_EQ(a->lock("x", LockMode::kUpdate, {}), LockResult::kGranted);
  int asked = 0;
  EXPECT_EQ(b->lock("x", LockMode::kUpdate, {.give_up = [&] { return ++asked == 2; }}),
            LockResult::kGivenUp);
  EXPECT_EQ(b->lock("x", LockMode::kUpdate, {}), LockResult::kGrantedLater);
  EXPECT_FALSE(a->commit());
  EXPECT_EQ(a->failure()->kind, Failure::Kind::kEnded);
}

TEST(MockLocks, ADeadlockEndsOneOfTheTwo) {
  int deadlocks = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    auto options = locking();
    options.seed = seed;
    Store store(options);
    int ended = 0;
    const auto locks = [&](const char* first, const char* second) {
      return [&, first, second](Transaction& t) {
        for (const char* name : {first, second}) {
          if (t.lock(name, LockMode::kUpdate, {}) == LockResult::kEnded) {
            EXPECT_EQ(t.failure()->kind, Failure::Kind::kDeadlock);
            ++ended;
            return false;
          }
        }
        return true;
      };
    };
    const auto done = interleaved(store, {locks("x", "y"), locks("y", "x")});
    ASSERT_TRUE(done[0] || done[1]);
    ASSERT_EQ(store.conflicts(), static_cast<std::uint64_t>(ended));
    deadlocks += ended;
  }
  EXPECT_GT(deadlocks, 10);
  EXPECT_LT(deadlocks, 90);
}

// The table of PostgreSQL's row locks, and InnoDB's gaps.
TEST(MockLocks, ExcludeEachOtherAsTheManualsSay) {
  using enum LockMode;
  const std::vector<std::pair<LockMode, LockMode>> excluded = {
      {kKeyShare, kUpdate},    {kShare, kNoKeyUpdate},
      {kShare, kUpdate},       {kNoKeyUpdate, kNoKeyUpdate},
      {kNoKeyUpdate, kUpdate}, {kUpdate, kUpdate},
      {kGap, kInsertion}};
  for (const auto one : {kKeyShare, kShare, kNoKeyUpdate, kUpdate, kGap, kInsertion}) {
    for (const auto other : {kKeyShare, kShare, kNoKeyUpdate, kUpdate, kGap, kInsertion}) {
      const auto pair = std::pair(std::min(one, other), std::max(one, other));
      EXPECT_EQ(exclude_each_other(one, other),
                std::find(excluded.begin(), excluded.end(), pair) != excluded.end());
    }
  }
}

// First come, first served: who asks later for less does not get past who waits for more.
TEST(MockLocks, AreServedInTheirOrder) {
  LockTable table;
  EXPECT_TRUE(table.acquire(1, "x", LockMode::kShare));
  EXPECT_FALSE(table.acquire(2, "x", LockMode::kUpdate));
  EXPECT_TRUE(table.wait(2, "x", LockMode::kUpdate));
  EXPECT_FALSE(table.acquire(3, "x", LockMode::kShare));
  EXPECT_TRUE(table.wait(3, "x", LockMode::kShare));
  EXPECT_TRUE(table.acquire(1, "x", LockMode::kKeyShare));  // it holds the name already
  table.release(1);
  EXPECT_FALSE(table.acquire(3, "x", LockMode::kShare));
  EXPECT_TRUE(table.acquire(2, "x", LockMode::kUpdate));
  EXPECT_FALSE(table.wait(2, "y", LockMode::kUpdate) && table.acquire(3, "x", LockMode::kShare));
}

// With locks, no level of the store loses an update that reads what is locked.
TEST(MockLocks, AtomicUpdatesAreKeptAtEveryLevel) {
  for (const Level level : kLevels) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      auto options = locking(level);
      options.seed = seed;
      Store store(options);
      std::vector<std::function<void()>> clients;
      for (int i = 0; i < 3; ++i) {
        const auto session = store.open_session("client");
        clients.emplace_back([&store, session] {
          with_retries(store, session, [](Transaction& t) {
            if (t.lock("x", LockMode::kUpdate, {}) == LockResult::kEnded) return false;
            const auto seen = t.read_latest("x");
            return seen && t.write("x", Value::of(seen->integer + 1));
          });
        });
      }
      store.interleave(clients);
      ASSERT_EQ(at_last(store, "x"), 3) << name(level) << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace cupel::mock
