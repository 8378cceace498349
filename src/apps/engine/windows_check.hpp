// windows check: `cupel check` of a history that does not fit into memory.
//
// A history that fits is decided as a whole, always. If the memory limit was met on that way, or
// the file says by itself that it would be, the levels that are open are decided in the windows of
// `cupel watch` (engine/online/file_check.hpp): first the strongest, since its answer often settles
// the others, and a violated level ends at its first violation.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "apps/many_histories.hpp"
#include "engine/analysis/analyze.hpp"

namespace cupel::apps {

// What is known without reading: nothing, or that the history cannot fit into the memory limit.
// Then it stands for the answer of the way that is not worth going.
std::optional<Found> surely_too_large(const std::string& file, const analysis::FileOptions& reading,
                                      const analysis::Options& options);

// `found`, or if the memory limit left levels open there, with these decided in windows. Says on
// standard error that it does so.
struct InWindows {
  std::chrono::steady_clock::time_point began;  // the reading of the history, for the time limit
  std::string certificate;  // of the strongest level that is satisfied; empty: none
};
Found with_windows(const std::string& file, const analysis::FileOptions& reading,
                   const analysis::Options& options, const InWindows& how, Found found);

}  // namespace cupel::apps
