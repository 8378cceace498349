// Campaigns on SQLite and on clients of the exec driver that lie: what the file may
// say, which runs come of it and in which order, what ends them, what is kept, and
// that a campaign goes on where a crash left it.
#include "run/campaign.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "data/formats/formats.hpp"
#include "engine/check/check.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::run {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Says well done to everything and answers each read with nothing.
constexpr const char* kLiar = R"({"name": "Liar", "url": "exec:sed -u 's/^{/{\"type\":\"ok\",/'",
                                  "level": "strict-serializable"})";
constexpr const char* kSmall = R"("sessions": 2, "txns": 10, "keys": 3)";

class CampaignTest : public testing::Test {
 protected:
  base::Result<Campaign> read(const std::string& text) {
    std::ofstream(folder_ + "/campaign.json") << text;
    return read_campaign(folder_ + "/campaign.json");
  }
  Campaign campaign(const std::string& text) {
    auto campaign = read(text);
    if (!campaign.ok()) throw std::runtime_error(campaign.error().to_string());
    return std::move(campaign).value();
  }
  CampaignSummary go(const std::string& text) { return go(campaign(text)); }
  CampaignSummary go(const Campaign& campaign) {
    started_.clear();
    const CampaignListener listener{
        .before = [&](const CampaignRun& run, std::size_t,
                      std::size_t) { started_.push_back(run.identity); },
        .after =
            [&](const CampaignResult&) {
              if (stop_after_ > 0 && started_.size() == stop_after_) stop_ = true;
            }};
    auto summary = run_campaign(campaign, out(), stop_, listener);
    if (!summary.ok()) throw std::runtime_error(summary.error().to_string());
    return std::move(summary).value();
  }
  [[nodiscard]] std::string out() const { return folder_ + "/out"; }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in(out() + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  [[nodiscard]] std::vector<std::string> histories() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(out())) {
      const auto name = entry.path().filename().string();
      if (name != "results.jsonl" && name != "summary.md" && name != "summary.json" &&
          name != "plan.json" && name != "runs" && !name.ends_with(".html")) {
        names.push_back(name);
      }
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  const test::ScratchFolder scratch_;
  const std::string folder_ = scratch_.path();
  std::vector<std::string> started_;
  std::atomic<bool> stop_ = false;
  std::size_t stop_after_ = 0;  // 0: never
};

TEST_F(CampaignTest, MistakesAreNamedWithTheirPlaces) {
  struct Case {
    const char* text;
    std::vector<const char*> words;
  };
  const Case cases[] = {
      {"[1, 2", {"campaign.json", "JSON"}},
      {"[]", {"JSON object"}},
      {"{}", {"no databases"}},
      {R"({"databases": []})", {"databases", "a list"}},
      {R"({"databases": [{}], "sedes": 3})",
       {"sedes", "found an unknown field, expected one of those in docs/reference/campaign.md"}},
      {R"({"databases": [{"urk": "sqlite:x"}]})",
       {"databases[0].urk", "unknown field, expected name, url, isolations, level or read_from"}},
      {R"({"databases": [{}, 7]})", {"databases[1]", "found 7"}},
      {R"({"databases": [{}, {}]})", {"databases[1].name", "of its own"}},
      {R"({"databases": [{"url": 3}]})", {"databases[0].url", "a text"}},
      {R"({"databases": [{"url": "oracle://h/d"}]})", {"databases[0]", "oracle", "postgres://"}},
      {R"({"databases": [{"isolations": ["chaos"]}]})", {"databases[0]", "chaos", "serializable"}},
      {R"({"databases": [{"isolations": ["serializable", "Serializable"]}]})",
       {"databases[0].isolations[1]", "once"}},
      {"{\n \"databases\" [{}]\n}", {"campaign.json:2: found no JSON here, expected a campaign"}},
      {"databases: redis", {"campaign.json:1: found no JSON here, expected a campaign"}},
      {R"({"databases": [{"isolations": []}]})", {"databases[0].isolations"}},
      {R"({"databases": [{"level": "best"}]})", {"databases[0].level", "cupel levels"}},
      {R"({"databases": [{}], "workloads": ["genral"]})", {"workloads[0]", "genral", "general"}},
      {R"({"databases": [{}], "workloads": [{"workload": "mini", "kyes": 3}]})",
       {"workloads[0].kyes", "found an unknown field"}},
      {R"({"databases": [{}], "workloads": ["mini", "mini"]})", {"workloads[1]", "of its own"}},
      {R"({"databases": [{}], "seeds": 0})", {"seeds", "found 0", "from 1 to 1000000"}},
      {R"({"databases": [{}], "seeds": [1, -1]})", {"seeds[1]", "found -1"}},
      {R"({"databases": [{}], "txns": 2.5})", {"txns", "found 2.5", "a whole number"}},
      {R"({"databases": [{}], "txns": 0})", {"workloads[0]", "time_limit"}},
      {R"({"databases": [{}], "ops": [5, 2]})", {"ops[1]", "found 2", "from 5"}},
      {R"({"databases": [{}], "read_share": 2})", {"read_share", "from 0 to 1"}},
      {R"({"databases": [{}], "distribution": "even"})", {"distribution", "zipf"}},
      {R"({"databases": [{}], "stop": "soon"})", {"stop", "\"each\""}},
      {R"({"databases": [{}], "budget": "1h"})", {"budget", "a number"}},
  };
  for (const auto& [text, words] : cases) {
    SCOPED_TRACE(text);
    const auto campaign = read(text);
    ASSERT_FALSE(campaign.ok());
    const auto message = campaign.error().to_string();
    for (const auto* word : words) EXPECT_NE(message.find(word), std::string::npos) << message;
    EXPECT_EQ(message.find("json.exception"), std::string::npos) << message;
  }
  EXPECT_NE(read_campaign(folder_ + "/none.json").error().to_string().find("none.json"),
            std::string::npos);
}

// Redis takes one statement at a time, unless it runs blocks.
TEST_F(CampaignTest, WithoutAWorkloadEachDatabaseRunsTheFirstThatSuitsIt) {
  const auto campaign = read(R"({"databases": [
      {"name": "A"}, {"name": "B", "url": "redis://h", "isolations": ["linearizable", "serializable"]},
      {"name": "C", "url": "etcd://h"}]})");
  if (!campaign.ok()) GTEST_SKIP() << campaign.error().message;  // a driver is not built
  std::vector<std::string> workloads;
  for (const auto& run : campaign->runs) workloads.push_back(run.workload);
  EXPECT_EQ(workloads, (std::vector<std::string>{"general", "lwt", "general", "lwt"}));
  const auto& lwt = campaign->runs[1];
  EXPECT_EQ(lwt.options.workload, "lwt");
  EXPECT_NE(lwt.identity.find("lwt"), std::string::npos);
  const auto shaped = read(R"({"databases": [{"url": "redis://h"}], "workloads": [{"keys": 3}]})");
  ASSERT_TRUE(shaped.ok()) << shaped.error().message;
  EXPECT_EQ(shaped->runs[0].workload, "lwt");
  EXPECT_EQ(shaped->runs[0].options.shape.keys, 3U);
}

// As by another process: a lock belongs to the open folder.
TEST_F(CampaignTest, AFolderTakesOneCampaignAtATime) {
  const auto small = campaign(std::string(R"({"databases": [{}], "seeds": 2, )") + kSmall + "}");
  std::string refused;
  const CampaignListener nothing{.before = [](const CampaignRun&, std::size_t, std::size_t) {},
                                 .after = [](const CampaignResult&) {}};
  const CampaignListener disturbed{
      .before =
          [&](const CampaignRun&, std::size_t, std::size_t) {
            const auto second = run_campaign(small, out(), stop_, nothing);
            refused = second.ok() ? "nothing" : second.error().to_string();
          },
      .after = nothing.after};
  const auto first = run_campaign(small, out(), stop_, disturbed);
  ASSERT_TRUE(first.ok()) << first.error().to_string();
  EXPECT_EQ(refused, out() +
                         ": another campaign is running in this folder; wait until it ends, or "
                         "give -o another folder");
  // The first one lost nothing, and its lock went with it.
  const auto again = run_campaign(small, out(), stop_, nothing);
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(again->resumed, 2U);
}

TEST_F(CampaignTest, AUrlsPasswordIsNotShown) {
  const auto campaign = read(R"({"databases": [{"url": "oracle://scott:tiger@h/d"}]})");
  ASSERT_FALSE(campaign.ok());
  EXPECT_EQ(campaign.error().to_string().find("tiger"), std::string::npos);
}

TEST_F(CampaignTest, TheMatrixGoesSeedBySeed) {
  const auto made = campaign(
      R"({"databases": [{"name": "A", "isolations": ["read uncommitted", "serializable"]}, {"name": "B"}],
          "workloads": ["mini", {"workload": "general", "name": "hot", "keys": 7, "txns": 5}],
          "seeds": [4, 9], "txns": 50, "sessions": 3})");
  ASSERT_EQ(made.runs.size(), 12U);
  std::vector<std::string> order;
  for (const auto& run : made.runs) {
    order.push_back(run.database + " " + run.isolation + " " + run.workload + " " +
                    std::to_string(run.options.run.seed));
    EXPECT_EQ(run.options.run.sessions, 3U);
    EXPECT_EQ(run.options.run.txns, run.workload == "hot" ? 5U : 50U);
  }
  EXPECT_EQ(order[0], "A read-uncommitted mini 4");
  EXPECT_EQ(order[1], "A read-uncommitted hot 4");
  EXPECT_EQ(order[2], "A serializable mini 4");
  EXPECT_EQ(order[5], "B serializable hot 4");
  EXPECT_EQ(order[6], "A read-uncommitted mini 9");
  EXPECT_EQ(made.runs[1].options.shape.keys, 7U);
  // What decides a run is in its identity, the level asked for included.
  const auto identity = [&](const std::string& more) {
    return campaign(R"({"databases": [{)" + more + "}]}").runs[0].identity;
  };
  EXPECT_NE(identity(R"("level": "prefix")"), identity(R"("level": "causal")"));
  EXPECT_EQ(identity(""), identity(R"("isolations": ["serializable"])"));
}

TEST_F(CampaignTest, FaultsAreAnotherDimension) {
  const auto runs = campaign(R"({"databases": [{"name": "R", "url": "lab:redis-replica",
                                                "read_from": "any"}],
                                 "workloads": ["mini", "lwt"], "seeds": 2, "time_limit": 5,
                                 "faults": ["none", {"faults": "kill,pause", "every": 2,
                                                     "targets": "primaries"}]})")
                        .runs;
  ASSERT_EQ(runs.size(), 8U);
  EXPECT_EQ(runs[0].faults, "");
  EXPECT_FALSE(runs[0].options.inject.any());
  EXPECT_EQ(runs[2].faults, "kill,pause");
  EXPECT_EQ(runs[2].options.inject.list, "kill,pause");
  EXPECT_EQ(runs[2].options.inject.every, 2);
  EXPECT_EQ(runs[2].options.inject.targets, faults::Targets::kPrimaries);
  EXPECT_EQ(runs[2].options.run.txns, 0U) << "until the time is up";
  EXPECT_EQ(runs[2].options.run.read_from, ReadFrom::kAny);
  EXPECT_NE(runs[0].identity, runs[2].identity);
  const auto error = [&](const std::string& databases, const std::string& rest) {
    const auto read_back = read(R"({"databases": [)" + databases + "], " + rest + "}");
    return read_back.ok() ? "none" : read_back.error().message;
  };
  const std::string redis = R"({"url": "lab:redis"})";
  EXPECT_EQ(error(R"({"name": "A"})", R"("faults": ["kill"], "time_limit": 5)"),
            "databases[0].url: found the database A, which cupel does not start, so that it can "
            "have no `faults`; expected lab:KIND, as in lab:postgres");
  EXPECT_EQ(error(redis, R"("faults": ["kill"])"),
            "faults: found no time_limit, expected one: how long the load lasts");
  EXPECT_EQ(error(redis, R"("faults": ["kil"], "time_limit": 5)").rfind("faults[0]: found ", 0),
            0U);
  EXPECT_EQ(
      error(redis, R"("faults": ["kill", "kill"], "time_limit": 5)").rfind("faults[1]: found ", 0),
      0U);
}

// What only a run finds out is said in the words of the file, too.
TEST_F(CampaignTest, ErrorsOfRunsNameTheFieldOfTheFile) {
  const auto one = campaign(std::string(R"({"databases": [{"name": "A"}, {"name": "B", )"
                                        R"("read_from": "any"}], )") +
                            kSmall + "}");
  std::vector<std::string> errors;
  const CampaignListener listener{
      .before = [](const CampaignRun&, std::size_t, std::size_t) {},
      .after = [&](const CampaignResult& result) { errors.push_back(result.error); }};
  ASSERT_TRUE(run_campaign(one, out(), stop_, listener).ok());
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0], "");
  EXPECT_TRUE(errors[1].starts_with("databases[1].read_from: found no hosts to choose between"))
      << errors[1];
  EXPECT_EQ(errors[1].find("--read-from"), std::string::npos) << errors[1];
}

TEST_F(CampaignTest, SatisfiedRunsLeaveResultsAndATable) {
  const auto summary =
      go(std::string(R"({"databases": [{"name": "A", "url": "sqlite:)") + folder_ +
         R"(/db"}], "workloads": ["mini", "append"], "seeds": 2, )" + kSmall + "}");
  EXPECT_EQ(exit_code(summary), 0);
  ASSERT_EQ(summary.results.size(), 4U);
  EXPECT_EQ(summary.left, 0U);
  for (const auto& result : summary.results) {
    EXPECT_EQ(result.verdict, "satisfied");
    EXPECT_EQ(result.asked, "serializable");
    EXPECT_EQ(result.committed + result.aborted, 20U);
    EXPECT_EQ(result.history, "");
  }
  EXPECT_EQ(histories(), std::vector<std::string>{});
  const auto table = text_of("summary.md");
  EXPECT_NE(table.find("| A<br>serializable |"), std::string::npos) << table;
  EXPECT_NE(table.find("| verdict | satisfied in 4 |"), std::string::npos) << table;
  const auto object = Json::parse(text_of("summary.json"));
  EXPECT_EQ(object.at("runs"), 4);
  EXPECT_EQ(object.at("columns").at(0).at("runs"), 4);
  EXPECT_EQ(object.at("exit_code"), 0);
  for (const auto* file : {"results.jsonl", "summary.md", "summary.json"}) {
    EXPECT_EQ(text_of(file).find(folder_), std::string::npos) << "the URL is in " << file;
  }
}

TEST(CampaignSummaryTest, ManyColumnsBecomeLines) {
  CampaignSummary summary;
  for (int i = 0; i < 9; ++i) {
    CampaignResult result;
    result.database = "D" + std::to_string(i);
    result.isolation = "serializable";
    result.faults = i == 8 ? "kill" : "";
    result.product = "P 1";
    result.asked = "serializable";
    result.verdict = i == 8 ? "violated" : "satisfied";
    if (i == 8) result.anomalies = {"lost-write"};
    result.committed = 7;
    summary.results.push_back(result);
  }
  const auto text = summary_markdown(summary);
  EXPECT_NE(text.find("| D0 | serializable | none | P 1 | serializable | satisfied in 1 | 7, 0 | "
                      "nothing |\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("| D8 | serializable | kill | P 1 | serializable | **violated** in 1 of 1 | "
                      "7, 0 | lost-write in 1 of 1 |\n"),
            std::string::npos)
      << text;
}

TEST_F(CampaignTest, ViolationsAreKeptAndCheckAgrees) {
  const auto summary = go(std::string(R"({"databases": [)") + kLiar +
                          R"(], "stop": "never", "seeds": 2, )" + kSmall + "}");
  EXPECT_EQ(exit_code(summary), 1);
  ASSERT_EQ(summary.results.size(), 2U);
  for (const auto& result : summary.results) {
    EXPECT_EQ(result.verdict, "violated");
    EXPECT_EQ(result.asked, "strict-serializable");
    EXPECT_FALSE(result.anomalies.empty());
    const auto history = formats::read(out() + "/" + result.history);
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    check::Options options;
    options.asked = {levels::Level::kStrictSerializable};
    EXPECT_EQ(check::check(*history, options).levels[0].verdict, check::Verdict::kViolated);
  }
  EXPECT_EQ(histories().size(), 2U);
  const auto table = text_of("summary.md");
  EXPECT_NE(table.find("**violated** in 2 of 2"), std::string::npos) << table;
  EXPECT_NE(table.find("| " + summary.results[0].anomalies[0] + " | **seen** in "),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("`" + summary.results[0].history + "`"), std::string::npos) << table;
  const auto seen = Json::parse(text_of("summary.json")).at("columns").at(0).at("anomalies");
  EXPECT_GT(seen.at(summary.results[0].anomalies[0]), 0);
}

// Also of runs that have the level that they were asked for.
TEST_F(CampaignTest, AnAnomalyHasAHistoryAndAPage) {
  const auto summary = go(R"({"databases": [{"name": "Mock", "url": "mock:causal"}],
                              "seeds": 3, "sessions": 5, "txns": 60, "keys": 5})");
  EXPECT_EQ(exit_code(summary), 0);
  std::set<std::string> anomalies;
  for (const auto& result : summary.results)
    anomalies.insert(result.anomalies.begin(), result.anomalies.end());
  ASSERT_FALSE(anomalies.empty());
  const auto kept = histories();
  ASSERT_FALSE(kept.empty());
  EXPECT_LE(kept.size(), std::min<std::size_t>(summary.results.size(), anomalies.size()));
  for (const auto& name : kept) {
    EXPECT_TRUE(formats::read(out() + "/" + name).ok()) << name;
    const auto page = text_of(fs::path(name).stem().string() + ".html");
    EXPECT_NE(page.find("What other levels forbid"), std::string::npos) << name;
  }
}

TEST_F(CampaignTest, LiveEndsALoadAtItsViolation) {
  const auto summary =
      go(std::string(R"({"databases": [)") + kLiar +
         R"(], "live": true, "sessions": 2, "txns": 0, "time_limit": 60, "rate": 100, "keys": 3})");
  ASSERT_EQ(summary.results.size(), 1U);
  EXPECT_EQ(summary.results[0].verdict, "violated");
  EXPECT_LT(summary.results[0].seconds, 40) << "it ran until its time limit";
  EXPECT_FALSE(read(std::string(R"({"databases": [)") + kLiar + R"(], "live": 1})").ok());
}

TEST_F(CampaignTest, SideBySideIsAsOneAfterTheOther) {
  auto side_by_side = campaign(std::string(R"({"databases": [)") + kLiar +
                               R"(, {"name": "A"}], "seeds": 6, "stop": "never", )" + kSmall + "}");
  side_by_side.jobs = 4;
  const auto summary = go(side_by_side);
  EXPECT_EQ(exit_code(summary), 1);
  ASSERT_EQ(summary.results.size(), 12U);
  for (std::size_t i = 0; i < summary.results.size(); ++i) {
    EXPECT_EQ(summary.results[i].identity, side_by_side.runs[i].identity) << "in their order";
    EXPECT_EQ(summary.results[i].verdict, i % 2 == 0 ? "violated" : "satisfied");
  }
  EXPECT_EQ(histories().size(), 6U);
  const auto lines = text_of("results.jsonl");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 12);
}

TEST_F(CampaignTest, StopEndsAsMuchAsItSays) {
  const auto runs = [&](const std::string& stop) {
    fs::remove_all(out());
    go(std::string(R"({"databases": [)") + kLiar + R"(, {"name": "A"}], "seeds": 3, "stop": ")" +
       stop + "\", " + kSmall + "}");
    return started_.size();
  };
  EXPECT_EQ(runs("never"), 6U);
  EXPECT_EQ(runs("each"), 4U);  // the liar once, SQLite with every seed
  EXPECT_EQ(runs("first"), 1U);
}

TEST_F(CampaignTest, UnknownIsTwoAndAnErrorThree) {
  EXPECT_EQ(exit_code(go(std::string(R"({"databases": [{}], "timeout": 0, )") + kSmall + "}")), 2);
  EXPECT_EQ(histories().size(), 1U);  // the undecided one
  const auto text =
      std::string(R"({"databases": [{"name": "A"}, {"name": "gone", "url": "sqlite:)") + folder_ +
      R"(/later/db"}], )" + kSmall + "}";
  const auto summary = go(text);
  EXPECT_EQ(exit_code(summary), 3);
  ASSERT_EQ(summary.results.size(), 2U);
  EXPECT_EQ(summary.results[0].verdict, "satisfied");
  EXPECT_EQ(summary.results[1].verdict, "error");
  EXPECT_NE(summary.results[1].error.find("there is no folder"), std::string::npos);
  EXPECT_NE(text_of("summary.md").find("1 of 1 runs failed"), std::string::npos);
  // Once it is there, only that run is done again.
  fs::create_directory(folder_ + "/later");
  const auto again = go(text);
  EXPECT_EQ(exit_code(again), 0);
  EXPECT_EQ(again.resumed, 1U);
  EXPECT_EQ(started_.size(), 1U);
}

// The client answers 60 requests, and then no client starts any more.
TEST_F(CampaignTest, ADatabaseThatVanishesIsUnknown) {
  const auto gone = folder_ + "/gone";
  const auto client = folder_ + "/client.sh";
  std::ofstream(client) << fmt::format(R"(test -e {0} && exit 1
sed -u 's/^{{/{{"type":"ok",/;60q7'
test $? = 7 && touch {0}
)",
                                       gone);
  auto made = campaign(R"({"databases": [{"url": "exec:sh )" + client +
                       R"(", "level": "read-committed"}], "sessions": 1, "txns": 0,
                           "workloads": ["append"], "time_limit": 1, "ops": 1, "keys": 3})");
  ASSERT_EQ(made.runs.size(), 1U);
  made.runs[0].options.run.quiet = 0.3;
  const auto summary = go(made);
  EXPECT_EQ(exit_code(summary), 2);
  ASSERT_EQ(summary.results.size(), 1U);
  const auto& result = summary.results[0];
  EXPECT_GT(result.committed, 0U);
  EXPECT_EQ(result.verdict, "unknown");
  EXPECT_EQ(result.asked, "read-committed and durable");
  EXPECT_NE(
      result.error.find("it is unknown whether acknowledged writes are lost: the database was "
                        "not read at the end"),
      std::string::npos)
      << result.error;
  EXPECT_NE(text_of("summary.md").find(result.error), std::string::npos) << "why, beside the file";
}

TEST_F(CampaignTest, ABudgetLeavesTheRest) {
  auto made = campaign(std::string(R"({"databases": [{}], "seeds": 3, "budget": 0.05, "sessions": 1,
                                       "txns": 0, "time_limit": 0.2})"));
  const auto summary = go(made);
  EXPECT_EQ(summary.results.size(), 1U);
  EXPECT_EQ(summary.left, 2U);
  EXPECT_NE(text_of("summary.md").find("2 runs are left"), std::string::npos);
  made.budget = 0;
  const auto rest = go(made);
  EXPECT_EQ(rest.resumed, 1U);
  EXPECT_EQ(rest.results.size(), 3U);
  EXPECT_EQ(rest.left, 0U);
}

TEST_F(CampaignTest, ResumesAfterACrashThatCutTheLastLine) {
  const auto text = std::string(R"({"databases": [{}], "seeds": 3, )") + kSmall + "}";
  go(text);
  EXPECT_EQ(started_.size(), 3U);
  const auto lines = text_of("results.jsonl");
  // Cut anywhere in the last line, its end included.
  const auto last = lines.rfind('\n', lines.size() - 2) + 1;
  for (const auto size : {last + 1, (last + lines.size()) / 2, lines.size() - 2}) {
    std::ofstream(out() + "/results.jsonl", std::ios::trunc) << lines.substr(0, size);
    const auto summary = go(text);
    EXPECT_EQ(summary.resumed, 2U);
    EXPECT_EQ(started_.size(), 1U);
    EXPECT_EQ(summary.results.size(), 3U);
    const auto now = text_of("results.jsonl");
    EXPECT_EQ(std::count(now.begin(), now.end(), '\n'), 3);
  }
  // A line that is whole and no result is not ours to drop.
  std::ofstream(out() + "/results.jsonl", std::ios::trunc) << "my notes\n" << lines;
  const auto made = campaign(text);
  const auto refused = run_campaign(made, out(), stop_, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().to_string().find("results.jsonl:1"), std::string::npos)
      << refused.error().to_string();
  EXPECT_EQ(text_of("results.jsonl"), "my notes\n" + lines);
}

TEST_F(CampaignTest, AStoppedCampaignGoesOn) {
  const auto text = std::string(R"({"databases": [{}], "seeds": 3, )") + kSmall + "}";
  stop_after_ = 1;
  const auto cut = go(text);
  EXPECT_EQ(cut.results.size(), 1U);
  EXPECT_EQ(cut.left, 2U);
  stop_ = false;
  stop_after_ = 0;
  EXPECT_EQ(go(text).resumed, 1U);
  EXPECT_EQ(started_.size(), 2U);
  // A changed file runs only what is new, and what is not asked for now is kept.
  go(std::string(R"({"databases": [{}], "seeds": 4, )") + kSmall + "}");
  EXPECT_EQ(started_.size(), 1U);
  go(std::string(R"({"databases": [{}], "seeds": 1, )") + kSmall + "}");
  EXPECT_EQ(started_.size(), 0U);
  EXPECT_EQ(go(std::string(R"({"databases": [{}], "seeds": 4, )") + kSmall + "}").resumed, 4U);
}

// The shards of a campaign in one folder, joined, are the campaign that one process makes.
TEST_F(CampaignTest, ShardsMakeTheSameTable) {
  // One session: nothing depends on the time.
  const std::string text =
      std::string(R"({"databases": [)") + kLiar +
      R"(, {"name": "A"}], "workloads": ["mini", "append"], "seeds": 3, "sessions": 1, "txns": 10,
          "keys": 3, "stop": ")";
  for (const auto* stop : {"never", "each", "first"}) {
    SCOPED_TRACE(stop);
    fs::remove_all(out());
    auto made = campaign(text + stop + "\"}");
    go(made);
    const auto whole = text_of("summary.md");
    fs::rename(out(), folder_ + "/whole-" + stop);

    std::size_t started = 0;
    for (std::uint32_t number = 1; number <= 5; ++number) {
      made.shard = {number, 5};
      go(made);
      started += started_.size();
    }
    EXPECT_FALSE(fs::exists(out() + "/summary.md")) << "no shard knows the whole";
    const auto merged = merge_campaigns({out()}, out());
    ASSERT_TRUE(merged.ok()) << merged.error().to_string();
    EXPECT_EQ(text_of("summary.md"), whole);
    EXPECT_EQ(merged->left, 0U);
    for (const auto& result : merged->results) {
      EXPECT_EQ(fs::exists(out() + "/" + result.history), true) << result.history;
    }
    // Again: nothing is made, and nothing changes.
    for (std::uint32_t number = 1; number <= 5; ++number) {
      made.shard = {number, 5};
      go(made);
      EXPECT_EQ(started_.size(), 0U);
    }
    ASSERT_TRUE(merge_campaigns({out()}, out()).ok());
    EXPECT_EQ(text_of("summary.md"), whole);
    // Nor by one process, or by another number of shards.
    made.shard = {};
    go(made);
    EXPECT_EQ(started_.size(), 0U);
    EXPECT_EQ(text_of("summary.md"), whole);
  }
}

TEST_F(CampaignTest, AShardThatWasCutGoesOn) {
  auto made = campaign(std::string(R"({"databases": [{"name": "A"}], "seeds": 9, "sessions": 1,
                                       "txns": 5})"));
  go(made);
  const auto whole = text_of("summary.md");
  fs::remove_all(out());
  for (std::uint32_t number = 1; number <= 3; ++number) {
    made.shard = {number, 3};
    stop_after_ = number == 2 ? 2 : 0;
    go(made);
    stop_ = false;
  }
  const auto part = merge_campaigns({out()}, folder_ + "/part");
  ASSERT_TRUE(part.ok()) << part.error().to_string();
  EXPECT_EQ(part->left, 1U);
  made.shard = {2, 3};
  stop_after_ = 0;
  go(made);
  EXPECT_EQ(started_.size(), 1U);
  ASSERT_TRUE(merge_campaigns({out()}, out()).ok());
  EXPECT_EQ(text_of("summary.md"), whole);
  // What a shard left is whole or not there; a file that is neither is an error.
  for (const auto& entry : fs::directory_iterator(out() + "/runs")) {
    if (entry.path().extension() == ".json") std::ofstream(entry.path()) << "{";
  }
  EXPECT_FALSE(merge_campaigns({out()}, out()).ok());
}

TEST_F(CampaignTest, FoldersOfDifferentCampaignsBecomeOneTable) {
  const auto first = campaign(R"({"databases": [{"name": "A"}], "sessions": 1, "txns": 5})");
  const auto second = campaign(R"({"databases": [{"name": "A"}, {"name": "B"}], "sessions": 1,
                                   "txns": 5})");
  go(first);
  fs::rename(out(), folder_ + "/first");
  go(second);
  fs::rename(out(), folder_ + "/second");
  const auto merged = merge_campaigns({folder_ + "/first", folder_ + "/second"}, out());
  ASSERT_TRUE(merged.ok()) << merged.error().to_string();
  EXPECT_EQ(merged->results.size(), 2U) << "what both have counts once";
  EXPECT_NE(text_of("summary.md").find("B<br>serializable"), std::string::npos);
  const auto other = campaign(R"({"databases": [{"name": "C"}], "stop": "never", "sessions": 1,
                                  "txns": 5})");
  fs::remove_all(out());
  go(other);
  const auto mixed = merge_campaigns({folder_ + "/first", out()}, folder_ + "/mixed");
  ASSERT_FALSE(mixed.ok());
  EXPECT_NE(mixed.error().message.find("stop"), std::string::npos);
  fs::create_directory(folder_ + "/empty");
  EXPECT_FALSE(merge_campaigns({folder_ + "/empty"}, folder_ + "/none").ok());
}

// Two of the same shard would write the same histories.
TEST_F(CampaignTest, AShardRunsOnce) {
  auto small = campaign(std::string(R"({"databases": [{}], "seeds": 2, )") + kSmall + "}");
  small.shard = {1, 2};
  auto other = small;
  other.shard = {2, 2};
  auto all = small;
  all.shard = {};
  std::vector<std::string> refused;
  const CampaignListener nothing{.before = [](const CampaignRun&, std::size_t, std::size_t) {},
                                 .after = [](const CampaignResult&) {}};
  const CampaignListener disturbed{
      .before =
          [&](const CampaignRun&, std::size_t, std::size_t) {
            for (const auto* second : {&small, &all, &other}) {
              const auto ran = run_campaign(*second, out(), stop_, nothing);
              refused.push_back(ran.ok() ? "nothing" : ran.error().message);
            }
          },
      .after = nothing.after};
  ASSERT_TRUE(run_campaign(small, out(), stop_, disturbed).ok());
  ASSERT_EQ(refused.size(), 3U);
  EXPECT_NE(refused[0].find("the same shard"), std::string::npos) << refused[0];
  EXPECT_NE(refused[1].find("another campaign"), std::string::npos) << refused[1];
  EXPECT_EQ(refused[2], "nothing") << "another shard shares the folder";
}

}  // namespace
}  // namespace cupel::run
