// --timeout and --memory-limit, as a user meets them: the tool is a process of
// its own, its wall clock and its peak of resident memory are measured, and what
// it could not decide must be unknown. The histories are made by the tool too:
// a child's peak counts what its parent held when it was started, so this
// program must stay small.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/levels/spec.hpp"
#include "support/scratch_folder.hpp"

extern char** environ;

namespace {

namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // shadow memory is resident too, and everything is slower
#else
constexpr bool kSanitized = false;
#endif

constexpr double kTimeOverSeconds = 2;
constexpr double kMemoryOver = 1.10;

struct Ran {
  int code = -1;
  double seconds = 0;
  double peak_mib = 0;
  std::string out;
};

Ran cupel(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), CUPEL_BINARY);
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const auto begin = std::chrono::steady_clock::now();
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child, CUPEL_BINARY, &actions, nullptr, argv.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  Ran ran;
  char buffer[1 << 14];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) ran.out.append(buffer, n);
  close(ends[0]);
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  ran.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ran.peak_mib = static_cast<double>(usage.ru_maxrss) / 1024;
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

// Several formats of one large history, and one on which deciding is hard: made
// once for all tests of this program.
class Limits : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = std::make_unique<cupel::test::ScratchFolder>();
    folder_ = scratch_->path();
  }
  static void TearDownTestSuite() { scratch_.reset(); }

  static std::string generated(const std::string& name, std::vector<std::string> options) {
    const auto path = (folder_ / name).string();
    if (fs::exists(path)) return path;
    options.insert(options.begin(), "generate");
    options.insert(options.end(), {"-o", path});
    EXPECT_EQ(cupel(options).code, 0) << name;
    return path;
  }
  // 300,000 transactions of 15 operations.
  static std::string large(const std::string& name) {
    return generated(name, {"--level", "causal", "--no-times", "--sessions", "20", "--txns",
                            "15000", "--ops", "15", "--keys", "100000"});
  }
  // Duplicate values and range reads, which leave much to try.
  static std::string hard() {
    return generated("hard.cupel",
                     {"--shape", "range", "--sessions", "10", "--txns", "3000", "--ops", "8",
                      "--keys", "200", "--duplicates", "0.2", "--seed", "3"});
  }
  static std::string duplicates() {
    return generated("duplicates.cupel",
                     {"--sessions", "20", "--txns", "4000", "--ops", "10", "--keys", "300",
                      "--duplicates", "0.3", "--distribution", "zipf", "--seed", "3"});
  }

  static std::unique_ptr<cupel::test::ScratchFolder> scratch_;
  static fs::path folder_;
};
std::unique_ptr<cupel::test::ScratchFolder> Limits::scratch_;
fs::path Limits::folder_;

// Each level has a verdict, and what has none of its own says which limit.
void expect_unknown(const Ran& ran, const std::string& limit) {
  EXPECT_EQ(ran.code, 2) << ran.out;
  const auto answer = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_FALSE(answer.is_discarded()) << ran.out;
  std::size_t unknown = 0;
  for (const auto& level : answer["levels"]) {
    if (level["verdict"] != "unknown") continue;
    ++unknown;
    EXPECT_NE(level["detail"].get<std::string>().find(limit + " limit met"), std::string::npos)
        << level.dump();
  }
  EXPECT_GT(unknown, 0u) << ran.out;
}

TEST_F(Limits, MemoryIsKeptWhileReadingAndDeciding) {
  if (kSanitized) GTEST_SKIP() << "shadow memory is resident memory too";
  for (const char* name :
       {"large.jsonl", "large.edn", "large.plume", "large.cupel", "large.bincode"}) {
    const auto file = large(name);
    for (const int limit : {60, 150, 400}) {
      SCOPED_TRACE(std::string(name) + " within " + std::to_string(limit) + "M");
      const auto ran =
          cupel({"check", "--json", "--memory-limit", std::to_string(limit) + "M", file});
      expect_unknown(ran, "memory");
      EXPECT_LE(ran.peak_mib, kMemoryOver * limit);
      EXPECT_GT(ran.peak_mib, 5);  // it was measured at all
    }
  }
}

TEST_F(Limits, MemoryIsKeptOnHardHistories) {
  if (kSanitized) GTEST_SKIP() << "shadow memory is resident memory too";
  for (const auto& file : {hard(), duplicates()}) {
    for (const int limit : {60, 150}) {
      SCOPED_TRACE(file + " within " + std::to_string(limit) + "M");
      const auto ran = cupel({"check", "--json", "--timeout", "20", "--memory-limit",
                              std::to_string(limit) + "M", file});
      EXPECT_LE(ran.peak_mib, kMemoryOver * limit);
      EXPECT_TRUE(ran.code >= 0 && ran.code <= 2) << ran.code;
    }
  }
}

TEST_F(Limits, TimeIsKept) {
  if (kSanitized) GTEST_SKIP() << "everything is slower";
  for (const auto& file :
       {large("large.jsonl"), large("large.edn"), large("large.cupel"), hard(), duplicates()}) {
    for (const char* timeout : {"0.05", "0.3", "1"}) {
      SCOPED_TRACE(file + " within " + timeout + " s");
      const double allowed = std::stod(timeout) + kTimeOverSeconds;
      Ran ran = cupel({"check", "--json", "--timeout", timeout, file});
      // A machine under load may stop any program for a while: once is no proof.
      if (ran.seconds > allowed) ran = cupel({"check", "--json", "--timeout", timeout, file});
      EXPECT_LE(ran.seconds, allowed);
      expect_unknown(ran, "time");
    }
  }
}

// Each way of asking gets the answer, and it says how far it came.
TEST_F(Limits, ReadingThatStoppedIsUnknownAndNoError) {
  const auto file = large("large.cupel");
  const auto text = cupel({"check", "--timeout", "0.001", file});
  EXPECT_EQ(text.code, 2);
  EXPECT_NE(text.out.find("not read to its end"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("reading stopped: time limit met"), std::string::npos) << text.out;

  const auto lines = cupel({"check", "-l", "si,causal", "--timeout", "0.001", file});
  EXPECT_EQ(lines.code, 2);
  EXPECT_EQ(lines.out.find(file + "\tsnapshot-isolation\tunknown\n" + file + "\tcausal\tunknown\n"),
            0u)
      << lines.out;

  const auto json = cupel({"check", "--json", "--timeout", "0.001", file});
  expect_unknown(json, "time");
  const auto answer = nlohmann::json::parse(json.out);
  EXPECT_EQ(answer["levels"].size(), cupel::levels::kLevelCount);
  EXPECT_TRUE(answer["transactions"].is_null());
}

// What is wrong with a file is reported as ever, limits or not.
TEST_F(Limits, BadInputStaysAnError) {
  EXPECT_EQ(
      cupel({"check", "--timeout", "60", "--memory-limit", "1G", (folder_ / "none.jsonl").string()})
          .code,
      3);
}

}  // namespace
