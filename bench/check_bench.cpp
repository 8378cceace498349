// check_bench: times reading and checking of whole histories, a process's view.
//
//   check_bench [--runs N] [--shared DIR]
//
// Each case is a history, a level and the verdict it must have; a wrong verdict
// ends the run, because a fast wrong answer is useless. Without --shared
// it runs the small histories of tests/golden once (`make test`
// does, so that it cannot rot). Prints a Markdown table: medians of N runs.
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/budget.hpp"
#include "data/formats/formats.hpp"
#include "engine/check/check.hpp"
#include "source_dir.hpp"

namespace {

using namespace cupel;
using Clock = std::chrono::steady_clock;

struct BenchCase {
  std::string name;
  std::string path;
  levels::Level level;
  check::Verdict expected;
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// False if the history cannot be read or the verdict is not the expected one.
bool run(const BenchCase& c, int runs) {
  std::vector<double> read_seconds, check_seconds;
  std::string decided_by;
  std::size_t txns = 0, ops = 0;
  for (int i = 0; i < runs; ++i) {
    auto begin = Clock::now();
    const auto history = formats::read(c.path);
    read_seconds.push_back(seconds_since(begin));
    if (!history) {
      fmt::print(stderr, "{}\n", history.error().to_string());
      return false;
    }
    check::Options options;
    options.asked = {c.level};
    begin = Clock::now();
    const auto result = check::check(*history, options);
    check_seconds.push_back(seconds_since(begin));
    const auto& answer = result.levels.front();
    if (answer.verdict != c.expected) {
      fmt::print(stderr, "{} at {}: {}, expected {}\n", c.name, levels::name(c.level),
                 check::to_string(answer.verdict), check::to_string(c.expected));
      return false;
    }
    decided_by = answer.decided_by;
    txns = history->txn_count();
    ops = history->op_count();
  }
  fmt::print("| {} | {} | {} | {} | {} | {} | {:.3f} | {:.3f} | {:.0f} |\n", c.name, txns, ops,
             levels::short_name(c.level), check::to_string(c.expected), decided_by,
             median(read_seconds), median(check_seconds),
             static_cast<double>(base::resident_bytes()) / 1e6);
  std::fflush(stdout);
  return true;
}

std::vector<BenchCase> golden_cases() {
  std::vector<BenchCase> cases;
  const std::filesystem::path golden = CUPEL_SOURCE_DIR "/tests/golden";
  for (const auto level : levels::all_levels()) {
    for (const auto verdict : {check::Verdict::kSatisfied, check::Verdict::kViolated}) {
      const auto folder = golden / levels::name(level) / check::to_string(verdict);
      if (!std::filesystem::is_directory(folder)) continue;
      std::vector<std::filesystem::path> files;
      for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".zst") files.push_back(entry.path());
      }
      std::sort(files.begin(), files.end());
      for (const auto& file : files) cases.push_back({file.filename(), file, level, verdict});
    }
  }
  return cases;
}

// The 10,000-transaction histories of ../shared and their verdicts (expected.tsv
// and, for VeriStrong's, what every level's witness replay confirmed).
std::vector<BenchCase> shared_cases(const std::string& shared) {
  using levels::Level;
  const auto yes = check::Verdict::kSatisfied, no = check::Verdict::kViolated;
  struct Row {
    const char* path;
    check::Verdict snapshot, serializable;
  };
  const Row rows[] = {
      {"polysi/general/25_400_8_10000_0.3_uniform", yes, yes},
      {"polysi/general/25_400_8_10000_0.5_uniform", yes, yes},
      {"polysi/general/25_400_8_10000_0.95_uniform", yes, yes},
      {"polysi/tpcc-10000", yes, yes},
      {"polysi/rubis-10000", yes, yes},
      {"polysi/twitter-10000", yes, yes},
      {"veristrong/RH-10k", yes, yes},
      {"veristrong/BL-10k", yes, yes},
      {"veristrong/WH-10k", yes, yes},
      {"veristrong/HD-10k", yes, yes},
      {"veristrong/fig12/50_200_20_50000_0.3_r_0.5_0.5_1000/hist-00000", yes, no},
      {"veristrong/fig12/50_200_20_50000_0.95_r_0.5_0.5_1000/hist-00000", yes, yes},
  };
  std::vector<BenchCase> cases;
  for (const Row& row : rows) {
    const std::string path = shared + "/histories/" + row.path;
    cases.push_back({row.path, path, Level::kStrongSessionSnapshotIsolation, row.snapshot});
    cases.push_back({row.path, path, Level::kStrongSessionSerializable, row.serializable});
  }
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  int runs = 1;
  std::string shared;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc) {
      runs = std::max(1, std::atoi(argv[++i]));
    } else if (std::strcmp(argv[i], "--shared") == 0 && i + 1 < argc) {
      shared = argv[++i];
    } else {
      fmt::print(stderr, "usage: check_bench [--runs N] [--shared DIR]\n");
      return 3;
    }
  }
  utsname machine{};
  uname(&machine);
  fmt::print(
      "{} {}, {} hardware threads, g++ {}, medians of {}; read and check in seconds, resident in "
      "MB\n\n",
      machine.sysname, machine.machine, std::thread::hardware_concurrency(), __VERSION__, runs);
  fmt::print(
      "| history | transactions | operations | level | verdict | decided by | read | check | "
      "resident |\n");
  fmt::print("|---|---:|---:|---|---|---|---:|---:|---:|\n");
  for (const auto& c : shared.empty() ? golden_cases() : shared_cases(shared)) {
    if (!run(c, runs)) return 1;
  }
  return 0;
}
