// Histories of objects on the command line: how files are recognised, what is printed, and
// certificates.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/scratch_folder.hpp"

namespace cupel::apps {
namespace {

// "0 invoke add 1" as lines of op maps in EDN; the value is the rest.
std::string edn(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) {
    const auto process = line.substr(0, line.find(' '));
    auto rest = line.substr(process.size() + 1);
    const auto type = rest.substr(0, rest.find(' '));
    rest = rest.substr(type.size() + 1);
    const auto f = rest.substr(0, rest.find(' '));
    text += "{:process " + process + ", :type :" + type + ", :f :" + f + ", :value " +
            rest.substr(f.size() + 1) + "}\n";
  }
  return text;
}

class Objects : public ::testing::Test {
 protected:
  struct Ran {
    int code;
    std::string out, err;
  };
  [[nodiscard]] Ran cupel(const std::vector<std::string>& arguments) const {
    std::string line = CUPEL_BINARY;
    for (const auto& one : arguments) line += " '" + one + "'";
    const auto err = scratch_.path("stderr");
    FILE* pipe = popen((line + " 2>'" + err + "'").c_str(), "r");
    std::string out;
    char buffer[4096];
    for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
    const int status = pclose(pipe);
    std::ifstream in(err, std::ios::binary);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            out,
            {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()}};
  }
  std::string file(const std::string& name, const std::vector<std::string>& lines) const {
    return scratch_.file(name, edn(lines));
  }
  test::ScratchFolder scratch_;
};

struct Case {
  const char* name;
  std::vector<std::string> lines;
  int code;
  const char* says;
};

// Each kind: a history that is fine, and one that a single change makes wrong.
TEST_F(Objects, AreRecognisedAndDecided) {
  const Case cases[] = {
      {"set",
       {"0 invoke add 1", "0 ok add 1", "1 invoke read nil", "1 ok read #{1}"},
       0,
       "read as set"},
      {"set",
       {"0 invoke add 1", "0 ok add 1", "1 invoke read nil", "1 ok read []"},
       1,
       "set-stale: "},
      {"keyed set",
       {"0 invoke add [5 1]", "0 ok add [5 1]", "1 invoke read [5 nil]", "1 ok read [5 [2]]"},
       1,
       "thin-air-read of 5: The read by process 1 (operation 3) returned 2"},
      {"set without outcome",
       {"0 invoke add 1", "1 invoke read nil", "1 ok read [1]"},
       0,
       "recovered 1"},
      {"failed add",
       {"0 invoke add 1", "0 fail add 1", "1 invoke read nil", "1 ok read [1]"},
       1,
       "aborted-read"},
      {"counter",
       {"0 invoke add 1", "0 ok add 1", "1 invoke read nil", "1 ok read 1"},
       0,
       "read as counter"},
      {"counter",
       {"0 invoke add 1", "0 ok add 1", "1 invoke read nil", "1 ok read 0"},
       1,
       "counter-range"},
      {"counter of steps",
       {"0 invoke inc nil", "0 ok inc nil", "1 invoke read nil", "1 ok read 1"},
       0,
       "read as counter"},
      {"bank",
       {"0 invoke transfer {:from 0 :to 1 :amount 3}", "0 ok transfer nil", "1 invoke read nil",
        "1 ok read {0 7 1 3}"},
       0,
       "read as bank"},
      {"bank",
       {"1 invoke read nil", "1 ok read {0 10 1 0}", "0 invoke transfer {:from 0 :to 1 :amount 3}",
        "0 ok transfer {:from 0 :to 1 :amount 3}", "1 invoke read nil", "1 ok read {0 7 1 4}"},
       1,
       "bank-total"},
      {"lost transfer",
       {"1 invoke read nil", "1 ok read {0 10 1 0}", "0 invoke transfer {:from 0 :to 1 :amount 3}",
        "0 ok transfer {:from 0 :to 1 :amount 3}", "1 invoke read nil", "1 ok read {0 10 1 0}"},
       1,
       "bank-range"},
      {"missing balance",
       {"0 invoke transfer {:from 0 :to 1 :amount 3}", "0 ok transfer nil", "1 invoke read nil",
        "1 ok read {0 10 1 nil}"},
       1,
       "bank-nil"},
      {"ids",
       {"0 invoke generate nil", "0 ok generate 7", "1 invoke generate nil", "1 ok generate 8"},
       0,
       "read as unique-ids"},
      {"ids",
       {"0 invoke generate nil", "0 ok generate 7", "1 invoke generate nil", "1 ok generate 7"},
       1,
       "id-twice"},
      {"queue",
       {"0 invoke enqueue 1", "0 ok enqueue 1", "1 invoke dequeue nil", "1 ok dequeue 1"},
       0,
       "read as total-queue"},
      {"queue",
       {"0 invoke enqueue 1", "0 ok enqueue 1", "1 invoke dequeue nil", "1 ok dequeue 2"},
       1,
       "thin-air-dequeue"},
      {"drained queue",
       {"0 invoke enqueue 1", "0 ok enqueue 1", "1 invoke drain nil", "1 ok drain [1 1]"},
       1,
       "dequeued-too-often"},
  };
  for (const auto& one : cases) {
    const auto history = file("h.edn", one.lines);
    const auto ran = cupel({"check", history, "--certificate", scratch_.path("c.json")});
    EXPECT_EQ(ran.code, one.code) << one.name << "\n" << ran.out << ran.err;
    EXPECT_NE(ran.out.find(one.says), std::string::npos) << one.name << "\n" << ran.out;
    const auto verified = cupel({"verify", history, scratch_.path("c.json")});
    EXPECT_EQ(verified.code, 0) << one.name << "\n" << verified.out << verified.err;
  }
}

TEST_F(Objects, ElementsInTwoFormsAreUnknown) {
  const auto history =
      file("h.edn", {"0 invoke add [0 1]", "0 ok add [0 1]", "1 invoke read nil", "1 ok read [1]"});
  const auto ran = cupel({"check", history});
  EXPECT_EQ(ran.code, 2) << ran.out;
  EXPECT_NE(ran.out.find("no form in"), std::string::npos) << ran.out;
}

TEST_F(Objects, QueueHasAnOrderIfTheUserSaysSo) {
  const auto history = file("h.edn", {"0 invoke enqueue 1", "0 ok enqueue 1", "0 invoke enqueue 2",
                                      "0 ok enqueue 2", "1 invoke dequeue nil", "1 ok dequeue 2"});
  EXPECT_EQ(cupel({"check", history}).code, 0);
  const auto fifo = cupel({"check", history, "--kind", "fifo-queue"});
  EXPECT_EQ(fifo.code, 1);
  EXPECT_NE(fifo.out.find("fifo-lost"), std::string::npos) << fifo.out;
}

TEST_F(Objects, LevelsFollowFromLinearizableOrAreRefused) {
  const auto fine =
      file("fine.edn", {"0 invoke add 1", "0 ok add 1", "1 invoke read nil", "1 ok read [1]"});
  const auto wrong =
      file("wrong.edn", {"0 invoke add 1", "0 ok add 1", "1 invoke read nil", "1 ok read []"});
  const auto of_fine = cupel({"check", "-l", "linearizable,si", fine});
  EXPECT_EQ(of_fine.code, 0);
  EXPECT_NE(of_fine.out.find("\tsnapshot-isolation\tsatisfied\n"), std::string::npos)
      << of_fine.out;
  const auto strict = cupel({"check", "-l", "strict", wrong});
  EXPECT_EQ(strict.code, 1);
  EXPECT_EQ(strict.out.find("\n\n"), std::string::npos) << strict.out;
  const auto of_wrong = cupel({"check", "-l", "si", wrong});
  EXPECT_EQ(of_wrong.code, 3);
  EXPECT_NE(of_wrong.err.find("snapshot-isolation is refused: it is about transactions"),
            std::string::npos)
      << of_wrong.err;
}

TEST_F(Objects, JsonHasTheVerdictAndJepsensClasses) {
  const auto history =
      file("h.edn", {"0 invoke add 1", "0 ok add 1", "1 invoke read nil", "1 ok read []"});
  const auto json = nlohmann::json::parse(cupel({"check", "--json", history}).out);
  EXPECT_EQ(json["kind"], "set");
  EXPECT_EQ(json["levels"][0]["verdict"], "violated");
  EXPECT_EQ(json["levels"][0]["violations"][0]["name"], "set-stale");
  EXPECT_EQ(json["jepsen"]["valid"], false);
  EXPECT_EQ(json["jepsen"]["classes"]["lost"]["elements"], nlohmann::json::parse("[1]"));
}

TEST_F(Objects, MalformedOrAmbiguousFilesAreErrors) {
  struct {
    std::vector<std::string> lines;
    std::vector<std::string> options;
    const char* says;
  } const cases[] = {
      {{"0 invoke add 1", "0 ok add 1"}, {}, "which looks like a counter or set workload"},
      {{"0 invoke add 1", "0 ok add 2", "0 invoke read nil", "0 ok read [1]"},
       {},
       "Record the invoked value"},
      {{"0 invoke add 1", "0 ok add 2", "0 invoke read nil", "0 ok read 1"},
       {},
       "return the new value"},
      {{"0 ok add 1", "0 invoke read nil", "0 ok read [1]"}, {}, "without its invocation"},
      {{"0 invoke add nil", "0 info add nil", "1 invoke read nil", "1 ok read [1]"},
       {},
       "was invoked without its value"},
      {{"0 invoke generate nil", "0 info generate nil", "1 invoke generate nil",
        "1 fail generate nil"},
       {},
       "no operation succeeded: 1 failed, 1 with an unknown outcome"},
      {{"0 invoke add 1", "0 ok add 1", "0 invoke pop nil", "0 ok pop 1"},
       {"--kind", "set"},
       "found f=pop, which does not fit --kind set"},
      {{"0 invoke add 1", "0 ok add 1", "0 invoke read nil", "0 ok read [1]", "1 invoke read nil",
        "1 ok read 4"},
       {},
       "looks like"},
      {{"0 invoke add 1", "0 ok add 1", "0 invoke read nil", "0 ok read [1]"},
       {"--initial", "0"},
       "--initial is for registers"},
      {{"0 invoke add 1", "0 ok add 1", "0 invoke read nil", "0 ok read [1]"},
       {"--emit", "sql"},
       "--emit and --report are for"},
      {{"0 invoke add 1", "0 ok add 1", "0 invoke read nil", "0 ok read [1]"},
       {"--clock-drift", "1ms"},
       "--clock-drift needs times"},
      {{"0 invoke enqueue 1", "0 ok enqueue 1", "0 invoke drain nil"},
       {"--kind", "fifo-queue"},
       "found a drain without a known result"},
  };
  for (const auto& one : cases) {
    std::vector<std::string> arguments = {"check", file("h.edn", one.lines)};
    arguments.insert(arguments.end(), one.options.begin(), one.options.end());
    const auto ran = cupel(arguments);
    EXPECT_EQ(ran.code, 3) << one.says << "\n" << ran.out;
    EXPECT_NE(ran.err.find(one.says), std::string::npos) << one.says << "\n" << ran.err;
  }
  // A transaction beside them, and a key in one operation alone.
  EXPECT_EQ(cupel({"check", file("h.edn", {"0 invoke generate nil", "0 ok generate 7",
                                           "1 invoke txn [[:w 1 2]]", "1 ok txn [[:w 1 2]]"})})
                .code,
            3);
  for (const auto* key : {":process 0, :f :add, :key 5", ":process 0, :f :read, :key 5"}) {
    const std::string of(key),
        add = of.find("add") == std::string::npos ? ":process 0, :f :add" : of,
        read = of.find("read") == std::string::npos ? ":process 0, :f :read" : of;
    const auto mixed =
        scratch_.file("mixed.edn", "{:type :invoke, " + add + ", :value 1}\n{:type :ok, " + add +
                                       ", :value 1}\n{:type :invoke, " + read +
                                       ", :value nil}\n{:type :ok, " + read + ", :value [1]}\n");
    const auto ran = cupel({"check", mixed});
    EXPECT_EQ(ran.code, 3) << ran.out;
    EXPECT_NE(ran.err.find("has no field key, and other operations have one"), std::string::npos)
        << ran.err;
  }
  const auto history =
      file("h.edn", {"0 invoke add 1", "0 ok add 1", "0 invoke read nil", "0 ok read [1]"});
  EXPECT_EQ(cupel({"stats", history}).code, 3);
  EXPECT_NE(cupel({"convert", "--kind", "set", history, scratch_.path("out.jsonl")})
                .err.find("which only check, verify and elle read"),
            std::string::npos);
}

TEST_F(Objects, TimesDecideIfTheFileHasThem) {
  // The read begins after the add has ended; with clocks that are wrong by so much, maybe not.
  const auto history = scratch_.file("h.edn",
                                     "{:process 0, :type :invoke, :f :add, :value 1, :time 10}\n"
                                     "{:process 0, :type :ok, :f :add, :value 1, :time 20}\n"
                                     "{:process 1, :type :invoke, :f :read, :value nil, :time 30}\n"
                                     "{:process 1, :type :ok, :f :read, :value [], :time 40}\n");
  EXPECT_EQ(cupel({"check", history}).code, 1);
  EXPECT_EQ(cupel({"check", "--clock-drift", "4", history}).code, 1);
  const auto certificate = scratch_.path("c.json");
  EXPECT_EQ(cupel({"check", "--clock-drift", "5", "--certificate", certificate, history}).code, 0);
  EXPECT_EQ(cupel({"verify", "--clock-drift", "5", history, certificate}).code, 0);
  EXPECT_EQ(cupel({"verify", history, certificate}).code, 1);
}

TEST_F(Objects, LogsAndStoresAreReadToo) {
  const auto log = scratch_.file(
      "history.txt",
      "0\t:invoke\t:add\t1\n0\t:ok\t:add\t1\n1\t:invoke\t:read\tnil\n1\t:ok\t:read\t#{1}\n");
  EXPECT_NE(cupel({"check", log}).out.find("knossos: 2 operations"), std::string::npos);
  std::filesystem::create_directories(scratch_.path("store/queue/20260101T000000"));
  file("store/queue/20260101T000000/history.edn",
       {"0 invoke enqueue 1", "0 ok enqueue 1", "1 invoke dequeue nil", "1 ok dequeue 7"});
  const auto store = cupel({"check", scratch_.path("store")});
  EXPECT_EQ(store.code, 1) << store.err;
  EXPECT_NE(store.out.find("thin-air-dequeue: "), std::string::npos) << store.out;
}

// If the lines are not in the order of their times, the lost one may be the add that was read.
TEST_F(Objects, FileThatWasCutIsReadIfItsLinesFollowTheirTimes) {
  const auto lines = [](int read) {
    return fmt::format(R"({{"type":"invoke","process":0,"f":"read","value":null,"time":{}}}
{{"type":"ok","process":0,"f":"read","value":[1],"time":{}}}
{{"type":"invoke","process":2,"f":"add","value":1,"time":30}}
{{"type":"ok","process":2,"f":"add","value":1,"time":40}}
{{"type":"invoke","process":1,"f":"add","val)",
                       read, read + 1);
  };
  const auto later = cupel({"check", scratch_.file("later.jsonl", lines(10))});
  EXPECT_EQ(later.code, 1) << later.err;
  EXPECT_NE(later.err.find("its incomplete last line is left out"), std::string::npos) << later.err;
  const auto earlier = cupel({"check", scratch_.file("earlier.jsonl", lines(50))});
  EXPECT_EQ(earlier.code, 3) << earlier.out;
  EXPECT_NE(earlier.err.find("may come from the lost part"), std::string::npos) << earlier.err;
}

TEST_F(Objects, ElleAnswersByJepsensRules) {
  const auto fine =
      file("fine.edn", {"0 invoke add 1", "0 ok add 1", "1 invoke read nil", "1 ok read [1]"});
  EXPECT_EQ(cupel({"elle", "-m", "set", fine}).out, fine + " \t true\n");
  const auto lost =
      file("lost.edn", {"0 invoke add 1", "0 ok add 1", "1 invoke read nil", "1 ok read []"});
  EXPECT_EQ(cupel({"elle", "-m", "set-full", lost}).out, lost + " \t false\n");
  // A stale read before the last one passes in Jepsen.
  const auto stale = file("stale.edn", {"0 invoke add 1", "0 ok add 1", "1 invoke read nil",
                                        "1 ok read []", "1 invoke read nil", "1 ok read [1]"});
  const auto ran = cupel({"elle", "-m", "set", stale});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, stale + " \t true\n");
  EXPECT_NE(ran.err.find("is not linearizable: set-stale"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace cupel::apps
