// What the final reads of a run found, in words and as JSON; see analysis/final_reads.hpp.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/render.hpp"

namespace cupel::report {

// "Final reads: …", then what is lost and where nodes differ, at most a few keys of each. Every
// line starts with two blanks; empty if the history has no final reads.
std::string final_reads_text(const Checked& checked);

// "acknowledged writes are lost", "the nodes differ at the end", both, or nothing.
std::string final_reads_verdict(const Checked& checked);

// {"nodes": […], "keys": N, "lost_writes": […], "divergent_replicas": […]}: docs/commands.md.
nlohmann::ordered_json final_reads_object(const Checked& checked);

}  // namespace cupel::report
