// examples/recorders in Python, Node, Java and Go: the same operations give the lines of
// cupel::Recorder, the file ends at a call that is refused, and what four connections to a
// PostgreSQL recorded is serializable where the server is, and shows the lost update at read
// committed. A language that is not installed is skipped.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "cupel/record.hpp"
#include "databases/lab/server.hpp"
#include "servers/compilers.hpp"
#include "source_dir.hpp"
#include "support/scratch_folder.hpp"

namespace cupel {
namespace {

namespace fs = std::filesystem;
using base::Seconds;

const std::string kClients = CUPEL_SOURCE_DIR "/examples/recorders/";
const std::string kWorkloads = CUPEL_SOURCE_DIR "/tests/servers/recorders/";
// Debian's own Python, for which its packages are.
constexpr const char* kPython = "/usr/bin/python3";
constexpr const char* kJdbc = "/usr/share/java/postgresql.jar";
constexpr const char* kGoPackages = "/usr/share/gocode/src/github.com/lib/pq";

using Environment = std::vector<std::pair<std::string, std::string>>;

struct Ran {
  int code;
  std::string output;  // and errors
};

Ran ran(std::vector<std::string> arguments, Environment environment = {}) {
  auto process = base::Process::start({.arguments = std::move(arguments),
                                       .environment = std::move(environment),
                                       .output = base::Stream::pipe(),
                                       .errors = base::Stream::output()});
  if (!process.ok()) return {-1, process.error().to_string()};
  auto output = process->read_all(Seconds(120)).value_or("timeout");
  const auto status = process->wait(Seconds(10));
  return {status ? status->code : -1, output};
}

bool on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

// A program that takes URL HISTORY ISOLATION, or `script` HISTORY.
struct Program {
  std::vector<std::string> command;
  Environment environment = {};
  std::string url_suffix = {};
  bool jdbc = false;

  [[nodiscard]] Ran operator()(std::vector<std::string> arguments) const {
    auto all = command;
    all.insert(all.end(), arguments.begin(), arguments.end());
    return ran(std::move(all), environment);
  }
};

std::string jdbc_url(const std::string& url) {  // postgres://USER@HOST:PORT/DATABASE
  const auto user = url.find("://") + 3, host = url.find('@') + 1;
  return "jdbc:postgresql://" + url.substr(host) + "?user=" + url.substr(user, host - 1 - user);
}

class Recorders : public testing::Test {
 protected:
  // The history without times, as JSON.
  static std::vector<nlohmann::json> lines(const std::string& file) {
    std::vector<nlohmann::json> all;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      all.push_back(nlohmann::json::parse(line));
      all.back().erase("time");
    }
    return all;
  }

  // The operations of the workloads' `script`.
  void record_script(const std::string& file) {
    std::string error;
    const auto recorder =
        Recorder::open(file, {.metadata = {{"database", "none"}}, .default_initial = 0}, error);
    ASSERT_TRUE(recorder) << error;
    // initial() takes no list; the line is compared by itself.
    auto a = recorder->session(), b = recorder->session();
    a.begin();
    a.read("x", 0);
    a.write("x", recorder->unique_id());
    a.append("list", 1);
    a.committed();
    b.on("n1");
    b.begin();
    b.read_list("list", {1});
    b.insert("y \"\\\n\u00e9", {});
    b.erase(2);
    b.read_range(1, 9, {{3, "three"}, {4, {}}});
    b.committing();
    b.aborted("serialization failure");
    a.begin();
    a.read("x", {});
    a.compare_and_set("x", 1, 2, true);
    a.committing();
    a.read("x", 1);
    a.compare_and_set("x", 1, 2, false);
    a.indeterminate("time-out");
    a.begin();
    a.begin();
    a.committed();
    ASSERT_TRUE(recorder->close(error)) << error;
  }

  void expect_the_lines_of_the_library(const Program& program) {
    const auto theirs = folder_.path("script.jsonl"), ours = folder_.path("library.jsonl");
    const auto script = program({"script", theirs});
    ASSERT_EQ(script.code, 0) << script.output;
    record_script(ours);
    auto recorded = lines(theirs);
    ASSERT_GT(recorded.size(), 3u);
    EXPECT_EQ(recorded[2]["value"].dump(), R"([0,[["list",[]]]])");
    recorded.erase(recorded.begin() + 2);
    auto expected = lines(ours);
    ASSERT_EQ(recorded.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (i >= 2) expected[i]["index"] = i + 1;
      EXPECT_EQ(recorded[i], expected[i]);
    }
    const auto checked = ran({CUPEL_BINARY, "stats", theirs});
    EXPECT_EQ(checked.code, 0) << checked.output;
    // A full disk is reported at the end.
    EXPECT_NE(program({"script", "/dev/full"}).code, 0);
  }

  // After a call that was refused no verdict would hold, so the file ends there and says so.
  void expect_an_end_at_what_is_refused(const Program& program) {
    for (const auto& [mistake, why] : std::vector<std::pair<std::string, std::string>>{
             {"value", "cannot record"},
             {"rows", "cannot record"},
             {"initial", "cannot record"},
             {"outside", "outside of a transaction"}}) {
      const auto file = folder_.path("refused.jsonl");
      const auto refused = program({"refused", file, mistake});
      EXPECT_EQ(refused.code, 0) << refused.output;
      EXPECT_NE(refused.output.find(why), std::string::npos) << mistake << ": " << refused.output;
      const auto recorded = lines(file);
      ASSERT_EQ(recorded.size(), 2u) << mistake;
      EXPECT_EQ(recorded[1]["value"].dump(), R"([["w","x",1]])") << mistake;
    }
  }

  void expect_what_the_server_promises(const Program& program) {
    auto server = lab::start(lab::Kind::kPostgres, {.durable = false});
    ASSERT_TRUE(server.ok()) << server.error().to_string();
    const auto url = program.jdbc ? jdbc_url(server->url()) : server->url() + program.url_suffix;
    const auto history = folder_.path("history.jsonl");

    const auto serializable = program({url, history, "serializable"});
    ASSERT_EQ(serializable.code, 0) << serializable.output;
    const auto satisfied = ran({CUPEL_BINARY, "check", "-l", "serializable", history});
    EXPECT_EQ(satisfied.code, 0) << satisfied.output;
    EXPECT_EQ(outcomes(history), 4 * 40);

    const auto weak = program({url, history, "read committed"});
    ASSERT_EQ(weak.code, 0) << weak.output;
    const auto violated = ran({CUPEL_BINARY, "check", "-l", "snapshot-isolation", history});
    EXPECT_EQ(violated.code, 1) << violated.output;
    EXPECT_NE(violated.output.find("lost-update"), std::string::npos) << violated.output;
    EXPECT_EQ(ran({CUPEL_BINARY, "check", "-l", "read-committed", history}).code, 0);
    EXPECT_EQ(outcomes(history), 4 * 40);
  }

  // Transactions that the server committed or aborted.
  static int outcomes(const std::string& file) {
    int known = 0;
    for (const auto& line : lines(file)) known += line["type"] == "ok" || line["type"] == "fail";
    return known;
  }

  void expect_all(const Program& program) {
    expect_the_lines_of_the_library(program);
    expect_an_end_at_what_is_refused(program);
    expect_what_the_server_promises(program);
  }

  const test::ScratchFolder folder_;
};

TEST_F(Recorders, Python) {
  if (access(kPython, X_OK) != 0) GTEST_SKIP() << "no " << kPython;
  if (const auto driver = ran({kPython, "-c", "import psycopg2"}); driver.code != 0)
    GTEST_SKIP() << "no psycopg2: " << driver.output;
  expect_all({.command = {kPython, kWorkloads + "workload.py"},
              .environment = {{"PYTHONPATH", kClients}, {"PYTHONDONTWRITEBYTECODE", "1"}}});
}

TEST_F(Recorders, Node) {
  if (!on_path("node")) GTEST_SKIP() << "no node";
  expect_all(
      {.command = {"node", kWorkloads + "workload.cjs"},
       .environment = {{"RECORDER", kClients + "recorder.cjs"}, {"NODE_PATH", CUPEL_NODE_PATH}}});
}

TEST_F(Recorders, Java) {
  auto compiler = test::java_compiler();
  if (compiler.empty()) GTEST_SKIP() << "no javac and no ecj";
  if (access(kJdbc, R_OK) != 0) GTEST_SKIP() << "no " << kJdbc;
  compiler.insert(compiler.end(),
                  {"-d", folder_.path(), kClients + "Recorder.java", kWorkloads + "Workload.java"});
  const auto compiled = ran(compiler);
  ASSERT_EQ(compiled.code, 0) << compiled.output;
  expect_all({.command = {"java", "-cp", folder_.path() + ":" + kJdbc, "Workload"}, .jdbc = true});
}

TEST_F(Recorders, Go) {
  if (!on_path("go")) GTEST_SKIP() << "no go";
  if (access(kGoPackages, R_OK) != 0) GTEST_SKIP() << "no " << kGoPackages;
  const fs::path sources = folder_.path("go/src");
  fs::create_directories(sources / "recorder");
  fs::create_directories(sources / "workload");
  fs::copy(kClients + "recorder.go", sources / "recorder");
  fs::copy(kWorkloads + "workload.go", sources / "workload");
  const auto program = folder_.path("workload");
  const auto built = ran({"go", "build", "-o", program, "workload"},
                         {{"GOPATH", folder_.path("go") + ":/usr/share/gocode"},
                          {"GO111MODULE", "off"},
                          {"GOTOOLCHAIN", "local"},
                          test::go_cache()});
  ASSERT_EQ(built.code, 0) << built.output;
  expect_all({.command = {program}, .url_suffix = "?sslmode=disable"});
}

}  // namespace
}  // namespace cupel
