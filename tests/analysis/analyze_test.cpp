// analyze: which steps a history takes, in which order, and what the one result holds then.
#include "engine/analysis/analyze.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/analysis/explanations.hpp"
#include "support/history_language.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::analysis {
namespace {

using check::Verdict;
using levels::Level;

// A lost update of x, and another one of y by other clients.
constexpr const char* kTwoLostUpdates =
    "init=0 a: r(x,0) w(x,1) | b: r(x,0) w(x,2) | c: r(y,0) w(y,1) | d: r(y,0) w(y,2)";
constexpr const char* kSerial = "init=0 a: r(x,0) w(x,1) | b: r(x,1) w(x,2)";

Options asked(Level level, TestPower test_power = TestPower::kIfPassed) {
  Options options;
  options.check.asked = {level};
  options.test_power = test_power;
  return options;
}

const check::LevelResult& of(const Analysis& found, Level level) {
  for (const auto& one : found.check.levels) {
    if (one.level == level) return one;
  }
  throw std::out_of_range("level");
}

TEST(Analyze, AViolationIsShrunkCountedAndExplained) {
  const auto history = test::history_of(kTwoLostUpdates);
  const auto found = analyze(history, {});
  EXPECT_TRUE(found.whole);
  EXPECT_EQ(found.check.weakest_violated, std::vector{Level::kSnapshotIsolation});

  ASSERT_FALSE(found.counterexamples.empty());
  EXPECT_TRUE(found.counterexamples[0].minimal);
  EXPECT_EQ(found.counterexamples[0].history.txn_count(), 2u);

  ASSERT_TRUE(found.whole_history);
  ASSERT_FALSE(found.whole_history->counts.empty());
  EXPECT_EQ(found.whole_history->counts[0].name, "lost-update");
  EXPECT_EQ(found.whole_history->counts[0].count, 2u);
  // The check came upon one of the two causes.
  const auto& causes = found.whole_history->causes.found;
  EXPECT_EQ(causes.size(), 2u);
  EXPECT_EQ(std::count_if(causes.begin(), causes.end(), [](const auto& c) { return c.from_check; }),
            1);
  EXPECT_FALSE(found.test_power) << "a test that found something needs no proof of its power";

  const auto explained =
      explanations_of(history, found, of(found, Level::kSnapshotIsolation)).shown;
  ASSERT_EQ(explained.size(), 1u);
  EXPECT_EQ(explained[0].small, &found.counterexamples[0]);
  EXPECT_EQ(explained[0].anomaly.name, "lost-update");
  EXPECT_EQ(explained[0].history, &found.counterexamples[0].history);
}

TEST(Analyze, AShrunkRangeReadSaysHowManyRowsItFound) {
  // b missed the key d of a, whose rows it found otherwise; e's key c is beside the point.
  const auto history =
      test::history_of("a: w(a,1) w(b,1) w(d,1) | e: w(c,1) | b: range(a,d,[a=1 b=1 c=1])");
  const auto found = analyze(history, {});
  ASSERT_FALSE(found.counterexamples.empty());
  const auto& small = found.counterexamples[0];
  bool fewer = false;
  for (std::size_t i = 0; i < small.history.op_count(); ++i) {
    const auto op = small.history.op(history::OpId(i));
    fewer = fewer ||
            (op.kind == history::OpKind::kRangeRead && small.history.range(op).entries.size() < 3);
  }
  EXPECT_TRUE(fewer);
  EXPECT_NE(small.anomaly.explanation.find("read range a to d (3 found)"), std::string::npos)
      << small.anomaly.explanation;
}

// The only missed write is among the reasons of the shortest cycle.
TEST(Analyze, NoCountInASentenceIsZero) {
  const auto found = analyze(test::history_of("a: w(x,1) @0-1 | b: cas(x,nil,2) @5-6"),
                             asked(Level::kGeneralizedSnapshotIsolation));
  ASSERT_EQ(found.counterexamples.size(), 1u);
  const auto& text = found.counterexamples[0].anomaly.explanation;
  EXPECT_NE(text.find("They form a cycle."), std::string::npos) << text;
  EXPECT_EQ(text.find("0 of them"), std::string::npos) << text;
}

// Times are any number of 64 bits: those that the drift widens stay in them.
TEST(Analyze, TimesSaturateUnderAClockDrift) {
  auto options = asked(Level::kLinearizable);
  options.check.clock_drift_ns = 1;
  const auto one = test::history_of("a: w(x,1) @5-9223372036854775807");
  EXPECT_EQ(of(analyze(one, options), Level::kLinearizable).verdict, Verdict::kSatisfied);
  const auto stale = test::history_of(
      "a: w(x,1) @-9223372036854775807--9223372036854775800 | "
      "b: r(x,nil) @9223372036854775700-9223372036854775806");
  for (const Level level :
       {Level::kLinearizable, Level::kStrictSerializable, Level::kStrongSnapshotIsolation}) {
    options.check.asked = {level};
    EXPECT_EQ(of(analyze(stale, options), level).verdict, Verdict::kViolated)
        << levels::name(level);
  }
}

TEST(Analyze, AClockDriftNeedsTimes) {
  const test::ScratchFolder folder;
  const auto options = [] {
    Options options;
    options.check.clock_drift_ns = 1'000'000;
    return options;
  }();
  const auto invoked =
      folder.file("lines.jsonl",
                  "{\"type\":\"invoke\",\"process\":0,\"f\":\"txn\",\"value\":[[\"w\",\"x\",1]]}\n"
                  "{\"type\":\"ok\",\"process\":0,\"f\":\"txn\",\"value\":[[\"w\",\"x\",1]]}\n");
  const auto without = folder.file(
      "plain.jsonl", "{\"type\":\"ok\",\"process\":0,\"f\":\"txn\",\"value\":[[\"w\",\"x\",1]]}\n");
  for (const auto& file : {invoked, without}) {
    const auto found = analyze_file(file, {}, options);
    ASSERT_FALSE(found.ok()) << file;
    EXPECT_NE(found.error().message.find("needs times"), std::string::npos)
        << found.error().message;
    EXPECT_TRUE(analyze_file(file, {}, {}).ok()) << file;
  }
}

TEST(Analyze, TakesItsStepsInOrder) {
  const auto stages = [](const char* text, const Options& options) {
    base::Budget budget;
    analyze(test::history_of(text), options, budget);
    std::string names;
    for (const auto& stage : budget.stopwatch().stages()) {
      if (stage.name == "explain" || stage.name == "history-analysis" || stage.name == "test-power")
        names += std::string(stage.name) + " ";
    }
    return names;
  };
  EXPECT_EQ(stages(kTwoLostUpdates, {}), "explain history-analysis ");
  EXPECT_EQ(stages(kTwoLostUpdates, {.whole_history = false}), "explain ");
  EXPECT_EQ(stages(kTwoLostUpdates, {.test_power = TestPower::kAlways}),
            "explain history-analysis test-power ");
}

TEST(Analyze, LeavesOutWhatIsNotWanted) {
  const auto history = test::history_of(kTwoLostUpdates);
  const auto found = analyze(history, {.shrink_seconds = 0, .whole_history = false});
  EXPECT_TRUE(found.counterexamples.empty());
  EXPECT_FALSE(found.whole_history);
  // It is explained all the same, in the terms of the whole history.
  const auto explained =
      explanations_of(history, found, of(found, Level::kSnapshotIsolation)).shown;
  ASSERT_EQ(explained.size(), 1u);
  EXPECT_EQ(explained[0].small, nullptr);
  EXPECT_EQ(explained[0].history, &history);
  EXPECT_EQ(explained[0].anomaly.name, "lost-update");
}

TEST(Analyze, MeasuresTestPowerWhereEveryLevelPassed) {
  const auto power = [](const char* text, const Options& options) {
    return analyze(test::history_of(text), options).test_power.has_value();
  };
  EXPECT_TRUE(power(kSerial, {}));
  EXPECT_FALSE(power(kSerial, asked(Level::kSerializable)));
  EXPECT_FALSE(power(kSerial, {.test_power = TestPower::kNever}));
  EXPECT_TRUE(power(kSerial, asked(Level::kSerializable, TestPower::kAlways)));
  EXPECT_FALSE(power(kTwoLostUpdates, {}));
  EXPECT_TRUE(power(kTwoLostUpdates, {.test_power = TestPower::kAlways}));
}

TEST(Analyze, SatisfiedHasNothingToExplain) {
  const auto found = analyze(test::history_of(kSerial), {});
  EXPECT_TRUE(found.check.weakest_violated.empty());
  EXPECT_TRUE(found.counterexamples.empty());
  EXPECT_FALSE(found.whole_history && !found.whole_history->causes.found.empty());
}

TEST(Analyze, ALimitMakesLevelsUnknownWithAReason) {
  base::Budget over(std::chrono::duration<double>(-1.0), 0);
  const auto found = analyze(test::history_of(kTwoLostUpdates), {}, over);
  EXPECT_TRUE(found.check.weakest_violated.empty());
  std::size_t unknown = 0;
  for (const auto& level : found.check.levels) {
    if (level.verdict != Verdict::kUnknown) continue;
    ++unknown;
    EXPECT_NE(level.detail.find("time"), std::string::npos) << level.detail;
  }
  EXPECT_GT(unknown, 5u);
  EXPECT_TRUE(found.counterexamples.empty());
  EXPECT_FALSE(found.test_power) << "nothing passed";
}

TEST(Analyze, OfAHistoryThatWasNotReadNothingIsSaid) {
  const auto found = unread(asked(Level::kCausal), "the time limit was reached");
  EXPECT_FALSE(found.whole);
  ASSERT_EQ(found.check.levels.size(), 1u);
  EXPECT_EQ(found.check.levels[0].verdict, Verdict::kUnknown);
  EXPECT_EQ(found.check.levels[0].detail, "the time limit was reached");
}

// The fields are asked for once, for the transactions that explanations list and no others.
TEST(Analyze, LooksUpFieldsOfExplainedTransactionsOnly) {
  const auto history = test::history_of(std::string(kTwoLostUpdates) + " | e: w(z,1)");
  std::vector<std::set<std::uint32_t>> requests;
  Options options;
  options.whole_history = false;
  options.fields = [&](const std::set<std::uint32_t>& labels, base::Budget&) {
    requests.push_back(labels);
    explain::FieldsByLabel fields;
    for (const auto label : labels) fields[label] = {{"node", "\"n7\""}};
    return base::Result<explain::FieldsByLabel>(std::move(fields));
  };
  const auto found = analyze(history, options);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_FALSE(requests[0].contains(history.label(history::TxnId(4)))) << "e is in no violation";
  EXPECT_FALSE(found.fields_error);
  ASSERT_FALSE(found.counterexamples.empty());
  EXPECT_NE(found.counterexamples[0].anomaly.explanation.find("n7"), std::string::npos)
      << found.counterexamples[0].anomaly.explanation;

  requests.clear();
  analyze(test::history_of(kSerial), options);
  EXPECT_TRUE(requests.empty()) << "nothing is explained";
}

// Four operation maps of a lost update, with the node of each client.
std::string recorded(const std::string& node) {
  std::string text;
  for (const int client : {0, 1}) {
    const auto process = std::to_string(client), label = std::to_string(client);
    text += R"({"index":)" + label + R"(,"type":"ok","process":)" + process +
            R"(,"f":"txn","value":[["r","x",null],["w","x",)" + std::to_string(client + 1) +
            R"(]],"node":")" + node + "\"}\n";
  }
  return text;
}

TEST(AnalyzeFile, ShowsTheFieldsOfItsFile) {
  const test::ScratchFolder folder;
  const auto found = analyze_file(folder.file("h.jsonl", recorded("n3")), {}, {});
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  EXPECT_EQ(found->history.txn_count(), 2u);
  EXPECT_EQ(found->analysis.check.weakest_violated, std::vector{Level::kSnapshotIsolation});
  EXPECT_EQ(found->analysis.fields.size(), 2u);
  EXPECT_FALSE(found->analysis.fields_error);
  ASSERT_FALSE(found->analysis.stages.empty());
  EXPECT_EQ(found->analysis.stages[0].name, "read");
}

TEST(FieldsOfFile, AFileThatChangedGivesAnErrorAndNoFields) {
  const test::ScratchFolder folder;
  const auto path = folder.file("h.jsonl", recorded("n3"));
  Source source(path);
  const auto history = formats::read(path, {});
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  base::Budget budget;
  const auto fields = fields_of_file(source, *history);
  const auto before = fields({0, 1}, budget);
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(before->size(), 2u);

  folder.file("h.jsonl", recorded("n4"));  // as many bytes
  const auto after = fields({0, 1}, budget);
  ASSERT_FALSE(after.ok());
  EXPECT_EQ(after.error().file, path);
  EXPECT_NE(after.error().message.find("changed"), std::string::npos) << after.error().message;
}

}  // namespace
}  // namespace cupel::analysis
