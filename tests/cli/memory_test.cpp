// A failing allocation at a hundred places of every command: what the memory limit does,
// wherever it is met (base::AllocationWatch). Each command runs in a process of its own,
// forked from this one, first to count its watched allocations, then with one of them
// failing; it must end with an exit code from 0 to 3, which a signal, an abort of the
// allocator or a sanitizer's report is not.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "cli/command_line.hpp"

// A sanitizer's report must not look like "violated", which is 1. No leaks: _exit() follows.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "exitcode=99:detect_leaks=0";
}
extern "C" const char* __ubsan_default_options();
extern "C" const char* __ubsan_default_options() {
  return "exitcode=99";
}

namespace cupel::cli {
int run(int argc, char** argv);

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kNowhere = std::numeric_limits<std::uint64_t>::max();

// Where failures are tried: CUPEL_MEMORY_PLACES, else a hundred.
std::uint64_t most_places() {
  const char* wanted = std::getenv("CUPEL_MEMORY_PLACES");
  return wanted == nullptr ? 100 : std::strtoull(wanted, nullptr, 10);
}

struct Ended {
  int code = -1;              // minus the number of the signal that ended it
  std::uint64_t watched = 0;  // allocations
};

// The exit code of `cupel ARGUMENTS`, run in `folder`, the watched allocation `place` failing.
Ended cupel(const fs::path& folder, std::vector<std::string> arguments, std::uint64_t place) {
  auto* watched = static_cast<std::uint64_t*>(mmap(
      nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_RDWR);
    if (chdir(folder.c_str()) != 0 || nowhere < 0) _exit(98);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO}) dup2(nowhere, stream);
    const int errors = open("stderr", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(errors, STDERR_FILENO);
    arguments.insert(arguments.begin(), "cupel");
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    base::AllocationWatch::fail_at(place);
    const int code = run(static_cast<int>(arguments.size()), argv.data());
    *watched = base::AllocationWatch::watched_count();
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const Ended ended{WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), *watched};
  munmap(watched, sizeof(std::uint64_t));
  return ended;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Line {
  const char* name;
  std::vector<std::string> arguments;
};
void PrintTo(const Line& line, std::ostream* out) {
  for (const auto& argument : line.arguments) *out << argument << ' ';
}

class MemoryLimit : public testing::TestWithParam<Line> {
 protected:
  static void SetUpTestSuite() {
    folder_ = fs::temp_directory_path() / ("cupel-memory-" + std::to_string(getpid()));
    fs::create_directories(folder_);
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
  }
  static void TearDownTestSuite() { fs::remove_all(folder_); }

  static void made(std::vector<std::string> arguments, const std::string& file) {
    arguments.insert(arguments.end(), {"-o", file});
    EXPECT_EQ(cupel(folder_, arguments, kNowhere).code, 0) << file;
  }

  static fs::path folder_;
};
fs::path MemoryLimit::folder_;

TEST_P(MemoryLimit, EndsWithAnExitCode) {
  const auto& arguments = GetParam().arguments;
  const auto whole = cupel(folder_, arguments, kNowhere);
  ASSERT_GE(whole.code, 0);
  ASSERT_LE(whole.code, 2);
  ASSERT_GT(whole.watched, 0U) << "nothing of this command is watched";
  const std::uint64_t stride = whole.watched / most_places() + 1;
  for (std::uint64_t place = 1; place <= whole.watched; place += stride) {
    const auto ended = cupel(folder_, arguments, place);
    EXPECT_TRUE(ended.code >= 0 && ended.code <= 3)
        << "exit code " << ended.code << ", the failing allocation is the " << place << "th of "
        << whole.watched << "\n"
        << text_of(folder_ / "stderr");
  }
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
        Line{"run",
             {"run", "--sessions", "2", "--txns", "5", "--seed", "1", "--overwrite", "-o",
              "run.jsonl"}},
        Line{"crdt_check", {"crdt", "check", "--type", "rga", "rga.jsonl"}}),
    [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace cupel::cli
