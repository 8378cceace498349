// Sharing work as a user does: shards of check, generate and campaign, workers of one run, and
// `cupel merge`; what --quiet and --verbose change.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <vector>

#include "base/process.hpp"
#include "support/scratch_folder.hpp"

namespace {

namespace fs = std::filesystem;
using cupel::base::Process;
using cupel::base::Seconds;
using cupel::base::Stream;
using Json = nlohmann::json;

struct Ran {
  int code;
  std::string out, err;
};

class Scale : public testing::Test {
 protected:
  [[nodiscard]] std::string at(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(at(name), std::ios::binary) << text;
  }
  void expect_mistake(std::vector<std::string> arguments, const std::vector<std::string>& words) {
    const auto ran = cupel(std::move(arguments));
    EXPECT_EQ(ran.code, 3) << words.front();
    EXPECT_EQ(ran.out, "");
    for (const auto& word : words) EXPECT_NE(ran.err.find(word), std::string::npos) << ran.err;
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in(at(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  using Variables = std::vector<std::pair<std::string, std::string>>;
  [[nodiscard]] Ran cupel(std::vector<std::string> arguments, Variables variables = {}) const {
    fs::remove(at("stdout"));
    fs::remove(at("stderr"));
    arguments.insert(arguments.begin(), CUPEL_BINARY);
    variables.emplace_back("TMPDIR", folder_);
    auto process = Process::start({.arguments = std::move(arguments),
                                   .environment = std::move(variables),
                                   .output = Stream::file(at("stdout")),
                                   .errors = Stream::file(at("stderr"))});
    if (!process.ok()) throw std::runtime_error(process.error().to_string());
    const auto status = process->wait(Seconds(60));
    const int code = !status ? -1 : status->signal != 0 ? 128 + status->signal : status->code;
    return {code, text_of("stdout"), text_of("stderr")};
  }
  std::vector<std::string> all_levels() const {
    std::vector<std::string> names;
    const auto words = Json::parse(cupel({"explain", "--json"}).out);
    for (const auto& level : words["levels"]) names.push_back(level);
    EXPECT_GT(names.size(), 5u);
    return names;
  }
  std::vector<std::string> generate(int count) {
    EXPECT_EQ(cupel({"generate", "--histories", std::to_string(count), "--level", "read-atomic",
                     "--sessions", "3", "--txns", "8", "--keys", "4", "-o", at("h-{seed}.jsonl")})
                  .code,
              0);
    std::vector<std::string> files;
    for (int seed = 1; seed <= count; ++seed) {
      files.push_back(at("h-" + std::to_string(seed) + ".jsonl"));
      EXPECT_TRUE(fs::exists(files.back()));
    }
    return files;
  }

  const cupel::test::ScratchFolder scratch_;
  const std::string folder_ = scratch_.path();
};

template <typename T>
std::vector<T> joined(std::vector<T> first, const std::vector<T>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    auto json = Json::parse(line);
    json.erase("stages");
    for (auto& level : json["levels"]) level.erase("seconds");
    lines.push_back(json.dump());
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

// They are decided and drawn beside each other.
TEST_F(Scale, AReportOfVeryManyHasThePagesOfTheViolated) {
  auto files = generate(20);
  ASSERT_EQ(cupel({"generate", "--histories", "4", "--level", "strict-serializable", "--txns", "8",
                   "-o", at("good-{seed}.jsonl")})
                .code,
            0);
  for (int seed = 1; seed <= 4; ++seed)
    files.insert(files.begin() + 5 * seed, at("good-" + std::to_string(seed) + ".jsonl"));
  const std::vector<std::string> check = {"check", "--shrink-time", "0", "--no-history-analysis"};
  const auto whole = cupel(joined(joined(check, {"--json", "--report", at("report")}), files));
  EXPECT_EQ(whole.code, 1);
  std::set<std::string> wanted = {"index.html"}, found;
  std::istringstream lines(whole.out);
  for (const auto& file : files) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    const auto json = Json::parse(line);
    EXPECT_EQ(json["file"], file);
    if (json["weakest_violated"].empty()) continue;
    const auto number = std::to_string(wanted.size());
    const auto folder =
        std::to_string(&file - files.data() + 1) + "-" + fs::path(file).stem().string();
    wanted.insert(folder);
    EXPECT_EQ(cupel(joined(check, {"--report", at("alone" + number), file})).code, 1);
    EXPECT_EQ(text_of("report/" + folder + "/counterexample-1.svg"),
              text_of("alone" + number + "/counterexample-1.svg"));
    EXPECT_NE(text_of("report/index.html").find(folder + "/index.html"), std::string::npos);
  }
  for (const auto& entry : fs::directory_iterator(at("report")))
    found.insert(entry.path().filename().string());
  EXPECT_EQ(found, wanted);
  EXPECT_GT(wanted.size(), 2U);
  EXPECT_LE(wanted.size(), 21U);
}

TEST_F(Scale, AShardStartedAgainChecksOnlyWhatIsMissing) {
  const auto files = generate(6);
  const std::vector<std::string> check = {"check",       "--json",        "-l", "si", "--results",
                                          at("results"), "--shrink-time", "0"};
  const auto kept = [&] {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(at("results"))) names.insert(entry.path());
    return names;
  };
  // Two shards share the folder; the second run of one prints the same bytes, and the whole too.
  const auto first = cupel(joined(joined(check, {"--shard", "1/2"}), files));
  EXPECT_EQ(kept().size(), 3U);
  const auto again = cupel(joined(joined(check, {"--shard", "1/2"}), files));
  EXPECT_EQ(again.out, first.out);
  EXPECT_EQ(again.code, first.code);
  EXPECT_NE(again.err.find("3 of these histories were decided before"), again.err.npos)
      << again.err;
  const auto second = cupel(joined(joined(check, {"--shard", "2/2"}), files));
  const auto names = kept();
  EXPECT_EQ(names.size(), 6U);
  const auto whole = cupel(joined(check, files));
  EXPECT_EQ(whole.code, std::max(first.code, second.code));
  EXPECT_EQ(kept(), names);
  EXPECT_EQ(sorted_lines(whole.out), sorted_lines(first.out + second.out));
  EXPECT_EQ(
      sorted_lines(cupel({"check", "--json", "-l", "si", "--shrink-time", "0", files[0]}).out),
      sorted_lines(cupel(joined(check, {files[0]})).out));
  // A result that was cut, another question and a history that changed are no results.
  std::ofstream(*names.begin()) << R"({"file":)";
  EXPECT_EQ(sorted_lines(cupel(joined(check, files)).out), sorted_lines(whole.out));
  EXPECT_NE(cupel({"check", "--json", "-l", "rc", "--results", at("results"), files[0]}).code, 3);
  EXPECT_EQ(kept().size(), 7U);
  std::ofstream(files[0], std::ios::app) << "\n";
  EXPECT_EQ(cupel(joined(check, {files[0]})).err.find("decided before"), std::string::npos);
  EXPECT_EQ(kept().size(), 8U);
  EXPECT_EQ(cupel({"check", "--results", at("results"), files[0]}).code, 3);
}

// The order, the table and the exit code are those of a check that decided everything now.
TEST_F(Scale, WhatIsKnownIsCountedWithTheRest) {
  const auto files = generate(24);
  const std::vector<std::string> check = {"check", "--json", "--results", at("results")};
  const std::vector<std::string> some(files.begin() + 5, files.begin() + 17);
  EXPECT_EQ(cupel(joined(check, some)).code, 1);
  const auto table_of = [](const std::string& text) {
    return text.substr(text.find("24 histories"));
  };
  const auto fresh = cupel(joined({"check", "--json"}, files));
  const auto partly = cupel(joined(check, files)), known = cupel(joined(check, files));
  for (const auto& ran : {partly, known}) {
    EXPECT_EQ(ran.code, fresh.code);
    EXPECT_EQ(table_of(ran.err), table_of(fresh.err));
    std::istringstream lines(ran.out);
    for (const auto& file : files) {
      std::string line;
      ASSERT_TRUE(std::getline(lines, line));
      EXPECT_EQ(Json::parse(line)["file"], file);
    }
  }
  write("all.jsonl", fresh.out);
  const auto merged = cupel({"merge", at("all.jsonl"), "-o", at("merged.jsonl")});
  EXPECT_EQ(merged.code, fresh.code);
  EXPECT_EQ(merged.err, table_of(fresh.err));
  // What the histories had no time for is decided again where one is checked alone.
  const auto before = cupel({"check", "--json", files[20]}),
             alone = cupel(joined(check, {files[20]}));
  EXPECT_EQ(Json::parse(alone.out).contains("counts"), Json::parse(before.out).contains("counts"));
  EXPECT_EQ(Json::parse(alone.out)["counts"], Json::parse(before.out)["counts"]);
}

TEST_F(Scale, AMergeExitsAsTheCheckAndOverwritesNothing) {
  const auto files = generate(1);
  const auto refused = cupel({"check", "-l", "linearizable", "--json", files[0]});
  ASSERT_EQ(refused.code, 3);
  write("refused.jsonl", refused.out);
  const auto merged = cupel({"merge", at("refused.jsonl"), "-o", at("merged.jsonl")});
  EXPECT_EQ(merged.code, 3);
  EXPECT_NE(merged.err.find("1 history, 0 violated"), std::string::npos) << merged.err;
  expect_mistake({"merge", at("refused.jsonl"), "-o", at("refused.jsonl")},
                 {"refused.jsonl", "one of the inputs"});
  expect_mistake({"merge", files[0], files[0], "-o", files[0]}, {"one of the inputs"});
  EXPECT_EQ(text_of("refused.jsonl"), refused.out);
  expect_mistake({"merge", at("none.jsonl")}, {"none.jsonl", "no such file"});
  write("cut.jsonl", refused.out.substr(0, 40));
  expect_mistake({"merge", at("cut.jsonl")}, {"cut.jsonl", "run the shard again"});
  write("words.txt", "no history\n");
  const auto words = cupel({"merge", at("words.txt")});
  EXPECT_EQ(words.code, 3);
  EXPECT_EQ(words.err.find("--output"), std::string::npos) << words.err;
  expect_mistake({"-q", "check", files[0]}, {"-q", "put it after the command"});
}

// Also for what a recorded run says of its final reads.
TEST_F(Scale, AMergeExitsAsTheCheckWhereDataAreGoneOrFinalReadsFailed) {
  const auto recorded = [](const std::string& facts, const std::string& read) {
    return R"({"type":"info","process":"nemesis","f":"cupel.metadata","value":[["database","x"])" +
           facts + R"(]}
{"type":"invoke","process":0,"f":"txn","value":[["w","x",1]],"time":1}
{"type":"ok","process":0,"f":"txn","value":[["w","x",1]],"time":2}
{"type":"invoke","process":9,"f":"txn","value":[["r","x",)" +
           read + R"(]],"time":3}
{"type":"ok","process":9,"f":"txn","value":[["r","x",)" +
           read + R"(]],"time":4}
)";
  };
  const std::string readers = R"(,["final readers","9 the database"])",
                    gone = R"(,["data gone","the table kv is gone on the database"])",
                    failed = R"(,["final reads failed","node 2 did not answer"])";
  struct Case {
    std::string facts, read;
    int code, code_by_name;
  };
  const std::vector<Case> cases = {{"", "1", 0, 0},
                                   {readers, "1", 0, 0},
                                   {failed, "1", 2, 2},
                                   {gone, "1", 2, 2},
                                   {gone + readers, "1", 2, 2},
                                   {gone + failed, "1", 2, 2},
                                   {readers, "null", 1, 0},
                                   {readers + failed, "null", 1, 2},
                                   {gone + readers, "null", 1, 1},
                                   {gone + failed + readers, "null", 1, 1}};
  for (const auto& [facts, read, code, code_by_name] : cases) {
    write("h.jsonl", recorded(facts, read));
    // A check of every level by name is that of none by name.
    for (const std::string levels : {"", "causal", "all"}) {
      std::vector<std::string> command = {"check", "--json", at("h.jsonl")};
      const auto named = levels == "all" ? all_levels() : std::vector<std::string>{levels};
      for (const auto& level : named) {
        if (!level.empty()) command.insert(command.end(), {"-l", level});
      }
      const auto checked = cupel(command);
      EXPECT_EQ(checked.code, levels == "causal" ? code_by_name : code) << levels << facts << read;
      write("results.jsonl", checked.out);
      EXPECT_EQ(cupel({"merge", at("results.jsonl")}).code, checked.code) << checked.out;
    }
  }
}

TEST_F(Scale, ShardsWriteReportsOfTheirOwn) {
  const auto files = generate(4);
  for (const auto* shard : {"1/2", "2/2"}) {
    EXPECT_NE(cupel(joined({"check", "--report", at("report"), "--shard", shard}, files)).code, 3);
  }
  for (const auto* page : {"report/shard-1-of-2/index.html", "report/shard-2-of-2/index.html"})
    EXPECT_TRUE(fs::exists(at(page))) << page;
}

TEST_F(Scale, ShardsOfCheckAreTheWhole) {
  const auto files = generate(7);
  const auto whole = cupel(joined({"check", "--json", "--shrink-time", "0"}, files));
  EXPECT_EQ(whole.code, 1);
  std::vector<std::string> results;
  auto reversed = files;
  std::reverse(reversed.begin(), reversed.end());
  for (int shard = 1; shard <= 3; ++shard) {
    // In another order: the shares are the same.
    const auto part = cupel(
        joined({"check", "--json", "--shrink-time", "0", "--shard", std::to_string(shard) + "/3"},
               shard == 2 ? reversed : files));
    results.push_back(at("r" + std::to_string(shard)));
    std::ofstream(results.back()) << part.out;
  }
  const auto merged = cupel(joined({"merge"}, results));
  EXPECT_EQ(merged.code, 1);
  EXPECT_EQ(sorted_lines(merged.out), sorted_lines(whole.out));
  EXPECT_NE(merged.err.find("7 histories"), std::string::npos) << merged.err;
  // A shard that was cut.
  std::ofstream(results[1], std::ios::app) << R"({"file":"x","lev)";
  const auto cut = cupel(joined({"merge"}, results));
  EXPECT_EQ(cut.code, 3);
  EXPECT_EQ(cut.out, "");
  EXPECT_NE(cut.err.find("run the shard again"), std::string::npos) << cut.err;
}

TEST_F(Scale, AShardWithoutTasksIsNoError) {
  const auto files = generate(2);
  const auto none = cupel(joined({"check", "--shard", "3/3"}, files));
  EXPECT_EQ(none.code, 0);
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.err.find("note: shard 3/3 has none of the 2 histories"), std::string::npos);
  EXPECT_EQ(cupel(joined({"check", "--quiet", "--shard", "3/3"}, files)).err, "");
  EXPECT_EQ(cupel({"check", "--shard", "1/2", "-"}).code, 3);
  EXPECT_EQ(cupel(joined({"check", "--shard", "4/3"}, files)).code, 3);
}

TEST_F(Scale, TheEnvironmentNamesTheShardOnlyIfAsked) {
  const auto files = generate(3);
  const Variables array{{"SLURM_ARRAY_TASK_ID", "2"},
                        {"SLURM_ARRAY_TASK_COUNT", "3"},
                        {"SLURM_ARRAY_TASK_MIN", "1"},
                        {"SLURM_ARRAY_TASK_MAX", "3"}};
  const auto lines = [](const Ran& ran) {
    return std::count(ran.out.begin(), ran.out.end(), '\n');
  };
  const auto check = joined({"check", "--json", "--shrink-time", "0"}, files);
  EXPECT_EQ(lines(cupel(check, array)), 3);
  EXPECT_EQ(lines(cupel(joined(check, {"--shard", "auto"}), array)), 1);
  const auto nothing = cupel(joined(check, {"--shard", "auto"}));
  EXPECT_EQ(nothing.code, 3);
  EXPECT_NE(nothing.err.find("SLURM_ARRAY_TASK_ID"), std::string::npos) << nothing.err;
}

TEST_F(Scale, ShardsOfGenerateAreTheWhole) {
  const auto files = generate(5);
  std::map<std::string, std::string> before;
  for (const auto& file : files) {
    before[file] = text_of(fs::path(file).filename().string());
    fs::remove(file);
  }
  for (const auto* shard : {"2/2", "1/2", "2/2"}) {
    EXPECT_EQ(cupel({"generate", "--histories", "5", "--level", "read-atomic", "--sessions", "3",
                     "--txns", "8", "--keys", "4", "--shard", shard, "-o", at("h-{seed}.jsonl")})
                  .code,
              0);
  }
  for (const auto& file : files)
    EXPECT_EQ(text_of(fs::path(file).filename().string()), before[file]);
  const auto one_name = cupel({"generate", "--histories", "5", "-o", at("h.jsonl")});
  EXPECT_EQ(one_name.code, 3);
  EXPECT_NE(one_name.err.find("{seed}"), std::string::npos);
}

TEST_F(Scale, ShardsOfACampaignAreTheWhole) {
  std::ofstream(at("c.json")) << R"({"databases": [{"name": "A"}], "workloads": ["mini", "append"],
                                     "seeds": 3, "sessions": 1, "txns": 5})";
  EXPECT_EQ(cupel({"campaign", at("c.json"), "-o", at("whole"), "-q"}).err, "");
  for (const auto* shard : {"1/4", "2/4", "3/4", "4/4"}) {
    EXPECT_EQ(cupel({"campaign", at("c.json"), "-o", at("out"), "--shard", shard}).code, 0);
  }
  const auto merged = cupel({"merge", at("out")});
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_EQ(merged.out, text_of("whole/summary.md"));
  EXPECT_EQ(text_of("out/summary.md"), text_of("whole/summary.md"));
  // Two folders need a third.
  EXPECT_EQ(cupel({"merge", at("out"), at("whole")}).code, 3);
  EXPECT_EQ(cupel({"merge", at("out"), at("whole"), "-o", at("both")}).out, merged.out);
  EXPECT_EQ(cupel({"merge", at("out"), at("c.json"), "-o", at("x")}).code, 3);
}

// Three workers on one SQLite database: the whole is what one process would have recorded.
TEST_F(Scale, WorkersOfOneRunAreOneHistory) {
  const auto db = "sqlite:" + at("db");
  const auto run = [&](std::vector<std::string> more) {
    return cupel(joined(
        {"run", "--db", db, "--tables", "t", "--sessions", "7", "--txns", "15", "--keys", "4"},
        more));
  };
  const auto early = run({"--shard", "1/3", "-o", at("early.jsonl")});
  EXPECT_EQ(early.code, 3) << "there are no tables yet";
  EXPECT_EQ(run({"--make-tables"}).code, 0);
  std::vector<std::string> parts;
  for (int shard = 1; shard <= 3; ++shard) {
    parts.push_back(at("w" + std::to_string(shard) + ".jsonl"));
    const auto ran = run({"--shard", std::to_string(shard) + "/3", "-o", parts.back()});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out.find("violated"), std::string::npos) << ran.out;
  }
  const auto alone = cupel({"check", parts[2]});
  EXPECT_EQ(alone.code, 3);
  EXPECT_NE(alone.err.find("cupel merge"), std::string::npos) << alone.err;
  EXPECT_EQ(cupel({"watch", "--no-follow", parts[2]}).code, 3) << "a part is not watched either";
  const auto missing = cupel({"merge", parts[0], parts[2], "-o", at("no.jsonl")});
  EXPECT_EQ(missing.code, 3);
  EXPECT_NE(missing.err.find("sessions 2 to 3 nowhere"), std::string::npos) << missing.err;
  for (const auto* whole : {"whole.cupel", "whole.jsonl"}) {
    const auto merged = cupel({"merge", parts[1], parts[0], parts[2], "-o", at(whole)});
    EXPECT_EQ(merged.code, 0) << merged.err;
    const auto checked = cupel({"check", "--json", at(whole)});
    EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
    const auto json = Json::parse(checked.out);
    EXPECT_EQ(json.at("sessions"), 7);
    std::size_t satisfied = 0;
    for (const auto& level : json.at("levels")) {
      EXPECT_NE(level.at("verdict"), "violated") << level;
      if (level.at("level") == "strict-serializable")
        satisfied += level.at("verdict") == "satisfied";
    }
    EXPECT_EQ(satisfied, 1U) << "one machine, one clock";
  }
  const auto other = run({"--shard", "1/3", "--workload", "append", "-o", at("other.jsonl")});
  EXPECT_EQ(other.code, 3) << "the tables are those of another workload";
  const auto more_keys = cupel({"run", "--db", db, "--tables", "t", "--sessions", "7", "--keys",
                                "5", "--shard", "1/3", "-o", at("more.jsonl")});
  EXPECT_EQ(more_keys.code, 3) << "these tables have fewer keys: " << more_keys.err;
  EXPECT_EQ(run({"--drop-tables"}).code, 0);
  EXPECT_EQ(run({"--shard", "1/3", "-o", at("late.jsonl")}).code, 3);
}

// The same sessions issue the same, whoever has them.
TEST_F(Scale, SessionsDoNotDependOnTheWorker) {
  const auto db = "sqlite:" + at("db");
  const auto values = [&](std::vector<std::string> share, const std::string& name) {
    const auto ran =
        cupel(joined({"run", "--db", db, "--tables", "t", "--txns", "5", "-o", at(name)}, share));
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::vector<std::string> written;
    std::istringstream in(text_of(name));
    for (std::string line; std::getline(in, line);) {
      const auto json = Json::parse(line);
      if (json.at("type") != "invoke") continue;
      for (const auto& op : json.at("value")) {
        if (op.at(0) == "w") written.push_back(op.dump());
      }
    }
    std::sort(written.begin(), written.end());
    return written;
  };
  ASSERT_EQ(cupel({"run", "--db", db, "--tables", "t", "--make-tables"}).code, 0);
  const auto whole =
      values({"--session-offset", "0", "--all-sessions", "4", "--sessions", "4"}, "a.jsonl");
  const auto first = values({"--sessions", "4", "--shard", "1/2"}, "b.jsonl");
  const auto second =
      values({"--session-offset", "2", "--all-sessions", "4", "--sessions", "2"}, "c.jsonl");
  auto both = joined(first, second);
  std::sort(both.begin(), both.end());
  EXPECT_EQ(both, whole);
  EXPECT_EQ(std::adjacent_find(whole.begin(), whole.end()), whole.end()) << "values are unique";
}

TEST_F(Scale, WorkersThatMakeNoSenseAreRefused) {
  const auto db = "sqlite:" + at("db");
  struct Case {
    std::vector<std::string> arguments;
    const char* word;
  };
  const Case cases[] = {
      {{"run", "--shard", "1/2"}, "--tables"},
      {{"run", "--tables", "t", "--shard", "1/2"}, "--db"},
      {{"run", "--db", "lab:postgres", "--tables", "t", "--shard", "1/2"}, "--db"},
      {{"run", "--db", db, "--tables", "T-1", "--shard", "1/2"}, "lower-case"},
      {{"run", "--db", db, "--tables", "t", "--shard", "1/20"}, "20 shards of 10 sessions"},
      {{"run", "--db", db, "--tables", "t", "--session-offset", "8", "--all-sessions", "10"},
       "below --all-sessions"},
      {{"run", "--db", db, "--tables", "t", "--session-offset", "8"}, "--all-sessions"},
      {{"run", "--db", db, "--tables", "t", "--shard", "1/2", "-o", at("x.cupel")}, "JSON lines"},
      {{"run", "--db", db, "--tables", "t", "--shard", "1/2", "-l", "si"}, "cupel merge"},
      {{"run", "--db", db, "--tables", "t", "--shard", "1/2", "--live"}, "--live"},
      {{"run", "--db", "mock:causal", "--tables", "t", "--make-tables"}, "no tables that several"},
  };
  for (const auto& [arguments, word] : cases) {
    const auto ran = cupel(arguments);
    EXPECT_EQ(ran.code, 3) << word;
    EXPECT_NE(ran.err.find(word), std::string::npos) << ran.err;
  }
}

TEST_F(Scale, QuietAndVerboseAreForEveryCommand) {
  const auto files = generate(2);
  const auto check = joined({"check", "-l", "read-atomic"}, files);
  const auto plain = cupel(check), loud = cupel(joined(check, {"--verbose"}));
  EXPECT_EQ(plain.out, loud.out);
  EXPECT_EQ(plain.err, "");
  EXPECT_NE(loud.err.find("read "), std::string::npos) << loud.err;
  EXPECT_NE(loud.err.find("MB resident"), std::string::npos) << loud.err;
  // Facts that a format cannot hold are a note; an error stays one.
  const auto noted = cupel({"convert", files[0], "-o", at("c.txt"), "-t", "plume"});
  const auto quiet = cupel({"convert", "-q", files[0], "-o", at("c.txt"), "-t", "plume"});
  EXPECT_NE(noted.err.find("note: "), std::string::npos);
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(quiet.code, noted.code);
  EXPECT_NE(cupel({"stats", "--quiet", at("none.jsonl")}).err, "");
  for (const auto* command : {"verify", "stats", "convert", "generate", "run", "campaign", "merge",
                              "elle", "explain", "levels", "doctor", "check"}) {
    const auto help = cupel({command, "--help"}).out;
    EXPECT_NE(help.find("-q,--quiet"), std::string::npos) << command;
    EXPECT_NE(help.find("--verbose"), std::string::npos) << command;
  }
}

}  // namespace
