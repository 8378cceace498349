// What a checker does with bets that were lost, with levels that cannot be watched, with limits.
#include "engine/online/checker.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/temp_dir.hpp"
#include "data/formats/formats.hpp"
#include "data/history/going_on.hpp"
#include "engine/check/check.hpp"
#include "support/parameter_name.hpp"

namespace cupel::online {
namespace {

using levels::Level;

// A recorded history to which transactions are added one by one.
class Recorded : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = base::TempDir::make("cupel-test-");
    ASSERT_TRUE(made.ok());
    folder_.emplace(*std::move(made));
    file_ = folder_->file("history.jsonl");
  }

  void start(Level level, WatchOptions options = {}) {
    options.level = level;
    checker_ = std::make_unique<Checker>(
        options, "test", file_, [this](Checker::Question question) { return ask(question); });
  }

  base::Result<Checker::State> ask(Checker::Question question = {}) {
    ++asked_;
    auto read = formats::read(file_);
    if (!read.ok()) return std::move(read).error();
    auto history = std::move(read).value();
    if (question.going_on) {
      const auto open = history::open_compares(history, history::going_on(history));
      history = history::with_open_compares(std::move(history), open);
    }
    check::Options options;
    options.asked = {level_asked_.value_or(checker_->watch().watched())};
    return check::check(history, options).levels.front().verdict == check::Verdict::kViolated
               ? Checker::State::kViolated
               : Checker::State::kSatisfied;
  }

  // A transaction begins and ends; then a look.
  Checker::State add(int process, const std::string& operations) {
    const auto lines = fmt::format(
        R"({{"type":"invoke","process":{0},"f":"txn","value":[{1}],"time":{2}}}
{{"type":"ok","process":{0},"f":"txn","value":[{1}],"time":{3}}}
)",
        process, operations, time_, time_ + 5);
    time_ += 10;
    std::ofstream(file_, std::ios::app) << lines;
    EXPECT_TRUE(checker_->take(lines).ok());
    const auto state = checker_->finish();
    EXPECT_TRUE(state.ok()) << state.error().to_string();
    return state.ok() ? *state : Checker::State::kUnknown;
  }

  // One end of a transaction; then a look.
  Checker::State add_end(const char* type, int process, const std::string& operations) {
    const auto line = fmt::format(R"({{"type":"{}","process":{},"f":"txn","value":[{}],"time":{}}})"
                                  "\n",
                                  type, process, operations, time_ += 5);
    std::ofstream(file_, std::ios::app) << line;
    EXPECT_TRUE(checker_->take(line).ok());
    for (;;) {  // there is a pause between two looks
      const auto state = checker_->look_if_due(/*idle=*/true);
      EXPECT_TRUE(state.ok()) << state.error().to_string();
      if (!state.ok()) return Checker::State::kUnknown;
      if (*state != Checker::State::kSatisfied || checker_->watch().window().fresh() == 0)
        return *state;
    }
  }

  std::optional<base::TempDir> folder_;
  std::string file_;
  std::unique_ptr<Checker> checker_;
  std::optional<Level> level_asked_;
  int asked_ = 0, time_ = 0;
};

using State = Checker::State;

TEST_F(Recorded, ForgetsAndFindsAStaleRead) {
  start(Level::kStrictSerializable);
  for (int i = 1; i <= 50; ++i) {
    ASSERT_EQ(add(i % 3, fmt::format(R"(["r","x",{}],["w","x",{}])",
                                     i == 1 ? "null" : std::to_string(i - 1), i)),
              State::kSatisfied);
  }
  EXPECT_GT(checker_->watch().window().held().forgotten, 40u);
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(add(0, R"(["r","x",20])"), State::kViolated);
  EXPECT_EQ(asked_, 1);
}

// A session that nobody announced may read anything at a level without real time.
TEST_F(Recorded, ALateSessionMayReadWhatWasForgotten) {
  start(Level::kStrongSessionSnapshotIsolation);
  for (int i = 1; i <= 20; ++i) {
    ASSERT_EQ(add(i % 2, fmt::format(R"(["r","x",{}],["w","x",{}])",
                                     i == 1 ? "null" : std::to_string(i - 1), i)),
              State::kSatisfied);
  }
  EXPECT_GT(checker_->watch().window().held().forgotten, 10u);
  EXPECT_EQ(add(7, R"(["r","x",3])"), State::kSatisfied);
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(checker_->take_notes().size(), 1u);
  EXPECT_EQ(add(7, R"(["r","x",9])"), State::kSatisfied);
  EXPECT_EQ(asked_, 1);  // nothing that it may still read is forgotten any more
  EXPECT_EQ(add(7, R"(["r","x",5])"), State::kViolated);
}

// A line that comes late, of a transaction that ended before a forgotten one began: that alone is
// no violation, whatever it says; the record is asked where the window cannot tell.
TEST_F(Recorded, ALateLineOnlySetsDoubt) {
  start(Level::kStrictSerializable);
  const auto add_on_time = [&](int from, int to) {
    for (int i = from; i <= to; ++i) {
      ASSERT_EQ(add(i % 3, fmt::format(R"(["r","x",{}],["w","x",{}])",
                                       i == 1 ? "null" : std::to_string(i - 1), i)),
                State::kSatisfied);
    }
  };
  const auto add_late = [&](int process, int time, const char* operations) {
    const int now = std::exchange(time_, time);
    const auto state = add(process, operations);
    time_ = now;
    return state;
  };
  time_ = 100;
  add_on_time(1, 20);
  ASSERT_GT(checker_->watch().window().held().forgotten, 10u);
  ASSERT_EQ(checker_->watch().window().held().doubt, "");
  EXPECT_EQ(add_late(7, 0, R"(["w","y",1])"), State::kSatisfied);
  EXPECT_NE(checker_->watch().window().held().doubt, "");
  EXPECT_EQ(asked_, 0);
  // It read what x was before all that was forgotten.
  EXPECT_EQ(add_late(8, 10, R"(["r","x",null])"), State::kSatisfied);
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(checker_->take_notes().size(), 1u);
  add_on_time(21, 40);
  // What was written only after it had ended.
  EXPECT_EQ(add_late(9, 20, R"(["r","x",3])"), State::kViolated);
}

// Of each level that is watched: process 1 writes x and has a compare-and-set of y, process 2 reads
// x before process 1 says how its transaction ended.
class GoingOn : public Recorded, public ::testing::WithParamInterface<Level> {
 protected:
  // A look after each line.
  void start_at(Level level, std::size_t slide = 0) {
    level_asked_ = level;
    std::filesystem::remove(file_);
    asked_ = 0;
    start(level, {.least_batch = 1, .pause = std::chrono::milliseconds(0), .slide = slide});
  }
  void begin_and_see() {
    EXPECT_EQ(add_end("invoke", 0, R"(["w","y",3])"), State::kSatisfied);
    EXPECT_EQ(add_end("ok", 0, R"(["w","y",3])"), State::kSatisfied);
    EXPECT_EQ(add_end("invoke", 1, R"(["w","x",1],["cas","y",[8,9]])"), State::kSatisfied);
    EXPECT_EQ(add_end("invoke", 2, R"(["r","x",null])"), State::kSatisfied);
    EXPECT_EQ(add_end("ok", 2, R"(["r","x",1])"), State::kSatisfied);
    EXPECT_EQ(asked_, 0);
  }
};

TEST_P(GoingOn, ACompareAndSetThatFailsInTheEndAccusesNobody) {
  start_at(GetParam());
  begin_and_see();
  EXPECT_EQ(add_end("ok", 1, R"(["w","x",1],["cas","y",[8,9],false])"), State::kSatisfied);
  EXPECT_EQ(*checker_->finish(), State::kSatisfied);
}

TEST_P(GoingOn, OneThatSucceededIsAViolationOnceItHasEnded) {
  start_at(GetParam());
  begin_and_see();
  EXPECT_EQ(add_end("ok", 1, R"(["w","x",1],["cas","y",[8,9]])"), State::kViolated);
}

TEST_P(GoingOn, AtTheEndOfTheSourceItCountsAsACheckCountsIt) {
  start_at(GetParam());
  begin_and_see();
  EXPECT_EQ(*checker_->finish(/*over=*/false), State::kSatisfied);
  EXPECT_EQ(*checker_->finish(), State::kViolated);
}

TEST_P(GoingOn, WhatDoesNotRestOnItIsFoundAtOnce) {
  start_at(GetParam());
  begin_and_see();
  EXPECT_EQ(add_end("invoke", 3, R"(["r","y",null])"), State::kSatisfied);
  EXPECT_EQ(add_end("ok", 3, R"(["r","y",7])"), State::kViolated);
}

TEST_P(GoingOn, OneWhoseWriteWasSeenHasSucceeded) {
  start_at(GetParam());
  begin_and_see();
  EXPECT_EQ(add_end("invoke", 3, R"(["r","y",null])"), State::kSatisfied);
  EXPECT_EQ(add_end("ok", 3, R"(["r","y",9])"), State::kViolated);
}

// The window has lost a bet, or slides: then the record is asked while the transaction goes on.
TEST_P(GoingOn, TheRecordIsAskedForWhatIsCertain) {
  start_at(GetParam());
  begin_and_see();
  EXPECT_EQ(*ask({.going_on = true}), State::kSatisfied);
  EXPECT_EQ(*ask({.going_on = false}), State::kViolated);
  std::ofstream(file_, std::ios::app)
      << R"({"type":"info","process":1,"f":"txn","value":null,"time":99})"
         "\n";
  EXPECT_EQ(*ask({.going_on = true}), State::kViolated);
}

INSTANTIATE_TEST_SUITE_P(
    Levels, GoingOn,
    ::testing::Values(Level::kReadCommitted, Level::kReadAtomic, Level::kCausal, Level::kPrefix,
                      Level::kSnapshotIsolation, Level::kStrongSessionSnapshotIsolation,
                      Level::kGeneralizedSnapshotIsolation, Level::kStrongSnapshotIsolation,
                      Level::kSerializable, Level::kStrongSessionSerializable,
                      Level::kStrictSerializable),
    [](const auto& info) {
      std::string name(levels::name(info.param));
      std::erase(name, '-');
      return name;
    });

// Read committed is watched by causal; where that fails, the file has the answer.
TEST_F(Recorded, AWeakLevelIsAskedOfTheRecord) {
  start(Level::kReadCommitted);
  level_asked_ = Level::kReadCommitted;
  EXPECT_EQ(add(0, R"(["w","x",1])"), State::kSatisfied);
  EXPECT_EQ(add(0, R"(["w","x",2])"), State::kSatisfied);
  EXPECT_EQ(add(0, R"(["r","x",1])"), State::kSatisfied);  // not causal, but read committed
  EXPECT_EQ(checker_->take_notes().size(), 1u);
  EXPECT_EQ(add(1, R"(["r","x",7])"), State::kViolated);
}

// A record that cannot be checked as a whole is not satisfied because the window is.
TEST_F(Recorded, AWindowThatSlidesDoesNotSpeakOfTheWhole) {
  bool too_large = false;
  checker_ = std::make_unique<Checker>(WatchOptions{.level = Level::kReadCommitted}, "test", file_,
                                       [&](Checker::Question) -> base::Result<State> {
                                         level_asked_ = Level::kReadCommitted;
                                         return too_large ? State::kUnknown : ask();
                                       });
  for (const auto* one : {R"(["w","x",1])", R"(["w","x",2])", R"(["r","x",1])"})
    EXPECT_EQ(add(0, one), State::kSatisfied);
  too_large = true;
  EXPECT_EQ(add(0, R"(["r","x",2])"), State::kUnknown);
  EXPECT_NE(checker_->why().find("50,000 transactions in a row"), std::string::npos)
      << checker_->why();
}

// A stale read is none of serializability's, so the record is asked. If it is hard, it keeps the
// watch no longer than a window.
TEST_F(Recorded, AQuestionHasTheTimeOfAWindowWhereTheWatchCanSlide) {
  std::vector<std::optional<double>> seconds;
  const auto watch = [&](Level level) {
    seconds.clear();
    time_ = 0;
    std::ofstream(file_, std::ios::trunc);
    checker_ =
        std::make_unique<Checker>(WatchOptions{.level = level, .window_seconds = 7}, "test", file_,
                                  [&](Checker::Question question) -> base::Result<State> {
                                    seconds.push_back(question.seconds);
                                    return State::kUnknown;
                                  });
    add_end("invoke", 0, R"(["w","x",1])");
    add_end("ok", 0, R"(["w","x",1])");
    add_end("invoke", 0, R"(["r","x",null])");
    return add_end("ok", 0, R"(["r","x",null])");
  };
  EXPECT_EQ(watch(Level::kSerializable), State::kSatisfied);
  EXPECT_EQ(seconds, (std::vector<std::optional<double>>{7}));
  // Decided exactly: nothing but the record can say more.
  watch(Level::kStrongSessionSerializable);
  EXPECT_EQ(seconds, (std::vector<std::optional<double>>{std::nullopt}));
}

// A window that takes too long is unknown, and so is the whole, unless the record says more.
TEST_F(Recorded, AWindowThatTakesTooLongIsGivenUp) {
  std::optional<State> whole;
  std::optional<double> seconds;
  checker_ = std::make_unique<Checker>(WatchOptions{.level = Level::kSerializable,
                                                    .pause = std::chrono::milliseconds(0),
                                                    .window_seconds = 0},
                                       "test", file_,
                                       [&](Checker::Question question) -> base::Result<State> {
                                         seconds = question.seconds;
                                         return whole ? *whole : State::kUnknown;
                                       });
  // Each look has no time at all, so each window is given up.
  const auto end = [&](const char* line) {
    std::ofstream(file_, std::ios::app) << line;
    ASSERT_TRUE(checker_->take(line).ok());
    const auto state = checker_->look_if_due(/*idle=*/true);
    ASSERT_TRUE(state.ok());
    EXPECT_EQ(*state, State::kSatisfied);
  };
  end(R"({"type":"invoke","process":0,"f":"txn","value":[["w","x",1]],"time":0}
{"type":"ok","process":0,"f":"txn","value":[["w","x",1]],"time":1}
)");
  end(R"({"type":"invoke","process":0,"f":"txn","value":[["r","x",null]],"time":2}
{"type":"ok","process":0,"f":"txn","value":[["r","x",1]],"time":3}
)");
  EXPECT_FALSE(checker_->only_record_after());
  EXPECT_FALSE(checker_->leaves_windows());
  const auto unknown = checker_->finish();
  ASSERT_TRUE(unknown.ok());
  EXPECT_EQ(*unknown, State::kUnknown);
  EXPECT_GE(checker_->windows_given_up(), 1u);
  EXPECT_NE(checker_->why().find("could not be decided within 0 s a window"), std::string::npos)
      << checker_->why();
  EXPECT_EQ(seconds, 0);  // the record is not asked for longer than a window
  const auto notes = checker_->take_notes();
  ASSERT_FALSE(notes.empty());
  EXPECT_NE(notes.front().find("count as unknown"), std::string::npos) << notes.front();
  whole = State::kSatisfied;
  const auto satisfied = checker_->finish();
  ASSERT_TRUE(satisfied.ok());
  EXPECT_EQ(*satisfied, State::kSatisfied);
}

TEST_F(Recorded, AMemoryLimitLeavesTheRecordToBeAsked) {
  start(Level::kStrictSerializable, {.memory_limit_bytes = 1});
  EXPECT_EQ(add(0, R"(["w","x",1])"), State::kSatisfied);
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(checker_->only_record_after(), 1u);
  EXPECT_EQ(checker_->take_notes().size(), 1u);
  EXPECT_EQ(add(1, R"(["w","x",2])"), State::kSatisfied);
  EXPECT_EQ(asked_, 2);
  EXPECT_FALSE(checker_->can_save());
  EXPECT_EQ(add(2, R"(["r","x",1])"), State::kViolated);
  EXPECT_EQ(asked_, 3);
}

// Until the file has grown by half, it is not asked again.
TEST_F(Recorded, TheRecordIsAskedNowAndThenOnly) {
  start(Level::kStrictSerializable, {.memory_limit_bytes = 1});
  for (int i = 0; i < 100; ++i) {
    for (const auto* type : {"invoke", "ok"}) {
      EXPECT_EQ(add_end(type, i % 3, fmt::format(R"(["w","x",{}])", i)), State::kSatisfied);
    }
  }
  EXPECT_GE(asked_, 5);
  EXPECT_LE(asked_, 15);
}

// With what it had decided by then, if the record cannot be decided.
TEST_F(Recorded, AMemoryLimitIsUnknownFromThereOn) {
  int asked = 0;
  const auto limited = [&](std::uint64_t bytes) {
    checker_ = std::make_unique<Checker>(
        WatchOptions{.level = Level::kStrictSerializable, .memory_limit_bytes = bytes}, "test",
        file_, [&](Checker::Question question) -> base::Result<State> {
          asked += question.in_windows ? 1 : 0;
          return State::kUnknown;
        });
  };
  limited(1);
  EXPECT_EQ(add(0, R"(["w","x",1])"), State::kUnknown);
  EXPECT_NE(checker_->why().find("nothing is known of any transaction"), std::string::npos)
      << checker_->why();
  EXPECT_EQ(asked, 1);
  constexpr std::size_t kRoom = 64 << 20;
  limited(base::resident_bytes() + kRoom);
  EXPECT_EQ(add(0, R"(["w","x",1])"), State::kSatisfied);
  EXPECT_EQ(add(1, R"(["w","x",2])"), State::kSatisfied);
  const std::string ballast(2 * kRoom, 'x');
  EXPECT_EQ(add(2, R"(["w","x",3])"), State::kUnknown);
  EXPECT_EQ(ballast.back(), 'x');
  // The look that met the limit may have decided the third.
  const auto& why = checker_->why();
  EXPECT_TRUE(why.ends_with("nothing is known from transaction 3 on") ||
              why.ends_with("nothing is known from transaction 4 on"))
      << why;
}

// What nobody can know yet, a look after some further transactions no longer waits for.
TEST_F(Recorded, AnUnknownOutcomeIsForgottenInTheEnd) {
  start(Level::kStrictSerializable, {.forget_outcome_after = 10});
  const std::string lines =
      R"({"type":"invoke","process":9,"f":"txn","value":[["w","x",1000],["w","y",1000]],"time":0}
{"type":"info","process":9,"f":"txn","value":[["w","x",1000],["w","y",1000]],"time":1}
)";
  std::ofstream(file_, std::ios::app) << lines;
  ASSERT_TRUE(checker_->take(lines).ok());
  time_ = 10;
  for (int i = 1; i <= 30; ++i) {
    ASSERT_EQ(add(i % 3, fmt::format(R"(["r","x",{}],["w","x",{}])",
                                     i == 1 ? "null" : std::to_string(i - 1), i)),
              State::kSatisfied);
  }
  EXPECT_EQ(checker_->watch().window().held().outcome, 0u);
  EXPECT_NE(checker_->watch().window().held().doubt, "");
  // It took effect after all, and now: which is legal.
  EXPECT_EQ(add(0, R"(["r","y",1000],["r","x",1000])"), State::kSatisfied);
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(add(0, R"(["r","x",30])"), State::kViolated);
}

}  // namespace
}  // namespace cupel::online
