// The recorder: its file is read back as the history that was reported.
#include "cupel/record.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "data/formats/formats.hpp"
#include "support/file_event.hpp"
#include "support/polling.hpp"
#include "support/scratch_folder.hpp"

namespace cupel {
namespace {

using history::History;
using history::TxnId;
using history::TxnStatus;

class RecordTest : public testing::Test {
 protected:
  std::unique_ptr<Recorder> open(const RecordOptions& options = {}) {
    std::string error;
    auto recorder = Recorder::open(path_, options, error);
    EXPECT_TRUE(recorder) << error;
    return recorder;
  }
  History read() const {
    auto history = formats::read(path_);
    EXPECT_TRUE(history.ok()) << history.error().to_string();
    return std::move(history).value();
  }
  const test::ScratchFolder scratch_;
  const std::string folder_ = scratch_.path(), path_ = scratch_.path("history.jsonl");
};

// "r x 1; w x 2" of a transaction.
std::string operations(const History& h, TxnId t) {
  std::string text;
  for (auto i = h.first_op(t); i < h.last_op(t); ++i) {
    const auto op = h.op(history::OpId(i));
    text += text.empty() ? "" : "; ";
    text += std::to_string(static_cast<int>(op.kind)) + ' ' + h.key(op.key).to_string() + ' ' +
            (op.value == history::ValueId::none() ? "?" : h.value(op.value).to_string());
  }
  return text;
}

TEST_F(RecordTest, WritesWhatWasReported) {
  auto recorder = open({.metadata = {{"database", "PostgreSQL 15"}}, .default_initial = 0});
  {
    auto session = recorder->session();
    session.begin();
    session.read("account:7", 0);
    session.write("account:7", std::string("90 \"x\" \n\x01"));
    session.committing();
    session.committed();
    session.begin();
    session.write(1, 5);
    session.aborted("40001: could not serialize");
    session.begin();
    session.write(1, 6);
    session.read(2, {});
    session.indeterminate("connection lost");
    session.begin();
    session.read(1, 6);
    session.committed();
  }
  std::string error;
  ASSERT_TRUE(recorder->close(error)) << error;

  const auto h = read();
  ASSERT_EQ(h.txn_count(), 4U);
  EXPECT_EQ(h.session_count(), 2U) << "an unknown transaction ends its process";
  EXPECT_EQ(h.metadata().at("database"), "PostgreSQL 15");
  EXPECT_EQ(h.value(h.default_initial_value()).integer, 0);
  EXPECT_EQ(h.status(TxnId(0)), TxnStatus::kCommitted);
  EXPECT_EQ(h.status(TxnId(1)), TxnStatus::kAborted);
  EXPECT_EQ(h.status(TxnId(2)), TxnStatus::kIndeterminate);
  EXPECT_NE(operations(h, TxnId(0)).find("90 \"x\" \n\x01"), std::string::npos);
  for (std::uint32_t t = 0; t < 4; ++t) {
    EXPECT_LT(h.invoke(TxnId(t)), h.complete(TxnId(t)));
  }
}

TEST_F(RecordTest, EveryOperationIsReadBack) {
  auto recorder = open();
  auto session = recorder->session();
  recorder->initial(9, 3);
  session.begin();
  session.insert(1, 10);
  session.erase(1);
  session.append("list", 4);
  session.read_list("list", {4});
  session.read_range(1, 9, {{9, 3}});
  session.compare_and_set(9, 3, 4, true);
  session.compare_and_set(9, 77, 5, false);
  session.committed();
  std::string error;
  ASSERT_TRUE(recorder->close(error)) << error;
  const auto h = read();
  ASSERT_EQ(h.txn_count(), 1U);
  EXPECT_EQ(h.last_op(TxnId(0)) - h.first_op(TxnId(0)), 7U);
  EXPECT_EQ(h.initial_overrides().size(), 1U);
}

TEST_F(RecordTest, OperationsReportedAfterCommittingReplaceThePlan) {
  auto recorder = open();
  auto session = recorder->session();
  session.begin();
  session.read(1, {});
  session.write(2, 7);
  session.committing();
  session.read(1, 5);
  session.write(2, 7);
  session.committed();
  std::string error;
  ASSERT_TRUE(recorder->close(error)) << error;
  const auto h = read();
  ASSERT_EQ(h.txn_count(), 1U);
  ASSERT_EQ(h.last_op(TxnId(0)) - h.first_op(TxnId(0)), 2U);
  EXPECT_EQ(h.value(h.op(history::OpId(h.first_op(TxnId(0)))).value).integer, 5);
}

TEST_F(RecordTest, BytesThatAreNotTextAreKeptApart) {
  auto recorder = open();
  auto session = recorder->session();
  session.begin();
  session.read(1, std::string("\xff\xfe"));
  session.read(2, std::string("\xff\xfd"));
  session.committed();
  std::string error;
  ASSERT_TRUE(recorder->close(error)) << error;
  const auto h = read();
  EXPECT_NE(operations(h, TxnId(0)).find("x'fffe'"), std::string::npos);
  EXPECT_NE(operations(h, TxnId(0)).find("x'fffd'"), std::string::npos);
}

TEST_F(RecordTest, ManyThreads) {
  constexpr int kThreads = 8, kTxns = 2000;
  auto recorder = open();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      auto session = recorder->session();
      for (int t = 0; t < kTxns; ++t) {
        session.begin();
        session.write(t, recorder->unique_id());
        session.committing();
        session.committed();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::string error;
  ASSERT_TRUE(recorder->close(error)) << error;
  const auto h = read();
  EXPECT_EQ(h.txn_count(), static_cast<std::size_t>(kThreads * kTxns));
  EXPECT_EQ(h.session_count(), static_cast<std::size_t>(kThreads));
}

// A program that is killed leaves what it handed over more than a flush ago, and
// what was in flight as indeterminate.
TEST_F(RecordTest, SurvivesSigkill) {
  const pid_t child = fork();
  if (child == 0) {
    std::string error;
    auto recorder = Recorder::open(path_, {.flush_seconds = 0.05}, error);
    auto session = recorder->session();
    session.begin();
    session.write(1, 1);
    session.committed();
    session.begin();
    session.write(1, 2);
    session.committing();
    pause();
    _exit(0);
  }
  // Two lines of the first transaction, and one of the second.
  EXPECT_TRUE(test::wait_for_file(path_, [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n') >= 3;
  }));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const auto h = read();
  ASSERT_EQ(h.txn_count(), 2U);
  EXPECT_EQ(h.status(TxnId(0)), TxnStatus::kCommitted);
  EXPECT_EQ(h.status(TxnId(1)), TxnStatus::kIndeterminate);
}

TEST_F(RecordTest, SaysWhyItCannotWrite) {
  std::string error;
  EXPECT_FALSE(Recorder::open(folder_ + "/no/such/folder", {}, error));
  EXPECT_NE(error.find("No such file"), std::string::npos) << error;

  auto full = Recorder::open("/dev/full", {}, error);
  ASSERT_TRUE(full) << error;
  {
    auto session = full->session();
    session.begin();
    session.write(1, 1);
    session.committed();
  }
  // The recorder writes in a thread of its own, and calls nobody.
  EXPECT_TRUE(test::poll_until([&] { return full->failed(); })) << "known before close()";
  EXPECT_FALSE(full->close(error));
  EXPECT_NE(error.find("No space"), std::string::npos) << error;
}

TEST(Tags, CarryANumber) {
  EXPECT_EQ(tag("90", 1742), "90#1742");
  std::int64_t id = 0;
  EXPECT_EQ(untag("90#1742", &id), "90");
  EXPECT_EQ(id, 1742);
  EXPECT_EQ(untag("90", &id), "90");
  EXPECT_EQ(id, -1);
  EXPECT_EQ(untag("a#b"), "a#b");
  EXPECT_EQ(untag("a#1#2", &id), "a#1");
}

}  // namespace
}  // namespace cupel
