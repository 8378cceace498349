// Emission: one checked history, with what every --emit format needs to know of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/explain/why/counterexample.hpp"
#include "engine/explain/why/explain.hpp"
#include "report/render.hpp"
#include "report/wording.hpp"

namespace cupel::report {

struct Emission {
  const Checked& checked;
  std::string command;  // the command line that shows it again
  // Where a transaction's label stands in the file, from 1. Only labels that were found.
  std::map<std::uint32_t, std::uint64_t> lines = {};
};

// How many violations a format reports that has no reason to report fewer.
inline constexpr std::size_t kMostFindings = 1000;

// One violation, as every format reports it.
struct Finding {
  explain::Anomaly anomaly;  // of `history`
  const history::History& history;
  levels::Level level;
  const explain::Counterexample* small = nullptr;  // if it was made small; `history` is its own
  std::vector<levels::Level> levels = {};          // that it violates, of the weakest
};
// The violations (engine/analysis/violations.hpp), the smallest first. At most `most`. What is
// borrowed is of `checked`.
std::vector<Finding> findings_of(const Checked& checked, std::size_t most = kMostFindings);

// The sentence that says what went wrong: the explanation's first line.
std::string sentence_of(const explain::Anomaly& anomaly);
// "strongest satisfied: prefix; weakest violated: snapshot-isolation", or what of it there is.
std::string verdict_of(const Checked& checked);
// "PostgreSQL 15.3 at repeatable read", from the metadata; empty if it says nothing.
std::string recorded_from(const history::History& history);
// The labels of the transactions of the findings, to be looked up in the file.
std::vector<std::uint32_t> labels_of(const Checked& checked);

}  // namespace cupel::report
