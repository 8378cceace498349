// `cupel verify --proved` as a user runs it: each answer is one that the program cupel-proved
// printed, and not what the rest of cupel says of it. The program is looked for beside cupel, so
// a copy of cupel finds scripts in its place.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "base/process.hpp"
#include "support/scratch_folder.hpp"

namespace {

namespace fs = std::filesystem;
using cupel::base::Process;
using cupel::base::Stream;

constexpr const char* kLostUpdate = "r(1,0,0,1)\nw(1,1,0,1)\nr(1,0,1,2)\nw(1,2,1,2)\n";

struct Ran {
  int code;
  std::string out;  // and errors
};

class Proved : public testing::Test {
 protected:
  void SetUp() override {
    std::error_code failed;
    fs::create_directories(at("bin"));
    for (const char* other : {"", "-run", "-crdt"}) {
      const auto program = std::string(CUPEL_BINARY) + other, copy = at("bin/cupel") + other;
      fs::create_hard_link(program, copy, failed);
      if (failed) fs::copy_file(program, copy);
    }
    history_ = scratch_.file("lost.txt", kLostUpdate);
    ASSERT_EQ(cupel({"check", "--certificate", at("lost.json"), history_}).code, 1);
  }
  [[nodiscard]] std::string at(const std::string& name) const { return scratch_.path(name); }
  [[nodiscard]] static Ran run(std::vector<std::string> arguments) {
    auto process = Process::start(
        {.arguments = std::move(arguments), .output = Stream::pipe(), .errors = Stream::output()});
    if (!process.ok()) return {-1, process.error().message};
    constexpr cupel::base::Seconds kPatience{60};
    auto out = process->read_all(kPatience).value_or("");
    const auto status = process->wait(kPatience);
    return {status && status->signal == 0 ? status->code : -1, out};
  }
  [[nodiscard]] Ran cupel(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), at("bin/cupel"));
    return run(std::move(arguments));
  }
  // Each answer of the certificate, as the program prints it.
  [[nodiscard]] std::vector<std::string> answers() const {
    std::vector<std::string> lines;
    for (const char* level : {"read-committed", "read-atomic", "causal", "prefix"})
      lines.push_back(std::string("proved satisfied ") + level + ", drift 0 ns");
    for (const char* level : {"snapshot-isolation", "strong-session-snapshot-isolation",
                              "serializable", "strong-session-serializable"})
      lines.push_back(std::string("proved violated ") + level + ", drift 0 ns");
    return lines;
  }
  // A script in the place of the program.
  void program_says(const std::vector<std::string>& lines, int code = 0) const {
    std::string script = "echo digest 00\n";
    for (const auto& line : lines) script += "echo '" + line + "'\n";
    program_is(script + "exit " + std::to_string(code) + "\n");
  }
  void program_is(const std::string& script) const {
    const auto file = scratch_.file("bin/cupel-proved", "#!/bin/sh\n" + script);
    fs::permissions(file, fs::perms::owner_all);
  }
  [[nodiscard]] Ran verify(const std::string& option = "--proved") const {
    std::vector<std::string> arguments = {"verify", "--proved", history_, at("lost.json")};
    if (option != "--proved") arguments.insert(arguments.begin() + 1, option);
    return cupel(std::move(arguments));
  }

  const cupel::test::ScratchFolder scratch_;
  std::string history_;
};

TEST_F(Proved, WithoutTheProgramItSaysSo) {
  const auto ran = verify();
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out,
            "cupel: --proved needs the program cupel-proved, and there is neither " +
                at("bin/cupel-proved") + " nor " + at("libexec/cupel/cupel-proved") +
                "; build and install cupel where OCaml is (Debian: ocaml-nox), which makes "
                "it\n");
  const auto doctor = cupel({"doctor", "--json"});
  EXPECT_NE(doctor.out.find("\"name\":\"verify --proved\",\"what\":\"the verifier that is itself "
                            "proved, cupel-proved\",\"works\":false"),
            std::string::npos)
      << doctor.out;
}

TEST_F(Proved, TheProgramIsBesideCupelOrInLibexec) {
  program_says(answers());
  fs::create_directories(at("libexec/cupel"));
  fs::rename(at("bin/cupel-proved"), at("libexec/cupel/cupel-proved"));
  EXPECT_EQ(verify().code, 0) << verify().out;
}

// The program reads the beginning that the certificate is of, and nothing else.
TEST_F(Proved, TheBeginningOfAFileIsAHistoryOfItsOwn) {
  const auto contents = [&](const std::string& name) {
    std::ifstream in(at(name));
    return std::string{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  };
  program_says(answers());
  ASSERT_EQ(verify("--text=" + at("short.text")).code, 0);
  auto certificate = contents("lost.json");
  const std::string counted = "\"operations\": 4";
  const auto place = certificate.find(counted);
  ASSERT_NE(place, std::string::npos) << certificate;
  certificate.insert(place + counted.size(),
                     ", \"bytes\": " + std::to_string(std::string(kLostUpdate).size()));
  scratch_.file("lost.json", certificate);
  scratch_.file("lost.txt", std::string(kLostUpdate) + "r(1,2,1,3)\n");
  const auto ran = verify("--text=" + at("long.text"));
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_NE(ran.out.find("valid for the first 2 transactions of"), std::string::npos) << ran.out;
  EXPECT_EQ(contents("long.text"), contents("short.text"));
}

TEST_F(Proved, AnAnswerIsOneThatTheProgramPrints) {
  auto lines = answers();
  program_says(lines);
  EXPECT_EQ(verify().code, 0) << verify().out;
  // One is missing, one is another one, one is for other clocks, one too many, none at all.
  std::vector<std::vector<std::string>> wrong(5, lines);
  wrong[0].erase(wrong[0].begin());
  std::swap(wrong[1].front(), wrong[1].back());
  wrong[2].back() = "proved violated strong-session-serializable, drift 5 ns";
  wrong[3].push_back(lines.back());
  wrong[4].clear();
  for (const auto& said : wrong) {
    program_says(said);
    const auto ran = verify();
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.out.find("not proved: the two verifiers disagree: the program says `"),
              std::string::npos)
        << ran.out;
    EXPECT_NE(verify("--json").out.find("\"proved\":{\"all\":false,\"agrees\":false"),
              std::string::npos);
  }
  program_says(lines, 1);
  EXPECT_EQ(verify().code, 1);
}

TEST_F(Proved, AReplicatedTypeIsTheOneThatTheProgramPrints) {
  const auto history = scratch_.file(
      "inc.jsonl", "{\"process\":1,\"f\":\"inc\"}\n{\"process\":2,\"f\":\"read\",\"value\":1}\n");
  ASSERT_EQ(
      cupel({"crdt", "check", "--type", "counter", "--certificate", at("inc.json"), history}).code,
      0);
  const auto said = [&](const std::vector<std::string>& lines) {
    program_says(lines);
    return cupel({"crdt", "verify", "--proved", history, at("inc.json")});
  };
  EXPECT_EQ(said({"proved satisfied counter, deliveries not known"}).code, 0);
  for (const auto& wrong : std::vector<std::vector<std::string>>{
           {"proved satisfied add-wins-set, deliveries not known"},
           {"proved satisfied counter, deliveries known"},
           {"proved satisfied"},
           {}}) {
    const auto ran = said(wrong);
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.out.find("not proved: the two verifiers disagree: the program says `"),
              std::string::npos)
        << ran.out;
  }
}

#ifdef CUPEL_PROVED

TEST_F(Proved, AnotherCertificateThanTheReportIsFoundOut) {
  const std::string real = CUPEL_PROVED;
  program_is("exec '" + real + "' \"$@\"\n");
  const auto fine = verify();
  EXPECT_EQ(fine.code, 0) << fine.out;
  EXPECT_NE(fine.out.find("proved: 8 of 8 answers\ncanonical text: sha256 "), std::string::npos);
  // The answer about serializable says read-committed, as if the translation were wrong.
  for (const char* change : {"s/^N 8 /N 9 /", "/^N 8 /d", "/^N /d", "d"}) {
    program_is("sed '" + std::string(change) + "' \"$2\" >\"$2.changed\"\nexec '" + real +
               "' \"$1\" \"$2.changed\" \"$3\"\n");
    const auto ran = verify();
    EXPECT_EQ(ran.code, 1) << change;
    EXPECT_NE(ran.out.find("not proved: the two verifiers disagree"), std::string::npos) << ran.out;
  }
}

TEST_F(Proved, TheTextsCanBePrinted) {
  program_is("exec '" + std::string(CUPEL_PROVED) + "' \"$@\"\n");
  const auto ran =
      cupel({"verify", "--proved", "--text", "-", "--coq", "-", history_, at("lost.json")});
  EXPECT_EQ(ran.code, 0) << ran.out;
  for (const char* part :
       {"# key 0 is 1\n# session 0 is 0\n# session 1 is 1\n# transaction 0 is T1\n",
        "\nTheorem answer_7 : ", "\nproved: 8 of 8 answers\n"}) {
    EXPECT_NE(ran.out.find(part), std::string::npos) << part << ran.out;
  }
  EXPECT_FALSE(fs::exists("-"));
}

TEST_F(Proved, TheProgramByItself) {
  const std::string real = CUPEL_PROVED;
  const auto help = run({real, "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_TRUE(help.out.starts_with("cupel-proved HISTORY CERTIFICATE DRIFT\n")) << help.out;
  const auto history = scratch_.file("h", "H 1 0\nT 0 0 C - -\nO 0 0 w 1 -\n");
  const auto good = scratch_.file("good", "P 8 order\nX 0\nN 8 1 0\nN 4 1 0\n");
  const auto ran = run({real, history, good, "7"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_NE(ran.out.find("\nproved satisfied serializable, drift 7 ns\nproved satisfied "
                         "snapshot-isolation, drift 7 ns\n"),
            std::string::npos)
      << ran.out;
  for (const char* nothing : {"", "P 8 order\nX 0\n"}) {
    const auto none = run({real, history, scratch_.file("c", nothing), "0"});
    EXPECT_EQ(none.code, 1);
    EXPECT_NE(none.out.find("\nthe certificate has no answer\n"), std::string::npos) << none.out;
    EXPECT_EQ(none.out.find("proved"), std::string::npos) << none.out;
  }
  // A history has one text: no other order of lines, no number written another way.
  for (const char* other :
       {"H 01 0\n", "H 1 0 \n", "H  1 0\n", "H 1 0\nR 1\nI 0 5\n", "I 0 5\nH 1 0\n",
        "H 1 0\nH 1 0\n", "H 1 0\n\n", "H 1 9223372036854775808\n", ""}) {
    const auto refused = run({real, scratch_.file("other", other), good, "0"});
    EXPECT_EQ(refused.code, 3) << other;
    EXPECT_EQ(refused.out.find("proved "), std::string::npos) << refused.out;
  }
  const auto commented = scratch_.file("h", "# one\nH 1 0\n#\nT 0 0 C - -\nO 0 0 w 1 -\n# end\n");
  EXPECT_EQ(run({real, commented, good, "0"}).code, 0);
  for (const char* no_number :
       {"0x8", "0b1", "0u8", "1_0", "-1", "+8", "", "99999999999999999999"}) {
    const std::string text = no_number;
    EXPECT_EQ(
        run({real, history, scratch_.file("c", "P 8 order\nX 0\nN " + text + " 1 0\n"), "0"}).code,
        3)
        << text;
    EXPECT_EQ(
        run({real, history, scratch_.file("c", "P 8 order\nX " + text + "\nN 8 1 0\n"), "0"}).code,
        3)
        << text;
    EXPECT_EQ(run({real, history, scratch_.file("c", "P 8 order\nX 0\nN 8 1 0\n"), text}).code, 3)
        << text;
  }
}

#endif

}  // namespace
