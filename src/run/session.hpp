// ClientSession: one session's loop over its jobs. Made for run.cpp.
#pragma once

#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "run/cells.hpp"
#include "run/final_reads.hpp"
#include "run/latencies.hpp"
#include "run/run.hpp"

namespace cupel::run {

using Clock = std::chrono::steady_clock;

// What all sessions of a run share.
struct Shared {
  drivers::Database& database;
  workload::Workload& workload;
  Recorder& recorder;
  InitialValues& initials;
  const RunOptions& options;
  const std::atomic<bool>& stop;  // the user's
  Progress& progress;
  Clock::time_point begin;
  std::atomic<bool> done = false;        // the time is up, or a session met an error
  std::atomic<bool> any_answer = false;  // some transaction ended well, or in a conflict
  std::vector<std::string> hosts = {};   // the database's
  std::atomic<std::uint32_t> primary =
      0;  // of hosts: takes the writes, unless read_from is kOwnHost

  [[nodiscard]] bool over() const {
    return stop.load(std::memory_order_relaxed) || done.load(std::memory_order_relaxed);
  }
};

class ClientSession {
 public:
  ClientSession(Shared& shared, std::uint32_t number);

  // Until the jobs are done or the run is over. An exception, as when there is no more memory,
  // ends the run, and rethrow() has it.
  void work();
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

  struct Tally {
    std::uint64_t committed = 0, aborted = 0, given_up = 0, unknown = 0;
    Latencies latencies;  // of the committed ones
  };
  struct Report {
    std::map<std::string, Tally> jobs;
    std::map<std::string, std::uint64_t> reasons;
    std::map<std::string, std::string> first_errors;  // by reason: the database's words
    std::uint64_t reconnects = 0;
    std::uint64_t reads = 0;  // attempts of transactions that only read, where read_from decides
    double last_commit = 0;   // seconds from the start
    bool broke = false;       // a connection broke, or the data were gone
    bool unanswered = false;  // the last attempt failed, and not because of other transactions
    std::string warning;      // why it ended early
    std::string error;        // why the whole run should

    // At its end the database was not known to be there.
    [[nodiscard]] bool ends_without_answer() const { return unanswered || !warning.empty(); }
  };
  [[nodiscard]] const Report& report() const { return report_; }
  // That its transactions wrote, or tried to; empty unless there are final reads.
  [[nodiscard]] const WrittenRows& written() const { return written_; }

 private:
  class Live;
  enum class Ending : std::uint8_t { kCommitted, kAborted, kGivenUp, kUnknown };

  void issue_jobs();
  [[nodiscard]] drivers::Connection& connection() { return *connections_[host_]; }
  // The hosts that the job may run on, the preferred one first; none: `why`.
  std::vector<std::uint32_t> hosts_for(const workload::Job& job, std::string& why);
  bool connect_to_one_of(const std::vector<std::uint32_t>& hosts, std::string& why);
  bool connect(const workload::Job& job);
  [[nodiscard]] std::string node() const;
  bool wait_for_turn(std::uint64_t turn);
  void issue(const workload::Job& job);
  Ending attempt(const workload::Job& job);
  Ending attempt_fixed(const workload::Job& job);
  Ending attempt_program(const workload::Job& job);
  Ending failed(const drivers::Failure& failure);
  bool note_silent_end();
  void fill_in(workload::Statement& statement);

  Shared& shared_;
  std::uint32_t number_;
  base::Random random_;
  RecordedSession recorded_;
  std::vector<std::unique_ptr<drivers::Connection>> connections_;  // by host; one if there are none
  std::uint32_t host_ = 0;                                         // of the transaction
  std::vector<bool> lost_, unanswered_;      // by host: the connection broke; could not be made
  std::vector<Clock::time_point> retry_at_;  // by host: not before, if another will do
  WrittenRows written_;
  std::uint64_t writes_ = 0;                     // fresh values given out
  std::uint64_t refusals_ = 0;                   // in a row, before the database answered anything
  std::vector<workload::Statement> statements_;  // of the transaction of fixed statements
  std::vector<workload::Reply> replies_;         // that is going on
  Report report_;
  std::exception_ptr thrown_;
};

}  // namespace cupel::run
