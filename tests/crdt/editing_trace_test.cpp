// Editing traces: the form, the text that edits make, and their replay on replicas.
#include "crdt/workload/editing_trace.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "base/utf8.hpp"
#include "crdt/analysis/analyze.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/model/unique_character.hpp"
#include "crdt/workload/adapter_run.hpp"
#include "source_dir.hpp"

namespace cupel::crdt {
namespace {

TEST(EditingTrace, OfSeveralObjectsEditsTheOnlyText) {
  const auto traced = [](std::vector<Type> types) {
    const auto found = traced_object(types);
    return std::pair(found.candidates, found.candidates == 1 ? found.object : 0);
  };
  using Traced = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(traced({Type::kCounter, Type::kText}), Traced(1, 1));
  EXPECT_EQ(traced({Type::kMarkedText, Type::kCounter, Type::kText}), Traced(1, 2));
  EXPECT_EQ(traced({Type::kCounter, Type::kMarkedText}), Traced(1, 1));
  EXPECT_EQ(traced({Type::kText, Type::kMarkedText, Type::kText}), Traced(2, 0));
  EXPECT_EQ(traced({Type::kMarkedText, Type::kMarkedText}), Traced(2, 0));
  EXPECT_EQ(traced({Type::kCounter}), Traced(0, 0));
}

TEST(EditingTrace, TheTextIsThatOfAPlainString) {
  base::Random random(3);
  TracedText text;
  std::vector<std::uint64_t> plain;
  for (int edit = 0; edit < 3000; ++edit) {
    const auto position = random.below(plain.size() + 1);
    const auto deleted = random.below(std::min<std::uint64_t>(6, plain.size() - position + 1));
    const auto inserted = random.below(edit % 100 == 0 ? 3000 : 8);
    std::uint64_t units = 0;
    for (std::uint64_t i = 0; i < position; ++i) units += plain[i] >= kNarrowCharacters ? 2 : 1;
    const auto at = plain.begin() + static_cast<std::ptrdiff_t>(position);
    const std::vector<std::uint64_t> gone(at, at + static_cast<std::ptrdiff_t>(deleted));
    TracedText::Place place;
    const auto first = text.count();
    ASSERT_TRUE(text.edit(position, deleted, inserted, place));
    EXPECT_EQ(place.at, gone);
    EXPECT_EQ(place.units, units);
    EXPECT_EQ(place.before, position == 0 ? TracedText::kBeginning : plain[position - 1]);
    auto rest = plain.erase(at, at + static_cast<std::ptrdiff_t>(deleted));
    for (std::uint64_t i = 0; i < inserted; ++i) rest = plain.insert(rest, first + i) + 1;
    if (edit % 500 == 0) {
      ASSERT_EQ(text.characters(), plain);
    }
  }
  EXPECT_EQ(text.characters(), plain);
  EXPECT_GT(text.count(), kNarrowCharacters);
  TracedText::Place place;
  EXPECT_FALSE(text.edit(plain.size() + 1, 0, 1, place));
}

TEST(EditingTrace, WideCharactersBeginWhereTheHeaderSays) {
  EXPECT_EQ(base::utf8_length(unique_character(kNarrowCharacters - 1)), 3U);
  EXPECT_EQ(base::utf8_length(unique_character(kNarrowCharacters)), 4U);
}

TEST(EditingTrace, WhatIsNoneIsAnErrorThatNamesTheTransaction) {
  const auto error = [](const std::string& json) {
    const auto edits = read_edits(json, "t.json");
    return edits.ok() ? "" : edits.error().message;
  };
  EXPECT_EQ(error(R"({"startContent":"","endContent":"a","txns":[{"patches":[[0,0,"a"]]}]})"), "");
  EXPECT_NE(error("[1").find("found no JSON"), std::string::npos);
  EXPECT_NE(error("{}").find("found no editing trace"), std::string::npos);
  EXPECT_NE(error(R"({"endContent":"","txns":[{"patches":[[0,0,"a"]]},{"patches":[[0,-1,""]]}]})")
                .find("transaction 1: found the patch [0,-1,\"\"]"),
            std::string::npos);
  EXPECT_NE(error(R"({"kind":"concurrent","numAgents":1,"endContent":"",
                      "txns":[{"parents":[0],"agent":0,"patches":[]}]})")
                .find("transaction 0: found the parent 0"),
            std::string::npos);
  EXPECT_NE(error(R"({"kind":"concurrent","numAgents":1,"startContent":"a","endContent":"a",
                      "txns":[]})")
                .find("found a `startContent` in a concurrent trace"),
            std::string::npos);
}

base::Result<Adapter> fake_text(const std::string& mode) {
  return Adapter::start(
      {.name = "fake",
       .process = {.arguments = {"python3", CUPEL_SOURCE_DIR "/tests/crdt/fake_text.py", mode},
                   .environment = {{"PYTHONPATH", CUPEL_SOURCE_DIR "/adapters"}}}},
      60);
}

base::Result<AdapterRecorded> replayed(const std::string& json, std::uint32_t replicas,
                                       const std::string& mode = "text", std::uint64_t seed = 1) {
  auto adapter = fake_text(mode);
  EXPECT_TRUE(adapter.ok());
  const auto edits = read_edits(json, "t.json");
  EXPECT_TRUE(edits.ok()) << (edits.ok() ? "" : edits.error().message);
  AdapterRunOptions options;
  options.type = {Type::kText};
  options.object = "text";
  options.seed = seed;
  options.replicas = edits->concurrent ? edits->agents + 1 : replicas;
  options.hazards = adapter->library().survives;
  options.edits = &*edits;
  return run(*adapter, options);
}

Verdict verdict_of_replay(const AdapterRecorded& recorded) {
  const auto history = read(recorded.lines, "h", {Type::kText});
  EXPECT_TRUE(history.ok()) << (history.ok() ? "" : history.error().to_string());
  const auto visibility = Visibility::of(*history);
  EXPECT_TRUE(visibility.ok());
  base::Budget budget;
  return analyze(*history, {.visibility = &*visibility}, budget).decision.verdict;
}

constexpr const char* kAlone = R"({"startContent":"xy","endContent":"aby!","txns":[
  {"patches":[[0,1,"a"],[1,0,"bc"]]},{"patches":[[2,1,""],[3,0,"!"]]}]})";

TEST(EditingTrace, OfOneAgentIsReplayedAndReceived) {
  const auto recorded = replayed(kAlone, 3);
  ASSERT_TRUE(recorded.ok()) << recorded.error().message;
  EXPECT_EQ(recorded->ends_as_traced, true);
  EXPECT_EQ(verdict_of_replay(*recorded), Verdict::kSatisfied);
  const auto wrong = replayed(kAlone, 3, "forgets");
  ASSERT_TRUE(wrong.ok()) << wrong.error().message;
  EXPECT_EQ(verdict_of_replay(*wrong), Verdict::kViolated);
}

// The positions of its edits are those of a replica that has all of them.
TEST(EditingTrace, OfOneAgentIsReplayedWhileOthersCrash) {
  std::string patches, end;
  for (int i = 0; i < 600; ++i) {
    patches += std::string(i == 0 ? "" : ",") + "[" + std::to_string(i) + ",0,\"a\"]";
    end += "a";
  }
  std::uint64_t crashes = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto recorded =
        replayed(R"({"endContent":")" + end + R"(","txns":[{"patches":[)" + patches + "]}]}", 2,
                 "text", seed);
    ASSERT_TRUE(recorded.ok()) << recorded.error().message;
    crashes += recorded->crashes;
    EXPECT_EQ(verdict_of_replay(*recorded), Verdict::kSatisfied);
  }
  EXPECT_GT(crashes, 0U);
}

TEST(EditingTrace, OfSeveralAgentsIsReplayedAsEachSawIt) {
  const auto recorded = replayed(R"({"kind":"concurrent","numAgents":2,"endContent":"abcd","txns":[
    {"parents":[],"agent":0,"patches":[[0,0,"ad"]]},
    {"parents":[0],"agent":1,"patches":[[1,0,"b"]]},
    {"parents":[0],"agent":0,"patches":[[1,0,"xc"],[1,1,""]]},
    {"parents":[1,2],"agent":1,"patches":[[4,0,"!"],[4,1,""]]}]})",
                                 3);
  ASSERT_TRUE(recorded.ok()) << recorded.error().message;
  EXPECT_EQ(verdict_of_replay(*recorded), Verdict::kSatisfied);
}

// A library that shows a character twice also deletes it twice; it is accused, not refused.
TEST(EditingTrace, ACharacterThatIsShownTwiceIsDeletedOnce) {
  std::uint64_t deleted = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    auto adapter = fake_text("doubles");
    ASSERT_TRUE(adapter.ok());
    AdapterRunOptions options;
    options.type = {Type::kText};
    options.object = "text";
    options.seed = seed;
    options.read_share = 0.2;
    options.hazards = {Hazard::kDuplicates};
    const auto recorded = run(*adapter, options);
    ASSERT_TRUE(recorded.ok()) << recorded.error().message;
    EXPECT_EQ(verdict_of_replay(*recorded), Verdict::kViolated);
    for (auto at = recorded->lines.find(R"("f":"delete")"); at != std::string::npos;
         at = recorded->lines.find(R"("f":"delete")", at + 1))
      ++deleted;
  }
  EXPECT_GT(deleted, 100U);
}

TEST(EditingTrace, ThatDoesNotFitItsTextIsAnError) {
  const auto message = [](const std::string& json) {
    const auto recorded = replayed(json, 2);
    return recorded.ok() ? "" : recorded.error().message;
  };
  EXPECT_NE(message(R"({"endContent":"b","txns":[{"patches":[[0,0,"a"]]}]})")
                .find("another text than `endContent`"),
            std::string::npos);
  EXPECT_NE(
      message(R"({"endContent":"a","txns":[{"patches":[[1,0,"a"]]}]})").find("beyond its end"),
      std::string::npos);
  EXPECT_NE(message(R"({"startContent":"0123456789","endContent":"01234","txns":[
    {"patches":[[5,18446744073709551613,""]]}]})")
                .find("beyond its end"),
            std::string::npos);
  EXPECT_NE(message(R"({"kind":"concurrent","numAgents":1,"endContent":"","txns":[
    {"parents":[],"agent":0,"patches":[[0,0,"a"]]},
    {"parents":[],"agent":0,"patches":[[0,0,"b"]]}]})")
                .find("has not seen transaction 0 of the same agent"),
            std::string::npos);
  for (const char* patch : {"[3,0,\"b\"]", "[1,2,\"\"]"}) {
    const auto beyond =
        message(std::string(R"({"kind":"concurrent","numAgents":1,"endContent":"","txns":[
    {"parents":[],"agent":0,"patches":[[0,0,"aa"]]},
    {"parents":[0],"agent":0,"patches":[[0,0,""],)") +
                patch + "]}]}");
    EXPECT_NE(beyond.find("transaction 1: edit 1"), std::string::npos) << beyond;
  }
}

}  // namespace
}  // namespace cupel::crdt
