// Warnings before a verdict: the final reads failed, or satisfied rests on little evidence
// (engine/analysis/evidence.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "report/render.hpp"

namespace cupel::report {

// Of a file that says that no client made an operation.
inline constexpr const char* kNothingWasTested =
    "no client made an operation, so the history satisfies every level. Nothing was tested";

// "only 3 of 80 transactions committed, so the history shows little".
std::string few_committed(std::uint64_t committed, std::uint64_t transactions);
// A sentence each; empty if something is violated, or if nothing is satisfied.
std::vector<std::string> evidence_warnings(const Checked& checked);
// Data that are gone and the failure of the final reads, if any, then those of evidence_warnings().
std::vector<std::string> warnings_of(const Checked& checked);
// "  warning: …", a line each.
std::string warnings_text(const Checked& checked);
// The same for output of several files: "  warning: FILE: …".
std::string warnings_text_by_file(const Checked& checked);
// The error of a history in which transactions were recorded and none committed, unless something
// is violated: a verdict would say nothing about the database.
std::optional<base::Error> nothing_committed(const Checked& checked);
// The same of a watch that ended.
base::Error nothing_committed(const std::string& file);

}  // namespace cupel::report
