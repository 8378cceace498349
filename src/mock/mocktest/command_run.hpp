// One run of the command against one store.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "mock/mocktest/live_watch.hpp"
#include "mock/mocktest/test.hpp"
#include "mock/wire/store_server.hpp"

namespace cupel::mocktest {

// Where the output goes, and when to stop.
struct RunContext {
  std::string output;                       // a file
  std::function<bool()> stopping;           // asked about every 50 ms
  std::function<void(pid_t)> started = {};  // told the command's process
  // Asked about every 20 ms, if there is one: true ends the command, as CommandEnd::kViolated.
  std::function<bool()> violated = {};
};

using Environment = std::vector<std::pair<std::string, std::string>>;

// Runs a command until it ends. Errors: it cannot start, or its exit status is lost.
base::Result<CommandEnd> run_process(const std::vector<std::string>& command,
                                     const Environment& environment, double time_limit_seconds,
                                     const RunContext& context);

// Runs the command of the test until it ends. Errors: those of run_process(); a shell that did not
// find a command, or could not execute it, which is no result of a test.
base::Result<CommandEnd> run_test_command(const Test& test, const Environment& environment,
                                          const RunContext& context);

// Runs the command of the test, and watches the history of the store if the test says so. Errors:
// it cannot start, or cannot be watched.
base::Result<CommandEnd> run_watched(const Test& test, const LiveWatch::Store& store,
                                     const Environment& environment, const RunContext& context);

// Runs the set-up of the test. Errors: it cannot start, or it fails.
base::Result<CommandEnd> run_setup(const Test& test, const Environment& environment,
                                   const RunContext& context);

// Store options for a set-up: a database in one place.
mock::Options setup_store_options();

// Runs the set-up, starts the servers, runs the command, and stops the servers. Errors: a process
// cannot start, the set-up fails, a server cannot listen.
base::Result<CommandEnd> run_command(wire::StoreServer& served, const Test& test,
                                     std::uint64_t seed, const RunContext& context);

// What a failed run leaves, read from its store. Errors: the history cannot be built.
base::Result<FailedRun> failed_run(const wire::StoreServer& served, std::uint64_t seed,
                                   const CommandEnd& end, const std::string& output);

}  // namespace cupel::mocktest
