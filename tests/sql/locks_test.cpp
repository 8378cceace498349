// Locks and the levels of products through SQL: a small shop whose clients interleave by seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sql/bench.hpp"
#include "support/parameter_name.hpp"

namespace cupel::sql {
namespace {

// Once, and never where rows are locked.
TEST(SqlLocks, AreSaidToBeIgnored) {
  for (const bool locks : {false, true}) {
    mock::Options options;
    options.locks = options.overlap = locks;
    Bench sql(options);
    sql("CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1); SELECT * FROM t");
    EXPECT_FALSE(sql.catalog.ignored_locks());
    const auto first = sql.session->run("SELECT * FROM t FOR UPDATE").results.at(0).notices;
    EXPECT_EQ(first.size(), locks ? 0u : 1u);
    EXPECT_TRUE(sql.session->run("SELECT * FROM t FOR SHARE").results.at(0).notices.empty());
    EXPECT_EQ(sql.catalog.ignored_locks(), !locks);
  }
}

#ifndef CUPEL_SHOP_SEEDS
#define CUPEL_SHOP_SEEDS 50
#endif
constexpr std::uint64_t kSeeds = CUPEL_SHOP_SEEDS;

mock::Options of_product(const mock::ProductLevel& level, std::uint64_t seed) {
  return {.level = level.level, .seed = seed, .product = level.product};
}

std::string in_name(std::string_view text) {
  std::string name(text);
  for (auto& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return name;
}

// What a client does in one transaction; the error that ended it, or nothing.
using Steps = std::function<std::string(Session&)>;

// Runs statements until one fails; "" or its SQLSTATE.
std::string all_of(Session& session, const std::vector<std::string>& statements) {
  for (const auto& statement : statements) {
    const auto run = session.run(statement);
    if (run.error) return run.error->sqlstate;
  }
  return "";
}

bool may_try_again(const std::string& state) {
  return state == "40001" || state == "40P01";
}

class SqlShop : public testing::TestWithParam<mock::ProductLevel> {
 protected:
  // The stock of product 1 after three customers, each of whom buys one of five; in how many of
  // the seeds it is not what it has to be, and how often a customer was refused.
  struct Sum {
    int wrong = 0, refused = 0;
  };
  Sum sell(const Steps& buy, bool again) {
    Sum sum;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      Bench shop(of_product(GetParam(), seed));
      EXPECT_EQ(shop("CREATE TABLE stock (id int PRIMARY KEY, n int)"), "CREATE TABLE");
      EXPECT_EQ(shop("INSERT INTO stock VALUES (1, 5), (2, 5)"), "INSERT 0 2");
      std::vector<std::unique_ptr<Session>> sessions;
      std::vector<std::function<void()>> customers;
      int bought = 0;
      for (int i = 0; i < 3; ++i) {
        // It may be on another node, which gets what was loaded after a while.
        auto* session =
            sessions.emplace_back(Session::open(shop.store, shop.catalog, "customer")).get();
        while (Bench::in(*session, "SELECT n FROM stock WHERE id = 1").empty()) {
        }
        customers.emplace_back([&, session] {
          auto state = buy(*session);
          for (int tries = 0; again && may_try_again(state) && tries < 100; ++tries) {
            ++sum.refused;
            session->run("ROLLBACK");
            state = buy(*session);
          }
          if (state.empty()) {
            ++bought;
          } else {
            ++sum.refused;
            EXPECT_TRUE(may_try_again(state)) << state;
            session->run("ROLLBACK");
          }
        });
      }
      shop.store.interleave(customers);
      sum.wrong += left(shop) != 5 - bought;
      if (again) {
        EXPECT_EQ(bought, 3);
      }
    }
    return sum;
  }

  // A node of a cluster that lags shows more.
  static int left(Bench& shop) {
    int least = 5;
    for (int i = 0; i < 20; ++i) {
      const auto text = shop("SELECT n FROM stock WHERE id = 1");
      if (!text.empty()) least = std::min(least, std::stoi(text));
    }
    return least;
  }
};

std::string read_modify_write(Session& session) {
  session.run("BEGIN");
  const auto run = session.run("SELECT n FROM stock WHERE id = 1");
  if (run.error) return run.error->sqlstate;
  const auto n = run.results[0].rows.empty() ? 5 : std::stoi(*run.results[0].rows[0][0]);
  return all_of(session,
                {"UPDATE stock SET n = " + std::to_string(n - 1) + " WHERE id = 1", "COMMIT"});
}

TEST_P(SqlShop, ReadModifyWrite) {
  const auto sum = sell(read_modify_write, false);
  const auto name = GetParam().name;
  const bool safe = name == "postgres:repeatable-read" || name == "postgres:serializable" ||
                    name == "mysql:serializable" || name == "mariadb:snapshot";
  EXPECT_EQ(sum.wrong == 0, safe) << sum.wrong;
  if (safe) {
    EXPECT_GT(sum.refused, 0);
  }
}

TEST_P(SqlShop, AtomicUpdatesAreKept) {
  const auto sum = sell(
      [](Session& session) {
        return all_of(session, {"BEGIN", "UPDATE stock SET n = n - 1 WHERE id = 1", "COMMIT"});
      },
      true);
  EXPECT_EQ(sum.wrong, 0);
}

TEST_P(SqlShop, AtomicUpdatesOfFoundRowsAreKept) {
  const auto sum = sell(
      [](Session& session) {
        return all_of(session, {"UPDATE stock SET n = n - 1 WHERE n > 0 AND id < 2"});
      },
      true);
  EXPECT_EQ(sum.wrong, 0);
}

TEST_P(SqlShop, ForUpdateIsKept) {
  const auto sum = sell(
      [](Session& session) {
        session.run("BEGIN");
        const auto run = session.run("SELECT n FROM stock WHERE id = 1 FOR UPDATE");
        if (run.error) return run.error->sqlstate;
        if (run.results[0].rows.empty()) return std::string("40001");  // a node that lags
        const auto n = std::stoi(*run.results[0].rows[0][0]);
        return all_of(
            session, {"UPDATE stock SET n = " + std::to_string(n - 1) + " WHERE id = 1", "COMMIT"});
      },
      true);
  EXPECT_EQ(sum.wrong, 0);
}

// Two clients give out the same number: who comes second waits, and is told that it is there.
TEST_P(SqlShop, KeysStayUnique) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Bench shop(of_product(GetParam(), seed));
    shop("CREATE TABLE users (id int PRIMARY KEY, name text UNIQUE)");
    std::vector<std::function<void()>> clients;
    std::vector<std::unique_ptr<Session>> sessions;
    std::vector<std::string> states(2);
    for (int i = 0; i < 2; ++i) {
      sessions.push_back(Session::open(shop.store, shop.catalog, "client"));
      clients.emplace_back([&, i] {
        states[i] =
            all_of(*sessions[i], {"INSERT INTO users VALUES (" + std::to_string(i) + ", 'ann')"});
      });
    }
    shop.store.interleave(clients);
    EXPECT_EQ(states[0].empty() + states[1].empty(), 1) << states[0] << states[1];
    for (const auto& state : states)
      EXPECT_TRUE(state.empty() || state == "23505" || may_try_again(state)) << state;
  }
}

INSTANTIATE_TEST_SUITE_P(Products, SqlShop, testing::ValuesIn(mock::kProductLevels),
                         [](const auto& info) { return in_name(info.param.name); });

Bench locking(mock::Level level = mock::Level::kCausal) {
  return Bench({.level = level, .overlap = true, .locks = true});
}

TEST(SqlLocks, SkipLockedLeavesOutAndNoWaitIsRefused) {
  auto jobs = locking();
  jobs("CREATE TABLE jobs (id int PRIMARY KEY, done bool)");
  jobs("INSERT INTO jobs VALUES (1, false), (2, false), (3, false)");
  auto& other = *jobs.other;
  // A session of its own sees what the first one did only if it reads the newest.
  const std::string next = "SELECT id FROM jobs WHERE NOT done ORDER BY id LIMIT 1 FOR UPDATE";
  jobs("BEGIN");
  EXPECT_EQ(jobs(next), "1");
  Bench::in(other, "BEGIN");
  EXPECT_EQ(Bench::in(other, next + " SKIP LOCKED"), "2");
  EXPECT_EQ(Bench::in(other, "SELECT id FROM jobs FOR UPDATE SKIP LOCKED"), "2 | 3");
  EXPECT_EQ(jobs("SELECT id FROM jobs ORDER BY id FOR SHARE SKIP LOCKED"), "1");
  EXPECT_EQ(jobs("SELECT id FROM jobs WHERE id = 2 FOR UPDATE NOWAIT"), "error 55P03");
  jobs("ROLLBACK");
  EXPECT_EQ(Bench::in(other, "SELECT id FROM jobs WHERE id = 1 FOR UPDATE NOWAIT"), "1");
}

TEST(SqlLocks, AWaitIsBoundedByLockTimeout) {
  auto bench = locking();
  bench("CREATE TABLE t (id int PRIMARY KEY, n int)");
  bench("INSERT INTO t VALUES (1, 1)");
  bench("BEGIN");
  EXPECT_EQ(bench("SELECT n FROM t WHERE id = 1 FOR UPDATE"), "1");
  Bench::in(*bench.other, "SET lock_timeout = '50ms'");
  EXPECT_EQ(Bench::in(*bench.other, "UPDATE t SET n = 2 WHERE id = 1"), "error 55P03");
  EXPECT_EQ(bench("COMMIT"), "COMMIT");
}

TEST(SqlLocks, OnlyTheNamedTablesAreLocked) {
  auto bench = locking();
  bench("CREATE TABLE a (id int PRIMARY KEY)");
  bench("CREATE TABLE b (id int PRIMARY KEY)");
  bench("INSERT INTO a VALUES (1)");
  bench("INSERT INTO b VALUES (1)");
  bench("BEGIN");
  EXPECT_EQ(bench("SELECT a.id FROM a JOIN b ON a.id = b.id FOR UPDATE OF a"), "1");
  Bench::in(*bench.other, "BEGIN");
  EXPECT_EQ(Bench::in(*bench.other, "SELECT id FROM b FOR UPDATE NOWAIT"), "1");
  EXPECT_EQ(Bench::in(*bench.other, "SELECT id FROM a FOR UPDATE SKIP LOCKED"), "");
  EXPECT_EQ(bench("SELECT a.id FROM a FOR UPDATE OF c"), "error 42P01");
}

// Who waited reads the row as it is then, and leaves it if it is none of the query's any more.
TEST(SqlLocks, ConditionsAreAskedAgainAfterAWait) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Bench bench(of_product({"", mock::Product::kPostgres, mock::Level::kReadCommitted}, seed));
    bench("CREATE TABLE t (id int PRIMARY KEY, n int)");
    bench("INSERT INTO t VALUES (1, 1)");
    std::vector<std::string> tags(2);
    const std::vector<std::function<void()>> both = {
        [&] { tags[0] = bench("UPDATE t SET n = n - 1 WHERE n > 0"); },
        [&] { tags[1] = Bench::in(*bench.other, "UPDATE t SET n = n - 1 WHERE n > 0"); }};
    bench.store.interleave(both);
    EXPECT_EQ(bench("SELECT n FROM t"), "0");
    EXPECT_NE(tags[0], tags[1]);  // UPDATE 1 and UPDATE 0
  }
}

}  // namespace
}  // namespace cupel::sql
