// RunReport: what `cupel run` says of a run and its check, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "report/render.hpp"
#include "run/run_and_check.hpp"

namespace cupel::run {

// The answer as the reports have it. Borrowed.
report::Checked answer_of(const CheckedRun& checked);

// The database, what its clients did and how fast, the verdict and its reasons, and the files.
// `page`: that of --report; empty: none. Of a run that passed at most 15 lines, unless
// `style.verbose`.
std::string run_text(const CheckedRun& checked, std::uint64_t seed, const report::TextStyle& style,
                     const std::string& page = {});
// One object on one line: that of `cupel check --json`, and "run".
std::string run_json(const CheckedRun& checked, std::uint64_t seed);

}  // namespace cupel::run
