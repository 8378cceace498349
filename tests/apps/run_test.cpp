// `cupel run` and `cupel campaign` as a user runs them, on SQLite: exit codes, what
// goes where, what remains after signals and mistakes.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/process.hpp"
#include "base/read_file.hpp"
#include "cupel/record.hpp"
#include "support/file_event.hpp"
#include "support/polling.hpp"
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

class RunCli : public testing::Test {
 protected:
  [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] Process start(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), CUPEL_BINARY);
    auto process = Process::start({.arguments = std::move(arguments),
                                   .environment = {{"TMPDIR", folder_.string()}},
                                   .output = Stream::file(at("stdout")),
                                   .errors = Stream::file(at("stderr"))});
    if (!process.ok()) throw std::runtime_error(process.error().to_string());
    return std::move(process).value();
  }
  Ran end(Process process) const {
    const auto status = process.wait(Seconds(60));
    const int code = !status ? -1 : status->signal != 0 ? 128 + status->signal : status->code;
    return {code, text_of("stdout"), text_of("stderr")};
  }
  [[nodiscard]] Ran cupel(std::vector<std::string> arguments) const {
    fs::remove(at("stdout"));
    fs::remove(at("stderr"));
    return end(start(std::move(arguments)));
  }
  // Until the file has grown to `bytes`.
  void wait_for(const std::string& name, std::uintmax_t bytes) const {
    EXPECT_TRUE(cupel::test::wait_for_file(
        at(name), [&](const std::string& text) { return text.size() >= bytes; }))
        << name << " does not grow";
  }
  // Level → verdict, refused ones left out.
  static std::map<std::string, std::string> verdicts(const Json& answer) {
    std::map<std::string, std::string> all;
    for (const auto& level : answer.at("levels")) all[level.at("level")] = level.at("verdict");
    return all;
  }
  void expect_mistake(std::vector<std::string> arguments, const std::vector<std::string>& words) {
    const auto ran = cupel(arguments);
    EXPECT_EQ(ran.code, 3) << words.front();
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(ran.err.starts_with("cupel: ")) << ran.err;
    for (const auto& word : words) EXPECT_NE(ran.err.find(word), std::string::npos) << ran.err;
  }
  // What is in the folder besides the captured output.
  [[nodiscard]] std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const auto name = entry.path().filename().string();
      if (name != "stdout" && name != "stderr") names.push_back(name);
    }
    return names;
  }

  const cupel::test::ScratchFolder scratch_;
  const fs::path folder_ = scratch_.path();
};

TEST_F(RunCli, TextSaysWhatRanAndWhatItWasPromised) {
  const auto ran = cupel({"run", "--sessions", "3", "--txns", "20", "-o", at("h.jsonl")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out.find("SQLite "), 0U) << ran.out;
  EXPECT_NE(ran.out.find("at serializable: workload general, 3 sessions, seed 1\n"),
            std::string::npos)
      << ran.out;
  EXPECT_NE(ran.out.find("serializable: satisfied, as SQLite promises at serializable\n"),
            std::string::npos)
      << ran.out;
  EXPECT_NE(ran.out.find("\n\nhistory: " + at("h.jsonl") + "\n"), std::string::npos) << ran.out;
  // The database was temporary.
  EXPECT_EQ(left(), std::vector<std::string>{"h.jsonl"});
}

TEST_F(RunCli, CheckAnswersTheSameForTheHistory) {
  for (const std::string name : {"h.jsonl", "h.cupel"}) {
    const auto ran = cupel({"run", "--json", "--workload", "mini", "--sessions", "4", "--txns",
                            "25", "--retries", "100", "-o", at(name)});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const auto answer = Json::parse(ran.out);
    EXPECT_EQ(answer.at("run").at("database"), "SQLite");
    EXPECT_EQ(answer.at("run").at("sessions"), 4);
    EXPECT_EQ(answer.at("run").at("committed"), 100);
    EXPECT_EQ(answer.at("committed"), 100);
    EXPECT_EQ(answer.at("run").at("asked").at(0).at("level"), "serializable");
    const auto checked = cupel({"check", "--json", at(name)});
    EXPECT_EQ(checked.code, 0) << checked.err;
    const auto again = Json::parse(checked.out);
    EXPECT_EQ(verdicts(answer), verdicts(again));
    EXPECT_EQ(answer.at("operations"), again.at("operations"));
    EXPECT_EQ(answer.at("format"), again.at("format"));
    EXPECT_EQ(answer.at("format"), name == "h.cupel" ? "cupel" : "jepsen");
  }
  EXPECT_FALSE(fs::exists(at("h.cupel.jsonl")));
}

TEST_F(RunCli, TheLevelAskedForDecidesTheExitCode) {
  EXPECT_EQ(cupel({"run", "--txns", "5", "-l", "strict-serializable", "-o", at("a.jsonl")}).code,
            0);
  // A limit that no check can keep: unknown.
  EXPECT_EQ(cupel({"run", "--txns", "20", "--memory-limit", "1K", "-o", at("b.jsonl")}).code, 2);
}

// What was recorded is there all the same, in the format that it was recorded in.
TEST_F(RunCli, ALimitHoldsForTheReadingToo) {
  const auto text = cupel({"run", "--txns", "20", "--timeout", "0", "-o", at("a.jsonl")});
  EXPECT_EQ(text.code, 2) << text.err;
  EXPECT_NE(text.out.find("serializable: unknown"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("reading stopped: time limit met"), std::string::npos) << text.out;
  EXPECT_EQ(cupel({"check", "-l", "serializable", at("a.jsonl")}).code, 0);

  const auto ran = cupel({"run", "--json", "--txns", "20", "--timeout", "0", "-o", at("b.cupel")});
  EXPECT_EQ(ran.code, 2) << ran.err;
  const auto answer = Json::parse(ran.out);
  EXPECT_EQ(answer.at("file"), at("b.cupel.jsonl"));
  for (const auto& level : answer.at("levels")) {
    EXPECT_EQ(level.at("verdict"), "unknown") << level.dump();
    EXPECT_NE(level.at("detail").get<std::string>().find("reading stopped"), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(at("b.cupel")));
  EXPECT_EQ(cupel({"check", "-l", "serializable", at("b.cupel.jsonl")}).code, 0);
}

TEST_F(RunCli, ADatabaseThatBreaksItsPromiseIsOne) {
  // Says well done to everything, and answers each read with nothing, as it was asked.
  const auto probe =
      cupel({"run", "--db", R"(exec:sed -u 's/^{/{"type":"ok",/')", "--sessions", "2", "--txns",
             "20", "--keys", "3", "-l", "strict-serializable", "-o", at("l.jsonl")});
  EXPECT_EQ(probe.code, 1) << probe.out << probe.err;
  EXPECT_NE(probe.out.find("strict-serializable: violated\n"), std::string::npos) << probe.out;
}

TEST_F(RunCli, APlanIsRunWhole) {
  ASSERT_EQ(cupel({"generate", "--plan", "general", "--sessions", "3", "--txns", "150", "-o",
                   at("p.json")})
                .code,
            0);
  const auto ran = cupel({"run", "--json", "--workload", at("p.json"), "-o", at("h.jsonl")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto answer = Json::parse(ran.out);
  EXPECT_EQ(answer.at("run").at("sessions"), 3);
  EXPECT_EQ(answer.at("transactions"), 450);
  expect_mistake({"run", "--workload", at("p.json"), "--keys", "3"}, {"plan", "its own"});
  expect_mistake({"run", "--workload", at("p.json"), "--sessions", "3"}, {"plan", "its own"});
}

TEST_F(RunCli, InterruptEndsTheLoadAndChecks) {
  auto process = start({"run", "--json", "--txns", "0", "--rate", "500", "-o", at("h.jsonl")});
  wait_for("h.jsonl", 20'000);
  process.signal(SIGINT);
  const auto ran = end(std::move(process));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto answer = Json::parse(ran.out);
  EXPECT_LT(answer.at("run").at("seconds").get<double>(), 60);
  EXPECT_GT(answer.at("committed").get<int>(), 0);
  const auto checked = cupel({"check", "--json", at("h.jsonl")});
  EXPECT_EQ(verdicts(answer), verdicts(Json::parse(checked.out)));
}

TEST_F(RunCli, AReportIsThatOfCheck) {
  const auto ran = cupel({"run", "--txns", "20", "--report", at("report"), "-o", at("h.jsonl")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto page = text_of("report/index.html");
  EXPECT_NE(page.find("<section id=\"timeline\""), std::string::npos);
  write("file", "");
  expect_mistake({"run", "--report", at("file"), "-o", at("other.jsonl")}, {"folder"});
  EXPECT_FALSE(fs::exists(at("other.jsonl"))) << "before the load";
}

// The client of the exec driver whose table is removed slowly: after the load, before the check.
std::string slow_to_clean(const std::string& folder) {
  return "exec:if [ \"$CUPEL_SESSION\" = clean ]; then touch " + folder +
         "/cleaning; sleep 2; fi; exec python3 " EXEC_CLIENT " " + folder + "/db";
}

TEST_F(RunCli, AnInterruptBetweenLoadAndCheckIsNotLost) {
  auto process = start({"run", "--db", slow_to_clean(folder_.string()), "--workload", "append",
                        "--sessions", "2", "--txns", "20", "-o", at("h.jsonl")});
  ASSERT_TRUE(cupel::test::poll_until([&] { return fs::exists(at("cleaning")); }));
  process.signal(SIGINT);
  const auto ran = end(std::move(process));
  EXPECT_EQ(ran.code, 2) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("to check it later: cupel check " + at("h.jsonl")), std::string::npos)
      << ran.err;
  EXPECT_EQ(cupel({"check", "-l", "serializable", at("h.jsonl")}).code, 0);
}

// A parent that ignores SIGCHLD hands that on, and the kernel then drops the status of children.
TEST_F(RunCli, AnIgnoredSigchldHidesNoFailure) {
  const auto ignoring = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"env", "--ignore-signal=CHLD", CUPEL_BINARY});
    fs::remove(at("stdout"));
    fs::remove(at("stderr"));
    auto process = Process::start({.arguments = std::move(arguments),
                                   .environment = {{"TMPDIR", folder_.string()}},
                                   .output = Stream::file(at("stdout")),
                                   .errors = Stream::file(at("stderr"))});
    if (!process.ok()) throw std::runtime_error(process.error().to_string());
    return end(*std::move(process));
  };
  const auto fault =
      ignoring({"run", "--json", "-l", "read-committed", "--fault", "exit 3", "--fault-every",
                "0.1s", "--txns", "0", "--time-limit", "1s", "-o", at("fault.jsonl")});
  ASSERT_EQ(fault.code, 0) << fault.err;
  EXPECT_EQ(Json::parse(fault.out).at("run").at("faults"), 0);
  EXPECT_GT(Json::parse(fault.out).at("run").at("failed_faults"), 0);
  EXPECT_NE(fault.err.find("`exit 3` exited with 3"), std::string::npos) << fault.err;

  const auto client = ignoring({"run", "--db", "exec:exit 3", "-o", at("exec.jsonl")});
  EXPECT_EQ(client.code, 3);
  EXPECT_NE(client.err.find("exited with 3"), std::string::npos) << client.err;

  write("own.json", R"({"url": "redis://HOSTS", "start": "exit 3", "patience": 5})");
  fs::permissions(folder_, fs::perms(0711));  // a server of the lab may run as another user
  const auto lab = ignoring({"run", "--db", "lab:" + at("own.json"), "-o", at("lab.jsonl")});
  EXPECT_EQ(lab.code, 3);
  EXPECT_NE(lab.err.find("did not start: it exited with 3"), std::string::npos) << lab.err;

  write("c.json", R"({"databases": [{"url": "exec:exit 3"}], "workloads": ["append"]})");
  const auto campaign = ignoring({"campaign", at("c.json"), "-o", at("campaign"), "-q"});
  EXPECT_EQ(campaign.code, 3);
  EXPECT_NE(campaign.out.find("exited with 3"), std::string::npos) << campaign.out;
}

TEST_F(RunCli, ARunThatCommitsNothingIsAnErrorWithTheReason) {
  const std::string refuses =
      "exec:while read line; do case $line in *'[]'*) echo '{\"type\":\"ok\",\"value\":[]}';; "
      "*) echo '{\"type\":\"fail\",\"error\":\"conflict: no luck\"}';; esac; done";
  const auto ran = cupel({"run", "--db", refuses, "--sessions", "2", "--txns", "5", "--workload",
                          "append", "-o", at("h.jsonl")});
  EXPECT_EQ(ran.code, 3) << ran.out;
  EXPECT_EQ(ran.out, "");
  for (const char* words : {"nothing committed in ", "10 aborted", "conflict: no luck",
                            "Use fewer sessions (--sessions)"}) {
    EXPECT_NE(ran.err.find(words), std::string::npos) << ran.err;
  }
  EXPECT_FALSE(fs::exists(at("h.jsonl")));
  write("c.json", Json{{"databases", {{{"url", refuses}}}},
                       {"workloads", {"append"}},
                       {"sessions", 2},
                       {"txns", 5}}
                      .dump());
  const auto campaign = cupel({"campaign", at("c.json"), "-o", at("campaign"), "-q"});
  EXPECT_EQ(campaign.code, 3) << campaign.out;
  EXPECT_NE(campaign.out.find("nothing committed"), std::string::npos) << campaign.out;
}

TEST_F(RunCli, LittleEvidenceIsSaidBeforeTheVerdict) {
  const auto alone = cupel({"run", "--sessions", "1", "--txns", "20", "-o", at("one.jsonl")});
  EXPECT_EQ(alone.code, 0) << alone.err;
  const std::string words =
      "all committed transactions are of one session, so none were concurrent";
  const auto sentence = "  warning: " + words + "\n";
  EXPECT_NE(alone.out.find(sentence + "serializable: satisfied, as SQLite promises"),
            std::string::npos)
      << alone.out;
  EXPECT_EQ(alone.out.find(sentence), alone.out.rfind(sentence)) << "said once";
  const auto checked = cupel({"check", "-l", "serializable", at("one.jsonl")});
  EXPECT_EQ(checked.out, "  warning: " + at("one.jsonl") + ": " + words + "\n" + at("one.jsonl") +
                             "\tserializable\tsatisfied\n");
  const auto ladder = cupel({"check", at("one.jsonl")}).out;
  EXPECT_EQ(ladder.find(at("one.jsonl") + ": little evidence; strongest satisfied: "), 0U);
  EXPECT_EQ(ladder.find(sentence), ladder.find('\n') + 1) << ladder;
  const auto json = Json::parse(cupel({"check", "--json", at("one.jsonl")}).out);
  EXPECT_EQ(json.at("warnings").size(), 1U) << json.at("warnings");
  const auto enough = Json::parse(
      cupel({"run", "--json", "--sessions", "4", "--txns", "50", "-o", at("four.jsonl")}).out);
  EXPECT_EQ(enough.at("warnings"), Json::array());
}

// Whether the process catches SIGINT. A handler announces itself by nothing else.
bool catches_interrupt(pid_t id) {
  std::ifstream status("/proc/" + std::to_string(id) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("SigCgt:")) continue;
    return (std::stoull(line.substr(7), nullptr, 16) >> (SIGINT - 1) & 1) != 0;
  }
  return false;
}

// Deciding this history takes far longer than the tests may.
constexpr std::initializer_list<const char*> kHard = {
    "generate", "--shape", "range", "--sessions",   "10",  "--txns", "3000", "--ops",
    "8",        "--keys",  "200",   "--duplicates", "0.2", "--seed", "3",    "-o"};

TEST_F(RunCli, AnInterruptedCheckEndsSoonAndSaysHowToCheckLater) {
  std::vector<std::string> made(kHard.begin(), kHard.end());
  made.push_back(at("hard.cupel"));
  ASSERT_EQ(cupel(made).code, 0);
  auto process = start({"check", "--report", at("report"), at("hard.cupel"), at("gone.cupel")});
  ASSERT_TRUE(cupel::test::poll_until([&] { return catches_interrupt(process.id()); }));
  process.signal(SIGINT);
  const auto ran = end(std::move(process));
  EXPECT_EQ(ran.code, 2) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("interrupted"), std::string::npos) << ran.out;
  EXPECT_NE(ran.err.find("to check it later: cupel check " + at("hard.cupel")), std::string::npos)
      << ran.err;
  EXPECT_NE(ran.err.find("gone.cupel: not checked"), std::string::npos) << ran.err;
  EXPECT_FALSE(fs::exists(at("report/1-hard/index.html")));
}

TEST_F(RunCli, ASecondInterruptEndsACheckAtOnce) {
  std::vector<std::string> made(kHard.begin(), kHard.end());
  made.push_back(at("hard.cupel"));
  ASSERT_EQ(cupel(made).code, 0);
  auto process = start({"check", at("hard.cupel")});
  ASSERT_TRUE(cupel::test::poll_until([&] { return catches_interrupt(process.id()); }));
  process.signal(SIGSTOP);  // so that both are there when it goes on
  process.signal(SIGINT);
  process.signal(SIGTERM);
  process.signal(SIGCONT);
  const auto ran = end(std::move(process));
  EXPECT_GT(ran.code, 128) << ran.out << ran.err;
  EXPECT_EQ(ran.out, "");
}

TEST_F(RunCli, KillLeavesAReadableHistory) {
  for (const std::string name : {"h.jsonl", "h.cupel"}) {
    const auto recorded = name == "h.cupel" ? name + ".jsonl" : name;
    auto process = start({"run", "--db", "sqlite:" + at("db"), "--txns", "0", "--time-limit",
                          "100s", "--rate", "500", "-o", at(name)});
    wait_for(recorded, 20'000);
    process.signal(SIGKILL);
    EXPECT_EQ(end(std::move(process)).code, 128 + SIGKILL);
    const auto checked = cupel({"check", "-l", "serializable", at(recorded)});
    EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
    // The same command does not overwrite what is left, and says what to do.
    expect_mistake({"run", "--db", "sqlite:" + at("db"), "-o", at(name)}, {"--overwrite"});
    // And the database is as good as new.
    EXPECT_EQ(
        cupel({"run", "--db", "sqlite:" + at("db"), "--txns", "2", "-o", at("again-" + name)}).code,
        0);
  }
}

TEST_F(RunCli, ARecordedHistoryIsNotOverwritten) {
  write("h.jsonl", "mine");
  expect_mistake({"run", "-o", at("h.jsonl")}, {"h.jsonl", "is there already", "--overwrite"});
  EXPECT_EQ(text_of("h.jsonl"), "mine");
  EXPECT_EQ(cupel({"run", "--txns", "1", "--overwrite", "-o", at("h.jsonl")}).code, 0);
  EXPECT_NE(text_of("h.jsonl"), "mine");
  // A mistake that is seen later leaves the old one, too.
  write("h.jsonl", "mine");
  expect_mistake({"run", "--overwrite", "--db", "sqlite:/nowhere/at/all", "-o", at("h.jsonl")},
                 {"/nowhere/at"});
  EXPECT_EQ(text_of("h.jsonl"), "mine");
}

// Whatever the user takes for a URL, and wherever.
TEST_F(RunCli, NoMessageRepeatsAPassword) {
  for (const std::string url :
       {"postgres://ann:secret@h/d", "host=h password=secret", "jdbc:mysql://ann:secret@h/d",
        "postgres://ann:se@secret@h/d", "mysql+pymysql://ann:secret@h/d"}) {
    for (const auto& arguments :
         std::vector<std::vector<std::string>>{{"run", "--db", url, "--isolation", "chaos"},
                                               {"run", "--workload", url},
                                               {"run", "--workload=" + url},
                                               {"run", "--read-from", url},
                                               {"run", url},
                                               {url},
                                               {"check", url},
                                               {"check", "-l", url},
                                               {"explain", url},
                                               {"mock", "test", "--on", url, "--", "true"},
                                               {"lab", "start", url},
                                               {"lab", "stop", url}}) {
      const auto ran = cupel(arguments);
      EXPECT_NE(ran.code, 0) << url;
      EXPECT_EQ(ran.err.find("secret"), std::string::npos) << ran.err;
      EXPECT_EQ(ran.out.find("secret"), std::string::npos) << ran.out;
    }
  }
}

TEST_F(RunCli, MistakesAreThreeAndSayWhatToDo) {
  expect_mistake({"run", "--workload", "genral"}, {"genral", "Did you mean `general`?", "--list"});
  expect_mistake({"run", "--workload", "xyzzy"}, {"xyzzy", "--list"});
  expect_mistake({"run", "--workload", at("none.json")}, {"none.json", "cannot read"});
  expect_mistake({"run", "--db", ""}, {"--db", "empty"});
  expect_mistake({"run", "--db", "oracle://scott:tiger@h/d"},
                 {"oracle://scott:***@h/d", "postgres://"});
  expect_mistake({"run", "--isolation", "snapshot"},
                 {"snapshot", "serializable or read-uncommitted"});
  expect_mistake({"run", "--db", "lab:postgers"}, {"`postgers`", "Did you mean `postgres`?"});
  expect_mistake({"run", "--db", "sqlite:" + at("no/db")}, {at("no"), "make it"});
  expect_mistake({"run", "-o", at("no/h.jsonl")}, {at("no"), "make it"});
  expect_mistake({"run", "-o", at("h.txt")}, {"h.txt", ".jsonl", "cupel convert"});
  expect_mistake({"run", "-l", "serialisable"}, {"did you mean `serializable`?"});
  expect_mistake({"run", "--txns", "-1"}, {"--txns", "found `-1`"});
  expect_mistake({"run", "--rate", "-1"}, {"--rate", "found `-1`"});
  expect_mistake({"run", "--seed", "-1"}, {"--seed", "found `-1`"});
  expect_mistake({"run", "--heal", "true"}, {"--heal", "--fault"});
  expect_mistake({"run", "--fault-every", "1s"}, {"--fault-every", "--fault"});
  expect_mistake({"run", "--fault-for", "1s"}, {"--fault-for", "--fault"});
  // Built-in faults need a server that this run starts.
  expect_mistake({"run", "--faults", "kill"}, {"--faults", "lab:KIND", "--heal"});
  expect_mistake({"run", "--db", "lab:redis", "--faults", "kil"}, {"`kil`", "kill", "--list"});
  expect_mistake({"run", "--db", "lab:redis", "--fault-plan", "/no/file"}, {"/no/file"});
  expect_mistake({"run", "--db", "lab:redis", "--fault-targets", "one"}, {"--faults"});
  expect_mistake({"run", "--db", "lab:redis", "--faults", "kill", "--fault-targets", "two"},
                 {"`two`", "minority"});
  expect_mistake({"run", "--db", "lab:redis", "--faults-optional"}, {"--faults"});
  expect_mistake({"run", "-f", "cupel", "-o", "x.jsonl"}, {"--format", "contradicts"});
  expect_mistake({"run", "-f", "edn"},
                 {"--format: found `edn`, expected jepsen or cupel", "convert"});
  expect_mistake({"run", "--db", R"(exec:sed -u 's/^{/{"type":"ok",/')", "--workload", "tpcc"},
                 {"tpcc", "needs", "--list"});
  EXPECT_EQ(left(), std::vector<std::string>{});
}

// Lines on a terminal of 80 columns, of which text that is broken uses some less.
std::size_t lines_on_terminal(const std::string& text) {
  std::size_t count = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    count += line.size() <= 80 ? 1 : 1 + line.size() / 66;
  return count;
}

TEST_F(RunCli, APassedRunIsShortAndSaysWhatElseIsViolated) {
  std::vector<std::string> asked{"run", "--db",     "mock:causal", "--txns", "100",        "--seed",
                                 "3",   "--report", at("page"),    "-o",     at("h.jsonl")};
  const auto brief = cupel(asked);
  EXPECT_EQ(brief.code, 0) << brief.err;
  EXPECT_LE(lines_on_terminal(brief.out), 15U) << brief.out;
  EXPECT_NE(brief.out.find("\n  violates prefix"), std::string::npos) << brief.out;
  EXPECT_NE(brief.out.find(", which it does not promise; --verbose"), std::string::npos);
  EXPECT_NE(brief.out.find("\n  could have shown 1"), std::string::npos);
  EXPECT_NE(brief.out.find("\nhistory: " + at("h.jsonl") + "\nreport: " + at("page/index.html\n")),
            std::string::npos);
  EXPECT_EQ(brief.out.find("a contradiction!"), std::string::npos);
  // The page agrees.
  const auto page = text_of("page/index.html");
  EXPECT_NE(page.find("<section class=\"verdict satisfied\""), std::string::npos);
  asked.insert(asked.end(), {"--verbose", "--overwrite"});
  const auto verbose = cupel(asked);
  EXPECT_EQ(verbose.code, 0) << verbose.err;
  for (const char* words : {"a contradiction!", "follows from", "  refused    is about operations",
                            "\n  Test power:\n", "\n  settings: "})
    EXPECT_NE(verbose.out.find(words), std::string::npos) << words << verbose.out;
}

// A run that is asked for more than the database promises has failed, in the text and on the page.
TEST_F(RunCli, TextAndPageAgreeAboutWhatWasAskedFor) {
  const auto ran = cupel({"run", "--db", "mock:causal", "-l", "serializable", "--txns", "100",
                          "--report", at("page"), "-o", at("h.jsonl")});
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_NE(ran.out.find("serializable: violated\n"), std::string::npos) << ran.out;
  const auto page = text_of("page/index.html");
  EXPECT_NE(page.find("<section class=\"verdict violated\""), std::string::npos);
  EXPECT_EQ(page.find("Keeps the promise"), std::string::npos);
}

// The mock promises the level that its URL names, and no other isolation is taken in silence.
TEST_F(RunCli, TheMocksLevelIsWhatItPromises) {
  const auto ran =
      cupel({"run", "--db", "mock:causal", "--sessions", "2", "--txns", "10", "-o", at("h.jsonl")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("causal: satisfied, as cupel mock promises at causal\n"),
            std::string::npos)
      << ran.out;
  fs::remove(at("h.jsonl"));
  expect_mistake({"run", "--db", "mock:prefix", "--isolation", "causal", "-o", at("h.jsonl")},
                 {"prefix", "causal", "expected one of them"});
  expect_mistake({"run", "--db", "mock:causal", "--isolation", "prefix", "-o", at("h.jsonl")},
                 {"prefix", "causal", "expected one of them"});
}

TEST_F(RunCli, LevelsAreKnownHoweverTheyAreSpelled) {
  EXPECT_EQ(cupel({"run", "--isolation", "Serializable", "--txns", "1", "-o", at("a.jsonl")}).code,
            0);
  const auto ran =
      cupel({"run", "--isolation", "READ uncommitted", "--txns", "1", "-o", at("b.jsonl")});
  EXPECT_EQ(ran.code, 0) << ran.err;
}

TEST_F(RunCli, KeepLeavesTheTables) {
  const std::vector<std::string> arguments{"run",    "--db", "sqlite:" + at("db"), "--txns", "3",
                                           "--keep", "-o",   at("h.jsonl")};
  ASSERT_EQ(cupel(arguments).code, 0);
  EXPECT_NE((text_of("db") + text_of("db-wal")).find("cupel_kv"), std::string::npos);
}

TEST_F(RunCli, ListSaysWhatRunsWhere) {
  const auto ran = cupel({"run", "--list"});
  EXPECT_EQ(ran.code, 0);
  std::istringstream in(ran.out.substr(ran.out.find("Which workload runs on which database")));
  std::map<std::string, std::vector<std::string>> rows;
  std::string line;
  std::getline(in, line);
  std::getline(in, line);
  const auto words = [](const std::string& text) {
    std::istringstream row(text);
    return std::vector<std::string>(std::istream_iterator<std::string>(row), {});
  };
  EXPECT_EQ(words(line),
            (std::vector<std::string>{"sqlite", "postgres", "mysql", "rocksdb", "redis", "etcd",
                                      "zookeeper", "nats", "dqlite", "exec", "mock"}));
  while (std::getline(in, line) && !line.empty()) {
    if (auto row = words(line); row.size() == 12 && row[0].back() != ':')
      rows[row[0]] = {row.begin() + 1, row.end()};
  }
  using Row = std::vector<std::string>;
  EXPECT_EQ(rows["general"], (Row{"x", "x", "x", "x", "(x)", "(x)", "(x)", "-", "x", "x", "x"}));
  EXPECT_EQ(rows["lwt"], (Row{"x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x"}));
  EXPECT_EQ(rows["range-b"], (Row{"x", "x", "x", "x", "-", "-", "-", "-", "x", "x", "x"}));
  EXPECT_EQ(rows["tpcc"], (Row{"x", "x", "x", "x", "-", "-", "-", "-", "x", "-", "x"}));
  EXPECT_EQ(rows.size(), 15U);
}

// No server is there: the note comes before the connection.
TEST_F(RunCli, WithoutAWorkloadTheFirstThatSuitsTheDatabaseRuns) {
  const auto err = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    arguments.insert(arguments.end(), {"--txns", "2", "--sessions", "2", "-o", at("none.jsonl")});
    return cupel(std::move(arguments)).err;
  };
  for (const auto* url : {"redis://127.0.0.1:1", "etcd://127.0.0.1:1"}) {
    const auto note = err({"--db", url});
    if (note.find("has no driver") != std::string::npos) continue;
    EXPECT_EQ(note.find("cupel: note: the workload is lwt, because general needs transactions of "
                        "several statements, which this database does not have at linearizable; "
                        "--workload chooses another\n"),
              0U)
        << note;
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{"--isolation", "serializable"}, {"--workload", "lwt"}}) {
      std::vector<std::string> arguments{"--db", url};
      arguments.insert(arguments.end(), more.begin(), more.end());
      EXPECT_EQ(err(arguments).find("note"), std::string::npos) << more.front();
    }
  }
  for (const auto* url : {"postgres://127.0.0.1:1/d", "mysql://127.0.0.1:1/d"}) {
    EXPECT_EQ(err({"--db", url}).find("note"), std::string::npos) << url;
  }
  const std::vector<std::string> urls{"sqlite:" + at("db"), "rocksdb:" + at("rocks"),
                                      "mock:", R"(exec:sed -u 's/^{/{"type":"ok",/')"};
  for (const auto& url : urls) {
    const auto ran = cupel(
        {"run", "--db", url, "--txns", "2", "--sessions", "1", "--overwrite", "-o", at("h.jsonl")});
    if (ran.err.find("has no driver") != std::string::npos) continue;
    EXPECT_NE(ran.out.find(": workload general, "), std::string::npos) << url << ran.err;
  }
}

TEST_F(RunCli, CampaignPrintsItsTable) {
  write("c.json", R"({"databases": [{"name": "A"}, {"name": "B", "isolations": ["serializable"]}],
                      "workloads": ["mini"], "seeds": 2, "sessions": 2, "txns": 10})");
  const auto ran = cupel({"campaign", at("c.json"), "-o", at("out")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("| A<br>serializable | B<br>serializable |"), std::string::npos)
      << ran.out;
  EXPECT_NE(ran.err.find("[4/4] B serializable mini, seed 2: serializable satisfied\n"),
            std::string::npos)
      << ran.err;
  const auto again = cupel({"campaign", at("c.json"), "-o", at("out"), "--json", "-q"});
  EXPECT_EQ(again.err, "");
  EXPECT_EQ(Json::parse(again.out).at("resumed"), 4);
  expect_mistake({"campaign", at("none.json"), "-o", at("out")}, {"none.json"});
  write("bad.json", R"({"databases": [{"name": "A", "isolations": ["chaos"]}]})");
  expect_mistake({"campaign", at("bad.json"), "-o", at("new")},
                 {"databases[0]", "chaos", "serializable"});
  EXPECT_FALSE(fs::exists(at("new")));
}

TEST_F(RunCli, TwoCampaignsInOneFolderDoNotDisturbEachOther) {
  write("c.json", R"({"databases": [{}], "workloads": ["general"], "seeds": 3, "sessions": 2,
                      "txns": 0, "time_limit": 1, "rate": 200})");
  auto process = start({"campaign", at("c.json"), "-o", at("out"), "-q"});
  wait_for("out/results.jsonl", 10);
  auto second =
      Process::start({.arguments = {CUPEL_BINARY, "campaign", at("c.json"), "-o", at("out")},
                      .output = Stream::file(at("second-out")),
                      .errors = Stream::file(at("second-err"))});
  ASSERT_TRUE(second.ok());
  const auto refused = second->wait(Seconds(60));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, 3);
  EXPECT_NE(text_of("second-err").find("out: another campaign is running in this folder; wait"),
            std::string::npos)
      << text_of("second-err");
  // A killed campaign leaves no lock, and what it had done stays.
  process.signal(SIGKILL);
  EXPECT_EQ(end(std::move(process)).code, 128 + SIGKILL);
  const auto again = cupel({"campaign", at("c.json"), "-o", at("out"), "--json", "-q"});
  EXPECT_EQ(again.code, 0) << again.err;
  const auto summary = Json::parse(again.out);
  EXPECT_GE(summary.at("resumed"), 1);
  EXPECT_EQ(summary.at("runs"), 3);
}

TEST_F(RunCli, AnInterruptedCampaignGoesOn) {
  write("c.json", R"({"databases": [{}], "workloads": ["general"], "seeds": 3, "sessions": 2,
                      "txns": 0, "time_limit": 1.5, "rate": 200})");
  auto process = start({"campaign", at("c.json"), "-o", at("out")});
  wait_for("out/results.jsonl", 10);
  process.signal(SIGINT);
  const auto ran = end(std::move(process));
  EXPECT_EQ(ran.code, 2) << ran.err;
  EXPECT_NE(ran.out.find("2 runs are left"), std::string::npos) << ran.out;
  EXPECT_TRUE(ran.err.ends_with("\n")) << ran.err;
  const auto again = cupel({"campaign", at("c.json"), "-o", at("out"), "--json", "-q"});
  EXPECT_EQ(Json::parse(again.out).at("resumed"), 1);
  EXPECT_EQ(Json::parse(again.out).at("runs"), 3);
}

// A transaction that reads what `reads` says and writes `writes`, as a recorder spells it.
std::string recorded(int process, int time, const std::string& reads, int writes,
                     const std::string& key = "x") {
  const auto line = [&](const char* type, const std::string& seen, int at) {
    return R"({"type":")" + std::string(type) + R"(","process":)" + std::to_string(process) +
           R"(,"f":"txn","value":[["r",")" + key + R"(",)" + seen + R"(],["w",")" + key + R"(",)" +
           std::to_string(writes) + R"(]],"time":)" + std::to_string(at) + "}\n";
  };
  return line("invoke", "null", time) + line("ok", reads, time + 5);
}

TEST_F(RunCli, WatchFollowsAFileAndEndsAtTheViolation) {
  std::string good;
  for (int i = 1; i <= 200; ++i) {
    good += recorded(i % 4, 10 * i, i == 1 ? "null" : std::to_string(i - 1), i);
  }
  write("h.jsonl", good);
  auto watch = start({"watch", "-l", "strict-serializable", "--json", at("h.jsonl")});
  EXPECT_TRUE(cupel::test::wait_for_file(at("stdout"), [](const std::string& text) {
    return text.find("\"transactions\":200") != std::string::npos;
  }));
  std::ofstream(at("h.jsonl"), std::ios::app) << recorded(0, 5000, "199", 777);
  const auto ended = end(std::move(watch));
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_NE(ended.out.find("satisfied so far"), std::string::npos);
  EXPECT_NE(ended.out.find("lost-update"), std::string::npos) << ended.out;
}

// What `cupel watch` says at its end, but for the name of the file and what it held.
std::string said(const Ran& ran) {
  const auto count = ran.out.find("  ");
  return std::to_string(ran.code) + ran.out.substr(ran.out.find('\t'), ran.out.find('\n')) +
         ran.out.substr(count, ran.out.find(" transactions") - count);
}

// Updates of x, y and z by turns; those of y and z are lost once each, long after each other.
TEST_F(RunCli, AWatchGoesOnWithWhatIsIndependent) {
  std::string text;
  const std::vector<std::string> keys = {"x", "y", "z"};
  std::vector<std::string> last(3, "null");
  for (int i = 1; i <= 900; ++i) {
    const auto k = static_cast<std::size_t>(i % 3);
    const bool loses = i == 301 || i == 601 || i == 603 || i == 800;  // y, y, x, z
    text += recorded(i % 4, 10 * i, last[k], i, keys[k]);
    if (!loses) last[k] = std::to_string(i);
  }
  write("h.jsonl", text);
  const std::vector<std::string> watch = {
      "watch",      "-l",       "strict",     "--no-follow", "--keep-going", "--certificate",
      at("c.json"), "--report", at("report"), "--state",     at("state"),    at("h.jsonl")};
  const auto once = cupel(watch);
  EXPECT_EQ(once.code, 1) << once.err;
  EXPECT_NE(once.err.find("what is seen of keys x and y"), std::string::npos) << once.err;
  EXPECT_NE(once.err.find("what is seen of key z"), std::string::npos) << once.err;
  EXPECT_NE(once.out.find("what was seen of keys"), std::string::npos) << once.out;
  EXPECT_EQ(cupel({"verify", at("h.jsonl"), at("c.json")}).code, 0);
  for (const auto* page : {"report/violation-1/index.html", "report/violation-2/index.html"}) {
    EXPECT_TRUE(fs::exists(at(page))) << page;
  }
  const auto again = cupel(watch);
  EXPECT_EQ(again.code, 1) << again.err;
  EXPECT_TRUE(once.out.ends_with(again.out)) << once.out << again.out;
  EXPECT_NE(again.err.find("goes on after"), std::string::npos) << again.err;
  const auto stops = cupel({"watch", "-l", "strict", "--no-follow", at("h.jsonl")});
  EXPECT_EQ(stops.code, 1);
  EXPECT_EQ(stops.err.find("what is seen of"), std::string::npos) << stops.err;
}

TEST_F(RunCli, WatchWithoutFollowingSaysTheVerdictOfCheck) {
  std::string good;
  for (int i = 1; i <= 200; ++i) {
    good += recorded(i % 4, 10 * i, i == 1 ? "null" : std::to_string(i - 1), i);
  }
  write("h.jsonl", good);
  const auto ran = cupel({"watch", "-l", "strict", "--no-follow", at("h.jsonl")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("\n" + at("h.jsonl") + "\tstrict-serializable\tsatisfied\n"),
            std::string::npos)
      << ran.out;
  EXPECT_NE(ran.err.find("decided exactly"), std::string::npos);
  const auto unnamed = cupel({"watch", "--no-follow", at("h.jsonl")});
  EXPECT_EQ(unnamed.code, 3);
  EXPECT_NE(unnamed.err.find("-l strict-serializable"), std::string::npos) << unnamed.err;
}

// Killed at any moment, with the file cut in the middle of a line, it ends as one that ran once.
TEST_F(RunCli, AKilledWatchGoesOnFromItsState) {
  constexpr int kTransactions = 6000, kKills = 8;
  std::string all;
  for (int i = 1; i <= kTransactions; ++i) {
    all += recorded(i % 4, 10 * i, i == 1 ? "null" : std::to_string(i - 1), i);
  }
  write("h.jsonl", "");
  std::size_t written = 0;
  const auto grow = [&](std::size_t to) {
    std::ofstream(at("h.jsonl"), std::ios::app) << all.substr(written, to - written);
    written = to;
  };
  for (unsigned kill = 1; kill <= kKills; ++kill) {
    grow(all.size() * kill / (kKills + 1));
    fs::remove(at("stderr"));
    auto watch = start({"watch", "-l", "strict-serializable", "--state", at("state"),
                        "--certificate", at("parts.json"), at("h.jsonl")});
    if (kill == 1) {
      wait_for("state/watch.state", 1);
    } else {
      EXPECT_TRUE(cupel::test::wait_for_file(at("stderr"), [](const std::string& text) {
        return text.find("goes on after") != std::string::npos;
      }));
      cupel::test::back_off(std::chrono::milliseconds(kill * 53 % 200));  // at any moment
    }
    watch.signal(SIGKILL);
    EXPECT_EQ(end(std::move(watch)).code, 128 + SIGKILL);
  }
  grow(all.size());
  const std::vector<std::string> once = {"watch", "-l", "strict", "--no-follow", at("h.jsonl")};
  auto again = once;
  again.insert(again.end(), {"--state", at("state"), "--certificate", at("parts.json")});
  const auto whole = cupel(once), parts = cupel(again);
  EXPECT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(said(parts), said(whole)) << parts.out << parts.err;
  EXPECT_NE(parts.err.find("goes on after"), std::string::npos) << parts.err;
  const auto verified = cupel({"verify", at("h.jsonl"), at("parts.json")});
  EXPECT_EQ(verified.code, 0) << verified.out;
  EXPECT_NE(verified.out.find("6,000 transactions in"), std::string::npos) << verified.out;
  // An update is lost now, which only what is remembered can show.
  std::ofstream(at("h.jsonl"), std::ios::app) << recorded(0, 90000, std::to_string(17), 777777);
  EXPECT_EQ(cupel(again).code, 1);
  EXPECT_EQ(cupel(once).code, 1);
  for (const auto& name : {"state/watch.lock", "state/watch.state"})
    EXPECT_TRUE(fs::exists(at(name)));
  EXPECT_EQ(std::distance(fs::directory_iterator(at("state")), fs::directory_iterator()), 2);
}

TEST_F(RunCli, AWatchLeavesACertificateByWindows) {
  std::string good;
  for (int i = 1; i <= 20000; ++i) {
    good += recorded(i % 4, 10 * i, i == 1 ? "null" : std::to_string(i - 1), i);
  }
  write("h.jsonl", good);
  const std::vector<std::string> watch = {
      "watch", "-l", "serializable", "--no-follow", "--certificate", at("c.json"), at("h.jsonl")};
  const auto ran = cupel(watch);
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto verified = cupel({"verify", at("h.jsonl"), at("c.json")});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  EXPECT_NE(verified.out.find("serializable  satisfied"), std::string::npos) << verified.out;
  EXPECT_NE(verified.out.find("20,000 transactions in"), std::string::npos) << verified.out;
  // A watch that was killed leaves no last line.
  const auto chain = *cupel::base::read_file(at("c.json"));
  write("cut.json", chain.substr(0, chain.rfind("{\"end\"")));
  const auto cut = cupel({"verify", at("h.jsonl"), at("cut.json")});
  EXPECT_EQ(cut.code, 1);
  EXPECT_NE(cut.out.find("no last line"), std::string::npos) << cut.out;
  // Another history, and one that goes on.
  write("h.jsonl", good + recorded(0, 400000, "20000", 20001));
  EXPECT_NE(cupel({"verify", at("h.jsonl"), at("c.json")}).out.find("goes on"), std::string::npos);
  write("h.jsonl", recorded(0, 5, "null", 0) + good);
  EXPECT_NE(cupel({"verify", at("h.jsonl"), at("c.json")}).out.find("another history"),
            std::string::npos);
  // It ends in a violation.
  write("h.jsonl", good + recorded(0, 400000, "17", 20001));
  EXPECT_EQ(cupel(watch).code, 1);
  const auto violated = cupel({"verify", at("h.jsonl"), at("c.json")});
  EXPECT_EQ(violated.code, 0) << violated.out << violated.err;
  EXPECT_NE(violated.out.find("violated"), std::string::npos) << violated.out;
  expect_mistake({"verify", "--proved", at("h.jsonl"), at("c.json")}, {"certificate by windows"});
}

// A violation is found while the file grows; its certificate is of what was there by then.
TEST_F(RunCli, ACertificateOfAGrowingFileIsOfItsBeginning) {
  std::string good;
  for (int i = 1; i <= 200; ++i) {
    good += recorded(i % 4, 10 * i, i == 1 ? "null" : std::to_string(i - 1), i);
  }
  const auto violated = good + recorded(0, 5000, "199", 777);
  const auto verify = [&](const std::string& certificate, bool json = false) {
    std::vector<std::string> all = {"verify", at("h.jsonl"), at(certificate)};
    if (json) all.emplace_back("--json");
    return cupel(all);
  };
  write("h.jsonl", violated);
  // The windows before the violation, and without any: at a level that the whole decides.
  const std::vector<std::string> watch = {
      "watch", "-l", "strict", "--no-follow", "--certificate", at("windows"), at("h.jsonl")};
  ASSERT_EQ(cupel(watch).code, 1);
  const auto chain = text_of("windows");
  const auto last = chain.rfind(R"({"end":"violated","certificate":)");
  ASSERT_NE(last, std::string::npos) << chain;
  const auto inner = Json::parse(chain.substr(last)).at("certificate");
  EXPECT_EQ(inner.at("history").at("bytes"), violated.size());
  write("alone", inner.dump());
  const auto as_it_was = verify("windows");
  EXPECT_EQ(as_it_was.code, 0) << as_it_was.out;
  EXPECT_EQ(as_it_was.out.find("the first"), std::string::npos) << as_it_was.out;

  const auto rest = recorded(1, 6000, "777", 778);
  write("h.jsonl", violated + rest);
  for (const auto* certificate : {"windows", "alone"}) {
    const auto grown = verify(certificate);
    EXPECT_EQ(grown.code, 0) << grown.out << grown.err;
    EXPECT_NE(grown.out.find("valid for the first 201 transactions of "), std::string::npos)
        << grown.out;
    EXPECT_NE(grown.out.find("Of the whole history this says nothing"), std::string::npos);
  }
  const auto prefix = Json::parse(verify("alone", /*json=*/true).out).at("prefix");
  EXPECT_EQ(prefix.at("bytes"), violated.size());
  EXPECT_EQ(prefix.at("of_bytes"), violated.size() + rest.size());
  EXPECT_EQ(prefix.at("transactions"), 201);

  // Fewer bytes, more than there are, and another beginning.
  auto other = inner;
  other["history"]["bytes"] = good.size();
  write("other", other.dump());
  EXPECT_NE(verify("other").out.find("about a history of 201 transactions"), std::string::npos);
  other["history"]["bytes"] = violated.size() + rest.size() + 1;
  write("other", other.dump());
  const auto longer = verify("other");
  EXPECT_EQ(longer.code, 1);
  EXPECT_NE(longer.out.find("and this one has"), std::string::npos) << longer.out;
  write("h.jsonl", good + recorded(0, 5000, "200", 777) + rest);
  EXPECT_NE(verify("alone").out.find("another history"), std::string::npos);
}

// Causal, which is watched, is violated; read committed is not, as only the record says.
TEST_F(RunCli, ALevelThatTheRecordDecidesHasItsCertificate) {
  std::string text;
  int time = 0;
  const auto add = [&](const std::string& operation) {
    for (const auto* type : {"invoke", "ok"}) {
      text += R"({"type":")" + std::string(type) + R"(","process":0,"f":"txn","value":[)" +
              operation + R"(],"time":)" + std::to_string(time += 5) + "}\n";
    }
  };
  for (int i = 1; i <= 100; ++i) add(R"(["w","x",)" + std::to_string(i) + "]");
  add(R"(["r","x",17])");
  write("h.jsonl", text);
  const auto ran = cupel({"watch", "-l", "read-committed", "--no-follow", "--certificate",
                          at("c.json"), at("h.jsonl")});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("the certificate is of the recorded history as a whole"),
            std::string::npos)
      << ran.err;
  const auto verified = cupel({"verify", at("h.jsonl"), at("c.json")});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  EXPECT_NE(verified.out.find("read-committed  satisfied"), std::string::npos) << verified.out;
}

TEST_F(RunCli, AColumnarFileDoesNotGrow) {
  write("h.jsonl", recorded(0, 10, "null", 1) + recorded(1, 20, "1", 2));
  ASSERT_EQ(cupel({"convert", at("h.jsonl"), "-o", at("h.cupel")}).code, 0);
  expect_mistake({"watch", "-l", "strict", at("h.cupel")},
                 {"in cupel's format", "does not grow", "`cupel check " + at("h.cupel") + "`"});
  expect_mistake({"watch", at("h.jsonl"), at("h.cupel"), "-l", "strict"}, {"in cupel's format"});
}

TEST_F(RunCli, AQuietWatchPrintsTheVerdictAlone) {
  write("h.jsonl", recorded(0, 10, "null", 1) + recorded(1, 20, "1", 2));
  const auto quiet = cupel({"watch", "-q", "-l", "strict", "--no-follow", at("h.jsonl")});
  EXPECT_EQ(quiet.code, 0);
  EXPECT_EQ(quiet.err, "");
  EXPECT_NE(quiet.out.find("satisfied"), std::string::npos) << quiet.out;
}

// Every window is given up, and the record is decided at the end without their limit.
TEST_F(RunCli, AWatchDecidesTheWholeRecordAtTheEnd) {
  write("h.jsonl", recorded(0, 10, "null", 1) + recorded(1, 20, "1", 2));
  std::vector<std::string> watch = {
      "watch", "-l", "serializable", "--no-follow", "--window-timeout", "1ns", at("h.jsonl")};
  const auto whole = cupel(watch);
  EXPECT_EQ(whole.code, 0) << whole.err;
  EXPECT_NE(whole.err.find("transactions 1 to 2 could not be decided"), std::string::npos)
      << whole.err;
  EXPECT_EQ(whole.err.find("transactions 3 to 2"), std::string::npos) << whole.err;
  EXPECT_NE(whole.err.find("is decided as a whole, within 10 minutes"), std::string::npos)
      << whole.err;
  watch.insert(watch.end(), {"--timeout", "1ns"});
  const auto limited = cupel(watch);
  EXPECT_EQ(limited.code, 2) << limited.err;
  EXPECT_NE(limited.out.find("unknown"), std::string::npos) << limited.out;
}

TEST_F(RunCli, AStateIsOfOneHistoryAndOneQuestion) {
  write("h.jsonl", recorded(0, 10, "null", 1) + recorded(1, 20, "1", 2));
  std::vector<std::string> watch = {"watch",   "-l",        "strict",     "--no-follow",
                                    "--state", at("state"), at("h.jsonl")};
  EXPECT_EQ(cupel(watch).code, 0);
  watch[2] = "causal";
  expect_mistake(watch, {"found the state of a watch of strict-serializable", "expected causal",
                         "remove it to begin anew"});
  watch[2] = "strict";
  write("h.jsonl", recorded(0, 10, "null", 8) + recorded(1, 20, "8", 9));
  expect_mistake(watch, {"is the state of another history"});
  write("state/watch.state", "cupel watch state 1\nnonsense");
  expect_mistake(watch, {"found a damaged state"});
  watch.back() = "-";
  expect_mistake(watch, {"--state, which needs one file"});
}

// A store of one row a key, under a lock; once it says that it wrote, and has not.
constexpr const char* kFaultyClient = R"(import fcntl, json, os, sys, time
folder = sys.argv[1]
if os.environ["CUPEL_SESSION"] == "setup":
    json.dump({"began": time.monotonic(), "rows": {}}, open(folder + "/rows", "w"))
for line in sys.stdin:
    with open(folder + "/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        store = json.load(open(folder + "/rows")) if os.path.exists(folder + "/rows") else {
            "began": time.monotonic(), "rows": {}}
        rows, seen, wrote = store["rows"], [], {}
        for f, k, v in json.loads(line)["value"]:
            if f == "r":
                v = wrote.get(str(k), rows.get(str(k)))
            else:
                wrote[str(k)] = v
            seen.append([f, k, v])
        late = os.environ["CUPEL_SESSION"].isdigit() and time.monotonic() > store["began"] + 2
        if late and wrote and "lost" not in store:
            store["lost"] = wrote
            json.dump(wrote, open(folder + "/lost", "w"))
        else:
            rows.update(wrote)
        with open(folder + "/new", "w") as new:
            json.dump(store, new)
        os.rename(folder + "/new", folder + "/rows")
    print(json.dumps({"type": "ok", "value": seen}), flush=True)
)";

// Of mini-transactions each write is after a read of its key, so what is lost is seen: a write
// that nobody reads may be overwritten before anybody could tell.
TEST_F(RunCli, LiveFindsALostUpdateWithinASecond) {
  write("faulty.py", kFaultyClient);
  const auto ran =
      cupel({"run",          "--live",
             "--db",         "exec:python3 " + at("faulty.py") + " " + folder_.string(),
             "-l",           "strict-serializable",
             "--workload",   "mini",
             "--sessions",   "4",
             "--txns",       "0",
             "--time-limit", "40s",
             "--rate",       "200",
             "--keys",       "4",
             "-o",           at("h.jsonl"),
             "--json"});
  ASSERT_EQ(ran.code, 1) << ran.err << ran.out;
  const auto live = Json::parse(ran.out).at("run").at("live");
  EXPECT_EQ(live.at("verdict"), "violated");
  // When the transaction ended that wrote what is gone.
  const auto lost = Json::parse(text_of("lost"));
  const auto written = "[\"w\"," + lost.begin().key() + "," + lost.begin().value().dump() + "]";
  const auto history = text_of("h.jsonl");
  double lost_at = -1;
  std::istringstream lines(history);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"ok\"") == std::string::npos || line.find(written) == std::string::npos)
      continue;
    lost_at = Json::parse(line).at("time").get<double>() / 1e9;
  }
  ASSERT_GT(lost_at, 0) << written;
  const double found_at = live.at("found_at_s");
  RecordProperty("found_after_s", std::to_string(found_at - lost_at));
  EXPECT_LT(found_at - lost_at, 1.0);
  EXPECT_LT(found_at - live.at("operation_at_s").get<double>(), 0.5);
}

// One register of two processes, each of which records for itself.
struct Register {
  std::atomic<std::int64_t> value = 0;
  std::atomic<bool> taken = false;
};

// In a process of its own: 300 transactions that read and write the register, one at a time. With
// `loses`, one of its writes does not happen.
pid_t start_recorder(const std::string& address, Register& shared, std::int64_t number,
                     bool loses) {
  const pid_t process = fork();
  if (process != 0) return process;
  std::string error;
  std::unique_ptr<cupel::Recorder> recorder;
  // Until the watch listens, which it does not say.
  const bool connected = cupel::test::poll_until([&] {
    recorder = cupel::Recorder::open(address, {.flush_seconds = 0.01}, error);
    return recorder != nullptr;
  });
  if (!connected) _exit(9);
  auto session = recorder->session();
  for (std::int64_t i = 1; i <= 300; ++i) {
    const std::int64_t written = number * 1'000'000 + i;
    session.begin();
    session.read("x", cupel::Scalar{});
    session.write("x", written);
    session.committing();
    while (shared.taken.exchange(true)) sched_yield();
    const std::int64_t seen = shared.value;
    if (!loses || i != 150) shared.value = written;
    shared.taken = false;
    session.read("x", seen == 0 ? cupel::Scalar{} : cupel::Scalar{seen});
    session.write("x", written);
    session.committed();
  }
  _exit(recorder->close(error) ? 0 : 9);
}

TEST_F(RunCli, TwoProcessesRecordForOneWatch) {
  for (const bool loses : {false, true}) {
    auto* const shared = static_cast<Register*>(
        mmap(nullptr, sizeof(Register), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(shared, MAP_FAILED);
    new (shared) Register;
    const auto address = "unix:" + at(loses ? "s2" : "s1");
    for (const auto& name : {"stdout", "stderr"}) fs::remove(at(name));
    auto watch = start({"watch", "-l", "strict-serializable", "--recorders", "2", address, "-o",
                        at(loses ? "h2.jsonl" : "h1.jsonl")});
    const pid_t one = start_recorder(address, *shared, 1, false);
    const pid_t two = start_recorder(address, *shared, 2, loses);
    for (const pid_t process : {one, two}) {
      int status = -1;
      ASSERT_EQ(waitpid(process, &status, 0), process);
      EXPECT_EQ(status, 0);
    }
    const auto ended = end(std::move(watch));
    EXPECT_EQ(ended.code, loses ? 1 : 0) << ended.out << ended.err;
    const auto* const expected = loses ? "lost-update" : "  600 transactions";
    EXPECT_NE(ended.out.find(expected), std::string::npos) << ended.out;
    munmap(shared, sizeof(Register));
  }
}

TEST_F(RunCli, ARotatedHistoryIsOneHistory) {
  const auto ran = cupel({"run", "--live", "--rotate", "8K", "--sessions", "3", "--txns", "200",
                          "-o", at("r"), "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_GT(std::distance(fs::directory_iterator(at("r")), fs::directory_iterator()), 4);
  const auto answer = Json::parse(ran.out);
  EXPECT_EQ(answer.at("run").at("live").at("verdict"), "satisfied");
  const auto checked = cupel({"check", "--json", at("r")});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_EQ(verdicts(Json::parse(checked.out)), verdicts(answer));
  EXPECT_EQ(Json::parse(checked.out).at("committed"), answer.at("committed"));
  EXPECT_EQ(cupel({"stats", at("r")}).code, 0);
  const std::vector<std::string> watch = {"watch",   "-l",        "strict", "--no-follow",
                                          "--state", at("state"), at("r")};
  const auto once = cupel(watch), again = cupel(watch);
  EXPECT_EQ(once.code, 0) << once.err;
  EXPECT_EQ(said(again), said(once));
  EXPECT_NE(again.err.find("goes on after"), std::string::npos) << again.err;
  expect_mistake({"run", "--rotate", "8K", "--txns", "1", "-o", at("r")},
                 {"is a folder with something in it"});
  expect_mistake({"run", "--rotate", "8", "-o", at("q")}, {"--rotate", "4K or more"});
  expect_mistake({"run", "--rotate", "8K", "--overwrite", "-o", at("q")}, {"--overwrite"});
}

TEST_F(RunCli, LiveEndsTheLoadAtTheViolation) {
  const auto ran =
      cupel({"run", "--live", "--db", "mock:prefix", "-l", "strong-session-snapshot-isolation",
             "--txns", "0", "--time-limit", "40s", "--keys", "10", "-o", at("h.jsonl"), "--json",
             "--certificate", at("c.json")});
  EXPECT_EQ(ran.code, 1) << ran.err;
  const auto answer = Json::parse(ran.out);
  EXPECT_EQ(answer["run"]["live"]["verdict"], "violated") << ran.out;
  EXPECT_LT(answer["run"]["seconds"], 30) << "it ran until its time limit";
  const auto verified = cupel({"verify", at("h.jsonl"), at("c.json")});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  EXPECT_NE(verified.out.find("strong-session-snapshot-isolation  violated"), std::string::npos)
      << verified.out;
}

}  // namespace
