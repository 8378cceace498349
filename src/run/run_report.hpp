// RunReport: what `cupel run` says of a run and its check, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "run/run_and_check.hpp"

namespace cupel::run {

// The database, what its clients did and how fast, and the history's file.
std::string run_text(const CheckedRun& checked, std::uint64_t seed);
// A line for each level that was asked for.
std::string verdict_text(const CheckedRun& checked);
// One object on one line: that of `cupel check --json`, and "run".
std::string run_json(const CheckedRun& checked, std::uint64_t seed);

}  // namespace cupel::run
