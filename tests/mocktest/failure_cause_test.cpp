// Which anomaly made a command fail: histories of a mock store whose reads are chosen here.
#include "mock/mocktest/failure_cause.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "data/history/builder.hpp"
#include "engine/mock/store.hpp"

namespace cupel::mocktest {
namespace {

// Every read returns the first value that the level allows: null where that is possible.
class FailureCauseTest : public ::testing::Test {
 protected:
  FailureCauseTest()
      : store_({.level = mock::Level::kCausal, .choose = [](std::size_t) { return 0; }}),
        alice_(store_.open_session("alice")),
        bob_(store_.open_session("bob")) {}

  void read(std::uint32_t session, const std::string& key) {
    const auto txn = store_.begin(session);
    txn->read(key);
    txn->commit();
  }
  void read_and_write(std::uint32_t session, const std::string& key) {
    const auto txn = store_.begin(session);
    txn->read(key);
    txn->write(key, mock::Value::of(++written_));
    txn->commit();
  }
  FailureCause cause() {
    const auto history = store_.history();
    return find_failure_cause(*history, mock::Level::kCausal, {});
  }

  mock::Store store_;
  std::uint32_t alice_, bob_;
  std::int64_t written_ = 0;
};

TEST_F(FailureCauseTest, NoneWhereEveryLevelIsSatisfied) {
  read_and_write(alice_, "x");
  read(alice_, "x");
  const auto found = cause();
  EXPECT_EQ(found.checks.size(), 3u);  // prefix, snapshot isolation, serializable
  EXPECT_FALSE(found.anomaly);
  EXPECT_FALSE(found.unknown());
  EXPECT_FALSE(found.weakest_violated);
}

// A level that no store of the mock has, where that one's violation ended the run.
TEST_F(FailureCauseTest, TheLevelThatEndedTheRunIsCheckedToo) {
  const auto cause_at = [&](levels::Level level) {
    return find_failure_cause(*store_.history(), mock::Level::kCausal, {}, level);
  };
  read_and_write(alice_, "x");
  read(bob_, "x");  // null, which an order by sessions allows
  const auto none = cause_at(levels::Level::kSerializable);
  EXPECT_EQ(none.checks.size(), 4u);
  EXPECT_FALSE(none.anomaly);
  read_and_write(bob_, "x");
  const auto found = cause_at(levels::Level::kGeneralizedSnapshotIsolation);
  EXPECT_TRUE(found.anomaly);
  ASSERT_FALSE(found.checks.empty());
  EXPECT_EQ(found.checks.back().check.levels.front().level,
            levels::Level::kGeneralizedSnapshotIsolation);
}

TEST_F(FailureCauseTest, TheAnomalyOfTheLastTransactionThatRead) {
  for (const char* key : {"x", "y"}) {
    read_and_write(alice_, key);
    read_and_write(bob_, key);
  }
  const auto found = cause();
  ASSERT_TRUE(found.anomaly);
  EXPECT_TRUE(found.involves_last_reader);
  EXPECT_EQ(found.last_reader_session, "bob");
  EXPECT_EQ(found.weakest_violated, levels::Level::kStrongSessionSnapshotIsolation);
  // Bob's transaction on y is the fourth.
  bool last = false;
  for (const auto& small : found.anomaly->analysis.counterexamples) {
    for (const auto txn : small.original_txn) last |= txn == history::TxnId(3);
  }
  EXPECT_TRUE(last);
  EXPECT_TRUE(found.counts);
}

// A test looks at the result in a transaction of its own, which takes no part in the anomaly.
TEST_F(FailureCauseTest, AnAnomalyThatTheLastTransactionObserved) {
  read_and_write(alice_, "x");
  read_and_write(bob_, "x");
  read(bob_, "x");
  const auto found = cause();
  ASSERT_TRUE(found.anomaly);
  EXPECT_FALSE(found.involves_last_reader);
  EXPECT_TRUE(found.observed_by_last_reader);
  EXPECT_EQ(found.last_reader_session, "bob");
}

// The lost update of x is found and excluded; the last transaction has no part in any anomaly.
TEST_F(FailureCauseTest, AnAnomalyWithoutTheLastTransactionThatRead) {
  read_and_write(alice_, "x");
  read_and_write(bob_, "x");
  read(alice_, "z");
  const auto found = cause();
  ASSERT_TRUE(found.anomaly);
  EXPECT_FALSE(found.involves_last_reader);
  EXPECT_FALSE(found.observed_by_last_reader);
  EXPECT_GE(found.excluded, 1);
  EXPECT_EQ(found.weakest_violated, levels::Level::kStrongSessionSnapshotIsolation);
}

// A lost update of one key, and then a stale read of another, which only real time forbids.
TEST(FailureCauseWithTimes, AStaleReadIsFoundBesideAnotherAnomaly) {
  history::HistoryBuilder builder;
  const auto key = [&](std::string_view name) {
    return builder.key(history::ScalarView::of(name));
  };
  const auto value = [&](std::int64_t number) {
    return builder.value(history::ScalarView::of(number));
  };
  std::int64_t time = 0;
  const auto begin = [&](std::string_view session) {
    builder.begin(
        builder.session(session), history::TxnStatus::kCommitted,
        {.invoke = time + 1, .complete = time + 2, .label = static_cast<std::uint32_t>(time)});
    time += 2;
  };
  for (const auto* session : {"alice", "bob"}) {
    begin(session);
    builder.read(key("x"), builder.null_value());
    builder.write(key("x"), value(time));
    builder.end();
  }
  begin("carol");
  builder.write(key("y"), value(7));
  builder.end();
  begin("dave");
  builder.read(key("y"), builder.null_value());
  builder.end();
  const auto history = std::move(builder).finish();
  ASSERT_TRUE(history.ok());
  const auto found = find_failure_cause(*history, mock::Level::kCausal, {});
  ASSERT_TRUE(found.anomaly);
  EXPECT_TRUE(found.involves_last_reader);
  EXPECT_EQ(found.last_reader_session, "dave");
  EXPECT_EQ(found.anomaly->analysis.check.levels.front().level, levels::Level::kStrictSerializable);
}

}  // namespace
}  // namespace cupel::mocktest
