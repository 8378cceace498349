// The progress line: its text, and which thread writes what in which stage.
#include "run/progress_line.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cupel::run {
namespace {

TEST(ProgressText, CountsAndRates) {
  Progress progress;
  progress.committed = 12345;
  progress.aborted = 7;
  progress.unknown = 1;
  EXPECT_EQ(progress_text(progress, {.txns = 0}, 10, false),
            "10 s  12,345 committed (1234/s), 7 aborted, 1 unknown");
  EXPECT_EQ(progress_text(progress, {.txns = 0}, 10, true),
            "10 s  12,345 committed (1234/s), 7 aborted, 1 unknown, ending");
}

TEST(ProgressText, NothingIsDoneAtTheBegin) {
  const Progress progress;
  EXPECT_EQ(progress_text(progress, {.sessions = 2, .txns = 5}, 0, false),
            "0 s  0 committed (0/s), 0 aborted, 0 unknown");
}

TEST(ProgressText, SessionsWithoutAConnection) {
  Progress progress;
  progress.sessions_waiting = 2;
  EXPECT_EQ(progress_text(progress, {.sessions = 3, .txns = 0}, 1, false),
            "1 s  0 committed (0/s), 0 aborted, 0 unknown, 2/3 disconnected");
}

// A line that wraps is not replaced, but written again and again.
TEST(ProgressText, FitsIntoATerminal) {
  Progress progress;
  for (const std::uint64_t number : {9ULL, 9'999ULL, 999'999'999ULL, 999'999'999'999'999ULL}) {
    progress.committed = progress.aborted = progress.unknown = number;
    progress.sessions_waiting = static_cast<std::uint32_t>(std::min<std::uint64_t>(number, 100000));
    const auto text = progress_text(progress, {.sessions = 100000, .time_limit = 1e6}, 9999, false);
    EXPECT_LT(text.size(), 80u) << text;
    EXPECT_NE(text.find(" committed"), std::string::npos) << text;
  }
  EXPECT_LE(kProgressWidth, 79u);
}

TEST(ProgressText, SaysWhatFollowsTheLoad) {
  Progress progress;
  progress.phase = Progress::Phase::kHealing;
  EXPECT_EQ(progress_text(progress, {.time_limit = 5}, 6, false),
            "6 s  the load is over, healing the faults ...");
  progress.phase = Progress::Phase::kFinalReads;
  EXPECT_EQ(progress_text(progress, {.time_limit = 5}, 6, false),
            "6 s  the load is over, reading what the nodes hold ...");
}

// The time that is left: by the transactions, by the limit, whichever comes first.
TEST(ProgressText, TimeLeft) {
  Progress progress;
  progress.committed = 10;
  const auto left = [&](const RunOptions& options, double seconds) {
    const auto text = progress_text(progress, options, seconds, false);
    const auto at = text.find("unknown");
    return text.substr(at + 7);
  };
  EXPECT_EQ(left({.sessions = 2, .txns = 20}, 5), ", 15 s left");
  EXPECT_EQ(left({.sessions = 2, .txns = 20, .time_limit = 100}, 5), ", 15 s left");
  EXPECT_EQ(left({.sessions = 2, .txns = 20, .time_limit = 12}, 5), ", 7 s left");
  EXPECT_EQ(left({.sessions = 2, .txns = 0, .time_limit = 12}, 5), ", 7 s left");
  EXPECT_EQ(left({.sessions = 2, .txns = 0, .time_limit = 12}, 13), ", ending");
  EXPECT_EQ(left({.sessions = 2, .txns = 0}, 5), "");
}

struct Lines {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> all = {};

  ProgressLine::Write writer() {
    return [this](const std::string& text) {
      const std::lock_guard lock(mutex);
      all.push_back(text);
      changed.notify_one();
    };
  }
};

struct ProgressLineTest : testing::Test {
  Progress progress;
  RunOptions options = {.txns = 0};
  std::atomic<bool> stopping = false;
  Lines lines;
};

TEST_F(ProgressLineTest, EachStageReplacesTheLine) {
  ProgressLine line({progress, options, stopping}, lines.writer());
  line.stage(Stage::kStart);
  line.stage(Stage::kPrepare);
  line.stage(Stage::kRead);
  line.stage(Stage::kCheck);
  line.end();
  EXPECT_EQ(lines.all,
            (std::vector<std::string>{"", "starting the test server ...", "",
                                      "making and filling the tables ...", "",
                                      "reading the history ...", "", "checking ...", ""}));
}

TEST_F(ProgressLineTest, ARunIsShownUntilItsEnd) {
  {
    ProgressLine line({progress, options, stopping}, lines.writer(), std::chrono::milliseconds(1));
    line.stage(Stage::kRun);
    const auto shows = [&](const char* part) {
      std::unique_lock lock(lines.mutex);
      return lines.changed.wait_for(lock, std::chrono::seconds(60), [&] {
        return lines.all.back().find(part) != std::string::npos;
      });
    };
    EXPECT_TRUE(shows(" 0 committed"));
    progress.committed = 3;
    EXPECT_TRUE(shows(" 3 committed"));
    stopping = true;
    EXPECT_TRUE(shows(", ending"));
    line.stage(Stage::kRead);
    EXPECT_EQ(lines.all.back(), "reading the history ...");
    line.stage(Stage::kRun);  // once more, and ended by the destructor
  }
  EXPECT_EQ(lines.all.back(), "");
}

TEST_F(ProgressLineTest, WithoutAWriterNothingIsShown) {
  ProgressLine line({progress, options, stopping}, {}, std::chrono::milliseconds(1));
  for (const auto stage :
       {Stage::kStart, Stage::kPrepare, Stage::kRun, Stage::kRead, Stage::kCheck})
    line.stage(stage);
  line.end();
}

}  // namespace
}  // namespace cupel::run
