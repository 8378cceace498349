// cupel mock, the program: scripted sessions of psql and curl on the store
// itself, whose history then satisfies the level; and `cupel mock test`.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "base/process.hpp"
#include "mock/program.hpp"
#include "support/polling.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::mocktest {
namespace {

using namespace mock;

using base::Process;
using base::Seconds;
using base::Stream;

struct Ran {
  int code = -1;
  std::string output;
};

Ran run(std::vector<std::string> arguments, const std::string& directory = "") {
  auto process = Process::start({.arguments = std::move(arguments),
                                 .directory = directory,
                                 .output = Stream::pipe(),
                                 .errors = Stream::output()});
  if (!process.ok())
    return {-1, process.error().to_string() + "; tools/install-packages.sh installs it"};
  auto output = process->read_all(Seconds(60)).value_or("timeout");
  const auto ended = process->wait(Seconds(60));
  return {ended ? ended->code : -1, output};
}
Ran shell(const std::string& script) {
  return run({"sh", "-c", script});
}

std::string contents(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class MockCommand : public ::testing::Test {
 protected:
  // Starts it; `lines` of connections are awaited.
  void start(std::vector<std::string> arguments, int lines) {
    arguments.insert(arguments.begin(), {CUPEL_BINARY, "mock"});
    auto process = Process::start({.arguments = arguments,
                                   .output = Stream::pipe(),
                                   .errors = Stream::file(folder_.path("errors"))});
    ASSERT_TRUE(process.ok()) << process.error().to_string();
    mock_.emplace(std::move(*process));
    for (int i = 0; i < lines; ++i) {
      const auto line = mock_->read_line(Seconds(20)).text;
      const auto blank = line.find("  ");
      ASSERT_NE(blank, std::string::npos) << line;
      how_[line.substr(0, blank)] = line.substr(line.find_first_not_of(' ', blank));
    }
  }
  // Ends it as Ctrl-C does; what it said besides.
  std::string stop() {
    mock_->signal(SIGINT);
    const auto ended = mock_->wait(Seconds(20));
    EXPECT_TRUE(ended && ended->well()) << "it ends well, and soon";
    return contents(folder_.path("errors"));
  }

  test::ScratchFolder folder_;
  std::optional<Process> mock_;
  std::map<std::string, std::string> how_;
};

TEST_F(MockCommand, PsqlAndCurlOnOneStore) {
  start({"--level", "causal", "--policy", "latest", "--history", folder_.path("h.jsonl")}, 2);
  const auto psql = shell(
      "printf '%s\\n' 'CREATE TABLE accounts (id int PRIMARY KEY, balance int);' "
      "'INSERT INTO accounts VALUES (1, 100), (2, 50);' 'BEGIN;' "
      "'UPDATE accounts SET balance = balance - 10 WHERE id = 1;' "
      "'SELECT nonsense FROM accounts;' 'COMMIT;' 'SELECT * FROM accounts ORDER BY id;' "
      "'COPY accounts TO stdout;' 'INSERT INTO accounts VALUES (1, 1);' "
      "| " +
      how_["postgres"] + " -X -A -t -q -v VERBOSITY=sqlstate");
  EXPECT_EQ(psql.output, "ERROR:  42703\n1|100\n2|50\nERROR:  0A000\nERROR:  23505\n");
  const auto curl = shell(how_["http"]);
  EXPECT_NE(curl.output.find(R"("rows":[[1]])"), std::string::npos) << curl.output;
  const auto said = stop();
  EXPECT_NE(said.find("cupel check -l causal"), std::string::npos) << said;
  const auto check = run({CUPEL_BINARY, "check", "-l", "causal", folder_.path("h.jsonl")});
  EXPECT_EQ(check.code, 0) << check.output;
  EXPECT_GT(std::filesystem::file_size(folder_.path("h.jsonl")), 100u);
}

// The statement says of which types they are; where it says nothing they are text.
TEST_F(MockCommand, ParametersOverHttp) {
  start({"--http", "0"}, 1);
  auto address = how_["http"].substr(how_["http"].find("http://"));
  const auto ask = [&](const std::string& body) {
    return shell("curl -sS --json '" + body + "' " + address).output;
  };
  for (const auto& [body, answer] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"sql": "select $1", "parameters": [7]})", R"("type":"text"}],"rows":[["7"]])"},
           {R"({"sql": "select $1::bool", "parameters": [true]})",
            R"("type":"boolean"}],"rows":[[true]])"},
           {R"({"sql": "select $1", "parameters": ["7"]})", R"("type":"text"}],"rows":[["7"]])"},
           {R"({"sql": "select $1::int + 1", "parameters": [7]})",
            R"("type":"integer"}],"rows":[[8]])"},
           {R"j({"sql": "select coalesce($1)", "parameters": [7]})j",
            R"("type":"text"}],"rows":[["7"]])"},
           {R"({"sql": 1})", "found `sql` that is a number, expected a string"}}) {
    EXPECT_NE(ask(body).find(answer), std::string::npos) << body << ask(body);
  }
  stop();
}

// A history without transactions is none: it would be refused by every command that reads one.
TEST_F(MockCommand, NothingHappened) {
  for (const char* file : {"none.jsonl", "none.cupel"}) {
    start({"--http", "0", "--history", folder_.path(file)}, 1);
    const auto said = stop();
    EXPECT_NE(said.find("warning: no transaction ended, so there is no history, and " +
                        folder_.path(file) + " was not written"),
              std::string::npos)
        << said;
    EXPECT_EQ(said.find("another run"), std::string::npos) << said;
    EXPECT_FALSE(std::filesystem::exists(folder_.path(file)));
  }
  const auto before = folder_.file("before.jsonl", "of an earlier run\n");
  start({"--http", "0", "--history", before}, 1);
  const auto said = stop();
  EXPECT_NE(said.find(before + " was not written; it still holds the history of another run"),
            std::string::npos)
      << said;
  EXPECT_EQ(contents(before), "of an earlier run\n");
}

// The transaction is asked for and waits (--delay) until the servers stop: it is met by the store,
// and nothing is in the history.
TEST_F(MockCommand, NothingEndedInTheRunThatFailed) {
  const auto script = folder_.file("begin.sh", R"(
curl -sS --json '{}' "$CUPEL_MOCK_HTTP_URL/sessions" > /dev/null
post() { curl -sS --json '' "$CUPEL_MOCK_HTTP_URL/sessions/1/$1" 2>&1; }
while post begin | grep -q 'under way'; do :; done > /dev/null &
until post commit | grep -q 'under way'; do :; done
exit 5
)");
  const auto test = [&] {
    return run({CUPEL_BINARY, "mock", "test", "--delay", "1000s", "--history", "test.jsonl", "--",
                "sh", script},
               folder_.path());
  };
  const auto first = test();
  EXPECT_EQ(first.code, 1) << first.output;
  EXPECT_NE(
      first.output.find("history: test.jsonl is not written; no transaction ended in this run"),
      std::string::npos)
      << first.output;
  EXPECT_FALSE(std::filesystem::exists(folder_.path("test.jsonl")));
  const auto before = folder_.file("test.jsonl", "of an earlier run\n");
  const auto second = test();
  EXPECT_EQ(second.code, 1) << second.output;
  EXPECT_NE(
      second.output.find(
          "test.jsonl is not written; it still holds the history of another run; no transaction "
          "ended"),
      std::string::npos)
      << second.output;
  EXPECT_EQ(contents(before), "of an earlier run\n");
}

TEST_F(MockCommand, OnlyWhatIsAskedFor) {
  start({"--http", "0", "--password", "secret"}, 1);
  EXPECT_EQ(how_.begin()->first, "http");
  EXPECT_NE(shell(how_["http"]).output.find("28P01"), std::string::npos);
  stop();
}

// Two clients that each add one to a counter: at causal one of them is lost in some run.
constexpr const char* kCounter = R"(
post() { curl -sS --json "$2" "$CUPEL_MOCK_HTTP_URL$1"; }
for s in 1 2; do post /sessions '{}' > /dev/null; done
for s in 1 2; do
  post /sessions/$s/begin '' > /dev/null
  v=$(post /sessions/$s/read '{"key": "x"}' | tr -dc 0-9)
  post /sessions/$s/write "{\"key\": \"x\", \"value\": $((${v:-0} + 1))}" > /dev/null
  post /sessions/$s/commit '' > /dev/null
done
echo "the second read ${v:-nothing}"
[ "${v:-0}" = 1 ]
)";

TEST_F(MockCommand, TestFindsTheSeedAndTheAnomaly) {
  const auto script = folder_.file("counter.sh", kCounter);
  const auto test = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {CUPEL_BINARY, "mock", "test"});
    options.insert(options.end(), {"--", "sh", script});
    return run(options, folder_.path());
  };
  const auto found = test({"--level", "causal", "--iterations", "60"});
  EXPECT_EQ(found.code, 1) << found.output;
  EXPECT_NE(found.output.find("the second read nothing"), std::string::npos) << found.output;
  EXPECT_NE(found.output.find("lost-update"), std::string::npos) << found.output;
  const auto seed = found.output.substr(found.output.find("seed ") + 5);
  const auto number = seed.substr(0, seed.find(':'));
  EXPECT_TRUE(std::filesystem::exists(folder_.path("cupel-mock-causal-" + number + ".jsonl")));
  EXPECT_NE(found.output.find("again: cupel mock test --level causal --seed " + number +
                              " --iterations 1 -- sh"),
            std::string::npos);
  // The same seed fails again, and no run at the strongest level does.
  const auto again = test({"--level", "causal", "--seed", number, "--iterations", "1"});
  EXPECT_EQ(again.code, 1) << again.output;
  EXPECT_EQ(again.output.find("was replaced"), std::string::npos) << again.output;
  // Another history in its place is not overwritten in silence.
  std::ofstream(folder_.path("cupel-mock-causal-" + number + ".jsonl"), std::ios::app) << "\n";
  const auto other = test({"--level", "causal", "--seed", number, "--iterations", "1"});
  EXPECT_NE(other.output.find("cupel-mock-causal-" + number +
                              ".jsonl held the history of another run and was replaced"),
            std::string::npos)
      << other.output;
  const auto strong = test({"--level", "strong-session-serializable", "--policy", "latest",
                            "--iterations", "4", "--jobs", "2"});
  EXPECT_EQ(strong.code, 0) << strong.output;
  EXPECT_NE(strong.output.find("passed: 4 iterations"), std::string::npos) << strong.output;
}

// Two clients that add to a counter for ever, and never look.
constexpr const char* kLoad = R"(
post() { curl -sS --json "$2" "$CUPEL_MOCK_HTTP_URL$1"; }
for s in 1 2; do post /sessions '{}' > /dev/null; done
n=0
while :; do
  for s in 1 2; do
    post /sessions/$s/begin '' > /dev/null
    post /sessions/$s/read '{"key": "x"}' > /dev/null
    n=$((n + 1))
    post /sessions/$s/write "{\"key\": \"x\", \"value\": $n}" > /dev/null
    post /sessions/$s/commit '' > /dev/null
  done
done
)";

TEST_F(MockCommand, ALiveTestEndsAtTheViolation) {
  const auto script = folder_.file("load.sh", kLoad);
  const auto test = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {CUPEL_BINARY, "mock", "test", "--level", "causal"});
    options.insert(options.end(), {"--iterations", "1", "--", "sh", script});
    return run(options, folder_.path());
  };
  const auto began = std::chrono::steady_clock::now();
  const auto live = test({"--live", "snapshot-isolation"});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  EXPECT_EQ(live.code, 1) << live.output;
  EXPECT_NE(live.output.find("violates snapshot-isolation (--live)"), std::string::npos)
      << live.output;
  EXPECT_NE(live.output.find("lost-update"), std::string::npos) << live.output;
  EXPECT_NE(live.output.find("--live snapshot-isolation --seed"), std::string::npos) << live.output;
  EXPECT_LT(took.count(), 30) << "its time limit is 60 s";
  // Without it, nothing is wrong until the limit.
  const auto blind = test({"--time-limit", "2s"});
  EXPECT_NE(blind.output.find("took more than 2s"), std::string::npos) << blind.output;
  const auto always = test({"--live", "read-atomic"});
  EXPECT_EQ(always.code, 3);
  EXPECT_NE(always.output.find("which every history of this store satisfies"), std::string::npos)
      << always.output;
}

// What the history violates when the command ends, although the command is content.
TEST_F(MockCommand, ALiveTestLooksAtTheEndToo) {
  std::string counter = kCounter;
  counter.resize(counter.rfind('['));
  const auto script = folder_.file("content.sh", counter);
  const auto ran = run({CUPEL_BINARY, "mock", "test", "--level", "causal", "--live", "serializable",
                        "--iterations", "60", "--", "sh", script},
                       folder_.path());
  EXPECT_EQ(ran.code, 1) << ran.output;
  EXPECT_NE(ran.output.find("violates serializable (--live)"), std::string::npos) << ran.output;
}

// A counter that loses an update, which the command tolerates, and then another one, which makes it
// fail: that one is reported.
constexpr const char* kTwoCounters = R"(
post() { curl -sS --json "$2" "$CUPEL_MOCK_HTTP_URL$1"; }
for s in 1 2; do post /sessions '{}' > /dev/null; done
for key in x y; do
  for s in 1 2; do
    post /sessions/$s/begin '' > /dev/null
    v=$(post /sessions/$s/read "{\"key\": \"$key\"}" | tr -dc 0-9)
    post /sessions/$s/write "{\"key\": \"$key\", \"value\": $((${v:-0} + 1))}" > /dev/null
    post /sessions/$s/commit '' > /dev/null
  done
  eval "$key=${v:-nothing}"
done
[ "$x" = 1 ] || [ "$y" = 1 ]
)";

TEST_F(MockCommand, TestReportsTheAnomalyOfTheLastReads) {
  const auto script = folder_.file("two.sh", kTwoCounters);
  const auto found = run(
      {CUPEL_BINARY, "mock", "test", "--level", "causal", "--iterations", "60", "--", "sh", script},
      folder_.path());
  EXPECT_EQ(found.code, 1) << found.output;
  const auto found_at = found.output.find("lost-update");
  ASSERT_NE(found_at, std::string::npos) << found.output;
  // Of y, not of x.
  const auto why =
      found.output.substr(found_at, found.output.find("Anomalies in the whole") - found_at);
  EXPECT_NE(why.find("y"), std::string::npos) << found.output;
  EXPECT_NE(found.output.find("Anomalies in the whole history: lost-update 2"), std::string::npos)
      << found.output;
  EXPECT_NE(found.output.find("This anomaly involves the last transaction that read, of session"),
            std::string::npos)
      << found.output;
  EXPECT_EQ(why.find("(key x)"), std::string::npos) << found.output;
  // The numbers shown are those of the file: T2 and T3, of y, and what came of them.
  const auto file = found.output.substr(found.output.find("history: ") + 9);
  std::ifstream history(folder_.path(file.substr(0, file.find(','))));
  std::vector<std::string> lines;
  for (std::string line; std::getline(history, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 9u);  // a begin and an end each, after what the file says of itself
  lines.erase(lines.begin());
  std::size_t reported = 0;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    EXPECT_TRUE(lines[at].starts_with("{\"index\":" + std::to_string(at) + ",")) << lines[at];
    if (why.find("\n      T" + std::to_string(at) + " = ") == std::string::npos) continue;
    ++reported;
    EXPECT_NE(lines[at].find("[\"w\",\"y\""), std::string::npos) << lines[at] << found.output;
  }
  EXPECT_EQ(reported, 2u) << found.output;
}

// What fails only because its client does not try again.
TEST_F(MockCommand, TestSaysThatTransactionsWereAborted) {
  const auto script = folder_.file("counter.sh", kCounter);
  const auto found = run({CUPEL_BINARY, "mock", "test", "--level", "strong-session-serializable",
                          "--iterations", "60", "--", "sh", script},
                         folder_.path());
  EXPECT_EQ(found.code, 1) << found.output;
  EXPECT_NE(found.output.find("satisfies every level, strict-serializable too"), std::string::npos)
      << found.output;
  EXPECT_NE(
      found.output.find("the store aborted 1 transaction in this run,\n    with SQLSTATE 40001"),
      std::string::npos)
      << found.output;
}

TEST_F(MockCommand, TestSaysWhenItIsNotWeakIsolation) {
  const auto ran = run({CUPEL_BINARY, "mock", "test", "--iterations", "3", "--", "sh", "-c",
                        "\"$0\" r0; echo $PGPORT >&2; exit 7", EXPLORED_CLIENT},
                       folder_.path());
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.output.find("failed: iteration 1 of 3 at causal, seed 0"), std::string::npos)
      << ran.output;
  EXPECT_NE(ran.output.find("exited with 7"), std::string::npos);
  for (const char* words : {"satisfies every level, strict-serializable too", "fails by itself"}) {
    EXPECT_NE(ran.output.find(words), std::string::npos) << ran.output;
  }
  EXPECT_EQ(ran.output.find("40001"), std::string::npos) << ran.output;
  const auto late = run({CUPEL_BINARY, "mock", "test", "--iterations", "1", "--time-limit", "1s",
                         "--", "sh", "-c", "\"$0\" r0; sleep 60", EXPLORED_CLIENT},
                        folder_.path());
  EXPECT_EQ(late.code, 1);
  EXPECT_NE(late.output.find("took more than 1s"), std::string::npos) << late.output;
}

TEST_F(MockCommand, TestHintsAtSetupIfATableIsMissing) {
  const auto test = [&](const std::string& table, const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {CUPEL_BINARY, "mock", "test", "--iterations", "1"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--", "psql", "-qX", "-v", "ON_ERROR_STOP=1", "-c",
                                       "SELECT n FROM " + table});
    return run(arguments, folder_.path());
  };
  const auto none = test("accounts", {});
  EXPECT_NE(none.code, 0) << none.output;
  EXPECT_NE(none.output.find("A table is missing: each run starts with an empty store. Make the "
                             "tables with --setup COMMAND."),
            std::string::npos)
      << none.output;
  const std::vector<std::string> setup = {"--setup", "psql -qX -c 'CREATE TABLE accounts (n int)'"};
  const auto made = test("accounts", setup);
  EXPECT_EQ(made.code, 0) << made.output;
  const auto other = test("another", setup);
  EXPECT_EQ(other.output.find("A table is missing"), std::string::npos) << other.output;
}

// A parent that ignores SIGCHLD hands that on, and the kernel then drops the status of children.
TEST_F(MockCommand, TestKnowsAFailureIfSigchldIsIgnored) {
  const auto ran = run({"env", "--ignore-signal=CHLD", CUPEL_BINARY, "mock", "test", "--iterations",
                        "2", "--", "sh", "-c", "\"$0\" r0; exit 7", EXPLORED_CLIENT},
                       folder_.path());
  EXPECT_EQ(ran.code, 1) << ran.output;
  EXPECT_NE(ran.output.find("exited with 7"), std::string::npos) << ran.output;
  const auto setup = run({"env", "--ignore-signal=CHLD", CUPEL_BINARY, "mock", "test", "--setup",
                          "exit 4", "--", EXPLORED_CLIENT, "r0"},
                         folder_.path());
  EXPECT_EQ(setup.code, 3) << setup.output;
  EXPECT_NE(setup.output.find("the set-up exited with 4"), std::string::npos) << setup.output;
}

TEST_F(MockCommand, ACommandThatIsNotFoundIsNoFailedTest) {
  const auto ran = run({CUPEL_BINARY, "mock", "test", "--", "sh", "-c",
                        "\"$0\" r0; no-such-program-of-cupel", EXPLORED_CLIENT},
                       folder_.path());
  EXPECT_EQ(ran.code, 3) << ran.output;
  EXPECT_NE(ran.output.find("exited with 127 (command not found), so nothing was tested"),
            std::string::npos)
      << ran.output;
  EXPECT_NE(ran.output.find("no-such-program-of-cupel"), std::string::npos) << ran.output;
  const auto killed = run(
      {CUPEL_BINARY, "mock", "test", "--", "sh", "-c", "\"$0\" r0; kill -9 $$", EXPLORED_CLIENT},
      folder_.path());
  EXPECT_EQ(killed.code, 1) << killed.output;
  EXPECT_NE(killed.output.find("was ended by signal 9"), std::string::npos) << killed.output;
}

TEST_F(MockCommand, TestDoesNotSendWhereItWas) {
  const auto ran =
      run({CUPEL_BINARY, "mock", "test", "--level", "strong-session-serializable", "--policy",
           "latest", "--iterations", "3", "--", "sh", "-c", "\"$0\" r0; exit 7", EXPLORED_CLIENT},
          folder_.path());
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.output.find("fails by itself"), std::string::npos) << ran.output;
  EXPECT_EQ(ran.output.find("To find out"), std::string::npos) << ran.output;
}

// Nothing but strict-serializable forbids that a new connection misses what an old one committed.
TEST_F(MockCommand, TestNamesAStaleReadOfAnotherConnection) {
  const auto stale = [&](const char* level) {
    return run({CUPEL_BINARY, "mock", "test", "--level", level, "--iterations", "30", "--setup",
                "psql -qX -c 'create table c (id int primary key, n int)' -c 'insert into c values "
                "(1, 5)'",
                "--", "sh", "-c",
                "PGAPPNAME=a psql -qX -c 'update c set n = 6' && "
                "[ $(PGAPPNAME=b psql -qXAt -c 'select n from c') = 6 ]"},
               folder_.path());
  };
  const auto found = stale("read-committed");
  EXPECT_EQ(found.code, 1) << found.output;
  for (const char* words :
       {"\tstrong-session-serializable\tsatisfied", "\tstrict-serializable\tviolated",
        "A stale read.", "select n from c\n", "--level postgres:read-committed"}) {
    EXPECT_NE(found.output.find(words), std::string::npos) << words << "\n" << found.output;
  }
  EXPECT_EQ(found.output.find(" ns"), std::string::npos) << found.output;
  const auto kept = stale("postgres:read-committed");
  EXPECT_EQ(kept.code, 0) << kept.output;
}

TEST_F(MockCommand, WhatIsSetUpIsThereForEverySession) {
  const std::string sql =
      R"(sql() { curl -sS --json "{\"sql\": \"$1\"}" "$CUPEL_MOCK_HTTP_URL/sql"; }; )";
  const std::string setup =
      sql + "sql 'create table c(id serial primary key, n int)'; sql 'insert into c(n) values (7)'";
  const std::string count =
      sql + "sql 'select count(*), min(n) from c' | tee /dev/stderr | grep -q '\\[\\[1,7\\]\\]'";
  const auto test = [&](const std::string& before, const std::string& command) {
    std::vector<std::string> words = {CUPEL_BINARY,     "mock",         "test", "--level",
                                      "read-committed", "--iterations", "20"};
    if (!before.empty()) words.insert(words.end(), {"--setup", before});
    words.insert(words.end(), {"--", "sh", "-c", command});
    return run(words, folder_.path());
  };
  const auto ready = test(setup, count);
  EXPECT_EQ(ready.code, 0) << ready.output;
  // Set up by a session of the run itself, it is missed by others.
  const auto missed = test("", setup + "; " + count);
  EXPECT_EQ(missed.code, 1) << missed.output;
  // What fails is repeated with its set-up; the next number of a row is free.
  const auto failed = test(setup, sql + "sql 'insert into c(n) values (8) returning id'; exit 1");
  EXPECT_EQ(failed.code, 1) << failed.output;
  EXPECT_NE(failed.output.find("[[2]]"), std::string::npos) << failed.output;
  EXPECT_NE(failed.output.find(" --setup "), std::string::npos) << failed.output;
  const auto broken = test("echo no tables today; exit 4", "true");
  EXPECT_EQ(broken.code, 3) << broken.output;
  EXPECT_NE(broken.output.find("the set-up exited with 4; it printed:\n  no tables today"),
            std::string::npos)
      << broken.output;
}

// A shop that reads the stock and writes it, with SQL that only PostgreSQL has.
TEST_F(MockCommand, TestRunsOnPostgres) {
  const auto script =
      folder_.file("shop.sh",
                   "buy() {\n"
                   "  PGAPPNAME=$1 psql -qX -v ON_ERROR_STOP=1 <<'SQL'\n"
                   "begin;\n"
                   "select stock - 1 as stock from item where id = 1 \\gset\n"
                   "with sold as (insert into sale default values returning 1)\n"
                   "update item set stock = :stock from sold where id = 1;\n"
                   "commit;\n"
                   "SQL\n"
                   "}\n"
                   "until buy alice; do :; done\n"
                   "until buy bob; do :; done\n"
                   "left=$(PGAPPNAME=bob psql -qXAtc 'select stock from item where id = 1')\n"
                   "[ \"$left\" = 8 ] || { echo \"sold 2 of 10, and $left are left\"; exit 1; }\n");
  const auto test = [&](const std::string& level, const std::string& iterations) {
    return run({CUPEL_BINARY, "mock", "test", "--engine", "postgres", "--level", level,
                "--iterations", iterations, "--setup",
                "psql -qXc 'create table item (id int primary key, stock int not null)' "
                "-c 'create table sale (id serial primary key)' "
                "-c 'insert into item values (1, 10)'",
                "--", "sh", script},
               folder_.path());
  };
  const auto found = test("causal", "10");
  EXPECT_EQ(found.code, 1) << found.output;
  EXPECT_NE(found.output.find("sold 2 of 10, and 9 are left"), std::string::npos) << found.output;
  EXPECT_NE(found.output.find("item(1)"), std::string::npos) << found.output;
  EXPECT_NE(found.output.find("\n           select stock - 1 as stock from item where id = 1\n"),
            std::string::npos)
      << found.output;
  EXPECT_NE(found.output.find("\"stock=10\""), std::string::npos) << found.output;
  EXPECT_NE(found.output.find("--engine postgres --setup"), std::string::npos) << found.output;
  EXPECT_NE(found.output.find("weaker than PostgreSQL's"), std::string::npos) << found.output;
  EXPECT_EQ(test("serializable", "3").code, 0);
}

// The level that PostgreSQL gives to a client that asks for none, with its constraints. Two clients
// look for a name, and then both register it: a phantom.
TEST_F(MockCommand, TestOnPostgresNamesAPhantom) {
  const auto script =
      folder_.file("register.sh",
                   "register() {\n"
                   "  PGAPPNAME=$1 psql -qX -v ON_ERROR_STOP=1 <<'SQL'\n"
                   "begin;\n"
                   "select count(*) as n from account where username = 'anna' \\gset\n"
                   "select pg_sleep(0.5);\n"
                   "insert into account (username) select 'anna' where :n = 0;\n"
                   "commit;\n"
                   "SQL\n"
                   "}\n"
                   "register alice & register bob & wait\n"
                   "n=$(psql -qXAtc 'select count(*) from account')\n"
                   "[ \"$n\" = 1 ] || { echo \"anna has $n accounts\"; exit 1; }\n");
  const auto found =
      run({CUPEL_BINARY, "mock", "test", "--engine", "postgres", "--iterations", "10", "--setup",
           "psql -qXc 'create table account (id serial primary key, username text)'", "--", "sh",
           script},
          folder_.path());
  EXPECT_EQ(found.code, 1) << found.output;
  for (const char* words : {"at postgres:read-committed", "anna has 2 accounts", "A phantom: T",
                            "did not find \"account(", "inserted at the same time"})
    EXPECT_NE(found.output.find(words), std::string::npos) << words << found.output;
  for (const char* words : {"by itself", "weaker than"})
    EXPECT_EQ(found.output.find(words), std::string::npos) << words << found.output;
}

TEST_F(MockCommand, TestRunsOnMariadb) {
  const std::string client =
      "mariadb --no-defaults --protocol=tcp -h $MYSQL_HOST -P $MYSQL_TCP_PORT -u $MYSQL_USER -N "
      "$MYSQL_DATABASE";
  const auto script = folder_.file(
      "shop.sh",
      "sql() { " + client +
          " -e \"$1\"; }\n"
          "buy() {\n"
          "  sql \"set cupel_session = '$1'; begin; select stock - 1 into @left from "
          "item where id = 1; update item set stock = @left where id = 1; commit\"\n"
          "}\n"
          "until buy alice; do :; done\n"
          "until buy bob; do :; done\n"
          "left=$(sql \"set cupel_session = 'bob'; select stock from item\")\n"
          "[ \"$left\" = 8 ] || { echo \"sold 2 of 10, and $left are left\"; exit 1; }\n");
  const auto test = [&](const std::string& level, const std::string& iterations) {
    return run({CUPEL_BINARY, "mock", "test", "--engine", "mariadb", "--level", level,
                "--iterations", iterations, "--setup",
                client + " -e 'create table item (id int primary key, stock int not null) "
                         "engine=InnoDB; insert into item values (1, 10)'",
                "--", "sh", script},
               folder_.path());
  };
  const auto found = test("causal", "10");
  if (found.output.find("built without the headers of MariaDB") != std::string::npos)
    GTEST_SKIP() << found.output;
  EXPECT_EQ(found.code, 1) << found.output;
  EXPECT_NE(found.output.find("sold 2 of 10, and 9 are left"), std::string::npos) << found.output;
  EXPECT_NE(found.output.find("session bob"), std::string::npos) << found.output;
  EXPECT_NE(found.output.find("select stock - 1 into @left from item where id = 1\n"),
            std::string::npos)
      << found.output;
  EXPECT_NE(found.output.find("\"stock=10\""), std::string::npos) << found.output;
  EXPECT_EQ(test("serializable", "3").code, 0);
}

// Killed, cupel can remove nothing; its server ends, and the next start removes the folder.
TEST_F(MockCommand, AnEngineDoesNotOutliveCupel) {
  const auto folders_of = [](pid_t owner) {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(
             std::filesystem::temp_directory_path(),
             std::filesystem::directory_options::skip_permission_denied)) {
      const auto path = entry.path().string();
      if (path.find("/cupel-") == path.npos) continue;
      const auto noted = contents(path + "/owner.json");
      if (noted.find("\"pid\": " + std::to_string(owner) + ",") != noted.npos)
        found.push_back(path);
    }
    return found;
  };
  start({"--engine", "postgres"}, 1);
  const auto killed = mock_->id();
  EXPECT_EQ(folders_of(killed).size(), 2u) << "of the server, and of what it loads";
  mock_->signal(SIGKILL);
  ASSERT_TRUE(mock_->wait(Seconds(20)));
  const auto psql = how_.at("postgres") + " -qXAtc 'select 1' 2>&1";
  EXPECT_TRUE(test::poll_until([&] { return shell(psql).code != 0; }, std::chrono::seconds(20)));
  start({"--engine", "postgres"}, 1);
  EXPECT_TRUE(folders_of(killed).empty());
  stop();
}

TEST_F(MockCommand, OptionsOfEnginesAreChecked) {
  const auto wrong = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {CUPEL_BINARY, "mock"});
    const auto ran = run(options, folder_.path());
    EXPECT_EQ(ran.code, 3) << ran.output;
    return ran.output;
  };
  EXPECT_NE(wrong({"--engine", "oracle"}).find("--engine"), std::string::npos);
  EXPECT_NE(wrong({"--constraints", "strong"}).find("expected it with --engine postgres"),
            std::string::npos);
  EXPECT_NE(wrong({"--engine", "postgres", "--level", "mysql:read-committed"})
                .find("expected a level of postgres"),
            std::string::npos);
  EXPECT_NE(wrong({"--engine", "postgres", "--patience", "2s"}).find("lock_timeout"),
            std::string::npos);
  EXPECT_NE(wrong({"--engine", "postgres", "--http", "0"}).find("--http"), std::string::npos);
  EXPECT_NE(wrong({"--engine", "mariadb", "--pg", "0"}).find("found with --engine mariadb"),
            std::string::npos);
  EXPECT_NE(wrong({"--engine", "mariadb", "--level", "postgres:serializable"})
                .find("expected a level of mysql, mariadb or galera"),
            std::string::npos);
  for (const char* engine : {"postgres", "mariadb"}) {
    EXPECT_NE(wrong({"test", "--engine", engine, "--explore", "--", "true"}).find("--engine"),
              std::string::npos);
  }
}

TEST_F(MockCommand, OptionsBeforeTestAreRefused) {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--level", "prefix"}, {"--pg", "0"}, {"--level", "nonsense"}}) {
    std::vector<std::string> command = {CUPEL_BINARY, "mock"};
    command.insert(command.end(), wrong.begin(), wrong.end());
    command.insert(command.end(), {"test", "--iterations", "1", "--", "true"});
    const auto ran = run(command, folder_.path());
    EXPECT_EQ(ran.code, 3) << ran.output;
    EXPECT_NE(ran.output.find(wrong.front()), std::string::npos) << ran.output;
    EXPECT_NE(ran.output.find("expected after it"), std::string::npos) << ran.output;
  }
}

TEST_F(MockCommand, SaysWhyALevelIsNotServed) {
  const auto of_level = [&](const char* level) {
    return run({CUPEL_BINARY, "mock", "--level", level}, folder_.path()).output;
  };
  const std::string reason =
      "; the level orders transactions by real time, which the mock does at strict-serializable "
      "only";
  const auto snapshot = of_level("ssi");
  EXPECT_NE(snapshot.find(reason + "; the strongest level of the mock that it implies is "
                                   "strong-session-snapshot-isolation"),
            std::string::npos)
      << snapshot;
  // Neither implies a level of the mock, nor is implied by one.
  for (const char* level : {"gsi", "lin"}) {
    const auto none = of_level(level);
    EXPECT_NE(none.find(reason), std::string::npos) << none;
    EXPECT_EQ(none.find("the mock that"), std::string::npos) << none;
  }
}

TEST_F(MockCommand, SaysThatItServesAStrongerLevel) {
  start({"--level", "si", "--http", "0"}, 1);
  EXPECT_NE(stop().find("note: the mock orders the transactions of a session, so "
                        "snapshot-isolation is served as strong-session-snapshot-isolation"),
            std::string::npos);
}

// A number in front of these words.
int number_before(const std::string& text, const std::string& words) {
  const auto end = text.find(words);
  if (end == std::string::npos) return -1;
  auto begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1]))) --begin;
  return begin == end ? -1 : std::stoi(text.substr(begin, end - begin));
}

TEST_F(MockCommand, TestEndsWhatTheCommandStarted) {
  const auto file = folder_.path("id");
  const auto ran =
      run({CUPEL_BINARY, "mock", "test", "--iterations", "1", "--time-limit", "1s", "--", "sh",
           "-c", "\"$0\" r0; sleep 1000 & echo $! > " + file + "; wait", EXPLORED_CLIENT},
          folder_.path());
  EXPECT_EQ(ran.code, 1) << ran.output;
  EXPECT_NE(ran.output.find("took more than 1s (--time-limit)"), std::string::npos) << ran.output;
  pid_t id = 0;
  ASSERT_TRUE(std::ifstream(file) >> id);
  EXPECT_FALSE(base::process_start(id)) << "it still runs";
}

// Clients of their own, over HTTP, against enumeration by brute force on the store itself.
TEST_F(MockCommand, ExploreFindsWhatBruteForceFinds) {
  using test::Program;
  const auto r = [](int key) { return test::Step{.write = false, .key = key}; };
  const auto w = [](int key) { return test::Step{.write = true, .key = key}; };
  const std::pair<const char*, Program> programs[] = {
      {"r0 w0|r0 w0", {.sessions = {{{r(0), w(0)}}, {{r(0), w(0)}}}}},
      {"w0;w1|r1 r0", {.sessions = {{{w(0)}, {w(1)}}, {{r(1), r(0)}}}}},
  };
  for (const auto& [words, program] : programs) {
    for (const auto level :
         {Level::kReadCommitted, Level::kCausal, Level::kStrongSessionSnapshotIsolation,
          Level::kStrongSessionSerializable}) {
      // On a busy machine a client may come later than the others waited: then longer.
      Ran explored;
      for (const char* settle : {"40ms", "200ms", "1s", "4s"}) {
        explored =
            run({CUPEL_BINARY, "mock", "test", "--level", std::string(name(level)), "--explore",
                 "--states", "output", "--settle", settle, "--", EXPLORED_CLIENT, words},
                folder_.path());
        if (explored.output.find("incomplete") == std::string::npos) break;
      }
      const auto expected = reached(program, level);
      bool null = false;  // the client's own condition: its second session read null
      for (const auto& outcome : expected)
        null = null || outcome.find('n', outcome.find('|')) != std::string::npos;
      EXPECT_EQ(explored.code, null ? 1 : 0) << explored.output;
      // Whoever reads null where the other has written cannot write at the strong levels: a
      // state more, which brute force leaves out.
      const bool conflict = level > Level::kCausal && program.sessions[0].size() == 1;
      EXPECT_EQ(number_before(explored.output, " states that the client saw (output)"),
                static_cast<int>(expected.size()) + (conflict ? 1 : 0))
          << words << explored.output;
      if (level <= Level::kCausal) {
        EXPECT_EQ(number_before(explored.output, " different histories"),
                  static_cast<int>(expected.size()))
            << explored.output;
      }
      EXPECT_EQ(explored.output.find("incomplete"), std::string::npos) << explored.output;
    }
  }
}

TEST_F(MockCommand, ExploreReportsTheChoicesThatFail) {
  const auto explored =
      run({CUPEL_BINARY, "mock", "test", "--level", "causal", "--explore", "--settle", "200ms",
           "--history", "h.jsonl", "--", EXPLORED_CLIENT, "w0;w1|r1 r0"},
          folder_.path());
  EXPECT_EQ(explored.code, 1) << explored.output;
  const auto at = explored.output.find("--choices ");
  ASSERT_NE(at, std::string::npos) << explored.output;
  const auto choices =
      explored.output.substr(at + 10, explored.output.find(' ', at + 10) - at - 10);
  const auto again =
      run({CUPEL_BINARY, "mock", "test", "--level", "causal", "--choices", choices, "--settle",
           "200ms", "--history", "again.jsonl", "--", EXPLORED_CLIENT, "w0;w1|r1 r0"},
          folder_.path());
  EXPECT_EQ(again.code, 1) << again.output;
  EXPECT_NE(again.output.find("failed: one run at causal"), std::string::npos) << again.output;
  EXPECT_EQ(run({"cmp", folder_.path("h.jsonl"), folder_.path("again.jsonl")}).code, 0);
  // Of another command these choices are none, and a limit is said.
  const auto other =
      run({CUPEL_BINARY, "mock", "test", "--choices", "5,5", "--", EXPLORED_CLIENT, "r0"},
          folder_.path());
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.output.find("did not offer the choices"), std::string::npos) << other.output;
  const auto some = run({CUPEL_BINARY, "mock", "test", "--explore", "--iterations", "1", "--settle",
                         "40ms", "--", EXPLORED_CLIENT, "w0|r0 w0"},
                        folder_.path());
  EXPECT_NE(some.output.find("the limit of 1 run was reached"), std::string::npos) << some.output;
  const auto one =
      run({CUPEL_BINARY, "mock", "test", "--explore", "--", EXPLORED_CLIENT, "r0"}, folder_.path());
  EXPECT_EQ(one.code, 0) << one.output;
  EXPECT_NE(one.output.find("1 different history in 1 run at causal, 1 state that"),
            std::string::npos)
      << one.output;
}

// Or a command that looks elsewhere would pass for ever.
TEST_F(MockCommand, ACommandThatNeverMeetsTheStoreIsAnError) {
  for (const char* command : {"true", "false"}) {
    for (const auto& how :
         {std::vector<std::string>{"--iterations", "2"}, {"--explore"}, {"--choices", "0"}}) {
      std::vector<std::string> arguments{CUPEL_BINARY, "mock", "test"};
      arguments.insert(arguments.end(), how.begin(), how.end());
      arguments.insert(arguments.end(), {"--", command});
      const auto ran = run(arguments, folder_.path());
      EXPECT_EQ(ran.code, 3) << command << how.front();
      EXPECT_NE(ran.output.find("never began a transaction on the store"), std::string::npos)
          << ran.output;
    }
  }
}

// One client begins long after the other was let go, each time; what comes of the orders in
// which it is first is never seen. Its sleep is no wait for anything: settle times are measured
// by the clock, and one that is too short is what is tested.
TEST_F(MockCommand, ClientsThatComeTooLateAreReported) {
  // The second client is too late if the first one was there before it. On a busy machine the first
  // one needs longer: then the second one comes later still.
  std::string late;
  Ran explored;
  for (const char* delay : {"0.15", "1", "5"}) {
    late = std::string("\"$0\" w0 & sleep ") + delay + "; \"$0\" r0; wait";
    explored = run({CUPEL_BINARY, "mock", "test", "--level", "causal", "--explore", "--settle",
                    "1ms", "--", "sh", "-c", late, EXPLORED_CLIENT},
                   folder_.path());
    if (explored.code == 2) break;
  }
  EXPECT_EQ(explored.code, 2) << explored.output;
  EXPECT_NE(explored.output.find("started after the first choice was made"), std::string::npos)
      << explored.output;
  // After a failure as well: what is counted is as little all there is.
  const std::string fails = late + "; exit 1";
  const auto failed = run({CUPEL_BINARY, "mock", "test", "--level", "causal", "--explore",
                           "--settle", "1ms", "--", "sh", "-c", fails, EXPLORED_CLIENT},
                          folder_.path());
  EXPECT_EQ(failed.code, 1) << failed.output;
  EXPECT_NE(failed.output.find("started after the first choice was made"), std::string::npos)
      << failed.output;
  EXPECT_NE(failed.output.find("--settle 1ms --choices "), std::string::npos) << failed.output;
}

// Where nobody says how long to wait, it is as long as it takes, and said.
TEST_F(MockCommand, ClientsThatComeLateAreWaitedFor) {
  const std::string late = "\"$0\" w0 & sleep 0.15; \"$0\" r0; wait; exit 1";
  const auto explored = run({CUPEL_BINARY, "mock", "test", "--level", "causal", "--explore", "--",
                             "sh", "-c", late, EXPLORED_CLIENT},
                            folder_.path());
  EXPECT_EQ(explored.code, 1) << explored.output;
  EXPECT_NE(
      explored.output.find(
          "some clients started more than 5 ms after the others; the exploration starts again with "
          "--settle "),
      std::string::npos)
      << explored.output;
  EXPECT_EQ(explored.output.find("incomplete"), std::string::npos) << explored.output;
  // The read before the write, and the write seen or not.
  EXPECT_EQ(number_before(explored.output, " states that the client saw (reads)"), 2)
      << explored.output;
  const auto again = explored.output.find("again: ");
  const auto settle = explored.output.find(" --settle ", again);
  ASSERT_LT(settle, explored.output.find('\n', again)) << explored.output;
  EXPECT_LT(settle, explored.output.find(" --choices ", again)) << explored.output;
}

TEST_F(MockCommand, BadUsage) {
  for (const auto& [arguments, word] :
       std::initializer_list<std::pair<std::vector<std::string>, const char*>>{
           {{"--level", "perfect"}, "perfect"},
           {{"--level", "serialisable"}, "did you mean `strong-session-serializable`?"},
           {{"--level", "snapshot"}, "did you mean `strong-session-snapshot-isolation`?"},
           {{"test", "--pg", "5000", "--", "true"},
            "found `--pg`, which is an option of mock, and none of mock test"},
           {{"test", "--password=x", "--seed", "1", "--", "true"},
            "found `--password`, which is an option of mock, and none of mock test"},
           {{"test", "./run.sh", "--quick"},
            "found `--quick`, which is no option of test; put the command and its options after "
            "--: "
            "-- ./run.sh --quick"},
           {{"test", "--level", "linearizable", "--", "true"},
            "real time, which the mock does at strict-serializable only"},
           {{"--policy", "nice"}, "nice"},
           {{"--policy", "latest=0"}, "above 0"},
           {{"--policy", "latest", "--level", "mysql:repeatable-read"},
            "found `latest` with --level mysql:repeatable-read, at which no value is chosen"},
           {{"--policy", "adversarial=1", "--level", "strict-serializable"}, "no value is chosen"},
           {{"--level", "best"}, "strict-serializable, postgres:read-committed, "},
           {{"--pg", "70000"}, "65535"},
           {{"--bind", "no.such.address.invalid"}, "cannot listen"},
           {{"--history", "h.unknown"}, "format"},
           {{"--history", "no/such/folder/h.jsonl"},
            "no/such/folder/h.jsonl: cannot open for writing"},
           {{"test", "--history", "no/such/folder/h.jsonl", "--", "true"},
            "no/such/folder/h.jsonl: cannot open for writing"},
           {{"test", "--level", "nice", "--", "true"}, "nice"},
           {{"test"}, "COMMAND"},
           {{"test", "--", "/no/such/program"}, "/no/such/program"},
           {{"test", "--explore", "--jobs", "2", "--", "true"}, "--jobs"},
           {{"test", "--explore", "--abort-rate", "0.5", "--", "true"}, "--abort-rate"},
           {{"test", "--choices", "a", "--", "true"},
            "--choices: found `a`, expected a whole number from 0"},
           {{"test", "--choices", "1,x", "--", "true"},
            "--choices: found `x`, expected a whole number from 0"},
           {{"test", "--choices", "-1", "--", "true"}, "--choices: found `-1`"},
           {{"--pg", "0", "--pg", "1"}, "found --pg 2 times, expected it once"},
           {{"foo"}, "found `foo` after mock, expected test, or nothing more"},
           {{"tset", "--", "true"}, "did you mean `test`?"},
           {{"--history", "h"},
            "h: the name does not say which format to write; end it in .jsonl, "},
           {{"--history", "-"},
            "standard output has no name that says which format to write; name a file"},
           {{"test", "--states", "all", "--", "true"}, "--states"}}) {
    auto all = arguments;
    all.insert(all.begin(), {CUPEL_BINARY, "mock"});
    const auto ran = run(all, folder_.path());
    EXPECT_EQ(ran.code, 3) << ran.output;
    EXPECT_NE(ran.output.find(word), std::string::npos) << ran.output;
  }
}

// A shop whose clients read a number and write back what they computed, or let the database compute
// it: `step` is the statements of one transaction.
std::string two_buyers(const std::string& step) {
  return R"(
for who in ann bob; do
  PGAPPNAME=$who psql -qXAt -v ON_ERROR_STOP=1 > $who.log 2>&1 <<'STATEMENTS' &
begin;
)" + step +
         R"(
commit;
STATEMENTS
done
wait
left=$(psql -qXAt -c 'select n from c where id = 1 for update')
[ "$left" = 3 ] || { cat ann.log bob.log; echo "left: $left"; exit 1; }
)";
}

class MockProductLevels : public MockCommand {
 protected:
  Ran buy(const std::string& level, const std::string& step, const std::string& iterations,
          const std::string& engine = "own") {
    return run({CUPEL_BINARY, "mock", "test", "--engine", engine, "--level", level, "--delay",
                "30ms", "--iterations", iterations, "--setup",
                "psql -qX -c 'create table c (id int primary key, n int)' -c 'insert into c values "
                "(1, 5)'",
                "--", "sh", folder_.file("buy.sh", two_buyers(step))},
               folder_.path());
  }
};

TEST_F(MockProductLevels, AShopThatComputesItselfFailsWithinTenRuns) {
  const std::string computed =
      "select n from c where id = 1 \\gset\nupdate c set n = :n - 1 "
      "/*file='shop%2Fbuy.py',line='12'*/;";
  const auto lost = buy("postgres:read-committed", computed, "10");
  EXPECT_EQ(lost.code, 1) << lost.output;
  EXPECT_NE(lost.output.find("left: 4"), std::string::npos) << lost.output;
  EXPECT_NE(lost.output.find("lost-update"), std::string::npos) << lost.output;
  EXPECT_NE(lost.output.find("select n from c where id = 1\n"), std::string::npos) << lost.output;
  EXPECT_NE(lost.output.find("update c set n = 5 - 1 -- shop/buy.py:12\n"), std::string::npos)
      << lost.output;
  // There one of the two is refused, and the script does not try again.
  const auto refused = buy("postgres:repeatable-read", computed, "10");
  EXPECT_EQ(refused.code, 1) << refused.output;
  EXPECT_NE(refused.output.find("could not serialize access"), std::string::npos) << refused.output;
}

TEST_F(MockProductLevels, SoItDoesOnPostgres) {
  const std::string computed =
      "select n from c where id = 1 \\gset\nupdate c set n = :n - 1 where id = 1;";
  for (const auto* level : {"causal", "read-committed", "postgres:read-committed"}) {
    const auto lost = buy(level, computed, "10", "postgres");
    EXPECT_EQ(lost.code, 1) << lost.output;
    EXPECT_NE(lost.output.find("left: 4"), std::string::npos) << lost.output;
    EXPECT_NE(lost.output.find("lost-update"), std::string::npos) << lost.output;
    EXPECT_NE(lost.output.find("\"c(1)\""), std::string::npos) << lost.output;
    EXPECT_LE(std::count(lost.output.begin(), lost.output.end(), '\n'), 46) << lost.output;
  }
  const auto refused = buy("postgres:repeatable-read", computed, "10", "postgres");
  EXPECT_EQ(refused.code, 1) << refused.output;
  EXPECT_NE(refused.output.find("could not serialize access due to concurrent update of c(1)"),
            std::string::npos)
      << refused.output;
  for (const char* step :
       {"update c set n = n - 1 where id = 1;",
        "select n from c where id = 1 for update \\gset\nupdate c set n = :n - 1;"}) {
    for (const char* level : {"causal", "postgres:read-committed"}) {
      const auto ran = buy(level, step, "3", "postgres");
      EXPECT_EQ(ran.code, 0) << level << ": " << ran.output;
    }
  }
}

TEST_F(MockProductLevels, AtomicUpdatesAndForUpdatePass) {
  for (const char* step :
       {"update c set n = n - 1 where id = 1;",
        "select n from c where id = 1 for update \\gset\nupdate c set n = :n - 1;"}) {
    for (const char* level : {"postgres:read-committed", "mysql:repeatable-read"}) {
      const auto ran = buy(level, step, "10");
      EXPECT_EQ(ran.code, 0) << level << ": " << ran.output;
    }
  }
}

}  // namespace
}  // namespace cupel::mocktest
