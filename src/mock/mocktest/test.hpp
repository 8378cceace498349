// Test: a user's command that is run against a fresh mock store, again and again, until it fails.
//
//   run_iterations()      with one seed after another
//   explore()             with every choice that the store can make
//   find_failure_cause()  which anomaly made the command fail
//
// A command fails if its exit code is not 0, if it exceeds the time limit, or if its history
// violates a level that is watched. It reaches the store by environment variables: PGHOST, PGPORT,
// CUPEL_MOCK_HTTP_URL and others.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "data/history/history.hpp"
#include "engine/explain/why/explain.hpp"
#include "engine/levels/level.hpp"
#include "engine/mock/store.hpp"

namespace cupel::mocktest {

// The SQL over the store: cupel's own, or that of a real server.
enum class Engine : std::uint8_t { kOwn, kPostgres, kMariadb };

struct Test {
  Engine engine = Engine::kOwn;
  bool strong_constraints = false, engine_locks = true;  // not kOwn: engines::SqlEngine::Options
  mock::Options store = {};
  std::vector<std::string> command = {};  // the program first
  // A shell command that runs before the command, alone. The state it leaves is the initial state
  // of the store. Empty: none. Not kOwn: it runs once, and each run has a copy of its databases.
  std::string setup = {};
  // Not empty: the command runs on this database, a URL, and on no store. Each run has a copy of
  // it; in place: the database itself, with a set-up before each run.
  std::string database = {};
  bool in_place = false;
  double time_limit_seconds = 60;  // of each run of the command and of the set-up
  // A run fails, and ends at once, if the history of the store violates this level. No database.
  std::optional<levels::Level> live = {};
  // Called after each run of the command, by any thread. May be empty.
  std::function<void()> on_run = {};
};

// How a run of the command ended.
struct CommandEnd {
  enum class Kind : std::uint8_t {
    kPassed,
    kFailed,
    kTimedOut,
    kViolated,  // its history violates Test::live
    kStopped,   // the caller asked for it
  };
  Kind kind = Kind::kPassed;
  base::ExitStatus status = {};  // kPassed, kFailed

  [[nodiscard]] bool failed() const { return kind != Kind::kPassed && kind != Kind::kStopped; }
};

// A run in which the command failed.
struct FailedRun {
  std::uint64_t seed = 0;
  CommandEnd end = {};
  std::string output = {};  // the last lines that the command printed, indented
  history::History history = {};
  explain::FieldsByLabel statements = {};  // of the history's transactions: statement_lines.hpp
  std::uint64_t conflicts = 0;             // transactions that the store aborted
  bool reached_store = true;               // the command began a transaction
  bool ignored_locks = false;              // it asked for locks, and the store has none
  // On a true database: what the clients did, in the order in which it began; which statements the
  // history leaves out, and why; how many deadlocks the server ended.
  struct Step {
    std::uint64_t number = 0;  // 0: it was not held, since it concerns nobody else
    std::string text = {};
  };
  std::vector<Step> schedule = {};
  std::vector<std::string> not_recorded = {};
  std::string nothing_recorded = {};  // why the history has nothing of it; empty: it has
  std::uint64_t deadlocks = 0;
  std::uint64_t lock_timeouts = 0;  // and how many waits for a lock it gave up
};

}  // namespace cupel::mocktest
