// What the report makes of an answer: answers are put together by hand, so that
// nothing here depends on what the engine finds first.
#include "report/render.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "data/history/builder.hpp"
#include "engine/analysis/analyze.hpp"
#include "engine/levels/product.hpp"
#include "report/promise.hpp"
#include "source_dir.hpp"
#include "support/history_language.hpp"

namespace cupel::report {
namespace {

using check::CheckResult;
using check::LevelResult;
using check::Verdict;
using history::OpId;
using history::TxnId;
using levels::Level;

LevelResult level(Level which, Verdict verdict, std::string decided_by, double seconds = 0) {
  LevelResult result;
  result.level = which;
  result.verdict = verdict;
  result.decided_by = std::move(decided_by);
  result.seconds = seconds;
  return result;
}

// Two transactions that lost an update, with the cycle of Adya's G2-item.
const history::History& lost_update() {
  static const auto history = [] {
    history::HistoryBuilder b;
    const auto x = b.key(history::ScalarView::of(std::string_view("x")));
    b.set_default_initial(b.value(0));
    b.set_metadata("format", "jepsen");
    b.set_metadata("database", "PostgreSQL");
    b.set_metadata("isolation", "repeatable-read");
    for (int i = 0; i < 2; ++i) {
      b.begin(b.session(i == 0 ? "a" : "b"), history::TxnStatus::kCommitted,
              {.label = static_cast<std::uint32_t>(7 + i)});
      b.read(x, b.value(0));
      b.write(x, b.value(i + 1));
      b.end();
    }
    b.begin(b.session("c"), history::TxnStatus::kAborted, {.label = 9});
    b.end();
    return std::move(b).finish().value();
  }();
  return history;
}

levels::Violation violation() {
  levels::Violation found;
  for (int i = 0; i < 2; ++i) {
    levels::Edge edge;
    edge.from = edge.reader = TxnId(static_cast<std::size_t>(i));
    edge.to = TxnId(static_cast<std::size_t>(1 - i));
    edge.kind = levels::EdgeKind::kReadWrite;
    edge.reason = levels::Reason::kInitial;
    edge.key = history::KeyId(0u);
    edge.from_op = OpId(static_cast<std::size_t>(2 * i));
    edge.to_op = OpId(static_cast<std::size_t>(2 * (1 - i) + 1));
    found.derivation.edges.push_back(edge);
  }
  found.derivation.cycle = {0, 1};
  return found;
}

CheckResult answer() {
  CheckResult result;
  result.levels.push_back(level(Level::kPrefix, Verdict::kSatisfied, "schedule", 0.25));
  result.levels.push_back(level(Level::kSnapshotIsolation, Verdict::kViolated, "saturation", 0.5));
  result.levels.back().violation = violation();
  result.levels.back().explained_at = Level::kSnapshotIsolation;
  result.levels.push_back(
      level(Level::kSerializable, Verdict::kViolated, "implied-by:snapshot-isolation"));
  result.levels.back().violation = violation();
  result.levels.back().explained_at = Level::kSnapshotIsolation;
  result.levels.push_back(level(Level::kStrongSessionSerializable, Verdict::kUnknown, ""));
  result.levels.back().detail = "time limit met in refine";
  result.levels.push_back(level(Level::kStrictSerializable, Verdict::kRefused, ""));
  result.levels.back().detail = "strict-serializable needs times";
  result.strongest_satisfied = {Level::kPrefix};
  result.weakest_violated = {Level::kSnapshotIsolation};
  return result;
}

const std::string kFile = "dir/my file.jsonl";

struct Answered {
  history::History history;
  analysis::Analysis analysis;
};
Answered analysis_of(std::string_view text, double shrink_seconds) {
  Answered answered{test::history_of(text), {}};
  base::Budget budget;
  answered.analysis =
      analysis::analyze(answered.history, {.shrink_seconds = shrink_seconds}, budget);
  return answered;
}

TEST(Lines, OneALevelButRefused) {
  const auto result = answer();
  EXPECT_EQ(lines({kFile, lost_update(), {result}}),
            "dir/my file.jsonl\tprefix\tsatisfied\n"
            "dir/my file.jsonl\tsnapshot-isolation\tviolated\n"
            "dir/my file.jsonl\tserializable\tviolated\n"
            "dir/my file.jsonl\tstrong-session-serializable\tunknown\n");
}

constexpr const char* kWhy =
    "  violated: snapshot-isolation (PostgreSQL's REPEATABLE READ)\n"
    "  lost-update (G-single): An update was lost. T7 and T8 both read x = 0 and both wrote x. "
    "They are\n"
    "    concurrent: neither is visible to the other. The later update overwrote the earlier one.\n"
    "    Interleaving:\n"
    "      1  session a  T7 began, read x = 0\n"
    "      2  session a  wrote x = 1\n"
    "      3  session b  T8 began, read x = 0\n"
    "      4  session a  T7 committed\n"
    "      5  session b  wrote x = 2, committed\n"
    "    Let:\n"
    "      T7 = read x = 0, write x = 1    session a, 1st transaction\n"
    "      T8 = read x = 0, write x = 2    session b, 1st transaction\n"
    "    Then:\n"
    "      T7 < T8, because T7 did not see T8's write of 2 to x: it read the initial 0.\n"
    "      T8 < T7, because T8 did not see T7's write of 1 to x: it read the initial 0.\n"
    "      So under snapshot-isolation T7 < T8 < T7: a contradiction!\n";

TEST(Explanation, IndentsEveryLine) {
  const auto result = answer();
  EXPECT_EQ(
      explanation({kFile, lost_update(), {result}}),
      std::string("  unknown: strong-session-serializable: time limit met in refine\n") + kWhy);
}

// Snapshot-isolation and linearizable do not imply each other, so both are weakest.
TEST(Explanation, ReportsAnAnomalyOnce) {
  auto result = answer();
  result.levels.push_back(level(Level::kLinearizable, Verdict::kViolated, "saturation"));
  result.levels.back().violation = violation();
  result.levels.back().explained_at = Level::kLinearizable;
  result.weakest_violated.push_back(Level::kLinearizable);
  std::string why = kWhy;
  why.insert(why.find('\n'), ", linearizable");
  EXPECT_EQ(explanation({kFile, lost_update(), {result}}),
            "  unknown: strong-session-serializable: time limit met in refine\n" + why);
}

// Explanations of the same text stand under one heading.
TEST(Explanation, JoinsLevelsWithTheSameText) {
  auto result = answer();
  result.levels[1].violation->derivation = {};
  result.levels[1].violation->internal = {{levels::InternalKind::kThinAirRead, TxnId(0u), OpId(0u),
                                           history::KeyId(0u), OpId::none(), TxnId::none()}};
  result.levels.push_back(level(Level::kLinearizable, Verdict::kViolated, "internal"));
  result.levels.back().violation = result.levels[1].violation;
  result.levels.back().explained_at = Level::kLinearizable;
  result.weakest_violated.push_back(Level::kLinearizable);
  const auto text = explanation({kFile, lost_update(), {result}});
  EXPECT_NE(
      text.find("  violated: snapshot-isolation (PostgreSQL's REPEATABLE READ), linearizable\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("thin-air-read"), text.rfind("thin-air-read")) << text;
}

TEST(Explanation, IsEmptyWhenAllIsWell) {
  CheckResult result;
  result.levels.push_back(level(Level::kPrefix, Verdict::kSatisfied, "schedule"));
  result.strongest_satisfied = {Level::kPrefix};
  EXPECT_EQ(explanation({kFile, lost_update(), {result}}), "");
}

constexpr const char* kHead =
    "dir/my file.jsonl: strongest satisfied: prefix; weakest violated: snapshot-isolation; "
    "unknown: strong-session-serializable\n"
    "  jepsen: 3 transactions (2 committed) of 3 sessions, 4 operations on 1 key, recorded from "
    "PostgreSQL at repeatable-read\n"
    "\n";

TEST(Ladder, ListsTheLevelsByVerdict) {
  const auto result = answer();
  EXPECT_EQ(ladder({kFile, lost_update(), {result}}),
            std::string(kHead) +
                "  satisfied  prefix\n"
                "  violated   snapshot-isolation, serializable\n"
                "  unknown    strong-session-serializable: time limit met in refine\n"
                "  refused    strict-serializable (--verbose says why)\n"
                "\n" +
                kWhy);
}

TEST(Ladder, VerboseSaysHowEachLevelWasDecided) {
  const auto result = answer();
  EXPECT_EQ(
      ladder({kFile, lost_update(), {result}}, {.verbose = true}),
      std::string(kHead) +
          "  prefix                                             satisfied  schedule, 0.250 s\n"
          "  snapshot-isolation (PostgreSQL's REPEATABLE READ)  violated   saturation, 0.500 "
          "s\n"
          "  serializable                                       violated   follows from "
          "snapshot-isolation\n"
          "  strong-session-serializable                        unknown    time limit met in "
          "refine\n"
          "  strict-serializable                                refused    needs times\n"
          "\n" +
          kWhy);
}

TEST(Ladder, ColoursOnlyWhenAsked) {
  const analysis::Analysis found{answer()};
  const Checked checked{kFile, lost_update(), found};
  for (const bool verbose : {false, true}) {
    EXPECT_EQ(ladder(checked, {.verbose = verbose}).find('\x1b'), std::string::npos);
    const auto text = ladder(checked, {.colour = true, .verbose = verbose});
    EXPECT_NE(text.find("\x1b[31mviolated \x1b[0m"), std::string::npos);
    EXPECT_NE(text.find("\x1b[2mrefused  \x1b[0m"), std::string::npos);
  }
}

TEST(Promise, DecidesWhetherACheckOfEveryLevelIsGood) {
  CheckResult result;
  for (const Level which : levels::all_levels()) {
    result.levels.push_back(level(which,
                                  levels::implies(Level::kSnapshotIsolation, which)
                                      ? Verdict::kSatisfied
                                      : Verdict::kViolated,
                                  "saturation"));
  }
  result.strongest_satisfied = {Level::kSnapshotIsolation};
  result.weakest_violated = {Level::kPrefix};
  const analysis::Analysis found{result};
  const Checked checked{kFile, lost_update(), found};
  EXPECT_EQ(decisive_levels(checked), std::vector{Level::kSnapshotIsolation});
  EXPECT_TRUE(keeps_promise(checked));
  EXPECT_EQ(promise_text(checked),
            "keeps the promise of PostgreSQL at repeatable-read: snapshot-isolation");
  EXPECT_EQ(not_promised_text(checked), "violates prefix, which it does not promise");
  EXPECT_NE(ladder(checked).find("  keeps the promise of PostgreSQL at "), std::string::npos);
}

// Who asks for more than the database promises has the answer to that question.
TEST(Promise, IsNotWhatDecidesIfAnotherLevelWasAskedFor) {
  const analysis::Analysis found{answer()};
  const std::vector violated{Level::kSerializable}, satisfied{Level::kPrefix},
      unknown{Level::kPrefix, Level::kStrongSessionSerializable};
  const Checked checked{kFile, lost_update(), found, violated};
  EXPECT_FALSE(keeps_promise(checked));
  EXPECT_EQ(verdict_of_levels(checked), Verdict::kViolated);
  EXPECT_EQ(promise_text(checked), "");
  const Checked kept{kFile, lost_update(), found, satisfied};
  EXPECT_TRUE(keeps_promise(kept));
  EXPECT_EQ(promise_text(kept), "");
  EXPECT_EQ(not_promised_text(kept), "violates snapshot-isolation, which does not decide this run");
  EXPECT_EQ(verdict_of_levels({kFile, lost_update(), found, unknown}), Verdict::kUnknown);
}

TEST(Ladder, MergesLevelsThatAreViolatedAlikeAndCountsTheRest) {
  const auto history = test::history_of("a: r(x,9) r(q,9) r(r,9) r(s,9) r(t,9) r(u,9) r(v,9)");
  CheckResult result;
  for (const Level which : {Level::kReadCommitted, Level::kSnapshotIsolation}) {
    result.levels.push_back(level(which, Verdict::kViolated, "internal"));
    levels::Violation found;
    for (std::uint32_t i = 0; i < 7; ++i) {
      found.internal.push_back({levels::InternalKind::kThinAirRead, TxnId(0), OpId(i),
                                history.op(OpId(i)).key, OpId::none(), TxnId::none()});
    }
    result.levels.back().violation = found;
    result.levels.back().explained_at = which;
    result.weakest_violated.push_back(which);
  }
  const auto text = explanation({kFile, history, {result}});
  EXPECT_NE(text.find("violated: read-committed, snapshot-isolation\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  Further violations (--verbose explains them)\n"
                      "    thin-air-read (TAP-a): T0 on key q; violates read-committed\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  ... and more: 1 thin-air-read\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("a contradiction!"), text.rfind("a contradiction!")) << text;
  const auto all = explanation({kFile, history, {result}}, {.verbose = true});
  EXPECT_EQ(all.find("Further violations"), std::string::npos) << all;
  EXPECT_NE(all.find("a contradiction!"), all.rfind("a contradiction!")) << all;
}

// A violation that an interleaving explains before its proof, whether it was made small or not.
TEST(Explanation, BeginsWithAnInterleaving) {
  for (const double seconds : {5.0, 0.0}) {
    auto answer = analysis_of(
        "init=0 a: w(x,1) w(z,1) | b: r(y,0) w(y,7) r(x,1) r(z,0) | c: w(q,1)", seconds);
    const auto text = explanation({kFile, answer.history, answer.analysis});
    const auto steps = text.find("\n    Interleaving:\n      1  session a  T");
    ASSERT_NE(steps, std::string::npos) << text;
    EXPECT_LT(steps, text.find("\n    Let:\n")) << text;
    EXPECT_LT(text.find("violated: "), steps);
    EXPECT_EQ(text.find("wrote q"), std::string::npos) << text;
    EXPECT_EQ(text.find("wrote y"), std::string::npos) << text;
    EXPECT_EQ(explanation({kFile, answer.history, answer.analysis}, {.interleaving = false})
                  .find("Interleaving"),
              std::string::npos);
  }
}

TEST(Json, HasTheFieldsOfTheManual) {
  const auto result = answer();
  const auto text = json({kFile, lost_update(), {result}});
  EXPECT_EQ(text.back(), '\n');
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const auto object = nlohmann::ordered_json::parse(text);
  std::vector<std::string> fields;
  for (const auto& [name, value] : object.items()) fields.push_back(name);
  EXPECT_EQ(fields, (std::vector<std::string>{
                        "file", "format", "database", "isolation", "transactions", "committed",
                        "sessions", "operations", "keys", "kind", "ignored", "levels", "refused",
                        "counts", "strongest_satisfied", "weakest_violated", "warnings"}));
  EXPECT_TRUE(object["counts"].is_null());
  EXPECT_EQ(object["file"], kFile);
  EXPECT_EQ(object["format"], "jepsen");
  EXPECT_EQ(object["transactions"], 3);
  EXPECT_EQ(object["committed"], 2);
  ASSERT_EQ(object["levels"].size(), 4u);
  EXPECT_EQ(object["refused"].dump(),
            R"([{"level":"strict-serializable","reason":"strict-serializable needs times"}])");
  EXPECT_EQ(object["strongest_satisfied"].dump(), R"(["prefix"])");
  EXPECT_EQ(object["weakest_violated"].dump(), R"(["snapshot-isolation"])");

  const auto& violated = object["levels"][1];
  EXPECT_EQ(violated["level"], "snapshot-isolation");
  EXPECT_EQ(violated["product"], "PostgreSQL's REPEATABLE READ");
  EXPECT_EQ(violated["verdict"], "violated");
  EXPECT_EQ(violated["decided_by"], "saturation");
  EXPECT_EQ(violated["seconds"], 0.5);
  ASSERT_EQ(violated["anomalies"].size(), 1u);
  const auto& anomaly = violated["anomalies"][0];
  EXPECT_EQ(anomaly["name"], "lost-update");
  EXPECT_EQ(anomaly["adya"], "G-single");
  EXPECT_EQ(anomaly["found_at"], "snapshot-isolation");
  EXPECT_EQ(anomaly["transactions"].dump(), "[7,8]");
  EXPECT_EQ(anomaly["keys"].dump(), R"(["x"])");
  EXPECT_EQ(
      anomaly["edges"][0].dump(),
      R"({"from":7,"to":8,"kind":"rw","reason":"initial","key":"x","from_operation":0,"to_operation":1,)"
      R"("sentence":"T7 did not see T8's write of 2 to x: it read the initial 0"})");
  EXPECT_EQ(object["levels"][2]["anomalies"], violated["anomalies"]);
  EXPECT_EQ(object["levels"][3]["detail"], "time limit met in refine");
  EXPECT_TRUE(object["levels"][0]["anomalies"].empty());
}

// The history violates snapshot isolation twice, and a read is not repeatable, which two levels
// found.
TEST(Json, ListsEveryAnomalyOfALevelOnce) {
  const auto file =
      std::string(CUPEL_SOURCE_DIR) + "/tests/report/golden/one-anomaly-at-two-levels.jsonl";
  const auto found = analysis::analyze_file(file, {}, {});
  ASSERT_TRUE(found.ok()) << found.error().message;
  const auto object = nlohmann::json::parse(json({file, found->history, found->analysis}));
  std::size_t listed = 0;
  for (const auto& level : object["levels"]) {
    std::set<std::string> seen;
    for (const auto& anomaly : level["anomalies"]) {
      const auto identity =
          nlohmann::json{anomaly["name"], anomaly["transactions"], anomaly["keys"]};
      EXPECT_TRUE(seen.insert(identity.dump()).second) << level["level"] << identity;
      ++listed;
    }
  }
  EXPECT_GT(listed, 10u);
}

TEST(Json, SurvivesTextThatIsNotUtf8) {
  history::HistoryBuilder b;
  b.begin(b.session("a"), history::TxnStatus::kCommitted);
  b.read(b.key(history::ScalarView::of(std::string_view("\xff"))), b.value(1));
  b.end();
  const auto history = std::move(b).finish().value();
  CheckResult result;
  result.levels.push_back(level(Level::kReadCommitted, Verdict::kViolated, "internal"));
  result.levels.back().violation.emplace();
  result.levels.back().violation->internal.push_back({levels::InternalKind::kThinAirRead, TxnId(0),
                                                      OpId(0u), history.op(OpId(0u)).key,
                                                      OpId::none(), TxnId::none()});
  const std::string file = "\xfe.jsonl";
  EXPECT_TRUE(nlohmann::json::accept(json({file, history, {result}})));
}

TEST(Product, KnowsWhatProductsPromise) {
  EXPECT_EQ(levels::promised("PostgreSQL 15", "REPEATABLE READ"), Level::kSnapshotIsolation);
  EXPECT_EQ(levels::promised("postgres", "repeatable_read"), Level::kSnapshotIsolation);
  EXPECT_EQ(levels::promised("Oracle", "serializable"), Level::kSnapshotIsolation);
  EXPECT_EQ(levels::promised("MySQL", "repeatable read"), std::nullopt);
  EXPECT_EQ(levels::promised("MariaDB Galera", "repeatable-read"), std::nullopt);
  EXPECT_EQ(levels::promised("MariaDB Galera", "serializable"), std::nullopt);
  EXPECT_EQ(levels::promised("MariaDB Galera", "read committed", "", true), Level::kReadCommitted);
  EXPECT_EQ(levels::promised("PostgreSQL", "serializable", "fsync=on", true), std::nullopt);
  EXPECT_EQ(levels::promised("etcd", "serializable", "members=3", true),
            Level::kStrictSerializable);
  EXPECT_EQ(levels::source_of_promise("PostgreSQL", "serializable"),
            "PostgreSQL's manual, chapter Transaction Isolation");
  EXPECT_EQ(levels::source_of_promise("Nobody", "serializable"), "");
  EXPECT_EQ(levels::promised("Nobody", "serializable"), std::nullopt);
  for (const char* level : {"read-committed", "read-atomic", "causal", "prefix",
                            "strong-session-snapshot-isolation", "strong-session-serializable"}) {
    EXPECT_EQ(levels::promised("cupel mock", level), levels::parse_level(level)) << level;
  }
}

TEST(Product, PromisesNothingOfWhatARecorderDidToIt) {
  using history::HistoryBuilder;
  auto history = std::move(HistoryBuilder()).finish().value();
  history = HistoryBuilder::with_metadata(std::move(history), "database", "Redis 7");
  history = HistoryBuilder::with_metadata(std::move(history), "isolation", "linearizable");
  EXPECT_EQ(levels::promised(history), Level::kLinearizable);
  history = HistoryBuilder::with_metadata(std::move(history), levels::kNoPromise, "disks lie");
  EXPECT_EQ(levels::promised(history), std::nullopt);
}

TEST(Counts, ALowerBoundIsAtLeastWhatIsListed) {
  analysis::Analysis found{answer()};
  found.whole_history.emplace();
  found.whole_history->counted = true;
  for (const bool exact : {true, false}) {
    auto& one = found.whole_history->counts.emplace_back();
    one.name = exact ? "lost-update" : "G-single";
    one.count = 1;
    one.exact = exact;
  }
  const Checked checked{kFile, lost_update(), found};
  EXPECT_EQ(counts(checked), "  Anomalies in the whole history: lost-update 1, G-single ≥ 1\n");
  EXPECT_EQ(counts(checked, {{"lost-update", 3}, {"G-single", 3}, {"G2-item", 1}}),
            "  Anomalies in the whole history: lost-update 1, G-single ≥ 3\n");
}

TEST(TestPower, WhatWasFoundUnderAnotherNameHadAPlace) {
  analysis::Analysis found{answer()};
  found.test_power.emplace();
  auto& anomalies = found.test_power->anomalies;
  anomalies.resize(2);
  anomalies[0].name = "long-fork";
  anomalies[0].tried = 5;
  anomalies[0].reason = "hidden";
  anomalies[1].name = "write-skew";
  anomalies[1].reason = "one session";
  const auto text = test_power_text({kFile, lost_update(), found});
  EXPECT_NE(text.find("    not found by name       long-fork: hidden\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("    no place found for      write-skew: one session\n"), std::string::npos)
      << text;
}

TEST(TestPower, HasALineForThoseWhoDoNotAskForAllOfIt) {
  analysis::Analysis found{answer()};
  const Checked checked{kFile, lost_update(), found};
  EXPECT_EQ(test_power_line(checked), "");
  auto& anomalies = found.test_power.emplace().anomalies;
  anomalies.resize(3);
  anomalies[0].name = "write-skew";
  for (auto& one : anomalies) one.detection = power::Detection::kDetected;
  EXPECT_EQ(test_power_line(checked), "  could have shown all 3 anomalies\n");
  anomalies[0].detection = power::Detection::kNotFound;
  EXPECT_EQ(test_power_line(checked),
            "  could have shown 2 of 3 anomalies, but not write-skew (--verbose says why)\n");
  for (const char* name : {"long-fork", "a", "b", "c"}) {
    anomalies.emplace_back().name = name;
    anomalies.back().detection = power::Detection::kImpossible;
  }
  EXPECT_EQ(test_power_line(checked),
            "  could have shown 2 of 7 anomalies, but not write-skew, long-fork, a and 2 more "
            "(--verbose says why)\n");
  EXPECT_NE(findings_text(checked, {}).find("\n\n  could have shown"), std::string::npos);
  for (const TextStyle style : {TextStyle{.verbose = true}, TextStyle{.test_power = true}})
    EXPECT_NE(findings_text(checked, style).find("\n\n  Test power:\n"), std::string::npos);
}

}  // namespace
}  // namespace cupel::report
