// The words of `cupel mock test`: what it prints about the runs, and its exit code.
#pragma once

#include <string>

#include "apps/mock/mock_options.hpp"
#include "apps/options.hpp"
#include "mock/mocktest/exploration.hpp"
#include "mock/mocktest/iterations.hpp"
#include "mock/mocktest/test.hpp"

namespace cupel::apps {

inline constexpr double kDefaultSettleMs = 5;  // MockTestArguments::settle

// The options of the command line. `given` has those that repeat a run, but for the seed.
struct MockTestArguments : StoreArguments {
  mocktest::Test test;  // without the store, which is StoreArguments::store
  mocktest::IterationOptions iterations;
  mocktest::ExplorationOptions exploration;
  bool explore = false, settle_given = false;
  std::string on;  // Test::database, without its password
  std::string states = "reads", settle = "5ms", time_limit = "60s", history, live;
  bool hides_password = false;  // the URL of --on has one
  LimitArguments limits;

  [[nodiscard]] bool explore_or_on() const { return explore || exploration.choices || !on.empty(); }
};

// Each prints the result and returns the exit code. `stopped`: by Ctrl-C.
int report_iterations(const MockTestArguments& arguments, const mocktest::IterationResult& result,
                      bool stopped);
int report_exploration(const MockTestArguments& arguments,
                       const mocktest::ExplorationResult& result, bool stopped);
// Of the one run with --choices.
int report_chosen_run(const MockTestArguments& arguments,
                      const mocktest::ExplorationResult& result);
// Standard error: the exploration starts again.
void report_settle_raised(double before_ms, double now_ms);

}  // namespace cupel::apps
