// psql runs the few statements that make databases, as a client would.
#include "mock/engines/postgres_engine.hpp"

#include <fmt/format.h>

#include <utility>

#include "databases/lab/postgres.hpp"
#include "databases/lab/programs.hpp"
#include "mock/engines/rows.hpp"

namespace cupel::engines {

namespace {

using base::Status;

constexpr const char* kTemplate = "cupel_template";
constexpr const char* kWeakTableFile = "cupel_weak_table.so";

// Waits for rows are the engine's, so the store has no locks but those that a product's levels
// need.
mock::Options in_engine(mock::Options options) {
  options.overlap = true;
  options.locks = false;
  options.settle_ms = 0;
  return options;
}

std::string_view postgres_isolation(const mock::Options& store) {
  using Isolation = ChooseRequest::Isolation;
  constexpr std::string_view kNames[] = {"read committed", "repeatable read", "serializable"};
  const auto least = isolation_of_product(store).value_or(Isolation::kReadCommitted);
  return kNames[static_cast<std::size_t>(least)];
}

std::vector<std::string> settings(const std::string& library, const std::string& socket,
                                  const PostgresEngine::Options& options) {
  const auto on = [](bool value) { return value ? "on" : "off"; };
  return {"shared_preload_libraries=" + library, "cupel.socket=" + socket,
          fmt::format("cupel.strong_constraints={}", on(options.strong_constraints)),
          fmt::format("cupel.locks={}", on(options.locks)),
          "cupel.levels=" + StoreService::known_levels(options.store),
          "cupel.policies=" + StoreService::known_policies(),
          fmt::format("default_transaction_isolation={}", postgres_isolation(options.store)),
          "default_table_access_method=cupel",
          // Every version stays, since some session may see it.
          "autovacuum=off",
          // A parallel worker would have no transaction of the store.
          "max_worker_processes=0", "max_parallel_workers=0", "jit=off",
          // A client that is killed while it waits loses its locks.
          "client_connection_check_interval=1s",
          // What is in it is lost with the store.
          "synchronous_commit=off", "checkpoint_timeout=1h", "max_wal_size=4GB"};
}

}  // namespace

base::Result<std::unique_ptr<PostgresEngine>> PostgresEngine::start(const Options& options) {
  auto found = lab::need(lab::postgres_program("psql"), "program `psql`", "postgresql-client");
  if (!found.ok()) return std::move(found).error();
  Options used = options;
  used.store = in_engine(options.store);
  auto parts = start_parts(
      lab::Kind::kPostgres,
      {weak_table_library(), kWeakTableFile, "PostgreSQL",
       "run tools/server-headers.sh and build again"},
      used, [&](const Places& places) { return settings(places.library, places.socket, used); });
  if (!parts.ok()) return std::move(parts).error();
  std::unique_ptr<PostgresEngine> engine(new PostgresEngine(std::move(*parts)));
  auto made = engine->make_access_method();
  if (!made.ok()) return std::move(made).error();
  return engine;
}

// In template1, so that every database has it.
Status PostgresEngine::make_access_method() {
  auto made = run_sql(
      "template1",
      {fmt::format("CREATE FUNCTION pg_catalog.cupel_weak_table(internal) RETURNS table_am_handler "
                   "LANGUAGE C AS '{}', 'cupel_weak_table'",
                   library_file(kWeakTableFile)),
       "CREATE ACCESS METHOD cupel TYPE TABLE HANDLER pg_catalog.cupel_weak_table"});
  if (!made.ok()) return made;
  return run_sql("postgres", {fmt::format("DROP DATABASE {}", kMainDatabase),
                              fmt::format("CREATE DATABASE {}", kMainDatabase)});
}

Status PostgresEngine::run_sql(const std::string& database,
                               const std::vector<std::string>& statements) {
  std::vector<std::string> command{
      lab::postgres_program("psql"), "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1",
      fmt::format("--dbname=host=127.0.0.1 port={} user=cupel dbname={} connect_timeout=10 "
                  "application_name=cupel-engine",
                  port(), database)};
  for (const auto& statement : statements) command.push_back("--command=" + statement);
  return run_client(std::move(command), "PGOPTIONS", "PostgreSQL");
}

Status PostgresEngine::keep_as_template() {
  store().keep_database(std::string(kMainDatabase));
  template_ = kTemplate;
  return run_sql("postgres",
                 {fmt::format("ALTER DATABASE {} RENAME TO {}", kMainDatabase, kTemplate)});
}

Status PostgresEngine::end_clients() {
  constexpr int kMilliseconds = 10'000;
  return run_sql("postgres",
                 {fmt::format("SELECT pg_terminate_backend(pid, {}) FROM pg_stat_activity WHERE "
                              "datname = '{}'",
                              kMilliseconds, kMainDatabase)});
}

Status PostgresEngine::start_over(const mock::Options& options) {
  if (auto ended = end_clients(); !ended.ok()) return ended;
  store().start_over(in_engine(options));
  return run_sql("postgres",
                 {fmt::format("DROP DATABASE IF EXISTS {} WITH (FORCE)", kMainDatabase),
                  fmt::format("CREATE DATABASE {} TEMPLATE {}", kMainDatabase, template_)});
}

}  // namespace cupel::engines
