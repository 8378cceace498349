// run: many sessions issue a workload's transactions to a database, and a history
// records what they saw.
//
// One thread a session. A transaction of fixed statements is recorded as invoked
// before it starts; a program's, whose statements nobody knows beforehand, before
// its commit is sent. A lost connection is made anew, under a new process number
// where the outcome of a transaction is unknown.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cupel/record.hpp"
#include "data/workload/workload.hpp"
#include "databases/drivers/driver.hpp"
#include "run/faults/fault.hpp"

namespace cupel::faults {
class Injector;
}

namespace cupel::run {

// Where transactions that only read go, if the database has several hosts.
enum class ReadFrom : std::uint8_t {
  kOwnHost,  // each session stays with a host of its own, also for its writes
  kPrimary,  // to the primary, where all that write go
  kReplica,  // to the other hosts in turn
  kAny,      // to all hosts in turn
};

// "primary", "replica", "any"; empty for kOwnHost.
std::string_view name(ReadFrom read_from);

// How the user says what messages speak of: options of the command line, or fields of a campaign's
// file, as "databases[0].read_from".
struct SettingNames {
  std::string sessions = "--sessions";
  std::string time_limit = "--time-limit";
  std::string read_from = "--read-from";
  std::string isolation = "--isolation";
  std::string faults = "--faults";
  std::string fault_every = "--fault-every";
  std::string faults_optional = "--faults-optional";
  std::string commands = ", or name commands with --fault and --heal";  // instead of faults
};

// Each session is a thread with a connection: with more, they keep each other from getting on, and
// a run no longer ends soon.
inline constexpr std::uint32_t kMostSessions = 2000;
// Of all workers on one database.
inline constexpr std::uint32_t kMostSessionsInAll = 1'000'000;

struct RunOptions {
  std::uint32_t sessions = 10;  // of this process: at most kMostSessions
  std::uint64_t txns =
      100;  // a session, that are begun (retries not counted); 0: until the time is up
  // Of several workers that load one database at the same time: the number of the first of these
  // sessions, and how many all workers have; 0: these are all. Sessions are told apart by their
  // numbers, so what they issue and the values that they write do not depend on who has which.
  std::uint32_t first_session = 0, all_sessions = 0;
  double time_limit = 0;      // seconds; 0: none
  double rate = 0;            // transactions a second, all sessions together; 0: as fast as it goes
  std::uint32_t retries = 0;  // a transaction that aborted is issued again this often
  std::uint64_t seed = 1;
  double patience = 30;  // seconds that a session tries to get its connection back
  ReadFrom read_from = ReadFrom::kOwnHost;
  // At the end, when all is repaired, every row that was written is read once more from every
  // host: final_reads.hpp.
  bool final_reads = false;
  // The same if the load met errors after which data may be gone: a connection broke, the database
  // said that they are gone (drivers::Cause::kGone), or it no longer answered a session at its end.
  bool final_reads_if_needed = false;
  double quiet = 10;  // seconds that hosts which differ must not have changed before that
  SettingNames names = {};
  // The load also ends, as at its time limit, when this turns true. Borrowed.
  const std::atomic<bool>* enough = nullptr;

  [[nodiscard]] std::uint32_t sessions_in_all() const {
    return all_sessions != 0 ? all_sessions : sessions;
  }
};

struct FaultOptions {
  std::string fault, heal;  // shell commands; fault empty: no faults
  double every = 10,
         lasts = 5;  // seconds from the end of one to the begin of the next; between the two
  double command_limit = 120;  // seconds that a command may take; then it is ended
};

// The progress while it runs. Any thread may look.
struct Progress {
  enum class Phase : std::uint8_t { kLoad, kHealing, kFinalReads };
  std::atomic<Phase> phase = Phase::kLoad;
  std::atomic<std::uint64_t> committed = 0, aborted = 0, unknown = 0;
  std::atomic<std::uint32_t> sessions_running = 0, sessions_waiting = 0;  // for a connection
};

struct JobStats {
  std::uint64_t committed = 0, aborted = 0, given_up = 0, unknown = 0;
  double p50_ms = 0, p99_ms = 0;  // of the committed ones
};

struct RunResult {
  std::uint64_t committed = 0, aborted = 0, unknown = 0;
  std::uint64_t given_up = 0;                       // part of aborted: by the program's choice
  std::map<std::string, std::uint64_t> reasons;     // "conflict 40001" → how many
  std::map<std::string, std::string> first_errors;  // and the database's words, once
  std::map<std::string, JobStats> jobs;             // by the job's name
  double seconds = 0, p50_ms = 0, p99_ms = 0;
  std::uint64_t reconnects = 0;
  std::uint64_t faults = 0;              // that were in force
  std::uint64_t failed_faults = 0;       // whose command failed or hung, or that were not possible
  bool faults_left_out = false;          // all that were asked for are not possible here
  std::vector<faults::Done> fault_list;  // of the injector, in the order of their begins
  double last_commit = 0;                // seconds from the start; 0 if nothing committed
  std::vector<std::string> warnings;     // sessions that ended early, fault commands that failed
  // Why the final reads that were due say nothing, or not all: whether writes are lost is unknown.
  // Empty: they were made, or none were due.
  std::string final_reads_failed;
  bool final_reads = false;  // they were due
  std::string data_gone;     // which tables, buckets or streams were not there in the final reads
  // Sessions that the database did not answer at their end: they ended early, or their last attempt
  // failed, and not because of other transactions.
  std::uint32_t without_answer = 0;

  // Aborted of all that were answered; 0 if there were none.
  [[nodiscard]] double abort_rate() const {
    const auto answered = static_cast<double>(committed + aborted);
    return answered > 0 ? static_cast<double>(aborted) / answered : 0;
  }
};

// Who takes part in a run. All borrowed.
struct RunParts {
  drivers::Database& database;  // prepared
  workload::Workload& workload;
  Recorder& recorder;
  faults::Injector* injector = nullptr;  // causes faults of its own, besides the user's commands
};

// Runs until every session has issued its transactions, the time is up, or `stop`
// turns true (each session then finishes what it is in).
// Errors: no session could connect; the database refuses the statements
// themselves, so that nothing ever commits; a transaction or the recording failed
// for a reason that is not the database's.
base::Result<RunResult> run(const RunParts& parts, const RunOptions& options,
                            const FaultOptions& faults, const std::atomic<bool>& stop,
                            Progress& progress);

// The error of a run in which nothing committed, which says nothing of the database: how its
// transactions ended, the database's first errors, and a remedy.
base::Error nothing_committed(const RunResult& result, const SettingNames& names);

// Why this workload cannot run on this database; empty if it can.
std::string unfit(const workload::Needs& needs, const workload::Needs& can);

// The workload for a database where none is named: the first of workload::all_workloads() that can
// run on it. That is general, unless a database takes one statement at a time.
std::string_view default_workload(const workload::Needs& can);

}  // namespace cupel::run
