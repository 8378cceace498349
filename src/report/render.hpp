// render: the answer to a check, as lines for scripts, text for people and JSON.
//
// All three are functions of the answer alone: same answer, same bytes (seconds
// aside).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/stopwatch.hpp"
#include "check/check.hpp"
#include "explain/counts/whole_history.hpp"
#include "explain/power/test_power.hpp"
#include "explain/why/counterexample.hpp"
#include "history/history.hpp"

namespace cupel::report {

// A history and what was found. Borrowed: it must outlive the call only.
struct Checked {
  const std::string& file;  // as the user named it
  const history::History& history;
  const check::CheckResult& result;
  bool whole = true;  // false: the history was not read to its end, and nothing is said of it
  // Violations made small (shrink::counterexamples). A violation that has one is explained by
  // it, the others in the terms of the whole history.
  std::span<const explain::Counterexample> counterexamples = {};
  const power::TestPower* worth = nullptr;  // what a satisfied test was worth, if it was measured
  const counts::WholeHistory* survey = nullptr;    // if there is one: how often, and further causes
  const explain::FieldsByLabel* fields = nullptr;  // more about the transactions, to be told
  const std::vector<base::Stopwatch::Stage>* stages = nullptr;  // where the time went, if known
};

struct TextStyle {
  bool colour = false;  // verdicts in colour
};

// "FILE<TAB>LEVEL<TAB>satisfied|violated|unknown", one line a level; none for
// refused levels.
std::string lines(const Checked& checked);

// The ladder. First line: the strongest satisfied and the weakest violated
// levels. Then what was checked, one line a level, and the explanation.
std::string ladder(const Checked& checked, const TextStyle& style = {});

// Why the weakest violated levels are violated, and which limit left others
// unknown. An anomaly that violates several of them is told at the first, and
// referred to at the others. Every line starts with two blanks; empty if there is nothing to say.
std::string explanation(const Checked& checked);

// The counterexample that explains the `number`th anomaly, of those that explain()
// finds in the violation of `result`; nullptr if there is none.
const explain::Counterexample* counterexample_of(const Checked& checked,
                                                 const check::LevelResult& result,
                                                 const std::vector<explain::Anomaly>& anomalies,
                                                 std::size_t number);

// "Test power": what met, what was read, which anomalies could have shown.
// Every line starts with two blanks; empty if it was not measured.
std::string worth_text(const Checked& checked);

// The violation of a violated level as it is told: of internal anomalies one for each
// cause that the survey names, in the order of the reads; and how often each anomaly of it
// shows (empty if no survey says so).
struct ByCause {
  levels::Violation violation;
  std::vector<std::uint64_t> occurrences;
};
ByCause by_cause(const Checked& checked, const check::LevelResult& result);

// How often each anomaly occurs in the whole history: "lost-update 198 (keys 0, 7 and
// 3 more), fractured-read ≥ 12 (key 5)", in lines of at most about 100 columns that
// start with two blanks. Empty without a survey.
std::string counts(const Checked& checked);

// "serializable needs times" in a line that says serializable already: "needs times".
std::string without_own_name(levels::Level level, const std::string& detail);

// One object on one line, newline included: docs/commands.md names its fields.
std::string json(const Checked& checked);

}  // namespace cupel::report
