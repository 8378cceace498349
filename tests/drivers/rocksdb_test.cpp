// RocksDB: the conformance suite in each mode, what each mode lets through, and
// what becomes of locks, full disks and folders that are no databases.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>

#include "databases/drivers/cells.hpp"
#include "drivers/conformance.hpp"
#include "support/scratch_folder.hpp"

#ifdef __SANITIZE_THREAD__
// Debian's RocksDB is built without ThreadSanitizer, which therefore does not see the
// locks inside it. What the library touches is left out; all of ours is looked at.
extern "C" const char* __tsan_default_suppressions() {
  return "race:librocksdb.so\n";
}
#endif

namespace cupel::drivers::testing {
namespace {

using workload::ColumnType;
using workload::kv_schema;
using workload::Reply;
using workload::Statement;
using Texts = std::vector<std::string>;

// Of this process.
std::string folder() {
  static const test::ScratchFolder made;
  return made.path();
}
std::string path(const std::string& name) {
  return folder() + '/' + name;
}

Subject subject(const std::string& name, const std::string& isolation,
                bool prevents_lost_update = true) {
  return {.name = name,
          .open = [=] { return open("rocksdb:" + path(name), {.isolation = isolation}); },
          .prevents_lost_update = prevents_lost_update};
}

INSTANTIATE_TEST_SUITE_P(Rocksdb, Conformance,
                         ::testing::Values(subject("PessimisticSnapshot", "pessimistic-snapshot"),
                                           subject("Pessimistic", "pessimistic", false),
                                           subject("PessimisticForUpdate",
                                                   "pessimistic-for-update"),
                                           subject("OptimisticSnapshot", "optimistic-snapshot"),
                                           subject("Optimistic", "optimistic", false),
                                           subject("OptimisticForUpdate", "optimistic-for-update")),
                         subject_name);

// Two transactions that read `first` and `second` and then write the keys swapped
// (or the same): how many commit. What does not is a conflict, and aborted.
int committed_of_two(Database& database, int read_first, int read_second, int write_first,
                     int write_second) {
  EXPECT_TRUE(database.prepare(two_rows()).ok());
  const auto one = connected(database);
  const auto two = connected(database);
  Reply reply;
  MaybeFailure first, second;
  EXPECT_FALSE(one->begin());
  EXPECT_FALSE(two->begin());
  first = one->execute(read(read_first), reply);
  second = two->execute(read(read_second), reply);
  // Where reads lock, one waits for the other; then one of them is the victim.
  auto writer = std::async(std::launch::async, [&] {
    Reply mine;
    if (!first) first = one->execute(write(write_first, 0), mine);
    if (!first) first = one->commit();
  });
  writer.wait_for(std::chrono::milliseconds(20));  // nothing says that it waits for a lock
  if (!second) second = two->execute(write(write_second, 1), reply);
  if (!second) second = two->commit();
  writer.get();
  for (const auto& outcome : {first, second}) {
    if (!outcome) continue;
    EXPECT_EQ(outcome->cause, Cause::kConflict) << shown(outcome);
    EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted) << shown(outcome);
    EXPECT_FALSE(outcome->connection_lost);
  }
  return (first ? 0 : 1) + (second ? 0 : 1);
}

// The difference between the modes: what each promises, and no more.
TEST(Rocksdb, GivesTheLevelsItNames) {
  const std::map<std::string, std::pair<int, int>> expected{
      // committed of two with a lost update, and with a write skew
      {"pessimistic-snapshot", {1, 2}},
      {"optimistic-snapshot", {1, 2}},
      {"pessimistic", {2, 2}},
      {"optimistic", {2, 2}},
      {"pessimistic-for-update", {1, 1}},
      {"optimistic-for-update", {1, 1}}};
  for (const auto& [level, committed] : expected) {
    const auto database = opened("rocksdb:" + path("levels-" + level) + "?lock_timeout=200", level);
    ASSERT_NE(database, nullptr);
    EXPECT_EQ(database->facts().isolation, level);
    EXPECT_EQ(committed_of_two(*database, 1, 1, 1, 1), committed.first) << level;
    EXPECT_EQ(committed_of_two(*database, 1, 2, 2, 1), committed.second) << level;
  }
}

// With a snapshot a transaction reads what was there when it began, ranges too;
// without, what was committed last.
TEST(Rocksdb, SnapshotsAreOfTheBegin) {
  for (const std::string level :
       {"pessimistic-snapshot", "optimistic-snapshot", "pessimistic", "optimistic"}) {
    const auto database = opened("rocksdb:" + path("reads-" + level), level);
    ASSERT_TRUE(database->prepare(two_rows()).ok());
    const auto one = connected(*database);
    const auto two = connected(*database);
    Reply reply;
    ASSERT_FALSE(one->begin());
    run(*two, {write(1, 11), insert(3, 30), remove(2)});
    const bool snapshot = level.ends_with("snapshot");
    ASSERT_FALSE(one->execute(read(1), reply));
    EXPECT_EQ(shown(reply), snapshot ? "1=10" : "1=11") << level;
    ASSERT_FALSE(one->execute(range(0, 9), reply));
    EXPECT_EQ(shown(reply), snapshot ? "1=10, 2=20" : "1=11, 3=30") << level;
    // Its own writes are in its ranges.
    ASSERT_FALSE(one->execute(write(7, 70), reply));
    ASSERT_FALSE(one->execute(range(5, 9), reply));
    EXPECT_EQ(shown(reply), "7=70") << level;
    ASSERT_FALSE(one->commit());
  }
}

TEST(Rocksdb, LocksAreWaitedForSoLong) {
  const auto database = opened("rocksdb:" + path("wait") + "?lock_timeout=150");
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  const auto one = connected(*database);
  const auto two = connected(*database);
  Reply reply;
  ASSERT_FALSE(one->begin());
  ASSERT_FALSE(one->execute(write(1, 11), reply));
  ASSERT_FALSE(two->begin());
  const auto before = std::chrono::steady_clock::now();
  const auto outcome = two->execute(write(1, 12), reply);
  const auto waited = std::chrono::steady_clock::now() - before;
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->code, "TimedOut(LockTimeout)");
  EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted);
  EXPECT_EQ(outcome->cause, Cause::kConflict);
  EXPECT_GE(waited, std::chrono::milliseconds(140));
  EXPECT_LT(waited, std::chrono::seconds(5));
  ASSERT_FALSE(one->commit());
  EXPECT_EQ(run(*two, {read(1), write(1, 13)}), (Texts{"1=11", ""}));
}

// What the optimistic mode finds out at the commit, and that it is undone.
TEST(Rocksdb, AnOptimisticConflictShowsAtTheCommit) {
  const auto database = opened("rocksdb:" + path("busy"), "optimistic-snapshot");
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  const auto one = connected(*database);
  const auto two = connected(*database);
  Reply reply;
  ASSERT_FALSE(one->begin());
  ASSERT_FALSE(one->execute(write(1, 11), reply));
  ASSERT_FALSE(one->execute(write(2, 21), reply));
  run(*two, {write(1, 12)});
  const auto outcome = one->commit();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->code, "Busy");
  EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted);
  EXPECT_EQ(outcome->cause, Cause::kConflict);
  EXPECT_EQ(run(*two, {read(1), read(2)}), (Texts{"1=12", "2=20"}));
  EXPECT_EQ(run(*one, {write(1, 13), read(1)}), (Texts{"", "1=13"}));
}

// A disk that is full, by the limit of file sizes: the log may hold a part of the
// commit, so it is unknown; opened again, all of it is there or nothing.
TEST(Rocksdb, AFullDiskIsAnUnknownCommit) {
  const auto where = path("full");
  {
    const auto database = opened("rocksdb:" + where);
    ASSERT_TRUE(database->prepare(Tables(kv_schema(ColumnType::kText)).row(0, {1}, {"x"})).ok());
    const auto connection = connected(*database);
    Reply reply;
    ASSERT_FALSE(connection->begin());
    for (int key = 2; key < 10; ++key) {
      ASSERT_FALSE(connection->execute(write(key, std::string(50000, 'y')), reply));
    }
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    auto low = before;
    low.rlim_cur = 200000;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
    const auto outcome = connection->commit();
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)std::signal(SIGXFSZ, old_handler);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->cause, Cause::kConnection) << shown(outcome);
    EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kUnknown) << shown(outcome);
  }
  // Whoever looks at the folder afterwards finds all or nothing.
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open({}, where, &db).ok());
  const std::unique_ptr<rocksdb::DB> owner(db);
  const auto table = kv_schema().tables[0];
  std::string value;
  int there = 0;
  for (std::int64_t key = 2; key < 10; ++key) {
    const std::vector<workload::Datum> columns{key};
    if (db->Get({}, ordered_key(table, columns), &value).ok()) ++there;
  }
  EXPECT_TRUE(there == 0 || there == 8) << there;
}

TEST(Rocksdb, WhatTheDatabaseHoldsComesBackAsItIs) {
  const auto where = path("as-is");
  const auto table = kv_schema().tables[0];
  {
    const auto database = opened("rocksdb:" + where);
    ASSERT_TRUE(database->prepare(two_rows()).ok());
    run(*connected(*database), {write(1, "seven")});
    EXPECT_EQ(run(*connected(*database), {read(1)}), (Texts{"1=\"seven\""}));
  }
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open({}, where, &db).ok());
  ASSERT_TRUE(db->Put({}, "mine", "stays").ok());
  delete db;
  {
    // Rows of other programs, inside the table and beside it.
    const auto database = opened("rocksdb:" + where, "optimistic");
    ASSERT_TRUE(database->prepare(two_rows()).ok());
    EXPECT_EQ(run(*connected(*database), {range(0, 9)}), (Texts{"1=10, 2=20"}));
    database->clean();  // it was there before: only the rows go
  }
  ASSERT_TRUE(rocksdb::DB::Open({}, where, &db).ok());
  const std::unique_ptr<rocksdb::DB> owner(db);
  std::string value;
  EXPECT_TRUE(db->Get({}, "mine", &value).ok());
  EXPECT_EQ(value, "stays");
  const std::vector<workload::Datum> key{1};
  EXPECT_TRUE(db->Get({}, ordered_key(table, key), &value).IsNotFound());
}

TEST(Rocksdb, OneProcessSharesADatabase) {
  const auto where = path("shared");
  const auto first = opened("rocksdb:" + where);
  ASSERT_TRUE(first->prepare(two_rows()).ok());
  // The same folder by another name.
  const auto second = opened("rocksdb:" + folder() + "/../" +
                             std::filesystem::path(folder()).filename().string() + "/shared/");
  ASSERT_NE(second, nullptr);
  ASSERT_TRUE(second->prepare(two_rows()).ok());
  run(*connected(*second), {write(1, 11)});
  EXPECT_EQ(run(*connected(*first), {read(1)}), (Texts{"1=11"}));
  const auto other = open("rocksdb:" + where, {.isolation = "optimistic"});
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("with pessimistic transactions"), std::string::npos)
      << other.error().message;
}

TEST(Rocksdb, CleanRemovesWhatWasMade) {
  const auto where = path("clean");
  const auto database = opened("rocksdb:" + where);
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  EXPECT_TRUE(std::filesystem::exists(where + "/CURRENT"));
  database->clean();
  EXPECT_FALSE(std::filesystem::exists(where));
  EXPECT_FALSE(database->connect(0).ok());
}

TEST(Rocksdb, RangesNeedLocksThatForUpdateHasNot) {
  const auto database = opened("rocksdb:" + path("no-ranges"), "pessimistic-for-update");
  EXPECT_FALSE(database->can().ranges);
  ASSERT_TRUE(database->prepare(two_rows()).ok());
  std::vector<Reply> replies;
  const std::vector<Statement> statements{range(1, 2)};
  const auto outcome = connected(*database)->transact(statements, replies);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->cause, Cause::kStatement);
  EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted);
}

TEST(Rocksdb, ErrorsSayWhatToDo) {
  const auto expect = [](const std::string& url, std::initializer_list<const char*> parts) {
    const auto database = open(url, {});
    const auto message = database.ok() ? "nothing" : database.error().message;
    for (const auto* part : parts) {
      EXPECT_NE(message.find(part), std::string::npos) << url << ": " << message;
    }
  };
  expect("rocksdb:", {"expected rocksdb:PATH"});
  expect("rocksdb://host/x", {"`host`", "expected rocksdb:PATH"});
  expect("rocksdb:" + folder() + "/none/x", {"there is no folder", "/none"});
  std::ofstream(path("file")) << "x";
  expect("rocksdb:" + path("file"), {"found a file", "expected a folder"});
  std::filesystem::create_directories(path("others"));
  std::ofstream(path("others") + "/notes") << "x";
  expect("rocksdb:" + path("others"), {"other files", "expected a RocksDB database"});
  std::ofstream(path("others") + "/CURRENT") << "nonsense";
  expect("rocksdb:" + path("others"), {"cannot open", "a RocksDB database?"});
  expect("rocksdb:" + path("x") + "?sync=maybe", {"sync=maybe", "sync=on"});
  expect("rocksdb:" + path("x") + "?lock_timeout=soon", {"lock_timeout=soon", "number"});
  expect("rocksdb:" + path("x") + "?cache=1", {"`cache`", "lock_timeout"});
  EXPECT_FALSE(std::filesystem::exists(path("x")));
  // Held by another process, by the lock that RocksDB takes.
  opened("rocksdb:" + path("held")).reset();
  const auto lock_file = path("held") + "/LOCK";
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const auto child = fork();
  if (child == 0) {
    struct flock whole {};
    whole.l_type = F_WRLCK;
    const int file = ::open(lock_file.c_str(), O_RDWR);
    const char held = fcntl(file, F_SETLK, &whole) == 0 ? 'y' : 'n';
    if (::write(ready[1], &held, 1) != 1) _exit(1);
    for (;;) pause();
  }
  char held = 'n';
  EXPECT_EQ(::read(ready[0], &held, 1), 1);
  EXPECT_EQ(held, 'y');
  expect("rocksdb:" + path("held"), {"cannot open", "another program using it"});
  ::kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace cupel::drivers::testing
