// Plan files: faults as JSON, so that a run can be repeated. docs/reference/faults.md describes
// them.
//
//   [{"fault": "partition-halves", "links": [[0, 2], [2, 0], [1, 2], [2, 1]], "at": "3s", "for":
//   "5s"},
//    {"fault": "kill", "targets": [0], "when": "100 commits", "for": "5s"},
//    {"fault": "delay", "targets": "majority", "delay": "200ms", "at": "20s", "for": "5s"}]
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "run/faults/fault.hpp"

namespace cupel::faults {

// Errors: not JSON; a field or a value that is wrong, and which.
base::Result<std::vector<Fault>> parse_plan(std::string_view text);
// The same from a file; errors name it.
base::Result<std::vector<Fault>> read_plan(const std::string& path);

// What was done, as a plan that repeats it, one fault a line. Further fields say how it was:
// `what`, `began`, `ended`, `failed`.
std::string plan_text(std::span<const Done> done);

}  // namespace cupel::faults
