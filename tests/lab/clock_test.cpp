// The clock that a preloaded library shows to a process.
#include "databases/lab/clock/clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>

#include "base/process.hpp"
#include "support/polling.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::lab {
namespace {

constexpr base::Seconds kLater{20};
constexpr double kBusy = 5;  // seconds that a busy machine may take between two looks

double machine() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// A process that says what time it is whenever it is asked.
class Clocks : public testing::Test {
 protected:
  void SetUp() override {
    auto made = NodeClock::make(scratch_.path() + "/clock");
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    clock_ = std::make_unique<NodeClock>(*std::move(made));
    auto process =
        base::Process::start({.arguments = {"/bin/bash", "-c", "while read; do date +%s.%N; done"},
                              .environment = clock_->environment(),
                              .input = base::Stream::pipe(),
                              .output = base::Stream::pipe()});
    ASSERT_TRUE(process.ok()) << process.error().to_string();
    process_ = std::make_unique<base::Process>(*std::move(process));
  }

  double shown() {
    EXPECT_TRUE(process_->write_line("", kLater).ok());
    return std::atof(process_->read_line(kLater).text.c_str());
  }

  const test::ScratchFolder scratch_;
  std::unique_ptr<NodeClock> clock_;
  std::unique_ptr<base::Process> process_;
};

TEST_F(Clocks, IsTheMachinesAtFirst) {
  EXPECT_NEAR(shown(), machine(), kBusy);
  EXPECT_TRUE(clock_->shown_to(process_->id()));
  EXPECT_FALSE(clock_->shown_to(getpid()));
}

TEST_F(Clocks, IsAheadOrBehindAndRightAgain) {
  for (const double offset : {3600.0, -86400.5, 0.0}) {
    clock_->set({.offset = offset});
    EXPECT_NEAR(shown() - machine(), offset, kBusy);
  }
}

TEST_F(Clocks, DriftsFromWhereItIsUntilItIsRight) {
  clock_->set({.offset = 1000, .rate = 1000});
  const auto begin = machine();
  EXPECT_NEAR(shown() - begin, 1000, kBusy * 1000);
  ASSERT_TRUE(test::poll_until([&] { return machine() > begin + 0.05; }));
  const auto first = shown();
  EXPECT_GE(first - begin, 1000 + 0.05 * 999);
  // Another fault begins: what it drifted so far stays.
  clock_->set({.offset = 2000, .rate = 0.001});
  const auto second = shown();
  EXPECT_GE(second, first + 1000);
  EXPECT_LE(shown() - second, kBusy);
  clock_->set({});
  EXPECT_NEAR(shown(), machine(), kBusy);
}

TEST_F(Clocks, JumpsForthAndBack) {
  clock_->set({.jump = 1000, .period = 0.02});
  bool ahead = false, back = false;
  for (int i = 0; i < 2000 && !(ahead && back); ++i) {
    const auto difference = shown() - machine();
    (difference > 500 ? ahead : back) = true;
    EXPECT_TRUE(std::abs(difference) < kBusy || std::abs(difference - 1000) < kBusy) << difference;
  }
  EXPECT_TRUE(ahead && back);
}

}  // namespace
}  // namespace cupel::lab
