// A failing allocation at a hundred places of every command (a quarter of them in `make quick`):
// one that the memory limit watches (base::AllocationWatch), and any one of the main thread. Each
// command runs in a process of its own, forked from this one, first to count its allocations, then
// with one of them failing. It must end with an exit code from 0 to 3, which a signal, an abort of
// the allocator or a sanitizer's report is not, and print nothing but messages.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "apps/all/all_commands.hpp"
#include "apps/command.hpp"
#include "apps/command_line.hpp"
#include "base/budget.hpp"
#include "base/parallel.hpp"
#include "base/watched_threads.hpp"
#include "support/rounds.hpp"
#include "support/scratch_folder.hpp"

// A sanitizer's report must not look like "violated", which is 1. No leaks: _exit() follows.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "exitcode=99:detect_leaks=0";
}
extern "C" const char* __ubsan_default_options();
extern "C" const char* __ubsan_default_options() {
  return "exitcode=99";
}

namespace cupel::apps {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kNoFailure = std::numeric_limits<std::uint64_t>::max();

// Where failures are tried: CUPEL_MEMORY_PLACES, else so many.
std::uint64_t most_places() {
  const char* wanted = std::getenv("CUPEL_MEMORY_PLACES");
  return wanted == nullptr ? test::rounds(100u) : std::strtoull(wanted, nullptr, 10);
}

// Allocations: those under a limit of the command's own, or all of its main thread.
enum class Of : std::uint8_t { kWatched, kAll };

struct Ended {
  int code = -1;              // minus the number of the signal that ended it
  std::uint64_t reached = 0;  // allocations
  std::string errors = {};    // standard error
};

// Seconds until a command that hangs is ended by SIGALRM.
constexpr unsigned kPatience = 100;

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

#ifdef EXPLORED_CLIENT
// Reads what a server prints until it names its HTTP address, lets a client come, and asks the
// server to end. What came of the client; -1 if the server did not get so far.
int visit(int output, pid_t server) {
  std::string printed;
  char bytes[512];
  while (printed.find("/sql\n") == std::string::npos) {
    const auto size = ::read(output, bytes, sizeof bytes);
    if (size <= 0) return -1;
    printed.append(bytes, static_cast<std::size_t>(size));
  }
  const auto begin = printed.find("http://");
  const std::string url = printed.substr(begin, printed.find("/sql\n") - begin);
  const std::string client =
      "CUPEL_MOCK_HTTP_URL=" + url + " " + EXPLORED_CLIENT + " 'w0 r1|w1' >/dev/null 2>&1";
  const int ended = std::system(client.c_str());
  ::kill(server, SIGINT);
  return ended;
}
#endif

// Runs `cupel ARGUMENTS` in `folder`, with one allocation failing.
Ended cupel(const fs::path& folder, std::vector<std::string> arguments, Of of, std::uint64_t place,
            bool serves = false) {
  fs::remove_all(folder / "campaign");  // or it would be resumed
  auto* reached = static_cast<std::uint64_t*>(mmap(
      nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  int output[2] = {-1, -1};
  if (serves && pipe2(output, O_CLOEXEC) != 0) return {};
  std::fflush(stdout);  // or the command would write it, too
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_RDWR);
    if (chdir(folder.c_str()) != 0 || nowhere < 0) _exit(98);
    dup2(nowhere, STDIN_FILENO);
    dup2(serves ? output[1] : open("stdout", O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    const int errors = open("stderr", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(errors, STDERR_FILENO);
    arguments.insert(arguments.begin(), "cupel");
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    alarm(kPatience);
    const auto commands = all_commands();  // of no program: they are not under test
    base::AllocationWatch::fail_at(place);
    base::Budget unlimited;
    const base::AllocationWatch watch(of == Of::kAll ? &unlimited : nullptr);
    const int code = run(static_cast<int>(arguments.size()), argv.data(), commands);
    *reached = base::AllocationWatch::watched_count();
    _exit(code);
  }
#ifdef EXPLORED_CLIENT
  if (serves) {
    close(output[1]);
    const int client = visit(output[0], child);
    if (place == kNoFailure) {
      EXPECT_EQ(client, 0);
    }
    close(output[0]);
  }
#endif
  int status = 0;
  waitpid(child, &status, 0);
  const Ended ended{WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), *reached,
                    text_of(folder / "stderr")};
  munmap(reached, sizeof(std::uint64_t));
  return ended;
}

// The lines that are neither a message nor what the command prints when nothing fails.
std::string odd_lines(const std::string& errors, const std::string& usual) {
  std::string odd;
  std::istringstream in(errors);
  for (std::string line; std::getline(in, line);) {
    const bool message =
        (line.starts_with("cupel: ") && !line.starts_with("cupel: internal error")) ||
        line.starts_with("::");  // --emit github
    if (!message && usual.find(line) == std::string::npos) odd += line + '\n';
  }
  return odd;
}

struct Line {
  const char* name;
  std::vector<std::string> arguments;
  bool is_usage_error = false;  // any other has to do its work, or nothing of it is tested
  bool serves = false;          // until it is interrupted
};
void PrintTo(const Line& line, std::ostream* out) {
  for (const auto& argument : line.arguments) *out << argument << ' ';
}

constexpr const char* kLostUpdate = "r(1,0,0,1)\nw(1,1,0,1)\nr(1,0,1,2)\nw(1,2,1,2)\n";
constexpr const char* kLostUpdateWithInvocations =
    R"({"type":"invoke","process":0,"f":"txn","value":[["r",1,null],["w",1,1]],"time":1}
{"type":"invoke","process":1,"f":"txn","value":[["r",1,null],["w",1,2]],"time":2}
{"type":"ok","process":0,"f":"txn","value":[["r",1,null],["w",1,1]],"time":3}
{"type":"ok","process":1,"f":"txn","value":[["r",1,null],["w",1,2]],"time":4}
)";
constexpr const char* kCampaign =
    R"({"databases": [{"name": "SQLite", "url": ""}],)"
    R"( "workloads": ["mini"], "seeds": 1, "sessions": 2, "txns": 5})";

constexpr const char* kCampaigns =
    R"({"databases": [{"name": "SQLite", "url": ""}],)"
    R"( "workloads": ["mini"], "seeds": 2, "sessions": 2, "txns": 5})";

class Memory : public testing::TestWithParam<Line> {
 protected:
  static void SetUpTestSuite() {
    scratch_ = std::make_unique<test::ScratchFolder>();
    folder_ = scratch_->path();
    leave_server();
    const std::vector<std::string> range = {"generate",
                                            "--level",
                                            "read-committed",
                                            "--shape",
                                            "range",
                                            "--seed",
                                            "415810",
                                            "--sessions",
                                            "5",
                                            "--txns",
                                            "12",
                                            "--keys",
                                            "40",
                                            "--duplicates",
                                            "0",
                                            "--abort-rate",
                                            "0"};
    for (const char* name : {"range.jsonl", "range.edn", "range.cupel"}) made(range, name);
    made({"generate", "--shape", "list-append", "--sessions", "4", "--txns", "10", "--keys", "8",
          "--seed", "1"},
         "lists.jsonl");
    made({"generate", "--level", "snapshot-isolation", "--sessions", "5", "--txns", "12", "--keys",
          "6", "--duplicates", "0.3", "--seed", "3"},
         "duplicates.jsonl");
    made({"generate", "--level", "causal", "--sessions", "4", "--txns", "12", "--keys", "10",
          "--seed", "5"},
         "plain.plume");
    made({"crdt", "generate", "--type", "rga", "--seed", "1"}, "rga.jsonl");
    made({"crdt", "generate", "--type", "or-set", "--seed", "1", "--bug",
          "remove-kills-concurrent-add"},
         "set.jsonl");
    scratch_->file("lost.txt", kLostUpdate);
    scratch_->file("watch-lost.jsonl", kLostUpdateWithInvocations);
    violated({"check", "--certificate", "lost.json", "lost.txt"});
    violated({"crdt", "check", "--type", "or-set", "--certificate", "set.json", "set.jsonl"});
    made({"crdt", "generate", "--type", "rga", "--ops", "20", "--seed", "1"}, "grown.jsonl");
    ends_with(0, {"crdt", "check", "--type", "rga", "--certificate", "grown.json", "grown.jsonl"});
    scratch_->file("campaign.json", kCampaign);
    scratch_->file("campaigns.json", kCampaigns);
    made({"run", "--sessions", "2", "--txns", "10", "--seed", "1"}, "watched.jsonl");
    set_up_merges();
    made({"crdt", "generate", "--type", "map", "--context", "--seed", "1"}, "map.jsonl");
    made({"crdt", "generate", "--type", "map", "--context", "--seed", "2", "--bug",
          "update-brings-back-removed"},
         "lost-map.jsonl");
    made({"crdt", "generate", "--type", "or-set", "--type", "counter", "--context", "--seed", "1"},
         "mixed.jsonl");
  }

  // A server of the lab that has ended, and no others.
  static void leave_server() {
    const auto states = folder_ / "state/cupel/lab";
    fs::create_directories(states);
    ::setenv("XDG_STATE_HOME", (folder_ / "state").c_str(), 1);
    std::ofstream(states / "left.json") << R"({"cupel_lab": 1, "directory": "/tmp/cupel-lab-gone",
"durable": true, "kind": "postgres", "server_options": [], "synchronous": false, "nodes": [
{"address": "127.0.0.1", "arguments": ["postgres", "-D", "/tmp/cupel-lab-gone/postgres", "-c",
"listen_addresses=127.0.0.1"], "directory": "/tmp/cupel-lab-gone/postgres", "left": false,
"log": "/tmp/cupel-lab-gone/postgres.log", "network": "", "pid": 1, "ports": [1], "start": 1}]})";
  }

  // What workers, campaigns in two parts, and checks of several files leave.
  static void set_up_merges() {
    const std::vector<std::string> tables = {"--tables", "t", "--db",
                                             "sqlite:" + (folder_ / "shared.db").string()};
    const auto worker = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.begin(), {"run", "-q"});
      arguments.insert(arguments.end(), tables.begin(), tables.end());
      return arguments;
    };
    EXPECT_EQ(cupel(folder_, worker({"--make-tables"}), Of::kAll, kNoFailure).code, 0);
    for (const char* offset : {"0", "2"}) {
      made(worker({"--session-offset", offset, "--all-sessions", "4", "--sessions", "2", "--txns",
                   "5", "--seed", "1"}),
           std::string("worker") + offset + ".jsonl");
    }
    for (const char* shard : {"1/2", "2/2"})
      made({"campaign", "campaigns.json", "-q", "--shard", shard}, "shards");
    violated({"check", "--json", "--shrink-time", "0", "lost.txt", "range.jsonl"});
    fs::rename(folder_ / "stdout", folder_ / "results.json");
  }
  static void TearDownTestSuite() { scratch_.reset(); }

  static void made(std::vector<std::string> arguments, const std::string& file) {
    arguments.insert(arguments.end(), {"-o", file});
    EXPECT_EQ(cupel(folder_, arguments, Of::kAll, kNoFailure).code, 0) << file;
  }

  static void ends_with(int code, const std::vector<std::string>& arguments) {
    const auto ended = cupel(folder_, arguments, Of::kAll, kNoFailure);
    EXPECT_EQ(ended.code, code) << arguments.front() << ": " << ended.errors;
  }
  static void violated(const std::vector<std::string>& arguments) { ends_with(1, arguments); }

  static void every_place(Of of) {
    const auto& arguments = GetParam().arguments;
    const bool serves = GetParam().serves;
    const auto whole = cupel(folder_, arguments, of, kNoFailure, serves);
    ASSERT_GE(whole.code, 0) << whole.errors;
    ASSERT_LE(whole.code, 3) << whole.errors;
    ASSERT_EQ(whole.code == 3, GetParam().is_usage_error) << whole.errors;
    ASSERT_GT(whole.reached, 0U) << "nothing of this command is counted";
    const std::uint64_t stride = whole.reached / most_places() + 1;
    for (std::uint64_t place = 1; place <= whole.reached; place += stride) {
      const auto ended = cupel(folder_, arguments, of, place, serves);
      EXPECT_TRUE(ended.code >= 0 && ended.code <= 3 &&
                  odd_lines(ended.errors, whole.errors).empty())
          << "exit code " << ended.code << ", the failing allocation is the " << place << "th of "
          << whole.reached << "\n"
          << ended.errors;
    }
  }

  static std::unique_ptr<test::ScratchFolder> scratch_;
  static fs::path folder_;
};
std::unique_ptr<test::ScratchFolder> Memory::scratch_;
fs::path Memory::folder_;

class MemoryLimit : public Memory {};
TEST_P(MemoryLimit, EndsWithAnExitCode) {
  every_place(Of::kWatched);
}

class OutOfMemory : public Memory {};
TEST_P(OutOfMemory, EndsWithAnExitCode) {
  every_place(Of::kAll);
}

INSTANTIATE_TEST_SUITE_P(
    Of, MemoryLimit,
    testing::Values(
        Line{"check_power",
             {"check", "--json", "--no-history-analysis", "--shrink-time", "0", "--test-power",
              "--threads", "1", "range.jsonl"}},
        Line{"check_analysis", {"check", "--threads", "1", "--shrink-time", "1", "range.cupel"}},
        Line{"check_edn", {"check", "--threads", "1", "--shrink-time", "0", "range.edn"}},
        Line{"check_lists", {"check", "--threads", "1", "--shrink-time", "0", "lists.jsonl"}},
        Line{"check_duplicates",
             {"check", "--threads", "1", "--shrink-time", "0", "duplicates.jsonl"}},
        Line{"check_plume", {"check", "--threads", "2", "--shrink-time", "0", "plain.plume"}},
        // Parts of the history, each decided in a worker thread.
        Line{"check_threads",
             {"check", "-l", "serializable", "--threads", "2", "--shrink-time", "0",
              "duplicates.jsonl"}},
        Line{"run",
             {"run", "--sessions", "2", "--txns", "5", "--seed", "1", "--overwrite", "-o",
              "run.jsonl"}},
        Line{"crdt_check", {"crdt", "check", "--type", "rga", "rga.jsonl"}}),
    [](const auto& of) { return std::string(of.param.name); });

// Every command that needs no server of a database.
std::vector<Line> offline_commands() {
  std::vector<Line> all = {
      Line{"check", {"check", "--threads", "1", "--shrink-time", "0", "duplicates.jsonl"}},
      Line{"check_levels",
           {"check", "-l", "causal,serializable", "--threads", "2", "--json", "lists.jsonl"}},
      Line{"check_report",
           {"check", "--shrink-time", "0", "--report", "report", "duplicates.jsonl"}},
      Line{"check_emit",
           {"check", "--shrink-time", "0", "--emit",
            "markdown=m,sql=s,plume=p,jepsen=j,junit=u,sarif=a,github=g", "lost.txt"}},
      Line{"check_certificate",
           {"check", "--shrink-time", "0", "--certificate", "new.json", "plain.plume"}},
      Line{"verify", {"verify", "lost.txt", "lost.json"}},
      Line{"convert", {"convert", "range.jsonl", "converted.cupel"}},
      Line{"convert_edn", {"convert", "range.cupel", "converted.edn"}},
      Line{"stats", {"stats", "range.edn", "plain.plume"}},
      Line{"explain", {"explain", "lost-update"}},
      Line{"levels", {"levels"}},
      Line{"help", {"check", "--help"}},
      Line{"usage", {"check", "--levle", "x"}, true},
      Line{"generate",
           {"generate", "--shape", "range", "--sessions", "3", "--txns", "5", "-o", "made.jsonl"}},
      Line{"generate_plan", {"generate", "--plan", "general", "-o", "plan.jsonl"}},
      Line{"run_list", {"run", "--list"}},
      Line{"run",
           {"run", "--sessions", "2", "--txns", "5", "--seed", "1", "--overwrite", "-o",
            "run.jsonl"}},
      Line{"run_mock",
           {"run", "--db", "mock:", "--sessions", "3", "--txns", "5", "--seed", "1", "--overwrite",
            "-o", "mock.cupel"}},
      Line{"campaign", {"campaign", "campaign.json", "-q", "-o", "campaign"}},
      Line{"lab", {"lab", "list"}},
      Line{"crdt_check", {"crdt", "check", "--type", "rga", "rga.jsonl"}},
      Line{"crdt_violated",
           {"crdt", "check", "--type", "or-set", "--certificate", "crdt.new", "set.jsonl"}},
      Line{"crdt_verify", {"crdt", "verify", "--type", "or-set", "set.jsonl", "set.json"}},
      Line{"crdt_generate",
           {"crdt", "generate", "--type", "or-set", "--ops", "30", "-o", "crdt.jsonl"}},
      Line{"crdt_run",
           {"crdt", "run", "--type", "counter", "--ops", "5", "--exec",
            "while read line; do echo '{\"type\":\"ok\",\"value\":0}'; done"}},
      Line{"crdt_map", {"crdt", "check", "--type", "map", "map.jsonl"}},
      Line{"crdt_map_violated", {"crdt", "check", "--type", "map", "lost-map.jsonl"}},
      Line{"crdt_mixed", {"crdt", "check", "mixed.jsonl"}},
      Line{"watch", {"watch", "--no-follow", "watched.jsonl"}},
      Line{"watch_violated",
           {"watch", "-l", "serializable", "--no-follow", "--report", "watch.report",
            "watch-lost.jsonl"}},
      Line{"merge_results", {"merge", "results.json"}},
      Line{"merge_campaigns", {"merge", "--json", "shards"}},
      Line{"merge_histories", {"merge", "-o", "whole.jsonl", "worker0.jsonl", "worker2.jsonl"}},
      Line{"elle", {"elle", "--model", "rw-register", "watched.jsonl"}},
      Line{"doctor", {"doctor"}}};
#ifdef CUPEL_PROVED
  all.push_back({"verify_proved", {"verify", "--proved", "lost.txt", "lost.json"}});
  all.push_back(
      {"crdt_verify_proved", {"crdt", "verify", "--proved", "grown.jsonl", "grown.json"}});
#endif
#ifdef EXPLORED_CLIENT
  all.push_back(
      {"mock_test", {"mock", "test", "--iterations", "1", "--", EXPLORED_CLIENT, "w0|w1 r0"}});
  all.push_back({"mock_explore",
                 {"mock", "test", "--explore", "--iterations", "1", "--settle", "1ms", "--",
                  EXPLORED_CLIENT, "w0"}});
  all.push_back({"mock_serve", {"mock", "--http", "0", "--history", "served.jsonl"}, false, true});
#endif
  return all;
}
INSTANTIATE_TEST_SUITE_P(Of, OutOfMemory, testing::ValuesIn(offline_commands()),
                         [](const auto& of) { return std::string(of.param.name); });

// The exit code of a child that allocates 256 MiB in threads, under a limit of 64 MiB more than it
// has.
template <typename Start>
int in_threads(const Start& start) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kPatience);
    const std::uint64_t limit = base::resident_bytes() + (64 << 20);
    base::Budget own(std::nullopt, limit);
    static base::Budget others(std::nullopt, limit);
    const base::AllocationWatch watch(&own);
    base::watch_other_threads(&others, [] { _exit(kBad); });
    try {
      start([] {
        std::vector<std::vector<char>> all;
        for (int mebibyte = 0; mebibyte < 256; ++mebibyte) all.emplace_back(1 << 20, 'x');
      });
    } catch (const std::bad_alloc&) {
      _exit(kUnknown);
    }
    _exit(kSatisfied);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(MemoryOfThreads, OneThatNobodyCatchesEndsTheCommand) {
  EXPECT_EQ(in_threads([](const auto& allocate) { std::thread(allocate).join(); }), kBad);
}
TEST(MemoryOfThreads, OneThatWorksForAnotherHandsTheErrorBack) {
  EXPECT_EQ(in_threads([](const auto& allocate) {
              base::for_each_index(2, 2, [&](std::size_t) { allocate(); });
            }),
            kUnknown);
}

}  // namespace
}  // namespace cupel::apps
