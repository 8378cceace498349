// What a command printed: each run's output goes to a file of a temporary folder.
#pragma once

#include <string>

namespace cupel::mocktest {

std::string contents_of(const std::string& file);
// The last lines, indented; "…" stands for lines that are left out.
std::string last_lines_of(const std::string& file);

}  // namespace cupel::mocktest
