// `cupel mock test --on`: textbook programs (textbook_client.cpp) on a real PostgreSQL. Each one
// with an anomaly fails in some of the interleavings, and the anomaly has its name; with its fix it
// fails in none.
#include "servers/on_database.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include "databases/lab/server.hpp"
#include "servers/certificate.hpp"

namespace cupel::mocktest {
namespace {

// One server for all cases.
lab::Server& server() {
  static lab::Server started = [] {
    auto made = lab::start(lab::Kind::kPostgres, {.durable = false});
    if (!made.ok()) throw std::runtime_error(made.error().to_string());
    return std::move(*made);
  }();
  return started;
}

class OnDatabase : public test::OnDatabaseTest {
 protected:
  OnDatabase() : OnDatabaseTest(server().url()) {}
  std::string sql(const std::string& statement) {
    return run({"psql", "-qXAt", "-c", statement, server().url()}).output;
  }
  void SetUp() override {
    ASSERT_EQ(sql("SET client_min_messages TO warning;"
                  "DROP TABLE IF EXISTS counters, doctors;"
                  "CREATE TABLE counters (id int PRIMARY KEY, n int, m int DEFAULT 0);"
                  "INSERT INTO counters VALUES (1, 0), (2, 0);"
                  "CREATE TABLE doctors (name text PRIMARY KEY, on_call bool, shift int);"
                  "INSERT INTO doctors VALUES ('alice', true, 1), ('bob', true, 1),"
                  "  ('carol', false, 2)"),
              "");
  }
  void TearDown() override {
    EXPECT_EQ(sql("SELECT count(*) FROM pg_database WHERE datname LIKE 'cupel_test%'"), "0\n");
    EXPECT_EQ(sql("SELECT sum(n) FROM counters"), "0\n") << "the database itself is not touched";
  }
};

using OnDatabaseFixed = OnDatabase;
using OnDatabaseRuns = OnDatabase;

// One after the other: 2. Otherwise both read first, and the second update waits for the commit of
// the first one, or comes after it: 2 for each of the two that may be first.
TEST_F(OnDatabase, FindsALostUpdate) {
  const auto ran = explore({"lost-update"});
  expect_explored(ran, 6, 4);
  EXPECT_TRUE(ran.says("lost-update (G-single)")) << ran.output;
  EXPECT_TRUE(ran.says("\"counters(1).n\"")) << ran.output;
  // The explanation refers to the list of steps, in which BEGIN is none.
  EXPECT_TRUE(ran.says("\n       bob: BEGIN\n    3  bob: SELECT n FROM")) << ran.output;
  EXPECT_TRUE(ran.says("session alice, 1st transaction, steps 1, 2 and 4\n")) << ran.output;
  EXPECT_TRUE(ran.says("session bob, 1st transaction, steps 3, 5 and 6\n")) << ran.output;
}

TEST_F(OnDatabase, FindsALostUpdateInPreparedStatements) {
  const auto ran = explore({"pipelined"});
  expect_explored(ran, 6, 4);
  EXPECT_TRUE(ran.says("lost-update (G-single)")) << ran.output;
}

TEST_F(OnDatabaseFixed, FindsNoLostUpdateInAtomicUpdates) {
  expect_explored(explore({"atomic-update"}), 4, 0);
}

TEST_F(OnDatabaseFixed, FindsNoLostUpdateWithForUpdate) {
  expect_explored(explore({"for-update"}), 6, 0);
}

// One after the other, or both read first.
TEST_F(OnDatabase, FindsWriteSkew) {
  const auto ran = explore({"write-skew", "repeatable read"});
  expect_explored(ran, 3, 1);
  EXPECT_TRUE(ran.says("write-skew (G2-item)")) << ran.output;
  EXPECT_TRUE(ran.says("\"doctors(alice).on_call\"")) << ran.output;
}

// Only the conditions of the UPDATEs read.
TEST_F(OnDatabase, FindsWriteSkewOfUpdates) {
  const auto ran = explore({"write-skew-update", "repeatable read"});
  EXPECT_EQ(ran.code, 1) << ran.output;
  EXPECT_TRUE(ran.says("write-skew (G2-item)")) << ran.output;
  EXPECT_TRUE(ran.says("\"doctors(alice).on_call\"")) << ran.output;
  EXPECT_FALSE(ran.says("Not recorded")) << ran.output;
}

TEST_F(OnDatabase, FindsALostUpdateWhereASchemaIsNamed) {
  const auto ran = explore({"qualified"});
  expect_explored(ran, 6, 4);
  EXPECT_TRUE(ran.says("lost-update (G-single)")) << ran.output;
}

TEST_F(OnDatabaseFixed, FindsNoWriteSkewAtSerializable) {
  const auto ran = explore({"write-skew", "serializable"});
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_TRUE(ran.says("; none failed")) << ran.output;
}

// One after the other, or the second waits: 2 for each that may be first. Otherwise both have a
// lock, and either may close the circle.
TEST_F(OnDatabase, FindsADeadlock) {
  const auto ran = explore({"deadlock"});
  expect_explored(ran, 6, 2);
  EXPECT_TRUE(ran.says("40P01 deadlock detected")) << ran.output;
  EXPECT_TRUE(ran.says("the server ended 1 transaction in this run (40P01)")) << ran.output;
  EXPECT_TRUE(ran.says("waited for a lock until step 4\n")) << ran.output;
}

TEST_F(OnDatabaseFixed, FindsNoDeadlockInOrderedLocks) {
  expect_explored(explore({"ordered-locks"}), 4, 0);
}

TEST_F(OnDatabaseFixed, ExploresIndependentClientsOnce) {
  expect_explored(explore({"apart"}), 1, 0);
}

// No double holds these numbers.
TEST_F(OnDatabase, FindsALostUpdateOfLargeNumbers) {
  sql("DROP TABLE IF EXISTS big; CREATE TABLE big (id int PRIMARY KEY, v numeric, j jsonb);"
      "INSERT INTO big VALUES (1, 12345678901234567890.10, '1.5'), (2, 1e400, '{\"a\": 7}')");
  const auto ran = run(
      {CUPEL_BINARY, "mock", "test", "--on", server().url(), "--explore", "--", "sh", "-c",
       "for c in a b; do printf '%s\n' BEGIN\\; 'SELECT v FROM big WHERE id = 1 \\gset' "
       "'UPDATE big SET v = :v + 1 WHERE id = 1;' COMMIT\\; | PGAPPNAME=$c psql -qX & done; wait; "
       "test \"$(psql -qXAt -c 'SELECT v FROM big WHERE id = 1')\" = 12345678901234567892.10"});
  sql("DROP TABLE big");
  expect_explored(ran, 6, 4);
  EXPECT_TRUE(ran.says("lost-update (G-single)")) << ran.output;
  EXPECT_TRUE(ran.says("12345678901234567890.10")) << ran.output;
  EXPECT_FALSE(ran.says("Not recorded")) << ran.output;
}

// Which row gets which number depends on the order.
TEST_F(OnDatabase, FindsThatTheOrderDrawsTheNumbers) {
  for (const char* ticket : {"serial", "int GENERATED ALWAYS AS IDENTITY"}) {
    sql(std::string("DROP TABLE IF EXISTS queue; CREATE TABLE queue (id int PRIMARY KEY, ticket ") +
        ticket + ")");
    const auto ran = run(
        {CUPEL_BINARY, "mock", "test", "--on", server().url(), "--explore", "--", "sh", "-c",
         "for id in 1 2; do PGAPPNAME=c$id psql -qX -c \"INSERT INTO queue (id) VALUES ($id)\" & "
         "done; wait; "
         "test \"$(psql -qXAt -c 'SELECT id FROM queue ORDER BY ticket LIMIT 1')\" = 1"});
    EXPECT_EQ(ran.code, 1) << ticket << "\n" << ran.output;
    EXPECT_TRUE(ran.says("; 1 failed")) << ticket << "\n" << ran.output;
  }
  sql("DROP TABLE queue");
}

// Without the tables as they are now, it would not be known which statements are independent. Or
// the locks cannot be seen first, or nothing was said before the connection was gone: then libpq
// and the server have several messages.
TEST_F(OnDatabaseRuns, FailsWhereTheTablesCannotBeReadAgain) {
  const auto ran =
      run({CUPEL_BINARY, "mock", "test", "--on", server().url(), "--iterations", "1", "--", "psql",
           "-qXAt", "-c",
           "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
           "'cupel' AND datname LIKE 'cupel_test%'"});
  EXPECT_EQ(ran.code, 3) << ran.output;
  EXPECT_TRUE(ran.says("the tables cannot be read again") || ran.says("cupel: the database: "))
      << ran.output;
}

// The last look at the result is often a transaction that does not commit.
TEST_F(OnDatabaseRuns, SaysThatReadersDidNotCommit) {
  const auto ran = run({CUPEL_BINARY, "mock", "test", "--on", server().url(), "--iterations", "1",
                        "--", "sh", "-c",
                        "psql -qX -c 'UPDATE counters SET n = 1'; "
                        "psql -qX -c BEGIN -c 'SELECT sum(n) FROM counters'; exit 1"});
  EXPECT_EQ(ran.code, 1) << ran.output;
  EXPECT_TRUE(ran.says("1 transaction read and did not commit")) << ran.output;
}

// A pass of another run than the one that was asked for is no pass.
TEST_F(OnDatabaseRuns, TakesNoOtherRunForTheOneOfTheChoices) {
  const auto ran = test({"--choices", "0,9,9,9"}, {"atomic-update"});
  EXPECT_EQ(ran.code, 2) << ran.output;
  EXPECT_TRUE(ran.says("warning: the run did not offer")) << ran.output;
}

TEST_F(OnDatabaseRuns, RepeatsARunByItsChoices) {
  const auto first = explore({"lost-update"});
  std::smatch found;
  ASSERT_TRUE(
      std::regex_search(first.output, found, std::regex("again: .*--choices ([0-9,]+) -- ")))
      << first.output;
  const auto again = test({"--choices", found[1]}, {"lost-update"});
  EXPECT_EQ(again.code, 1) << again.output;
  EXPECT_TRUE(again.says("lost-update (G-single)")) << again.output;
  EXPECT_FALSE(again.says("warning: the run")) << again.output;
}

TEST_F(OnDatabaseRuns, FindsALostUpdateBySeeds) {
  const auto first = test({"--iterations", "20", "--jobs", "2"}, {"lost-update"});
  EXPECT_EQ(first.code, 1) << first.output;
  std::smatch found;
  ASSERT_TRUE(std::regex_search(first.output, found, std::regex("again: .*--seed (\\d+) ")))
      << first.output;
  const auto again = test({"--seed", found[1], "--iterations", "1"}, {"lost-update"});
  EXPECT_EQ(again.code, 1) << again.output;
  EXPECT_TRUE(again.says("lost-update (G-single)")) << again.output;
}

// It fails whatever the database does, and no anomaly is to blame: the clients count other shifts,
// change other columns of one row, and write what is there already.
TEST_F(OnDatabaseFixed, AccusesNoInnocentStatement) {
  const auto ran = explore({"blameless"});
  EXPECT_EQ(ran.code, 1) << ran.output;
  EXPECT_TRUE(ran.says("No anomaly was found")) << ran.output;
  EXPECT_FALSE(ran.says("Not recorded")) << ran.output;
}

TEST_F(OnDatabaseRuns, SetsUpACopy) {
  const auto ran = test({"--iterations", "2", "--setup", "psql -qX -c 'UPDATE counters SET n = 1'"},
                        {"lost-update"});
  EXPECT_EQ(ran.code, 1) << ran.output;
  EXPECT_TRUE(ran.says("expected 2")) << ran.output;
}

// Every answer to a SELECT can be found again: joins, groups, limits, subqueries, savepoints.
TEST_F(OnDatabaseRuns, RecordsWhatSelectsRead) {
  sql("CREATE TABLE IF NOT EXISTS calls (id serial PRIMARY KEY, doctor text REFERENCES doctors)");
  const auto ran = run(
      {CUPEL_BINARY, "mock", "test", "--on", server().url(), "--iterations", "1", "--", "sh", "-c",
       "psql -qXAt -c \"BEGIN; INSERT INTO calls (doctor) VALUES ('bob'); COMMIT\" "
       "-c BEGIN -c 'SAVEPOINT s' -c 'DELETE FROM calls' -c 'SELECT count(*) FROM calls' "
       "-c 'ROLLBACK TO s' -c 'SELECT * FROM calls' "
       "-c 'SELECT d.name, d.shift + count(c.id) FROM doctors d LEFT JOIN calls c "
       "ON c.doctor = d.name GROUP BY d.name ORDER BY 2 DESC' "
       "-c 'UPDATE doctors SET shift = shift + 1' -c COMMIT "
       "-c 'SELECT name FROM doctors ORDER BY shift DESC LIMIT 1' "
       "-c 'WITH c AS (SELECT doctor FROM calls) SELECT name FROM doctors WHERE name IN "
       "(SELECT doctor FROM c)'; exit 1"});
  sql("DROP TABLE calls");
  EXPECT_TRUE(ran.says("No anomaly was found")) << ran.output;
  EXPECT_FALSE(ran.says("Not recorded")) << ran.output;
}

TEST_F(OnDatabaseRuns, WorksInPlace) {
  const std::string back = "psql -qX -c 'UPDATE counters SET n = 0'";
  const auto ran = test({"--in-place", "--explore", "--setup", back}, {"lost-update"});
  expect_explored(ran, 6, 4);
  EXPECT_TRUE(ran.says("Nothing is recorded, so an anomaly has no name: a database in place"))
      << ran.output;
  EXPECT_FALSE(ran.says("satisfied")) << ran.output;
  sql("UPDATE counters SET n = 0");
}

TEST_F(OnDatabaseRuns, CopiesTheSettingsOfTheDatabase) {
  sql("ALTER DATABASE cupel SET default_transaction_isolation TO 'serializable'");
  const auto ran = run({CUPEL_BINARY, "mock", "test", "--on", server().url(), "--iterations", "1",
                        "--", "sh", "-c",
                        "test \"$(psql -qXAt -c 'SHOW default_transaction_isolation')\" = "
                        "serializable"});
  sql("ALTER DATABASE cupel RESET default_transaction_isolation");
  EXPECT_EQ(ran.code, 0) << ran.output;
}

TEST_F(OnDatabaseRuns, CopiesTheSettingsOfARoleWithAnyName) {
  sql("CREATE ROLE \"till@shop\"");
  sql("ALTER ROLE \"till@shop\" IN DATABASE cupel SET statement_timeout TO '7s'");
  const auto ran = run(
      {CUPEL_BINARY, "mock", "test", "--on", server().url(), "--iterations", "1", "--", "sh", "-c",
       "test \"$(psql -qXAt -c \"SELECT setrole::regrole, setconfig FROM pg_db_role_setting "
       "WHERE setrole <> 0 AND setdatabase = (SELECT oid FROM pg_database WHERE datname = "
       "current_database())\")\" = '\"till@shop\"|{statement_timeout=7s}'"});
  sql("ALTER ROLE \"till@shop\" IN DATABASE cupel RESET ALL");
  sql("DROP ROLE \"till@shop\"");
  EXPECT_EQ(ran.code, 0) << ran.output;
}

TEST_F(OnDatabaseRuns, SurvivesAClientThatIsKilledInATransaction) {
  const auto ran =
      run({CUPEL_BINARY, "mock", "test", "--on", server().url(), "--explore", "--", "sh", "-c",
           "(echo 'BEGIN; UPDATE counters SET n = 7 WHERE id = 1;'; "
           "echo '\\! kill -9 $PPID') | PGAPPNAME=killed psql -qX; "
           "test \"$(psql -qXAt -c 'SELECT n FROM counters WHERE id = 1')\" = 0"});
  EXPECT_EQ(ran.code, 0) << ran.output;
}

// The clients have no TLS, the server has it.
TEST(OnDatabaseTls, IsUsedToTheServer) {
  const test::Certificate certificate("postgres"), other("postgres");
  auto server = lab::start(lab::Kind::kPostgres,
                           {.server_options = {"ssl=on", "ssl_cert_file=" + certificate.file(),
                                               "ssl_key_file=" + certificate.key()},
                            .durable = false});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  const test::ScratchFolder folder;
  const auto on = [&](const std::string& host, const std::string& options) {
    return test::run_in(
        folder,
        {CUPEL_BINARY, "mock", "test", "--on",
         "postgres://cupel@" + host + ":" + std::to_string(server->port()) + "/cupel" + options,
         "--iterations", "1", "--", "bash", "-c",
         "psql -qXAt -c \"SELECT 'TLS ' || ssl FROM pg_stat_ssl WHERE pid = "
         "pg_backend_pid()\"; exit 1"});
  };
  const auto authority = "&sslrootcert=" + certificate.file();
  for (const auto& options :
       {std::string("?sslmode=require"), std::string(), std::string("?sslmode=prefer"),
        "?sslmode=verify-ca" + authority, "?sslmode=verify-full" + authority}) {
    const auto ran = on("localhost", options);
    EXPECT_TRUE(ran.says("TLS true")) << ran.output;
  }
  EXPECT_TRUE(on("localhost", "?sslmode=disable").says("TLS false"));
  EXPECT_TRUE(on("localhost", "?sslmode=allow").says("TLS false"));
  for (const auto& refused : {on("localhost", "?sslmode=verify-full&sslrootcert=" + other.file()),
                              on("127.0.0.1", "?sslmode=verify-full" + authority),
                              on("localhost", "?sslmode=verify-full")})
    EXPECT_EQ(refused.code, 3) << refused.output;
}

// The server offers to bind the login to its TLS, which the client does not have. No password is
// printed, and the line that repeats the run can be pasted.
TEST(OnDatabaseTls, LetsClientsLogInByScram) {
  const test::Certificate certificate("postgres");
  const auto hba = (std::filesystem::path(certificate.file()).parent_path() / "hba").string();
  std::ofstream(hba) << "local all all trust\nhost all secret all scram-sha-256\n"
                        "host all all all trust\n";
  std::filesystem::permissions(hba, std::filesystem::perms(0644));
  auto server =
      lab::start(lab::Kind::kPostgres,
                 {.server_options = {"ssl=on", "ssl_cert_file=" + certificate.file(),
                                     "ssl_key_file=" + certificate.key(), "hba_file=" + hba},
                  .durable = false});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  const test::ScratchFolder folder;
  const auto made = test::run_in(
      folder,
      {"psql", "-qXc", "CREATE ROLE secret SUPERUSER LOGIN PASSWORD 'it''s me'", server->url()});
  ASSERT_EQ(made.code, 0) << made.output;
  const auto place = "localhost:" + std::to_string(server->port()) + "/cupel?sslmode=require";
  const auto ran = test::run_in(
      folder, {CUPEL_BINARY, "mock", "test", "--on", "postgres://secret:it%27s%20me@" + place,
               "--iterations", "1", "--", "bash", "-c",
               "psql -qXAtc \"SELECT current_user || ' over ' || ssl FROM pg_stat_ssl WHERE pid = "
               "pg_backend_pid()\"; exit 1"});
  EXPECT_EQ(ran.code, 1) << ran.output;
  EXPECT_TRUE(ran.says("secret over true")) << ran.output;
  EXPECT_FALSE(ran.says("s me@") || ran.says("%20me")) << ran.output;
  EXPECT_TRUE(ran.says("Set PGPASSWORD to the password first")) << ran.output;
  std::smatch again;
  ASSERT_TRUE(std::regex_search(ran.output, again, std::regex("\nagain: cupel( .*)\n")))
      << ran.output;
  const auto repeated = test::run_in(
      folder, {"bash", "-c",
               "export PGPASSWORD=\"it's me\"; " + std::string(CUPEL_BINARY) + again[1].str()});
  EXPECT_EQ(repeated.code, 1) << repeated.output;
  EXPECT_TRUE(repeated.says("secret over true")) << repeated.output;
}

// Another run may get another number.
TEST_F(OnDatabaseRuns, SaysThatAStatementIsNotRepeatable) {
  const auto ran = run({CUPEL_BINARY, "mock", "test", "--on", server().url(), "--explore", "--",
                        "psql", "-qXAtc", "UPDATE counters SET m = random() * 9 WHERE id = 1"});
  EXPECT_EQ(ran.code, 2) << ran.output;
  EXPECT_TRUE(
      ran.says("this is not exhaustive: `UPDATE counters SET m = random() * 9 WHERE id = 1`"
               " is not repeatable"))
      << ran.output;
}

TEST_F(OnDatabaseRuns, SaysWhatIsWrong) {
  const auto on = [&](const std::string& url) {
    return run({CUPEL_BINARY, "mock", "test", "--on", url, "--iterations", "1", "--", "true"});
  };
  const auto other = on("redis://127.0.0.1");
  EXPECT_EQ(other.code, 3);
  EXPECT_TRUE(other.says("Write one of postgres://")) << other.output;
  const auto unused = on(server().url());
  EXPECT_EQ(unused.code, 3);
  EXPECT_TRUE(unused.says("never connected to the database")) << unused.output;
}

}  // namespace
}  // namespace cupel::mocktest
