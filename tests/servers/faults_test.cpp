// `cupel run --faults` on real servers: the faults are in force, and the databases keep their
// promises under them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "base/process.hpp"
#include "databases/lab/namespaces.hpp"
#include "support/polling.hpp"
#include "support/scratch_folder.hpp"

namespace cupel {
namespace {

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Faults : public testing::Test {
 protected:
  base::Process start(const Arguments& more) {
    Arguments arguments{CUPEL_BINARY, "run", "--json", "--overwrite", "-o", history_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto process = base::Process::start({.arguments = arguments,
                                         .output = base::Stream::file(output_),
                                         .errors = base::Stream::file(errors_)});
    EXPECT_TRUE(process.ok()) << process.error().to_string();
    return *std::move(process);
  }

  // The exit code; what it printed is in result_.
  int finish(base::Process& process) {
    const auto status = process.wait(base::Seconds(90));
    if (!status) return -1;
    result_ = Json::parse(text_of(output_), nullptr, false);
    return status->code;
  }
  int run(const Arguments& more) {
    std::filesystem::remove(output_);
    std::filesystem::remove(errors_);
    auto process = start(more);
    return finish(process);
  }
  std::string errors() { return text_of(errors_); }

  std::vector<std::string> whats() {
    std::vector<std::string> list;
    for (const auto& fault : result_["run"]["fault_list"]) list.push_back(fault["what"]);
    return list;
  }
  // How many transactions committed from so many seconds to so many after the start.
  int commits(double from, double to) {
    std::ifstream lines(history_);
    int count = 0;
    for (std::string line; std::getline(lines, line);) {
      const auto op = Json::parse(line);
      const double time = op.value("time", 0.0) / 1e9;
      count += op["type"] == "ok" && time > from && time < to ? 1 : 0;
    }
    return count;
  }

  const test::ScratchFolder scratch_;
  const std::string history_ = scratch_.path() + "/history.jsonl";
  const std::string output_ = scratch_.path() + "/output", errors_ = scratch_.path() + "/errors";
  Json result_;
};

TEST_F(Faults, RedisKeepsItsPromiseWhileItIsKilledAndPaused) {
  ASSERT_EQ(run({"--db", "lab:redis", "--faults", "kill,pause", "--fault-every", "1s",
                 "--fault-for", "700ms", "--time-limit", "5500ms", "--rate", "400"}),
            0)
      << errors();
  const auto& run_ = result_["run"];
  EXPECT_EQ(run_["asked"][0]["level"], "linearizable");
  EXPECT_TRUE(run_["asked"][0]["promised"]);
  EXPECT_TRUE(run_["warnings"].empty()) << run_["warnings"];
  const auto names = whats();
  EXPECT_EQ(std::set(names.begin(), names.end()), (std::set<std::string>{"kill: 0", "pause: 0"}));
  EXPECT_EQ(run_["faults"], names.size());
  EXPECT_GT(run_["reconnects"], 0) << "nobody lost a connection to a killed server";

  const auto recorded = text_of(history_);
  for (const auto& fault : run_["fault_list"]) {
    const std::string what = fault["what"];
    EXPECT_NE(recorded.find(R"("f":"start-fault","value":")" + what), std::string::npos);
    EXPECT_NE(recorded.find(R"("f":"stop-fault","value":")" + what), std::string::npos);
    // The clocks of the history and of the faults started at nearly the same time.
    const double from = fault["began"], to = from + 0.6;
    EXPECT_EQ(commits(from + 0.3, to), 0) << what << " was not in force";
  }
  EXPECT_EQ(Json::parse(text_of(history_ + ".faults.json")), run_["fault_list"]);

  // The same again, from the file.
  const auto plan = scratch_.file("plan.json", text_of(history_ + ".faults.json"));
  ASSERT_EQ(
      run({"--db", "lab:redis", "--fault-plan", plan, "--time-limit", "5500ms", "--rate", "400"}),
      0)
      << errors();
  EXPECT_EQ(whats(), names);
}

// Faults that overlap, each of which a majority survives.
TEST_F(Faults, EtcdStaysLinearizable) {
  if (const auto why = lab::networks_forbidden(); !why.empty()) GTEST_SKIP() << why;
  const auto plan = scratch_.file("plan.json", R"([
    {"fault": "partition-one", "targets": [0], "at": "1s", "for": "2500ms"},
    {"fault": "kill", "targets": [0], "at": "2s", "for": "1s"},
    {"fault": "pause", "targets": [1], "at": "6s", "for": "1s"},
    {"fault": "partition-halves", "targets": [2], "when": "200 commits", "for": "1s"}])");
  ASSERT_EQ(run({"--db", "lab:etcd?nodes=3&fast=1", "--fault-plan", plan, "--time-limit", "9s",
                 "--rate", "200"}),
            0)
      << errors();
  const auto& run_ = result_["run"];
  EXPECT_EQ(run_["asked"][0]["level"], "linearizable");
  EXPECT_TRUE(run_["warnings"].empty()) << run_["warnings"];
  const auto names = whats();
  EXPECT_EQ(std::multiset(names.begin(), names.end()),
            (std::multiset<std::string>{"partition one: 0 | 1 2", "kill: 0", "pause: 1",
                                        "partition halves: 0 1 | 2"}));
  for (const auto& fault : run_["fault_list"]) {
    EXPECT_TRUE(fault.contains("ended")) << fault;
    // A node that is cut off from the others cannot answer before it hears them again.
    EXPECT_GT(fault["ended"], fault["fault"] == "kill" ? 3.5 : 0);
  }
}

// Each node in turn is replaced by one without data, and nothing is lost.
// etcd takes a change only once its members have been connected for 5 s, on a machine with other
// work later: one fault that begins long before the load ends.
TEST_F(Faults, EtcdKeepsItsPromiseWhileItsMembersChange) {
  const auto plan =
      scratch_.file("plan.json", R"([{"fault": "membership", "at": "1s", "for": "1s"}])");
  ASSERT_EQ(run({"--db", "lab:etcd?nodes=3&fast=1", "--fault-plan", plan, "--time-limit", "18s",
                 "--rate", "200"}),
            0)
      << errors();
  const auto& run_ = result_["run"];
  EXPECT_TRUE(run_["asked"][0]["promised"]);
  EXPECT_TRUE(run_["warnings"].empty()) << run_["warnings"];
  ASSERT_EQ(run_["faults"], 1);
  const auto recorded = text_of(history_);
  for (const auto& fault : run_["fault_list"]) {
    const std::string what = fault["what"];
    EXPECT_TRUE(what.starts_with("membership: ")) << what;
    EXPECT_TRUE(fault.contains("ended")) << fault;
    EXPECT_NE(recorded.find(R"("f":"start-fault","value":")" + what), std::string::npos);
    EXPECT_NE(recorded.find(R"("f":"stop-fault","value":")" + what), std::string::npos);
  }
}

TEST_F(Faults, CtrlCHealsAndEnds) {
  auto process = start({"--db", "lab:redis?fast=1", "--faults", "pause", "--fault-every", "200ms",
                        "--fault-for", "100s", "--time-limit", "100s", "--rate", "100"});
  const auto has = [&](const char* text) {
    return text_of(history_).find(text) != std::string::npos;
  };
  // The history is written at least once a second, and says so to nobody.
  ASSERT_TRUE(test::poll_until([&] { return has("start-fault"); })) << errors();
  const auto before = std::chrono::steady_clock::now();
  process.signal(SIGINT);
  EXPECT_EQ(finish(process), 2) << "without final reads, lost writes are unknown: " << errors();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20));
  EXPECT_TRUE(has("stop-fault"));
}

TEST_F(Faults, WhatIsNotPossibleIsAnErrorBeforeTheRunOrLeftOut) {
  const Arguments asked{"--db", "lab:redis?fast=1", "--txns", "5", "--faults", "partition-halves"};
  EXPECT_EQ(run(asked), 3);
  EXPECT_NE(errors().find("partition-halves is not possible here: found 1 node"), std::string::npos)
      << errors();
  EXPECT_FALSE(std::filesystem::exists(history_));
  auto optional = asked;
  optional.emplace_back("--faults-optional");
  EXPECT_EQ(run(optional), 0);
  EXPECT_NE(errors().find("it was left out"), std::string::npos) << errors();
  EXPECT_NE(errors().find("no fault is possible here"), std::string::npos) << errors();
  EXPECT_EQ(errors().find("no fault began"), std::string::npos) << errors();
  EXPECT_EQ(result_["run"]["faults"], 0);
}

TEST_F(Faults, ACampaignSaysThatARunHadNone) {
  const auto file = scratch_.path() + "/campaign.json";
  const auto campaign = [&](const char* optional) {
    std::ofstream(file) << R"({"databases": [{"name": "R", "url": "lab:redis?fast=1"}], "rate": 50,
      "faults": [{"faults": "partition-halves", "optional": )"
                        << optional << R"(}], "time_limit": 1})";
    auto process = base::Process::start(
        {.arguments = {CUPEL_BINARY, "campaign", file, "-o", scratch_.path() + "/" + optional},
         .output = base::Stream::file(output_),
         .errors = base::Stream::file(errors_)});
    EXPECT_TRUE(process.ok()) << process.error().to_string();
    return finish(*process);
  };
  EXPECT_EQ(campaign("false"), 3);
  EXPECT_NE(errors().find("partition-halves is not possible here"), std::string::npos) << errors();
  EXPECT_EQ(campaign("true"), 0);
  EXPECT_NE(errors().find("so the run had none"), std::string::npos) << errors();
  EXPECT_NE(text_of(output_).find("satisfied in 1, without faults"), std::string::npos);
  const auto line = Json::parse(text_of(scratch_.path() + "/true/results.jsonl"));
  EXPECT_EQ(line["without_faults"], true);
}

}  // namespace
}  // namespace cupel
