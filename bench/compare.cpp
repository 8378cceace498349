// compare: two builds of cupel on the same cases, run in turn.
//
//   compare OLD NEW [--size small] [--only REGEX] [--runs 9]
//
// OLD and NEW are programs. Each pair of runs stands close in time and every other pair
// is turned round, so that a machine that slows down or warms up slows both. The ratio of
// a case is the median of its pairs' ratios, new to old, of the CPU time (or the wall
// time); its interval is made of two of the pairs' ratios, sorted, so far inside as keeps
// the chance that it holds the true median at nine tenths (no more than five pairs: of
// the smallest and the largest). A Markdown table, and the geometric mean at the end.
// Exit code: 0, 1 an answer was wrong or differs, 3 bad usage.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <regex>

#include "bench/cases.hpp"
#include "bench/check_run.hpp"

namespace {

using namespace cupel::bench;

struct Interval {
  double low, high, coverage;
};

// Of n sorted values the k-th from either end: the chance that the median of what they
// are drawn from lies outside is the chance of fewer than k heads, or tails, in n throws.
Interval around_median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = values.size();
  double below = 0, chance = std::pow(0.5, static_cast<double>(n));
  Interval found{values.front(), values.back(), 1 - 2 * chance};
  for (std::size_t k = 0; 2 * (k + 1) < n; ++k) {
    below += chance;
    if (1 - 2 * below < 0.9) break;
    found = {values[k], values[n - 1 - k], 1 - 2 * below};
    chance = chance * static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return found;
}

int main_of(const std::string& old_program, const std::string& new_program, Size size,
            const std::string& output, const std::string& only, int pairs, double least, bool wall,
            CheckRunOptions options) {
  const std::regex wanted(only.empty() ? ".*" : only);
  double logarithms = 0;
  std::size_t compared = 0, skipped = 0;
  int exit_code = 0;
  fmt::print("| case | old | new | new/old | interval |\n|---|---:|---:|---:|---|\n");
  for (const Case& one : cases(size, std::filesystem::path(output) / "histories")) {
    if (!std::regex_search(one.name(), wanted)) continue;
    if (const auto made = make(one, new_program); !made.ok()) {
      fmt::print(stderr, "{}: {}\n", one.name(), made.error().to_string());
      exit_code = 1;
      continue;
    }
    const std::string expected = known_verdict(one);
    bool right = true;
    std::string found[2];
    const auto cost = [&](bool is_new) {
      options.cupel = is_new ? new_program : old_program;
      const auto one_run = run(one, options);
      if (!one_run.ok()) {
        fmt::print(stderr, "{}: {}\n", one.name(), one_run.error().to_string());
        right = false;
        return 0.0;
      }
      found[is_new ? 1 : 0] = one_run->verdict;
      if (one_run->verdict != expected) {
        fmt::print(stderr, "{}: {} from {}, expected {}\n", one.name(), one_run->verdict,
                   to_shell(command_of(one, options)), expected);
        right = false;
      }
      return wall ? one_run->cost.wall_seconds : one_run->cost.cpu_seconds();
    };
    // The first of each fills the page cache and is not counted.
    if (const double once = std::max(cost(false), cost(true)); right && once < least) {
      ++skipped;
      continue;
    }
    std::vector<double> olds, news, ratios;
    for (int i = 0; right && i < pairs; ++i) {
      double before = 0, after = 0;
      if (i % 2 == 0) {
        before = cost(false);
        after = cost(true);
      } else {
        after = cost(true);
        before = cost(false);
      }
      olds.push_back(before);
      news.push_back(after);
      ratios.push_back(after / std::max(before, 1e-6));
    }
    if (!right) {
      exit_code = 1;
      continue;
    }
    const double ratio = median(ratios);
    const Interval interval = around_median(ratios);
    logarithms += std::log(ratio);
    ++compared;
    fmt::print("| {} | {:.3f} | {:.3f} | {:.2f} | {:.2f} to {:.2f} ({:.0f} %) |\n", one.name(),
               median(olds), median(news), ratio, interval.low, interval.high,
               100 * interval.coverage);
    std::fflush(stdout);
  }
  if (compared == 0) {
    fmt::print(stderr,
               "compare: found no case to compare; {} took less than --least, see suite --list\n",
               skipped);
    return exit_code != 0 ? exit_code : 3;
  }
  fmt::print("\n{} cases, {} s, {} pairs each; geometric mean of new/old: {:.3f}{}\n", compared,
             wall ? "wall" : "CPU", pairs, std::exp(logarithms / static_cast<double>(compared)),
             skipped == 0 ? "" : fmt::format("; {} cases under {} s left out", skipped, least));
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  std::string old_program, new_program, size = "small", output = "build/bench", only;
  int pairs = 9;
  double least = 0.02;
  bool wall = false;
  CheckRunOptions options;
  CLI::App app("Compare two builds of cupel on the cases of the suite; they run in turn");
  app.add_option("OLD", old_program, "The old program")->required()->check(CLI::ExistingFile);
  app.add_option("NEW", new_program, "The new program")->required()->check(CLI::ExistingFile);
  app.add_option("--size", size, "The size of the suite: tiny, small or full")
      ->check(CLI::IsMember({"tiny", "small", "full"}))
      ->capture_default_str();
  app.add_option("--output", output, "The folder for generated histories")->capture_default_str();
  app.add_option("--only", only, "Only the cases whose names match this regular expression");
  app.add_option("--runs", pairs, "Pairs of runs of each case")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--least", least,
                 "Omit the cases that take fewer seconds than this with both programs")
      ->capture_default_str();
  app.add_flag("--wall", wall, "Compare wall time instead of CPU time");
  app.add_option("--timeout", options.timeout_seconds, "Time limit of each run in seconds")
      ->capture_default_str();
  app.add_option("--threads", options.threads, "Threads of each run. 0: as many as the machine has")
      ->capture_default_str();
  try {
    app.parse(argc, argv);
    return main_of(old_program, new_program, *parse_size(size), output, only, pairs, least, wall,
                   options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 3;
  } catch (const std::regex_error& error) {
    fmt::print(stderr, "compare: --only: {}\n", error.what());
    return 3;
  } catch (const std::exception& error) {
    fmt::print(stderr, "compare: {}\n", error.what());
    return 1;
  }
}
