// The names that options take, and the one that may have been meant by another word.
#pragma once

#include <string>
#include <vector>

#include "base/spelling.hpp"

namespace cupel::apps {

using base::did_you_mean;
using base::nearest;
using base::one_of;
using base::suggestion;

// The names of all levels with their short names, of all formats, of all anomalies.
std::vector<std::string> level_names();
std::vector<std::string> format_names();
std::vector<std::string> anomaly_names();

}  // namespace cupel::apps
