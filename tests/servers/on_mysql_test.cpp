// `cupel mock test --on` with MySQL's protocol: textbook programs (textbook_client.cpp) on MariaDB.
// Each one with an anomaly fails in some of the interleavings, and the anomaly has its name; with
// its fix it fails in none.
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "databases/lab/server.hpp"
#include "servers/certificate.hpp"
#include "servers/on_database.hpp"

namespace cupel::mocktest {
namespace {

using test::Ran;

lab::Server started(lab::Kind kind, std::uint32_t nodes) {
  auto made = lab::start(kind, {.durable = false, .nodes = nodes});
  if (!made.ok()) throw std::runtime_error(made.error().to_string());
  return std::move(*made);
}
// One server for all cases.
lab::Server& server() {
  static lab::Server one = started(lab::Kind::kMariadb, 0);
  return one;
}
lab::Server& galera() {
  static lab::Server one = started(lab::Kind::kGalera, 1);
  return one;
}

class OnMysqlTest : public test::OnDatabaseTest {
 protected:
  explicit OnMysqlTest(lab::Server& server) : OnDatabaseTest(server.url()), server_(server) {}
  std::string sql(const std::string& statements) {
    return run({"mariadb", "--no-defaults", "--protocol=tcp", "--host=127.0.0.1",
                "--port=" + std::to_string(server_.port()), "--user=cupel", "--batch",
                "--skip-column-names", "cupel", "-e", statements})
        .output;
  }
  void SetUp() override {
    ASSERT_EQ(sql("DROP TABLE IF EXISTS calls, counters, doctors;"
                  "CREATE TABLE counters (id int PRIMARY KEY, n int, m int DEFAULT 0);"
                  "INSERT INTO counters VALUES (1, 0, 0), (2, 0, 0);"
                  "CREATE TABLE doctors (name varchar(20) PRIMARY KEY, on_call bool, shift int)"
                  "  CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;"
                  "INSERT INTO doctors VALUES ('alice', true, 1), ('bob', true, 1),"
                  "  ('carol', false, 2)"),
              "");
  }
  void TearDown() override {
    EXPECT_EQ(sql("SHOW DATABASES LIKE 'cupel_test%'"), "");
    EXPECT_EQ(sql("SELECT sum(n) FROM counters"), "0\n") << "the database itself is not touched";
  }

 private:
  lab::Server& server_;
};

class OnMysql : public OnMysqlTest {
 protected:
  OnMysql() : OnMysqlTest(server()) {}
  // The command of a shell, with the client program of MariaDB as `db`.
  Ran shell(const std::string& script, const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments{CUPEL_BINARY,   "mock",         "test", "--on",
                                       server().url(), "--iterations", "1"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(),
                     {"--", "bash", "-c",
                      "db() { mariadb --no-defaults --protocol=tcp -h $MYSQL_HOST -P "
                      "$MYSQL_TCP_PORT -u $MYSQL_USER -BN $MYSQL_DATABASE \"$@\"; }; " +
                          script});
    return run(arguments);
  }
};
using OnMysqlFixed = OnMysql;
using OnMysqlRuns = OnMysql;

class OnGalera : public OnMysqlTest {
 protected:
  OnGalera() : OnMysqlTest(galera()) {}
};

// As on PostgreSQL.
TEST_F(OnMysql, FindsALostUpdate) {
  const auto ran = explore({"lost-update"});
  expect_explored(ran, 6, 4);
  EXPECT_TRUE(ran.says("lost-update (G-single)")) << ran.output;
  EXPECT_TRUE(ran.says("\"counters(1).n\"")) << ran.output;
}

TEST_F(OnMysql, FindsALostUpdateInPreparedStatements) {
  const auto ran = explore({"pipelined"});
  expect_explored(ran, 6, 4);
  EXPECT_TRUE(ran.says("lost-update (G-single)")) << ran.output;
}

TEST_F(OnMysqlFixed, FindsNoLostUpdateInAtomicUpdates) {
  expect_explored(explore({"atomic-update"}), 4, 0);
}

TEST_F(OnMysqlFixed, FindsNoLostUpdateWithForUpdate) {
  expect_explored(explore({"for-update"}), 6, 0);
}

// One after the other, or both read first.
TEST_F(OnMysql, FindsWriteSkew) {
  const auto ran = explore({"write-skew", "repeatable read"});
  expect_explored(ran, 3, 1);
  EXPECT_TRUE(ran.says("write-skew (G2-item)")) << ran.output;
  EXPECT_TRUE(ran.says("\"doctors(alice).on_call\"")) << ran.output;
}

TEST_F(OnMysqlFixed, FindsNoWriteSkewAtSerializable) {
  const auto ran = explore({"write-skew", "serializable"});
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_TRUE(ran.says("; none failed")) << ran.output;
}

TEST_F(OnMysql, FindsADeadlock) {
  const auto ran = explore({"deadlock"});
  expect_explored(ran, 6, 2);
  EXPECT_TRUE(ran.says("1213 Deadlock found")) << ran.output;
  EXPECT_TRUE(ran.says("the server ended 1 transaction in this run (1213)")) << ran.output;
  EXPECT_TRUE(ran.says("waited for a lock")) << ran.output;
}

TEST_F(OnMysqlFixed, FindsNoDeadlockInOrderedLocks) {
  expect_explored(explore({"ordered-locks"}), 4, 0);
}

// The SELECT of each takes a snapshot, before or after the commit of the other.
TEST_F(OnMysqlFixed, ExploresClientsOfDifferentRows) {
  expect_explored(explore({"apart"}), 3, 0);
}

TEST_F(OnMysqlFixed, AccusesNoInnocentStatement) {
  const auto ran = explore({"blameless"});
  EXPECT_EQ(ran.code, 1) << ran.output;
  EXPECT_TRUE(ran.says("No anomaly was found")) << ran.output;
  EXPECT_FALSE(ran.says("Not recorded")) << ran.output;
}

TEST_F(OnMysqlRuns, RepeatsARunByItsChoicesAndBySeeds) {
  const auto first = test({"--iterations", "20"}, {"lost-update"});
  EXPECT_EQ(first.code, 1) << first.output;
  std::smatch found;
  ASSERT_TRUE(std::regex_search(first.output, found, std::regex("again: .*--seed (\\d+) ")))
      << first.output;
  for (const auto& again : {test({"--seed", found[1], "--iterations", "1"}, {"lost-update"}),
                            test({"--choices", "0,0,1,0"}, {"lost-update"})}) {
    EXPECT_EQ(again.code, 1) << again.output;
    EXPECT_TRUE(again.says("lost-update (G-single)")) << again.output;
    EXPECT_FALSE(again.says("warning: the run")) << again.output;
  }
}

// Every answer to a SELECT can be found again: types, joins, groups, limits, savepoints.
TEST_F(OnMysqlRuns, RecordsWhatSelectsRead) {
  sql("CREATE TABLE calls (id int AUTO_INCREMENT PRIMARY KEY, doctor varchar(20), f double,"
      "  d decimal(10, 3), b varbinary(9), t timestamp(3) NULL, twice int AS (id * 2),"
      "  FOREIGN KEY (doctor) REFERENCES doctors (name))");
  const auto ran = shell(R"sh(db -e "
      INSERT INTO calls (doctor, f, d, b, t) VALUES ('bob', 0.1, 1.5, x'00ff27', now(3));
      BEGIN; SAVEPOINT s; UPDATE calls SET f = 1e300; SELECT f, d, twice FROM calls;
      ROLLBACK TO s; SELECT * FROM calls;
      SELECT d.name, d.shift + count(c.id) FROM doctors d LEFT JOIN calls c ON c.doctor = d.name
        GROUP BY d.name ORDER BY 2 DESC;
      UPDATE doctors SET shift = shift + 1; COMMIT;
      SELECT name FROM doctors WHERE name = 'BOB' ORDER BY shift DESC LIMIT 0, 1;
      WITH c AS (SELECT doctor FROM calls) SELECT IFNULL(name, '') FROM doctors
        WHERE name IN (SELECT doctor FROM c)"; exit 1)sh");
  EXPECT_TRUE(ran.says("No anomaly was found")) << ran.output;
  EXPECT_FALSE(ran.says("Not recorded")) << ran.output;
}

// A dirty read has its name: the only level that shows what is rolled back.
TEST_F(OnMysqlRuns, SeesDirtyReadsAtReadUncommitted) {
  const auto ran = run({CUPEL_BINARY, "mock", "test", "--on", server().url(), "--explore", "--",
                        TEXTBOOK_CLIENT, "dirty-read"});
  EXPECT_EQ(ran.code, 1) << ran.output;
  EXPECT_TRUE(ran.says("aborted-read")) << ran.output;
}

TEST_F(OnMysqlRuns, DoesNotTouchTheOriginal) {
  const auto ran = shell(
      "db -e 'UPDATE cupel.counters SET n = 7'; db -e 'USE cupel; UPDATE counters SET n = 5'; "
      "test \"$(db -e 'SELECT sum(n) FROM counters')\" = 10");
  EXPECT_EQ(ran.code, 0) << ran.output;
}

TEST_F(OnMysqlRuns, SetsUpACopy) {
  const auto ran = test({"--iterations", "2", "--setup",
                         "mariadb --no-defaults -h 127.0.0.1 -P $MYSQL_TCP_PORT -u cupel "
                         "$MYSQL_DATABASE -e 'UPDATE counters SET n = 1'"},
                        {"lost-update"});
  EXPECT_EQ(ran.code, 1) << ran.output;
  EXPECT_TRUE(ran.says("expected 2")) << ran.output;
}

TEST_F(OnMysqlRuns, WorksInPlace) {
  const std::string back =
      "mariadb --no-defaults -h 127.0.0.1 -P $MYSQL_TCP_PORT -u cupel cupel -e 'UPDATE counters "
      "SET n = 0'";
  const auto ran = test({"--in-place", "--explore", "--setup", back}, {"lost-update"});
  expect_explored(ran, 6, 4);
  EXPECT_TRUE(ran.says("Nothing is recorded, so an anomaly has no name: a database in place"))
      << ran.output;
  sql("UPDATE counters SET n = 0");
}

TEST_F(OnMysqlRuns, SurvivesAClientThatIsKilledInATransaction) {
  const auto ran = shell(
      "(echo 'BEGIN; UPDATE counters SET n = 7 WHERE id = 1;'; "
      "echo '\\! kill -9 $PPID') | db; "
      "test \"$(db -e 'SELECT n FROM counters WHERE id = 1')\" = 0");
  EXPECT_EQ(ran.code, 0) << ran.output;
}

// Several statements as one text are several transactions.
TEST_F(OnMysqlRuns, RecordsNothingWhereTransactionsAreNotKnown) {
  const auto ran = shell(
      "db --delimiter=// -e 'UPDATE counters SET n = 1 WHERE id = 1; UPDATE counters SET n = 1 "
      "WHERE id = 2//'; exit 1");
  EXPECT_TRUE(ran.says("several transactions at once")) << ran.output;
}

TEST_F(OnMysqlRuns, SaysWhatIsWrong) {
  const auto missing = run(
      {CUPEL_BINARY, "mock", "test", "--on",
       "mysql://cupel@127.0.0.1:" + std::to_string(server().port()) + "/nothing", "--", "true"});
  EXPECT_EQ(missing.code, 3);
  EXPECT_TRUE(missing.says("found no database nothing")) << missing.output;
  const auto unused = run(
      {CUPEL_BINARY, "mock", "test", "--on", server().url(), "--iterations", "1", "--", "true"});
  EXPECT_EQ(unused.code, 3);
  EXPECT_TRUE(unused.says("MYSQL_HOST and MYSQL_TCP_PORT")) << unused.output;
}

// The clients have no TLS, the server has it.
TEST(OnMysqlTls, IsUsedToTheServer) {
  const test::Certificate certificate("mysql"), other("mysql");
  auto server = lab::start(
      lab::Kind::kMariadb,
      {.server_options = {"ssl-cert=" + certificate.file(), "ssl-key=" + certificate.key()},
       .durable = false});
  ASSERT_TRUE(server.ok()) << server.error().to_string();
  const test::ScratchFolder folder;
  const auto on = [&](const std::string& options) {
    return test::run_in(
        folder, {CUPEL_BINARY, "mock", "test", "--on",
                 "mysql://cupel@localhost:" + std::to_string(server->port()) + "/cupel" + options,
                 "--iterations", "1", "--", "bash", "-c",
                 "mariadb --no-defaults --skip-ssl --protocol=tcp -h $MYSQL_HOST -P "
                 "$MYSQL_TCP_PORT -u cupel -BN $MYSQL_DATABASE -e \"SHOW STATUS LIKE "
                 "'Ssl_version'; SELECT nothing\"; exit 1"});
  };
  for (const auto& options : {std::string("?ssl=1"), "?ssl-ca=" + certificate.file(),
                              "?ssl-verify-server-cert=1&ssl-ca=" + certificate.file()}) {
    const auto ran = on(options);
    EXPECT_TRUE(ran.says("TLSv1")) << ran.output;
    EXPECT_TRUE(ran.says("1054 Unknown column")) << ran.output;
  }
  EXPECT_FALSE(on("").says("TLSv1"));
  const auto refused = on("?ssl-ca=" + other.file());
  EXPECT_EQ(refused.code, 3) << refused.output;
}

TEST_F(OnGalera, FindsALostUpdate) {
  const auto ran = explore({"lost-update"});
  expect_explored(ran, 6, 4);
  EXPECT_TRUE(ran.says("lost-update (G-single)")) << ran.output;
}

}  // namespace
}  // namespace cupel::mocktest
