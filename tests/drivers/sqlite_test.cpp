// SQLite: the conformance suite in its modes, what becomes of locks, full disks
// and files that are no databases.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "drivers/conformance.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::drivers::testing {
namespace {

using workload::ColumnType;
using workload::Datum;
using workload::kv_schema;
using workload::Reply;
using workload::Statement;
using Texts = std::vector<std::string>;

// Of this process.
std::string folder() {
  static const test::ScratchFolder made;
  return made.path();
}
std::string file(const std::string& name) {
  return folder() + '/' + name + ".db";
}

Subject subject(const std::string& name, const std::string& query, const std::string& isolation) {
  return {.name = name,
          .open = [=] { return open("sqlite:" + file(name) + query, {.isolation = isolation}); },
          .prevents_lost_update = isolation != "read-uncommitted",
          .sees_uncommitted = isolation == "read-uncommitted"};
}

INSTANTIATE_TEST_SUITE_P(
    Sqlite, Conformance,
    ::testing::Values(subject("Deferred", "", ""), subject("Immediate", "?mode=immediate", ""),
                      subject("Exclusive", "?mode=exclusive&synchronous=off", ""),
                      subject("RollbackJournal", "?journal=delete&synchronous=off", ""),
                      subject("Json", "?list=json", ""),
                      subject("ReadUncommitted", "", "read-uncommitted")),
    subject_name);

std::string error(const std::string& url) {
  const auto database = open(url, {});
  return database.ok() ? "nothing" : database.error().message;
}

// SQL by hand, past the driver.
void by_hand(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
  sqlite3_close(db);
}

TEST(Sqlite, SaysWhatItPromises) {
  const auto database = opened("sqlite:" + file("facts") + "?mode=immediate");
  const auto facts = database->facts();
  EXPECT_EQ(facts.product, "SQLite");
  EXPECT_EQ(facts.version, sqlite3_libversion());
  EXPECT_EQ(facts.isolation, "serializable");
  EXPECT_EQ(facts.detail, "journal_mode=wal, begin immediate, synchronous=normal");
}

// Write skew distinguishes serializable from snapshot isolation: of two
// transactions that each read what the other writes, one must fail.
TEST(Sqlite, ASnapshotThatIsOldMayNotWrite) {
  const auto database = opened("sqlite:" + file("skew"));
  ASSERT_TRUE(database->prepare(Tables(kv_schema()).row(0, {1}, {1}).row(0, {2}, {1})).ok());
  const auto one = connected(*database);
  const auto two = connected(*database);
  Reply reply;
  ASSERT_FALSE(one->begin());
  ASSERT_FALSE(two->begin());
  ASSERT_FALSE(one->execute(read(1), reply));
  ASSERT_FALSE(two->execute(read(2), reply));
  ASSERT_FALSE(one->execute(write(2, 0), reply));
  ASSERT_FALSE(one->commit());
  const auto outcome = two->execute(write(1, 0), reply);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted);
  EXPECT_EQ(outcome->cause, Cause::kConflict);
  EXPECT_EQ(outcome->code, "SQLITE_BUSY_SNAPSHOT");
  EXPECT_FALSE(outcome->connection_lost);
  EXPECT_EQ(run(*two, {read(1), read(2), write(1, 5)}), (Texts{"1=1", "2=0", ""}));
}

TEST(Sqlite, LocksAreWaitedForSoLong) {
  const auto database = opened("sqlite:" + file("busy") + "?busy_timeout=200");
  ASSERT_TRUE(database->prepare(Tables(kv_schema()).row(0, {1}, {1})).ok());
  const auto one = connected(*database);
  const auto two = connected(*database);
  Reply reply;
  ASSERT_FALSE(one->begin());
  ASSERT_FALSE(one->execute(write(1, 2), reply));
  ASSERT_FALSE(two->begin());
  const auto before = std::chrono::steady_clock::now();
  const auto outcome = two->execute(write(1, 3), reply);
  const auto waited = std::chrono::steady_clock::now() - before;
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->code, "SQLITE_BUSY");
  EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted);
  EXPECT_EQ(outcome->cause, Cause::kConflict);
  EXPECT_GE(waited, std::chrono::milliseconds(190));
  EXPECT_LT(waited, std::chrono::seconds(5));
  ASSERT_FALSE(one->commit());
  EXPECT_EQ(run(*two, {read(1)}), (Texts{"1=2"}));
}

// A rollback journal lets no one commit while others read: COMMIT is busy, and
// certain to be undone.
TEST(Sqlite, ABusyCommitIsRolledBack) {
  const auto database = opened("sqlite:" + file("busy-commit") + "?journal=delete&busy_timeout=50");
  ASSERT_TRUE(database->prepare(Tables(kv_schema()).row(0, {1}, {1})).ok());
  const auto reader = connected(*database);
  const auto writer = connected(*database);
  Reply reply;
  ASSERT_FALSE(reader->begin());
  ASSERT_FALSE(reader->execute(read(1), reply));
  ASSERT_FALSE(writer->begin());
  ASSERT_FALSE(writer->execute(write(1, 2), reply));
  const auto outcome = writer->commit();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->code, "SQLITE_BUSY");
  EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted);
  EXPECT_EQ(outcome->cause, Cause::kConflict);
  ASSERT_FALSE(reader->commit());
  EXPECT_EQ(run(*writer, {read(1), write(1, 3)}), (Texts{"1=1", ""}));
  EXPECT_EQ(run(*reader, {read(1)}), (Texts{"1=3"}));
}

// A disk that is full, by the limit of file sizes. Whatever the driver says has
// to hold when the database is opened again.
TEST(Sqlite, AFullDiskIsNoCommit) {
  const auto path = file("full");
  const auto database = opened("sqlite:" + path);
  ASSERT_TRUE(database->prepare(Tables(kv_schema(ColumnType::kText)).row(0, {1}, {"x"})).ok());
  auto connection = connected(*database);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  auto low = before;
  low.rlim_cur = 200000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  Reply reply;
  MaybeFailure outcome = connection->begin();
  for (int key = 2; key < 10 && !outcome; ++key) {
    outcome = connection->execute(write(key, std::string(50000, 'y')), reply);
  }
  if (!outcome) outcome = connection->commit();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  (void)std::signal(SIGXFSZ, old_handler);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->cause, Cause::kConnection) << shown(outcome);
  connection.reset();
  const auto fresh = connected(*database);
  const auto seen = run(*fresh, {read(2), read(9)});
  if (outcome->txn_outcome == TxnOutcome::kAborted) {
    EXPECT_EQ(seen, (Texts{"", ""})) << shown(outcome);
  }
  EXPECT_EQ(seen[0].empty(), seen[1].empty());  // all or nothing, in any case
}

// Not a write, so the history must not have it as one.
TEST(Sqlite, ADeleteOfNothingSaysSo) {
  const auto database = opened("sqlite:" + file("nothing"));
  ASSERT_TRUE(database->prepare(Tables(kv_schema()).row(0, {1}, {1})).ok());
  EXPECT_EQ(run(*connected(*database), {remove(1), remove(1), remove(2), insert(1, 2), remove(1)}),
            (Texts{"", "not set", "not set", "", ""}));
}

TEST(Sqlite, WhatTheDatabaseHoldsComesBackAsItIs) {
  const auto path = file("as-is");
  const auto database = opened("sqlite:" + path);
  ASSERT_TRUE(database->prepare(Tables(kv_schema()).row(0, {1}, {1}).row(0, {2}, {2})).ok());
  by_hand(path,
          "UPDATE cupel_kv SET v = 'seven' WHERE k = 1; UPDATE cupel_kv SET v = 1.5 WHERE k = 2");
  EXPECT_EQ(run(*connected(*database), {read(1), read(2)}), (Texts{"1=\"seven\"", "2=\"1.5\""}));
  ASSERT_TRUE(database->prepare(Tables(kv_schema(ColumnType::kList)).row(0, {1}, {1})).ok());
  by_hand(path, "UPDATE cupel_kv SET v = '1,x' WHERE k = 1");
  EXPECT_EQ(run(*connected(*database), {append(1, 2), read(1)}), (Texts{"", "[1 \"x\" 2]"}));
}

TEST(Sqlite, ListsMayBeJson) {
  const auto path = file("json");
  const auto database = opened("sqlite:" + path + "?list=json");
  ASSERT_TRUE(database->prepare(Tables(kv_schema(ColumnType::kList)).row(0, {1}, {4})).ok());
  EXPECT_EQ(run(*connected(*database), {append(1, 5), append(1, 6), read(1)}),
            (Texts{"", "", "[4 5 6]"}));
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  std::string cell;
  sqlite3_exec(
      db, "SELECT v FROM cupel_kv",
      [](void* out, int, char** cells, char**) {
        *static_cast<std::string*>(out) = cells[0];
        return 0;
      },
      &cell, nullptr);
  sqlite3_close(db);
  EXPECT_EQ(cell, "[4,5,6]");
}

TEST(Sqlite, CleanRemovesWhatWasMade) {
  const auto path = file("clean");
  {
    const auto database = opened("sqlite:" + path);
    ASSERT_TRUE(database->prepare(Tables(kv_schema()).row(0, {1}, {1})).ok());
    EXPECT_TRUE(std::filesystem::exists(path));
    database->clean();
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_FALSE(std::filesystem::exists(path + "-wal"));
  }
  // A file that was there before stays, with the tables of others.
  by_hand(path, "CREATE TABLE mine (x)");
  const auto database = opened("sqlite:" + path);
  ASSERT_TRUE(database->prepare(Tables(kv_schema()).row(0, {1}, {1})).ok());
  database->clean();
  by_hand(path, "INSERT INTO mine VALUES (1); CREATE TABLE cupel_kv (x)");
}

TEST(Sqlite, ErrorsSayWhatToDo) {
  const auto expect = [](const std::string& url, std::initializer_list<const char*> parts) {
    const auto message = error(url);
    for (const auto* part : parts) {
      EXPECT_NE(message.find(part), std::string::npos) << url << ": " << message;
    }
  };
  expect("sqlite:", {"expected sqlite:PATH"});
  expect("sqlite::memory:", {"path of a file"});
  expect("sqlite://host/x.db", {"`host`", "expected sqlite:PATH"});
  expect("sqlite:" + folder() + "/none/x.db", {"there is no folder", "/none"});
  expect("sqlite:" + folder(), {"cannot open", "may write"});
  expect("sqlite:x.db?mode=fast", {"mode=fast", "deferred, immediate, exclusive"});
  expect("sqlite:x.db?busy_timeout=soon", {"busy_timeout=soon", "number"});
  expect("sqlite:x.db?list=xml", {"list=xml", "list=json"});
  expect("sqlite:x.db?cache=shared", {"`cache`", "journal"});
  std::ofstream(file("text")) << std::string(5000, 'n') << "o database\n";
  expect("sqlite:" + file("text"), {"cannot open", "not a database", "expected a SQLite 3"});
  EXPECT_FALSE(std::filesystem::exists("x.db"));
}

TEST(Sqlite, AnAbsolutePathMayStandAfterSlashes) {
  const auto database = opened("sqlite://" + file("slashes"));
  ASSERT_TRUE(database->prepare(Tables(kv_schema()).row(0, {1}, {1})).ok());
  EXPECT_TRUE(std::filesystem::exists(file("slashes")));
  database->clean();
}

}  // namespace
}  // namespace cupel::drivers::testing
