// Adapters: the protocol, and the network of a run, with a tiny adapter that has an opinion on what
// it receives (fake_adapter.py). Node.js and the libraries are tested in tests/adapters.
#include "crdt/workload/adapter.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/read_file.hpp"
#include "base/temp_dir.hpp"
#include "crdt/workload/adapter_run.hpp"
#include "source_dir.hpp"

namespace cupel::crdt {
namespace {

using Json = nlohmann::json;

constexpr const char* kAdapters = CUPEL_SOURCE_DIR "/adapters";
constexpr double kPatience = 60;

base::Result<Adapter> fake(const std::string& mode) {
  return Adapter::start(
      {.name = "fake",
       .process = {.arguments = {"python3", CUPEL_SOURCE_DIR "/tests/crdt/fake_adapter.py", mode},
                   .environment = {{"PYTHONPATH", kAdapters}}}},
      kPatience);
}

AdapterRunOptions options_for(const Adapter& adapter, std::uint64_t seed, std::uint32_t replicas) {
  AdapterRunOptions options;
  options.type = *type_of("grow-only-set");
  options.object = "set";
  options.values = 1000;
  options.keys = 2;
  options.replicas = replicas;
  options.hazards = adapter.library().survives;
  options.ops = 300;
  options.seed = seed;
  return options;
}

AdapterRecorded recorded_of(const std::string& mode, std::uint64_t seed, std::uint32_t replicas) {
  auto adapter = fake(mode);
  EXPECT_TRUE(adapter.ok());
  auto recorded = run(*adapter, options_for(*adapter, seed, replicas));
  EXPECT_TRUE(recorded.ok()) << (recorded.ok() ? "" : recorded.error().message);
  return recorded.ok() ? *recorded : AdapterRecorded{};
}

// What the lines say that each replica had applied: every read must show that and nothing else.
class ExactReads {
 public:
  // The line of the first read that differs, or nothing.
  std::string first_wrong(const std::string& lines) {
    std::istringstream stream(lines);
    for (std::string text; std::getline(stream, text);) {
      const Json line = Json::parse(text);
      const std::string method = line["f"];
      if (method == "delivery") continue;
      const std::string process =
          line["process"].is_string() ? line["process"].get<std::string>() : line["process"].dump();
      if (method == "send") {
        sent_[line["id"]] = seen_[process];
      } else if (method == "deliver") {
        for (const std::string id : line["value"]) receive(process, id);
      } else if (method == "add") {
        const auto id = process + ":" + std::to_string(updates_[process]++);
        adds_[id] = {line["key"], line["value"]};
        seen_[process].insert(id);
      } else if (!is_right(process, line)) {
        return text;
      }
    }
    return "";
  }

 private:
  void receive(const std::string& process, const std::string& id) {
    const auto state = sent_.find(id);
    if (state == sent_.end())
      seen_[process].insert(id);
    else
      seen_[process].insert(state->second.begin(), state->second.end());
  }

  bool is_right(const std::string& process, const Json& read) {
    std::set<std::string> expected;
    for (const auto& id : seen_[process]) {
      const auto& [key, value] = adds_.at(id);
      if (key == read["key"]) expected.insert(value);
    }
    if (read["f"] == "contains") return expected.contains(read["value"][0]) == read["value"][1];
    return expected == read["value"].get<std::set<std::string>>();
  }

  std::map<std::string, std::pair<std::string, std::string>> adds_;
  std::map<std::string, std::set<std::string>> seen_;
  std::map<std::string, std::uint64_t> updates_;
  std::map<std::string, std::set<std::string>> sent_;
};

TEST(Adapter, SaysWhatItsLibraryOffers) {
  const auto adapter = fake("strict");
  ASSERT_TRUE(adapter.ok());
  const Library& library = adapter->library();
  EXPECT_EQ(library.name, "fake 1.0");
  EXPECT_TRUE(library.survives.empty());
  EXPECT_FALSE(library.sends_states);
  const auto by_alias = choose_object(library, "", "g-set");
  ASSERT_TRUE(by_alias.ok());
  EXPECT_EQ(by_alias->object, "set");
  EXPECT_TRUE(choose_object(library, "set", "").ok());
  EXPECT_EQ(choose_object(library, "", "counter").error().message,
            "found the type `counter`, but fake 1.0 offers set (grow-only-set), other "
            "(no-such-type)");
  EXPECT_EQ(choose_object(library, "set", "counter").error().message,
            "found the type `counter` for the object `set`, whose type is grow-only-set; leave out "
            "the type, or name another object: fake 1.0 offers set (grow-only-set), other "
            "(no-such-type)");
  EXPECT_NE(choose_object(library, "text", "").error().message.find("found the object `text`"),
            std::string::npos);
  EXPECT_NE(
      choose_object(library, "other", "")
          .error()
          .message.find("does not decide the type no-such-type yet, which other of fake 1.0 is"),
      std::string::npos);
}

TEST(Adapter, ReadsShowExactlyWhatTheHistorySaysWasApplied) {
  for (const char* mode : {"holds", "asked", "quiet", "strict", "states"}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto recorded = recorded_of(mode, seed, 2 + static_cast<std::uint32_t>(seed));
      EXPECT_EQ(recorded.throws, 0U) << mode << seed << recorded.first_throw;
      EXPECT_EQ(recorded.stuck, 0U) << mode << seed << recorded.first_stuck;
      EXPECT_GT(recorded.messages, 50U);
      EXPECT_TRUE(recorded.has_everything) << mode << seed;
      EXPECT_EQ(ExactReads().first_wrong(recorded.lines), "") << mode << seed;
    }
  }
}

TEST(Adapter, TheNetworkHurtsAsFarAsTheLibrarySurvivesIt) {
  const auto all = recorded_of("holds", 9, 4);
  EXPECT_GT(all.again, 0U);
  EXPECT_GT(all.lost, 0U);
  EXPECT_GT(all.partitions, 0U);
  EXPECT_GT(all.restarts, 0U);
  EXPECT_GT(all.syncs, 0U);
  EXPECT_GT(all.crashes, 0U);
  EXPECT_GT(all.merges, 0U);
  EXPECT_GT(all.exchanges, 0U);
  EXPECT_GT(all.compactions, 0U);
  EXPECT_NE(all.lines.find(".1\""), std::string::npos);  // the process after a crash
  EXPECT_TRUE(all.joined_late);
  const auto none = recorded_of("strict", 5, 4);
  EXPECT_EQ(none.again + none.lost + none.restarts + none.syncs + none.crashes + none.merges +
                none.exchanges + none.compactions,
            0U);
  EXPECT_GT(none.partitions, 0U);
  // Each message came to each other replica.
  EXPECT_EQ(none.delivered, none.messages * 3);
}

// After a crash a replica sends before its own earlier messages come back to it, and others build
// on what it sends.
TEST(Adapter, TheOrderIsCausalBeyondCrashes) {
  std::uint64_t crashes = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto recorded = recorded_of("ordered", seed, 5);
    crashes += recorded.crashes;
    EXPECT_EQ(recorded.throws, 0U) << seed << recorded.first_throw;
    EXPECT_EQ(ExactReads().first_wrong(recorded.lines), "") << seed;
  }
  EXPECT_GT(crashes, 20U);
}

TEST(Adapter, WhatArrivesAgainIsInTheHistory) {
  const auto recorded = recorded_of("holds", 5, 4);
  std::istringstream stream(recorded.lines);
  std::set<std::pair<std::string, std::string>> once;
  int again = 0;
  for (std::string text; std::getline(stream, text);) {
    const Json line = Json::parse(text);
    if (line["f"] != "deliver") continue;
    for (const std::string id : line["value"])
      again += once.emplace(line["process"].dump(), id).second ? 0 : 1;
  }
  EXPECT_GT(again, 5);
}

TEST(Adapter, AMessageOfAReadIsAnError) {
  auto adapter = fake("chatty");
  ASSERT_TRUE(adapter.ok());
  const auto recorded = run(*adapter, options_for(*adapter, 1, 3));
  ASSERT_FALSE(recorded.ok());
  EXPECT_NE(recorded.error().message.find("expected no `send`, because a read makes no message"),
            std::string::npos)
      << recorded.error().message;
}

TEST(Adapter, TheSameSeedGivesTheSameRun) {
  const auto without_times = [](const std::string& lines) {
    std::istringstream stream(lines);
    std::string kept;
    for (std::string text; std::getline(stream, text);) {
      Json line = Json::parse(text);
      line.erase("time");
      kept += line.dump() + "\n";
    }
    return kept;
  };
  const auto one = without_times(recorded_of("holds", 7, 3).lines);
  EXPECT_EQ(one, without_times(recorded_of("holds", 7, 3).lines));
  EXPECT_NE(one, without_times(recorded_of("holds", 8, 3).lines));
}

TEST(Adapter, ALibraryThatThrowsIsReported) {
  const auto recorded = recorded_of("throws", 1, 3);
  EXPECT_GT(recorded.throws, 0U);
  EXPECT_NE(recorded.first_throw.find("ValueError('five')"), std::string::npos)
      << recorded.first_throw;
  ASSERT_EQ(recorded.threw.size(),
            std::min<std::uint64_t>(recorded.throws, AdapterRecorded::kMostNamed));
  EXPECT_GT(recorded.throws, AdapterRecorded::kMostNamed) << "the list ends before";
  for (const auto& one : recorded.threw) {
    EXPECT_TRUE(one.replica && *one.replica < 3) << one.operation;
    EXPECT_EQ(one.message, "ValueError('five')");
    EXPECT_FALSE(Json::parse(one.operation).contains("value")) << one.operation;
  }
}

// Nor does it end the run.
TEST(Adapter, ALibraryThatThrowsWhenItSavesIsReported) {
  const auto recorded = recorded_of("unsaved", 1, 3);
  EXPECT_GT(recorded.throws, 0U);
  EXPECT_NE(recorded.first_throw.find("nothing is"), std::string::npos) << recorded.first_throw;
}

TEST(Adapter, AMessageThatIsNeverAppliedIsReportedAndItsReadsAreWrong) {
  const auto recorded = recorded_of("stuck", 1, 3);
  EXPECT_GT(recorded.stuck, 0U);
  EXPECT_NE(recorded.first_stuck.find("0:"), std::string::npos) << recorded.first_stuck;
  EXPECT_EQ(recorded.not_applied.size(),
            std::min<std::uint64_t>(recorded.stuck, AdapterRecorded::kMostNamed));
  EXPECT_EQ(recorded.not_applied[0].message, "0:2");
  EXPECT_NE(ExactReads().first_wrong(recorded.lines), "");
}

TEST(Adapter, WhatCannotBeStartedIsAnErrorThatSaysWhatToDo) {
  const auto folder = base::TempDir::make("cupel-adapter-");
  ASSERT_TRUE(folder.ok());
  const AdapterPlaces places{.adapters = kAdapters, .cache = folder->file("cache")};
  const auto unknown = adapter_command("no-such-library", places, nullptr);
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("automerge"), std::string::npos);
  EXPECT_EQ(unknown.error().message.find("harness"), std::string::npos);
  const auto without =
      adapter_command("yjs", {.adapters = folder->path().string(), .cache = ""}, nullptr);
  ASSERT_FALSE(without.ok());
  EXPECT_NE(without.error().message.find("CUPEL_ADAPTERS"), std::string::npos);
  EXPECT_FALSE(adapter_command("./missing.mjs", places, nullptr).ok());
  const auto own = adapter_command(CUPEL_SOURCE_DIR "/tests/crdt/fake_adapter.py", places, nullptr);
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->process.arguments[0], "python3");
}

TEST(Adapter, EachNamesTheVersionThatIsInstalled) {
  const std::string folder = kAdapters;
  const Json packages = Json::parse(*base::read_file(folder + "/package.json"));
  std::set<std::string> versions;
  for (const auto& version : packages["dependencies"]) versions.insert(version);
  const auto names = adapter_names({.adapters = folder, .cache = ""});
  EXPECT_GE(names.size(), 10U);
  for (const auto& name : names) {
    const auto text = *base::read_file(folder + "/" + name + ".mjs");
    const std::string declaration = "export const library = \"";
    const auto begin = text.find(declaration);
    ASSERT_NE(begin, std::string::npos) << name;
    const auto end = text.find('"', begin + declaration.size());
    const auto blank = text.rfind(' ', end);
    EXPECT_TRUE(versions.contains(text.substr(blank + 1, end - blank - 1))) << name;
  }
}

TEST(Adapter, AnAnswerThatIsNoneIsAnError) {
  const auto folder = base::TempDir::make("cupel-adapter-");
  ASSERT_TRUE(folder.ok());
  const auto start = [](const std::string& answer) {
    return Adapter::start(
        {.name = "mine",
         .process = {.arguments = {"sh", "-c", "read line; echo '" + answer + "'; read line"}}},
        kPatience);
  };
  EXPECT_NE(start("hello").error().message.find("the adapter mine answered"), std::string::npos);
  EXPECT_NE(start(R"({"type":"ok"})").error().message.find("expected the fields `library`"),
            std::string::npos);
  EXPECT_FALSE(
      start(R"({"type":"ok","library":"a","objects":[["o","counter"]],"survives":["fire"]})").ok());
  auto silent =
      start(R"({"type":"ok","library":"a","objects":[["o","grow-only-set"]],"survives":[]})");
  ASSERT_TRUE(silent.ok());
  const auto died = run(*silent, options_for(*silent, 1, 2));
  ASSERT_FALSE(died.ok());
  EXPECT_NE(died.error().message.find("did not answer `{\"f\":\"begin\""), std::string::npos)
      << died.error().message;
}

}  // namespace
}  // namespace cupel::crdt
