// Plans: what was written is what is read, and a mistake is named.
#include "run/faults/plan.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cupel::faults {
namespace {

std::string mistake(std::string_view text) {
  const auto plan = parse_plan(text);
  return plan.ok() ? "none" : plan.error().to_string();
}

TEST(Plan, ReadsEveryField) {
  const auto plan = parse_plan(R"([
    {"fault": "partition", "at": "3s", "for": "250ms"},
    {"fault": "partition-one", "links": [[0, 1], ["clients", 0]], "when": "100 commits"},
    {"fault": "kill", "targets": [2, 0], "at": 1.5, "for": 2},
    {"fault": "delay", "targets": "majority", "at": "1m", "delay": "200ms", "jitter": 0.1}])");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  ASSERT_EQ(plan->size(), 4U);
  const auto& all = *plan;
  EXPECT_EQ(all[0].kind, "partition");
  EXPECT_EQ(all[0].at, 3);
  EXPECT_EQ(all[0].lasts, 0.25);
  EXPECT_EQ(all[0].targets, Targets::kSeeded);
  EXPECT_EQ(all[1].commits, 100U);
  EXPECT_EQ(all[1].links, (std::vector<Link>{{0, 1}, {kClients, 0}}));
  EXPECT_EQ(all[2].nodes, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(all[3].at, 60);
  EXPECT_EQ(all[3].targets, Targets::kMajority);
  EXPECT_EQ(all[3].parameters, (std::map<std::string, double>{{"delay", 0.2}, {"jitter", 0.1}}));
}

TEST(Plan, NamesTheMistake) {
  EXPECT_NE(mistake("{}").find("found no list of faults"), std::string::npos);
  EXPECT_NE(mistake("[]").find("found no list of faults"), std::string::npos);
  const auto cut = parse_plan("[\n {\"fault\": \"kill\",}]");
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().byte, 20U);
  EXPECT_NE(mistake(R"([{"fault":"kil","at":"1s"}])").find("[0].fault: found \"kil\""),
            std::string::npos);
  for (const auto& [text, place] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"([{"fault":"kill"}])", "[0]: found none of at and when"},
           {R"([{"fault":"kill","at":"1s","when":"1 commits"}])", "[0]: found both"},
           {R"([{"fault":"kill","at":"soon"}])", "[0].at: found \"soon\""},
           {R"([{"fault":"kill","at":-1}])", "[0].at"},
           {R"([{"fault":"kill","when":"100 aborts"}])", "[0].when"},
           {R"([{"fault":"kill","when":"1e3 commits"}])", "[0].when"},
           {R"([{"fault":"kill","at":1},{"fault":"kill","at":1,"targets":[-1]}])", "[1].targets"},
           {R"([{"fault":"kill","at":1,"targets":"some"}])", "[0].targets"},
           {R"([{"fault":"kill","at":1,"targets":[]}])", "[0].targets"},
           {R"([{"fault":"reset","at":1,"links":[[0,0]]}])", "[0].links"},
           {R"([{"fault":"reset","at":1,"links":[[0,1,2]]}])", "[0].links"},
           {R"([{"fault":"kill","at":1,"links":[[0,1]]}])", "[0].links: found them of kill"},
           {R"([{"fault":"reset","at":1,"links":[[0,1]],"targets":[0]}])",
            "both targets and links"},
           {R"([{"fault":"loss","at":1,"loss":1.5}])", "[0].loss: found 1.5, expected 0.001 to 1"},
           {R"([{"fault":"loss","at":1,"delay":1}])", "[0].delay: found an unknown field"},
           {R"([{"fault":"kill","at":1,"for":true}])", "[0].for"},
       }) {
    EXPECT_NE(mistake(text).find(place), std::string::npos) << mistake(text);
  }
  const auto missing = read_plan("/nonexistent.json");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().file, "/nonexistent.json");
}

TEST(Plan, WhatIsWrittenIsRead) {
  const std::vector<Done> done{
      {.fault = {.kind = "partition-clients",
                 .at = 3.002,
                 .lasts = 5.1,
                 .links = {{0, kClients}, {kClients, 0}}},
       .what = "partition clients: 0 | clients",
       .began = 3.1,
       .ended = 8.2},
      {.fault = {.kind = "delay",
                 .at = 0.25,
                 .lasts = 1,
                 .nodes = {1, 2},
                 .parameters = {{"delay", 0.02}, {"jitter", 0}}},
       .what = "delay 20 ms: 1 2",
       .began = 0.3},
      {.fault = {.kind = "loss", .at = 2, .lasts = 1, .nodes = {0}, .parameters = {{"loss", 0.2}}},
       .what = "loss 20 %: 0",
       .began = 2,
       .ended = 3,
       .failed = "not allowed"},
      {.fault = {.kind = "restart-crash", .at = 7, .nodes = {0}}, .what = "restart crash: 0"},
  };
  const auto text = plan_text(done);
  const auto plan = parse_plan(text);
  ASSERT_TRUE(plan.ok()) << plan.error().message << "\n" << text;
  ASSERT_EQ(plan->size(), done.size());
  for (std::size_t i = 0; i < done.size(); ++i) {
    const auto& written = done[i].fault;
    const auto& read = (*plan)[i];
    EXPECT_EQ(read.kind, written.kind);
    EXPECT_EQ(read.at, written.at);
    EXPECT_EQ(read.lasts, written.lasts);
    EXPECT_EQ(read.nodes, written.nodes);
    EXPECT_EQ(read.links, written.links);
    EXPECT_EQ(read.parameters, written.parameters);
  }
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json[0]["ended"], 8.2);
  EXPECT_EQ(json[2]["failed"], "not allowed");
  EXPECT_FALSE(json[1].contains("ended"));
  EXPECT_EQ(plan_text({}), "[]\n");
}

}  // namespace
}  // namespace cupel::faults
