// How much of what a weak level allows do random runs see, and how soon?
//
//   mock_coverage [--tiny] [PLANS [RUNS]]
//
// For each application of examples/mock_apps.hpp: draws plans of two or three clients with
// two to four operations each (of the stack, whose operations are several transactions, two
// clients with two or three with one), until PLANS (20) of them could be explored whole, and prints
//
//   states   the distinct states that the clients can observe, averaged over the plans: all
//            there are, and how many of them a number of random runs have seen, with the
//            clients interleaved or one after another, at causal and serializable
//            (Biswas, thesis 2021, figure 4.10; interleaving stands for its random delays);
//   failing  of the plans that can break a promise at causal: the mean number of runs until
//            one does, random and exploring.
//
// A plan that exploring does not finish within its limits, at either level, is left out, and
// how many were is said. Every state that a random run sees must be one that exploring found, and
// nothing may break at serializable; else the exit code is 1. --tiny: for the tests.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mock_apps.hpp"

namespace {

using cupel::Level;

constexpr Level kLevels[] = {Level::kCausal, Level::kSerializable};
constexpr cupel::MockExploreLimits kLimits = {.runs = 10'000, .time_s = 60};
constexpr cupel::MockExploreLimits kStackLimits = {.runs = 50'000, .time_s = 90};
constexpr cupel::MockExploreLimits kTinyLimits = {.runs = 500, .time_s = 2};
constexpr std::uint64_t kDrawnAtMost = 20;  // plans, for one that is taken

bool any(const std::vector<bool>& broken) {
  return std::find(broken.begin(), broken.end(), true) != broken.end();
}

struct Sampled {
  std::vector<double> seen;  // states, by the checkpoint
  double until_failure = 0;  // 0: none failed
};

// False, and said, where a run saw what exploring did not.
bool sample(const apps::Application& application, const apps::Plan& plan, Level level,
            bool interleaved, const std::vector<int>& checkpoints,
            const cupel::MockExplored& explored, Sampled& sampled) {
  std::string error;
  std::set<std::string> states;
  int run = 0;
  for (const int checkpoint : checkpoints) {
    for (; run < checkpoint; ++run) {
      auto store =
          cupel::MockStore::open({.level = level, .seed = static_cast<std::uint64_t>(run)}, error);
      const auto outcome = application.run(*store, plan, interleaved);
      if (!explored.states.contains(outcome.seen)) {
        fmt::print("{}: a random run at {} saw what exploring did not:\n{}", application.name,
                   cupel::name(level), outcome.seen);
        return false;
      }
      states.insert(outcome.seen);
      if (sampled.until_failure == 0 && any(outcome.broken)) sampled.until_failure = run + 1;
    }
    sampled.seen.push_back(static_cast<double>(states.size()));
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int plans = 20, most_runs = 1000;
  bool tiny = false, plans_given = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--tiny") == 0) {
      tiny = true;
    } else if (const int number = std::atoi(argv[i]); number > 0) {
      (plans_given ? most_runs : plans) = number;
      plans_given = true;
    } else {
      std::fprintf(stderr, "found `%s`, expected --tiny or a number above 0\n", argv[i]);
      return 3;
    }
  }
  if (tiny) plans = 1, most_runs = 10;
  std::vector<int> checkpoints;
  for (int at = 10; at < most_runs; at *= 10) {
    checkpoints.push_back(at);
    if (3 * at < most_runs) checkpoints.push_back(3 * at);
  }
  checkpoints.push_back(most_runs);
  bool good = true;
  fmt::print("{} plans an application, seeds from 1; states seen after so many random runs\n\n",
             plans);
  fmt::print("{:<14} {:<13} {:<12} {:>8}", "application", "level", "clients", "all");
  for (const int at : checkpoints) fmt::print(" {:>8}", at);
  fmt::print("\n");
  std::string failing;
  for (const auto& application : apps::applications()) {
    int taken = 0, left_out = 0, can_fail = 0, found = 0;
    double random_runs = 0, exploring_runs = 0, histories = 0, failures = 0;
    double all[2] = {0, 0};
    // By level, then by clients.
    std::vector<double> seen[2][2];
    for (auto& by_level : seen) {
      for (auto& by_clients : by_level) by_clients.assign(checkpoints.size(), 0);
    }
    const auto last = static_cast<std::uint64_t>(plans) * (tiny ? 2 : kDrawnAtMost);
    for (std::uint64_t seed = 1; taken < plans && seed <= last && good; ++seed) {
      const bool stack = application.name == std::string_view("stack");
      const int clients = tiny ? 2 : 2 + static_cast<int>(seed % 2);
      const int operations = tiny ? 2 : stack ? 4 - clients : 2 + static_cast<int>(seed / 2 % 3);
      const auto plan = application.draw(seed, clients, operations);
      std::vector<cupel::MockExplored> explored;
      std::uint64_t first = 0;
      for (const Level level : kLevels) {
        std::string error;
        auto result = cupel::explore(
            {.level = level},
            [&](cupel::MockStore& store) {
              const auto outcome = application.run(store, plan, true);
              return cupel::MockOutcome{outcome.seen, !any(outcome.broken)};
            },
            tiny    ? kTinyLimits
            : stack ? kStackLimits
                    : kLimits,
            error);
        if (!result || !result->incomplete.empty()) break;
        if (level == Level::kCausal && result->first_failure) first = result->first_failure->run;
        if (level == Level::kSerializable && result->failures > 0) {
          fmt::print("{}: a promise is broken at serializable\n", application.name);
          good = false;
        }
        explored.push_back(std::move(*result));
      }
      if (explored.size() < std::size(kLevels)) {
        ++left_out;
        continue;
      }
      ++taken;
      for (std::size_t l = 0; l < std::size(kLevels); ++l) {
        all[l] += static_cast<double>(explored[l].states.size());
        for (const bool interleaved : {false, true}) {
          Sampled sampled;
          good = good && sample(application, plan, kLevels[l], interleaved, checkpoints,
                                explored[l], sampled);
          for (std::size_t i = 0; i < sampled.seen.size(); ++i)
            seen[l][interleaved][i] += sampled.seen[i];
          if (l != 0 || !interleaved || first == 0) continue;
          ++can_fail;
          histories += static_cast<double>(explored[l].histories);
          failures += static_cast<double>(explored[l].failures);
          exploring_runs += static_cast<double>(first);
          found += sampled.until_failure > 0;
          random_runs += sampled.until_failure;
        }
      }
    }
    for (std::size_t l = 0; l < std::size(kLevels); ++l) {
      for (const bool interleaved : {true, false}) {
        fmt::print("{:<14} {:<13} {:<12} {:>8.1f}", application.name, cupel::name(kLevels[l]),
                   interleaved ? "interleaved" : "in turn", all[l] / std::max(taken, 1));
        for (const double states : seen[l][interleaved])
          fmt::print(" {:>8.1f}", states / std::max(taken, 1));
        fmt::print("\n");
      }
    }
    std::fflush(stdout);
    failing += fmt::format("{:<14} {:>6} {:>9} {:>9} {:>10.1f} {:>9.1f}", application.name, taken,
                           left_out, can_fail, can_fail ? histories / can_fail : 0,
                           can_fail ? failures / can_fail : 0);
    failing += fmt::format(" {:>14} {:>12}\n",
                           found ? fmt::format("{:.1f} ({})", random_runs / found, found) : "-",
                           can_fail ? fmt::format("{:.1f}", exploring_runs / can_fail) : "-");
  }
  fmt::print(
      "\nAt causal, of the plans that can break a promise: runs until one does, random "
      "(in brackets, of how many plans within {} runs) and exploring\n\n",
      most_runs);
  fmt::print("{:<14} {:>6} {:>9} {:>9} {:>10} {:>9} {:>14} {:>12}\n{}", "application", "plans",
             "left out", "can fail", "histories", "failing", "random", "exploring", failing);
  return good ? 0 : 1;
}
