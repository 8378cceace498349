// The public API: the worked example at the top of its header is compiled and
// run here, and both the code and its output are compared with the header.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "api/header_example.hpp"
#include "cupel/check.hpp"
#include "support/scratch_folder.hpp"

namespace {

// The example, word for word.
std::string example() {
  cupel::HistoryBuilder builder;
  builder.transaction("alice").label(1).write("x", 1);
  builder.transaction("bob").label(2).read("x", 1).write("x", 2);
  builder.transaction("carol").label(3).read("x", 1).write("x", 3);
  std::string error;
  const std::optional<cupel::History> history = builder.build(error);
  if (!history) return error;
  const cupel::Answer answer =
      cupel::check_history(*history, {.levels = {cupel::Level::kSnapshotIsolation}});
  const cupel::LevelAnswer& level = answer.levels.front();
  if (level.verdict != cupel::Verdict::kViolated) return "not violated";
  return level.anomalies.front().name + ": " + level.anomalies.front().explanation;
}

TEST(PublicHeader, OpensWithTheExampleOfThisTestAndItsOutput) {
  cupel::test::expect_example("include/cupel/check.hpp", "tests/api/api_test.cpp", example());
}

TEST(PublicApi, AnswersEveryLevelWithoutOptions) {
  cupel::HistoryBuilder builder;
  builder.transaction("a").read("x", 0).write("y", 1).times(0, 10);
  builder.transaction("b").read("y", 0).write("x", 1).times(0, 10);
  std::string error;
  const auto history = builder.initial(0).build(error);
  ASSERT_TRUE(history) << error;
  EXPECT_EQ(history->transaction_count(), 2u);
  EXPECT_EQ(history->session_count(), 2u);
  EXPECT_EQ(history->operation_count(), 4u);
  const auto answer = cupel::check_history(*history);
  EXPECT_EQ(answer.levels.size(), 12u);
  EXPECT_EQ(answer.weakest_violated, std::vector<cupel::Level>{cupel::Level::kSerializable});
  EXPECT_EQ(answer.strongest_satisfied,
            std::vector<cupel::Level>{cupel::Level::kStrongSnapshotIsolation});
  for (const auto& level : answer.levels) {
    if (level.level != cupel::Level::kSerializable) continue;
    ASSERT_EQ(level.anomalies.size(), 1u);
    EXPECT_EQ(level.anomalies[0].name, "write-skew");
    EXPECT_EQ(level.anomalies[0].transactions.size(), 2u);
  }
  EXPECT_EQ(answer.levels.back().verdict, cupel::Verdict::kRefused);
  EXPECT_NE(answer.levels.back().detail, "");
}

TEST(PublicApi, RefusesWhatIsNoHistory) {
  std::string error;
  cupel::HistoryBuilder both;
  both.transaction("a").write("x", 1).append("x", 2);
  EXPECT_FALSE(both.build(error));
  EXPECT_NE(error.find("both as a list"), std::string::npos) << error;

  cupel::HistoryBuilder outside;
  outside.read("x", 1);
  EXPECT_FALSE(outside.build(error));
  EXPECT_NE(error.find("before the first transaction"), std::string::npos) << error;

  EXPECT_FALSE(cupel::read_history("/nowhere/history.jsonl", error));
  EXPECT_NE(error.find("/nowhere/history.jsonl"), std::string::npos) << error;
  EXPECT_FALSE(cupel::read_history("/nowhere/history.jsonl", error, "xml"));
  EXPECT_NE(error.find("xml"), std::string::npos) << error;
}

TEST(PublicApi, ReadsAsTheUserSaysAndSaysHow) {
  const cupel::test::ScratchFolder folder;
  const auto file = folder.file("h.jsonl",
                                R"({"type":"ok","process":0,"f":"cas","value":["x",[null,1]]}
{"type":"ok","process":0,"f":"nap","value":3}
)");
  std::string error;
  EXPECT_FALSE(cupel::read_history(file, error));
  EXPECT_NE(error.find("f=nap"), std::string::npos) << error;
  const auto history =
      cupel::read_history(file, error, {.kind = "registers", .ignore = {"doze", ":nap"}});
  ASSERT_TRUE(history) << error;
  EXPECT_EQ(history->kind(), "registers with compare-and-set, 1 key");
  EXPECT_EQ(history->ignored(), (std::map<std::string, std::uint64_t>{{"nap", 1}}));
  EXPECT_FALSE(cupel::read_history(file, error, {.kind = "mutex", .ignore = {"nap"}}));
  EXPECT_NE(error.find("mutex"), std::string::npos) << error;
  EXPECT_FALSE(cupel::read_history(file, error, {.kind = "locks"}));
  EXPECT_EQ(error, "found the kind `locks`, expected transactions, registers, mutex or strings");
  EXPECT_EQ(cupel::History().kind(), "transactions");
  // What was satisfied because nothing committed is the caller's to see.
  cupel::HistoryBuilder nothing;
  nothing.transaction("a").write("x", 1).aborted();
  const auto aborted = nothing.build(error);
  ASSERT_TRUE(aborted) << error;
  const auto answer = cupel::check_history(*aborted, {.levels = {cupel::Level::kSerializable}});
  EXPECT_EQ(answer.levels[0].verdict, cupel::Verdict::kSatisfied);
  EXPECT_TRUE(answer.nothing_committed);
  EXPECT_FALSE(cupel::check_history(*history).nothing_committed);
  EXPECT_FALSE(cupel::check_history(cupel::History()).nothing_committed);
}

// Beside the levels, as the exit code of `cupel check` says it.
TEST(Api, SaysWhetherARecordedRunKeptItsWrites) {
  const cupel::test::ScratchFolder folder;
  const auto answer_of = [&](const std::string& facts, const std::vector<cupel::Level>& levels) {
    std::string error;
    const auto history = cupel::read_history(
        folder.file("h.jsonl",
                    R"({"type":"info","process":"nemesis","f":"cupel.metadata","value":[)" + facts +
                        R"(]}
{"type":"invoke","process":0,"f":"txn","value":[["append","x",1]],"time":1}
{"type":"ok","process":0,"f":"txn","value":[["append","x",1]],"time":2}
{"type":"invoke","process":9,"f":"txn","value":[["r","x",[]]],"time":3}
{"type":"ok","process":9,"f":"txn","value":[["r","x",[]]],"time":4}
)"),
        error);
    EXPECT_TRUE(history) << error;
    return cupel::check_history(*history, {.levels = levels});
  };
  const std::string readers = R"(["final readers","9 the database"])",
                    gone = R"(["data gone","kv is gone"])",
                    failed = R"(["final reads failed","no answer"])";
  const std::vector<cupel::Level> causal = {cupel::Level::kCausal};
  EXPECT_EQ(answer_of(R"(["database","x"])", {}).durable, cupel::Verdict::kSatisfied);
  EXPECT_EQ(answer_of(readers, causal).durable, cupel::Verdict::kSatisfied);
  for (const auto& lost : {answer_of(readers, {}), answer_of(readers + ',' + gone, causal)}) {
    EXPECT_EQ(lost.durable, cupel::Verdict::kViolated);
    EXPECT_EQ(lost.durable_detail, "acknowledged writes are lost");
  }
  for (const auto& [fact, why] :
       {std::pair(gone, "kv is gone; no acknowledged write is known to be lost"),
        std::pair(failed, "no answer")}) {
    const auto unknown = answer_of(fact, causal);
    EXPECT_EQ(unknown.levels[0].verdict, cupel::Verdict::kSatisfied);
    EXPECT_EQ(unknown.durable, cupel::Verdict::kUnknown);
    EXPECT_EQ(unknown.durable_detail, why);
  }
}

TEST(PublicApi, WritesWhatItReads) {
  cupel::HistoryBuilder builder;
  builder.transaction("0").append("x", 1).times(0, 5);
  builder.transaction("1").read_list("x", {1}).times(6, 7);
  builder.transaction("1").append("x", 2).aborted().times(8, 9);
  std::string error;
  const auto history = builder.build(error);
  ASSERT_TRUE(history) << error;
  const cupel::test::ScratchFolder folder;
  const auto path = folder.path("history.cupel");
  ASSERT_TRUE(cupel::write_history(*history, path, "cupel", error)) << error;
  const auto again = cupel::read_history(path, error);
  ASSERT_TRUE(again) << error;
  EXPECT_EQ(again->operation_count(), 3u);
  EXPECT_EQ(cupel::check_history(*again, {.levels = {cupel::Level::kStrictSerializable}})
                .levels[0]
                .verdict,
            cupel::Verdict::kSatisfied);
  EXPECT_FALSE(cupel::write_history(*history, path, "awdit", error));
}

TEST(PublicApi, CountsAndReportsFurtherCauses) {
  cupel::HistoryBuilder builder;
  for (const char* key : {"x", "y"}) {
    for (int i = 0; i < 2; ++i) {
      const auto session = std::string(key) + std::to_string(i);
      builder.transaction(session).read(key, {}).write(key, i);
    }
  }
  std::string error;
  const auto history = builder.build(error);
  ASSERT_TRUE(history) << error;
  cupel::Options counting;
  counting.history_analysis = true;
  const auto answer = cupel::check_history(*history, counting);
  ASSERT_EQ(answer.counts.size(), 1u);
  EXPECT_EQ(answer.counts[0].name, "lost-update");
  EXPECT_EQ(answer.counts[0].count, 2u);
  EXPECT_TRUE(answer.counts[0].exact);
  ASSERT_EQ(answer.further.size(), 1u);
  EXPECT_EQ(answer.further[0].name, "lost-update");
  EXPECT_TRUE(cupel::check_history(*history).counts.empty());
  cupel::Options deprecated;
  deprecated.survey = true;
  EXPECT_EQ(cupel::check_history(*history, deprecated).counts.size(), 1u);
}

// A lost update; only the file has the node, which explanations show.
std::string recorded(const std::string& node) {
  std::string text;
  for (const char* client : {"1", "2"}) {
    text += std::string(R"({"type":"ok","process":)") + client +
            R"(,"f":"txn","value":[["r","x",null],["w","x",)" + client + R"(]],"node":")" + node +
            "\"}\n";
  }
  return text;
}

TEST(PublicApi, DoesNotExplainByAFileThatHasChanged) {
  const cupel::test::ScratchFolder folder;
  const auto path = folder.file("h.jsonl", recorded("n3"));
  std::string error;
  const auto history = cupel::read_history(path, error);
  ASSERT_TRUE(history) << error;
  const cupel::Options options = {.levels = {cupel::Level::kSnapshotIsolation}};
  const auto explained = [](const cupel::Answer& answer) {
    return answer.levels.at(0).anomalies.at(0).explanation;
  };

  const auto before = cupel::check_history(*history, options);
  EXPECT_EQ(before.file_error, "");
  EXPECT_NE(explained(before).find("n3"), std::string::npos) << explained(before);

  folder.file("h.jsonl", recorded("n4"));
  const auto after = cupel::check_history(*history, options);
  EXPECT_NE(after.file_error.find(path), std::string::npos) << after.file_error;
  EXPECT_NE(after.file_error.find("changed"), std::string::npos) << after.file_error;
  EXPECT_EQ(after.levels.at(0).verdict, cupel::Verdict::kViolated);
  EXPECT_EQ(explained(after).find("n3"), std::string::npos) << explained(after);
  EXPECT_EQ(explained(after).find("n4"), std::string::npos) << explained(after);
}

TEST(PublicApi, KnowsItsWords) {
  EXPECT_EQ(cupel::name(cupel::Level::kLinearizable), "linearizable");
  EXPECT_EQ(cupel::parse_level("PL-SI"), cupel::Level::kSnapshotIsolation);
  EXPECT_FALSE(cupel::parse_level("best"));
  EXPECT_NE(cupel::describe("lost update").find("snapshot-isolation"), std::string::npos);
  EXPECT_EQ(cupel::describe("nothing"), "");
}

}  // namespace
