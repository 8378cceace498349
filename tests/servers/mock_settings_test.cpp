// Every setting of PostgreSQL's that the mock knows, asked of PostgreSQL itself: many values each,
// in all units, within their bounds and beyond, and words that are none. What is shown, the
// SQLSTATE, the message, the detail and the hint are the same. Where the mock says 0A000 it is one
// of the settings that it does not do, and a value other than its own.
//
// CUPEL_MOCK_SETTINGS_SEED asks for other random quantities.
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "lab/server.hpp"
#include "servers/random_sql.hpp"
#include "sql/dialect/settings_postgres.hpp"
#include "sql/session.hpp"

namespace cupel::sql {
namespace {

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;

// Of the last statement that gives rows, or of the error: "-5 ms is outside …".
std::string in_postgres(PGconn* connection, const std::string& sql) {
  std::string shown;
  if (PQsendQuery(connection, sql.c_str()) != 1) return PQerrorMessage(connection);
  while (PGresult* next = PQgetResult(connection)) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(next, PQclear);
    const auto field = [&](int code) {
      const char* text = PQresultErrorField(result.get(), code);
      return text == nullptr ? std::string() : std::string(text);
    };
    if (PQresultStatus(result.get()) == PGRES_FATAL_ERROR) {
      shown = "error " + field(PG_DIAG_SQLSTATE) + " " + field(PG_DIAG_MESSAGE_PRIMARY) + "|" +
              field(PG_DIAG_MESSAGE_DETAIL) + "|" + field(PG_DIAG_MESSAGE_HINT);
    } else if (PQntuples(result.get()) > 0) {
      shown = PQgetvalue(result.get(), 0, 0);
    }
  }
  return shown;
}

std::string in_mock(Session& session, const std::string& sql) {
  const auto run = session.run(sql);
  std::string shown;
  for (const auto& result : run.results) {
    if (!result.rows.empty()) shown = result.rows[0][0].value_or("null");
  }
  if (!run.error) return shown;
  const auto& wrong = *run.error;
  return "error " + wrong.sqlstate + " " + wrong.message + "|" + wrong.detail + "|" + wrong.hint;
}

const std::vector<std::string>& values() {
  static const std::vector<std::string> all = {
      "", " ", "x", "default", "on", "off", "ON", "t", "tru", "f", "yes", "y", "no", "n", "o", "of",
      "1", "0", "-1", "2", "3", "4", "true", "false",
      // Numbers, as C has them.
      "1.5", "0.4", "0.5", "-0.4", "2.5", "1e3", "1E2", "1e400", "1e-400", "1e20", "nan", "inf",
      "-inf", "0x10", "010", "08", " 7 ", "+80", "--1", "1 2", "0x1p3", ".5", "5.", "63", "64",
      "99", "100", "1000", "1023", "1024", "10000", "10001", "262143", "1073741823", "1073741824",
      "2147483647", "2147483648", "-2147483648", "-2147483649", "99999999999", "-5", "-15", "-16",
      "0.12345678901", "123456789",
      // Quantities.
      "1001kB", "1025kB", "1MB", "1 MB", "1mb", "1Mb", "1M", "63.4kB", "63.6kB", "1.5MB", "30.1GB",
      "0.1GB", "1B", "8192B", "65536B", "65537B", "66048B", "3TB", "8TB", "17TB", "2047GB", "-1kB",
      "4 MB x", "4MBx", "1 kB 1", "1500ms", "2s", "1.5s", "90s", " 7  s ", "500us", "1500us",
      "2500us", "1min", "1 min", "36h", "24d", "25d", "30d", "0.5d", "1.0001h", "-5s", "5 parsecs",
      "60000", "86400000", "0s", "0d", "1 m",
      // Words.
      "debug", "debug1", "info", "notice", "warning", "log", "fatal", "panic", "Error", "document",
      "iso_8601", "sql_standard", "ISO", "iso, dmy", "SQL", "DMY,YMD", "german", "US", "European",
      "iso ymd", "iso,", "ISO, default", "utc", "Etc/utc", "gmt", "+00:00", "Europe/Berlin",
      "Mars/Base", "UTF-8", "unicode", "latin1", "klingon", "C", "c", "POSIX", "C.UTF-8", "none",
      "heap", "HEAP", "pg_default", "simple", "pg_catalog.simple", "english", "md5",
      "scram-sha-256", "local", "replica", "origin", "ddl", "escape", "hex", "auto",
      "force_custom_plan", "partition", "safe_encoding", "remote_write", "postgres", "public",
      "\"A b\", public", "a,,public", "\"open", "public \"$user\"", "Public", "\"\"\"q\",public",
      "a b", "é ü", "tab\there"};
  return all;
}

// What the mock does in one way alone.
const std::set<std::string>& fixed() {
  static const std::set<std::string> all = {"backslash_quote",
                                            "client_encoding",
                                            "datestyle",
                                            "default_text_search_config",
                                            "extra_float_digits",
                                            "lc_messages",
                                            "lc_monetary",
                                            "lc_numeric",
                                            "lc_time",
                                            "role",
                                            "search_path",
                                            "session_replication_role",
                                            "standard_conforming_strings",
                                            "timezone",
                                            "transform_null_equals"};
  return all;
}

// What the machine and the server's own configuration decide.
bool of_the_machine(const std::string& name) {
  static const std::set<std::string> all = {
      "application_name", "default_text_search_config", "is_superuser", "jit", "lc_ctype",
      "server_version",   "server_version_num",         "timezone"};
  return all.contains(name) || name.starts_with("cupel.");
}

class MockSettingsServer : public ::testing::Test {
 protected:
  void SetUp() override {
    lab::Options options;
    options.durable = false;
    options.server_options = {"deadlock_timeout=1s"};  // the lab sets another
    auto started = lab::start(lab::Kind::kPostgres, options);
    ASSERT_TRUE(started.ok()) << started.error().to_string();
    server_.emplace(std::move(started).value());
    const auto to = "host=127.0.0.1 user=cupel dbname=cupel connect_timeout=10 port=" +
                    std::to_string(server_->port());
    connection_.reset(PQconnectdb(to.c_str()));
    ASSERT_EQ(PQstatus(connection_.get()), CONNECTION_OK) << PQerrorMessage(connection_.get());
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
    mock::Options store_options;
    store_options.level = mock::Level::kStrongSessionSerializable;
    store_ = std::make_unique<mock::Store>(store_options);
    catalog_ = std::make_unique<Catalog>(store_options.level);
    session_ = Session::open(*store_, *catalog_, Product::kPostgres, "one");
  }

  // Adds up what was the same; says what was not.
  void ask(const std::string& setting, const std::string& sql) {
    const auto theirs = in_postgres(connection_.get(), sql);
    const auto ours = in_mock(*session_, sql);
    if (ours == theirs) {
      if (!ours.starts_with("error ")) ++shown_[setting];
      ++same_[ours.starts_with("error ") ? ours.substr(6, 5) : "shown"];
      return;
    }
    if (ours.starts_with("error 0A000 ") && fixed().contains(setting)) {
      ++not_done_[setting];
      return;
    }
    // Shown is what the socket has.
    if (setting.starts_with("tcp_") && !ours.starts_with("error") && !theirs.starts_with("error")) {
      return;
    }
    ++differences_;
    ADD_FAILURE() << sql << "\n  PostgreSQL: " << theirs << "\n  mock:       " << ours;
  }

  std::optional<lab::Server> server_;
  Connection connection_{nullptr, PQfinish};
  std::unique_ptr<mock::Store> store_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Session> session_;
  std::map<std::string, std::size_t> same_, not_done_, shown_;
  std::size_t differences_ = 0;
};

std::string random_quantity(std::mt19937_64& random) {
  const auto below = [&](std::size_t count) { return random() % count; };
  static const std::vector<std::string> units = {"",   "B",  "kB", "MB",  "GB", "TB",
                                                 "us", "ms", "s",  "min", "h",  "d"};
  std::string number = std::to_string(below(below(2) == 0 ? 200 : 4'000'000));
  if (below(3) == 0) number += "." + std::to_string(below(1000));
  if (below(20) == 0) number = "-" + number;
  return number + (below(4) == 0 ? " " : "") + units[below(units.size())];
}

TEST_F(MockSettingsServer, EveryValueOfEverySetting) {
  for (const auto& [name, value] : postgres::first_settings()) {
    if (!of_the_machine(name)) {
      ask(name, "SHOW " + name);
    }
  }
  std::mt19937_64 random(asked("CUPEL_MOCK_SETTINGS_SEED", 1));
  std::size_t settings = 0;
  for (const auto& [name, first] : postgres::first_settings()) {
    if (name.starts_with("cupel.")) continue;
    ++settings;
    const bool changeable = !in_mock(*session_, "SET " + name + " = ''").starts_with("error 55P02");
    if (changeable && !name.starts_with("tcp_")) shown_[name] = 0;
    in_mock(*session_, "RESET " + name);
    // Of this statement alone, and shown by it: a timeout of a millisecond ends nothing.
    const auto set_to = [&](const std::string& value) {
      ask(name, "SELECT set_config('" + name + "', '" + value + "', true)");
    };
    for (const auto& value : values()) set_to(value);
    for (int count = 0; count < 40; ++count) set_to(random_quantity(random));
  }
  EXPECT_GT(settings, 80u);
  EXPECT_GT(same_["shown"], 1500u);
  EXPECT_GT(same_["22023"], 5000u);
  EXPECT_GT(same_["55P02"], 1000u);
  for (const auto& [name, count] : shown_) EXPECT_GT(count, 0u) << name;
}

TEST_F(MockSettingsServer, WaysOfSetting) {
  for (const std::string one : {"work_mem = 4096",
                                "work_mem TO 4096",
                                "work_mem = -1",
                                "work_mem = 1.5",
                                "work_mem = 1e3",
                                "work_mem = 99999999999",
                                "work_mem = big",
                                "work_mem = on",
                                "work_mem = '1MB', '2MB'",
                                "work_mem = DEFAULT",
                                "temp_buffers = 1000",
                                "effective_cache_size = 1",
                                "statement_timeout = '1500ms'",
                                "statement_timeout = '2s'",
                                "statement_timeout = 90000",
                                "geqo = true",
                                "geqo = 'f'",
                                "geqo = 1",
                                "geqo = 2",
                                "geqo = on, off",
                                "random_page_cost = 1.1",
                                "random_page_cost = -1",
                                "bytea_output = ESCAPE",
                                "search_path = public",
                                "search_path = a, public",
                                "search_path = \"A b\", public",
                                "search_path = 'A b', 'public'",
                                "search_path TO \"$user\", public",
                                "datestyle = ISO, DMY",
                                "datestyle = YMD",
                                "datestyle = 'nonsense'",
                                "default_transaction_isolation = 'repeatable read'",
                                "default_transaction_isolation = 'repeatable-read'",
                                "default_transaction_isolation = SERIALIZABLE",
                                "transaction_isolation = 'x'",
                                "transaction_isolation = 'serializable'",
                                "default_transaction_read_only = maybe",
                                "default_transaction_read_only = on",
                                "transaction_read_only = 2",
                                "default_transaction_deferrable = on",
                                "transaction_deferrable = on",
                                "transaction_deferrable = x",
                                "app.name = 'a b'",
                                "app.name = 1.50",
                                "app.name = a, b",
                                "\"app.9x\" = 1",
                                "\"app..x\" = 1",
                                "\"app.a b\" = 1",
                                "no_such_setting = 1",
                                "server_version = 1",
                                "max_prepared_transactions = 1",
                                "ssl = on",
                                "lc_messages = 'POSIX'",
                                "synchronous_commit = TRUE"}) {
    const auto name = one.substr(0, one.find(' '));
    ask(name, "SET " + one + "; SHOW " + name);
    ask(name, "BEGIN; SET LOCAL " + one + "; SHOW " + name);
    ask(name, "ROLLBACK; RESET " + name);
    if (!of_the_machine(name)) ask(name, "SHOW " + name);
  }
  for (const auto* sql :
       {"BEGIN DEFERRABLE; SHOW transaction_deferrable", "COMMIT; SHOW transaction_deferrable",
        "BEGIN; SELECT count(*) FROM (VALUES (1)) k", "ROLLBACK",
        "SET SESSION CHARACTERISTICS AS TRANSACTION DEFERRABLE; SHOW "
        "default_transaction_deferrable",
        "BEGIN; SHOW transaction_deferrable",
        "ROLLBACK; RESET ALL; SHOW default_transaction_deferrable", "RESET server_version",
        "SET server_version TO DEFAULT", "SET TIME ZONE 0; SHOW TimeZone",
        "SET TIME ZONE 'utc'; SHOW TimeZone", "SET NAMES 'utf8'; SHOW client_encoding",
        "SET NAMES 'klingon'",
        "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ; SHOW transaction_isolation",
        "ROLLBACK"}) {
    ask("", sql);
  }
  EXPECT_GT(same_["shown"] + same_["22023"], 100u);
  EXPECT_LT(not_done_.size(), 3u);
}

}  // namespace
}  // namespace cupel::sql
