// PostgreSQL: copies, their settings, the recorder and what the catalog says; see the header.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "databases/drivers/url.hpp"
#include "mock/proxy/plain_postgres.hpp"
#include "mock/proxy/test_database.hpp"

namespace cupel::proxy {

namespace {

using base::Error;
using base::Ok;
using base::Result;
using base::Status;

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
    OR EXISTS (SELECT FROM (SELECT adbin::text AS tree FROM pg_attrdef WHERE adrelid = c.oid
                            UNION ALL SELECT conbin::text FROM pg_constraint
                            WHERE conrelid = c.oid AND conbin IS NOT NULL) AS expression
               CROSS JOIN LATERAL regexp_matches(tree, ':funcid ([0-9]+)', 'g') AS called
               JOIN pg_proc p ON p.oid = called[1]::oid
               WHERE p.provolatile = 'v' AND p.proname <> 'nextval')
    OR EXISTS (SELECT FROM pg_index x JOIN pg_depend p
                 ON p.classid = 'pg_class'::regclass AND p.objid = x.indexrelid
               WHERE x.indrelid = c.oid AND p.refclassid = 'pg_proc'::regclass),
  EXISTS (SELECT FROM pg_index x WHERE x.indrelid = c.oid
            AND (x.indisunique OR x.indisexclusion) AND NOT x.indisprimary),
  EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attidentity <> '')
    OR EXISTS (SELECT FROM pg_attrdef d
               JOIN pg_depend p ON p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid
               JOIN pg_class s ON p.refclassid = 'pg_class'::regclass AND s.oid = p.refobjid
               WHERE d.adrelid = c.oid AND s.relkind = 'S')
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

// A row as a JSON object. Its numbers are texts: JSON's are read as doubles, which numeric and
// bigint are not.
std::string row_as_json(std::string_view row) {
  return fmt::format(
      "(SELECT pg_catalog.jsonb_object_agg(c.key, CASE pg_catalog.jsonb_typeof(c.value) "
      "WHEN 'number' THEN pg_catalog.to_jsonb(c.value::pg_catalog.text) ELSE c.value END) "
      "FROM pg_catalog.jsonb_each(pg_catalog.to_jsonb({})) AS c)",
      row);
}
// Not an object: it has a number, in a value of JSON, that none of ours can hold.
nlohmann::json parsed_row(const std::optional<std::string>& cell) {
  return nlohmann::json::parse(cell.value_or("null"), nullptr, false);
}

class PostgresConnection final : public TestConnection {
 public:
  explicit PostgresConnection(PlainPostgres connection) : connection_(std::move(connection)) {}

  Result<Catalog> read_catalog() override { return catalog_of(connection_); }
  Result<Isolation> read_default_level() override;
  Result<Rows> read_rows(const Catalog& catalog, std::size_t most) override;
  Result<Blockers> read_blockers(const std::vector<std::int32_t>& backends) override;
  // The answers say it.
  Result<std::vector<std::string>> read_recorded(std::int32_t /*backend*/) override {
    return std::vector<std::string>();
  }
  bool make_table(const TableFacts& table) override;
  bool fill_table(const TableFacts& table, const std::vector<nlohmann::json>& rows) override;
  std::optional<Answers> answer(const Request& request) override;
  std::optional<Changed> change(const Request& request, const TableFacts& table) override;

  static Result<Catalog> catalog_of(PlainPostgres& connection);

 private:
  PlainPostgres connection_;
};

class PostgresDatabase final : public TestDatabase {
 public:
  PostgresDatabase() : TestDatabase(Dialect::kPostgres) {}
  ~PostgresDatabase() override { drop_copies(); }

  Status open(const Options& options, drivers::Url url);
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment(
      std::uint16_t port, const std::string& database) const override;
  [[nodiscard]] Result<std::unique_ptr<TestConnection>> connect(
      const std::string& database) const override;

 private:
  [[nodiscard]] Result<PlainPostgres> connect_plainly(const std::string& database) const;
  Status make_database(const std::string& from, const std::string& to) override;
  void drop_database(const std::string& name) override;
  Status record_original() override;
  Result<PlainPostgres> connect_first();
  Status take_tls();
  Status read_settings(PlainPostgres& connection);
  Status copy_settings(const std::string& to);

  std::string folder_;                  // of the server's socket; empty: none
  std::string tls_mode_, authorities_;  // sslmode and sslrootcert of libpq; once connected, the
                                        // mode is disable, require or verify-…
  std::string owner_;
  struct Setting {
    std::string role;   // "ROLE r IN ", or empty
    std::string value;  // "SET x TO y"
  };
  std::vector<Setting> settings_;  // of the database
  std::unique_ptr<PlainPostgres> maintenance_;
};

Result<PlainPostgres> PostgresDatabase::connect_plainly(const std::string& database) const {
  std::vector<std::pair<std::string, std::string>> parameters{
      {"host", folder_.empty() ? endpoint_.host : folder_},
      {"port", std::to_string(endpoint_.port)},
      {"user", user_},
      {"dbname", database},
      {"options", ""},
      {"application_name", "cupel"},
      {"connect_timeout", "10"}};
  if (!password_.empty()) parameters.emplace_back("password", password_);
  parameters.emplace_back("sslmode", tls_mode_);
  if (!authorities_.empty()) parameters.emplace_back("sslrootcert", authorities_);
  return PlainPostgres::connect(parameters);
}

Result<std::unique_ptr<TestConnection>> PostgresDatabase::connect(
    const std::string& database) const {
  auto plain = connect_plainly(database);
  if (!plain.ok()) return std::move(plain).error();
  return std::unique_ptr<TestConnection>(std::make_unique<PostgresConnection>(std::move(*plain)));
}

std::vector<std::pair<std::string, std::string>> PostgresDatabase::environment(
    std::uint16_t port, const std::string& database) const {
  std::vector<std::pair<std::string, std::string>> variables{
      {"PGHOST", "127.0.0.1"},
      {"PGPORT", std::to_string(port)},
      {"PGUSER", user_},
      {"PGDATABASE", database},
      {"CUPEL_MOCK_PG_URL", drivers::local_url("postgres", user_, password_, port, database)}};
  if (!password_.empty()) variables.emplace_back("PGPASSWORD", password_);
  return variables;
}

Status PostgresDatabase::open(const Options& options, drivers::Url url) {
  in_place_ = options.in_place;
  folder_ = drivers::take_option(url, "host").value_or("");
  auto mode = drivers::take_choice(
      url, "sslmode", "", {"disable", "allow", "prefer", "require", "verify-ca", "verify-full"});
  if (!mode.ok()) return std::move(mode).error();
  tls_mode_ = *mode;
  authorities_ = drivers::take_option(url, "sslrootcert").value_or("");
  if (const auto unknown = drivers::unknown_options(url, "host, sslmode or sslrootcert"))
    return *unknown;
  if (auto taken = take_url(url, 5432); !taken.ok()) return taken;
  if (!folder_.empty()) endpoint_.socket = fmt::format("{}/.s.PGSQL.{}", folder_, endpoint_.port);
  auto asked = connect_first();
  if (!asked.ok()) return std::move(asked).error();
  if (in_place_) {
    original_ = name_;
    maintenance_ = std::make_unique<PlainPostgres>(std::move(*asked));
    return Ok{};
  }
  if (auto read = read_settings(*asked); !read.ok()) return read;
  auto maintenance = connect_plainly("postgres");
  maintenance_ = std::make_unique<PlainPostgres>(
      maintenance.ok() && name_ != "postgres" ? std::move(*maintenance) : std::move(*asked));
  if (maintenance.ok() && name_ != "postgres") {
    const PlainPostgres closed = std::move(*asked);  // a database that is in use is not copied
  }
  return begin_copies();
}

// Whether there is TLS is found out once: the proxy and cupel itself then do the same.
Result<PlainPostgres> PostgresDatabase::connect_first() {
  std::vector<std::string> modes{tls_mode_};
  if (tls_mode_.empty() || tls_mode_ == "prefer") modes = {"require", "disable"};
  if (tls_mode_ == "allow") modes = {"disable", "require"};
  if (!folder_.empty() && modes.size() > 1) modes = {"disable"};
  Result<PlainPostgres> connected = Error{};
  for (const auto& mode : modes) {
    tls_mode_ = mode;
    if (auto taken = take_tls(); !taken.ok()) return std::move(taken).error();
    connected = connect_plainly(name_);
    if (connected.ok()) break;
  }
  return connected;
}

// For the proxy what libpq does; only that authorities have to be named.
Status PostgresDatabase::take_tls() {
  using Check = wire::TlsOptions::Check;
  endpoint_.tls.reset();
  const bool verifies = tls_mode_.starts_with("verify-");
  if (!verifies && tls_mode_ != "require") return Ok{};
  if (!folder_.empty())
    return Error{.message = "found sslmode=" + tls_mode_ + " with a Unix socket, which has no TLS"};
  if (verifies && authorities_.empty()) {
    return Error{.message = "found sslmode=" + tls_mode_ +
                            " alone, expected sslrootcert=FILE too: the certificates of the "
                            "authorities"};
  }
  endpoint_.tls = {.check = tls_mode_ == "verify-full" ? Check::kHost
                            : authorities_.empty()     ? Check::kNothing
                                                       : Check::kCertificate,
                   .authorities = authorities_,
                   .host = endpoint_.host};
  return Ok{};
}

Status PostgresDatabase::read_settings(PlainPostgres& asked) {
  // ALTER ROLE … IN DATABASE counts too.
  const auto facts = asked.run(
      "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()");
  if (!facts.ok()) return facts.error();
  owner_ = (*facts)[0][0].value_or("");
  const auto settings = asked.run(
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
    settings_.push_back({row[0] ? fmt::format("ROLE {} IN ", *row[0]) : "",
                         fmt::format("SET {} TO {}", row[2].value_or(""), row[1].value_or("''"))});
  }
  return Ok{};
}

Status PostgresDatabase::make_database(const std::string& from, const std::string& to) {
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
  return copy_settings(to);
}

Status PostgresDatabase::copy_settings(const std::string& to) {
  const auto name = maintenance_->identifier(to);
  for (const auto& setting : settings_) {
    const auto statement = fmt::format("ALTER {}DATABASE {} {}", setting.role, name, setting.value);
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

void PostgresDatabase::drop_database(const std::string& name) {
  static_cast<void>(maintenance_->run(
      fmt::format("DROP DATABASE IF EXISTS {} WITH (FORCE)", maintenance_->identifier(name))));
}

Status PostgresDatabase::record_original() {
  auto connection = connect_plainly(original_);
  if (!connection.ok()) return std::move(connection).error();
  const auto catalog = PostgresConnection::catalog_of(*connection);
  if (!catalog.ok()) return catalog.error();
  const auto mark = connection->literal(mark_);
  std::string statements = fmt::format(
      "BEGIN; CREATE SCHEMA {0};"
      "CREATE FUNCTION {0}.say() RETURNS trigger LANGUAGE plpgsql AS $cupel$ BEGIN "
      "RAISE INFO '%', {1} || pg_catalog.jsonb_build_object('table', TG_RELID::pg_catalog.int8, "
      "'old', CASE WHEN TG_OP <> 'INSERT' THEN {2} END, "
      "'new', CASE WHEN TG_OP <> 'DELETE' THEN {3} END)::pg_catalog.text; "
      "RETURN NULL; END $cupel$;"
      "CREATE FUNCTION {0}.say_truncate() RETURNS trigger LANGUAGE plpgsql AS $cupel$ BEGIN "
      "RAISE INFO '%', {1} || pg_catalog.jsonb_build_object('table', TG_RELID::pg_catalog.int8, "
      "'truncated', true)::pg_catalog.text; RETURN NULL; END $cupel$;",
      kRecorder, mark, row_as_json("OLD"), row_as_json("NEW"));
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
  if (!done.ok()) return done.error();
  return Ok{};
}

Result<Catalog> PostgresConnection::catalog_of(PlainPostgres& connection) {
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
    table.draws_numbers = row[6] == "t";
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
  // What pg_sleep and pg_is_in_recovery return is always the same here.
  const auto names = connection.run(
      "SELECT 'f', proname FROM pg_proc WHERE oid >= 16384 "
      "UNION ALL SELECT 'o', oprname FROM pg_operator WHERE oid >= 16384 "
      "UNION ALL SELECT 'v', proname FROM pg_proc "
      "WHERE oid < 16384 AND provolatile = 'v' AND proname NOT LIKE 'pg\\_sleep%' "
      "AND proname <> 'pg_is_in_recovery'");
  if (!names.ok()) return names.error();
  for (const auto& row : *names) {
    auto& kind = row[0] == "f"   ? catalog.own_functions
                 : row[0] == "o" ? catalog.own_operators
                                 : catalog.volatile_functions;
    kind.insert(row[1].value_or(""));
  }
  return catalog;
}

Result<Isolation> PostgresConnection::read_default_level() {
  const auto said = connection_.run("SHOW default_transaction_isolation");
  if (!said.ok()) return said.error();
  return isolation_of((*said)[0][0].value_or("")).value_or(Isolation::kSerializable);
}

Result<Rows> PostgresConnection::read_rows(const Catalog& catalog, std::size_t most) {
  Rows rows;
  std::size_t count = 0;
  for (const auto& [oid, table] : catalog.tables) {
    if (table.key.empty() || table.read_runs_more) continue;
    const auto said = connection_.run(fmt::format(
        "SELECT {} FROM {}.{} t LIMIT {}", row_as_json("t"), connection_.identifier(table.schema),
        connection_.identifier(table.name), most + 1));
    if (!said.ok()) return said.error();
    count += said->size();
    if (count > most)
      return Error{.message = fmt::format("the tables have more than {} rows", most)};
    auto& of_table = rows[oid];
    for (const auto& row : *said) {
      of_table.push_back(parsed_row(row[0]));
      if (!of_table.back().is_object())
        return Error{.message = fmt::format("a row of {} cannot be read", table.name)};
    }
  }
  return rows;
}

Result<Blockers> PostgresConnection::read_blockers(const std::vector<std::int32_t>& backends) {
  const auto said = connection_.run(
      fmt::format("SELECT p, b FROM unnest(ARRAY[{}]::int4[]) AS p, "
                  "unnest(pg_blocking_pids(p) || pg_safe_snapshot_blocking_pids(p)) AS b",
                  fmt::join(backends, ",")));
  if (!said.ok()) return said.error();
  Blockers blockers;
  for (const auto& row : *said)
    blockers[number_in<std::int32_t>(row[0])].push_back(number_in<std::int32_t>(row[1]));
  return blockers;
}

bool PostgresConnection::make_table(const TableFacts& table) {
  const auto name = connection_.identifier(table.name);
  return connection_
      .run(fmt::format("CREATE TEMPORARY TABLE {} (LIKE {}.{} INCLUDING INDEXES)", name,
                       connection_.identifier(table.schema), name))
      .ok();
}

bool PostgresConnection::fill_table(const TableFacts& table,
                                    const std::vector<nlohmann::json>& rows) {
  return connection_
      .run(fmt::format("TRUNCATE pg_temp.{0}; INSERT INTO pg_temp.{0} SELECT * FROM "
                       "jsonb_populate_recordset(NULL::pg_temp.{0}, {1})",
                       connection_.identifier(table.name),
                       connection_.literal(nlohmann::json(rows).dump())))
      .ok();
}

std::optional<TestConnection::Answers> PostgresConnection::answer(const Request& request) {
  std::vector<PlainPostgres::Parameter> parameters;
  for (const auto& parameter : request.parameters)
    parameters.push_back({parameter.type, parameter.format, parameter.value});
  const bool binary = request.results == Request::Format::kBinary;
  auto said = parameters.empty() && !binary ? connection_.run(request.text)
                                            : connection_.run(request.text, parameters, binary);
  if (!said.ok()) return std::nullopt;
  return std::move(*said);
}

// A row that was written is of the transaction that did it.
std::optional<TestConnection::Changed> PostgresConnection::change(const Request& request,
                                                                  const TableFacts& table) {
  const auto name = connection_.identifier(table.name);
  const auto before =
      connection_.run(fmt::format("SELECT xmin::text FROM pg_temp.{} LIMIT 1", name));
  if (!before.ok() || !answer(request)) return std::nullopt;
  const auto filled = before->empty() ? std::optional<std::string>("0") : before->front()[0];
  const auto after = connection_.run(
      fmt::format("SELECT {}, t.xmin::text FROM pg_temp.{} t", row_as_json("t"), name));
  if (!after.ok()) return std::nullopt;
  Changed changed;
  for (const auto& row : *after) {
    changed.rows.push_back(parsed_row(row[0]));
    if (!changed.rows.back().is_object()) return std::nullopt;
    changed.written.push_back(row[1] != filled);
  }
  return changed;
}

}  // namespace

Result<std::unique_ptr<TestDatabase>> open_postgres_database(const TestDatabase::Options& options,
                                                             drivers::Url url) {
  return open_database<PostgresDatabase>(options, std::move(url));
}

}  // namespace cupel::proxy
