// How many runs it takes on the mock store until an application breaks its promise.
//
//   mock_promises [LEVEL [ITERATIONS]]
//
// Runs each application of mock_apps.hpp ITERATIONS (10,000) times at LEVEL (causal), with
// three clients of three operations each, drawn by the number of the run, interleaved by
// it, and prints the mean number of runs until each promise is broken, beside that of
// Biswas, thesis 2021, table 4.1. Exit code: 0 none was broken, 1 one was, 3 bad arguments.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "mock_apps.hpp"

int main(int argc, char** argv) {
  const std::string level = argc > 1 ? argv[1] : "causal";
  const std::uint64_t iterations = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000;
  const auto parsed = cupel::parse_level(level);
  std::string error = "found `" + level + "`, expected the name of a level, as causal";
  const auto store = parsed ? cupel::MockStore::open({.level = *parsed}, error) : std::nullopt;
  if (!store || iterations == 0) {
    std::fprintf(stderr, "%s\n", store ? "ITERATIONS must be a number above 0" : error.c_str());
    return 3;
  }
  const double thesis[] = {3.7, 10.6, 57.5, 20.2, 6.3};
  std::size_t row = 0;
  bool any = false;
  std::printf("%-14s %-48s %8s %10s %8s %10s\n", "application", "promise", "broken", "runs until",
              "thesis", "seconds");
  for (const auto& application : apps::applications()) {
    std::vector<std::uint64_t> broken(application.promises.size(), 0);
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t seed = 1; seed <= iterations; ++seed) {
      auto fresh = cupel::MockStore::open({.level = *parsed, .seed = seed}, error);
      const auto outcome = application.run(*fresh, application.draw(seed, 3, 3), true);
      for (std::size_t i = 0; i < broken.size(); ++i) broken[i] += outcome.broken[i] ? 1 : 0;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    for (std::size_t i = 0; i < broken.size(); ++i, ++row) {
      any = any || broken[i] > 0;
      char until[32] = "-", seconds[32] = "-";
      if (broken[i] > 0) {
        const auto mean = static_cast<double>(iterations) / static_cast<double>(broken[i]);
        std::snprintf(until, sizeof until, "%.1f", mean);
        std::snprintf(seconds, sizeof seconds, "%.4f",
                      mean * took.count() / static_cast<double>(iterations));
      }
      std::printf("%-14s %-48s %8llu %10s %8.1f %10s\n", application.name, application.promises[i],
                  static_cast<unsigned long long>(broken[i]), until, thesis[row], seconds);
    }
  }
  return any ? 1 : 0;
}
