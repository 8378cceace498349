// Exploration: the command against every choice that a store can make, instead of some.
//
// A choice is which of the allowed values a read returns, or which of the waiting clients begins
// its transaction next (engine/mock/explore.hpp). The command must be decided by what it reads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "mock/mocktest/test.hpp"

namespace cupel::mocktest {

// What makes two final states of the command different.
enum class StateKind : std::uint8_t {
  kReads,   // the values that each session read
  kOutput,  // what the command printed
};

struct ExplorationOptions {
  std::uint64_t max_runs = 10'000;
  // One run with these choices, instead of all.
  std::optional<std::vector<std::size_t>> choices = {};
  StateKind states = StateKind::kReads;
  // Where the first run shows that clients start later than Options::settle_ms: starts again with a
  // longer time, of at most a second.
  bool may_raise_settle = false;
  // Called when that happens.
  std::function<void(double before_ms, double now_ms)> on_settle_raised = {};
};

// Whether clients start after the first choice was made. The store cannot choose such a client.
// The first run is repeated with a longer settle time, longer_settle_ms(), to find out.
enum class LateClients : std::uint8_t {
  kNone,
  kOtherChoices,  // the repetition has other choices
  kFailed,        // the repetition fails, and the first run does not
  kUnknown,       // stopped before the repetition ended
};

struct ExplorationResult {
  std::uint64_t runs = 0;
  std::uint64_t histories = 0;  // different ones
  std::uint64_t states = 0;     // different ones
  std::uint64_t failures = 0;   // histories in which the command failed
  // Runs that did not repeat the choices that the same run made before: the command is not decided
  // by what it reads, and the exploration may be incomplete.
  std::uint64_t diverged = 0;
  bool exhausted = false;  // no choice is left
  // On a true database: statements that may do something else when they run again, as random()
  // does. The exploration cannot make all that they may do.
  std::set<std::string> unrepeatable = {};
  LateClients late_clients = LateClients::kNone;
  double settle_ms = 0;        // in use at the end
  bool reached_store = false;  // in any run
  // The first run that failed, its number from 1, and its choices.
  std::optional<FailedRun> failed = {};
  std::uint64_t failed_number = 0;
  std::vector<std::size_t> failed_choices = {};
};

// Ends early when a run fails that has not reached the store. Errors: those of run_command().
base::Result<ExplorationResult> explore(const Test& test, const ExplorationOptions& options,
                                        const std::atomic<bool>& stopped);

// Long enough for a process to start, and at least twice as long.
double longer_settle_ms(double settle_ms);

// For another exploration. After the first run, and what its repetition showed: true if the
// exploration has to start again, with `settle_ms`, which is longer now.
bool raises_settle(const ExplorationOptions& options, ExplorationResult& result, double& settle_ms);

}  // namespace cupel::mocktest
