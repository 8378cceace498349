// Durations as people write them, on a command line or in a file.
#pragma once

#include <string>

#include "base/result.hpp"

namespace cupel::base {

// "90", "90s", "1.5m", "2h", "250ms", "500us", "10ns". A bare number counts in
// `bare_unit_seconds`. In seconds; negative durations are refused.
Result<double> parse_duration(const std::string& text, double bare_unit_seconds);

}  // namespace cupel::base
