// The client program of MariaDB runs the few statements that keep and restore databases.
#include "mock/engines/mariadb_engine.hpp"

#include <fmt/format.h>

#include <vector>

#include "databases/lab/programs.hpp"
#include "mock/engines/rows.hpp"

namespace cupel::engines {

namespace {

using base::Status;

constexpr const char* kWeakEngineFile = "cupel_weak_engine.so";

// A connection that is killed ends its transaction and then leaves the list.
constexpr const char* kEndClients =
    "BEGIN NOT ATOMIC"
    " DECLARE CONTINUE HANDLER FOR 1094 BEGIN END;"  // it has left by itself
    " FOR client IN (SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID()"
    "   AND user NOT IN ('system user', 'event_scheduler'))"
    " DO KILL CONNECTION client.id; END FOR;"
    " FOR attempt IN 1..1000 DO"
    "   IF NOT EXISTS (SELECT 1 FROM information_schema.processlist WHERE id <> CONNECTION_ID()"
    "     AND user NOT IN ('system user', 'event_scheduler'))"
    "   THEN SET attempt = 1000; ELSE DO SLEEP(0.01); END IF;"
    " END FOR;"
    " IF EXISTS (SELECT 1 FROM information_schema.processlist WHERE id <> CONNECTION_ID()"
    "   AND user NOT IN ('system user', 'event_scheduler'))"
    " THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'connections do not end within 10 s'; END IF;"
    " END//";

// Routines and events are rows of tables that a dropped database loses.
constexpr const char* kKeep =
    "CREATE OR REPLACE TABLE mysql.cupel_proc ENGINE=Aria AS SELECT * FROM mysql.proc"
    "  WHERE db NOT IN ('mysql', 'sys')//"
    "CREATE OR REPLACE TABLE mysql.cupel_event ENGINE=Aria AS SELECT * FROM mysql.event//"
    "FLUSH TABLES//"
    "SET GLOBAL cupel_databases = 'keep'//";

constexpr const char* kRestore =
    "BEGIN NOT ATOMIC"
    " FOR made IN (SELECT schema_name AS name FROM information_schema.schemata WHERE schema_name"
    "   NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys'))"
    " DO EXECUTE IMMEDIATE CONCAT('DROP DATABASE `', REPLACE(made.name, '`', '``'), '`'); END FOR;"
    " END//"
    "SET GLOBAL cupel_databases = 'restore'//"
    // A statement that writes a table of the server reads no other.
    "BEGIN NOT ATOMIC"
    " FOR p IN (SELECT * FROM mysql.cupel_proc) DO INSERT INTO mysql.proc VALUES (p.db, p.name,"
    "   p.type, p.specific_name, p.language, p.sql_data_access, p.is_deterministic,"
    "   p.security_type, p.param_list, p.returns, p.body, p.definer, p.created, p.modified,"
    "   p.sql_mode, p.comment, p.character_set_client, p.collation_connection, p.db_collation,"
    "   p.body_utf8, p.aggregate); END FOR;"
    " FOR e IN (SELECT * FROM mysql.cupel_event) DO INSERT INTO mysql.event VALUES (e.db, e.name,"
    "   e.body, e.definer, e.execute_at, e.interval_value, e.interval_field, e.created,"
    "   e.modified, e.last_executed, e.starts, e.ends, e.status, e.on_completion, e.sql_mode,"
    "   e.comment, e.originator, e.time_zone, e.character_set_client, e.collation_connection,"
    "   e.db_collation, e.body_utf8); END FOR;"
    " END//";

// Who waits for a lock waits as long as the server says.
mock::Options in_engine(mock::Options options, bool locks) {
  constexpr double kNoPatience = 1e6;
  options.locks = locks;
  if (locks) {
    options.overlap = true;
    options.settle_ms = 0;
    options.patience_s = kNoPatience;
  }
  return options;
}

// What the server gives a client that asks for none.
std::string_view mariadb_isolation(const mock::Options& store) {
  using Isolation = ChooseRequest::Isolation;
  constexpr std::string_view kNames[] = {"READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"};
  const auto least = isolation_of_product(store).value_or(Isolation::kRepeatableRead);
  return kNames[static_cast<std::size_t>(least)];
}

}  // namespace

base::Result<std::unique_ptr<MariadbEngine>> MariadbEngine::start(const Options& options) {
  auto found = lab::need(lab::find_program("mariadb"), "program `mariadb`", "mariadb-client");
  if (!found.ok()) return std::move(found).error();
  auto used = options;
  used.store = in_engine(options.store, options.locks);
  auto parts = start_parts(
      lab::Kind::kMariadb,
      {weak_engine_library(), kWeakEngineFile, "MariaDB",
       "run tools/server-headers.sh and build again"},
      used, [&](const Places& places) {
        return std::vector<std::string>{
            "ignore-builtin-innodb", "plugin-dir=" + places.folder,
            std::string("plugin-load=") + kWeakEngineFile, "cupel-socket=" + places.socket,
            fmt::format("cupel-strong-constraints={}", options.strong_constraints ? "ON" : "OFF"),
            "cupel-levels=" + StoreService::known_levels(options.store),
            "cupel-policies=" + StoreService::known_policies(),
            fmt::format("transaction-isolation={}", mariadb_isolation(options.store)),
            // So the server puts the parameters of a prepared statement into its text, and logs
            // nothing.
            fmt::format("general-log={}", options.store.keep_statements ? "ON" : "OFF"),
            "log-output=NONE", "skip-log-bin", "query-cache-type=OFF",
            "max-connections=2000",  // as many as cupel's own SQL serves
            // As Debian's own configuration says.
            "character-set-server=utf8mb4", "collation-server=utf8mb4_general_ci"};
      });
  if (!parts.ok()) return std::move(parts).error();
  std::unique_ptr<MariadbEngine> engine(new MariadbEngine(std::move(*parts), options.locks));
  auto kept = engine->run_sql(fmt::format(
      "ALTER DATABASE {} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci//", kMainDatabase));
  if (kept.ok()) kept = engine->keep_as_template();
  if (!kept.ok()) return std::move(kept).error();
  return engine;
}

Status MariadbEngine::run_sql(const std::string& statements) {
  return run_client({lab::find_program("mariadb"), "--no-defaults", "--host=127.0.0.1",
                     fmt::format("--port={}", port()), "--protocol=tcp", "--user=cupel",
                     "--connect-timeout=10", "--delimiter=//", "--execute=" + statements},
                    "MYSQL_PWD", "MariaDB");
}

Status MariadbEngine::keep_as_template() {
  auto kept = run_sql(kKeep);
  store().keep_database(std::string(kMainDatabase));
  return kept;
}

Status MariadbEngine::end_clients() {
  return run_sql(kEndClients);
}

Status MariadbEngine::start_over(const mock::Options& options) {
  if (auto ended = end_clients(); !ended.ok()) return ended;
  store().start_over(in_engine(options, locks_));
  return run_sql(kRestore);
}

}  // namespace cupel::engines
