// render: the answer to a check, as lines for scripts, text for people and JSON.
//
// All three are functions of the answer alone: same answer, same bytes (seconds
// aside).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "data/history/history.hpp"
#include "engine/analysis/analyze.hpp"
#include "engine/levels/level.hpp"

namespace cupel::report {

// A history and what was found. Borrowed: it must outlive the call only.
struct Checked {
  const std::string& file;  // as the user named it
  const history::History& history;
  const analysis::Analysis& analysis;
  // The levels that decide whether a run passed; empty: see promise.hpp.
  std::span<const levels::Level> decisive = {};
};

struct TextStyle {
  bool colour = false;       // verdicts in colour
  bool verbose = false;      // a line a level with how it was decided; all of the test power
  bool interleaving = true;  // of each violation that is explained in full
  bool test_power = false;   // all of it
};

// The verdict, followed by blanks up to this width.
std::string painted(check::Verdict verdict, const TextStyle& style, std::size_t width = 0);

// "FILE<TAB>LEVEL<TAB>satisfied|violated|unknown", one line a level; none for
// refused levels.
std::string lines(const Checked& checked);

// The ladder. First line: whether there is little evidence, the strongest satisfied and the weakest
// violated levels. Then the warnings, what was checked, levels_text() and findings_text().
std::string ladder(const Checked& checked, const TextStyle& style = {});
// The part of its first line that names levels.
std::string strongest_and_weakest(const Checked& checked);
// The levels by verdict, or a line for each level. Every line starts with two blanks.
std::string levels_text(const Checked& checked, const TextStyle& style);
// The explanation, with the counts, the final reads and the test power, each after an empty line.
std::string findings_text(const Checked& checked, const TextStyle& style);

// Why the weakest violated levels are violated (violations_text.hpp), and which limit left others
// unknown. Every line starts with two blanks; empty if there is nothing to say.
std::string explanation(const Checked& checked, const TextStyle& style = {});

// "Test power": what overlapped in time, what was read, which anomalies the test could show.
// Every line starts with two blanks; empty if it was not measured.
std::string test_power_text(const Checked& checked);
// How many anomalies the test could show, on one line; empty if it was not measured.
std::string test_power_line(const Checked& checked);

// How often each anomaly occurs in the whole history: "lost-update 198 (keys 0, 7 and
// 3 more), fractured-read ≥ 12 (key 5)", in lines of at most about 100 columns that
// start with two blanks. Empty if they were not counted. `listed`: anomalies that stand in the
// same text, by name; a count that is only a lower bound (≥) is at least that many.
using NamedCounts = std::map<std::string, std::uint64_t>;
std::string counts(const Checked& checked, const NamedCounts& listed = {});

// Of a history that was decided in windows: how large it is, what was held, and what windows
// promise of the levels. Every line starts with two blanks; empty if it was decided as a whole.
std::string windows_text(const Checked& checked);

// "serializable needs times" in a line that says serializable already: "needs times".
std::string without_own_name(levels::Level level, const std::string& detail);

// From the history's fact "ignored": "2 op maps with f=nap, 1 with f=add".
std::string ignored_text(const std::string& fact);

// One object on one line, newline included: docs/reference/commands.md names its fields.
std::string json(const Checked& checked);

}  // namespace cupel::report
