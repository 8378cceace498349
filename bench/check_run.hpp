// CheckRun: one `cupel check --json` of a case, its answer and its costs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/cases.hpp"
#include "bench/measure.hpp"

namespace cupel::bench {

struct StageCost {
  double seconds = 0, cpu_seconds = 0;
};

struct CheckRun {
  Measured cost;
  std::string verdict, decided_by, detail;
  std::uint64_t transactions = 0, operations = 0, sessions = 0, keys = 0;
  std::vector<std::pair<std::string, StageCost>> stages;  // in the program's order
};

struct CheckRunOptions {
  std::string cupel;
  double timeout_seconds = 120;
  unsigned threads = 0;                // 0: as many as the machine has
  std::vector<std::string> more = {};  // arguments for check
};

// The counts of a violation's whole history and the search for further causes have a
// time limit of their own, so they are left out (--no-history-analysis).
std::vector<std::string> command_of(const Case& one, const CheckRunOptions& options);

// Errors: the program cannot be started, crashes, cannot read the history, or prints
// what is no answer. A wrong verdict is none: that is for the caller to see.
base::Result<CheckRun> run(const Case& one, const CheckRunOptions& options);

}  // namespace cupel::bench
