// One run of the command against one store.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.hpp"
#include "mocktest/test.hpp"
#include "wire/store_server.hpp"

namespace cupel::mocktest {

// Where the output goes, and when to stop.
struct RunContext {
  std::string output;              // a file
  std::function<bool()> stopping;  // asked about every 50 ms
};

// Runs the set-up, starts the servers, runs the command, and stops the servers. Errors: a process
// cannot start, the set-up fails, a server cannot listen.
base::Result<CommandEnd> run_command(wire::StoreServer& served, const Test& test,
                                     std::uint64_t seed, const RunContext& context);

// What a failed run leaves, read from its store. Errors: the history cannot be built.
base::Result<FailedRun> failed_run(const wire::StoreServer& served, std::uint64_t seed,
                                   const CommandEnd& end, const std::string& output);

}  // namespace cupel::mocktest
