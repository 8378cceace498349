// SET and SHOW: what they answer, what transactions undo of them, and that timeouts, cancels and
// read-only transactions do what they say.
#include <chrono>
#include <future>
#include <thread>

#include "bench.hpp"

namespace cupel::sql {
namespace {

// "25P01 SET LOCAL can …", of the last statement; empty: none.
std::string notice(Bench& bench, std::string_view sql) {
  const auto run = bench.session->run(sql);
  if (run.error) return "error " + run.error->sqlstate;
  if (run.results.empty() || run.results.back().notices.empty()) return "";
  const auto& said = run.results.back().notices[0];
  return (said.warning ? "WARNING " : "NOTICE ") + said.sqlstate;
}

TEST(Settings, RollbackUndoesSet) {
  Bench sql;
  EXPECT_EQ(sql("SET statement_timeout = 5000"), "SET");
  EXPECT_EQ(sql("SHOW statement_timeout"), "5000");
  EXPECT_EQ(sql("BEGIN; SET statement_timeout = '1min'"), "SET");
  EXPECT_EQ(sql("SHOW statement_timeout"), "1min");
  EXPECT_EQ(sql("ROLLBACK; SHOW statement_timeout"), "5000");
  EXPECT_EQ(sql("BEGIN; SET statement_timeout = '1min'; COMMIT; SHOW statement_timeout"), "1min");
  // A failed transaction's COMMIT is a rollback.
  sql("BEGIN; SET statement_timeout = 7; SELECT 1/0");
  EXPECT_EQ(sql("COMMIT"), "ROLLBACK");
  EXPECT_EQ(sql("SHOW statement_timeout"), "1min");
  // Several statements in one text are one transaction.
  EXPECT_EQ(sql("SET statement_timeout = 8; SELECT 1/0"), "error 22012");
  EXPECT_EQ(sql("SHOW statement_timeout"), "1min");
  EXPECT_EQ(sql("RESET statement_timeout; SHOW statement_timeout"), "0");
}

TEST(Settings, SavepointsAndLocalOnes) {
  Bench sql;
  sql("BEGIN; SET lock_timeout = 1000; SAVEPOINT k; SET lock_timeout = 2000");
  sql("SET LOCAL application_name = 'shop'");
  EXPECT_EQ(sql("SHOW lock_timeout"), "2000");
  EXPECT_EQ(sql("ROLLBACK TO k; SHOW lock_timeout"), "1000");
  EXPECT_EQ(sql("SHOW application_name"), "");
  sql("SET LOCAL lock_timeout = '3s'");
  EXPECT_EQ(sql("SHOW lock_timeout"), "3s");
  EXPECT_EQ(sql("COMMIT; SHOW lock_timeout"), "1000");
  EXPECT_EQ(notice(sql, "SET LOCAL lock_timeout = '9s'"), "WARNING 25P01");
  EXPECT_EQ(sql("SHOW lock_timeout"), "1000");
}

TEST(Settings, TransactionIsolationOutsideOfABlock) {
  Bench sql(mock::Options{.level = mock::Level::kCausal});
  EXPECT_EQ(notice(sql, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"), "WARNING 25P01");
  EXPECT_EQ(sql("SHOW transaction_isolation"), "read committed");
  EXPECT_EQ(sql("SET transaction_isolation = 'serializable'"), "SET");
  EXPECT_EQ(sql("SHOW transaction_isolation"), "read committed");
  EXPECT_EQ(sql("SHOW cupel.level"), "causal");
  EXPECT_EQ(sql("BEGIN; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; SHOW cupel.level"),
            "strong-session-serializable");
  EXPECT_EQ(sql("COMMIT; SHOW cupel.level"), "causal");
  sql("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE");
  EXPECT_EQ(sql("SHOW cupel.level"), "strong-session-serializable");
  EXPECT_EQ(sql("RESET ALL"), "RESET");
  EXPECT_EQ(sql("SHOW cupel.level"), "causal");
}

// Snapshots and locks are of the whole store.
TEST(Settings, NoSessionChoosesALevelOfAProductOrStrictSerializable) {
  const mock::Options strict{.level = mock::Level::kStrictSerializable};
  mock::Options product{.level = mock::Level::kReadCommitted};
  product.product = mock::Product::kPostgres;
  for (const auto& options : {strict, product}) {
    Bench sql(options);
    for (const char* other : {"causal", "strong-session-serializable"}) {
      EXPECT_EQ(sql(std::string("SET cupel.level = '") + other + "'"), "error 22023");
      EXPECT_EQ(sql(std::string("BEGIN; SET LOCAL cupel.level = '") + other + "'"), "error 22023");
      sql("ROLLBACK");
    }
    EXPECT_EQ(
        sql(std::string("SET cupel.level = '") + std::string(mock::name(options.level)) + "'"),
        "SET");
  }
}

TEST(Settings, ReadOnlyTransactionsLockNothing) {
  Bench sql;
  sql("CREATE TABLE t (id int PRIMARY KEY)");
  EXPECT_EQ(sql("BEGIN READ ONLY; SELECT * FROM t FOR UPDATE"), "error 25006");
  EXPECT_EQ(sql("ROLLBACK; BEGIN READ ONLY; SELECT * FROM t FOR SHARE"), "error 25006");
  EXPECT_EQ(sql("ROLLBACK; BEGIN READ ONLY; SELECT 1 FOR UPDATE"), "1");
  EXPECT_EQ(sql("SELECT 1 WHERE EXISTS (SELECT * FROM t FOR UPDATE)"), "error 25006");
  EXPECT_EQ(sql("ROLLBACK; BEGIN READ ONLY; SELECT * FROM t"), "");
  EXPECT_EQ(sql("SET TRANSACTION READ WRITE"), "error 25001");
  EXPECT_EQ(sql("ROLLBACK; SELECT * FROM t FOR UPDATE"), "");
  EXPECT_EQ(sql("SET default_transaction_read_only = yes; INSERT INTO t VALUES (1)"), "INSERT 0 1");
  EXPECT_EQ(sql("INSERT INTO t VALUES (2)"), "error 25006");
  EXPECT_EQ(sql("BEGIN READ WRITE; INSERT INTO t VALUES (2); COMMIT"), "COMMIT");
}

TEST(Settings, WhatIsKnown) {
  Bench sql;
  EXPECT_EQ(sql("SET extra_float_digits = 3"), "SET");
  EXPECT_EQ(sql("SET datestyle TO ISO, MDY; SHOW datestyle"), "ISO, MDY");
  EXPECT_EQ(sql("SET client_encoding = 'utf-8'; SHOW client_encoding"), "UTF8");
  EXPECT_EQ(sql("SET TIME ZONE 'UTC'"), "SET");
  EXPECT_EQ(sql("SET standard_conforming_strings = on"), "SET");
  EXPECT_EQ(sql("SET default_transaction_read_only = maybe"), "error 22023");
  EXPECT_EQ(sql("SET default_transaction_isolation = 'none'"), "error 22023");
  EXPECT_EQ(sql("SET application_name = 'a b'; RESET ALL; SHOW application_name"), "");
  EXPECT_EQ(notice(sql, "DROP TABLE IF EXISTS no_table"), "NOTICE 00000");
  EXPECT_EQ(notice(sql, "COMMIT"), "WARNING 25P01");
  // What would have no effect, or another one, is not taken.
  for (const char* refused : {"SET standard_conforming_strings = off",
                              "SET datestyle = german",
                              "SET client_encoding = latin1",
                              "SET TIME ZONE 'Europe/Berlin'",
                              "SET server_version = '9'",
                              "SET work_mem = '1MB'",
                              "SHOW work_mem",
                              "RESET work_mem",
                              "SET search_path TO public",
                              "SET jit = off",
                              "SET synchronous_commit = off",
                              "SET bytea_output = hex",
                              "SET client_min_messages = warning",
                              "SET idle_session_timeout = 1",
                              "SET app.tenant = 'alice'",
                              "SHOW app.tenant",
                              "SET cupel.nonsense = 1",
                              "BEGIN DEFERRABLE",
                              "SET SESSION AUTHORIZATION alice",
                              "SET LOCAL TIME ZONE INTERVAL '1'"}) {
    EXPECT_EQ(sql(refused), "error 0A000") << refused;
    sql("ROLLBACK");
  }
}

TEST(Settings, TimesHaveUnitsAndBounds) {
  Bench sql;
  for (const char* time : {"1500ms", "1.5s", "2000", "36h", "0"}) {
    EXPECT_EQ(sql("SET statement_timeout = '" + std::string(time) + "'; SHOW statement_timeout"),
              time);
  }
  for (const char* wrong : {"-1", "'5 parsecs'", "''", "'30000h'", "'nan'", "'1e99'"}) {
    EXPECT_EQ(sql("SET statement_timeout = " + std::string(wrong)), "error 22023") << wrong;
  }
}

// Of which a join takes long: t, of 300 rows.
void make_many_rows(Bench& sql) {
  sql("CREATE TABLE t (id int PRIMARY KEY)");
  std::string rows = "INSERT INTO t VALUES (0)";
  for (int id = 1; id < 300; ++id) rows += ", (" + std::to_string(id) + ")";
  EXPECT_EQ(sql(rows), "INSERT 0 300");
}

TEST(Settings, StatementsEndInTime) {
  Bench sql;
  make_many_rows(sql);
  sql("SET statement_timeout = 50");
  // 27 million rows.
  EXPECT_EQ(sql("SELECT count(*) FROM t a, t b, t c"), "error 57014");
  EXPECT_EQ(sql("SELECT count(*) FROM t"), "300");
  EXPECT_EQ(sql("BEGIN; SELECT count(*) FROM t a, t b, t c"), "error 57014");
  EXPECT_EQ(sql("SELECT 1"), "error 25P02");
  EXPECT_EQ(sql("ROLLBACK; RESET statement_timeout"), "RESET");

  // Waiting for a turn counts; the other is none the worse.
  EXPECT_EQ(Bench::in(*sql.other, "BEGIN; SELECT count(*) FROM t"), "300");
  sql("SET statement_timeout = 50");
  EXPECT_EQ(sql("SELECT count(*) FROM t"), "error 57014");
  sql("RESET statement_timeout; SET lock_timeout = 50");
  EXPECT_EQ(sql("SELECT count(*) FROM t"), "error 55P03");
  EXPECT_EQ(Bench::in(*sql.other, "INSERT INTO t VALUES (1000); COMMIT"), "COMMIT");
  EXPECT_EQ(sql("SELECT count(*) FROM t"), "301");
}

TEST(Settings, CancelEndsWhatRunsAndNothingElse) {
  Bench sql;
  make_many_rows(sql);
  const auto cancel = sql.session->canceller();
  cancel();
  EXPECT_EQ(sql("SELECT 1"), "1");
  // Again and again: a cancellation before the statement has begun is of nobody.
  std::promise<void> ended;
  std::thread other([&cancel, end = ended.get_future()] {
    while (end.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) cancel();
  });
  EXPECT_EQ(sql("SELECT count(*) FROM t a, t b, t c, t d"), "error 57014");
  ended.set_value();
  other.join();
  EXPECT_EQ(sql("SELECT 1"), "1");
  sql.session.reset();  // the pointer
  cancel();             // of nobody
}

}  // namespace
}  // namespace cupel::sql
