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
  EXPECT_EQ(sql("SHOW statement_timeout"), "5s");
  EXPECT_EQ(sql("BEGIN; SET statement_timeout = '1min'"), "SET");
  EXPECT_EQ(sql("SHOW statement_timeout"), "1min");
  EXPECT_EQ(sql("ROLLBACK; SHOW statement_timeout"), "5s");
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
  sql("BEGIN; SET lock_timeout = 1000; SAVEPOINT k; SET lock_timeout = 2000; SET LOCAL jit = on");
  EXPECT_EQ(sql("SHOW lock_timeout"), "2s");
  EXPECT_EQ(sql("ROLLBACK TO k; SHOW lock_timeout"), "1s");
  EXPECT_EQ(sql("SHOW jit"), "off");
  sql("SET LOCAL lock_timeout = '3s'");
  EXPECT_EQ(sql("SHOW lock_timeout"), "3s");
  EXPECT_EQ(sql("COMMIT; SHOW lock_timeout"), "1s");
  EXPECT_EQ(notice(sql, "SET LOCAL lock_timeout = '9s'"), "WARNING 25P01");
  EXPECT_EQ(sql("SHOW lock_timeout"), "1s");
  EXPECT_EQ(sql("SELECT set_config('lock_timeout', '4000', true), current_setting('lock_timeout')"),
            "4s,4s");
  EXPECT_EQ(sql("SHOW lock_timeout"), "1s");
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
  EXPECT_EQ(sql("RESET ALL; SHOW cupel.level"), "causal");
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
}

TEST(Settings, WhatIsKnown) {
  Bench sql;
  EXPECT_EQ(sql("SET jit TO 'f'; SHOW jit"), "off");
  EXPECT_EQ(sql("SET jit = 2"), "error 22023");
  EXPECT_EQ(sql("SET synchronous_commit = true; SHOW synchronous_commit"), "on");
  EXPECT_EQ(sql("SET synchronous_commit = sideways"), "error 22023");
  EXPECT_EQ(sql("SET bytea_output = octal"), "error 22023");
  EXPECT_EQ(sql("SET standard_conforming_strings = on"), "SET");
  EXPECT_EQ(sql("SET standard_conforming_strings = off"), "error 0A000");
  EXPECT_EQ(sql("SET extra_float_digits = 3; SHOW extra_float_digits"), "3");
  EXPECT_EQ(sql("SET extra_float_digits = 0"), "error 0A000");
  EXPECT_EQ(sql("SET datestyle = 'ISO, DMY'; SHOW datestyle"), "ISO, DMY");
  EXPECT_EQ(sql("SET datestyle TO iso; SHOW datestyle"), "ISO, DMY");
  EXPECT_EQ(sql("SET datestyle = german"), "error 0A000");
  EXPECT_EQ(sql("SET client_encoding = 'utf-8'; SHOW client_encoding"), "UTF8");
  EXPECT_EQ(sql("SET client_encoding = latin1"), "error 0A000");
  EXPECT_EQ(sql("SET TIME ZONE 'UTC'"), "SET");
  EXPECT_EQ(sql("SET TIME ZONE 'Europe/Berlin'"), "error 0A000");
  EXPECT_EQ(sql("SET search_path TO app, public"), "SET");
  EXPECT_EQ(sql("SET search_path TO app"), "error 0A000");
  EXPECT_EQ(sql("SET server_version = '9'"), "error 55P02");
  // What would have no effect is not taken.
  EXPECT_EQ(sql("SET work_mem = '1MB'"), "error 0A000");
  EXPECT_EQ(sql("SHOW work_mem"), "error 0A000");
  EXPECT_EQ(sql("RESET work_mem"), "error 0A000");
  // What has a dot is the application's.
  EXPECT_EQ(sql("SHOW app.tenant"), "error 42704");
  EXPECT_EQ(sql("SELECT current_setting('app.tenant', true)"), "null");
  EXPECT_EQ(sql("SET app.tenant = 'alice'; SELECT current_setting('app.tenant')"), "alice");
  EXPECT_EQ(sql("SET cupel.nonsense = 1"), "error 0A000");
  EXPECT_EQ(notice(sql, "DROP TABLE IF EXISTS no_table"), "NOTICE 00000");
  EXPECT_EQ(notice(sql, "SET client_min_messages = warning; DROP TABLE IF EXISTS no_table"), "");
  EXPECT_EQ(notice(sql, "COMMIT"), "WARNING 25P01");
}

TEST(Settings, TimesHaveUnitsAndBounds) {
  Bench sql;
  const auto shown = [&](const std::string& value) {
    return sql("SET statement_timeout = " + value + "; SHOW statement_timeout");
  };
  EXPECT_EQ(shown("'1500ms'"), "1500ms");
  EXPECT_EQ(shown("'1.5s'"), "1500ms");
  EXPECT_EQ(shown("2000"), "2s");
  EXPECT_EQ(shown("'36 h'"), "36h");
  EXPECT_EQ(shown("'48h'"), "2d");
  EXPECT_EQ(shown("0"), "0");
  for (const char* wrong : {"-1", "'5 parsecs'", "''", "'30d'", "'nan'", "'1e99'"}) {
    EXPECT_EQ(shown(wrong), "error 22023") << wrong;
  }
}

TEST(Settings, DeferrableIsOfTheTransaction) {
  Bench sql;
  EXPECT_EQ(sql("BEGIN DEFERRABLE; SHOW transaction_deferrable"), "on");
  EXPECT_EQ(sql("COMMIT; SHOW transaction_deferrable"), "off");
  EXPECT_EQ(sql("SET default_transaction_deferrable = on"), "SET");
  EXPECT_EQ(sql("BEGIN; SHOW transaction_deferrable"), "on");
  EXPECT_EQ(sql("SET transaction_deferrable = off; SHOW transaction_deferrable"), "off");
  EXPECT_EQ(sql("ROLLBACK; SHOW transaction_deferrable"), "on");
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
  sql.session.reset();
  cancel();  // of nobody
}

}  // namespace
}  // namespace cupel::sql
