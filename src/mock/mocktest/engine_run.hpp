// Runs of the command against a real SQL server over a mock store.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "mock/engines/sql_engine.hpp"
#include "mock/mocktest/command_run.hpp"
#include "mock/mocktest/test.hpp"

namespace cupel::mocktest {

// Error: the server or a part of it is not installed, or does not start.
base::Result<std::unique_ptr<engines::SqlEngine>> start_engine(
    Engine engine, const engines::SqlEngine::Options& options);

// A server for one run after another, each with a new store and a copy of what the set-up left.
class EngineRunner {
 public:
  // Errors: the server cannot start, the set-up fails. Null: stopped.
  static base::Result<std::unique_ptr<EngineRunner>> start(const Test& test,
                                                           const RunContext& context,
                                                           const std::atomic<bool>& stopped);
  base::Result<CommandEnd> run(const mock::Options& store, const RunContext& context);
  [[nodiscard]] bool reached_store() const { return engine_->store().asked_for() > 0; }
  // What the last run leaves; its clients lose their connections.
  base::Result<FailedRun> failed_run(std::uint64_t seed, const CommandEnd& end,
                                     const std::string& output);

 private:
  EngineRunner(const Test& test, std::unique_ptr<engines::SqlEngine> engine)
      : test_(test), engine_(std::move(engine)) {}
  [[nodiscard]] Environment environment(std::uint64_t seed) const;

  const Test& test_;
  std::unique_ptr<engines::SqlEngine> engine_;
};

}  // namespace cupel::mocktest
