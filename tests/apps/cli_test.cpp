// The tool as a user runs it: exit codes, what goes to stdout and what to
// stderr, files that appear whole or not at all.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <thread>

#include "apps/interrupt.hpp"
#include "base/interrupt.hpp"
#include "data/formats/format_spec.hpp"
#include "data/formats/formats.hpp"
#include "data/history/builder.hpp"
#include "data/workload/workload.hpp"
#include "engine/levels/spec.hpp"
#include "source_dir.hpp"
#include "support/scratch_folder.hpp"

namespace {

using namespace cupel;

namespace fs = std::filesystem;

// r(key,value,session,transaction): the plume format needs no more.
constexpr const char* kFine = "w(1,1,0,1)\nr(1,1,1,2)\n";
constexpr const char* kLostUpdate = "r(1,0,0,1)\nw(1,1,0,1)\nr(1,0,1,2)\nw(1,2,1,2)\n";

struct CommandResult {
  int code;
  std::string out, err;
};

class Cli : public testing::Test {
 protected:
  void SetUp() override {
    write("fine.txt", kFine);
    write("lost.txt", kLostUpdate);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  // Runs `cupel ARGUMENTS` in the folder, by way of a shell.
  [[nodiscard]] CommandResult cupel(const std::string& arguments) const {
    return shell("'" CUPEL_BINARY "' " + arguments);
  }
  [[nodiscard]] CommandResult shell(const std::string& command) const {
    const auto err = folder_ / "stderr";
    const std::string line =
        "cd '" + folder_.string() + "' && { " + command + " ; } 2>'" + err.string() + "'";
    FILE* pipe = popen(line.c_str(), "r");
    std::string out;
    char buffer[4096];
    for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
    const int status = pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out, text_of("stderr")};
  }

  const cupel::test::ScratchFolder scratch_;
  const fs::path folder_ = scratch_.path();
};

TEST_F(Cli, LevelsHaveTheNamesThatPeopleUse) {
  const auto postgres = cupel("check -l SSI fine.txt");
  EXPECT_EQ(postgres.code, 0);
  EXPECT_NE(postgres.out.find("fine.txt\tserializable\tsatisfied\n"), std::string::npos);
  EXPECT_EQ(postgres.err, "cupel: note: SSI is checked as serializable\n");
  const std::pair<const char*, const char*> kMistakes[] = {
      {"PRAM", "cupel has no level `PRAM`. The nearest level is causal. `cupel explain PRAM`"},
      {"'cursor stability'", "cupel has no level `cursor stability`. The nearest level is snapsh"},
      {"G-single-item", "cupel has no level `G-single-item`. The nearest level is snapshot-isolat"},
      {"lost_update",
       "`lost_update` is an anomaly, not a level. The weakest level that forbids it "
       "is snapshot-isolation."}};
  for (const auto& [name, expected] : kMistakes) {
    const auto ran = cupel(fmt::format("check -l {} fine.txt", name));
    EXPECT_EQ(ran.code, 3) << name;
    EXPECT_NE(ran.err.find(expected), std::string::npos) << name << ran.err;
  }
}

TEST_F(Cli, CompletionNeedsAShellThatItKnows) {
  const auto ran = cupel("completion tcsh");
  EXPECT_EQ(ran.code, 3);
  EXPECT_NE(ran.err.find("SHELL: found `tcsh`, expected bash, zsh or fish"), std::string::npos)
      << ran.err;
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto good = cupel(fmt::format("completion {}", shell));
    // The build makes the files by a target of its own.
    if (good.code == 0) {
      EXPECT_NE(good.out.find("cupel"), std::string::npos) << shell;
    } else {
      EXPECT_EQ(good.code, 3);
      EXPECT_NE(good.err.find("Build it"), std::string::npos) << good.err;
    }
  }
}

TEST_F(Cli, SatisfiedIsZero) {
  const auto ran = cupel("check -l serializable fine.txt");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out,
            "  warning: fine.txt: only 2 transactions committed, so the history shows little\n"
            "fine.txt\tserializable\tsatisfied\n");
  EXPECT_EQ(ran.err, "");
}

TEST_F(Cli, ACauseOfAWeakerLevelThanAskedIsReportedUnderTheLevelAskedFor) {
  write("two-lost.txt",
        std::string(kLostUpdate) + "r(2,0,2,3)\nw(2,1,2,3)\nr(2,0,3,4)\nw(2,2,3,4)\n");
  write("lost-and-skew.txt",
        std::string(kLostUpdate) + "r(2,0,2,3)\nw(3,1,2,3)\nr(3,0,3,4)\nw(2,1,3,4)\n");
  const auto ran = cupel("check -l serializable two-lost.txt");
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("\n  violated: serializable\n  lost-update"), std::string::npos)
      << ran.out;
  EXPECT_NE(ran.out.find("\n    lost-update (G-single): T3 and T4 on key 2; violates serializable "
                         "(because snapshot-isolation is violated)\n"),
            std::string::npos)
      << ran.out;
  EXPECT_NE(cupel("check --verbose -l serializable two-lost.txt")
                .out.find("\n  violated: serializable (because snapshot-isolation is violated)\n  "
                          "lost-update"),
            std::string::npos);
  // A skew that the check of serializable found is reported below the weaker levels.
  const auto ladder = cupel("check lost-and-skew.txt");
  EXPECT_NE(ladder.out.find("\n  violated: snapshot-isolation\n  lost-update"), std::string::npos)
      << ladder.out;
  EXPECT_NE(ladder.out.find("\n    write-skew (G2-item): T3 and T4 on keys 2 and 3; violates "
                            "serializable\n"),
            std::string::npos)
      << ladder.out;
}

TEST_F(Cli, ViolatedIsOneAndExplained) {
  const auto ran = cupel("check -l prefix,si lost.txt");
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out.find("lost.txt\tprefix\tsatisfied\nlost.txt\tsnapshot-isolation\tviolated\n"),
            0u)
      << ran.out;
  EXPECT_NE(ran.out.find("\n  lost-update"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.err, "");
  // What is no verdict line starts with two blanks.
  std::istringstream in(ran.out);
  for (std::string line; std::getline(in, line);) {
    EXPECT_TRUE(line.starts_with("  ") || line.find('\t') != std::string::npos) << line;
  }
}

TEST_F(Cli, CertificatesAndReplicatedHistoriesMayBeCompressed) {
  ASSERT_EQ(cupel("check --certificate proof.json lost.txt").code, 1);
  ASSERT_EQ(cupel("crdt generate --type counter -o counter.jsonl").code, 0);
  const auto plain = cupel("crdt check --type counter counter.jsonl");
  EXPECT_EQ(plain.code, 0) << plain.err;
  ASSERT_EQ(shell("gzip proof.json && gzip counter.jsonl").code, 0);
  EXPECT_EQ(cupel("verify lost.txt proof.json.gz").code, 0);
  EXPECT_EQ(shell("'" CUPEL_BINARY "' verify lost.txt - < proof.json.gz").code, 0);
  EXPECT_EQ(cupel("crdt check --type counter counter.jsonl.gz").code, 0);
  ASSERT_EQ(shell("head -c 60 proof.json.gz > cut.gz").code, 0);
  const auto cut = cupel("verify lost.txt cut.gz");
  EXPECT_EQ(cut.code, 3);
  EXPECT_NE(cut.err.find("cut.gz"), std::string::npos) << cut.err;
}

// Its other fields may then be those of other transactions, so explanations omit them.
TEST_F(Cli, AFileThatChangesWhileItIsCheckedIsWarnedAbout) {
  ASSERT_EQ(cupel("convert lost.txt lost.jsonl").code, 0);
  EXPECT_EQ(cupel("check lost.jsonl").err, "");
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; !done; ++i) {
      fs::last_write_time(folder_ / "lost.jsonl",
                          fs::file_time_type::clock::now() - std::chrono::seconds(i % 1000));
    }
  });
  // The writer may miss a check.
  CommandResult ran;
  for (int i = 0; i < 100 && ran.err.empty(); ++i) ran = cupel("check -l si lost.jsonl");
  done = true;
  writer.join();
  EXPECT_EQ(ran.code, 1);
  EXPECT_TRUE(ran.err.starts_with("cupel: lost.jsonl: warning: the file has changed since "))
      << ran.err;
  EXPECT_NE(ran.out.find("\n  lost-update"), std::string::npos) << ran.out;
}

TEST_F(Cli, LevelsMayBeRepeated) {
  const auto ran = cupel("check -l rc -l ra,cc -l RC fine.txt");
  EXPECT_EQ(ran.out,
            "  warning: fine.txt: only 2 transactions committed, so the history shows little\n"
            "fine.txt\tread-committed\tsatisfied\nfine.txt\tread-atomic\tsatisfied\nfine."
            "txt\tcausal\tsatisfied\n");
}

TEST_F(Cli, UnknownIsTwo) {
  const auto ran = cupel("check -l serializable --timeout 0 lost.txt");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out.find("lost.txt\tserializable\tunknown\n"), 0u) << ran.out;
  EXPECT_EQ(cupel("check -l serializable --memory-limit 1K lost.txt").code, 2);
}

TEST_F(Cli, BadInputIsThreeAndTheOthersAreStillChecked) {
  const auto ran = cupel("check -l ser nowhere.txt lost.txt fine.txt");
  EXPECT_EQ(ran.code, 3);
  EXPECT_NE(ran.out.find("lost.txt\tserializable\tviolated\n"), std::string::npos);
  EXPECT_NE(ran.out.find("fine.txt\tserializable\tsatisfied\n"), std::string::npos);
  EXPECT_NE(ran.err.find("nowhere.txt"), std::string::npos);
}

TEST_F(Cli, TheLargestCodeWins) {
  EXPECT_EQ(cupel("check -l ser lost.txt fine.txt").code, 1);
  EXPECT_EQ(cupel("check -l ser fine.txt lost.txt").code, 1);
}

TEST_F(Cli, MalformedLinesAreErrorsWithTheirPlace) {
  write("bad.txt", "w(1,1,0,1)\nr(1,1,zero,2)\n");
  const auto ran = cupel("check bad.txt");
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("bad.txt:2"), std::string::npos) << ran.err;
}

TEST_F(Cli, VerifyReadsOperationMapsTwice) {
  write("ops.jsonl",
        R"({"type":"invoke","process":0,"f":"txn","value":[["w","x",1],["range",["a",null],null]]}
{"type":"ok","process":0,"f":"txn","value":[["w","x",1],["range",["a",null],[["x",1]]]]}
)");
  write("ops.edn", "{:type :invoke :process 0 :f :acquire}\n{:type :ok :process 0 :f :acquire}\n");
  write("strings.edn", "{:type :ok :process 0 :f :put :key \"k\" :value \"v\"}\n");
  const std::string twice = "  Two independent readers read the same history.\n";
  for (const std::string name : {"ops.jsonl", "ops.edn", "strings.edn", "fine.txt"}) {
    ASSERT_EQ(cupel("check --certificate proof.json " + name).code, 0);
    const auto ran = cupel("verify " + name + " proof.json");
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    const auto json = cupel("verify --json " + name + " proof.json").out;
    if (name.starts_with("ops")) {
      EXPECT_NE(ran.out.find(twice), std::string::npos) << ran.out;
      EXPECT_NE(json.find(R"("second_reader":{"used":true,"reason":null})"), std::string::npos);
      EXPECT_EQ(cupel("verify - proof.json < " + name).out.find(twice) != std::string::npos, true);
      continue;
    }
    EXPECT_NE(ran.out.find("  The history was read once: the second reader "), std::string::npos)
        << ran.out;
    EXPECT_NE(json.find(R"("second_reader":{"used":false,"reason":"the second reader )"),
              std::string::npos)
        << json;
  }
}

TEST_F(Cli, VerifyChecksWhatCheckWrote) {
  for (const std::string name : {"fine", "lost"}) {
    EXPECT_LE(cupel("check --certificate " + name + ".json " + name + ".txt").code, 1);
    const auto ran = cupel("verify " + name + ".txt " + name + ".json");
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    EXPECT_TRUE(ran.out.starts_with(name + ".json: valid for " + name + ".txt\n")) << ran.out;
    EXPECT_EQ(ran.err, "");
  }
  EXPECT_NE(
      cupel("verify lost.txt lost.json")
          .out.find(
              "  serializable                       violated   proven by a cycle of 2 edges\n"),
      std::string::npos);
  // Of another history; no certificate; no file.
  auto ran = cupel("verify fine.txt lost.json");
  EXPECT_EQ(ran.code, 1);
  EXPECT_TRUE(ran.out.starts_with("lost.json: not valid\n  ")) << ran.out;
  EXPECT_NE(cupel("verify --json fine.txt lost.json")
                .out.find("\"valid\":false,\"reason\":\"the certificate is about"),
            std::string::npos);
  ran = cupel("verify fine.txt fine.txt");
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(
      ran.err,
      "cupel: fine.txt: found a file that is no JSON document, expected a certificate, the JSON "
      "document that `cupel check --certificate FILE HISTORY` writes; the history comes first: "
      "`cupel verify HISTORY CERTIFICATE`\n");
  ran = cupel("verify fine.json fine.txt");
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.err,
            "cupel: fine.json: found a certificate, expected a history; the history comes first: "
            "`cupel verify HISTORY CERTIFICATE`\n");
  write("replicated.json", R"({"cupel_crdt_certificate":1})");
  ran = cupel("verify fine.txt replicated.json");
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.err,
            "cupel: replicated.json: found a certificate of a replicated data type, which `cupel "
            "crdt verify` checks\n");
  write("cut.json", text_of("lost.json").substr(0, 100));
  ran = cupel("verify lost.txt cut.json");
  EXPECT_EQ(ran.code, 3);
  EXPECT_NE(ran.err.find("found what begins as a JSON document and is none"), std::string::npos)
      << ran.err;
  write("other.json", "{\"a\": 1}");
  EXPECT_NE(cupel("verify lost.txt other.json")
                .err.find("without the field `cupel_certificate`, expected"),
            std::string::npos);
  EXPECT_EQ(cupel("verify fine.txt nothing.json").code, 3);
  EXPECT_EQ(cupel("verify nothing.txt fine.json").code, 3);
}

TEST_F(Cli, ACertificateIsWholeOrAsItWas) {
  // Nothing is decided: a certificate without answers, in the place of the old one.
  write("proof.json", "old");
  EXPECT_EQ(cupel("check --timeout 0 --certificate proof.json lost.txt").code, 2);
  // Nothing is read: none is written, and that is said.
  ASSERT_EQ(cupel("generate --txns 5000 -o large.cupel").code, 0);
  write("proof.json", "old");
  auto ran = cupel("check --timeout 0 --certificate proof.json large.cupel");
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("proof.json: no certificate was written"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("of before"), std::string::npos) << ran.err;
  EXPECT_EQ(text_of("proof.json"), "old");
  // It cannot be written: three, with the reason, before anything is checked.
  ran = cupel("check --certificate none/proof.json --report pages lost.txt");
  EXPECT_EQ(ran.code, 3);
  EXPECT_NE(ran.err.find("none/proof.json: the certificate cannot be written: No such file"),
            std::string::npos)
      << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_FALSE(fs::exists(folder_ / "pages"));
  EXPECT_EQ(cupel("check --certificate proof.json lost.txt").code, 1);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_NE(entry.path().extension(), ".new") << entry.path() << " was left";
  }
}

TEST_F(Cli, WhatCannotBeWrittenIsFoundBeforeTheCheck) {
  fs::create_directories(folder_ / "taken");
  write("file", "");
  for (const std::string output :
       {"--certificate taken", "--certificate none/a.json", "--emit sql=taken",
        "--emit junit=none/a.xml", "--report file", "--report file/pages"}) {
    const auto ran = cupel("check " + output + " lost.txt");
    EXPECT_EQ(ran.code, 3) << output;
    EXPECT_EQ(ran.out, "") << output;  // no verdict yet
    const auto path = output.substr(output.find_last_of(" =") + 1);
    EXPECT_TRUE(ran.err.starts_with("cupel: " + path)) << output << ": " << ran.err;
  }
  EXPECT_EQ(cupel("check --certificate a.json --emit sql=b.sql lost.txt").code, 1);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_NE(entry.path().extension(), ".new") << entry.path() << " was left";
  }
}

TEST_F(Cli, VerifyReadsTheCertificateFromStandardInput) {
  ASSERT_EQ(cupel("check --certificate proof.json lost.txt").code, 1);
  EXPECT_EQ(shell("'" CUPEL_BINARY "' verify lost.txt - < proof.json").code, 0);
  EXPECT_EQ(shell("'" CUPEL_BINARY "' verify - proof.json < lost.txt").code, 0);
  EXPECT_EQ(shell("'" CUPEL_BINARY "' verify fine.txt - < proof.json").code, 1);
  const auto ran = shell("'" CUPEL_BINARY "' verify - - < proof.json");
  EXPECT_EQ(ran.code, 3);
  EXPECT_NE(ran.err.find("found - twice"), std::string::npos) << ran.err;
}

TEST_F(Cli, VeryManyHistoriesHaveTheVerdictsOfEachAndATable) {
  std::string names, alone;
  for (int i = 0; i < 40; ++i) {
    const auto name = fmt::format("h{}.txt", i);
    write(name, i % 3 == 0 ? kLostUpdate : kFine);
    names += " " + name;
    alone += cupel("check -l si " + name).out;
  }
  for (const char* threads : {"1", "2", "8"}) {
    const auto all =
        cupel(fmt::format("check -l si --threads {} --report r{}{}", threads, threads, names));
    EXPECT_EQ(all.code, 1);
    EXPECT_EQ(all.out, alone + "  report: r" + threads + "/index.html\n") << threads;
    EXPECT_NE(all.err.find("40 histories, 14 violated\n"), std::string::npos) << all.err;
    EXPECT_NE(all.err.find("snapshot-isolation                          26        14         0"),
              std::string::npos)
        << all.err;
    // A page for each that is violated, and the one that lists all.
    const auto pages = fs::recursive_directory_iterator(folder_ / fmt::format("r{}", threads));
    EXPECT_EQ(
        std::count_if(begin(pages), end(pages),
                      [](const auto& entry) { return entry.path().filename() == "index.html"; }),
        15);
  }
}

TEST_F(Cli, AMutexThatTwoSessionsHoldIsCalledThat) {
  const std::string acquire = R"({:process 0, :type :invoke, :f :acquire, :value nil}
{:process 0, :type :ok, :f :acquire, :value nil}
{:process 1, :type :invoke, :f :acquire, :value nil}
{:process 1, :type :ok, :f :acquire, :value nil}
)";
  write("mutex.edn", acquire);
  const auto held = cupel("check -l snapshot-isolation --report page mutex.edn");
  EXPECT_EQ(held.code, 1) << held.err;
  EXPECT_NE(held.out.find("  mutex held twice (lost-update, G-single): T1 and T3 both found"),
            std::string::npos)
      << held.out;
  const auto page = text_of("page/index.html");
  EXPECT_NE(page.find(">mutex held twice <small>lost-update, G-single</small></h3>"),
            std::string::npos);
  EXPECT_EQ(page.find("one update is lost"), std::string::npos);
  // The name of the JSON output is the one that explain knows.
  EXPECT_NE(cupel("check -l snapshot-isolation --json mutex.edn").out.find("\"lost-update\""),
            std::string::npos);
  // A register has a lost update.
  EXPECT_NE(cupel("check -l snapshot-isolation lost.txt").out.find("  lost-update (G-single): "),
            std::string::npos);
}

TEST_F(Cli, AReportHoldsItsOwnFilesOnly) {
  // A history that cannot be read is listed; alone, it leaves no folder.
  write("bad.txt", "w(1,1,0,1)\nr(1,1,zero,2)\n");
  EXPECT_EQ(cupel("check --report pages lost.txt bad.txt nowhere.txt").code, 3);
  const auto index = text_of("pages/index.html");
  EXPECT_NE(index.find("3 histories"), std::string::npos);
  EXPECT_NE(index.find("bad.txt<p>Could not be read: bad.txt:2"), std::string::npos) << index;
  EXPECT_NE(index.find("nowhere.txt<p>Could not be read: "), std::string::npos);
  EXPECT_EQ(cupel("check --report alone bad.txt").code, 3);
  EXPECT_FALSE(fs::exists(folder_ / "alone"));
  // An earlier report's further pictures go; what is not ours stays.
  EXPECT_EQ(cupel("check --report again lost.txt").code, 1);
  ASSERT_TRUE(fs::exists(folder_ / "again/counterexample-1.svg"));
  for (const char* extension : {".dot", ".svg"}) {
    fs::copy_file(folder_ / ("again/counterexample-1" + std::string(extension)),
                  folder_ / ("again/counterexample-7" + std::string(extension)));
  }
  write("again/counterexample-8.dot", "digraph mine {}");
  write("again/counterexample-mine.svg", "<svg/>");
  const auto again = cupel("check --report again fine.txt");
  EXPECT_EQ(again.code, 0);
  EXPECT_NE(again.out.find("\n\n  report: again/index.html\n"), std::string::npos) << again.out;
  const auto json = cupel("check --json --report again fine.txt");
  EXPECT_EQ(json.out.find("index.html"), std::string::npos) << json.out;
  EXPECT_NE(json.err.find("the report is again/index.html"), std::string::npos) << json.err;
  for (const char* name : {"counterexample-1.dot", "counterexample-1.svg", "counterexample-7.dot",
                           "counterexample-7.svg"}) {
    EXPECT_FALSE(fs::exists(folder_ / "again" / name)) << name;
  }
  EXPECT_TRUE(fs::exists(folder_ / "again/counterexample-8.dot"));
  EXPECT_TRUE(fs::exists(folder_ / "again/counterexample-mine.svg"));
}

TEST_F(Cli, NothingIsWrittenOverTheHistoryOrTwice) {
  const auto before = text_of("lost.txt");
  for (const char* outputs : {"--certificate lost.txt", "--emit sql=./lost.txt",
                              "--emit sql=a,markdown=a", "--certificate a --emit sql=a"}) {
    const auto ran = cupel(std::string("check ") + outputs + " lost.txt");
    EXPECT_EQ(ran.code, 3) << outputs;
    EXPECT_NE(ran.err.find("expected another file"), std::string::npos) << ran.err;
  }
  EXPECT_EQ(text_of("lost.txt"), before);
}

TEST_F(Cli, UsageErrorsAreThree) {
  for (const char* arguments :
       {"", "check", "check -l best fine.txt", "check -f xml fine.txt",
        "check --timeout soon fine.txt", "check --memory-limit 4X fine.txt",
        "check --clock-drift -1 fine.txt", "check --threads many fine.txt", "verify fine.txt",
        "frobnicate", "convert fine.txt", "generate", "explain no-such-thing", "stats"}) {
    const auto ran = cupel(arguments);
    EXPECT_EQ(ran.code, 3) << arguments;
    EXPECT_EQ(ran.out, "") << arguments;
    EXPECT_TRUE(ran.err.starts_with("cupel: ")) << arguments << ": " << ran.err;
  }
}

TEST_F(Cli, WithoutACommandItSaysWhereToStart) {
  const auto ran = cupel("");
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out, "");
  std::istringstream lines(ran.err);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_EQ(count, 6U) << ran.err;
}

TEST_F(Cli, UsageErrorsSayWhatWasMeant) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"''",
       "expected a command: check, run, campaign, watch, verify, stats, convert, generate, "
       "merge, lab, mock, crdt, elle, explain, levels, completion or "
       "doctor"},
      {"frobnicate", "found the command `frobnicate`, expected check, "},
      {"chekc fine.txt", "did you mean `check`?"},
      {"--verison", "did you mean `--version`?"},
      {"check --levle=si fine.txt",
       "found `--levle`, which is no option of check; did you mean `--level`?"},
      {"check --levle=si", "did you mean `--level`?"},
      {"check -l serialisable fine.txt", "did you mean `serializable`?"},
      {"check -l 'repeatable read' fine.txt",
       "The nearest level is serializable. `cupel explain 'repeatable read'` says"},
      {"watch --timeout-window 3 fine.txt", "did you mean `--window-timeout`?"},
      {"check --kind list-append fine.txt",
       "found `list-append`, expected transactions, registers, mutex or strings, or set, set-full, "
       "counter, unique-ids, total-queue, fifo-queue, bank; did you mean `transactions`?"},
      {"check --kind transaction fine.txt", "did you mean `transactions`?"},
      {"check --kind cas-register fine.txt", "did you mean `registers`?"},
      {"check --kind lock fine.txt", "did you mean `mutex`?"},
      {"run --workload list-append", "no workload `list-append`. Did you mean `append`?"},
      {"run --workload rw-register", "Did you mean `general`?"},
      {"merge --kind list-append a b", "did you mean `transactions`?"},
      {"check -l best fine.txt", "found `best`, which is no level; `cupel levels` lists them"},
      {"check -l PL-2 fine.txt",
       "cupel has no level `PL-2`. The nearest level is read-committed. `cupel explain PL-2`"},
      {"lab start redis --nodes 3", "--nodes: found it with redis, which starts one server"},
      {"lab start redis --sync", "--sync: found it with redis, which has no synchronous standby"},
      {"run --read-from primry", "--read-from: found `primry`, expected primary, replica or any"},
      {"run --db lab:postgres-standby --read-from any",
       "a standby of postgres-standby begins no transaction at serializable; choose another "
       "--isolation, or --read-from primary"},
      {"run --db lab:etcd --read-from any", "--read-from: found no hosts to choose between"},
      {"run --db lab:redis --workload tpcc",
       "the workload tpcc needs transactions of several statements, one after the other, which the "
       "driver for redis does not have"},
      {"run --sessions 100000", "--sessions: found 100000 for one process, expected at most 2000"},
      {"run --read-from any", "--read-from: found no hosts to choose between, expected several"},
      {"check -f plum fine.txt", "did you mean `plume`?"},
      {"check --threads -1 fine.txt", "--threads: found `-1`, expected a whole number from 0"},
      {"check --clock-drift 1m fine.txt", "found `1m`, expected a duration"},
      {"check --timeout -5 fine.txt", "found `-5`, expected a duration: a number, 0 or more, "},
      {"check --memory-limit -1 fine.txt", "found `-1`, expected a size: a number, 0 or more, "},
      {"check ''", "HISTORY: found an empty name, expected a file or a folder"},
      {"check --report '' fine.txt", "--report: found an empty name, expected the folder"},
      {"stats ''", "HISTORY: found an empty name, expected a file or a folder"},
      {"generate -o ''", "--output: found an empty name, expected the file to write"},
      {"generate --ops 0 -o x.jsonl", "found `0`, expected a number, 1 or more, or a range "},
      {"generate --ops 8-4 -o x.jsonl", "found `8-4`, expected the lower number first, as in 4-8"},
      {"run --scale 0", "found `0`, expected a number above 0, at most 1000"},
      {"crdt generate --type counter --bug interleavs -o x",
       "found `interleavs`, expected a bug of the type counter: loses-increment"},
      {"convert fine.txt", "OUT, the file to write, is required"},
      {"convert fine.txt a.edn -o b.edn", "named twice"},
      {"convert fine.txt a.edn b.edn", "found `b.edn`, expected nothing more"},
      {"generate --sessions -5 -o x.jsonl",
       "--sessions: found `-5`, expected a whole number from 1 to 100000"},
      {"generate --seed abc -o x.jsonl", "--seed: found `abc`"},
      {"generate --read-share 2 -o x.jsonl", "found `2`, expected a number from 0 to 1"},
      {"generate --keys 99999999999999999999 -o x.jsonl", "found `99999999999999999999`"},
      {"generate --inject lost-updat -o x.jsonl", "did you mean `lost-update`?"},
      {"generate --level gsi -o x.jsonl", "expected read-committed, read-atomic, "},
      {"generate --distribution zip -o x.jsonl", "did you mean `zipf`?"},
      {"explain write skw", "did you mean `write-skew`?"},
      {"check --timeout 1s --timeout 2s fine.txt",
       "found --timeout 2 times, expected it once; leave out all but one"},
      {"check fine.txt --timeout", "--timeout: expected DURATION after it"},
      {"crdt", "expected a command after crdt: check, "},
      {"crdt foo", "found `foo` after crdt, expected check, "},
      {"crdt chek", "did you mean `check`?"},
      {"crdt check --tipe x",
       "found `--tipe`, which is no option of check; did you mean `--type`?"},
      {"lab foo", "found `foo` after lab, expected "},
      {"convert fine.txt x", "say it with -t, or end it in .jsonl, "},
      {"convert fine.txt -",
       "standard output has no name that says which format to write; say it with -t"},
  };
  for (const auto& [arguments, expected] : mistakes) {
    const auto ran = cupel(arguments);
    EXPECT_EQ(ran.code, 3) << arguments;
    EXPECT_NE(ran.err.find(expected), std::string::npos) << arguments << ": " << ran.err;
  }
  EXPECT_FALSE(fs::exists(folder_ / "x.jsonl"));
}

TEST_F(Cli, AHistoryOfAReplicatedDataTypeIsReferredToCrdtCheck) {
  write("set.jsonl", R"({"process":1,"f":"add","key":"s","value":"a"})"
                     "\n"
                     R"({"process":2,"f":"read","key":"s","value":["a"]})"
                     "\n");
  const auto ran = cupel("check set.jsonl");
  EXPECT_EQ(ran.code, 3);
  for (const char* part :
       {"; it can be read as the history of a replicated data type, add-wins-set",
        " or last-writer-wins-set: `cupel crdt check --type add-wins-set set.jsonl`\n"})
    EXPECT_NE(ran.err.find(part), std::string::npos) << ran.err;
  EXPECT_EQ(cupel("crdt check --type add-wins-set set.jsonl").code, 0);
  // Each object says its type.
  write("objects.jsonl",
        "{\"object\":\"s\",\"type\":\"or-set\"}\n"
        "{\"process\":1,\"object\":\"s\",\"f\":\"add\",\"value\":\"a\"}\n");
  EXPECT_NE(cupel("check objects.jsonl").err.find("`cupel crdt check objects.jsonl`"),
            std::string::npos);
  EXPECT_EQ(cupel("crdt check objects.jsonl").code, 0);
  // What is wrong in a history of transactions is reported as it is.
  write("wrong.jsonl", R"({"index":0,"type":"ok","process":0,"f":"txn","value":[["w",1,1]]})"
                       "\n"
                       R"({"index":1,"type":"ok","process":0,"f":"txn","value":7})"
                       "\n");
  const auto wrong = cupel("check wrong.jsonl");
  EXPECT_EQ(wrong.code, 3);
  EXPECT_EQ(wrong.err.find("crdt"), std::string::npos) << wrong.err;
}

// Whether a set of clients loses an element, or a queue is linearizable, is no question of a
// replicated data type; nor does a type fit of which only the first lines are.
TEST_F(Cli, AHistoryOfClientsIsNotReferredToCrdtCheck) {
  const std::pair<std::string, std::string> files[] = {
      {"set.edn",
       "{:type :invoke, :process 0, :f :add, :value 1}\n{:type :ok, :process 0, :f :add, :value "
       "1}\n"
       "{:type :invoke, :process 1, :f :read, :value nil}\n"
       "{:type :ok, :process 1, :f :read, :value #{1}}\n"},
      {"counter.edn",
       "{:type :ok, :process 0, :f :add, :value 1}\n{:type :ok, :process 1, :f :read, :value 1}\n"},
      {"counter.jsonl", R"({"type":"ok","process":0,"f":"inc","value":1})"
                        "\n"
                        R"({"type":"ok","process":1,"f":"read","value":1})"
                        "\n"},
      {"later.jsonl", [] {
         std::string lines;
         for (int i = 0; i < 3000; ++i)
           lines += R"({"process":1,"f":"add","key":"s","value":)" + std::to_string(i) + "}\n";
         return lines + R"({"process":1,"f":"enqueue","key":"s","value":{"a":[1]}})" + "\n";
       }()}};
  for (const auto& [file, text] : files) {
    write(file, text);
    const auto ran = cupel("check " + file);
    EXPECT_EQ(ran.code, file == "set.edn" ? 0 : 3) << file;
    EXPECT_EQ(ran.err.find("crdt"), std::string::npos) << ran.err;
  }
}

TEST_F(Cli, AStoreOfJepsenIsCheckedAsItIs) {
  const std::string append =
      "{:process 0, :time 1000, :type :invoke, :f :txn, :value [[:r 1 nil] [:r 2 nil]]}\n"
      "{:process 1, :time 1010, :type :invoke, :f :txn, :value [[:append 1 1]]}\n"
      "{:process 1, :time 1020, :type :ok,     :f :txn, :value [[:append 1 1]]}\n"
      "{:process 1, :time 1030, :type :invoke, :f :txn, :value [[:append 2 1]]}\n"
      "{:process 1, :time 1040, :type :ok,     :f :txn, :value [[:append 2 1]]}\n"
      "{:process 0, :time 1050, :type :ok,     :f :txn, :value [[:r 1 nil] [:r 2 [1]]]}\n";
  const std::string log =
      "INFO [2017-08-19 06:23:31,518] jepsen worker 0 - jepsen.util 0\t:invoke\t:write\t3\n"
      "INFO [2017-08-19 06:23:31,520] jepsen worker 0 - jepsen.util 0\t:ok\t:write\t3\n"
      "INFO [2017-08-19 06:23:31,528] jepsen worker 1 - jepsen.util 1\t:invoke\t:read\tnil\n"
      "INFO [2017-08-19 06:23:31,530] jepsen worker 1 - jepsen.util 1\t:ok\t:read\t3\n";
  fs::create_directories(folder_ / "store/app/1");
  fs::create_directories(folder_ / "store/app/2");
  fs::create_directories(folder_ / "store/app/3");
  write("store/app/1/history.edn", append);
  write("store/app/1/jepsen.log", log);
  write("store/app/2/jepsen.log", log);
  write("store/app/3/history.edn", "");
  write("store/app/3/test.jepsen", "JEPSEN");
  fs::create_directory_symlink("1", folder_ / "store/app/latest");
  const auto one = cupel("check -l causal store/app/latest");
  EXPECT_EQ(one.out.substr(0, one.out.find('\n')), "store/app/latest/history.edn\tcausal\tviolated")
      << one.err;
  const auto all = cupel("check -l causal store | grep -v '^  '");
  EXPECT_EQ(all.out,
            "store/app/1/history.edn\tcausal\tviolated\n"
            "store/app/2/jepsen.log\tcausal\tsatisfied\n"
            "store/app/3/history.edn\tcausal\tsatisfied\n")
      << all.err;
  EXPECT_NE(all.err.find("store/app/3/history.edn: no client made an operation"), std::string::npos)
      << all.err;
  EXPECT_EQ(cupel("check store/app/3").code, 0);
  EXPECT_EQ(cupel("check --json store/app/3").code, 0);
  EXPECT_EQ(cupel("check --certificate c.json store/app/3").code, 0);
  EXPECT_EQ(cupel("verify store/app/3 c.json").code, 0) << cupel("verify store/app/3 c.json").err;
  EXPECT_EQ(cupel("stats store").code, 0);
  EXPECT_EQ(cupel("check --certificate c.json store/app/1").code, 1);
  EXPECT_EQ(cupel("verify store/app/1 c.json").code, 0) << cupel("verify store/app/1 c.json").err;
  const auto binary = cupel("check store/app/3/test.jepsen");
  EXPECT_EQ(binary.code, 3);
  EXPECT_NE(binary.err.find("Use store/app/3/history.edn instead"), std::string::npos)
      << binary.err;
}

// A driver that is broken, and a PATH without any server.
TEST_F(Cli, DoctorNamesWhatToInstall) {
  fs::create_directories(folder_ / "broken");
  write("broken/libcupel-driver-postgres.so", "no library");
  const auto doctor = [&](const std::string& variables) {
    const auto ran = shell("env " + variables + " '" CUPEL_BINARY "' doctor --json");
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::map<std::string, std::string> problems;
    const auto found = nlohmann::json::parse(ran.out);
    for (const auto& finding : found["findings"]) {
      EXPECT_EQ(finding["works"], !finding.contains("problem")) << finding;
      problems[finding["group"].get<std::string>().substr(0, 4) +
               finding["name"].get<std::string>()] = finding.value("problem", "");
    }
    return problems;
  };
  const auto here = doctor("LC_ALL=C");
  ASSERT_TRUE(here.contains("Dataexec") && here.contains("Servetcd") &&
              here.contains("Faulnetwork"));
  EXPECT_EQ(here.at("Dataexec"), "");
  const auto poor = doctor("PATH=/nowhere CUPEL_PLUGINS=broken");
  EXPECT_EQ(poor.size(), here.size());
  EXPECT_EQ(poor.at("Dataexec"), "");
  EXPECT_NE(poor.at("Servetcd").find("install the Debian package etcd-server"), std::string::npos)
      << poor.at("Servetcd");
  if (here.at("Datapostgres").empty()) {
    EXPECT_NE(poor.at("Datapostgres").find("Install the package cupel-postgres"), std::string::npos)
        << poor.at("Datapostgres");
  }
  const auto words = cupel("doctor");
  EXPECT_EQ(words.code, 0);
  EXPECT_NE(words.out.find("\nFaults\n"), std::string::npos) << words.out;
}

TEST_F(Cli, ARefusedLevelAskedForByNameIsAnError) {
  const auto ran = cupel("check -l strict-serializable fine.txt");
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("fine.txt: strict-serializable is refused: it needs "), std::string::npos)
      << ran.err;
  write(
      "two-keys.jsonl",
      R"({"index":0,"type":"invoke","process":0,"f":"txn","value":[["w",1,1],["w",2,1]],"time":1})"
      "\n"
      R"({"index":1,"type":"ok","process":0,"f":"txn","value":[["w",1,1],["w",2,1]],"time":2})"
      "\n");
  EXPECT_NE(cupel("check -l linearizable two-keys.jsonl")
                .err.find("two-keys.jsonl: linearizable is refused: it is about operations on "
                          "single objects, and "),
            std::string::npos);
  // The ladder asks what can be asked.
  const auto ladder = cupel("check fine.txt");
  EXPECT_EQ(ladder.code, 0);
  EXPECT_NE(ladder.out.find("\n  refused    "), std::string::npos) << ladder.out;
}

TEST_F(Cli, TheLadderNamesStrongestAndWeakestFirst) {
  const auto ran = cupel("check lost.txt");
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(
      ran.out.find("lost.txt: strongest satisfied: prefix; weakest violated: snapshot-isolation\n"),
      0u)
      << ran.out;
  EXPECT_EQ(ran.out.find('\x1b'), std::string::npos);
}

TEST_F(Cli, JsonIsOneObjectALine) {
  const auto ran = cupel("check --json lost.txt fine.txt");
  EXPECT_EQ(ran.code, 1);
  std::istringstream in(ran.out);
  std::vector<nlohmann::json> objects;
  for (std::string line; std::getline(in, line);) objects.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(objects[0]["file"], "lost.txt");
  EXPECT_EQ(objects[0]["format"], "plume");
  EXPECT_EQ(objects[0]["weakest_violated"][0], "snapshot-isolation");
  for (const auto& level : objects[0]["levels"]) {
    if (level["verdict"] == "violated") {
      EXPECT_EQ(level["anomalies"][0]["name"], "lost-update");
    }
  }
}

TEST_F(Cli, TheSameInputGivesTheSameOutput) {
  EXPECT_EQ(cupel("check -l si --threads 1 lost.txt").out,
            cupel("check -l si --threads 4 lost.txt").out);
}

TEST_F(Cli, AReaderThatGoesAwayIsNoError) {
  const auto ran =
      shell("{ '" CUPEL_BINARY
            "' check --shrink-time 0 $(yes lost.txt | head -300); echo $? >code; } | head -1");
  EXPECT_TRUE(ran.err.starts_with("300 histories, 300 violated\n")) << ran.err;
  EXPECT_EQ(ran.err.find("cupel:"), std::string::npos) << ran.err;
  EXPECT_EQ(text_of("code"), "1\n");
}

// Far more than a pipe holds, and a reader that takes one line.
TEST_F(Cli, AReaderThatGoesAwayEndsConvertAndGenerateQuietly) {
  ASSERT_EQ(cupel("generate --sessions 20 --txns 1000 -o long.jsonl").code, 0);
  for (const char* arguments : {"convert -t jepsen long.jsonl -", "convert -t cupel long.jsonl -",
                                "convert -t jepsen long.jsonl /dev/stdout",
                                "generate --sessions 20 --txns 1000 -t jepsen -o -",
                                "generate --plan mini --sessions 20 --txns 2000 -o -"}) {
    const auto ran = shell("{ '" CUPEL_BINARY "' " + std::string(arguments) +
                           "; echo $? >code; } | head -c 10 >/dev/null");
    EXPECT_EQ(ran.err, "") << arguments;
    EXPECT_EQ(text_of("code"), "0\n") << arguments;
  }
  EXPECT_EQ(cupel("convert -t cupel long.jsonl - >/dev/full").err,
            "cupel: standard output: cannot write: No space left on device\n");
}

TEST_F(Cli, AFullDiskIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  const auto ran = cupel("check fine.txt >/dev/full");
  EXPECT_EQ(ran.code, 3);
  EXPECT_NE(ran.err.find("standard output"), std::string::npos);
}

TEST_F(Cli, ConvertsByExtensionAndBack) {
  EXPECT_EQ(cupel("convert lost.txt lost.cupel").code, 0);
  EXPECT_EQ(cupel("convert lost.cupel -o lost.awdit").code, 0);
  EXPECT_EQ(cupel("convert -t plume lost.awdit again.txt").code, 0);
  EXPECT_EQ(cupel("check -l si again.txt").code, 1);
  EXPECT_EQ(cupel("convert lost.txt lost.edn").code, 0);
  EXPECT_NE(text_of("lost.edn").find(":type"), std::string::npos);
  EXPECT_EQ(cupel("check -l si lost.edn").code, 1);
}

TEST_F(Cli, ConvertSaysWhatTheFormatHasNoPlaceFor) {
  EXPECT_EQ(cupel("convert fine.txt fine.jsonl").err, "");
  EXPECT_EQ(cupel("generate --sessions 2 --txns 3 -o timed.jsonl").err, "");
  const auto ran = cupel("convert timed.jsonl timed.awdit");
  EXPECT_EQ(ran.code, 0);
  EXPECT_TRUE(
      ran.err.starts_with("cupel: note: awdit cannot hold these, so they are omitted: times, "))
      << ran.err;
  EXPECT_NE(ran.err.find("metadata (seed, store)"), std::string::npos) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1);
  EXPECT_EQ(cupel("convert timed.jsonl timed.cupel").err, "");
}

TEST_F(Cli, ADashIsStandardInputAndOutput) {
  const std::string tool = "'" CUPEL_BINARY "' ";
  const auto piped = shell("cat lost.txt | " + tool + "check -l si -");
  EXPECT_EQ(piped.code, 1);
  EXPECT_EQ(piped.out.find("-\tsnapshot-isolation\tviolated\n"), 0u) << piped.out;
  EXPECT_TRUE(cupel("check -l prefix - <lost.txt").out.ends_with("\n-\tprefix\tsatisfied\n"));
  EXPECT_EQ(cupel("stats --json - <fine.txt").code, 0);
  // A run of Jepsen in which no client did anything; a history without transactions in another
  // format has no such reason.
  write("no-clients.jsonl",
        R"({"index":0,"type":"info","process":"nemesis","f":"start","value":null})"
        "\n");
  EXPECT_EQ(cupel("check no-clients.jsonl").code, 0);
  const auto nothing = history::HistoryBuilder().finish();
  ASSERT_TRUE(
      formats::write(*nothing, (folder_ / "none.bin").string(), {.format = formats::Format::kCupel})
          .ok());
  for (const char* command :
       {"check none.bin", "check -l serializable none.bin", "stats none.bin"}) {
    const auto none = cupel(command);
    EXPECT_EQ(none.code, 3) << command;
    EXPECT_EQ(none.err,
              "cupel: none.bin: found a history without transactions, expected one at least\n");
  }
  const auto empty = cupel("check - </dev/null");
  EXPECT_EQ(empty.code, 3);
  EXPECT_NE(empty.err.find("standard input: found an empty file"), std::string::npos) << empty.err;
  EXPECT_EQ(cupel("convert -t plume - - <lost.txt").out, kLostUpdate);
  EXPECT_EQ(shell(tool + "convert -t cupel lost.txt - | " + tool + "check -l si -").code, 1);
  EXPECT_EQ(cupel("convert lost.txt -").code, 3);  // which format?
  EXPECT_FALSE(fs::exists(folder_ / "-"));
}

// /dev/stdout may lead to a file; the link itself must stay.
TEST_F(Cli, ADeviceIsNotReplaced) {
  if (!fs::is_symlink("/dev/stdout")) GTEST_SKIP() << "/dev/stdout is no link";
  EXPECT_EQ(cupel("convert -t plume lost.txt /dev/stdout >out.txt").code, 0);
  EXPECT_EQ(text_of("out.txt"), kLostUpdate);
  EXPECT_TRUE(fs::is_symlink("/dev/stdout"));
}

TEST_F(Cli, ConvertRefusesWhatWouldLoseData) {
  for (const char* arguments :
       {"convert lost.txt lost.txt", "convert lost.txt ./lost.txt",
        "convert lost.txt no-such-folder/x.cupel", "convert nowhere.txt x.cupel",
        "convert lost.txt x.unknown", "convert -t viper lost.txt x",
        "convert -t awdit --edn lost.txt x", "convert -t cupel lost.txt ."}) {
    const auto ran = cupel(arguments);
    EXPECT_EQ(ran.code, 3) << arguments;
    EXPECT_NE(ran.err, "") << arguments;
  }
  EXPECT_EQ(text_of("lost.txt"), kLostUpdate);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const auto name = entry.path().filename().string();
    EXPECT_TRUE(name == "lost.txt" || name == "fine.txt" || name == "stderr")
        << name << " was not removed";
  }
}

TEST_F(Cli, AFailedConversionLeavesTheOldFile) {
  write("old.awdit", "old");
  EXPECT_EQ(cupel("generate --level strict-serializable --shape list-append --sessions 2 --txns 5 "
                  "-o list.cupel")
                .code,
            0);
  EXPECT_EQ(cupel("convert list.cupel old.awdit").code, 3);  // awdit holds no lists
  EXPECT_EQ(text_of("old.awdit"), "old");
}

TEST_F(Cli, GeneratesWhatItPromises) {
  EXPECT_EQ(cupel("generate --level si --sessions 3 --txns 20 --seed 7 -o a.jsonl").code, 0);
  EXPECT_EQ(cupel("generate --level si --sessions 3 --txns 20 --seed 7 -o b.jsonl").code, 0);
  EXPECT_EQ(text_of("a.jsonl"), text_of("b.jsonl"));
  EXPECT_EQ(cupel("check -l si a.jsonl").code, 0);
  EXPECT_EQ(cupel("generate --level strict-serializable --inject lost-update -o c.jsonl").code, 0);
  const auto ran = cupel("check -l pc,si c.jsonl");
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("\n  lost-update"), std::string::npos) << ran.out;
  EXPECT_EQ(cupel("generate --inject nonsense -o d.jsonl").code, 3);
  EXPECT_EQ(cupel("generate --ops 9-3 -o d.jsonl").code, 3);
  EXPECT_FALSE(fs::exists(folder_ / "d.jsonl"));
}

TEST_F(Cli, TheDefaultHistoryFitsEveryFormatThatIsWritten) {
  for (const char* format : {"jepsen", "plume", "awdit", "dbcop", "cupel"}) {
    const std::string file = std::string("out.") + format;
    const auto ran = cupel("generate -t " + std::string(format) + " -o " + file);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(cupel("check -l si " + file).code, 0) << format;
  }
  const auto aborted = [&](const std::string& options) {
    EXPECT_EQ(cupel("generate " + options + " -o h.cupel").code, 0);
    return nlohmann::json::parse(cupel("stats --json h.cupel").out).dump();
  };
  EXPECT_EQ(aborted("").find("aborted\":1"), std::string::npos) << aborted("");
  EXPECT_NE(aborted("--keys 5"), aborted("--keys 5 --conflict-aborts"));
}

TEST_F(Cli, GeneratePlanWritesAWorkloadFile) {
  ASSERT_EQ(cupel("generate --plan mini --sessions 2 --txns 3 --seed 7 -o a.json").code, 0);
  ASSERT_EQ(cupel("generate --plan mini --sessions 2 --txns 3 --seed 7 -o b.json").code, 0);
  EXPECT_EQ(text_of("a.json"), text_of("b.json"));
  const auto plan = nlohmann::json::parse(text_of("a.json"));
  EXPECT_EQ(plan["cupel_plan"], 1);
  EXPECT_EQ(plan["workload"], "mini");
  EXPECT_EQ(plan["seed"], 7);
  ASSERT_EQ(plan["sessions"].size(), 2u);
  EXPECT_EQ(plan["sessions"][1].size(), 3u);
  EXPECT_EQ(plan["initial"].size(), 100u) << "the workload's own keys";

  EXPECT_EQ(cupel("generate --plan mini --sessions 2 --txns 3 --seed 7 -o -").out,
            text_of("a.json"));
  EXPECT_NE(cupel("generate --plan range-idb -o d.json").err.find("Did you mean `range-idh`?"),
            std::string::npos);

  ASSERT_EQ(cupel("generate --plan blindw-rm --txns 1 --ops 3 --keys 5 -o c.json").code, 0);
  const auto fewer = nlohmann::json::parse(text_of("c.json"));
  EXPECT_EQ(fewer["initial"].size(), 5u);
  EXPECT_EQ(fewer["sessions"][0][0].size(), 3u);

  for (const std::string refused :
       {"--plan lwt", "--plan nope", "--plan mini --conflict-aborts", "--plan mini --level si",
        "--plan mini --shape mini", "--rmw-share 0.2",
        "--plan general --rmw-share 0.8 --read-only-share 0.7"}) {
    const auto ran = cupel("generate " + refused + " -o d.json");
    EXPECT_EQ(ran.code, 3) << refused;
    EXPECT_NE(ran.err, "") << refused;
    EXPECT_FALSE(fs::exists(folder_ / "d.json")) << refused;
  }
}

TEST_F(Cli, StatsCount) {
  const auto text = cupel("stats lost.txt");
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.out, "");
  const auto json = cupel("stats --json lost.txt fine.txt");
  EXPECT_EQ(json.code, 0);
  std::istringstream in(json.out);
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(nlohmann::json::parse(line)["operations"], 4);
  EXPECT_EQ(cupel("stats nowhere.txt").code, 3);
}

TEST_F(Cli, StandardErrorMayBeClosed) {
  EXPECT_EQ(cupel("check nowhere.jsonl 2>&-").code, 3);
  EXPECT_EQ(cupel("check --no-such-option fine.txt 2>&-").code, 3);
  EXPECT_EQ(cupel("check nowhere.jsonl fine.txt 2>/dev/full").code, 3);
  // And no file is opened in the place of the closed stream.
  EXPECT_EQ(cupel("generate --level causal --txns 3 --seed 1 -o made.plume 2>&- >&-").code, 0);
  EXPECT_EQ(cupel("check -l causal made.plume").code, 0);
}

TEST_F(Cli, HelpAndVersionGoToStdout) {
  for (const char* arguments : {"--help", "check --help", "stats --help", "convert --help",
                                "generate --help", "explain --help"}) {
    const auto ran = cupel(arguments);
    EXPECT_EQ(ran.code, 0) << arguments;
    EXPECT_NE(ran.out.find("Examples:"), std::string::npos) << arguments;
    EXPECT_EQ(ran.err, "") << arguments;
  }
  const auto check = cupel("check --help").out;
  EXPECT_NE(check.find("Options that change the question"), std::string::npos);
  EXPECT_NE(check.find("Options that change the cost"), std::string::npos);
  EXPECT_TRUE(
      std::regex_match(cupel("--version").out,
                       std::regex("cupel [0-9.]+(-dev)? \\(commit [0-9a-z-]+, build \\w+\\)\n")))
      << cupel("--version").out;
  EXPECT_EQ(cupel("version").out, cupel("--version").out);
  EXPECT_EQ(cupel("help").out, cupel("--help").out);
  EXPECT_EQ(cupel("help check").out, check);
  EXPECT_EQ(cupel("help lab start").out, cupel("lab start --help").out);
  const auto early = cupel("--json check fine.txt");
  EXPECT_EQ(early.code, 3);
  EXPECT_NE(early.err.find("found `--json` before the command check; put it after the command"),
            std::string::npos)
      << early.err;
  const auto wrong = cupel("help chek");
  EXPECT_EQ(wrong.code, 3);
  EXPECT_NE(wrong.err.find("did you mean `check`?"), std::string::npos) << wrong.err;
}

TEST_F(Cli, TheKindOfWorkloadIsStated) {
  write("locks.jsonl", R"({"type":"invoke","process":0,"f":"acquire","value":1}
{"type":"ok","process":0,"f":"acquire","value":1}
{"type":"invoke","process":1,"f":"acquire","value":1}
{"type":"ok","process":1,"f":"acquire","value":1}
)");
  const auto semaphore = cupel("check locks.jsonl");
  EXPECT_EQ(semaphore.code, 3);
  EXPECT_NE(semaphore.err.find("locks.jsonl:1: found f=acquire with the value 1"),
            std::string::npos)
      << semaphore.err;
  const auto mutex = cupel("check --kind mutex locks.jsonl");
  EXPECT_EQ(mutex.code, 1);
  EXPECT_NE(mutex.out.find("read as mutex: one owner, not reentrant"), std::string::npos)
      << mutex.out;
  EXPECT_NE(cupel("check --json --kind mutex locks.jsonl")
                .out.find(R"("kind":"mutex: one owner, not reentrant")"),
            std::string::npos);
  EXPECT_EQ(cupel("check -l linearizable --kind mutex locks.jsonl").err,
            "cupel: note: locks.jsonl: read as mutex: one owner, not reentrant\n");
  EXPECT_NE(
      cupel("check --kind lock locks.jsonl").err.find("expected transactions, registers, mutex"),
      std::string::npos);
}

// One client's transaction that ended in this way.
std::string ended(const char* type, const char* value = R"([["w","x",1]])") {
  return fmt::format(R"({{"type":"invoke","process":0,"f":"txn","value":{0},"time":1}}
{{"type":"{1}","process":0,"f":"txn","value":{0},"time":2}}
)",
                     value, type);
}

TEST_F(Cli, ARecordingInWhichNothingCommittedIsAnError) {
  write("aborted.jsonl", ended("fail") + ended("info"));
  const char* const why =
      "aborted.jsonl: no transaction committed: 1 aborted, 1 with an unknown outcome, so a verdict "
      "would say nothing about the database. Record a run in which transactions commit";
  for (const char* command : {"check", "check --json", "check -l serializable",
                              "check --emit junit", "check --report page"}) {
    const auto ran = cupel(std::string(command) + " aborted.jsonl");
    EXPECT_EQ(ran.code, 3) << command;
    EXPECT_EQ(ran.out.find("satisfied"), std::string::npos) << command << ": " << ran.out;
    EXPECT_NE(ran.err.find(why), std::string::npos) << command << ": " << ran.err;
  }
  EXPECT_FALSE(fs::exists(folder_ / "page" / "index.html"));
  const auto both = cupel("check -l serializable aborted.jsonl fine.txt");
  EXPECT_EQ(both.code, 3);
  EXPECT_NE(both.out.find("fine.txt\tserializable\tsatisfied\n"), std::string::npos) << both.out;
  for (const char* command :
       {"watch --no-follow -l serializable aborted.jsonl",
        "watch --no-follow --json -l causal aborted.jsonl", "watch -l causal - < aborted.jsonl"}) {
    const auto ran = cupel(command);
    EXPECT_EQ(ran.code, 3) << command;
    EXPECT_EQ(ran.out.find("\tsatisfied"), std::string::npos) << command << ": " << ran.out;
    EXPECT_NE(ran.err.find("no transaction committed, so"), std::string::npos) << ran.err;
  }
  // A single commit, and a single violation, are verdicts.
  write("committed.jsonl", ended("fail") + ended("ok"));
  EXPECT_EQ(cupel("check -l serializable committed.jsonl").code, 0);
  const auto watched = cupel("watch --no-follow -l serializable committed.jsonl");
  EXPECT_EQ(watched.code, 0) << watched.err;
  EXPECT_TRUE(
      watched.out.starts_with("  warning: committed.jsonl: only 1 of 2 transactions "
                              "committed, so the history shows little\n"))
      << watched.out;
  EXPECT_NE(watched.out.find("\ncommitted.jsonl\tserializable\tsatisfied\n"), std::string::npos)
      << watched.out;
  write("thin.jsonl", ended("fail") + ended("ok", R"([["r","x",7]])"));
  EXPECT_EQ(cupel("check -l serializable thin.jsonl").code, 1);
}

// In every command; half a line counts in none.
TEST_F(Cli, ALastLineThatOnlyWantsItsNewlineCounts) {
  const std::string begin =
      R"({"type":"invoke","process":0,"f":"txn","value":[["w","x",1]],"time":1}
{"type":"ok","process":0,"f":"txn","value":[["w","x",1]],"time":2}
{"type":"invoke","process":1,"f":"txn","value":[["r","x",null]],"time":3}
)";
  const std::string last = R"({"type":"ok","process":1,"f":"txn","value":[["r","x",7]],"time":4})";
  write("open.jsonl", begin + last);
  write("half.jsonl", begin + last.substr(0, last.size() - 1));
  for (const char* command :
       {"check -l serializable ", "check --memory-limit 50M -l serializable ",
        "watch --no-follow -l serializable ", "watch --end-after 100ms -l serializable ",
        "watch -l serializable -o recorded.jsonl - < "}) {
    fs::remove(folder_ / "recorded.jsonl");
    EXPECT_EQ(cupel(command + std::string("open.jsonl")).code, 1) << command;
    fs::remove(folder_ / "recorded.jsonl");
    EXPECT_EQ(cupel(command + std::string("half.jsonl")).code, 0) << command;
  }
  write("fine.jsonl",
        begin + R"({"type":"ok","process":1,"f":"txn","value":[["r","x",1]],"time":4})");
  EXPECT_EQ(cupel("watch --no-follow -l serializable --certificate w.json fine.jsonl").code, 0);
  EXPECT_EQ(cupel("verify fine.jsonl w.json").code, 0);
}

TEST_F(Cli, ARecordingInWhichNothingHappenedIsSatisfiedWithANote) {
  const char* const note = "no client made an operation, so the history satisfies every level";
  write("history.edn", "");
  const auto ran = cupel("check -l serializable history.edn");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.err.find(note), std::string::npos) << ran.err;
  ASSERT_EQ(cupel("convert history.edn nothing.jsonl").code, 0);
  EXPECT_EQ(cupel("check nothing.jsonl").code, 0);
  const auto watched = cupel("watch --no-follow -l causal nothing.jsonl");
  EXPECT_EQ(watched.code, 0) << watched.err;
  EXPECT_EQ(watched.out, "nothing.jsonl\tcausal\tsatisfied\n");
  EXPECT_NE(watched.err.find(note), std::string::npos) << watched.err;
}

TEST_F(Cli, MergeAndElleTakeTheKindAndWhatIsIgnored) {
  write("a.jsonl", R"({"type":"ok","process":0,"f":"txn","value":[["append","x",1]]}
{"type":"ok","process":0,"f":"nap","value":3}
)");
  write("b.jsonl", R"({"type":"ok","process":0,"f":"txn","value":[["r","x",[1]]]}
{"type":"ok","process":0,"f":"nap","value":3}
{"type":"ok","process":0,"f":"doze","value":3}
)");
  EXPECT_EQ(cupel("merge a.jsonl b.jsonl -o whole.jsonl").code, 3);
  const auto merged = cupel("merge --ignore nap,doze a.jsonl b.jsonl -o whole.jsonl");
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_NE(merged.err.find("whole.jsonl: left out: 1 op map with f=doze, 2 with f=nap"),
            std::string::npos)
      << merged.err;
  EXPECT_NE(cupel("check --json whole.jsonl")
                .out.find(R"("ignored":[{"f":"doze","op_maps":1},{"f":"nap","op_maps":2}])"),
            std::string::npos);
  EXPECT_EQ(cupel("elle -m list-append a.jsonl").code, 3);
  const auto elle = cupel("elle -m list-append -c serializable --ignore nap a.jsonl");
  EXPECT_EQ(elle.out, "a.jsonl \t true\n") << elle.err;
  EXPECT_NE(elle.err.find("a.jsonl: left out: 1 op map with f=nap"), std::string::npos) << elle.err;
  const auto json = nlohmann::json::parse(
      cupel("elle -m list-append -c serializable --verbose --ignore nap a.jsonl").out);
  EXPECT_EQ(json.at("kind"), "transactions");
  EXPECT_EQ(json.at("ignored").size(), 1U);
  write("result.jsonl", cupel("check --json fine.txt").out);
  EXPECT_NE(cupel("merge --ignore nap result.jsonl").err.find("--ignore: it applies to histories"),
            std::string::npos);

  write("one.jsonl", R"({"type":"ok","process":0,"f":"write","value":["x",1]}
)");
  write("two.jsonl", R"({"type":"ok","process":0,"f":"cas","value":["y",[null,1]]}
)");
  const auto registers = cupel("merge --kind registers one.jsonl two.jsonl -o registers.jsonl");
  EXPECT_EQ(registers.code, 0) << registers.err;
  EXPECT_NE(registers.err.find("read as registers with compare-and-set, 2 keys"), std::string::npos)
      << registers.err;
  EXPECT_EQ(cupel("merge --kind mutex one.jsonl two.jsonl -o registers.jsonl").code, 3);
}

// As `<(zcat …)` of a shell does.
TEST_F(Cli, MergeReadsAPipe) {
  write("a.jsonl", R"({"type":"ok","process":0,"f":"txn","value":[["append","x",1]]}
)");
  write("b.jsonl", R"({"type":"ok","process":0,"f":"txn","value":[["r","x",[1]]]}
)");
  const auto by_file = cupel("merge a.jsonl b.jsonl -o by_file.jsonl");
  EXPECT_EQ(by_file.code, 0) << by_file.err;
  EXPECT_NE(text_of("by_file.jsonl").find(R"(["r","x",[1]])"), std::string::npos);
  const auto by_pipe =
      shell("mkfifo pipe; { timeout 60 sh -c 'cat b.jsonl >pipe' & } && timeout 60 '" CUPEL_BINARY
            "' merge a.jsonl pipe -o by_pipe.jsonl");
  EXPECT_EQ(by_pipe.code, 0) << by_pipe.err;
  EXPECT_EQ(text_of("by_pipe.jsonl"), text_of("by_file.jsonl"));
  const auto standard = cupel("merge a.jsonl - -o nothing.jsonl <b.jsonl");
  EXPECT_EQ(standard.code, 3);
  EXPECT_NE(standard.err.find("give a named pipe instead of -"), std::string::npos) << standard.err;
}

TEST_F(Cli, AConvertedHistoryKeepsHowItWasRead) {
  write("lock.jsonl", R"({"type":"invoke","process":0,"f":"acquire"}
{"type":"ok","process":0,"f":"acquire"}
)");
  write("cas.jsonl", R"({"type":"invoke","process":0,"f":"cas","value":[null,1]}
{"type":"ok","process":0,"f":"cas","value":[null,1]}
)");
  const std::pair<const char*, const char*> kinds[] = {
      {"lock", "mutex: one owner, not reentrant"},
      {"cas", "registers with compare-and-set, 1 key"}};
  for (const auto& [name, kind] : kinds) {
    const std::string from = name;
    for (const std::string ending : {".edn", ".cupel", "-2.jsonl"}) {
      const auto note = cupel("convert " + from + ".jsonl " + from + ending).err;
      EXPECT_NE(note.find(fmt::format("{}.jsonl: read as {}", name, kind)), std::string::npos)
          << note;
      EXPECT_NE(cupel("check " + from + ending).out.find(std::string(", read as ") + kind),
                std::string::npos);
    }
  }
}

TEST_F(Cli, AMutexIsExplainedInItsOwnWords) {
  write("lock.jsonl", R"({"type":"invoke","process":0,"f":"acquire","time":1}
{"type":"ok","process":0,"f":"acquire","time":2}
{"type":"invoke","process":1,"f":"acquire","time":3}
{"type":"ok","process":1,"f":"acquire","time":4}
)");
  const auto ran = cupel("check -l linearizable lock.jsonl");
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("= acquire    session 1, 1st transaction"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("found it free"), std::string::npos) << ran.out;
  for (const char* word : {"compare-and-set", "read an", "wrote", "null", "\"held\""})
    EXPECT_EQ(ran.out.find(word), std::string::npos) << word << " in " << ran.out;
  write("unlock.jsonl", R"({"type":"invoke","process":0,"f":"release","time":1}
{"type":"ok","process":0,"f":"release","time":2}
)");
  const auto released = cupel("check -l linearizable unlock.jsonl");
  EXPECT_EQ(released.code, 1);
  EXPECT_NE(released.out.find("found it held, and nobody had left it so"), std::string::npos)
      << released.out;
}

TEST_F(Cli, AFolderWithoutAHistorySaysWhatWasLookedFor) {
  fs::create_directories(folder_ / "empty");
  const auto none = cupel("check empty");
  EXPECT_EQ(none.code, 3);
  for (const char* words : {"empty: found a folder without a history", "history.edn", "jepsen.log",
                            "history.bincode", "*.log", "Name a file"}) {
    EXPECT_NE(none.err.find(words), std::string::npos) << none.err;
  }
  write("empty/h.jsonl", "");
  EXPECT_NE(cupel("check empty").err.find("Name the file, if it is empty/h.jsonl"),
            std::string::npos);
  EXPECT_NE(cupel("check .").err.find(".: found a folder without a history"), std::string::npos);
}

TEST_F(Cli, VerifyOfTheSameFileReadInAnotherWaySaysWhatToGive) {
  write("nap.jsonl", ended("ok") + R"({"type":"ok","process":0,"f":"nap","value":["x",2]}
)");
  ASSERT_EQ(cupel("check -l causal --ignore nap --certificate proof.json nap.jsonl").code, 0);
  EXPECT_EQ(cupel("verify --ignore nap nap.jsonl proof.json").code, 0);
  write("other.jsonl", ended("ok"));
  const auto rejected = cupel("verify --initial 0 nap.jsonl --ignore nap proof.json");
  EXPECT_EQ(rejected.code, 1) << rejected.err;
  EXPECT_NE(rejected.out.find("give verify the --initial, --kind and --ignore that check had"),
            std::string::npos)
      << rejected.out;
}

// What a run records of its final reads counts for `check -l` as for `run -l`.
TEST_F(Cli, LostDataCountBesideALevelByName) {
  const auto recorded = [](const std::string& facts) {
    return R"({"type":"info","process":"nemesis","f":"cupel.metadata","value":[["final readers","9 the database"])" +
           facts + R"(]}
{"type":"invoke","process":0,"f":"txn","value":[["w","x",1]],"time":1}
{"type":"ok","process":0,"f":"txn","value":[["w","x",1]],"time":2}
{"type":"invoke","process":9,"f":"txn","value":[["r","x",null]],"time":3}
{"type":"ok","process":9,"f":"txn","value":[["r","x",null]],"time":4}
)";
  };
  write("lost.jsonl", recorded(""));
  EXPECT_EQ(cupel("check lost.jsonl").code, 1);
  EXPECT_EQ(cupel("check -l causal lost.jsonl").code, 0) << "a lost write is of no level";
  write("gone.jsonl", recorded(R"(,["data gone","the table kv is gone on the database"])"));
  EXPECT_EQ(cupel("check -l causal gone.jsonl").code, 1);
  const auto junit = cupel("check -l causal --emit junit gone.jsonl");
  EXPECT_NE(junit.out.find("<failure"), std::string::npos) << junit.out;
  // Nothing is known to be lost, or no final read says so.
  const std::string gone_fact =
      R"({"type":"info","process":"nemesis","f":"cupel.metadata","value":[["data gone","the table kv is gone"]]}
)";
  write("unread.jsonl", gone_fact + ended("ok"));
  for (const char* command :
       {"check", "check -l causal", "watch --no-follow -l causal", "check --emit github"}) {
    const auto ran = cupel(std::string(command) + " unread.jsonl");
    EXPECT_EQ(ran.code, 2) << command;
    EXPECT_NE(ran.out.find("it is unknown whether acknowledged writes are lost: the table kv is "
                           "gone; no acknowledged write is known to be lost"),
              std::string::npos)
        << command << ran.out;
  }
  const auto unread = cupel("check --json unread.jsonl").out;
  EXPECT_NE(unread.find(R"("data_gone":"the table kv is gone")"), std::string::npos) << unread;
  write(
      "failed.jsonl",
      R"({"type":"info","process":"nemesis","f":"cupel.metadata","value":[["final reads failed","node 2 did not answer"]]}
)" + ended("ok"));
  for (const char* command : {"check", "check -l causal"}) {
    const auto ran = cupel(std::string(command) + " failed.jsonl");
    EXPECT_EQ(ran.code, 2) << command;
    EXPECT_NE(ran.out.find("unknown whether acknowledged writes are lost: node 2 did not answer"),
              std::string::npos)
        << ran.out;
  }
  const auto json = cupel("check --json failed.jsonl").out;
  EXPECT_NE(json.find(R"("final_reads_failed":"node 2 did not answer")"), std::string::npos);
  const std::string unknown =
      "it is unknown whether acknowledged writes are lost: node 2 did not answer";
  EXPECT_NE(json.find(R"("warnings":[")" + unknown + '"'), std::string::npos) << json;
  for (const char* kind : {"junit", "sarif", "github"}) {
    const auto ran = cupel(std::string("check --emit ") + kind + " failed.jsonl");
    EXPECT_EQ(ran.code, 2) << kind;
    EXPECT_NE(ran.out.find(unknown), std::string::npos) << ran.out;
  }
  const auto watched = cupel("watch --no-follow -l causal failed.jsonl");
  EXPECT_EQ(watched.code, 2) << watched.out << watched.err;
  EXPECT_NE(watched.out.find(unknown), std::string::npos) << watched.out;
}

// The output of a command whose standard output is a terminal with so many columns.
std::string on_terminal(const std::vector<std::string>& arguments, unsigned short columns) {
  winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    setenv("NO_COLOR", "1", 1);
    std::vector<char*> words;
    for (const auto& one : arguments) words.push_back(const_cast<char*>(one.c_str()));
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(127);
  }
  std::string out;
  char buffer[4096];
  for (ssize_t n; (n = read(terminal, buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<std::size_t>(n));
  close(terminal);
  int status = 0;
  waitpid(child, &status, 0);
  std::erase(out, '\r');
  return out;
}

TEST_F(Cli, TextsFitOnANarrowTerminal) {
  const auto lost = (folder_ / "lost.txt").string(), typo = (folder_ / "typo.jsonl").string();
  write("typo.jsonl",
        R"({"type":"ok","process":0,"f":"txn","value":[["w","x",1]]}
{"type":"ok","process":0,"f":"nap","value":3}
)");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{CUPEL_BINARY, "levels"},
        {CUPEL_BINARY, "explain"},
        {CUPEL_BINARY, "check", lost},
        {CUPEL_BINARY, "check", "--test-power", (folder_ / "fine.txt").string()},
        {CUPEL_BINARY, "explain", "long-fork"},
        // Messages on standard error.
        {CUPEL_BINARY, "check", "-l", "causal", folder_.string()},
        {CUPEL_BINARY, "check", "--svg", lost},
        {CUPEL_BINARY, "watch", "--no-follow", "-l", "causal", lost},
        {CUPEL_BINARY, "check", "-l", "read-atomic", "--ignore", "nap", typo}}) {
    const auto narrow = on_terminal(arguments, 80), wide = on_terminal(arguments, 1000);
    EXPECT_NE(narrow, "");
    std::istringstream lines(narrow);
    for (std::string line; std::getline(lines, line);) {
      const bool one_word = line.find(' ', line.find_first_not_of(' ')) == std::string::npos;
      EXPECT_TRUE(one_word || line.size() <= 80 || line.find("…") != std::string::npos) << line;
    }
    // The same words.
    const auto words = [](const std::string& text) {
      std::istringstream in(text);
      std::string all;
      for (std::string word; in >> word;) all += word + ' ';
      return std::regex_replace(all, std::regex("[0-9]+\\.[0-9]{3} s"), "TIME");
    };
    EXPECT_EQ(words(narrow), words(wide));
  }
}

TEST_F(Cli, WhatIsLeftOutAndClocksThatWentBackAreSaid) {
  write("typo.jsonl",
        R"({"type":"ok","process":0,"f":"txn","value":[["w","x",1]]}
{"type":"ok","process":0,"f":"nap","value":3}
)");
  const auto refused = cupel("check -l read-atomic typo.jsonl");
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find("typo.jsonl:2: found f=nap beside transactions"), std::string::npos)
      << refused.err;
  const auto ignored = cupel("check -l read-atomic --ignore nap typo.jsonl");
  EXPECT_EQ(ignored.code, 0);
  EXPECT_EQ(ignored.err, "cupel: note: typo.jsonl: left out: 1 op map with f=nap\n");
  EXPECT_NE(cupel("check --json --ignore nap typo.jsonl")
                .out.find(R"("keys":1,"kind":"transactions","ignored":[{"f":"nap","op_maps":1}])"),
            std::string::npos);
  for (const std::string command : {"stats ", "convert -t jepsen ", "check "}) {
    const auto to = command.starts_with("convert") ? " -" : "";
    EXPECT_EQ(cupel(command + "typo.jsonl" + to).code, 3) << command;
    EXPECT_NE(cupel(command + "--ignore nap typo.jsonl" + to).code, 3) << command;
  }
  for (const char* spelled : {":nap", "doze,nap", "doze,:nap,"})
    EXPECT_EQ(cupel(std::string("check -l read-atomic --ignore ") + spelled + " typo.jsonl").code,
              0);
  write("grows.jsonl", R"({"type":"invoke","process":0,"f":"txn","value":[["w","x",1]]}
{"type":"ok","process":0,"f":"txn","value":[["w","x",1]]}
{"type":"ok","process":1,"f":"nap","value":3}
)");
  const auto watched = cupel("watch --no-follow -l causal --ignore nap grows.jsonl");
  EXPECT_EQ(watched.code, 0);
  EXPECT_NE(watched.out.find("  left out: 1 op map with f=nap\n"), std::string::npos)
      << watched.out;
  EXPECT_EQ(watched.out.find("read as"), std::string::npos) << "transactions need no word";
  write("registers.jsonl", R"({"type":"invoke","process":0,"f":"write","value":["x",1]}
{"type":"ok","process":0,"f":"write","value":["x",1]}
{"type":"invoke","process":1,"f":"cas","value":["y",[null,2]]}
{"type":"ok","process":1,"f":"cas","value":["y",[null,2]]}
{"type":"ok","process":2,"f":"nap","value":3}
)");
  const char* const sentence = "read as registers with compare-and-set, 2 keys";
  EXPECT_NE(cupel("check --ignore nap registers.jsonl").out.find(sentence), std::string::npos);
  const auto of_registers = cupel("watch --no-follow -l causal --ignore nap registers.jsonl");
  EXPECT_NE(of_registers.out.find(std::string("\n  ") + sentence + "\n"), std::string::npos)
      << of_registers.out;
  const auto state = nlohmann::json::parse(
      cupel("watch --no-follow --json -l causal --ignore nap registers.jsonl").out);
  EXPECT_EQ(state.at("kind"), "registers with compare-and-set, 2 keys");
  EXPECT_EQ(state.at("ignored"), nlohmann::json::parse(R"([{"f":"nap","op_maps":1}])"));
  EXPECT_NE(cupel("check --ignore nap fine.txt").err.find("--ignore applies to op maps"),
            std::string::npos);

  write("back.jsonl",
        R"({"type":"invoke","process":0,"f":"txn","value":[["w","x",1]],"time":100}
{"type":"ok","process":0,"f":"txn","value":[["w","x",1]],"time":110}
{"type":"invoke","process":0,"f":"txn","value":[["r","x",null]],"time":10}
{"type":"ok","process":0,"f":"txn","value":[["r","x",1]],"time":20}
)");
  const auto back = cupel("check -l strict-serializable back.jsonl");
  EXPECT_EQ(back.code, 1);
  EXPECT_NE(
      back.err.find("a client's clock went back: T3 (session 0, its 2nd transaction) ended 80 "
                    "ns before T1"),
      std::string::npos)
      << back.err;
  const auto allowed = cupel("check -l strict-serializable --clock-drift 40ns back.jsonl");
  EXPECT_EQ(allowed.code, 0);
  EXPECT_EQ(allowed.err, "");
}

TEST_F(Cli, StandardOutputIsNoNameForAFile) {
  write("h.jsonl", R"({"type":"ok","process":0,"f":"txn","value":[["w","x",1]]})");
  for (const char* line :
       {"check --certificate - h.jsonl", "check --report - h.jsonl", "watch -l causal -o - -",
        "run -o - --certificate c", "crdt check --type set --certificate - h.jsonl"}) {
    const auto refused = cupel(line);
    EXPECT_EQ(refused.code, 3) << line;
    EXPECT_NE(refused.err.find("found -, which is standard output"), std::string::npos)
        << refused.err;
  }
  EXPECT_FALSE(fs::exists(folder_ / "-"));
}

// Where case does not matter, Bob is after ann.
TEST_F(Cli, ARangeReadMissesNoKeyThatMayLieOutside) {
  write("names.jsonl",
        R"({"type":"ok","process":0,"f":"txn","value":[["insert","Bob",1]]}
{"type":"ok","process":0,"f":"txn","value":[["range",["Al","ann"],[]]]}
)");
  const auto checked =
      cupel("check -l strong-session-serializable --certificate c.txt names.jsonl");
  EXPECT_EQ(checked.code, 0) << checked.out;
  EXPECT_EQ(
      checked.err,
      "cupel: note: names.jsonl: databases order some keys differently, so 1 key that a range "
      "read did not return is not taken as absent; the first is Bob, from Al to ann\n");
  EXPECT_EQ(cupel("verify names.jsonl c.txt").code, 0);
}

// A history written by hand, which does not say that its keys start with 0.
TEST_F(Cli, InitialValuesAreSaidBesideTheHistory) {
  write("hand.jsonl",
        R"({"type":"ok","process":0,"f":"txn","value":[["r","x",0],["w","x",1]]}
{"type":"ok","process":1,"f":"txn","value":[["r","y",0],["r","x",1]]}
)");
  const auto thin = cupel("check -l serializable hand.jsonl");
  EXPECT_EQ(thin.code, 1);
  EXPECT_NE(thin.out.find("thin-air-read"), std::string::npos) << thin.out;
  EXPECT_EQ(
      thin.err,
      "cupel: note: hand.jsonl: every key was first read as 0, which no transaction wrote; if "
      "keys start with it, add --initial 0\n");
  // The other key is first written, and first read as 7.
  write("some.jsonl", R"({"type":"ok","process":0,"f":"txn","value":[["r","x",0]]}
{"type":"ok","process":0,"f":"txn","value":[["w","y",7],["r","y",7]]}
)");
  EXPECT_NE(cupel("check -l serializable some.jsonl").err.find("1 of 2 keys was first read as 0"),
            std::string::npos);
  const auto said = cupel("check -l serializable --initial 0 hand.jsonl");
  EXPECT_EQ(said.code, 0) << said.out;
  EXPECT_EQ(said.err, "");
  EXPECT_EQ(cupel("check -l serializable --initial x=0 --initial y=0 hand.jsonl").code, 0);
  // A value that the keys do not start with is no remedy.
  EXPECT_EQ(cupel("check -l serializable --initial 7 hand.jsonl").code, 1);
  EXPECT_EQ(cupel("check -l serializable --initial x=0 hand.jsonl").code, 1);
  // The certificate is of the history with its initial values.
  ASSERT_EQ(cupel("check --initial 0 --certificate proof.json hand.jsonl").code, 0);
  EXPECT_EQ(cupel("verify --initial 0 hand.jsonl proof.json").code, 0);
  EXPECT_NE(cupel("verify hand.jsonl proof.json").code, 0);
  EXPECT_NE(cupel("verify --initial 7 hand.jsonl proof.json").code, 0);
  // A copy says it itself.
  ASSERT_EQ(cupel("convert --initial 0 hand.jsonl said.jsonl").code, 0);
  EXPECT_NE(text_of("said.jsonl").find("cupel.initial"), std::string::npos);
  EXPECT_EQ(cupel("check -l serializable said.jsonl").code, 0);
  EXPECT_EQ(cupel("stats --initial 0 hand.jsonl").code, 0);
  // The line that repeats the check has the option.
  EXPECT_NE(cupel("check --initial 7 --emit markdown hand.jsonl").out.find("--initial 7"),
            std::string::npos);
  for (const char* wrong : {"check --initial = hand.jsonl", "check --initial z=1 hand.jsonl",
                            "stats --initial '' hand.jsonl", "check --initial 0 --initial 1 x"}) {
    const auto ran = cupel(wrong);
    EXPECT_EQ(ran.code, 3) << wrong;
    EXPECT_NE(ran.err.find("initial"), std::string::npos) << ran.err;
  }
}

// The commands that the help of `command` lists.
std::vector<std::string> subcommands(const std::string& help) {
  std::vector<std::string> names;
  const auto list = help.find("\nSubcommands:\n");
  if (list == std::string::npos) return names;
  std::istringstream in(help.substr(list + 1));
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line) && !line.empty()) {
    if (line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

TEST_F(Cli, EveryCommandHasAHelpOfItsOwn) {
  std::vector<std::string> commands{""};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const auto command = commands[i];
    const auto help = cupel(command + " --help");
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_EQ(help.err, "") << command;
    EXPECT_NE(help.out.find("\nUsage: cupel" + command + " ["), std::string::npos)
        << command << ":\n"
        << help.out;
    EXPECT_NE(help.out.find("-h,--help"), std::string::npos) << command;
    EXPECT_EQ(cupel(command + " -h").out, help.out) << command;
    std::istringstream lines(help.out);
    for (std::string line; std::getline(lines, line);) {
      const auto columns = std::count_if(line.begin(), line.end(),
                                         [](char c) { return (c & 0xc0) != 0x80; });  // of UTF-8
      EXPECT_LE(columns, 80) << command << ":\n" << line;
    }
    EXPECT_EQ(cupel("help" + command).out, help.out) << command;
    for (const auto& name : subcommands(help.out)) commands.push_back(command + " " + name);
  }
  for (const char* command : {" lab start", " lab stop", " lab list", " lab kill", " lab restart",
                              " crdt check", " crdt verify", " crdt generate", " crdt run"}) {
    EXPECT_NE(std::find(commands.begin(), commands.end(), command), commands.end()) << command;
  }
  EXPECT_NE(cupel("lab start --help").out.find("--nodes N"), std::string::npos);
  for (const char* misspelled : {"lab strat --help", "help lab strat"}) {
    const auto ran = cupel(misspelled);
    EXPECT_EQ(ran.code, 3) << misspelled;
    EXPECT_NE(ran.err.find("found `strat` after lab"), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("did you mean `start`?"), std::string::npos) << ran.err;
  }
}

// One list of the levels that generate knows, and one of the formats.
TEST_F(Cli, HelpAndDocsListTheSameNames) {
  const auto words = [](const std::string& text) {
    std::istringstream in(text);
    std::string joined;
    for (std::string word; in >> word;) joined += word + ' ';
    return joined;
  };
  std::ifstream file(CUPEL_SOURCE_DIR "/docs/reference/commands.md");
  const auto page = words({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
  const auto help = words(cupel("generate --help").out);
  const auto refusal = words(cupel("generate --level none -o x.jsonl").err);
  for (const std::string list :
       {"read-committed, read-atomic, causal, prefix, strong-session-snapshot-isolation, "
        "strong-session-serializable or strict-serializable",
        "register, list-append, mini or range", "uniform, zipf, hotspot or exponential"}) {
    EXPECT_NE(help.find(list), std::string::npos) << list;
    EXPECT_NE(page.find(list), std::string::npos) << list;
  }
  EXPECT_NE(
      refusal.find("prefix, strong-session-snapshot-isolation, strong-session-serializable or"),
      std::string::npos);
  const auto convert = cupel("convert --help").out;
  EXPECT_NE(convert.find("IN [OUT]"), std::string::npos);
  EXPECT_EQ(convert.find("FILE REQUIRED"), std::string::npos) << convert;
}

TEST_F(Cli, ExplainsWords) {
  EXPECT_EQ(cupel("explain lost update").out, cupel("explain lost-update").out);
  EXPECT_NE(cupel("explain lost-update").out.find("snapshot-isolation"), std::string::npos);
  EXPECT_NE(cupel("explain si").out.find("lost-update"), std::string::npos);
  EXPECT_NE(cupel("explain").out.find("write-skew"), std::string::npos);
  EXPECT_NE(cupel("levels").out.find("strict-serializable"), std::string::npos);
  EXPECT_EQ(cupel("explain plume").out,
            "plume\n  A format of histories: `r(1,2,0,7)`. cupel reads and writes it.\n\n"
            "  A smallest history:\n    w(0,1,0,0)\n    r(0,1,1,1)\n\n"
            "  More: docs/reference/formats/plume.md\n");
  for (const auto& spec : formats::all_specs()) {
    const auto described =
        nlohmann::json::parse(cupel("explain --json " + std::string(spec->name)).out);
    EXPECT_EQ(described["page"], spec->page);
    EXPECT_EQ(described["example"], spec->example);
  }
  const auto all = nlohmann::json::parse(cupel("levels --json").out)["levels"];
  ASSERT_EQ(all.size(), levels::kLevelCount);
  EXPECT_EQ(all[5]["level"], "generalized-snapshot-isolation");
  EXPECT_EQ(all[5]["implies"], nlohmann::json::parse(R"(["snapshot-isolation"])"));
  const auto one = cupel("levels si");
  EXPECT_EQ(one.code, 3);
  EXPECT_NE(one.err.find("found `si`, expected nothing more; `cupel explain si` describes a level"),
            std::string::npos)
      << one.err;
}

TEST_F(Cli, LevelsListsWhatEachLevelImplies) {
  std::map<std::string, std::string> implied;
  std::istringstream in(cupel("levels").out);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string level, rest;
    words >> level;
    std::getline(words >> std::ws, rest);
    if (line.starts_with("  ")) implied[level] = rest;
  }
  EXPECT_EQ(implied.size(), levels::kLevelCount);
  EXPECT_EQ(implied["read-committed"], "-");
  EXPECT_EQ(implied["strict-serializable"],
            "strong-session-serializable, strong-snapshot-isolation");
  EXPECT_EQ(implied["serializable"], "snapshot-isolation");
}

TEST_F(Cli, WorkloadsHaveOneNameInManualHelpAndOption) {
  std::ifstream in(std::string(CUPEL_SOURCE_DIR) + "/docs/reference/workloads/README.md");
  const std::string manual{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto help = cupel("run --help").out;
  for (const auto& info : workload::all_workloads()) {
    EXPECT_NE(manual.find("`" + std::string(info.name) + "`"), std::string::npos) << info.name;
    EXPECT_NE(help.find(info.name), std::string::npos) << info.name;
  }
}

TEST_F(Cli, WithoutServersLabSaysSo) {
  const std::string lab = "XDG_STATE_HOME=$PWD '" CUPEL_BINARY "' lab ";
  for (const char* command : {"list", "stop all"}) {
    const auto ran = shell(lab + command);
    EXPECT_EQ(ran.code, 0) << command;
    EXPECT_EQ(ran.out, "") << command;
    EXPECT_EQ(ran.err, "cupel: there is no server; `cupel lab start KIND` starts one\n") << command;
  }
  EXPECT_EQ(shell(lab + "list --json").out, "{\"servers\":[]}\n");
}

TEST_F(Cli, EmitTakesThePlaceOfTheTextOrGoesToAFile) {
  const auto sql = cupel("check -l si --emit sql lost.txt");
  EXPECT_EQ(sql.code, 1);
  EXPECT_TRUE(sql.out.starts_with("-- lost-update")) << sql.out;
  EXPECT_EQ(sql.out.find("\tviolated"), std::string::npos);
  const auto files = cupel(
      "check -l si --emit sql=try.sql,junit=j.xml --emit sarif=s.json,plume=small.plume lost.txt "
      "fine.txt");
  EXPECT_EQ(files.code, 3) << "plume is one history";
  const auto ran =
      cupel("check -l si --emit sql=try.sql,junit=j.xml --emit sarif=s.json lost.txt fine.txt");
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out.find("lost.txt\tsnapshot-isolation\tviolated\n"), 0u) << ran.out;
  EXPECT_EQ(ran.err, "");
  EXPECT_TRUE(text_of("try.sql").starts_with(sql.out.substr(0, sql.out.find("Found by"))));
  EXPECT_NE(text_of("try.sql").find("-- No counterexample in fine.txt"), std::string::npos);
  EXPECT_NE(text_of("j.xml").find("tests=\"2\" failures=\"1\""), std::string::npos);
  const auto log = nlohmann::json::parse(text_of("s.json"));
  const auto& result = log["runs"][0]["results"][0];
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["region"]["startLine"], 1);
  EXPECT_EQ(result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 3);
}

TEST_F(Cli, EmitWritesTheCounterexampleAsAHistoryThatIsViolatedToo) {
  std::string more = kLostUpdate;
  for (int t = 3; t < 40; ++t)
    more += "w(" + std::to_string(t) + ",1,2," + std::to_string(t) + ")\n";
  write("long.txt", more);
  for (const char* to : {"plume=small.plume", "jepsen=small.jsonl", "jepsen=small.edn"}) {
    const auto ran = cupel(std::string("check -l si --emit ") + to + " long.txt");
    EXPECT_EQ(ran.code, 1) << ran.err;
    const std::string file = std::string(to).substr(std::string(to).find('=') + 1);
    const auto again = cupel("check -l si " + file);
    EXPECT_EQ(again.code, 1) << again.out << text_of(file);
    EXPECT_NE(again.out.find("lost-update"), std::string::npos);
    EXPECT_NE(cupel("stats --json " + file).out.find("\"transactions\":2"), std::string::npos);
  }
  // Nothing is violated: nothing to write.
  const auto fine = cupel("check -l si --emit plume=none.plume fine.txt");
  EXPECT_EQ(fine.code, 0);
  EXPECT_NE(fine.err.find("no counterexample"), std::string::npos) << fine.err;
  EXPECT_FALSE(fs::exists(folder_ / "none.plume"));
}

TEST_F(Cli, EmitForGithubAppendsToTheSummary) {
  write("summary.md", "before\n");
  const auto ran = shell("GITHUB_STEP_SUMMARY=summary.md '" CUPEL_BINARY
                         "' check -l si --emit github lost.txt gone.txt");
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out.find("lost.txt\tsnapshot-isolation\tviolated\n"), 0u) << ran.out;
  EXPECT_TRUE(text_of("summary.md").starts_with("before\n### cupel: `lost.txt`\n"))
      << text_of("summary.md");
  EXPECT_NE(text_of("summary.md").find("### cupel: `gone.txt`"), std::string::npos);
  EXPECT_NE(ran.err.find("::error file=lost.txt,line=1,title=lost-update"), std::string::npos)
      << ran.err;
  EXPECT_NE(ran.err.find("::error file=gone.txt,title="), std::string::npos) << ran.err;
  const auto unset =
      shell("unset GITHUB_STEP_SUMMARY; '" CUPEL_BINARY "' check -l si --emit github lost.txt");
  EXPECT_TRUE(unset.out.starts_with("### cupel: `lost.txt`\n")) << unset.out;
}

TEST_F(Cli, EmitSaysWhatIsWrong) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"check --emit sqll lost.txt", "did you mean `sql`?"},
      {"check --emit sql= lost.txt", "expected a file after the `=`"},
      {"check --emit sql,markdown lost.txt", "expected one format there"},
      {"check --emit sql --json lost.txt", "but --json writes to standard output already"},
      {"check --emit jepsen lost.txt fine.txt", "jepsen writes one history"},
      {"check --emit sql=no/such/folder/x.sql lost.txt",
       "no/such/folder/x.sql: cannot be written: No such file"},
  };
  for (const auto& [arguments, expected] : mistakes) {
    const auto ran = cupel(arguments);
    EXPECT_EQ(ran.code, 3) << arguments;
    EXPECT_NE(ran.err.find(expected), std::string::npos) << arguments << ": " << ran.err;
  }
}

TEST_F(Cli, TestPowerFollowsALadderThatPassedAndAnExplicitRequest) {
  const auto ladder = cupel("check fine.txt");
  EXPECT_NE(ladder.out.find("\n  could have shown "), std::string::npos) << ladder.out;
  EXPECT_EQ(ladder.out.find("Test power"), std::string::npos) << ladder.out;
  const auto verbose = cupel("check --verbose fine.txt");
  EXPECT_NE(verbose.out.find("\n  Test power:\n"), std::string::npos) << verbose.out;
  EXPECT_NE(verbose.out.find("lost-update: no transaction reads a key and then writes it"),
            std::string::npos)
      << verbose.out;
  for (const char* without : {"check lost.txt", "check -l si fine.txt"}) {
    EXPECT_EQ(cupel(without).out.find("could have shown"), std::string::npos) << without;
  }
  for (const char* with : {"check --test-power lost.txt", "check -l si --test-power fine.txt",
                           "check -l si --worth fine.txt"}) {
    EXPECT_NE(cupel(with).out.find("\n  Test power:\n"), std::string::npos) << with;
  }
  const auto json = nlohmann::json::parse(cupel("check --json fine.txt").out);
  ASSERT_EQ(json["worth"]["anomalies"].size(), 14u);
  for (const auto& one : json["worth"]["anomalies"]) {
    const bool seen = one["chance"] == "seen";
    EXPECT_EQ(seen, one.contains("transactions")) << one;
    EXPECT_EQ(seen, !one.contains("reason")) << one;
  }
  EXPECT_FALSE(nlohmann::json::parse(cupel("check --json lost.txt").out).contains("worth"));
}

// A signal at the end of a load is the load's or the check's, and never nobody's.
TEST(Interruptible, ASignalBeforeTheCheckIsTold) {
  const apps::Interruptible interruptible;
  std::raise(SIGINT);
  EXPECT_TRUE(interruptible.begin_check());
  EXPECT_FALSE(interruptible.stopped());
  EXPECT_FALSE(base::interrupted());
  EXPECT_FALSE(interruptible.begin_check());
  std::raise(SIGINT);
  EXPECT_TRUE(base::interrupted());
}

// A watch asks the record while its source goes on, and hears a signal meanwhile.
TEST(Interruptible, ASignalEndsACheckOnTheWay) {
  const apps::Interruptible interruptible;
  {
    const apps::Interruptible::EndsChecks ends(interruptible);
    EXPECT_FALSE(base::interrupted());
    std::raise(SIGTERM);
    EXPECT_TRUE(base::interrupted());
  }
  EXPECT_FALSE(base::interrupted());
  EXPECT_TRUE(interruptible.stopped());
}

}  // namespace
