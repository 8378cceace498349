// analyze: everything that is found out about one history, in one call.
//
//   check → shrink → count anomalies and look for further causes → explain → measure test power
//
// The tool (`check`, `run`, `campaign`, `mock test`) and the public API all call it, so they say
// the same about a history. Each step may be left out; each asks the same budget. The result
// holds facts; report/ renders them, and explanations.hpp says which anomalies explain a level.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "base/result.hpp"
#include "base/stopwatch.hpp"
#include "data/formats/formats.hpp"
#include "data/history/history.hpp"
#include "engine/analysis/evidence.hpp"
#include "engine/analysis/final_reads.hpp"
#include "engine/analysis/source.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/counts/whole_history.hpp"
#include "engine/explain/power/test_power.hpp"
#include "engine/explain/why/counterexample.hpp"
#include "engine/explain/why/explain.hpp"

namespace cupel::history {
struct ObjectHistory;
}

namespace cupel::analysis {

enum class TestPower : std::uint8_t {
  kNever,
  kIfPassed,  // every level was asked for, and none is violated that the database promises
  kAlways,
};

using FieldsOfLabels = std::function<base::Result<explain::FieldsByLabel>(
    const std::set<std::uint32_t>& labels, base::Budget& budget)>;

struct Options {
  // Levels, clock drift and evidence; time, memory and threads.
  check::Options check = {};

  // How long violations may be made smaller before they are explained. None: as long as the
  // check took, at least 1 s and at most 5 s. 0: not at all.
  std::optional<double> shrink_seconds = {};
  // Where a level is violated: count each anomaly in the whole history, and look for further
  // causes.
  bool whole_history = true;
  TestPower test_power = TestPower::kIfPassed;

  // Where a level is violated: more about the transactions with these labels, from the source of
  // the history. None: nothing more is known.
  FieldsOfLabels fields = {};
};

// Of a history that did not fit into memory and was decided in windows
// (engine/online/file_check.hpp). The history that is analyzed is then the part that was held when
// a level turned out to be violated; these are the numbers of the whole.
struct Windows {
  std::string format;
  std::uint64_t transactions = 0, committed = 0, sessions = 0, operations = 0, keys = 0;
  std::size_t most_held = 0;                                      // transactions
  std::vector<std::pair<levels::Level, std::string>> promises{};  // what windows say of a level
  // The level of the violation that is explained, and after how many transactions it was found.
  std::optional<std::pair<levels::Level, std::uint64_t>> violated{};
};

struct Analysis {
  check::CheckResult check = {};
  base::Limit limit = base::Limit::kNone;  // that was met while it was read or decided
  std::optional<Windows> windows = {};
  bool whole = true;  // false: the history was not read to its end, and nothing is said of it
  // Violations made small (shrink::counterexamples). A violation that has one is explained by
  // it, the others in the terms of the whole history.
  std::vector<explain::Counterexample> counterexamples = {};
  std::optional<counts::WholeHistory> whole_history =
      {};                                           // how often each anomaly occurs; further causes
  explain::FieldsByLabel fields = {};               // more about the transactions of explanations
  std::optional<base::Error> fields_error = {};     // why there are none
  std::optional<power::TestPower> test_power = {};  // what the test could have shown
  std::optional<FinalReads> final_reads = {};       // what they lost; none: the history has none
  // How much the history could have shown. None: something is violated, or nothing is satisfied.
  std::optional<Evidence> evidence = {};
  std::vector<base::Stopwatch::Stage> stages = {};  // where the time went; empty: not known
};

// Deterministic but for limits of time. The budget is of options.check.
Analysis analyze(const history::History& history, const Options& options);
// Within a budget that began earlier, with the reading of the history. The limits of
// options.check are those of the budget.
Analysis analyze(const history::History& history, const Options& options, base::Budget& budget);

// The answer to a history that was not read to its end because a limit was met. `detail`: which.
Analysis unread(const Options& options, const std::string& detail);

// A history from a file, and what was found.
struct AnalyzedFile {
  history::History history;  // empty if a limit ended its reading, or if it was not held
  Analysis analysis;
  // With FileOptions::going_on: compare-and-sets were left open, so it is not the file's history.
  bool left_open = false;
  std::optional<std::uint64_t> first_bytes = {};  // that were read; none: all
  // With FileOptions::objects: what the file is about, if not about transactions. Then nothing is
  // analyzed.
  std::shared_ptr<history::ObjectHistory> objects = {};
};

struct FileOptions {
  std::optional<formats::Format> format = {};  // none: detected
  // Only verdicts are needed. A long history of single operations is then decided while it is
  // read, and not held, if only linearizability is asked for.
  bool verdicts_only = false;
  formats::InitialValues initial = {};  // beside what the file says
  // Reads of the history whose answers count as unknown. None: of no read.
  std::function<std::vector<history::OpId>(const history::History&)> masked = {};
  // The file still grows: what its unfinished transactions did is open (data/history/going_on.hpp).
  bool going_on = false;
  std::optional<std::uint64_t> first_bytes = {};  // as formats::ReadOptions
  formats::Interpretation as = {};                // of op maps
  bool objects = false;                           // a file about sets and the like is no error
};

// Reads a history and analyzes it. Its time counts from the beginning of the reading. Errors:
// those of formats::read; a limit that is met while reading is none.
base::Result<AnalyzedFile> analyze_file(const std::string& path, const FileOptions& file,
                                        const Options& options);

// `Options::fields` for a history that was read from this file. An error if the file has changed
// since: its fields are of another history. `history` is borrowed.
FieldsOfLabels fields_of_file(Source source, const history::History& history);

}  // namespace cupel::analysis
