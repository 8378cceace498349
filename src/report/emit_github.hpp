// GitHub: the summary of a step in Markdown, and annotations (workflow commands).
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "report/emit.hpp"

namespace cupel::report {

// A heading with the verdict, the ladder as a table, and each counterexample in a part
// that folds.
std::string emit_github(const Emission& emission);
std::string emit_github(const std::string& file, const base::Error& error);

// "::error file=…,line=…,title=…::…", a line each, of every counterexample or anomaly (at
// most ten, as GitHub shows no more); a warning where a level is unknown.
std::string github_annotations(const Emission& emission);
std::string github_annotation(const std::string& file, const base::Error& error);

}  // namespace cupel::report
