// Warnings beside a verdict of satisfied that rests on little evidence (analysis/evidence.hpp).
#pragma once

#include <string>
#include <vector>

#include "report/render.hpp"

namespace cupel::report {

// A sentence each; empty if something is violated, or if nothing is satisfied.
std::vector<std::string> evidence_warnings(const Checked& checked);
// "  warning: …", a line each.
std::string evidence_text(const Checked& checked);

}  // namespace cupel::report
