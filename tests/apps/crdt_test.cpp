// cupel crdt as a user runs it: exit codes, certificates, pictures, the generator, and
// replicas that are programs, the example with and without its bug.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "source_dir.hpp"
#include "support/scratch_folder.hpp"

namespace {

namespace fs = std::filesystem;

struct CommandResult {
  int code;
  std::string out, err;
};

class CrdtCli : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  [[nodiscard]] CommandResult crdt(const std::string& arguments) const {
    const std::string line =
        "cd '" + folder_.string() + "' && '" CUPEL_BINARY "' crdt " + arguments + " 2>stderr";
    FILE* pipe = popen(line.c_str(), "r");
    std::string out;
    char buffer[4096];
    for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
    const int status = pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out, text_of("stderr")};
  }
  // A program that is the adapter fake_adapter.py in one of its modes: the rest of `crdt run`.
  [[nodiscard]] std::string run_fake(const std::string& mode) const {
    write(mode, "#!/bin/sh\nPYTHONPATH='" CUPEL_SOURCE_DIR
                "/adapters' exec python3 '" CUPEL_SOURCE_DIR "/tests/crdt/fake_adapter.py' " +
                    mode + "\n");
    fs::permissions(folder_ / mode, fs::perms::owner_all);
    return "run --adapter ./" + mode + ":set";
  }
  const cupel::test::ScratchFolder scratch_;
  const fs::path folder_ = scratch_.path();
};

constexpr const char* kFine =
    "{\"process\":1,\"f\":\"inc\"}\n{\"process\":2,\"f\":\"read\",\"value\":1}\n";
constexpr const char* kBroken =
    "{\"process\":1,\"f\":\"inc\"}\n{\"process\":2,\"f\":\"read\",\"value\":2}\n";

TEST_F(CrdtCli, ReportIsAPageWithItsPicturesAndItsText) {
  write("broken.jsonl", kBroken);
  const auto broken = crdt("check --type counter --report deep/report broken.jsonl");
  EXPECT_EQ(broken.code, 1) << broken.err;
  EXPECT_NE(broken.out.find("  report: deep/report/index.html\n"), std::string::npos) << broken.out;
  const auto page = text_of("deep/report/index.html");
  for (const char* part : {"<h1><span>✗ Violated:</span> ", "<g class=\"wrong\">", "<pre ",
                           "broken.jsonl\tcounter\tviolated"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part << "\n" << page;
  }
  write("fine.jsonl", kFine);
  EXPECT_EQ(crdt("check --type counter --report report fine.jsonl").code, 0);
  EXPECT_NE(text_of("report/index.html").find("class=\"arrow\""), std::string::npos);
  // One history, and a folder that can be made.
  EXPECT_EQ(crdt("check --type counter --report report fine.jsonl broken.jsonl").code, 3);
  const auto refused = crdt("check --type counter --report fine.jsonl/report broken.jsonl");
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find("--report"), std::string::npos) << refused.err;
}

TEST_F(CrdtCli, ExitCodesAreThoseOfCheck) {
  write("fine.jsonl", kFine);
  write("broken.jsonl", kBroken);
  const auto fine = crdt("check --type counter fine.jsonl");
  EXPECT_EQ(fine.code, 0);
  EXPECT_EQ(fine.out, "fine.jsonl\tcounter\tsatisfied\n");
  const auto broken = crdt("check --type pn-counter fine.jsonl broken.jsonl");
  EXPECT_EQ(broken.code, 1);
  EXPECT_NE(broken.out.find("broken.jsonl\tcounter\tviolated\n  doubled-increment: "),
            std::string::npos)
      << broken.out;
  EXPECT_EQ(crdt("check --type counter missing.jsonl").code, 3);
  const auto other = crdt("check --type countre fine.jsonl");
  EXPECT_EQ(other.code, 3);
  EXPECT_NE(other.err.find("did you mean `counter`?"), std::string::npos) << other.err;
  const auto set = crdt("check --type or-set fine.jsonl");
  EXPECT_EQ(set.code, 3);
  EXPECT_EQ(set.err,
            "cupel: fine.jsonl:1: found the method `inc`, expected add, remove, contains or read "
            "of a set\n");
}

TEST_F(CrdtCli, ATimeoutIsUnknown) {
  ASSERT_EQ(crdt("generate --type add-wins-set --bug remove-kills-concurrent-add --replicas 8 "
                 "--ops 3000 --elements 40 -o h.jsonl")
                .code,
            0);
  const auto ran = crdt("check --type add-wins-set --timeout 1ms --certificate c.json h.jsonl");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out.substr(0, ran.out.find('\n')), "h.jsonl\tadd-wins-set\tunknown");
  EXPECT_NE(ran.out.find("a limit was met (time)"), std::string::npos) << ran.out;
  EXPECT_FALSE(fs::exists(folder_ / "c.json"));
}

TEST_F(CrdtCli, CertificatesAreVerifiedAndPicturesDrawn) {
  write("fine.jsonl", kFine);
  write("broken.jsonl", kBroken);
  for (const std::string name : {"fine", "broken"}) {
    const auto checked = crdt("check --type counter --json --certificate " + name + ".cert --svg " +
                              name + ".svg " + name + ".jsonl");
    EXPECT_EQ(checked.code, name == "fine" ? 0 : 1);
    EXPECT_EQ(nlohmann::json::parse(checked.out)["verdict"],
              name == "fine" ? "satisfied" : "violated");
    const auto verified = crdt("verify --type counter --json " + name + ".jsonl " + name + ".cert");
    EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
    EXPECT_EQ(nlohmann::json::parse(verified.out)["valid"], true);
    EXPECT_EQ(text_of(name + ".svg").substr(0, 5), "<svg ");
  }
  EXPECT_EQ(crdt("verify --type counter broken.jsonl fine.cert").code, 1);
  EXPECT_EQ(crdt("verify --type counter fine.jsonl fine.jsonl").code, 3);
  // Without --type it is that of the certificate; another one is an error.
  EXPECT_EQ(crdt("verify fine.jsonl fine.cert").code, 0);
  EXPECT_EQ(crdt("verify --type pn-counter fine.jsonl fine.cert").code, 0);
  const auto other = crdt("verify --type or-set fine.jsonl fine.cert");
  EXPECT_EQ(other.code, 3);
  EXPECT_EQ(
      other.err,
      "cupel: fine.cert: found a certificate of the type counter, but --type is or-set; leave "
      "out --type to take that of the certificate\n");
  const auto none = crdt("verify fine.jsonl broken.jsonl");
  EXPECT_EQ(none.code, 3);
  EXPECT_NE(none.err.find("found no certificate that names a replicated data type"),
            std::string::npos)
      << none.err;
  write("transactions.json", R"({"cupel_certificate":1})");
  const auto transactions = crdt("verify fine.jsonl transactions.json");
  EXPECT_EQ(transactions.code, 3);
  EXPECT_EQ(transactions.err,
            "cupel: transactions.json: found a certificate of transactions, which `cupel verify` "
            "checks\n");
  const auto swapped = crdt("verify fine.cert fine.jsonl");
  EXPECT_EQ(swapped.code, 3);
  EXPECT_EQ(swapped.err,
            "cupel: fine.cert: found a certificate, expected a history; the history comes first: "
            "`cupel crdt verify HISTORY CERTIFICATE`\n");
}

TEST_F(CrdtCli, AVerifiedCertificateSaysWhatItIsAbout) {
  write("received.jsonl",
        "{\"process\":0,\"f\":\"inc\"}\n{\"process\":1,\"f\":\"deliver\",\"value\":[\"0:0\"]}\n"
        "{\"process\":1,\"f\":\"read\",\"value\":0}\n");
  EXPECT_EQ(crdt("check --type counter received.jsonl").code, 1);
  ASSERT_EQ(
      crdt("check --type counter --context ignored --certificate without received.jsonl").code, 0);
  const auto without = crdt("verify --clock-drift 1us received.jsonl without");
  EXPECT_EQ(without.out,
            "without: valid, satisfied for received.jsonl, without the recorded deliveries, clocks "
            "up to 1000 ns wrong\n");
  const auto fields = [&](const std::string& history, const std::string& certificate) {
    return nlohmann::json::parse(crdt("verify --json " + history + " " + certificate).out);
  };
  EXPECT_EQ(fields("received.jsonl", "without")["deliveries"], false);
  EXPECT_EQ(fields("received.jsonl", "without")["converged_only"], false);
  ASSERT_EQ(crdt("check --type counter --converged-only --certificate equal received.jsonl").code,
            0);
  EXPECT_EQ(crdt("verify received.jsonl equal").out,
            "equal: valid, satisfied for received.jsonl, convergence only\n");
  EXPECT_EQ(fields("received.jsonl", "equal")["deliveries"], true);
  EXPECT_EQ(fields("received.jsonl", "equal")["converged_only"], true);
}

TEST_F(CrdtCli, ACertificateOfSeveralObjectsSaysWhatItIsAbout) {
  write("received.jsonl",
        "{\"object\":\"s\",\"type\":\"counter\"}\n{\"object\":\"t\",\"type\":\"counter\"}\n"
        "{\"process\":0,\"object\":\"s\",\"f\":\"inc\"}\n"
        "{\"process\":0,\"object\":\"t\",\"f\":\"inc\"}\n"
        "{\"process\":1,\"f\":\"deliver\",\"value\":[\"0:0\",\"0:1\"]}\n"
        "{\"process\":1,\"object\":\"s\",\"f\":\"read\",\"value\":0}\n"
        "{\"process\":1,\"object\":\"t\",\"f\":\"read\",\"value\":1}\n");
  const auto certified = [&](const std::string& options, const std::string& certificate) {
    return crdt("check " + options + " --certificate " + certificate + " received.jsonl").code;
  };
  ASSERT_EQ(certified("", "wrong"), 1);
  ASSERT_EQ(certified("--converged-only", "equal"), 0);
  EXPECT_EQ(crdt("verify received.jsonl wrong").out, "wrong: valid, violated for received.jsonl\n");
  EXPECT_EQ(crdt("verify received.jsonl equal").out,
            "equal: valid, satisfied for received.jsonl, convergence only\n");
  const auto fields = nlohmann::json::parse(crdt("verify --json received.jsonl equal").out);
  EXPECT_EQ(fields["deliveries"], true);
  EXPECT_EQ(fields["converged_only"], true);
  // One object by all that is promised, the other by less: neither says what the whole does.
  auto forged = nlohmann::json::parse(text_of("equal"));
  ASSERT_EQ(forged["objects"][1]["certificate"]["context"], "converged-only");
  forged["objects"][1]["certificate"]["context"] = "trusted";
  write("forged", forged.dump());
  const auto refused = crdt("verify received.jsonl forged");
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.out.find("it differs in the use of deliveries"), std::string::npos)
      << refused.out;
}

#ifdef CUPEL_PROVED
TEST_F(CrdtCli, CertificatesAreProvedOrSayWhatIsNot) {
  write("fine.jsonl", kFine);
  write("broken.jsonl", kBroken);
  ASSERT_EQ(crdt("check --type counter --certificate fine.cert fine.jsonl").code, 0);
  ASSERT_EQ(crdt("check --type counter --certificate broken.cert broken.jsonl").code, 1);
  const auto fine = crdt("verify --proved --text fine.txt fine.jsonl fine.cert");
  EXPECT_EQ(fine.code, 0) << fine.out << fine.err;
  EXPECT_NE(fine.out.find("proved: satisfied\ncanonical text: sha256 "), std::string::npos)
      << fine.out;
  EXPECT_NE(text_of("fine.txt").find("\nD 9 0\nO 0 0 0 - - "), std::string::npos);
  const auto printed = crdt("verify --proved --text - fine.jsonl fine.cert");
  EXPECT_NE(printed.out.find("\nD 9 0\nO 0 0 0 - - "), std::string::npos) << printed.out;
  const auto broken = crdt("verify --proved broken.jsonl broken.cert");
  EXPECT_EQ(broken.code, 1);
  EXPECT_NE(broken.out.find("not proved: the proved verifier does not know the rules by which"),
            std::string::npos)
      << broken.out;
  const auto json =
      nlohmann::json::parse(crdt("verify --proved --json fine.jsonl fine.cert").out)["proved"];
  EXPECT_EQ(json["all"], true);
  EXPECT_EQ(json["sha256"].get<std::string>().size(), 64U);
  EXPECT_EQ(crdt("verify --proved fine.jsonl broken.jsonl").code, 3);
}
#endif

TEST_F(CrdtCli, GeneratedBugsAreFoundInAPipe) {
  EXPECT_EQ(
      crdt("generate --type rga | '" CUPEL_BINARY "' crdt check --type rga --converge -").code, 0);
  const auto bad = crdt("generate --type lww --edn --bug ignores-timestamp | '" CUPEL_BINARY
                        "' crdt check --type lww -");
  EXPECT_EQ(bad.code, 1);
  EXPECT_NE(bad.out.find("order-disagreement"), std::string::npos) << bad.out;
  EXPECT_EQ(crdt("generate --type lww --bug interleaves").code, 3);
}

TEST_F(CrdtCli, ConvergenceIsReportedOnRequest) {
  const std::string lines =
      "{\"process\":1,\"f\":\"write\",\"value\":1,\"time\":1000000}\n{\"process\":2,\"f\":\"read\","
      "\"value\":null,\"time\":2000000}\n"
      "{\"process\":1,\"f\":\"read\",\"value\":1,\"time\":3000000}\n";
  write("apart.jsonl", lines);
  write("same.jsonl", lines + "{\"process\":2,\"f\":\"read\",\"value\":1,\"time\":4500000}\n");
  EXPECT_EQ(crdt("check --type lww apart.jsonl").code, 0);
  const auto apart = crdt("check --type lww --converge apart.jsonl");
  EXPECT_EQ(apart.code, 1);
  EXPECT_NE(apart.out.find("not converged: the last reads of 1 of 1 keys differ\n    x: read() = 1 "
                           "of replica 1, but read() = null of replica 2"),
            std::string::npos)
      << apart.out;
  const auto same = crdt("check --type lww --converge --json same.jsonl");
  EXPECT_EQ(same.code, 0);
  EXPECT_EQ(nlohmann::json::parse(same.out)["convergence"]["longest_ns"], 3500000);
}

TEST_F(CrdtCli, ConvergenceNamesAReplicaThatDidNotReadAtTheEnd) {
  const std::string lines =
      "{\"process\":3,\"f\":\"read\",\"value\":[]}\n{\"process\":1,\"f\":\"add\",\"value\":\"a\"}\n"
      "{\"process\":1,\"f\":\"read\",\"value\":[\"a\"]}\n{\"process\":2,\"f\":\"read\",\"value\":["
      "\"a\"]}\n";
  write("one.jsonl", lines);
  const auto one = crdt("check --type or-set --converge one.jsonl");
  EXPECT_NE(one.out.find("    nothing is known of 1 pair of key and replica, without a read after "
                         "the last update: x of replica 3\n"),
            std::string::npos)
      << one.out;
  write("two.jsonl", "{\"process\":4,\"f\":\"read\",\"value\":[]}\n" + lines);
  const auto two = crdt("check --type or-set --converge two.jsonl");
  EXPECT_NE(two.out.find("    nothing is known of 2 pairs of key and replica, without a read after "
                         "the last update, such as x of replica "),
            std::string::npos)
      << two.out;
}

TEST_F(CrdtCli, ConvergenceOfNoKeyIsNotKnown) {
  // The dangling invocation is before the reads, though its time is unknown.
  write("dangling.jsonl",
        "{\"process\":1,\"f\":\"add\",\"value\":\"a\"}\n"
        "{\"process\":9,\"type\":\"invoke\",\"f\":\"add\",\"value\":\"b\"}\n"
        "{\"process\":1,\"f\":\"read\",\"value\":[\"a\"]}\n"
        "{\"process\":2,\"f\":\"read\",\"value\":[]}\n");
  const auto dangling = crdt("check --type or-set --converge dangling.jsonl");
  EXPECT_EQ(dangling.code, 1);
  EXPECT_NE(dangling.out.find("not converged: the last reads of 1 of 1 keys"), std::string::npos)
      << dangling.out;
  write("early.jsonl",
        "{\"process\":1,\"f\":\"read\",\"value\":[]}\n"
        "{\"process\":2,\"f\":\"add\",\"value\":\"b\"}\n");
  const auto text = crdt("check --type or-set --converge early.jsonl");
  EXPECT_EQ(text.code, 2);
  EXPECT_NE(text.out.find("satisfied\n"), std::string::npos);
  EXPECT_NE(text.out.find("not known"), std::string::npos) << text.out;
  const auto json = crdt("check --type or-set --converge --json early.jsonl");
  EXPECT_EQ(json.code, 2);
  EXPECT_TRUE(nlohmann::json::parse(json.out)["convergence"]["converged"].is_null());
}

TEST_F(CrdtCli, AnEmptyFileIsAnError) {
  for (const char* lost : {"", " \n\n"}) {
    write("empty.jsonl", lost);
    const auto ran = crdt("check --type or-set empty.jsonl");
    EXPECT_EQ(ran.code, 3);
    EXPECT_EQ(ran.err,
              "cupel: empty.jsonl: found an empty file, expected operations, a line each\n");
  }
}

TEST_F(CrdtCli, ACertificateByTheStrictAxiomsIsCalledSo) {
  write("fine.jsonl", kFine);
  EXPECT_EQ(crdt("check --type counter --letter fine.jsonl").code, 0);  // the old name
  EXPECT_EQ(crdt("check --type counter --strict-axioms --certificate c fine.jsonl").code, 0);
  const auto text = crdt("verify --type counter fine.jsonl c");
  EXPECT_EQ(text.out, "c: valid, satisfied for fine.jsonl, by the strict axioms\n");
  const auto json = crdt("verify --type counter --json fine.jsonl c");
  EXPECT_EQ(nlohmann::json::parse(json.out)["letter"], true);
}

TEST_F(CrdtCli, AnAnswerNestedTooDeeplyIsAnError) {
  const auto deep = crdt(
      "run --type counter --exec \"python3 -c 'import sys\nfor line in sys.stdin: "
      "print(chr(91) * 200000, flush=True)'\"");
  EXPECT_EQ(deep.code, 3);
  EXPECT_NE(deep.err.find("found more than 100 arrays and objects"), std::string::npos) << deep.err;
}

const std::string kExample = "'python3 " CUPEL_SOURCE_DIR "/examples/replicated_set.py";

TEST_F(CrdtCli, TheExampleIsAnAddWinsSet) {
  for (const std::string more :
       {"", " --replicas 5 --keys 2 --elements 2 --seed 3 --delivery 0.1"}) {
    const auto ran = crdt("run --type or-set --ops 150 -o h.jsonl --exec " + kExample + "'" + more);
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    EXPECT_NE(ran.out.find("h.jsonl\tadd-wins-set\tsatisfied\n  converged: "), std::string::npos)
        << ran.out;
    EXPECT_EQ(ran.err, "");
  }
}

TEST_F(CrdtCli, TheExamplesBugIsFoundAndNamed) {
  int found = 0;
  for (int seed = 1; seed <= 3; ++seed) {
    const auto ran = crdt("run --type or-set --ops 80 --seed " + std::to_string(seed) + " --exec " +
                          kExample + " --bug'");
    if (ran.out.find("\n  concurrent-add-lost: ") == std::string::npos) continue;
    ++found;
    EXPECT_EQ(ran.code, 1);
  }
  EXPECT_GE(found, 1);
}

TEST_F(CrdtCli, RunsAreTheSameForTheSameSeed) {
  const auto lines = [&](const std::string& seed) {
    EXPECT_EQ(
        crdt("run --type or-set --ops 40 -o h.jsonl --seed " + seed + " --exec " + kExample + "'")
            .code,
        0);
    std::string text;
    std::istringstream in(text_of("h.jsonl"));
    for (std::string line; std::getline(in, line);)
      text += line.substr(0, line.find(",\"time\"")) + "\n";
    return text;
  };
  const auto one = lines("5");
  EXPECT_EQ(one, lines("5"));
  EXPECT_NE(one, lines("6"));
}

TEST_F(CrdtCli, AReplicaThatMisbehavesIsAnErrorWithItsLine) {
  const auto dead = crdt("run --type counter --exec 'exit 4'");
  EXPECT_EQ(dead.code, 3);
  EXPECT_NE(dead.err.find("exited with 4"), std::string::npos) << dead.err;
  const auto silent = crdt("run --type counter --answer-timeout 0.2 --exec 'sleep 5'");
  EXPECT_EQ(silent.code, 3);
  EXPECT_NE(silent.err.find("did not answer"), std::string::npos) << silent.err;
  const auto wrong = crdt("run --type counter --exec 'while read line; do echo hello; done'");
  EXPECT_EQ(wrong.code, 3);
  EXPECT_NE(wrong.err.find("line 1 of its output, `hello`; expected a JSON object"),
            std::string::npos)
      << wrong.err;
  const auto value = crdt(
      "run --type counter --read-share 1 --exec 'while read line; do echo "
      "\"{\\\"type\\\":\\\"ok\\\",\\\"value\\\":\\\"many\\\"}\"; done'");
  EXPECT_EQ(value.code, 3);
  EXPECT_NE(value.err.find("expected a whole number"), std::string::npos) << value.err;
}

TEST_F(CrdtCli, AnAdapterIsRunOverANetworkWithTheFaultsThatItSurvives) {
  const std::string fake = "run --adapter " CUPEL_SOURCE_DIR "/tests/crdt/fake_adapter.py";
  const auto ran = crdt(fake + " --type g-set --seed 3 -o h.jsonl");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("\tsatisfied\n"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("fake 1.0, set; replicas: 3, one of them late"), std::string::npos)
      << ran.out;
  EXPECT_EQ(crdt("check --type g-set --converge h.jsonl").code, 0);
  const auto named = crdt(fake + ":set --faults none --replicas 2 --ops 20");
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_NE(named.out.find(" 0 of them again; lost: 0\n  partitions: "), std::string::npos)
      << named.out;
}

// The verdict is about the reads; the exit code is also for what stands beside it.
TEST_F(CrdtCli, WhatALibraryThrowsIsReportedBesideTheVerdict) {
  const std::string throws = "run --adapter " CUPEL_SOURCE_DIR
                             "/tests/crdt/faulty_adapter.py:throws --elements 500 --seed 2 --ops ";
  const auto text = crdt(throws + "40");
  EXPECT_EQ(text.code, 1) << text.out << text.err;
  const auto line = text.out.find('\n') + 1;
  EXPECT_EQ(text.out.find("  the library threw ", line), line) << text.out;
  const auto ran = crdt("run --json --adapter " CUPEL_SOURCE_DIR
                        "/tests/crdt/faulty_adapter.py:throws --elements 500 --seed 2 --ops 90");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  const auto threw = nlohmann::json::parse(ran.out);
  EXPECT_EQ(threw["library"], "faulty 1.0");
  ASSERT_GE(threw["threw_count"], 1) << ran.out;
  ASSERT_EQ(threw["threw"].size(), threw["threw_count"]) << ran.out;
  const auto& first = threw["threw"][0];
  EXPECT_EQ(first["message"], "ValueError('three')") << ran.out;
  EXPECT_TRUE(first["replica"].is_number_unsigned()) << ran.out;
  EXPECT_EQ(first["operation"]["f"], "deliver") << ran.out;
  EXPECT_FALSE(first["operation"].contains("value")) << ran.out;
  EXPECT_EQ(threw["not_applied_count"], 0) << ran.out;
  EXPECT_GT(threw["network"]["deliveries"], 0) << ran.out;
  const auto fine = crdt("run --json --adapter " CUPEL_SOURCE_DIR
                         "/tests/crdt/fake_adapter.py:set --ops 1000 --replicas 4 -o h.jsonl");
  EXPECT_EQ(fine.code, 0) << fine.out << fine.err;
  const auto json = nlohmann::json::parse(fine.out);
  // Each crash makes a process, if it does something.
  EXPECT_EQ(json["replicas"], 4);
  EXPECT_GT(json["network"]["crashes"], 0);
  EXPECT_GT(json["processes"], 4);
  EXPECT_LE(json["processes"], 4 + json["network"]["crashes"].get<int>());
  EXPECT_EQ(json["convergence"]["unread"], 0) << "those that crashed do not read at the end";
  const auto read = nlohmann::json::parse(crdt("check --type g-set --json h.jsonl").out);
  EXPECT_EQ(read["replicas"], json["processes"]) << "a history does not say which it was";
  const auto several =
      crdt("run --json --adapter " CUPEL_SOURCE_DIR
           "/tests/crdt/fake_text.py:text,count --faults crash --replicas 2 --ops 900");
  EXPECT_EQ(several.code, 0) << several.out << several.err;
  const auto both = nlohmann::json::parse(several.out);
  EXPECT_EQ(both["replicas"], 2);
  EXPECT_GT(both["processes"], 2);
  EXPECT_EQ(both["objects"][0]["replicas"], 2);
  EXPECT_EQ(both["objects"][1]["replicas"], 2);
  EXPECT_EQ(both["objects"][0]["convergence"]["unread"], 0);
  EXPECT_EQ(json["threw"], nlohmann::json::array());
  EXPECT_EQ(json["threw_count"], 0);
}

TEST_F(CrdtCli, MessagesThatAreNotAppliedAreReportedBesideTheVerdict) {
  const auto ran = crdt(run_fake("stuck") + " --json --seed 1");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  ASSERT_GE(json["not_applied_count"], 1) << ran.out;
  EXPECT_TRUE(json["not_applied"][0]["replica"].is_number_unsigned()) << ran.out;
  EXPECT_TRUE(json["not_applied"][0]["message"].is_string()) << ran.out;
  EXPECT_EQ(json["threw_count"], 0) << ran.out;
}

// Without deliveries causal order is judged, and an adapter that does not promise it is not
// accused.
TEST_F(CrdtCli, DeliveriesOutOfCausalOrderAreNotIgnored) {
  for (const char* seed : {" --seed 1", " --seed 2", " --seed 3"}) {
    const auto loose = run_fake("loose") + " --elements 1000 --ops 300 -o h.jsonl" + seed;
    EXPECT_EQ(crdt(loose).code, 0) << seed;
    const auto refused = crdt(loose + " --context ignored");
    EXPECT_EQ(refused.code, 3) << refused.out << refused.err;
    EXPECT_NE(refused.err.find("--context ignored: found that replica "), std::string::npos)
        << refused.err;
    EXPECT_EQ(crdt("check --type g-set --context ignored h.jsonl").code, 3);
    // In causal order, by the network or by the library, it says something of the library.
    for (const auto& causal :
         {loose + " --faults none", run_fake("holds") + " --elements 1000" + seed,
          run_fake("states") + " --elements 1000" + seed, run_fake("ordered") + seed}) {
      const auto ran = crdt(causal + " --context ignored");
      EXPECT_EQ(ran.code, 0) << causal << ran.out << ran.err;
    }
  }
}

// With its deliveries a history is checked as if an update of unknown outcome had not happened.
TEST_F(CrdtCli, AnUnknownOutcomeNeedNotHaveHappened) {
  const std::string beginning = R"({"f":"delivery","value":"applied"}
{"process":0,"f":"addAfter","value":[null,"a"]}
{"type":"info","process":0,"f":"addAfter","value":[null,"b"]}
{"process":1,"f":"deliver","value":["0:0"]}
)";
  write("list.jsonl", beginning + R"({"process":1,"f":"read","value":["a"]})" + "\n");
  const auto absent = crdt("check --type list --certificate c.json list.jsonl");
  EXPECT_EQ(absent.code, 0) << absent.err;
  EXPECT_NE(
      absent.err.find("list.jsonl:3: an update of unknown outcome; the history is checked as"),
      std::string::npos)
      << absent.err;
  const auto verified = crdt("verify list.jsonl c.json");
  EXPECT_EQ(verified.code, 0) << verified.out;
  EXPECT_NE(verified.out.find("without its updates of unknown outcome"), std::string::npos)
      << verified.out;
  const auto json =
      nlohmann::json::parse(crdt("check --json --type list list.jsonl").out, nullptr, false);
  EXPECT_EQ(json["indeterminate"], 1);
  EXPECT_EQ(json["replicas"], 2);
  // Nobody can say who saw it.
  write("list.jsonl", beginning + R"({"process":1,"f":"read","value":["b","a"]})" + "\n");
  EXPECT_EQ(crdt("check --type list list.jsonl").code, 3);
  // It has to do with its own key only.
  write("list.jsonl", beginning + R"({"process":1,"f":"read","value":["b","a"]}
{"process":1,"f":"addAfter","key":"y","value":[null,"c"]}
{"process":1,"f":"read","key":"y","value":[]}
)");
  const auto other = crdt("check --type list --certificate c.json list.jsonl");
  EXPECT_EQ(other.code, 1) << other.err;
  EXPECT_NE(other.err.find("the violation is of another key"), std::string::npos) << other.err;
  EXPECT_EQ(crdt("verify list.jsonl c.json").code, 0);
  // The same of several objects.
  write("objects.jsonl", R"({"f":"delivery","value":"applied"}
{"object":"l","type":"list"}
{"object":"c","type":"counter"}
{"process":0,"object":"l","f":"addAfter","value":[null,"a"]}
{"type":"info","process":0,"object":"c","f":"inc","value":1}
{"process":1,"f":"deliver","value":["0:0"]}
{"process":1,"object":"l","f":"read","value":[]}
{"process":1,"object":"c","f":"read","value":1}
)");
  const auto several = crdt("check --certificate c.json objects.jsonl");
  EXPECT_EQ(several.code, 1) << several.out << several.err;
  EXPECT_EQ(crdt("verify objects.jsonl c.json").code, 0);
}

// What a line says that its process had seen counts, even if its operation does not.
TEST_F(CrdtCli, WhatAnOperationThatIsLeftOutHadSeenWasSeen) {
  const std::string add = R"({"process":0,"f":"add","key":"y","value":"a"})"
                          "\n";
  const std::string seen_by_update =
      add + R"({"type":"info","process":1,"f":"add","key":"x","value":"b","seen":["0:0"]})" + "\n";
  const std::string seen_by_read = add +
                                   R"({"type":"info","process":0,"f":"add","key":"x","value":"b"}
{"process":1,"f":"read","key":"x","value":["b"],"seen":["0:0"]})" +
                                   "\n";
  const std::string seen_by_unknown_read =
      add + R"({"type":"info","process":1,"f":"read","key":"x","seen":["0:0"]}
{"process":1,"f":"deliver","value":[]})" +
      "\n";
  for (const auto& lines : {seen_by_update, seen_by_unknown_read, seen_by_read}) {
    write("h.jsonl", R"({"f":"delivery","value":"applied"})"
                     "\n" +
                         lines + R"({"process":1,"f":"read","key":"y","value":["a"]})" + "\n");
    const bool undecided = lines == seen_by_read;  // the update may have been seen
    EXPECT_EQ(crdt("check --type add-wins-set h.jsonl").code, undecided ? 3 : 0) << lines;
    write("h.jsonl", R"({"f":"delivery","value":"applied"})"
                     "\n" +
                         lines + R"({"process":1,"f":"read","key":"y","value":[]})" + "\n");
    EXPECT_EQ(crdt("check --type add-wins-set --certificate c.json h.jsonl").code, 1) << lines;
    EXPECT_EQ(crdt("verify h.jsonl c.json").code, 0) << lines;
  }
}

TEST_F(CrdtCli, ALimitMakesAnUpdateOfUnknownOutcomeNoError) {
  ASSERT_EQ(crdt("generate -q --type or-set --ops 60000 --replicas 3 --keys 4 --context --no-times "
                 "-o big.jsonl")
                .code,
            0);
  write("h.jsonl", R"({"f":"delivery","value":"applied"})"
                   "\n" +
                       text_of("big.jsonl") +
                       R"({"type":"info","process":0,"f":"add","key":"other","value":"b"})" + "\n");
  EXPECT_EQ(crdt("check --type or-set h.jsonl").code, 0);
  EXPECT_EQ(crdt("check --type or-set --timeout 0.01 h.jsonl").code, 2);
}

// An operation of unknown outcome shows a clock that was set back, too.
TEST_F(CrdtCli, AClockThatWasSetBackAfterAnUnknownOutcome) {
  write("h.jsonl", R"({"process":0,"f":"add","key":"y","value":"a","time":500}
{"process":1,"type":"invoke","f":"add","key":"x","value":"b","time":1000}
{"process":1,"type":"info","f":"add","time":1001}
{"process":1,"f":"read","key":"y","value":["a"],"time":100}
)");
  const auto ran = crdt("check --type add-wins-set h.jsonl");
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_NE(ran.err.find("the times are left out"), std::string::npos) << ran.err;
}

TEST_F(CrdtCli, AnUnknownOutcomeLeavesNothingToJudgeWithoutCausalOrder) {
  const std::string lines = R"({"process":0,"f":"add","key":"s","value":"a"}
{"process":0,"f":"add","key":"s","value":"b"}
{"type":"info","process":0,"f":"add","key":"s","value":"c"}
{"process":1,"f":"deliver","value":["0:1"]}
{"process":1,"f":"read","key":"s","value":["b","c"]}
)";
  // The replica applied b without a, as its delivery allows, and c, as it seems.
  for (const char* rule : {"applied", "fifo"}) {
    write("h.jsonl", "{\"f\":\"delivery\",\"value\":\"" + std::string(rule) + "\"}\n" + lines);
    for (const char* context : {"", " --context ignored"}) {
      const auto ran = crdt("check --type g-set h.jsonl" + std::string(context));
      EXPECT_EQ(ran.code, 3) << ran.out;
      EXPECT_NE(ran.err.find("h.jsonl:4: found an update of unknown outcome"), std::string::npos)
          << ran.err;
    }
  }
  write("h.jsonl", lines);
  EXPECT_EQ(crdt("check --type g-set h.jsonl").code, 1) << "causal order is promised";
}

TEST_F(CrdtCli, WhatAnAdapterDoesNotOfferIsAnError) {
  const std::string fake = "--adapter " CUPEL_SOURCE_DIR "/tests/crdt/fake_adapter.py";
  const auto says = [&](const std::string& arguments, const std::string& text) {
    const auto ran = crdt("run " + arguments);
    EXPECT_EQ(ran.code, 3) << arguments;
    EXPECT_NE(ran.err.find(text), std::string::npos) << arguments << "\n" << ran.err;
  };
  says(fake + ":other", "does not decide the type no-such-type yet");
  says(fake + ":set --type counter",
       "for the object `set`, whose type is grow-only-set; leave out");
  says(fake + ":set --type grow-onlyset", "did you mean `grow-only-set`?");
  says(fake + " --type counter", "offers set (grow-only-set), other (no-such-type)");
  says(fake + ":set --faults fire", "found `fire`, but fake 1.0 promises to survive reordering");
  write("tiny.py",
        "import cupel_adapter\ncupel_adapter.serve('tiny 1', {'l': 'list'}, [], None)\n");
  says("--adapter ./tiny.py --type weak-list", "offers l (list); expected --type list --spec weak");
  says("--adapter ./tiny.py:l --type non-interleaving-list", "--spec non-interleaving");
  ::unsetenv("CUPEL_ADAPTER_CACHE");
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  says("--adapter yjs", "found no HOME, below which the libraries of the adapters are installed");
  says("--adapter no-such-library --type list", "found the adapter `no-such-library`");
  says("--adapter ./missing.mjs --type list", "found no such file");
  says("--type counter", "found neither --adapter nor --exec");
  says(fake + " --exec cat", "found it beside --adapter");
  says("--exec cat --type counter --faults none", "found it without --adapter");
}

// What a trace decides is not asked for as well.
// What an object of tests/crdt/faulty_adapter.py does wrong, as a program that the run writes.
TEST_F(CrdtCli, RunsWriteScriptsThatShowWhatIsWrong) {
  const std::string faulty = "run --adapter " CUPEL_SOURCE_DIR "/tests/crdt/faulty_adapter.py:";
  const auto script_of = [&](const std::string& object, const std::string& more) {
    const auto ran = crdt(faulty + object + " --reproduce script.py " + more);
    EXPECT_EQ(ran.code, 1) << object << ran.out << ran.err;
    EXPECT_NE(ran.err.find("run once, it shows the same"), std::string::npos) << ran.err;
    return text_of("script.py");
  };
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  // Three elements have to come, and one read misses the last.
  for (const char* seed : {"1", "2", "3"}) {
    const auto forgets =
        script_of("forgets", std::string("--replicas 5 --elements 500 --ops 300 --seed ") + seed);
    EXPECT_EQ(count(forgets, "# faulty 1.0, forgets: lost-add\n"), 1U) << forgets;
    EXPECT_EQ(count(forgets, " = Replica("), 2U) << forgets;
    EXPECT_EQ(count(forgets, ".add('"), 3U) << forgets;
    EXPECT_EQ(count(forgets, "print("), 1U) << forgets;
    EXPECT_EQ(count(forgets, ": lost-add\n"), 2U) << forgets;
  }
  const auto scripted = script_of("scripted", "--elements 500");
  EXPECT_EQ(count(scripted, " = Forgetful()\n"), 2U) << scripted;
  EXPECT_EQ(count(scripted, ".merge(m"), 3U) << scripted;
  const auto throws = script_of("throws", "--ops 40 --elements 500");
  EXPECT_EQ(count(throws, "# throws: ValueError('three')\n"), 1U) << throws;
  EXPECT_EQ(count(throws, ".add('"), 3U) << throws;
  const auto unheard = script_of("unheard", "--elements 500 --ops 200 --seed 3");
  EXPECT_EQ(count(unheard, ".connect()\n"), 2U) << unheard;
  EXPECT_EQ(count(unheard, ".hear(link"), 1U) << unheard;
  EXPECT_EQ(count(unheard, ".add('"), 1U) << unheard;
  // Two concurrent writes, and two reads after both have come.
  const auto own = script_of("own", "--seed 4");
  EXPECT_EQ(count(own, "# faulty 1.0, own: not-converged\n"), 1U) << own;
  EXPECT_EQ(count(own, ".write('"), 2U) << own;
  EXPECT_EQ(count(own, "print("), 2U) << own;
}

// The script has the object that is wrong, and of the others what it takes.
TEST_F(CrdtCli, RunsOfSeveralObjectsWriteScripts) {
  const auto ran = crdt("run --adapter " CUPEL_SOURCE_DIR
                        "/tests/crdt/faulty_adapter.py:forgets,own --elements 500 --seed 1 "
                        "--reproduce script.py");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("run once, it shows the same"), std::string::npos) << ran.err;
  const auto script = text_of("script.py");
  EXPECT_EQ(script.find("# faulty 1.0, forgets: lost-add\n# \"forgets\": replica "), 0U) << script;
  EXPECT_NE(script.find("keys=['forgets x'], object='forgets'"), std::string::npos) << script;
  EXPECT_EQ(script.find("own x"), std::string::npos) << script;
}

// Both writes were seen, and neither had seen the other.
TEST_F(CrdtCli, ASpecificationSaysWhichTypeIsMeant) {
  write("r.jsonl", R"({"process":0,"f":"write","value":1}
{"process":1,"f":"write","value":2}
{"process":2,"f":"deliver","value":["0:0","1:0"]}
{"process":2,"f":"read","value":1}
{"process":2,"f":"read","value":2}
)");
  const auto any = crdt("check --type register --spec any-maximal r.jsonl");
  EXPECT_EQ(any.code, 0) << any.err;
  EXPECT_NE(any.out.find("\tany-maximal-register\tsatisfied\n"), std::string::npos) << any.out;
  const auto last = crdt("check --type register --spec last-writer-wins r.jsonl");
  EXPECT_EQ(last.code, 1) << last.err;
  EXPECT_EQ(last.out, crdt("check --type register r.jsonl").out);
  EXPECT_EQ(crdt("check --type register --spec max r.jsonl").code, 1);
  EXPECT_NE(crdt("check --type register --spec multi-value r.jsonl")
                .err.find("expected the array of the values"),
            std::string::npos);
  EXPECT_NE(crdt("check --type register --spec weak r.jsonl")
                .err.find("expected last-writer-wins, any-maximal, multi-value or max"),
            std::string::npos);
}

// What the helper in Python makes of the library's indices and paths fits what the library did.
TEST_F(CrdtCli, AdaptersInPythonHaveMovesTreesDocumentsAndMarks) {
  const std::string library = "run --adapter " CUPEL_SOURCE_DIR "/tests/crdt/fake_values.py:";
  for (const std::string object : {"list", "tree", "document", "marked"}) {
    const auto ran = crdt(library + object + " --ops 200 -o " + object + ".jsonl");
    EXPECT_EQ(ran.code, 0) << object << ran.out << ran.err;
  }
  EXPECT_NE(text_of("list.jsonl").find(R"("f":"move")"), std::string::npos);
  EXPECT_NE(text_of("tree.jsonl").find(R"("f":"remove")"), std::string::npos);
  for (const std::string method : {"put", "remove", "inc", "addAfter", "insert", "delete"}) {
    EXPECT_NE(text_of("document.jsonl").find("\"f\":\"" + method + "\""), std::string::npos)
        << method;
  }
  EXPECT_TRUE(
      std::regex_search(text_of("document.jsonl"), std::regex(R"re(,\{"map":"[^}]*"\}\]\]\}\n)re")))
      << "no map was added to a list";
  EXPECT_TRUE(std::regex_search(text_of("marked.jsonl"), std::regex(R"re("f":"mark".*,null\])re")));
  EXPECT_EQ(
      crdt("run --adapter " CUPEL_SOURCE_DIR "/tests/crdt/fake_values.py:marked --faults crash")
          .code,
      3)
      << "this object survives less than the library";
  for (const auto& [object, call] :
       {std::pair("ignores-moves", "a.move('x', "), std::pair("loses-moves", ".receive(part)"),
        std::pair("loses-nested", ".read('x')"), std::pair("loses-marks", ".mark('x', ")}) {
    const auto ran = crdt(library + object + " --seed 1 --reproduce script.py");
    EXPECT_EQ(ran.code, 1) << object << ran.out << ran.err;
    EXPECT_NE(ran.err.find("run once, it shows the same"), std::string::npos) << ran.err;
    EXPECT_NE(text_of("script.py").find(call), std::string::npos) << text_of("script.py");
  }
}

TEST_F(CrdtCli, ATraceIsReplayedBesideOtherObjects) {
  write("one.json", R"({"endContent":"ba","txns":[{"patches":[[0,0,"a"],[0,0,"b"]]}]})");
  const std::string library = "run --adapter " CUPEL_SOURCE_DIR "/tests/crdt/fake_text.py";
  const auto ran = crdt(library + ":text,count --trace one.json --replicas 2 -o history.jsonl");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const auto history = text_of("history.jsonl");
  EXPECT_NE(history.find("\"f\":\"insert\""), std::string::npos) << history;
  EXPECT_NE(history.find("\"object\":\"count\""), std::string::npos) << history;
  for (const auto& [objects, message] :
       {std::pair("text,text", "found the object text twice"),
        std::pair("count,sum", "--trace: found an object of the type counter"),
        std::pair("text,other", "--trace: found 2 texts, expected one that is edited")}) {
    const auto refused = crdt(library + ":" + objects + " --trace one.json");
    EXPECT_EQ(refused.code, 3) << objects << refused.out;
    EXPECT_NE(refused.err.find(message), std::string::npos) << refused.err;
  }
}

TEST_F(CrdtCli, ATraceIsReplayedOnATextWithMarks) {
  write("one.json", R"({"endContent":"ba!","txns":[{"patches":[[0,0,"axx"],[1,2,""],[0,0,"b"]]},
      {"patches":[[2,0,"!"]]}]})");
  write("several.json", R"({"kind":"concurrent","numAgents":2,"endContent":"abc","txns":[
      {"agent":0,"parents":[],"patches":[[0,0,"ac"]]},
      {"agent":1,"parents":[0],"patches":[[1,0,"xb"],[1,1,""]]}]})");
  const std::string library = "run --adapter " CUPEL_SOURCE_DIR "/tests/crdt/fake_values.py:";
  for (const char* trace : {"one.json", "several.json"}) {
    const auto ran = crdt(library + "marked -o h.jsonl --trace " + trace);
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    EXPECT_EQ(ran.err, "") << "the last text is that of the trace";
    EXPECT_NE(ran.out.find("\tmarked-text\tsatisfied\n"), std::string::npos) << ran.out;
    EXPECT_NE(text_of("h.jsonl").find("\"f\":\"delete\""), std::string::npos);
  }
  write("wrong.json", R"({"endContent":"b","txns":[{"patches":[[0,0,"a"]]}]})");
  EXPECT_EQ(crdt(library + "marked --trace wrong.json").code, 3);
  const auto list = crdt(library + "list --trace one.json");
  EXPECT_EQ(list.code, 3);
  EXPECT_NE(list.err.find("of the type movable-list, expected a text or marked-text"),
            std::string::npos)
      << list.err;
}

// The library is at fault, and not the adapter or the trace.
TEST_F(CrdtCli, ALibraryThatThrowsAtATraceIsReported) {
  write("one.json",
        R"({"endContent":"ab","txns":[{"patches":[[0,0,"a"]]},{"patches":[[1,0,"b"]]}]})");
  write("throws.py",
        "import cupel_adapter, runpy\n"
        "serve = cupel_adapter.serve\n"
        "def throwing(name, objects, survives, library, **more):\n"
        "    insert = library.insert\n"
        "    def once(self, *what):\n"
        "        if self.read('text x' if 'text x' in self.texts else 'x'): raise "
        "ValueError('second')\n"
        "        insert(self, *what)\n"
        "    library.insert = once\n"
        "    serve(name, objects, survives, library, **more)\n"
        "cupel_adapter.serve = throwing\n"
        "runpy.run_path('" CUPEL_SOURCE_DIR "/tests/crdt/fake_text.py')\n");
  const auto ran = crdt("run --adapter ./throws.py:text --trace one.json --replicas 2 --json");
  // What the library threw is certain, though the convergence is not known.
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json["verdict"], "satisfied");
  ASSERT_EQ(json["threw_count"], 1);
  EXPECT_EQ(json["threw"][0]["operation"]["f"], "edit");
  EXPECT_EQ(json["threw"][0]["message"], "ValueError('second')");
}

TEST_F(CrdtCli, RunsSayWhyThereIsNoScript) {
  const std::string faulty = "run --adapter " CUPEL_SOURCE_DIR "/tests/crdt/faulty_adapter.py";
  ::setenv("FAULTY_ONCE", (folder_ / "once").c_str(), 1);
  const auto chance = crdt(faulty + ":by-chance --elements 500 --reproduce script.py");
  EXPECT_EQ(chance.code, 3);
  EXPECT_NE(chance.err.find("the same requests do not go wrong again"), std::string::npos)
      << chance.err;
  const auto fine =
      crdt("run --adapter " CUPEL_SOURCE_DIR "/tests/crdt/fake_adapter.py --reproduce script.py");
  EXPECT_EQ(fine.code, 0) << fine.err;
  EXPECT_EQ(text_of("script.py"), "");
  const auto alone = crdt("run --exec cat --type counter --reproduce script.py");
  EXPECT_EQ(alone.code, 3);
  EXPECT_NE(alone.err.find("--reproduce: found it without --adapter"), std::string::npos)
      << alone.err;
}

TEST_F(CrdtCli, ATraceAndWhatItDecidesAreAnError) {
  write("one.json", R"({"endContent":"a","txns":[{"patches":[[0,0,"a"]]}]})");
  write("several.json", R"({"kind":"concurrent","numAgents":1,"endContent":"a",
      "txns":[{"agent":0,"parents":[],"patches":[[0,0,"a"]]}]})");
  const std::string library = "run --adapter " CUPEL_SOURCE_DIR "/tests/crdt/fake_text.py",
                    one = library + " --trace one.json",
                    several = library + " --trace several.json";
  EXPECT_EQ(crdt(one + " --replicas 2 --faults crash").code, 0) << text_of("stderr");
  EXPECT_EQ(crdt(several + " --faults duplicates").code, 0) << text_of("stderr");
  for (const auto& [arguments, message] :
       {std::pair(one + " --ops 5", "--ops: found it beside --trace"),
        std::pair(one + " --keys 1", "--keys: found it beside --trace"),
        std::pair(one + " --reproduce a.py", "--reproduce: found it beside --trace, expected one"),
        std::pair(several + " --replicas 3", "--replicas: found it with a concurrent trace"),
        std::pair(several + " --faults duplicates,crash",
                  "--faults: found `crash` with a concurrent trace")}) {
    const auto refused = crdt(arguments);
    EXPECT_EQ(refused.code, 3) << arguments;
    EXPECT_NE(refused.err.find(message), std::string::npos) << refused.err;
  }
}

}  // namespace
