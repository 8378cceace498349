// Explanations: the anomalies by which a violated level is explained.
//
// A violation that was made small is explained by its counterexample, another one in the terms of
// the whole history. Of many internal anomalies of one cause only one is shown, if the causes are
// known. All that is borrowed is of the history and of the analysis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "engine/analysis/analyze.hpp"

namespace cupel::analysis {

struct Explanation {
  const history::History* history;  // whose transactions the anomaly names
  explain::Anomaly anomaly;
  const explain::Counterexample* small = nullptr;  // if it was made small; `history` is its own
  std::uint64_t occurrences = 0;                   // of the same cause; 0: not counted
};

struct LevelExplanations {
  std::vector<Explanation> shown;
  std::size_t total = 0;                          // at least as many as the violation has
  std::map<std::string, std::uint64_t> left_out;  // anomalies beyond the limit, by name
};

// Why the level is violated. `result` is of analysis.check and has a violation. At most `most` are
// shown.
LevelExplanations explanations_of(const history::History& history, const Analysis& analysis,
                                  const check::LevelResult& result,
                                  std::size_t most = std::numeric_limits<std::size_t>::max());

// Of a cause of analysis.whole_history.
std::vector<Explanation> explanations_of(const history::History& history, const Analysis& analysis,
                                         const counts::RootCause& cause);

// The violation of a violated level as it is explained: of internal anomalies one for each cause,
// in the order of the reads; and how often each anomaly of it shows (empty if not counted).
struct ByCause {
  levels::Violation violation;
  std::vector<std::uint64_t> occurrences;
};
ByCause by_cause(const Analysis& analysis, const check::LevelResult& result);

// The counterexample that explains the `number`th anomaly, of those that explain() finds in the
// violation of `result`; nullptr if there is none.
const explain::Counterexample* counterexample_of(const Analysis& analysis,
                                                 const check::LevelResult& result,
                                                 const std::vector<explain::Anomaly>& anomalies,
                                                 std::size_t number);
// The counterexample of a cause; nullptr if there is none.
const explain::Counterexample* counterexample_of(const Analysis& analysis,
                                                 const counts::RootCause& cause);

}  // namespace cupel::analysis
