// The injector: faults come and go when they should, and nothing that goes wrong holds up the end.
#include "run/faults/injector.hpp"

#include <gtest/gtest.h>

#include "faults/fake_cluster.hpp"
#include "run/faults/plan.hpp"
#include "support/polling.hpp"

namespace cupel::faults {
namespace {

using Clock = std::chrono::steady_clock;

class InjectorTest : public testing::Test {
 protected:
  std::unique_ptr<Injector> injector(const Options& options) {
    std::vector<std::string> warnings;
    auto schedule = Schedule::make(options, cluster_, warnings);
    EXPECT_TRUE(schedule.ok()) << schedule.error().message;
    Hooks hooks{.commits = [this] { return commits_.load(); },
                .note =
                    [this](bool begins, const std::string& what) {
                      cluster_.note((begins ? "begins " : "ends ") + what);
                    },
                .changed = [this](const std::vector<Done>& done) { written_ = plan_text(done); }};
    return std::make_unique<Injector>(cluster_, *std::move(schedule), std::move(hooks), stop_,
                                      limits_);
  }
  std::unique_ptr<Injector> of_plan(std::string_view text) {
    auto plan = parse_plan(text);
    EXPECT_TRUE(plan.ok()) << plan.error().message;
    return injector({.plan = *std::move(plan)});
  }
  // Until the notes have so many of these.
  void wait_for(const std::string& note, int times = 1) {
    ASSERT_TRUE(test::poll_until([&] { return count(note) >= times; }))
        << note << " is not in " << text();
  }
  int count(const std::string& note) {
    const auto notes = cluster_.notes();
    return static_cast<int>(std::count(notes.begin(), notes.end(), note));
  }
  std::string text() { return fmt::format("{}", fmt::join(cluster_.notes(), ", ")); }

  FakeCluster cluster_{3};
  std::atomic<bool> stop_ = false;
  std::atomic<std::uint64_t> commits_ = 0;
  Limits limits_{.retry_after = 0.01, .after_interrupt = 0.1};
  std::string written_;
};

TEST_F(InjectorTest, CausesAndHealsByTheSchedule) {
  const auto faults =
      injector({.list = "kill,pause", .every = 0.02, .lasts = 0.02, .targets = Targets::kMajority});
  faults->start();
  wait_for("ends kill: 0 1");
  faults->heal_all();
  EXPECT_EQ(faults->count(), faults->done().size());
  EXPECT_EQ(faults->failed(), 0U);
  EXPECT_TRUE(faults->warnings().empty()) << faults->warnings().front();
  for (const auto& done : faults->done()) {
    EXPECT_EQ(count("begins " + done.what), count("ends " + done.what));
    EXPECT_EQ(done.fault.nodes.size(), 2U);
    EXPECT_GE(done.ended, done.began);
    EXPECT_GE(done.fault.at, 0.02);
  }
  EXPECT_EQ(written_, plan_text(faults->done()));
  for (std::size_t node = 0; node < 3; ++node) EXPECT_TRUE(cluster_.running(node));
}

TEST_F(InjectorTest, FaultsOfAPlanOverlap) {
  const auto faults = of_plan(R"([
    {"fault": "partition-one", "targets": [0], "at": 0, "for": 60},
    {"fault": "loss", "targets": [0], "loss": 0.5, "when": "10 commits", "for": "20ms"},
    {"fault": "restart-crash", "targets": [1], "when": "20 commits"}])");
  faults->start();
  wait_for("begins partition one: 0 | 1 2");
  EXPECT_EQ(cluster_.links().size(), 4U);
  commits_ = 10;
  wait_for("begins loss 50 %: 0");
  wait_for("ends loss 50 %: 0");
  EXPECT_EQ(cluster_.links().size(), 4U) << "the partition stays";
  commits_ = 20;
  wait_for("ends restart crash: 1");
  EXPECT_EQ(count("ends partition one: 0 | 1 2"), 0);
  faults->heal_all();
  EXPECT_TRUE(cluster_.links().empty());
  ASSERT_EQ(faults->done().size(), 3U);
  EXPECT_LT(faults->done()[0].fault.lasts, 60) << "as long as it was";
  // The loss adds links to those that are cut.
  EXPECT_EQ(count("links 6"), 1) << text();
}

TEST_F(InjectorTest, TheOldPrimaryComesBackAfterAFailover) {
  const auto faults = of_plan(R"([
    {"fault": "failover", "at": 0, "for": "20ms"},
    {"fault": "failover", "targets": [0], "when": "10 commits", "for": 60}])");
  faults->start();
  wait_for("begins failover: 0");
  wait_for("ends failover: 0");
  EXPECT_TRUE(cluster_.running(0));
  commits_ = 10;
  wait_for("begins failover: 1");  // whoever it is now
  EXPECT_FALSE(cluster_.running(1));
  faults->heal_all();
  EXPECT_TRUE(cluster_.running(1));
  EXPECT_TRUE(faults->warnings().empty());
}

TEST_F(InjectorTest, FaultsOfOneClockAddUp) {
  const auto faults = of_plan(R"([
    {"fault": "clock-offset", "targets": [0], "offset": -60, "at": 0, "for": 60},
    {"fault": "clock-drift", "targets": [0], "rate": 2, "when": "10 commits", "for": "20ms"}])");
  faults->start();
  wait_for("begins clock offset -60 s: 0");
  EXPECT_EQ(count("clock 0: -60 s x 1, 0 s of 0"), 1) << text();
  commits_ = 10;
  wait_for("ends clock drift 2: 0");
  EXPECT_EQ(count("clock 0: -60 s x 2, 0 s of 0"), 1) << text();
  EXPECT_EQ(count("clock 0: -60 s x 1, 0 s of 0"), 2) << text();
  faults->heal_all();
  EXPECT_EQ(count("clock 0: +0 s x 1, 0 s of 0"), 1) << text();
}

TEST_F(InjectorTest, AServerThatEndsWithItsDiskIsStartedWithIt) {
  const auto faults = of_plan(R"([
    {"fault": "disk-full", "targets": [1], "at": 0, "for": 60},
    {"fault": "disk-errors", "targets": [1], "errors": 0.5, "at": 0, "for": "20ms"}])");
  faults->start();
  wait_for("ends disk errors 50 %: 1");
  EXPECT_EQ(count("disk 1: full, 0.5"), 1) << text();
  EXPECT_EQ(count("disk 1: full, 0"), 2) << text();
  cluster_.die(1);
  faults->heal_all();
  EXPECT_EQ(count("disk 1: not full, 0"), 1) << text();
  EXPECT_EQ(count("start 1"), 1) << text();
  EXPECT_TRUE(faults->warnings().empty()) << faults->warnings().front();
}

TEST_F(InjectorTest, WhatIsLostOrCorruptedBelongsToNodesThatDoNotRun) {
  const auto faults = of_plan(R"([
    {"fault": "unsynced", "targets": [0, 2], "at": 0, "for": 0},
    {"fault": "corrupt", "targets": [1], "bits": 3, "when": "10 commits", "for": 0}])");
  faults->start();
  wait_for("ends unsynced: 0 2");
  commits_ = 10;
  wait_for("ends corrupt 3: 1");
  faults->heal_all();
  const std::vector<std::string> expected{
      "kill 0 2",           "lose 0", "lose 2",       "begins unsynced: 0 2", "start 0 2",
      "ends unsynced: 0 2", "kill 1", "corrupt 1: 3", "begins corrupt 3: 1",  "start 1",
      "ends corrupt 3: 1"};
  EXPECT_EQ(cluster_.notes(), expected);
}

TEST_F(InjectorTest, AFaultThatFailsIsUndoneAndIsNone) {
  cluster_.failing_links_ = true;
  const auto faults = of_plan(R"([{"fault": "partition-one", "at": 0, "for": 60}])");
  faults->start();
  wait_for("links 4");
  wait_for("links 0");
  faults->heal_all();
  EXPECT_EQ(faults->count(), 0U);
  EXPECT_EQ(faults->failed(), 1U);
  EXPECT_EQ(cluster_.notes().size(), 2U) << "the history has no such fault: " << text();
  ASSERT_EQ(faults->warnings().size(), 1U);
  EXPECT_NE(faults->warnings()[0].find("could not be caused: no link can be cut"),
            std::string::npos);
  EXPECT_NE(written_.find("\"failed\":\"no link"), std::string::npos) << written_;
}

TEST_F(InjectorTest, AFaultThatThrowsIsUndoneToo) {
  cluster_.throwing_ = true;
  const auto faults = of_plan(R"([{"fault": "partition-one", "at": 0, "for": 60}])");
  faults->start();
  wait_for("links 0");
  faults->heal_all();
  EXPECT_EQ(faults->failed(), 1U);
  ASSERT_EQ(faults->warnings().size(), 1U);
  EXPECT_NE(faults->warnings()[0].find("could not be caused: no thread is left"),
            std::string::npos);
}

TEST_F(InjectorTest, AHealingThatFailsIsTriedAgain) {
  cluster_.failing_starts_ = 2;
  const auto faults = of_plan(R"([{"fault": "kill", "targets": [0], "at": 0, "for": 0}])");
  faults->start();
  wait_for("ends kill: 0");
  faults->heal_all();
  EXPECT_EQ(count("start 0"), 3);
  EXPECT_TRUE(faults->warnings().empty());
}

TEST_F(InjectorTest, AHealingThatKeepsFailingIsReportedAndTriedOnceMoreAtTheEnd) {
  cluster_.failing_starts_ = limits_.tries;
  const auto faults = of_plan(R"([{"fault": "kill", "targets": [0], "at": 0, "for": 0}])");
  faults->start();
  wait_for("start 0", limits_.tries);
  faults->heal_all();
  EXPECT_EQ(count("start 0"), limits_.tries + 1);
  EXPECT_EQ(count("ends kill: 0"), 1);
  ASSERT_EQ(faults->warnings().size(), 1U);
  EXPECT_NE(faults->warnings()[0].find("`kill: 0` could not be healed in 3 tries: node 0 did not"),
            std::string::npos)
      << faults->warnings()[0];

  cluster_.failing_starts_ = 100;
  const auto never = of_plan(R"([{"fault": "kill", "targets": [1], "at": 0, "for": 0}])");
  never->start();
  wait_for("kill 1");
  never->heal_all();
  EXPECT_EQ(never->done().at(0).ended, -1);
  EXPECT_EQ(count("ends kill: 1"), 0) << "no end was seen";
  EXPECT_FALSE(never->warnings().empty());
}

// While one fault's healing takes its time, the others come and go.
TEST_F(InjectorTest, ANodeThatIsWaitedForHoldsUpNothing) {
  cluster_.hanging_ = true;
  const auto faults = of_plan(R"([
    {"fault": "kill", "targets": [0], "at": 0, "for": 0},
    {"fault": "pause", "targets": [1], "at": "50ms", "for": "50ms"}])");
  faults->start();
  wait_for("ends pause: 1");
  EXPECT_EQ(count("ends kill: 0"), 0);
  cluster_.hanging_ = false;
  wait_for("ends kill: 0");
  faults->heal_all();
  EXPECT_TRUE(faults->warnings().empty());
}

TEST_F(InjectorTest, AnInterruptDoesNotWaitForAHealingThatHangs) {
  cluster_.hanging_ = true;
  const auto faults = of_plan(R"([{"fault": "kill", "targets": [0], "at": 0, "for": 0}])");
  faults->start();
  wait_for("start 0");
  stop_ = true;
  const auto before = Clock::now();
  faults->heal_all();
  EXPECT_LT(Clock::now() - before, std::chrono::seconds(5));
  ASSERT_EQ(faults->warnings().size(), 1U);
  EXPECT_NE(faults->warnings()[0].find("not healed when the run was interrupted"),
            std::string::npos);
}

// The time is up, and nobody is in a hurry: the end waits for the healing.
TEST_F(InjectorTest, TheEndWaitsForTheHealing) {
  cluster_.hanging_ = true;
  const auto faults = of_plan(R"([{"fault": "kill", "targets": [0], "at": 0, "for": 60}])");
  faults->start();
  wait_for("begins kill: 0");
  faults->end();
  wait_for("start 0");
  cluster_.hanging_ = false;
  faults->heal_all();
  EXPECT_EQ(count("ends kill: 0"), 1);
  EXPECT_TRUE(faults->warnings().empty());
}

TEST_F(InjectorTest, ANodeThatEndedByItselfIsReportedAndStarted) {
  const auto faults = of_plan(R"([{"fault": "pause", "targets": [0], "at": 60}])");
  faults->start();
  cluster_.die(2);
  faults->heal_all();
  EXPECT_TRUE(faults->done().empty());
  EXPECT_TRUE(faults->node_died());
  EXPECT_TRUE(cluster_.running(2));
  ASSERT_EQ(faults->warnings().size(), 2U);
  EXPECT_EQ(faults->warnings()[0], "1 of the plan's faults never came: the load ended before");
  EXPECT_NE(faults->warnings()[1].find("node 2 ended by itself; the end of its log:\nthe log of"),
            std::string::npos);
}

// A server that met an error of its disk may take a second to end.
TEST_F(InjectorTest, SaysWhatTheLoadWasTooShortFor) {
  const auto faults = injector({.list = "kill,pause", .every = 0, .lasts = 60});
  faults->start();
  ASSERT_TRUE(test::poll_until([&] { return text().find("begins") != std::string::npos; }));
  const bool killed = text().find("kill") != std::string::npos;
  faults->heal_all();
  ASSERT_EQ(faults->warnings().size(), 1U);
  EXPECT_EQ(faults->warnings()[0],
            fmt::format("the load ended before {} came", killed ? "pause" : "kill"));
}

TEST_F(InjectorTest, WhatBeginsOnlyAfterTheLoadIsNoFault) {
  const auto faults = of_plan(R"([{"fault": "kill", "targets": [0], "at": 0, "for": 60}])");
  cluster_.while_killing_ = [&] { faults->end(); };
  faults->start();
  wait_for("kill 0");
  faults->heal_all();
  EXPECT_EQ(faults->count(), 0U);
  EXPECT_EQ(count("begins kill: 0"), 0) << text();
  EXPECT_TRUE(cluster_.running(0));
  ASSERT_EQ(faults->warnings().size(), 1U);
  EXPECT_EQ(faults->warnings()[0],
            "the fault `kill: 0` could not be caused: the load ended before it began");
}

TEST_F(InjectorTest, ANodeThatEndsWhileItIsWaitedForIsStarted) {
  const auto faults = of_plan(R"([{"fault": "pause", "targets": [0], "at": 0, "for": 0}])");
  faults->start();
  wait_for("resume 0");
  cluster_.failing_starts_ = 1;
  faults->heal_all();
  EXPECT_TRUE(faults->node_died());
  ASSERT_EQ(faults->warnings().size(), 1U);
  EXPECT_EQ(faults->warnings()[0],
            "after the faults, a node ended by itself: node 0 did not start");
}

TEST_F(InjectorTest, APlanThatWasWrittenRepeatsTheFaults) {
  const auto first = injector({.list = "partition,kill+delay", .every = 0.02, .lasts = 0.02});
  first->start();
  wait_for("links 0", 2);
  first->heal_all();
  ASSERT_GE(first->done().size(), 2U);
  const auto again = of_plan(written_);
  again->start();
  for (const auto& done : first->done()) {
    EXPECT_TRUE(test::poll_until([&] { return count("begins " + done.what) >= 2; })) << done.what;
  }
  again->heal_all();
  ASSERT_EQ(again->done().size(), first->done().size());
  for (std::size_t i = 0; i < first->done().size(); ++i) {
    EXPECT_EQ(again->done()[i].what, first->done()[i].what);
    EXPECT_GE(again->done()[i].fault.at, first->done()[i].fault.at);
  }
}

TEST_F(InjectorTest, APlanForAnotherClusterIsAnError) {
  std::vector<std::string> warnings;
  for (const auto* text : {R"([{"fault": "kill", "targets": [3], "at": 0}])",
                           R"([{"fault": "reset", "links": [[0, 7]], "at": 0}])"}) {
    const auto schedule = Schedule::make({.plan = *parse_plan(text)}, cluster_, warnings);
    ASSERT_FALSE(schedule.ok());
    EXPECT_NE(schedule.error().message.find("expected 0 to 2"), std::string::npos);
  }
}

}  // namespace
}  // namespace cupel::faults
