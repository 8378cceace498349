// psql runs the few statements that make databases, as a client would.
#include "engines/postgres_engine.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/process.hpp"
#include "base/write_file.hpp"
#include "engines/rows.hpp"
#include "lab/postgres.hpp"
#include "lab/programs.hpp"

namespace cupel::engines {

namespace {

using base::Error;
using base::Ok;
using base::Status;

constexpr base::Seconds kToEnd(60);
constexpr const char* kTemplate = "cupel_template";

// The server runs as another user than we do, if we are root.
Status open_to_all(const std::string& path, mode_t mode) {
  if (::chmod(path.c_str(), mode) == 0) return Ok{};
  return Error{.message = std::strerror(errno), .file = path};
}

Status write_library(const std::string& path) {
  if (weak_table_library().empty()) {
    return Error{.message =
                     "this cupel was built without the headers of PostgreSQL's server; "
                     "install the Debian package postgresql-server-dev-15 and build again"};
  }
  auto written = base::write_file(path, std::string(weak_table_library()));
  return written.ok() ? open_to_all(path, 0644) : written;
}

std::vector<std::string> settings(const std::string& library, const std::string& socket,
                                  bool strong_constraints) {
  return {"shared_preload_libraries=" + library, "cupel.socket=" + socket,
          fmt::format("cupel.strong_constraints={}", strong_constraints ? "on" : "off"),
          "default_table_access_method=cupel",
          // Every version stays, since some session may see it.
          "autovacuum=off",
          // A parallel worker would have no transaction of the store.
          "max_worker_processes=0", "max_parallel_workers=0", "jit=off",
          // What is in it is lost with the store.
          "synchronous_commit=off", "checkpoint_timeout=1h", "max_wal_size=4GB"};
}

}  // namespace

PostgresEngine::PostgresEngine(base::TempDir folder, std::unique_ptr<StoreService> service,
                               lab::Server server)
    : folder_(std::move(folder)), service_(std::move(service)), server_(std::move(server)) {}

base::Result<std::unique_ptr<PostgresEngine>> PostgresEngine::start(const Options& options) {
  auto found = lab::need(lab::postgres_program("psql"), "program `psql`", "postgresql-client");
  if (!found.ok()) return std::move(found).error();
  auto folder = base::TempDir::make("cupel-engine-");
  if (!folder.ok()) return std::move(folder).error();
  auto opened = open_to_all(folder->path().string(), 0755);
  if (!opened.ok()) return std::move(opened).error();
  const auto library = folder->file("cupel_weak_table.so"), socket = folder->file("store");
  auto written = write_library(library);
  if (!written.ok()) return std::move(written).error();
  auto service = StoreService::start(socket, options.store);
  if (!service.ok()) return std::move(service).error();
  auto server = lab::start(lab::Kind::kPostgres,
                           {.server_options = settings(library, socket, options.strong_constraints),
                            .durable = false,
                            .interrupted = options.interrupted});
  if (!server.ok()) return std::move(server).error();
  (*service)->set_engine_port(server->port());
  std::unique_ptr<PostgresEngine> engine(
      new PostgresEngine(std::move(*folder), std::move(*service), std::move(*server)));
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
                   folder_.file("cupel_weak_table.so")),
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
  auto process = base::Process::start({.arguments = std::move(command),
                                       .environment = {{"PGOPTIONS", ""}},
                                       .output = base::Stream::pipe(),
                                       .errors = base::Stream::output()});
  if (!process.ok()) return std::move(process).error();
  const auto said = process->read_all(kToEnd);
  const auto status = process->wait(kToEnd);
  if (said && status && status->well()) return Ok{};
  return Error{.message = fmt::format("PostgreSQL did not accept a statement: {}",
                                      said.value_or("no end in sight"))};
}

Status PostgresEngine::keep_as_template() {
  service_->keep_database(std::string(kMainDatabase));
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

Status PostgresEngine::start_over(const mock::Options& store) {
  if (auto ended = end_clients(); !ended.ok()) return ended;
  service_->start_over(store);
  return run_sql("postgres",
                 {fmt::format("DROP DATABASE IF EXISTS {} WITH (FORCE)", kMainDatabase),
                  fmt::format("CREATE DATABASE {} TEMPLATE {}", kMainDatabase, template_)});
}

}  // namespace cupel::engines
