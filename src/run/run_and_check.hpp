// run_and_check: one workload on one database, recorded, read back and analyzed.
//
// open → prepare → run → end → read → check, each stage reported to a listener. What the
// clients saw goes to the history file as it happens; the check reads that file,
// so that anybody else can check the same.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "data/history/history.hpp"
#include "engine/analysis/analyze.hpp"
#include "engine/analysis/final_reads.hpp"
#include "engine/check/check.hpp"
#include "run/faults/schedule.hpp"
#include "run/live.hpp"
#include "run/run.hpp"

namespace cupel::run {

struct RunAndCheckOptions {
  // Whom and what.
  std::string url = {};  // a driver's, or a LabUrl; empty: a SQLite database in a temporary folder
  drivers::OpenOptions open = {};
  std::string workload = "general";      // a name, or the path of a plan (it ends in .json)
  workload::WorkloadOptions shape = {};  // its sessions and seed are taken from `run`
  RunOptions run = {};
  FaultOptions faults = {};
  faults::Options inject = {};  // of a LabUrl only; its seed is taken from `run`
  // Where it goes.
  std::string history;  // ends in .cupel: written as JSON lines, converted at the end
  // Not 0: `history` is a folder for a recording of several files of about so many bytes each
  // (record.hpp), which is not there, or is empty.
  std::uint64_t rotate_bytes = 0;
  bool overwrite = false;        // false: a history that is there already is an error
  bool keep = false;             // the tables stay
  bool live = false;             // checked while it goes on; ends at the first violation
  std::string certificate = {};  // with `live`: the evidence, by windows
  // The tables that several workers share, by the name that they have for them (is_table_name());
  // somebody else makes them, and drops them. Empty: the run has its own. What a worker recorded is
  // a part of a history, so it is not checked: data/merge/join.hpp.
  std::string tables = {};
  std::string recorded_by;  // "cupel 0.2.0"
  // What is asked of the history: of itself no more than the check. The levels of analysis.check
  // are reported first; every level is decided anyway. The limits count from the reading of what
  // was recorded on.
  analysis::Options analysis = {
      .shrink_seconds = 0, .whole_history = false, .test_power = analysis::TestPower::kNever};
  // Called once, when the load looks at `stop` no more: whether it was set until then. It may clear
  // it in the same step, so that `stop` is about what follows. Empty: `stop` is read.
  std::function<bool()> load_ended = {};
};

// kEnd: the load is over, and looks at `stop` no more; the history and the server are closed.
enum class Stage : std::uint8_t { kStart, kPrepare, kRun, kEnd, kRead, kCheck };

struct CheckedRun {
  drivers::Facts facts;
  std::string workload;        // its name
  std::uint32_t sessions = 0;  // a plan has its own
  RunResult run;
  std::optional<LiveResult> live;  // if it was checked while it went on
  std::string file;                // the history: as asked, or JSON lines that a limit of the check
                                   // kept from being converted
  std::string server_logs;         // the folder with the logs of the test server, if they are kept
  std::string faults_file;         // the plan of the faults that were caused, if any were asked for
  history::History history;        // empty if a limit ended its reading
  analysis::Analysis analysis;     // of every level
  std::vector<levels::Level> asked;  // by the user, or promised by the product; never empty
  bool several_servers = false;      // of the database: its sessions used more than one
  bool promised = false;             // asked is what the product promises
  std::string nodes = {};  // of a server of the lab: lines "NUMBER HOST"; empty: not known
  std::string no_promise;  // why nothing is promised under these faults; may be empty

  bool by_name = false;  // asked is what the user named
  bool part = false;     // of a worker: recorded and not checked; asked and analysis are empty

  // The final reads show a lost write, or nodes that differ.
  [[nodiscard]] bool loses() const;
  // What decides beside the levels.
  [[nodiscard]] analysis::Losses losses() const;
  // The worst verdict of the levels asked for and of losses(); a violation comes first.
  [[nodiscard]] check::Verdict verdict() const;
  [[nodiscard]] const check::LevelResult& result(levels::Level level) const;
};

// The file beside a history that says which faults there were, as a plan.
std::string faults_file_of(const std::string& history);
// The folder beside a history for the logs of its test server.
std::string logs_of(const std::string& history);

// The names of the anomalies at every level that is violated, each once.
std::set<std::string> anomalies(const CheckedRun& checked);

// A name for tables: lower-case letters, digits and underscores, at most 24.
bool is_table_name(const std::string& name);
// Makes and fills the tables that workers with these options share, or drops them. Errors: those of
// drivers::open; a database whose tables other processes do not see.
base::Status make_shared_tables(const RunAndCheckOptions& options);
base::Status drop_shared_tables(const RunAndCheckOptions& options);

// Errors: those of drivers::open, of the workload, a mismatch of the two (what the
// database cannot do), those of run(), a history that cannot be written or is there
// already (both reported before the database is asked for anything), `stop` before the
// first transaction. After an error no history and no tables remain, unless what
// was recorded could not be read back or converted.
base::Result<CheckedRun> run_and_check(const RunAndCheckOptions& options,
                                       const std::atomic<bool>& stop, Progress& progress,
                                       const std::function<void(Stage)>& listener);

}  // namespace cupel::run
