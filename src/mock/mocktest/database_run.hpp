// Runs of the command against a true database: every statement of its clients waits at a proxy for
// its turn (mock/proxy/scheduling_proxy.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "mock/mocktest/command_run.hpp"
#include "mock/mocktest/exploration.hpp"
#include "mock/mocktest/test.hpp"
#include "mock/proxy/interleavings.hpp"
#include "mock/proxy/test_database.hpp"

namespace cupel::mocktest {

// The database, once it is set up.
class DatabaseRunner {
 public:
  // Errors: the database cannot be reached or copied, the set-up fails. Null: stopped.
  static base::Result<std::unique_ptr<DatabaseRunner>> start(const Test& test,
                                                             const RunContext& context);

  using Choose = std::function<std::size_t(const std::vector<proxy::Interleavings::Waiting>&)>;
  struct Run {
    CommandEnd end = {};
    bool reached = false;  // the command connected to the database
    std::vector<proxy::Executed> executed = {};
    std::string observed = {};                // what the clients read
    std::string database = {};                // in which it happened; drop() it
    proxy::Rows rows = {};                    // before the run; nothing without a recorder
    std::string no_rows = {};                 // why they are not known
    std::set<std::string> unrepeatable = {};  // statements: ExplorationResult
  };
  // With a turn for whom `choose` says; `ran` is told what each turn touched. Any thread.
  base::Result<Run> run(std::uint64_t seed, const Choose& choose,
                        const std::function<void(const proxy::Footprint&)>& ran,
                        const RunContext& context, double settle_ms);
  // What a failed run leaves. Errors: the history cannot be built.
  base::Result<FailedRun> failed_run(const Run& run, std::uint64_t seed, const std::string& output);
  void drop(const Run& run) { database_->drop_copy(run.database); }

 private:
  DatabaseRunner(const Test& test, std::unique_ptr<proxy::TestDatabase> database)
      : test_(test), database_(std::move(database)) {}
  [[nodiscard]] Environment environment(std::uint16_t port, const std::string& database,
                                        std::uint64_t seed) const;
  base::Result<CommandEnd> set_up(const RunContext& context);

  const Test& test_;
  std::unique_ptr<proxy::TestDatabase> database_;
  std::string no_recorder_;  // why there is none
};

// Exploration::explore() for a database: every interleaving of the statements. `runs` are those of
// the command, `histories` the different interleavings.
base::Result<ExplorationResult> explore_database(const Test& test,
                                                 const ExplorationOptions& options,
                                                 const std::atomic<bool>& stopped);

}  // namespace cupel::mocktest
