// The runner against a database in a map: what it records is what happened, also
// when the database fails, and a database that lies is found out.
#include "run/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <sstream>
#include <thread>

#include "base/interrupt.hpp"
#include "data/formats/formats.hpp"
#include "data/workload/plan.hpp"
#include "engine/analysis/final_reads.hpp"
#include "engine/check/check.hpp"
#include "memory_database.hpp"
#include "run/faults.hpp"
#include "run/run_and_check.hpp"
#include "support/polling.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::run {
namespace {

using check::Verdict;
using levels::Level;

struct Ran {
  base::Result<RunResult> result = base::Error{};
  std::optional<history::History> history;
};

class RunTest : public testing::Test {
 protected:
  Ran go(drivers::Database& database, const std::string& name, const RunOptions& options,
         workload::WorkloadOptions shape = {}) {
    shape.sessions = options.sessions;
    shape.seed = options.seed;
    auto workload = workload::make_workload(name, shape);
    EXPECT_TRUE(workload.ok());
    return go(database, **workload, options);
  }
  Ran go(drivers::Database& database, workload::Workload& workload, const RunOptions& options) {
    EXPECT_TRUE(database.prepare(workload).ok());
    std::string error;
    const auto path = folder_ + "/history.jsonl";
    auto recorder = Recorder::open(path, {.default_initial = workload.default_initial()}, error);
    Progress progress;
    Ran ran;
    ran.result = run({database, workload, *recorder}, options, faults_, stop_, progress);
    EXPECT_TRUE(recorder->close(error)) << error;
    if (!ran.result.ok()) return ran;
    auto history = formats::read(path);
    EXPECT_TRUE(history.ok()) << history.error().to_string();
    if (history.ok()) ran.history.emplace(std::move(history).value());
    return ran;
  }
  static Verdict verdict(const history::History& history, Level level) {
    check::Options options;
    options.asked = {level};
    return check::check(history, options).levels.front().verdict;
  }

  const test::ScratchFolder scratch_;
  const std::string folder_ = scratch_.path();
  FaultOptions faults_;
  std::atomic<bool> stop_ = false;
};

TEST_F(RunTest, EveryWorkloadIsStrictSerializableOnASerialStore) {
  for (const auto& info : workload::all_workloads()) {
    SCOPED_TRACE(info.name);
    MemoryDatabase database({});
    const auto ran = go(database, std::string(info.name), {.sessions = 4, .txns = 40},
                        {.keys = 20, .scale = 0.01});
    ASSERT_TRUE(ran.result.ok()) << ran.result.error().message;
    EXPECT_EQ(ran.result->unknown, 0U);
    EXPECT_EQ(ran.result->committed + ran.result->aborted, 160U);
    EXPECT_EQ(verdict(*ran.history, Level::kStrictSerializable), Verdict::kSatisfied);
  }
}

TEST_F(RunTest, FinalReadsLoseNothingOfAGoodDatabase) {
  for (const auto& info : workload::all_workloads()) {
    auto shape = info.defaults;
    shape.scale = 0.1;
    MemoryDatabase database({.conflict = 0.001, .lost_at_commit = 0.05});
    const auto ran = go(database, std::string(info.name),
                        {.sessions = 3, .txns = 20, .final_reads = true}, shape);
    ASSERT_TRUE(ran.history) << info.name;
    const auto reads = analysis::final_reads(*ran.history);
    ASSERT_TRUE(reads) << info.name;
    EXPECT_GT(reads->keys, 0U) << info.name;
    EXPECT_TRUE(reads->well()) << info.name;
    EXPECT_EQ(verdict(*ran.history, Level::kStrictSerializable), Verdict::kSatisfied) << info.name;
  }
}

TEST_F(RunTest, FinalReadsFindWhatWasLost) {
  for (const char* workload : {"general", "append"}) {
    MemoryDatabase database({.lost_commit = 0.3});
    const auto ran = go(database, workload, {.sessions = 3, .txns = 50, .final_reads = true});
    ASSERT_TRUE(ran.history);
    const auto reads = analysis::final_reads(*ran.history);
    ASSERT_TRUE(reads);
    EXPECT_FALSE(reads->lost.empty()) << workload;
    EXPECT_TRUE(reads->divergent.empty()) << workload;
  }
}

TEST_F(RunTest, FinalReadsWaitForAHostThatLags) {
  using Host = MemoryDatabase::Host;
  for (const auto host : {Host::kSame, Host::kLags}) {
    MemoryDatabase database({});
    database.second_host = host;
    const auto ran =
        go(database, "general", {.sessions = 2, .txns = 20, .final_reads = true, .quiet = 0.6});
    ASSERT_TRUE(ran.history);
    EXPECT_TRUE(ran.result->warnings.empty());
    const auto reads = analysis::final_reads(*ran.history);
    ASSERT_TRUE(reads);
    EXPECT_EQ(reads->nodes.size(), 2U);
    EXPECT_GT(reads->keys_of_all, 0U);
    EXPECT_TRUE(reads->well());
  }
}

TEST_F(RunTest, FinalReadsNameAHostThatHoldsSomethingElse) {
  MemoryDatabase database({});
  database.second_host = MemoryDatabase::Host::kEmpty;
  const auto ran =
      go(database, "general", {.sessions = 2, .txns = 20, .final_reads = true, .quiet = 0.3});
  ASSERT_TRUE(ran.history);
  const auto reads = analysis::final_reads(*ran.history);
  ASSERT_TRUE(reads);
  EXPECT_FALSE(reads->divergent.empty());
  EXPECT_TRUE(reads->lost.empty()) << "the first host has everything";
}

TEST_F(RunTest, FinalReadsSayNothingOfAHostThatIsNotThere) {
  MemoryDatabase database({.lost_commit = 0.3});
  database.second_host = MemoryDatabase::Host::kAbsent;
  const auto ran =
      go(database, "general", {.sessions = 2, .txns = 20, .final_reads = true, .quiet = 0.3});
  ASSERT_TRUE(ran.history);
  ASSERT_EQ(ran.result->warnings.size(), 1U);
  EXPECT_EQ(ran.result->warnings[0].rfind("two was not read at the end", 0), 0U);
  EXPECT_EQ(ran.result->final_reads_failed.rfind("two was not read at the end: ", 0), 0U);
  EXPECT_EQ(ran.history->fact(analysis::kFinalReadsFailed), ran.result->final_reads_failed);
  const auto reads = analysis::final_reads(*ran.history);
  ASSERT_TRUE(reads);
  EXPECT_EQ(reads->keys_of_all, 0U);
  EXPECT_TRUE(reads->lost.empty()) << "it may have them";
}

// Every acknowledged write is gone with its table.
TEST_F(RunTest, FinalReadsOfATableThatIsGoneFindEveryWriteLost) {
  for (const char* workload : {"general", "append"}) {
    MemoryDatabase database({});
    database.gone_after = 60;
    const auto ran =
        go(database, workload, {.sessions = 3, .txns = 40, .final_reads = true, .quiet = 0.3});
    ASSERT_TRUE(ran.history);
    EXPECT_EQ(ran.result->final_reads_failed, "");
    EXPECT_NE(ran.result->data_gone, "");
    ASSERT_EQ(ran.result->warnings.size(), 1U);
    EXPECT_NE(ran.result->warnings[0].find("is gone on the database"), std::string::npos)
        << ran.result->warnings[0];
    EXPECT_TRUE(ran.result->reasons.contains("data gone M1"));
    const auto reads = analysis::final_reads(*ran.history);
    ASSERT_TRUE(reads);
    EXPECT_GT(reads->keys, 0U);
    EXPECT_FALSE(reads->lost.empty()) << workload;
    EXPECT_EQ(ran.history->fact(analysis::kDataGone), ran.result->warnings[0]) << "for cupel check";
    EXPECT_EQ(ran.history->fact(analysis::kFinalReadsFailed), "");
  }
}

// As while a server recovers: it is not accused of what it says until then.
TEST_F(RunTest, FinalReadsWaitForATableThatComesBack) {
  MemoryDatabase database({});
  database.gone_after = 60;
  database.back_after = 63;  // 60 transactions of the load, and three looks at the end
  const auto ran =
      go(database, "general", {.sessions = 3, .txns = 40, .final_reads = true, .quiet = 5});
  ASSERT_TRUE(ran.history);
  EXPECT_LE(database.back_after, 0) << "it was gone when the load ended";
  EXPECT_EQ(ran.result->final_reads_failed, "");
  EXPECT_TRUE(ran.result->warnings.empty()) << ran.result->warnings.front();
  EXPECT_EQ(ran.result->data_gone, "");
  const auto reads = analysis::final_reads(*ran.history);
  ASSERT_TRUE(reads);
  EXPECT_TRUE(reads->well());
}

TEST_F(RunTest, FinalReadsThatAreRefusedSayNothing) {
  MemoryDatabase database({});
  database.refuse_after = 60;
  const auto ran =
      go(database, "general", {.sessions = 3, .txns = 40, .final_reads = true, .quiet = 0.3});
  ASSERT_TRUE(ran.history);
  EXPECT_EQ(ran.result->final_reads_failed, "the database was not read at the end: made to fail");
}

// Without faults, as when somebody else stops the server.
TEST_F(RunTest, ADatabaseThatVanishesHasFinalReadsAndTheyFail) {
  for (const auto& options : {RunOptions{.sessions = 3,
                             .txns = 40,
                             .patience = 0.3,
                             .final_reads_if_needed = true,
                             .quiet = 0.3},
                              RunOptions{.sessions = 3,
                              .txns = 0,
                              .time_limit = 0.5,
                              .final_reads_if_needed = true,
                              .quiet = 0.3}}) {
    MemoryDatabase database({});
    database.silent_after = 60;
    const auto ran = go(database, "general", options);
    ASSERT_TRUE(ran.history);
    EXPECT_GE(ran.result->committed, 60U);
    EXPECT_LE(ran.result->committed, 62U) << "the other sessions may be committing";
    EXPECT_GT(ran.result->without_answer, 0U);
    EXPECT_EQ(ran.result->final_reads_failed,
              "the database was not read at the end: nobody is there");
    EXPECT_EQ(ran.history->fact(analysis::kFinalReadsFailed), ran.result->final_reads_failed);
  }
}

TEST_F(RunTest, ADatabaseThatRefusesEverythingAtTheEndHasFinalReads) {
  MemoryDatabase database({});
  database.refuse_after = 60;
  const auto ran = go(database, "general",
                      {.sessions = 3, .txns = 40, .final_reads_if_needed = true, .quiet = 0.3});
  ASSERT_TRUE(ran.history);
  EXPECT_NE(ran.result->final_reads_failed, "");
}

// One connection broke and was made anew: a server that restarted may have lost what it
// acknowledged.
TEST_F(RunTest, ABrokenConnectionIsAReasonForFinalReads) {
  MemoryDatabase database({.lost_before_commit = 0.01});
  const auto ran =
      go(database, "general", {.sessions = 3, .txns = 40, .final_reads_if_needed = true});
  ASSERT_TRUE(ran.history);
  ASSERT_GT(ran.result->reconnects, 0U);
  EXPECT_EQ(ran.result->final_reads_failed, "");
  const auto reads = analysis::final_reads(*ran.history);
  ASSERT_TRUE(reads);
  EXPECT_TRUE(reads->well());
}

TEST_F(RunTest, ConflictsAreNoReasonForFinalReads) {
  MemoryDatabase database({.conflict = 0.05});
  const auto ran =
      go(database, "general", {.sessions = 3, .txns = 40, .final_reads_if_needed = true});
  ASSERT_TRUE(ran.history);
  ASSERT_GT(ran.result->aborted, 0U);
  EXPECT_EQ(ran.result->without_answer, 0U);
  EXPECT_FALSE(analysis::final_reads(*ran.history));
}

TEST_F(RunTest, AnInterruptedRunHasNoFinalReads) {
  MemoryDatabase database({});
  std::jthread stopping([&] {
    EXPECT_TRUE(test::poll_until([&] { return database.commits > 10; }));
    stop_ = true;
  });
  const auto ran = go(database, "general", {.sessions = 2, .txns = 0, .final_reads = true});
  stopping.join();
  ASSERT_TRUE(ran.history);
  EXPECT_NE(ran.result->final_reads_failed.find("interrupted"), std::string::npos);
}

TEST(CheckedRun, FailedFinalReadsAreUnknownAndNeverSatisfied) {
  CheckedRun checked;
  checked.asked = {Level::kSerializable};
  auto& level = checked.analysis.check.levels.emplace_back();
  level.level = Level::kSerializable;
  level.verdict = Verdict::kSatisfied;
  EXPECT_EQ(checked.verdict(), Verdict::kSatisfied);
  checked.run.final_reads_failed = "one was not read at the end";
  EXPECT_EQ(checked.verdict(), Verdict::kUnknown);
  checked.by_name = true;
  EXPECT_EQ(checked.verdict(), Verdict::kUnknown);
  level.verdict = Verdict::kViolated;
  EXPECT_EQ(checked.verdict(), Verdict::kViolated);
}

TEST(CheckedRun, DataThatAreGoneCountAlsoBesideALevelByName) {
  CheckedRun checked;
  checked.asked = {Level::kSerializable};
  checked.by_name = true;
  auto& level = checked.analysis.check.levels.emplace_back();
  level.level = Level::kSerializable;
  level.verdict = Verdict::kSatisfied;
  checked.analysis.final_reads.emplace().lost.emplace_back();
  ASSERT_TRUE(checked.loses());
  EXPECT_EQ(checked.verdict(), Verdict::kSatisfied) << "a lost write is of no level";
  checked.run.data_gone = "the table kv is gone";
  EXPECT_EQ(checked.verdict(), Verdict::kViolated);
  checked.analysis.final_reads->lost.clear();
  for (const bool by_name : {true, false}) {
    checked.by_name = by_name;
    EXPECT_EQ(checked.verdict(), Verdict::kUnknown) << "no write is known to be lost";
  }
}

// Some databases and clients refuse with the code of a conflict or a time-out.
TEST(NothingCommitted, AMissingPrivilegeIsNoReasonForFewerSessions) {
  for (const char* words :
       {"ERROR: permission denied for table t", "Access denied for user 'a'@'b'",
        "NOPERM this user has no permissions"}) {
    RunResult result;
    result.aborted = 3;
    result.reasons = {{"conflict fail", 3}};
    result.first_errors = {{"conflict fail", words}};
    const auto message = nothing_committed(result, {}).message;
    EXPECT_NE(message.find("Give the user the privileges"), std::string::npos) << message;
    EXPECT_EQ(message.find("fewer sessions"), std::string::npos) << message;
  }
}

TEST(NothingCommitted, SaysHowTheTransactionsEndedAndWhatToDo) {
  RunResult result;
  result.seconds = 2;
  EXPECT_EQ(nothing_committed(result, {}).message,
            "nothing committed in 2.0 s: no transaction ended. Allow more time (--time-limit)");
  result.aborted = 7;
  result.unknown = 1;
  EXPECT_NE(nothing_committed(result, {}).message.find("gave up"), std::string::npos);
  result.reasons = {{"conflict 40001", 6}, {"connection lost 08006", 2}};
  result.first_errors = {{"conflict 40001", "could not serialize access"}};
  EXPECT_EQ(nothing_committed(result, {}).message,
            "nothing committed in 2.0 s: 7 aborted, 1 with an unknown outcome; conflict 40001 (6 "
            "times), first: could not serialize access; connection lost 08006 (2 times). Use fewer "
            "sessions (--sessions) or more keys");
}

TEST_F(RunTest, FailuresAreRecordedForWhatTheyAre) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    MemoryDatabase database({.conflict = 0.02, .lost_before_commit = 0.01, .lost_at_commit = 0.1});
    const auto ran =
        go(database, "general", {.sessions = 5, .txns = 60, .seed = seed}, {.keys = 8});
    ASSERT_TRUE(ran.result.ok());
    EXPECT_GT(ran.result->unknown, 0U);
    EXPECT_GT(ran.result->aborted, 0U);
    EXPECT_GT(ran.result->reconnects, 0U);
    EXPECT_EQ(ran.result->committed + ran.result->aborted + ran.result->unknown, 300U);
    EXPECT_GT(ran.history->session_count(), 5U) << "an unknown transaction ends its process";
    EXPECT_EQ(verdict(*ran.history, Level::kStrictSerializable), Verdict::kSatisfied);
  }
}

// A comparison that failed, and a delete that found nothing, are no writes, also in
// a transaction of unknown outcome that others read from.
TEST_F(RunTest, WhatAnUnknownTransactionDidNotDo) {
  const auto path = folder_ + "/plan.json";
  {
    std::ofstream plan(path);
    plan << R"({"cupel_plan":1,"sessions":[)";
    for (int session = 0; session < 4; ++session) {
      plan << (session == 0 ? "[" : ",[");
      for (int txn = 0; txn < 50; ++txn) {
        plan << (txn == 0 ? "" : ",")
             << R"([["cas",1,[-1,null]],["r",2,null],["w",2,null],["delete",3,null]])";
      }
      plan << "]";
    }
    plan << "]}";
  }
  auto workload = workload::read_plan(path);
  ASSERT_TRUE(workload.ok()) << workload.error().to_string();
  MemoryDatabase database({.lost_at_commit = 0.2});
  const auto ran = go(database, **workload, {.sessions = 4, .txns = 50});
  ASSERT_TRUE(ran.result.ok());
  EXPECT_GT(ran.result->unknown, 0U);
  EXPECT_EQ(verdict(*ran.history, Level::kStrictSerializable), Verdict::kSatisfied);
  for (std::size_t i = 0; i < ran.history->op_count(); ++i) {
    EXPECT_NE(ran.history->op(history::OpId(i)).kind, history::OpKind::kDelete);
  }
}

// An acknowledged commit is one. After a failure, nobody knows what stayed: each of the later
// statements is a transaction of its own, so that "aborted" would accuse whoever read from it.
TEST_F(RunTest, ASilentEndIsRecordedAndNotHidden) {
  constexpr const char* kReason = "the server ended the transaction without an error";
  MemoryDatabase database({.silent_end = 0.05});
  const auto ran = go(database, "general", {.sessions = 5, .txns = 60}, {.keys = 5});
  ASSERT_TRUE(ran.result.ok());
  EXPECT_EQ(ran.result->committed, 300U);
  ASSERT_TRUE(ran.result->reasons.contains(kReason));
  EXPECT_EQ(verdict(*ran.history, Level::kStrictSerializable), Verdict::kViolated);
  std::stringstream text;
  text << std::ifstream(folder_ + "/history.jsonl").rdbuf();
  std::uint64_t notes = 0;
  for (std::string line; std::getline(text, line);) {
    if (line.find("was no longer open after its ") == std::string::npos) continue;
    ++notes;
    EXPECT_NE(line.find(R"("type":"ok")"), std::string::npos) << line;
  }
  EXPECT_EQ(notes, ran.result->reasons.at(kReason));
}

TEST_F(RunTest, AFailureAfterASilentEndIsUnknown) {
  MemoryDatabase database({.conflict = 0.5, .silent_end = 1});
  const auto ran =
      go(database, "general", {.sessions = 2, .txns = 60}, {.min_ops = 6, .max_ops = 6});
  ASSERT_TRUE(ran.result.ok());
  EXPECT_GT(ran.result->aborted, 0U) << "the first statement failed";
  EXPECT_GT(ran.result->unknown, 0U) << "a later one did";
  EXPECT_EQ(ran.result->aborted + ran.result->unknown + ran.result->committed, 120U);
}

TEST_F(RunTest, ALyingDatabaseIsFoundOut) {
  MemoryDatabase database({.stale_read = 0.2});
  const auto ran = go(database, "general", {.sessions = 5, .txns = 60}, {.keys = 5});
  ASSERT_TRUE(ran.result.ok());
  EXPECT_EQ(verdict(*ran.history, Level::kStrictSerializable), Verdict::kViolated);
}

TEST_F(RunTest, RetriesWriteNewValues) {
  MemoryDatabase database({.conflict = 0.2});
  const auto ran =
      go(database, "general", {.sessions = 3, .txns = 50, .retries = 200}, {.keys = 5});
  ASSERT_TRUE(ran.result.ok());
  EXPECT_EQ(ran.result->committed, 150U);
  EXPECT_GT(ran.result->aborted, 0U);
  EXPECT_EQ(verdict(*ran.history, Level::kStrictSerializable), Verdict::kSatisfied);
}

TEST_F(RunTest, TheSameSeedIssuesTheSame) {
  const auto once = [&] {
    MemoryDatabase database({});
    auto ran = go(database, "mini", {.sessions = 1, .txns = 50, .seed = 7});
    std::string text;
    for (std::size_t i = 0; i < ran.history->op_count(); ++i) {
      const auto op = ran.history->op(history::OpId(i));
      text += ran.history->key(op.key).to_string() + '=' +
              ran.history->value(op.value).to_string() + ' ';
    }
    return text;
  };
  EXPECT_EQ(once(), once());
}

// As where a session meets the end of the memory: the others end, and the caller hears of it.
TEST_F(RunTest, AnExceptionInASessionEndsTheRun) {
  class Throws : public workload::Workload {
   public:
    explicit Throws(workload::Workload& inner) : inner_(inner) {}
    [[nodiscard]] const workload::Schema& schema() const override { return inner_.schema(); }
    [[nodiscard]] std::uint32_t sessions() const override { return inner_.sessions(); }
    void load(const RowSink& sink) const override { inner_.load(sink); }
    [[nodiscard]] workload::Datum loaded(std::uint32_t table,
                                         const std::vector<workload::Datum>& key,
                                         std::uint32_t column) const override {
      return inner_.loaded(table, key, column);
    }
    [[nodiscard]] workload::Datum default_initial() const override {
      return inner_.default_initial();
    }
    [[nodiscard]] workload::Needs needs() const override { return inner_.needs(); }
    std::optional<workload::Job> next(std::uint32_t session) override {
      if (session == 1 && ++asked_ == 3) throw std::bad_alloc();
      return inner_.next(session);
    }

   private:
    workload::Workload& inner_;
    int asked_ = 0;  // session 1
  };
  const auto inner = workload::make_workload("general", {.sessions = 3});
  ASSERT_TRUE(inner.ok());
  Throws workload(**inner);
  MemoryDatabase database({});
  EXPECT_THROW(go(database, workload, {.sessions = 3, .txns = 0}), std::bad_alloc);
}

TEST_F(RunTest, StopsOnRequest) {
  MemoryDatabase database({});
  std::thread later([&] {
    for (auto seen = database.commits.load(); seen < 20; seen = database.commits.load())
      database.commits.wait(seen);
    stop_ = true;
  });
  const auto ran = go(database, "general", {.sessions = 2, .txns = 0, .rate = 200});
  later.join();
  ASSERT_TRUE(ran.result.ok());
  EXPECT_GE(ran.result->committed, 20U);  // and the run did end
}

TEST_F(RunTest, StopsWhenTheTimeIsUp) {
  MemoryDatabase database({});
  const auto ran = go(database, "general", {.sessions = 2, .txns = 0, .time_limit = 0.1});
  ASSERT_TRUE(ran.result.ok());
  EXPECT_GE(ran.result->seconds, 0.1);
  EXPECT_LT(ran.result->seconds, 5);
}

TEST_F(RunTest, ADatabaseThatRefusesEverythingIsAnError) {
  MemoryDatabase database({.refuse = true});
  const auto ran = go(database, "general", {.sessions = 2, .txns = 1000});
  ASSERT_FALSE(ran.result.ok());
  EXPECT_NE(ran.result.error().message.find("made to fail"), std::string::npos);
}

TEST_F(RunTest, ADatabaseThatIsGoneIsAnError) {
  MemoryDatabase database({});
  database.refuse_connections = true;
  const auto ran = go(database, "general", {.sessions = 2, .txns = 10, .patience = 0.2});
  ASSERT_FALSE(ran.result.ok());
  EXPECT_NE(ran.result.error().message.find("nobody is there"), std::string::npos);
}

TEST_F(RunTest, FaultsComeAndAreHealed) {
  faults_ = {.fault = "echo broken >> " + folder_ + "/log",
             .heal = "echo healed >> " + folder_ + "/log",
             .every = 0.1,
             .lasts = 0.05};
  MemoryDatabase database({});
  const auto ran = go(database, "general", {.sessions = 1, .txns = 0, .time_limit = 2});
  ASSERT_TRUE(ran.result.ok());
  EXPECT_GE(ran.result->faults, 2U);
  EXPECT_EQ(ran.result->failed_faults, 0U);
  EXPECT_TRUE(ran.result->warnings.empty()) << ran.result->warnings.front();
  std::ifstream log(folder_ + "/log");
  std::string line, last;
  std::uint64_t lines = 0;
  while (std::getline(log, line)) {
    EXPECT_NE(line, last) << "broken twice, or repaired twice";
    last = line;
    ++lines;
  }
  EXPECT_EQ(last, "healed");
  // One that is in force only after the load is repaired and no fault.
  EXPECT_TRUE(lines == 2 * ran.result->faults || lines == 2 * ran.result->faults + 2) << lines;
  // The history knows them, not the commands: these may hold a password.
  ASSERT_TRUE(ran.history);
  ASSERT_TRUE(ran.history->metadata().contains("faults"));
  const auto& known = ran.history->metadata().at("faults");
  EXPECT_EQ(static_cast<std::uint64_t>(std::count(known.begin(), known.end(), '\n')) + 1,
            ran.result->faults);
  EXPECT_EQ(known.find(" - "), std::string::npos) << known;
  EXPECT_EQ(known.find("echo"), std::string::npos) << known;
}

TEST_F(RunTest, AFaultWhoseCommandFailsIsNone) {
  faults_ = {.fault = "exit 3",
             .heal = "echo healed >> " + folder_ + "/log",
             .every = 0.05,
             .lasts = 0.05};
  MemoryDatabase database({});
  const auto ran = go(database, "general", {.sessions = 1, .txns = 0, .time_limit = 1});
  ASSERT_TRUE(ran.result.ok());
  EXPECT_EQ(ran.result->faults, 0U);
  EXPECT_GE(ran.result->failed_faults, 2U);
  ASSERT_EQ(ran.result->warnings.size(), 1U);  // once, with its number
  EXPECT_NE(ran.result->warnings.front().find("`exit 3` exited with 3"), std::string::npos)
      << ran.result->warnings.front();
  EXPECT_NE(ran.result->warnings.front().find(" times)"), std::string::npos);
  ASSERT_TRUE(ran.history);
  EXPECT_FALSE(ran.history->metadata().contains("faults"));
  // Nobody knows how far it got, so the end repairs.
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/log"));
}

// It is repaired, and is no fault: it hit nothing.
TEST_F(RunTest, AFaultCommandThatRunsAtTheEndMayFinish) {
  const auto log = folder_ + "/log";
  faults_ = {.fault = "echo broken >> " + log + "; sleep 0.5; echo whole >> " + log,
             .heal = "echo healed >> " + log,
             .every = 0.05,
             .lasts = 1000};
  MemoryDatabase database({});
  const auto ran = go(database, "general", {.sessions = 1, .txns = 0, .time_limit = 0.3});
  ASSERT_TRUE(ran.result.ok());
  EXPECT_EQ(ran.result->faults, 0U);
  EXPECT_EQ(ran.result->failed_faults, 0U);
  ASSERT_EQ(ran.result->warnings.size(), 1U);
  EXPECT_NE(ran.result->warnings.front().find("no fault began"), std::string::npos);
  ASSERT_TRUE(ran.history);
  EXPECT_FALSE(ran.history->metadata().contains("faults"));
  std::ifstream in(log);
  const std::string lines{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(lines, "broken\nwhole\nhealed\n");
}

TEST_F(RunTest, ARepairThatFailsEndsNoFault) {
  faults_ = {.fault = "true", .heal = "exit 4", .every = 0.05, .lasts = 0.05};
  MemoryDatabase database({});
  const auto ran = go(database, "general", {.sessions = 1, .txns = 0, .time_limit = 1});
  ASSERT_TRUE(ran.result.ok());
  EXPECT_EQ(ran.result->faults, 1U) << "a second one although the first is in force";
  ASSERT_FALSE(ran.result->warnings.empty());
  EXPECT_NE(ran.result->warnings.front().find("exited with 4"), std::string::npos);
  ASSERT_TRUE(ran.history);
  EXPECT_NE(ran.history->metadata().at("faults").find(" - "), std::string::npos);
}

// The end of the repair's command, not its begin: until then the database is broken.
TEST_F(RunTest, ARepairCountsFromItsEnd) {
  const auto written = [&](const std::string& file) {
    std::ifstream in(folder_ + "/" + file);
    std::string text;
    std::getline(in, text);
    return text;
  };
  // Each end of the pipe waits for the other: the repair ends when it is read from.
  faults_ = {.fault = "true",
             .heal = "cd " + folder_ + "; test -e pipe || { mkfifo pipe; echo healed > pipe; }",
             .every = 0.05,
             .lasts = 0.05};
  MemoryDatabase database({});
  std::jthread reader([&] {
    ASSERT_TRUE(test::poll_until([&] { return std::filesystem::exists(folder_ + "/pipe"); }));
    const auto commits = database.commits.load();
    ASSERT_TRUE(test::poll_until([&] { return database.commits > commits + 200; }));
    EXPECT_EQ(written("pipe"), "healed");
    stop_ = true;
  });
  const auto ran = go(database, "general", {.sessions = 1, .txns = 0, .time_limit = 60});
  reader.join();
  ASSERT_TRUE(ran.result.ok());
  ASSERT_TRUE(ran.history);
  // Some of what committed while the repair ran began after the fault and ended before its end.
  const auto& known = ran.history->metadata().at("faults");
  const auto begin = std::stoll(known), end = std::stoll(known.substr(known.find(' ')));
  std::uint64_t meanwhile = 0;
  for (std::uint32_t i = 0; i < ran.history->txn_count(); ++i) {
    const history::TxnId txn(i);
    meanwhile += ran.history->invoke(txn) > begin && ran.history->complete(txn) < end;
  }
  EXPECT_GE(meanwhile, 150U) << known;
}

TEST_F(RunTest, AFaultCommandThatHangsDelaysNobody) {
  faults_ = {.fault = "exec sleep 1000", .heal = "", .every = 0.05, .lasts = 0.05};
  MemoryDatabase database({});
  const auto ran = go(database, "general", {.sessions = 1, .txns = 0, .time_limit = 0.5});
  ASSERT_TRUE(ran.result.ok());
  EXPECT_LT(ran.result->seconds, 30);
  EXPECT_EQ(ran.result->faults, 0U);
  ASSERT_EQ(ran.result->warnings.size(), 1U);
  EXPECT_NE(ran.result->warnings.front().find("was ended with the run"), std::string::npos);
  faults_.command_limit = 0.1;
  const auto again = go(database, "general", {.sessions = 1, .txns = 0, .time_limit = 2});
  ASSERT_TRUE(again.result.ok());
  EXPECT_GE(again.result->failed_faults, 2U);
  ASSERT_FALSE(again.result->warnings.empty());
  EXPECT_NE(again.result->warnings.front().find("ran for over 0.1 s"), std::string::npos);
}

TEST_F(RunTest, AnInterruptWaitsForNoRepairThatHangs) {
  faults_ = {.fault = "touch " + folder_ + "/broken",
             .heal = "exec sleep 30 >/dev/null 2>&1",  // ctest waits for who has its output
             .every = 0.05,
             .lasts = 1000};
  MemoryDatabase database({});
  std::jthread interrupt([&] {
    ASSERT_TRUE(test::poll_until([&] { return std::filesystem::exists(folder_ + "/broken"); }));
    stop_ = true;
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto ran = go(database, "general", {.sessions = 1, .txns = 0, .time_limit = 60});
  ASSERT_TRUE(ran.result.ok());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(25));
  EXPECT_EQ(ran.result->faults + ran.result->failed_faults, 1U);
  ASSERT_FALSE(ran.result->warnings.empty());
  EXPECT_NE(ran.result->warnings.front().find("still runs"), std::string::npos);
}

TEST_F(RunTest, ADatabaseThatFallsSilentIsMentioned) {
  MemoryDatabase database({});
  database.silent_after = 50;
  const auto ran =
      go(database, "general", {.sessions = 2, .txns = 0, .time_limit = 3, .patience = 60});
  ASSERT_TRUE(ran.result.ok());
  ASSERT_FALSE(ran.result->warnings.empty());
  EXPECT_NE(ran.result->warnings.back().find("nothing committed in the last"), std::string::npos);
  MemoryDatabase answering({});
  const auto whole = go(answering, "general", {.sessions = 2, .txns = 0, .time_limit = 3});
  ASSERT_TRUE(whole.result.ok());
  EXPECT_TRUE(whole.result->warnings.empty());
}

TEST(Unfit, NamesWhatIsMissing) {
  EXPECT_EQ(unfit({.ranges = true}, {.ranges = true}), "");
  EXPECT_NE(unfit({.ranges = true}, {}).find("range"), std::string::npos);
  EXPECT_EQ(unfit({.multiple = true}, {.multiple = true}), "");
  EXPECT_NE(unfit({.interactive = true}, {.multiple = true}), "");
  // What came of a compare-and-set among others is not known where an answer is all.
  const workload::Needs both{.multiple = true, .compare_and_set = true};
  EXPECT_NE(unfit(both, both).find("compare-and-set"), std::string::npos);
  EXPECT_EQ(unfit(both, {.interactive = true, .compare_and_set = true}), "");
  EXPECT_EQ(unfit({.compare_and_set = true}, both), "");
}

// Does a range read return a key with two values?
bool returns_two_values(const history::History& h) {
  for (std::uint32_t i = 0; i < h.op_count(); ++i) {
    const auto op = h.op(history::OpId(i));
    if (op.kind != history::OpKind::kRangeRead) continue;
    std::map<history::KeyId, history::ValueId> first;
    for (const auto& entry : h.range(op).entries) {
      if (first.try_emplace(entry.key, entry.value).first->second != entry.value) return true;
    }
  }
  return false;
}

// SQLite at READ UNCOMMITTED follows a row that moves while it scans, in nearly every run.
TEST(RunAndCheck, ARangeThatReturnsAKeyTwiceIsJudged) {
  const test::ScratchFolder folder;
  bool met = false;
  for (std::uint64_t seed = 1; seed <= 10 && !met; ++seed) {
    RunAndCheckOptions options;
    options.url = "sqlite:" + folder.path("db");
    options.open.isolation = "read-uncommitted";
    options.workload = "range-rqh";
    options.run.sessions = 8;
    options.run.txns = 60;
    options.run.seed = seed;
    options.history = folder.path("history" + std::to_string(seed) + ".jsonl");
    Progress progress;
    const std::atomic<bool> stop = false;
    const auto ran = run_and_check(options, stop, progress, [](Stage) {});
    ASSERT_TRUE(ran.ok()) << ran.error().message;
    if (!returns_two_values(ran->history)) continue;
    met = true;
    EXPECT_EQ(ran->result(levels::Level::kReadAtomic).verdict, check::Verdict::kViolated);
  }
  if (!met) GTEST_SKIP() << "no range read returned two values of a key";
}

// As Ctrl-C does, while the history is read or checked.
TEST(RunAndCheck, AnInterruptedCheckKeepsTheHistory) {
  const test::ScratchFolder folder;
  for (const auto stage : {Stage::kRead, Stage::kCheck}) {
    RunAndCheckOptions options;
    options.url = "sqlite:" + folder.path("db");
    options.workload = "mini";
    options.run.sessions = 2;
    options.run.txns = 30;
    options.history = folder.path(stage == Stage::kRead ? "read.jsonl" : "check.jsonl");
    Progress progress;
    const std::atomic<bool> stop = false;
    std::atomic<bool> interrupted = false;
    base::interrupt_by(&interrupted);
    const auto ran = run_and_check(options, stop, progress, [&](Stage now) {
      if (now == stage) interrupted = true;
    });
    base::interrupt_by(nullptr);
    ASSERT_TRUE(ran.ok()) << ran.error().message;
    EXPECT_EQ(ran->verdict(), check::Verdict::kUnknown);
    EXPECT_NE(ran->analysis.check.levels.front().detail.find("interrupted"), std::string::npos)
        << ran->analysis.check.levels.front().detail;
    EXPECT_TRUE(formats::read(options.history, {}).ok());
  }
}

// The table is dropped while the load runs.
TEST(RunAndCheck, ADroppedTableIsALostWrite) {
  const test::ScratchFolder folder;
  RunAndCheckOptions options;
  options.url = "sqlite:" + folder.path("db");
  options.run.sessions = 2;
  options.run.txns = 0;
  options.run.rate = 200;
  options.run.time_limit = 5;
  options.run.quiet = 0.2;
  options.history = folder.path("h.jsonl");
  options.faults = {
      .fault = "python3 -c 'import sqlite3; d = sqlite3.connect(\"" + folder.path("db") +
               "\", timeout=20)\n"
               "for t in d.execute(\"select name from sqlite_master where "
               "type = \\\"table\\\"\").fetchall(): d.execute(\"drop table \" + t[0])\n"
               "d.commit()'",
      .heal = "",
      .every = 0.2,
      .lasts = 0.1};
  Progress progress;
  const std::atomic<bool> stop = false;
  const auto ran = run_and_check(options, stop, progress, [](Stage) {});
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_TRUE(ran->loses());
  EXPECT_EQ(ran->verdict(), Verdict::kViolated);
  EXPECT_TRUE(anomalies(*ran).contains("lost-write"));
}

TEST(RunAndCheck, ARunThatCommitsNothingIsAnError) {
  const test::ScratchFolder folder;
  RunAndCheckOptions options;
  options.url =
      "exec:while read line; do case $line in *'[]'*) echo '{\"type\": \"ok\", \"value\": []}';; "
      "*) echo '{\"type\": \"fail\", \"error\": \"conflict: not today\"}';; esac; done";
  options.workload = "append";
  options.run.sessions = 2;
  options.run.txns = 5;
  options.history = folder.path("h.jsonl");
  Progress progress;
  const std::atomic<bool> stop = false;
  const auto ran = run_and_check(options, stop, progress, [](Stage) {});
  ASSERT_FALSE(ran.ok());
  EXPECT_NE(ran.error().message.find("nothing committed"), std::string::npos)
      << ran.error().message;
  EXPECT_NE(ran.error().message.find("conflict: not today"), std::string::npos)
      << ran.error().message;
  EXPECT_FALSE(std::filesystem::exists(options.history));
}

// An interrupt while the history is closed is about the check.
TEST(RunAndCheck, TheEndOfTheLoadIsSaidBeforeTheHistoryIsClosed) {
  const test::ScratchFolder folder;
  RunAndCheckOptions options;
  options.url = "sqlite:" + folder.path("db");
  options.run.sessions = 2;
  options.run.txns = 10;
  options.history = folder.path("h.jsonl");
  Progress progress;
  const std::atomic<bool> stop = false;
  std::vector<Stage> stages;
  const auto ran = run_and_check(options, stop, progress, [&](Stage now) {
    stages.push_back(now);
    if (now == Stage::kEnd) {
      EXPECT_TRUE(std::filesystem::exists(folder.path("db")));
    }
  });
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_EQ(stages,
            (std::vector{Stage::kPrepare, Stage::kRun, Stage::kEnd, Stage::kRead, Stage::kCheck}));
}

// As where there is no more memory: an exception ends the run.
TEST(RunAndCheck, AnExceptionLeavesNeitherTablesNorAHistory) {
  const test::ScratchFolder folder;
  for (const auto stage : {Stage::kRun, Stage::kRead}) {
    RunAndCheckOptions options;
    options.url = "sqlite:" + folder.path("db");
    options.workload = "mini";
    options.run.sessions = 2;
    options.run.txns = 3;
    options.history = folder.path("history.jsonl");
    Progress progress;
    const std::atomic<bool> stop = false;
    EXPECT_THROW(static_cast<void>(run_and_check(options, stop, progress,
                                                 [&](Stage now) {
                                                   if (now == stage) throw std::bad_alloc();
                                                 })),
                 std::bad_alloc);
    EXPECT_FALSE(std::filesystem::exists(folder.path("db")));
    // What was recorded whole stays.
    EXPECT_EQ(std::filesystem::exists(folder.path("history.jsonl")), stage == Stage::kRead);
  }
}

}  // namespace
}  // namespace cupel::run
