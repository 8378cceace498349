// Copies, their settings, the recorder and what the catalog says; see the header.
#include "proxy/test_database.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <random>

#include "drivers/url.hpp"

namespace cupel::proxy {

namespace {

using base::Error;
using base::Ok;
using base::Result;
using base::Status;
using drivers::PlainPostgres;

constexpr const char* kRecorder = "cupel_recorder";  // the schema, and the triggers

std::string random_name() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

template <typename Number>
Number number_in(const std::optional<std::string>& cell) {
  Number number = 0;
  if (cell) std::from_chars(cell->data(), cell->data() + cell->size(), number);
  return number;
}

// What makes a table more than rows with a key. The OIDs from 16384 on are those of users.
constexpr const char* kTables = R"(
SELECT c.oid, n.nspname, c.relname,
  c.relkind <> 'r' OR c.relhasrules OR c.relrowsecurity OR c.relispartition
    OR EXISTS (SELECT FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent))
    OR EXISTS (SELECT FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
               WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                 AND a.atttypid >= 16384 AND y.typtype <> 'e'),
  EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal
                 AND t.tgname <> 'cupel_recorder' AND t.tgname <> 'cupel_recorder_truncate')
    OR EXISTS (SELECT FROM pg_attrdef d JOIN pg_depend p
                 ON p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid
               WHERE d.adrelid = c.oid AND (p.refclassid = 'pg_proc'::regclass
                 OR (p.refclassid = 'pg_class'::regclass AND p.refobjid <> c.oid
                     AND (SELECT count(*) FROM pg_depend o WHERE o.classid = 'pg_attrdef'::regclass
                            AND o.refclassid = 'pg_class'::regclass
                            AND o.refobjid = p.refobjid) > 1)))
    OR EXISTS (SELECT FROM pg_constraint k JOIN pg_depend p
                 ON p.classid = 'pg_constraint'::regclass AND p.objid = k.oid
               WHERE k.conrelid = c.oid AND p.refclassid = 'pg_proc'::regclass)
    OR EXISTS (SELECT FROM pg_index x JOIN pg_depend p
                 ON p.classid = 'pg_class'::regclass AND p.objid = x.indexrelid
               WHERE x.indrelid = c.oid AND p.refclassid = 'pg_proc'::regclass),
  EXISTS (SELECT FROM pg_index x WHERE x.indrelid = c.oid
            AND (x.indisunique OR x.indisexclusion) AND NOT x.indisprimary)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast'))";

constexpr const char* kKeys = R"(
SELECT x.indrelid, a.attname,
  CASE WHEN a.atttypid IN (20, 21, 23) THEN 'i'
       WHEN a.atttypid IN (25, 1043) AND coalesce(l.collisdeterministic, true) THEN 't'
       ELSE 'o' END
FROM pg_index x CROSS JOIN LATERAL unnest(x.indkey::int2[]) WITH ORDINALITY AS k (number, place)
JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.number
LEFT JOIN pg_collation l ON l.oid = a.attcollation
WHERE x.indisprimary AND k.place <= x.indnkeyatts ORDER BY x.indrelid, k.place)";

}  // namespace

Status TestDatabase::take_url(const std::string& text) {
  auto parsed = drivers::parse_url(text);
  if (!parsed.ok()) return std::move(parsed).error();
  auto& url = *parsed;
  if (url.scheme != "postgres" && url.scheme != "postgresql") {
    return Error{.message = fmt::format("found `{}`, expected postgres://USER@HOST/DATABASE",
                                        drivers::without_password(text))};
  }
  const auto folder = drivers::take_option(url, "host");
  if (const auto unknown = drivers::unknown_options(url, "host")) return *unknown;
  if (url.hosts.size() > 1) return Error{.message = "found several hosts, expected one"};
  drivers::fill_in(url.hosts, 5432);
  endpoint_ = url.hosts.empty() ? Endpoint{.host = "127.0.0.1"}
                                : Endpoint{.host = url.hosts[0].name, .port = url.hosts[0].port};
  if (folder) endpoint_.host = *folder;
  user_ = url.user;
  if (user_.empty()) {
    const auto* self = ::getpwuid(::geteuid());
    user_ = self == nullptr ? "postgres" : self->pw_name;
  }
  password_ = url.password;
  name_ = url.path.empty() ? user_ : url.path;
  return Ok{};
}

Result<PlainPostgres> TestDatabase::connect(const std::string& database) const {
  std::vector<std::pair<std::string, std::string>> parameters{
      {"host", endpoint_.host}, {"port", std::to_string(endpoint_.port)},
      {"user", user_},          {"dbname", database},
      {"options", ""},          {"application_name", "cupel"},
      {"connect_timeout", "10"}};
  if (!password_.empty()) parameters.emplace_back("password", password_);
  return PlainPostgres::connect(parameters);
}

Result<std::unique_ptr<TestDatabase>> TestDatabase::open(const Options& options) {
  std::unique_ptr<TestDatabase> database(new TestDatabase);
  database->in_place_ = options.in_place;
  if (auto taken = database->take_url(options.url); !taken.ok()) return std::move(taken).error();
  auto asked = database->connect(database->name_);
  if (!asked.ok()) return std::move(asked).error();
  if (options.in_place) {
    database->original_ = database->name_;
    database->maintenance_ = std::make_unique<PlainPostgres>(std::move(*asked));
    return database;
  }
  // ALTER ROLE … IN DATABASE counts too.
  const auto facts = asked->run(
      "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()");
  if (!facts.ok()) return facts.error();
  database->owner_ = (*facts)[0][0].value_or("");
  const auto settings = asked->run(
      "SELECT quote_ident(r.rolname), "
      "  CASE WHEN split_part(item, '=', 1) IN ('search_path', 'temp_tablespaces', "
      "         'local_preload_libraries', 'session_preload_libraries') "
      "       THEN substr(item, strpos(item, '=') + 1) "
      "       ELSE quote_literal(substr(item, strpos(item, '=') + 1)) END, "
      "  split_part(item, '=', 1) "
      "FROM pg_db_role_setting s CROSS JOIN unnest(s.setconfig) AS item "
      "LEFT JOIN pg_roles r ON r.oid = s.setrole "
      "WHERE s.setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())");
  if (!settings.ok()) return settings.error();
  for (const auto& row : *settings) {
    database->settings_.push_back(
        (row[0] ? fmt::format("ROLE {} IN DATABASE ", *row[0]) : std::string("DATABASE ")) +
        "@ SET " + row[2].value_or("") + " TO " + row[1].value_or("''"));
  }
  auto maintenance = database->connect("postgres");
  database->maintenance_ = std::make_unique<PlainPostgres>(
      maintenance.ok() && database->name_ != "postgres" ? std::move(*maintenance)
                                                        : std::move(*asked));
  if (maintenance.ok() && database->name_ != "postgres") {
    const PlainPostgres closed = std::move(*asked);  // a database that is in use is not copied
  }
  const auto id = random_name();
  database->prefix_ = fmt::format("cupel_test_{}", id);
  database->mark_ = fmt::format("cupel-{}-{}:", id, random_name());
  auto original = database->copy(database->name_);
  if (!original.ok()) return std::move(original).error();
  database->original_ = *original;
  return database;
}

TestDatabase::~TestDatabase() {
  while (!made_.empty()) drop_copy(std::string(*made_.begin()));
}

Result<std::string> TestDatabase::copy(const std::string& from) {
  const std::lock_guard lock(mutex_);
  const auto to = fmt::format("{}_{}", prefix_, ++last_number_);
  const auto made =
      maintenance_->run(fmt::format("CREATE DATABASE {} TEMPLATE {}", maintenance_->identifier(to),
                                    maintenance_->identifier(from)));
  if (!made.ok()) {
    const bool in_use = maintenance_->sqlstate() == "55006";
    const bool forbidden = maintenance_->sqlstate() == "42501";
    return Error{.message = fmt::format(
                     "the database {} cannot be copied: {}{}", from, made.error().message,
                     in_use      ? "; close the other connections to it, or use --in-place"
                     : forbidden ? "; the user needs the right CREATEDB, and to own the database; "
                                   "or use --in-place"
                                 : "")};
  }
  made_.insert(to);
  if (auto well = copy_settings(to); !well.ok()) return std::move(well).error();
  return to;
}

Status TestDatabase::copy_settings(const std::string& to) {
  const auto name = maintenance_->identifier(to);
  for (const auto& setting : settings_) {
    auto statement = "ALTER " + setting;
    statement.replace(statement.find('@'), 1, name);
    if (const auto done = maintenance_->run(statement); !done.ok()) {
      return Error{.message = fmt::format("a setting of {} cannot be given to its copy: {}: {}",
                                          name_, statement, done.error().message)};
    }
  }
  // What follows needs rights that a user may not have. The victim of a deadlock is then the one
  // that came last, and is found soon.
  static_cast<void>(
      maintenance_->run(fmt::format("ALTER DATABASE {} SET deadlock_timeout TO '1ms'", name)));
  static_cast<void>(maintenance_->run(
      fmt::format("ALTER DATABASE {} OWNER TO {}", name, maintenance_->identifier(owner_))));
  return Ok{};
}

Result<std::string> TestDatabase::make_copy() {
  return in_place_ ? Result<std::string>(name_) : copy(original_);
}

void TestDatabase::drop_copy(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (made_.erase(name) == 0) return;
  static_cast<void>(maintenance_->run(
      fmt::format("DROP DATABASE IF EXISTS {} WITH (FORCE)", maintenance_->identifier(name))));
}

std::string TestDatabase::install_recorder() {
  if (in_place_) return "a database in place has no recorder";
  auto connection = connect(original_);
  if (!connection.ok()) return connection.error().message;
  const auto catalog = read_catalog(*connection);
  if (!catalog.ok()) return catalog.error().message;
  const auto mark = connection->literal(mark_);
  std::string statements = fmt::format(
      "BEGIN; CREATE SCHEMA {0};"
      "CREATE FUNCTION {0}.say() RETURNS trigger LANGUAGE plpgsql AS $cupel$ BEGIN "
      "RAISE INFO '%', {1} || pg_catalog.jsonb_build_object('table', TG_RELID::pg_catalog.int8, "
      "'old', CASE WHEN TG_OP <> 'INSERT' THEN pg_catalog.to_jsonb(OLD) END, "
      "'new', CASE WHEN TG_OP <> 'DELETE' THEN pg_catalog.to_jsonb(NEW) END)::pg_catalog.text; "
      "RETURN NULL; END $cupel$;"
      "CREATE FUNCTION {0}.say_truncate() RETURNS trigger LANGUAGE plpgsql AS $cupel$ BEGIN "
      "RAISE INFO '%', {1} || pg_catalog.jsonb_build_object('table', TG_RELID::pg_catalog.int8, "
      "'truncated', true)::pg_catalog.text; RETURN NULL; END $cupel$;",
      kRecorder, mark);
  for (const auto& [oid, table] : catalog->tables) {
    if (table.key.empty() || table.read_runs_more) continue;
    const auto name =
        connection->identifier(table.schema) + "." + connection->identifier(table.name);
    statements += fmt::format(
        "CREATE TRIGGER {0} AFTER INSERT OR UPDATE OR DELETE ON {1} FOR EACH ROW "
        "EXECUTE FUNCTION {0}.say();"
        "CREATE TRIGGER {0}_truncate AFTER TRUNCATE ON {1} EXECUTE FUNCTION {0}.say_truncate();",
        kRecorder, name);
  }
  const auto done = connection->run(statements + "COMMIT");
  return done.ok() ? "" : done.error().message;
}

Result<Catalog> read_catalog(PlainPostgres& connection) {
  Catalog catalog;
  const auto tables = connection.run(kTables);
  if (!tables.ok()) return tables.error();
  for (const auto& row : *tables) {
    TableFacts table{.oid = number_in<std::uint32_t>(row[0]),
                     .schema = row[1].value_or(""),
                     .name = row[2].value_or("")};
    table.read_runs_more = row[3] == "t";
    table.write_runs_more = table.read_runs_more || row[4] == "t";
    table.unique_besides_key = row[5] == "t";
    catalog.tables.emplace(table.oid, std::move(table));
  }
  const auto keys = connection.run(kKeys);
  if (!keys.ok()) return keys.error();
  for (const auto& row : *keys) {
    const auto table = catalog.tables.find(number_in<std::uint32_t>(row[0]));
    if (table == catalog.tables.end()) continue;
    using Kind = TableFacts::KeyColumn::Kind;
    table->second.key.push_back({row[1].value_or(""), row[2] == "i"   ? Kind::kInteger
                                                      : row[2] == "t" ? Kind::kText
                                                                      : Kind::kOther});
  }
  const auto foreign =
      connection.run("SELECT DISTINCT conrelid, confrelid FROM pg_constraint WHERE contype = 'f'");
  if (!foreign.ok()) return foreign.error();
  for (const auto& row : *foreign) {
    const auto child = number_in<std::uint32_t>(row[0]), parent = number_in<std::uint32_t>(row[1]);
    if (!catalog.tables.contains(child) || !catalog.tables.contains(parent)) continue;
    catalog.tables[child].references.push_back(parent);
    catalog.tables[parent].referenced_by.push_back(child);
  }
  const auto names = connection.run(
      "SELECT true, proname FROM pg_proc WHERE oid >= 16384 "
      "UNION ALL SELECT false, oprname FROM pg_operator WHERE oid >= 16384");
  if (!names.ok()) return names.error();
  for (const auto& row : *names)
    (row[0] == "t" ? catalog.own_functions : catalog.own_operators).insert(row[1].value_or(""));
  return catalog;
}

Result<Isolation> read_default_level(PlainPostgres& connection) {
  const auto said = connection.run("SHOW default_transaction_isolation");
  if (!said.ok()) return said.error();
  return isolation_of((*said)[0][0].value_or("")).value_or(Isolation::kSerializable);
}

Result<Rows> read_rows(PlainPostgres& connection, const Catalog& catalog, std::size_t most) {
  Rows rows;
  std::size_t count = 0;
  for (const auto& [oid, table] : catalog.tables) {
    if (table.key.empty() || table.read_runs_more) continue;
    const auto said = connection.run(fmt::format("SELECT to_jsonb(t) FROM {}.{} t LIMIT {}",
                                                 connection.identifier(table.schema),
                                                 connection.identifier(table.name), most + 1));
    if (!said.ok()) return said.error();
    count += said->size();
    if (count > most)
      return Error{.message = fmt::format("the tables have more than {} rows", most)};
    auto& of_table = rows[oid];
    for (const auto& row : *said)
      of_table.push_back(nlohmann::json::parse(row[0].value_or("null")));
  }
  return rows;
}

Result<std::map<std::int32_t, std::vector<std::int32_t>>> read_blockers(
    PlainPostgres& connection, const std::vector<std::int32_t>& backends) {
  const auto said = connection.run(
      fmt::format("SELECT p, b FROM unnest(ARRAY[{}]::int4[]) AS p, "
                  "unnest(pg_blocking_pids(p) || pg_safe_snapshot_blocking_pids(p)) AS b",
                  fmt::join(backends, ",")));
  if (!said.ok()) return said.error();
  std::map<std::int32_t, std::vector<std::int32_t>> blockers;
  for (const auto& row : *said)
    blockers[number_in<std::int32_t>(row[0])].push_back(number_in<std::int32_t>(row[1]));
  return blockers;
}

}  // namespace cupel::proxy
