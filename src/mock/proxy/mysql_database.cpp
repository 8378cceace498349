// MariaDB and MySQL: a dump of the original, from which each copy is made, the recorder, and what
// the server says of tables and locks; see test_database.hpp.
//
// The recorder's table has the number of the connection and UUID_SHORT() as its key: both only
// grow for one connection, and no two connections meet at one place of the table.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "base/process.hpp"
#include "base/temp_dir.hpp"
#include "base/text.hpp"
#include "mock/proxy/mysql_locks.hpp"
#include "mock/proxy/mysql_text.hpp"
#include "mock/proxy/plain_mysql.hpp"
#include "mock/proxy/test_database.hpp"

namespace cupel::proxy {

namespace {

using base::Error;
using base::Ok;
using base::Result;
using base::Status;
using Column = TableFacts::Column;

constexpr base::Seconds kClientProgram(120);

// The same for a table of each copy: FNV-1a of its name.
std::uint32_t number_of_table(std::string_view name) {
  std::uint32_t number = 2166136261;
  for (const char c : name) number = (number ^ static_cast<unsigned char>(c)) * 16777619;
  return number;
}

std::string cell(const std::vector<std::optional<std::string>>& row, std::size_t at) {
  return row[at].value_or("");
}

// JSON_OBJECT('id', …, 'n', …) of a row. `row`: "NEW."
std::string as_json(const TableFacts& table, std::string_view row) {
  std::string members;
  for (const auto& column : table.columns) {
    const auto name = std::string(row) + mysql_identifier(column.name);
    members += fmt::format("{}{}, {}", members.empty() ? "" : ", ", mysql_literal(column.name),
                           column.form == Column::Form::kBytes ? fmt::format("HEX({})", name)
                           : column.form == Column::Form::kSeconds
                               ? fmt::format("CONVERT(UNIX_TIMESTAMP({}) USING utf8mb4)", name)
                               : fmt::format("CONVERT({} USING utf8mb4)", name));
  }
  return "JSON_OBJECT(" + members + ")";
}

std::string value_of(const Column& column, const nlohmann::json& row) {
  const auto found = row.find(column.name);
  if (found == row.end() || !found->is_string()) return "NULL";
  const auto& text = found->get_ref<const std::string&>();
  switch (column.form) {
    case Column::Form::kBytes:
      return "x'" + text + "'";
    case Column::Form::kSeconds:
      return "FROM_UNIXTIME(" + text + ")";
    case Column::Form::kText:
      break;
  }
  return mysql_literal(text);
}

Column::Form form_of(std::string_view type) {
  for (const auto* bytes :
       {"binary", "blob", "bit", "geometry", "point", "linestring", "polygon", "multi"}) {
    if (type.find(bytes) != std::string_view::npos) return Column::Form::kBytes;
  }
  return type == "timestamp" ? Column::Form::kSeconds : Column::Form::kText;
}

TableFacts::KeyColumn::Kind kind_of_key(std::string_view type, std::string_view collation) {
  using Kind = TableFacts::KeyColumn::Kind;
  if (type.ends_with("int")) return Kind::kInteger;
  if (type != "char" && type != "varchar") return Kind::kOther;
  // These know all letters and digits of ASCII apart, but for the case.
  for (const auto* known :
       {"_bin", "_general_ci", "_unicode_ci", "_unicode_520_ci", "_0900_ai_ci", "_uca1400_ai_ci"}) {
    if (collation.ends_with(known)) return Kind::kFoldedText;
  }
  return Kind::kOther;
}

class MysqlTables {
 public:
  explicit MysqlTables(PlainMysql& connection) : connection_(connection) {}

  Result<Catalog> read() && {
    catalog_.dialect = Dialect::kMysql;
    for (const auto step : {&MysqlTables::tables, &MysqlTables::columns, &MysqlTables::keys,
                            &MysqlTables::foreign_keys, &MysqlTables::programs}) {
      if (auto well = (this->*step)(); !well.ok()) return std::move(well).error();
    }
    return std::move(catalog_);
  }

 private:
  TableFacts* find(const std::string& name) {
    const auto found = catalog_.tables.find(number_of_table(name));
    return found == catalog_.tables.end() ? nullptr : &found->second;
  }

  Status tables() {
    const auto rows = connection_.run(
        "SELECT TABLE_NAME, TABLE_TYPE, ENGINE, CREATE_OPTIONS, DATABASE() "
        "FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()");
    if (!rows.ok()) return rows.error();
    for (const auto& row : *rows) {
      TableFacts table{
          .oid = number_of_table(cell(row, 0)), .schema = cell(row, 4), .name = cell(row, 0)};
      const bool plain = cell(row, 1) == "BASE TABLE" && cell(row, 2) == "InnoDB" &&
                         cell(row, 3).find("partitioned") == std::string::npos;
      table.read_runs_more = table.write_runs_more = !plain;
      const auto oid = table.oid;
      if (!catalog_.tables.emplace(oid, std::move(table)).second)
        return Error{.message = "two tables have one number: " + cell(row, 0)};
    }
    return Ok{};
  }

  Status columns() {
    const auto rows = connection_.run(
        "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLLATION_NAME, EXTRA, COLUMN_DEFAULT "
        "FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() "
        "ORDER BY TABLE_NAME, ORDINAL_POSITION");
    if (!rows.ok()) return rows.error();
    for (const auto& row : *rows) {
      auto* table = find(cell(row, 0));
      if (table == nullptr) continue;
      const auto name = base::to_lower(cell(row, 1)), type = base::to_lower(cell(row, 2));
      const auto extra = base::to_lower(cell(row, 4));
      const bool generated = extra.find("generated") != std::string::npos &&
                             extra.find("default_generated") == std::string::npos;
      table->columns.push_back({name, form_of(type), generated});
      kinds_[{table->oid, name}] = kind_of_key(type, cell(row, 3));
      // A sequence's, which others draw from, too.
      if (base::to_lower(cell(row, 5)).find("nextval") != std::string::npos)
        table->write_runs_more = true;
    }
    return Ok{};
  }

  Status keys() {
    const auto rows = connection_.run(
        "SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, COLUMN_NAME, SUB_PART "
        "FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() "
        "ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX");
    if (!rows.ok()) return rows.error();
    for (const auto& row : *rows) {
      auto* table = find(cell(row, 0));
      if (table == nullptr) continue;
      const auto name = base::to_lower(cell(row, 3));
      if (cell(row, 1) == "PRIMARY") {
        table->key.push_back(
            {name, row[4] ? TableFacts::KeyColumn::Kind::kOther : kinds_[{table->oid, name}]});
      } else if (cell(row, 2) == "0") {
        table->unique_besides_key = true;
      }
    }
    return Ok{};
  }

  Status foreign_keys() {
    const auto rows = connection_.run(
        "SELECT TABLE_NAME, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME "
        "FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = DATABASE() "
        "AND REFERENCED_TABLE_NAME IS NOT NULL AND REFERENCED_TABLE_SCHEMA = DATABASE()");
    if (!rows.ok()) return rows.error();
    for (const auto& row : *rows) {
      auto *child = find(cell(row, 0)), *parent = find(cell(row, 1));
      if (child == nullptr || parent == nullptr) continue;
      child->references.push_back(parent->oid);
      parent->referenced_by.push_back(child->oid);
      const auto column = base::to_lower(cell(row, 2));
      const bool of_key = std::any_of(parent->key.begin(), parent->key.end(),
                                      [&](const auto& one) { return one.name == column; });
      if (!of_key) parent->unique_besides_key = true;
    }
    return Ok{};
  }

  Status programs() {
    const auto triggers = connection_.run(fmt::format(
        "SELECT EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = "
        "DATABASE() AND LEFT(TRIGGER_NAME, {}) <> '{}'",
        std::string_view(kRecorder).size(), kRecorder));
    if (!triggers.ok()) return triggers.error();
    for (const auto& row : *triggers) {
      if (auto* table = find(cell(row, 0))) table->write_runs_more = true;
    }
    const auto routines = connection_.run(
        "SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()");
    if (!routines.ok()) return routines.error();
    for (const auto& row : *routines) catalog_.own_functions.insert(base::to_lower(cell(row, 0)));
    return Ok{};
  }

  PlainMysql& connection_;
  Catalog catalog_;
  std::map<std::pair<std::uint32_t, std::string>, TableFacts::KeyColumn::Kind> kinds_;
};

class MysqlConnection final : public TestConnection {
 public:
  // `records`: the recorder's table, or nothing.
  MysqlConnection(PlainMysql connection, std::string records)
      : connection_(std::move(connection)), records_(std::move(records)) {}

  Result<Catalog> read_catalog() override { return MysqlTables(connection_).read(); }

  Result<Isolation> read_default_level() override {
    // MySQL 8 has one name, older MariaDB the other.
    auto said = connection_.run("SELECT @@global.transaction_isolation");
    if (!said.ok()) said = connection_.run("SELECT @@global.tx_isolation");
    if (!said.ok()) return said.error();
    return isolation_of(cell((*said)[0], 0), Dialect::kMysql).value_or(Isolation::kSerializable);
  }

  Result<Rows> read_rows(const Catalog& catalog, std::size_t most) override {
    Rows rows;
    std::size_t count = 0;
    for (const auto& [oid, table] : catalog.tables) {
      if (table.key.empty() || table.read_runs_more) continue;
      const auto said = connection_.run(
          fmt::format("SELECT {} FROM {}.{} LIMIT {}", as_json(table, ""),
                      mysql_identifier(table.schema), mysql_identifier(table.name), most + 1));
      if (!said.ok()) return said.error();
      count += said->size();
      if (count > most)
        return Error{.message = fmt::format("the tables have more than {} rows", most)};
      auto& of_table = rows[oid];
      for (const auto& row : *said) {
        of_table.push_back(nlohmann::json::parse(cell(row, 0), nullptr, false));
        if (!of_table.back().is_object())
          return Error{.message = "a row of " + table.name + " cannot be read as JSON"};
      }
    }
    return rows;
  }

  Result<Blockers> read_blockers(const std::vector<std::int32_t>& backends) override {
    const auto status = connection_.run("SHOW ENGINE INNODB STATUS");
    if (!status.ok()) return status.error();
    auto waiting = waiting_connections(status->empty() ? "" : cell(status->front(), 2));
    const auto states = connection_.run(
        fmt::format("SELECT ID, STATE FROM information_schema.PROCESSLIST WHERE ID IN ({})",
                    fmt::join(backends, ", ")));
    if (!states.ok()) return states.error();
    for (const auto& row : *states) {
      if (waits_for_lock(cell(row, 1))) waiting.insert(std::atoi(cell(row, 0).c_str()));
    }
    Blockers blockers;
    for (const auto backend : backends) {
      if (waiting.contains(backend)) blockers[backend] = {kSomeClient};
    }
    return blockers;
  }

  Result<std::vector<std::string>> read_recorded(std::int32_t backend) override {
    std::vector<std::string> entries;
    if (records_.empty()) return entries;
    auto& last = last_[backend];
    const auto rows = connection_.run(
        fmt::format("SELECT id, entry FROM {} WHERE connection = {} AND id > {} ORDER BY id",
                    records_, backend, last));
    if (!rows.ok()) return rows.error();
    for (const auto& row : *rows) {
      const auto number = cell(row, 0);
      std::from_chars(number.data(), number.data() + number.size(), last);
      entries.push_back(cell(row, 1));
    }
    return entries;
  }

  bool make_table(const TableFacts& table) override {
    // A table is not made like one of its own name.
    const auto name = mysql_identifier(table.name), other = mysql_identifier(kRecorder);
    return connection_.run(fmt::format("CREATE TEMPORARY TABLE {} LIKE {}", other, name)).ok() &&
           connection_.run(fmt::format("ALTER TABLE {} RENAME TO {}", other, name)).ok();
  }

  bool fill_table(const TableFacts& table, const std::vector<nlohmann::json>& rows) override {
    const auto name = mysql_identifier(table.name);
    if (!connection_.run("DELETE FROM " + name).ok()) return false;
    if (rows.empty()) return true;
    std::string columns, all;
    for (const auto& column : table.columns) {
      if (!column.generated)
        columns += (columns.empty() ? "" : ", ") + mysql_identifier(column.name);
    }
    for (const auto& row : rows) {
      std::string values;
      for (const auto& column : table.columns) {
        if (!column.generated) values += (values.empty() ? "" : ", ") + value_of(column, row);
      }
      all += (all.empty() ? "(" : ", (") + values + ")";
    }
    return connection_.run(fmt::format("INSERT INTO {} ({}) VALUES {}", name, columns, all)).ok();
  }

  std::optional<Answers> answer(const Request& request) override {
    auto text = std::optional(request.text);
    if (!request.simple) {
      std::vector<MysqlValue> values;
      for (const auto& parameter : request.parameters)
        values.push_back({parameter.value, parameter.number});
      text = with_values(request.text, values);
    }
    if (!text) return std::nullopt;
    auto said = connection_.run(*text);
    if (!said.ok()) return std::nullopt;
    return std::move(*said);
  }

  // An UPDATE that leaves a row as it was cannot be told from one that does not find it.
  std::optional<Changed> change(const Request& /*request*/, const TableFacts& /*table*/) override {
    return std::nullopt;
  }

 private:
  PlainMysql connection_;
  const std::string records_;
  std::map<std::int32_t, std::uint64_t> last_;  // what was read of each connection
};

class MysqlDatabase final : public TestDatabase {
 public:
  MysqlDatabase() : TestDatabase(Dialect::kMysql) {}
  ~MysqlDatabase() override {
    drop_copies();
    if (!records_.empty()) drop_database(records_);
  }

  Status open(const Options& options, drivers::Url url) {
    in_place_ = options.in_place;
    endpoint_.socket = drivers::take_option(url, "socket").value_or("");
    if (auto taken = take_tls(url); !taken.ok()) return taken;
    if (const auto unknown =
            drivers::unknown_options(url, "socket, ssl, ssl-ca or ssl-verify-server-cert"))
      return *unknown;
    if (auto taken = take_url(url, 3306); !taken.ok()) return taken;
    if (endpoint_.tls) endpoint_.tls->host = endpoint_.host;
    auto maintenance = connect_plainly(in_place_ ? name_ : "");
    if (!maintenance.ok()) return std::move(maintenance).error();
    maintenance_ = std::make_unique<PlainMysql>(std::move(*maintenance));
    if (const auto status = maintenance_->run("SHOW ENGINE INNODB STATUS"); !status.ok()) {
      return Error{.message = "the locks cannot be seen: " + status.error().message +
                              "; GRANT PROCESS ON *.* to the user"};
    }
    if (in_place_) {
      original_ = name_;
      return Ok{};
    }
    auto folder = base::TempDir::make("cupel-dump-");
    if (!folder.ok()) return std::move(folder).error();
    folder_.emplace(std::move(*folder));
    const auto facts = maintenance_->run(
        "SELECT DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM "
        "information_schema.SCHEMATA WHERE SCHEMA_NAME = " +
        mysql_literal(name_));
    if (!facts.ok()) return facts.error();
    if (facts->empty()) return Error{.message = "found no database " + name_};
    character_set_ =
        fmt::format("CHARACTER SET {} COLLATE {}", cell((*facts)[0], 0), cell((*facts)[0], 1));
    return begin_copies();
  }

  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment(
      std::uint16_t port, const std::string& database) const override {
    return {
        {"MYSQL_HOST", "127.0.0.1"},
        {"MYSQL_TCP_PORT", std::to_string(port)},
        {"MYSQL_USER", user_},
        {"MYSQL_PWD", password_},
        {"MYSQL_DATABASE", database},
        {"CUPEL_MOCK_MYSQL_URL", drivers::local_url("mysql", user_, password_, port, database)}};
  }

  [[nodiscard]] Result<std::unique_ptr<TestConnection>> connect(
      const std::string& database) const override {
    auto plain = connect_plainly(database);
    if (!plain.ok()) return std::move(plain).error();
    for (const auto* setting :
         {"SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
          "SET SESSION lock_wait_timeout = 5",  // for a table that a client changes
          "SET SESSION sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')"}) {
      if (const auto set = plain->run(setting); !set.ok()) return set.error();
    }
    return std::unique_ptr<TestConnection>(
        std::make_unique<MysqlConnection>(std::move(*plain), table_of_records()));
  }

 private:
  Status take_tls(drivers::Url& url) {
    using Check = wire::TlsOptions::Check;
    const auto on = drivers::take_choice(url, "ssl", "0", {"0", "1"});
    if (!on.ok()) return on.error();
    const auto verify = drivers::take_choice(url, "ssl-verify-server-cert", "0", {"0", "1"});
    if (!verify.ok()) return verify.error();
    const auto authorities = drivers::take_option(url, "ssl-ca").value_or("");
    if (*on == "0" && *verify == "0" && authorities.empty()) return Ok{};
    if (!endpoint_.socket.empty())
      return Error{.message = "found options of TLS with a Unix socket, which has none"};
    endpoint_.tls = {.check = *verify == "1"         ? Check::kHost
                              : !authorities.empty() ? Check::kCertificate
                                                     : Check::kNothing,
                     .authorities = authorities};
    return Ok{};
  }

  [[nodiscard]] Result<PlainMysql> connect_plainly(const std::string& database) const {
    return PlainMysql::connect({.host = endpoint_.host,
                                .port = endpoint_.port,
                                .socket = endpoint_.socket,
                                .user = user_,
                                .password = password_,
                                .database = database,
                                .tls = endpoint_.tls.has_value(),
                                .authorities = endpoint_.tls ? endpoint_.tls->authorities : "",
                                .verifies_host = verifies_host()});
  }
  [[nodiscard]] bool verifies_host() const {
    return endpoint_.tls && endpoint_.tls->check == wire::TlsOptions::Check::kHost;
  }
  [[nodiscard]] std::string table_of_records() const {
    return records_.empty() ? "" : mysql_identifier(records_) + ".entries";
  }

  // mariadb-dump or mariadb.
  Status run_program(std::vector<std::string> arguments, const std::string& input) {
    const auto program = arguments.front();
    std::vector<std::string> where{"--no-defaults", "--user=" + user_,
                                   "--default-character-set=utf8mb4"};
    if (endpoint_.socket.empty()) {
      where.insert(where.end(), {"--protocol=tcp", "--host=" + endpoint_.host,
                                 fmt::format("--port={}", endpoint_.port)});
    } else {
      where.push_back("--socket=" + endpoint_.socket);
    }
    if (endpoint_.tls) where.emplace_back("--ssl");
    if (endpoint_.tls && !endpoint_.tls->authorities.empty())
      where.push_back("--ssl-ca=" + endpoint_.tls->authorities);
    if (verifies_host()) where.emplace_back("--ssl-verify-server-cert");
    arguments.insert(arguments.begin() + 1, where.begin(), where.end());
    auto process = base::Process::start(
        {.arguments = std::move(arguments),
         .environment = {{"MYSQL_PWD", password_}},
         .input = input.empty() ? base::Stream::nothing() : base::Stream::file(input),
         .output = base::Stream::pipe(),
         .errors = base::Stream::output()});
    if (!process.ok()) {
      return Error{.message = fmt::format("{}: {}; install mariadb-client", program,
                                          process.error().message)};
    }
    const auto said = process->read_all(kClientProgram);
    const auto status = process->wait(kClientProgram);
    if (status && status->well()) return Ok{};
    return Error{.message = fmt::format("{} failed: {}", program, said.value_or("it hangs"))};
  }

  // The statements that make a database again, once for each that copies are made of.
  Result<std::string> dump_of(const std::string& database) {
    const auto file = folder_->file(database + ".sql");
    if (dumped_ == database) return file;
    auto done = run_program({"mariadb-dump", "--result-file=" + file, "--routines", "--triggers",
                             "--events", "--hex-blob", "--single-transaction", "--skip-lock-tables",
                             "--skip-comments", "--skip-add-drop-table", database},
                            "");
    if (!done.ok()) return std::move(done).error();
    dumped_ = database;
    return file;
  }

  Status make_database(const std::string& from, const std::string& to) override {
    const auto dump = dump_of(from);
    if (!dump.ok())
      return Error{.message = fmt::format("the database {} cannot be copied: {}", from,
                                          dump.error().message)};
    const auto made = maintenance_->run(
        fmt::format("CREATE DATABASE {} {}", mysql_identifier(to), character_set_));
    if (!made.ok()) {
      return Error{.message = fmt::format("the database {} cannot be copied: {}; the user needs "
                                          "the rights to create and drop databases named "
                                          "cupel_test_…; or use --in-place",
                                          from, made.error().message)};
    }
    return run_program({"mariadb", to}, *dump);
  }

  void drop_database(const std::string& name) override {
    // A connection that still uses it would be waited for.
    const auto users = maintenance_->run(
        "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = " + mysql_literal(name));
    for (std::size_t i = 0; users.ok() && i < users->size(); ++i)
      static_cast<void>(maintenance_->run("KILL CONNECTION " + cell((*users)[i], 0)));
    static_cast<void>(maintenance_->run("DROP DATABASE IF EXISTS " + mysql_identifier(name)));
  }

  Status record_original() override {
    records_ = prefix_ + "_recorder";
    auto installed = install_triggers();
    if (!installed.ok()) {
      drop_database(records_);
      records_.clear();
      if (auto removed = remove_triggers(); !removed.ok()) return removed;
    }
    dumped_.clear();  // as it was before
    return installed;
  }

  Status install_triggers() {
    auto connection = connect_plainly(original_);
    if (!connection.ok()) return std::move(connection).error();
    auto catalog = MysqlTables(*connection).read();
    if (!catalog.ok()) return std::move(catalog).error();
    std::vector<std::string> statements{
        fmt::format("CREATE DATABASE {}", mysql_identifier(records_)),
        fmt::format("CREATE TABLE {} (connection BIGINT UNSIGNED, id BIGINT UNSIGNED, "
                    "entry LONGTEXT CHARACTER SET utf8mb4, PRIMARY KEY (connection, id)) "
                    "ENGINE=InnoDB",
                    table_of_records())};
    for (const auto& [number, table] : catalog->tables) {
      if (table.key.empty() || table.read_runs_more) continue;
      for (const auto* event : {"INSERT", "UPDATE", "DELETE"}) {
        const std::string_view name = event;
        statements.push_back(fmt::format(
            "CREATE TRIGGER {} AFTER {} ON {} FOR EACH ROW INSERT INTO {} VALUES "
            "(CONNECTION_ID(), UUID_SHORT(), JSON_OBJECT('table', {}, 'old', {}, 'new', {}))",
            mysql_identifier(fmt::format("{}_{}_{}", kRecorder, base::to_lower(name), number)),
            event, mysql_identifier(table.name), table_of_records(), number,
            name == "INSERT" ? "NULL" : as_json(table, "OLD."),
            name == "DELETE" ? "NULL" : as_json(table, "NEW.")));
      }
    }
    for (const auto& statement : statements) {
      if (const auto done = connection->run(statement); !done.ok()) return done.error();
    }
    return Ok{};
  }

  Status remove_triggers() {
    auto connection = connect_plainly(original_);
    if (!connection.ok()) return std::move(connection).error();
    const auto names = connection->run(fmt::format(
        "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE() "
        "AND LEFT(TRIGGER_NAME, {}) = '{}'",
        std::string_view(kRecorder).size(), kRecorder));
    if (!names.ok()) return names.error();
    for (const auto& row : *names) {
      const auto done = connection->run("DROP TRIGGER " + mysql_identifier(cell(row, 0)));
      if (!done.ok()) return done.error();
    }
    return Ok{};
  }

  std::optional<base::TempDir> folder_;
  std::string character_set_;
  std::string dumped_;   // the database whose dump is there
  std::string records_;  // the recorder's database; empty: there is none
  std::unique_ptr<PlainMysql> maintenance_;
};

}  // namespace

Result<std::unique_ptr<TestDatabase>> open_mysql_database(const TestDatabase::Options& options,
                                                          drivers::Url url) {
  return open_database<MysqlDatabase>(options, std::move(url));
}

}  // namespace cupel::proxy
