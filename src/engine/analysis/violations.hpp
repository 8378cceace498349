// Violations: which of what was found is reported, in which order, each once.
//
// The page and every --emit format read this one list: what the check came upon at the
// weakest violated levels, and the further causes. The same violation of two
// levels is reported once, also where only one of them was made small. Those of the weakest
// violated levels come before those that only stronger levels forbid; of these, those of the fewest
// transactions come first, and of equally many the most severe (weakest level, then severity.hpp).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/analysis/analyze.hpp"
#include "engine/explain/why/counterexample.hpp"
#include "engine/explain/why/explain.hpp"

namespace cupel::analysis {

// A violation as it is reported: by the whole history, or by a part of it made small.
struct ReportedViolation {
  const history::History* history;
  levels::Level level;
  const levels::Violation* violation;
  std::size_t internal;      // which of the violation's internal anomalies, if it has any
  explain::Anomaly anomaly;  // of `history`
  std::vector<history::TxnId> originals;           // of the anomaly, in the whole history
  const explain::Counterexample* small = nullptr;  // if it was made small; `history` is its own
  std::vector<levels::Level> levels = {};          // that it violates, of the weakest
  std::uint64_t occurrences = 1;                   // of the same cause
};

struct Violations {
  std::vector<ReportedViolation> shown;
  std::map<std::string, std::uint64_t> left_out;  // by name; those of the causes are among them
  std::deque<levels::Violation> by_cause;         // that `shown` points to
};

// Does it violate one of these levels, or a level that one of them implies?
bool is_of(const ReportedViolation& violation, std::span<const levels::Level> levels);

// At most `most`; the others are left out. Borrows from the history and the analysis. Each weakest
// violated level whose violation is known has one, made small or not. Explains at most `most`
// internal anomalies of a kind, however many there are. Those of the levels `decisive` come first.
Violations violations_of(const history::History& history, const Analysis& analysis,
                         std::size_t most, std::span<const levels::Level> decisive = {});

}  // namespace cupel::analysis
