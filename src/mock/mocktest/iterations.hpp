// Iterations: the command against stores with one seed after another, until it fails.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/result.hpp"
#include "mock/mocktest/test.hpp"

namespace cupel::mocktest {

struct IterationOptions {
  std::uint64_t count = 100;
  unsigned jobs = 1;  // runs at the same time
};

struct IterationResult {
  std::uint64_t finished = 0;
  bool reached_store = false;            // in any iteration
  std::optional<FailedRun> failed = {};  // the first, by seed
};

// Iteration number i runs with the seed of the test plus i. The result does not depend on the
// number of jobs, unless `stopped` becomes true. Errors: those of run_command().
base::Result<IterationResult> run_iterations(const Test& test, const IterationOptions& options,
                                             const std::atomic<bool>& stopped);

}  // namespace cupel::mocktest
