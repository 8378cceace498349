// Measure: what one run of a program costs, as the kernel counts it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace cupel::bench {

struct Measured {
  int exit_code = 0;  // 128 + n: ended by signal n
  std::string output, errors;
  double wall_seconds = 0;  // from before it was started until it was waited for
  double user_seconds = 0, system_seconds = 0;
  // The largest resident size that the kernel saw. It never reads less than what this
  // program had resident itself when it started the other: keep this one small.
  std::uint64_t peak_bytes = 0;
  [[nodiscard]] double cpu_seconds() const { return user_seconds + system_seconds; }
};

// Runs it to its end. The program is looked up in PATH if it has no slash. Errors: it
// cannot be started.
base::Result<Measured> measure(const std::vector<std::string>& arguments);

double median(std::vector<double> values);

// A command line to paste into a shell.
std::string to_shell(const std::vector<std::string>& arguments);

}  // namespace cupel::bench
