// The environment names the server as the mock servers of this program are named.
#include "mock/mocktest/engine_run.hpp"

#include <utility>

#include "mock/engines/mariadb_engine.hpp"
#include "mock/engines/postgres_engine.hpp"
#include "mock/engines/rows.hpp"
#include "mock/mocktest/output_text.hpp"
#include "mock/mocktest/statement_lines.hpp"

namespace cupel::mocktest {

Environment EngineRunner::environment(std::uint64_t seed) const {
  const auto port = std::to_string(engine_->port());
  const std::string database(engines::kMainDatabase);
  Environment environment;
  if (test_.engine == Engine::kPostgres) {
    environment = {{"PGHOST", "127.0.0.1"},
                   {"PGPORT", port},
                   {"PGUSER", "cupel"},
                   {"PGDATABASE", database},
                   {"CUPEL_MOCK_PG_URL", engine_->url()}};
  } else {
    environment = {{"MYSQL_HOST", "127.0.0.1"},
                   {"MYSQL_TCP_PORT", port},
                   {"MYSQL_USER", "cupel"},
                   {"MYSQL_DATABASE", database},
                   {"CUPEL_MOCK_MYSQL_URL", engine_->url()}};
  }
  environment.emplace_back("CUPEL_MOCK_SEED", std::to_string(seed));
  return environment;
}

base::Result<std::unique_ptr<engines::SqlEngine>> start_engine(
    Engine engine, const engines::SqlEngine::Options& options) {
  if (engine == Engine::kPostgres) {
    auto started = engines::PostgresEngine::start(options);
    if (!started.ok()) return std::move(started).error();
    return std::unique_ptr<engines::SqlEngine>(std::move(*started));
  }
  auto started = engines::MariadbEngine::start(options);
  if (!started.ok()) return std::move(started).error();
  return std::unique_ptr<engines::SqlEngine>(std::move(*started));
}

namespace {

// A single copy of the data. Where transactions overlap, they wait for locks only.
mock::Options store_of_setup(Engine engine) {
  return {
      .level = mock::Level::kReadCommitted,
      .product = engine == Engine::kPostgres ? mock::Product::kPostgres : mock::Product::kMysql};
}

}  // namespace

base::Result<std::unique_ptr<EngineRunner>> EngineRunner::start(const Test& test,
                                                                const RunContext& context,
                                                                const std::atomic<bool>& stopped) {
  auto engine = start_engine(test.engine, {.store = test.store,
                                           .locks = test.engine_locks,
                                           .strong_constraints = test.strong_constraints,
                                           .interrupted = &stopped});
  if (!engine.ok()) return std::move(engine).error();
  std::unique_ptr<EngineRunner> runner(new EngineRunner(test, std::move(*engine)));
  if (test.setup.empty()) return runner;
  const auto ready = runner->engine_->start_over(store_of_setup(test.engine));
  if (!ready.ok()) return ready.error();
  const auto end = run_setup(test, runner->environment(test.store.seed), context);
  if (!end.ok()) return end.error();
  if (end->kind == CommandEnd::Kind::kStopped) return std::unique_ptr<EngineRunner>();
  const auto kept = runner->engine_->keep_as_template();
  if (!kept.ok()) return kept.error();
  return runner;
}

base::Result<CommandEnd> EngineRunner::run(const mock::Options& store, const RunContext& context) {
  const auto ready = engine_->start_over(store);
  if (!ready.ok()) return ready.error();
  const LiveWatch::Store watched{[&] { return engine_->store().history(); },
                                 [&] { return engine_->store().commits(); }};
  return run_watched(test_, watched, environment(store.seed), context);
}

base::Result<FailedRun> EngineRunner::failed_run(std::uint64_t seed, const CommandEnd& end,
                                                 const std::string& output) {
  const auto ended = engine_->end_clients();
  if (!ended.ok()) return ended.error();
  auto history = engine_->store().history();
  if (!history.ok()) return std::move(history).error();
  return FailedRun{.seed = seed,
                   .end = end,
                   .output = last_lines_of(output),
                   .history = std::move(*history),
                   .statements = statement_fields(engine_->store().statements()),
                   .conflicts = engine_->store().conflicts(),
                   .reached_store = reached_store()};
}

}  // namespace cupel::mocktest
