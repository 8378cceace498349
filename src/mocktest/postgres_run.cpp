// The database of the set-up is renamed, and then copied for each run.
#include "mocktest/postgres_run.hpp"

#include <utility>

#include "engines/rows.hpp"
#include "mocktest/output_text.hpp"

namespace cupel::mocktest {

Environment PostgresRunner::environment(std::uint64_t seed) const {
  return {{"PGHOST", "127.0.0.1"},
          {"PGPORT", std::to_string(engine_->port())},
          {"PGUSER", "cupel"},
          {"PGDATABASE", std::string(engines::kMainDatabase)},
          {"CUPEL_MOCK_PG_URL", engine_->url()},
          {"CUPEL_MOCK_SEED", std::to_string(seed)}};
}

base::Result<std::unique_ptr<PostgresRunner>> PostgresRunner::start(
    const Test& test, const RunContext& context, const std::atomic<bool>& stopped) {
  auto engine = engines::PostgresEngine::start({.store = setup_store_options(),
                                                .strong_constraints = test.strong_constraints,
                                                .interrupted = &stopped});
  if (!engine.ok()) return std::move(engine).error();
  std::unique_ptr<PostgresRunner> runner(new PostgresRunner(test, std::move(*engine)));
  if (test.setup.empty()) return runner;
  const auto end = run_setup(test, runner->environment(test.store.seed), context);
  if (!end.ok()) return end.error();
  if (end->kind == CommandEnd::Kind::kStopped) return std::unique_ptr<PostgresRunner>();
  const auto kept = runner->engine_->keep_as_template();
  if (!kept.ok()) return kept.error();
  return runner;
}

base::Result<CommandEnd> PostgresRunner::run(const mock::Options& store,
                                             const RunContext& context) {
  const auto ready = engine_->start_over(store);
  if (!ready.ok()) return ready.error();
  return run_process(test_.command, environment(store.seed), test_.time_limit_seconds, context);
}

base::Result<FailedRun> PostgresRunner::failed_run(std::uint64_t seed, const CommandEnd& end,
                                                   const std::string& output) {
  const auto ended = engine_->end_clients();
  if (!ended.ok()) return ended.error();
  auto history = engine_->store().history();
  if (!history.ok()) return std::move(history).error();
  return FailedRun{.seed = seed,
                   .end = end,
                   .output = last_lines_of(output),
                   .history = std::move(*history),
                   .conflicts = engine_->store().conflicts(),
                   .reached_store = reached_store()};
}

}  // namespace cupel::mocktest
