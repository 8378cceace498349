// MariaDB over the mock store: it is MariaDB for one client, weak for several, and no weaker than
// the level. One server serves all tests but those of --constraints.
#include "mock/engines/mariadb_engine.hpp"

#include <gtest/gtest.h>
#include <mysql.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/process.hpp"
#include "databases/lab/server.hpp"
#include "servers/weak_engine.hpp"
#include "source_dir.hpp"
#include "support/polling.hpp"

namespace cupel::engines {
namespace {

using base::Process;
using base::Seconds;
using base::Stream;
using test::at;
using test::expect_anomalies_of;
using test::expect_sold_once;
using test::expect_within;
using test::in_one_place;
using test::kTries;
using test::output_of;

constexpr int kRows = 400;

std::string number(int value) {
  return std::to_string(value);
}

// A connection. The answer is "a|b;c|d", or "!SQLSTATE".
class Client {
 public:
  explicit Client(const MariadbEngine& engine) : connection_(mysql_init(nullptr), mysql_close) {
    EXPECT_NE(mysql_real_connect(connection_.get(), "127.0.0.1", "cupel", "", "cupel",
                                 engine.port(), nullptr, 0),
              nullptr)
        << mysql_error(connection_.get());
  }
  std::string run(const std::string& sql) {
    if (mysql_query(connection_.get(), sql.c_str()) != 0) return failed();
    const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> result(
        mysql_store_result(connection_.get()), mysql_free_result);
    if (!result) return mysql_errno(connection_.get()) == 0 ? "" : failed();
    std::string text;
    while (const auto row = mysql_fetch_row(result.get())) {
      if (!text.empty()) text += ';';
      for (unsigned column = 0; column < mysql_num_fields(result.get()); ++column) {
        if (column > 0) text += '|';
        text += row[column] == nullptr ? "null" : row[column];
      }
    }
    return text;
  }
  void run_with(const std::string& sql, int parameter) {
    const std::unique_ptr<MYSQL_STMT, decltype(&mysql_stmt_close)> statement(
        mysql_stmt_init(connection_.get()), mysql_stmt_close);
    MYSQL_BIND bound{};
    bound.buffer_type = MYSQL_TYPE_LONG;
    bound.buffer = &parameter;
    EXPECT_EQ(mysql_stmt_prepare(statement.get(), sql.c_str(), sql.size()), 0);
    EXPECT_EQ(mysql_stmt_bind_param(statement.get(), &bound), 0);
    EXPECT_EQ(mysql_stmt_execute(statement.get()), 0) << mysql_stmt_error(statement.get());
    EXPECT_EQ(mysql_stmt_store_result(statement.get()), 0);
  }
  // Of the last error.
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  std::string failed() {
    message_ = mysql_error(connection_.get());
    return std::string("!") + mysql_sqlstate(connection_.get());
  }

  std::unique_ptr<MYSQL, decltype(&mysql_close)> connection_;
  std::string message_;
};

std::vector<std::string> client_program(const std::string& program, std::uint16_t port) {
  return {program, "--no-defaults", "--host=127.0.0.1", "--port=" + std::to_string(port),
          "--user=cupel"};
}

std::unique_ptr<MariadbEngine> start_engine(const MariadbEngine::Options& options) {
  auto engine = MariadbEngine::start(options);
  EXPECT_TRUE(engine.ok()) << engine.error().to_string();
  if (!engine.ok()) return nullptr;
  {
    Client loader(**engine);
    EXPECT_EQ(loader.run("CREATE TABLE item (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB"),
              "");
    EXPECT_EQ(loader.run("CREATE TABLE account (id INT AUTO_INCREMENT PRIMARY KEY,"
                         " email VARCHAR(40) UNIQUE)"),
              "");
    EXPECT_EQ(loader.run("CREATE TABLE entry (account INT REFERENCES account (id))"), "");
    EXPECT_EQ(loader.run("INSERT INTO item SELECT seq, 0 FROM seq_1_to_" + number(kRows)), "");
    EXPECT_EQ(loader.run("CREATE PROCEDURE items() SELECT count(*) FROM item"), "");
  }
  const auto kept = (*engine)->keep_as_template();
  EXPECT_TRUE(kept.ok()) << kept.error().to_string();
  return std::move(*engine);
}

using MariadbEngineTest = test::WeakEngineTest<MariadbEngine, start_engine>;

TEST_F(MariadbEngineTest, ShowsWhatALevelAllowsAndNothingElse) {
  for (const auto level : mock::kLevels) {
    SCOPED_TRACE(mock::name(level));
    start_over(at(level));
    {
      std::array<std::unique_ptr<Client>, 4> clients;
      for (auto& client : clients) client = std::make_unique<Client>(*engine_);
      expect_anomalies_of(level, clients);
    }
    expect_within(*engine_, level);
  }
}

TEST_F(MariadbEngineTest, AnswersOneClientAsMariadbDoes) {
  start_over(at(mock::Level::kStrongSessionSerializable));
  auto plain = lab::start(lab::Kind::kMariadb, {.durable = false});
  ASSERT_TRUE(plain.ok()) << plain.error().to_string();
  const auto run = [&](std::uint16_t port) {
    auto command = client_program("mariadb", port);
    for (const char* more :
         {"--default-character-set=utf8mb4", "--force", "--unbuffered", "--table",
          "--execute=source " CUPEL_SOURCE_DIR "/tests/servers/mariadb_engine.sql"})
      command.emplace_back(more);
    return output_of(command);
  };
  const auto expected = run(plain->port()), got = run(engine_->port());
  EXPECT_EQ(got, expected);
  EXPECT_GT(expected.size(), 3000u);
  EXPECT_EQ(expected.find("ERROR 20"), std::string::npos);  // of the connection

  auto dump = client_program("mariadb-dump", engine_->port());
  dump.insert(dump.end(), {"--skip-dump-date", "--single-transaction", "shop"});
  const auto dumped = output_of(dump);
  EXPECT_NE(dumped.find("ENGINE=InnoDB"), std::string::npos) << dumped.substr(0, 2000);
  EXPECT_NE(dumped.find("INSERT INTO `customer` VALUES"), std::string::npos);
  EXPECT_NE(dumped.find("-- Dump completed"), std::string::npos);
  expect_within(*engine_, mock::Level::kStrongSessionSerializable);
}

// Several clients at the same time, on a store that behaves like a database in one place: no update
// is lost, and what a transaction wrote is there as a whole.
TEST_F(MariadbEngineTest, CountsWithSeveralClients) {
  start_over(in_one_place());
  constexpr int kClients = 4, kTransactions = 15;
  std::vector<std::thread> threads;
  std::atomic<int> torn = 0, committed = 0;
  for (int c = 0; c < kClients; ++c) {
    threads.emplace_back([&] {
      Client client(*engine_);
      for (int done = 0, tries = 0; done < kTransactions && tries < 2000; ++tries) {
        client.run("BEGIN");
        const auto seen = client.run("SELECT n FROM item WHERE id IN (1, 2) ORDER BY id");
        torn += seen[0] != '!' && seen.substr(0, seen.find(';')) != seen.substr(seen.find(';') + 1);
        client.run("SAVEPOINT s");
        const bool well =
            client.run("DELETE FROM item WHERE id = 2").empty() &&
            client.run("ROLLBACK TO s").empty() &&
            client.run("UPDATE item SET n = n + 1 WHERE id = 1").empty() &&
            client.run("UPDATE item a JOIN item b ON b.id = 1 SET a.n = b.n WHERE a.id = 2")
                .empty() &&
            client.run("COMMIT").empty();
        if (!well) client.run("ROLLBACK");
        done += well;
        committed += well;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(committed, kClients * kTransactions);
  const auto total = number(committed);
  EXPECT_EQ(Client(*engine_).run("SELECT n FROM item WHERE id IN (1, 2)"), total + ";" + total);
  expect_within(*engine_, mock::Level::kStrongSessionSerializable);
}

TEST_F(MariadbEngineTest, SaysWhichRowMadeATransactionFail) {
  start_over(at(mock::Level::kStrongSessionSnapshotIsolation));
  Client a(*engine_), b(*engine_);
  std::string outcome;
  for (int i = 1; i <= kTries && outcome.empty(); ++i) {
    a.run("UPDATE item SET n = 5 WHERE id = " + number(i));
    b.run("BEGIN");
    b.run("SELECT n FROM item WHERE id = " + number(i));
    outcome = b.run("UPDATE item SET n = n + 1 WHERE id = " + number(i));
    b.run("COMMIT");
  }
  EXPECT_EQ(outcome, "!40001");
  EXPECT_NE(b.message().find("could not serialize access due to concurrent update of item("),
            std::string::npos)
      << b.message();
}

TEST_F(MariadbEngineTest, GoesOnAfterAClientWasKilled) {
  start_over(at(mock::Level::kStrongSessionSerializable));
  auto command = client_program("mariadb", engine_->port());
  command.insert(command.end(), {"--unbuffered", "--skip-column-names", "cupel"});
  auto killed =
      Process::start({.arguments = command, .input = Stream::pipe(), .output = Stream::pipe()});
  ASSERT_TRUE(killed.ok());
  ASSERT_TRUE(killed
                  ->write_line(
                      "BEGIN; UPDATE item SET n = 7 WHERE id = 1; SELECT n FROM item WHERE id = 1;",
                      Seconds(10))
                  .ok());
  EXPECT_EQ(killed->read_line(Seconds(20)).text, "7");
  killed->signal(SIGKILL);
  killed->wait(Seconds(10));
  Client other(*engine_);
  EXPECT_EQ(other.run("SELECT n FROM item WHERE id = 1"), "0");
  EXPECT_EQ(other.run("UPDATE item SET n = 8 WHERE id = 1"), "");
}

TEST_F(MariadbEngineTest, ContinuesTheSessionOfAClientThatLeft) {
  start_over(at(mock::Level::kCausal));
  for (int i = 1; i <= 10; ++i) {
    Client(*engine_).run("UPDATE item SET n = n + 1 WHERE id = 1");
    EXPECT_EQ(Client(*engine_).run("SELECT n FROM item WHERE id = 1"), number(i));
  }
}

TEST_F(MariadbEngineTest, TakesALevelAndAPolicyForASession) {
  start_over(at(mock::Level::kReadCommitted));
  Client a(*engine_), b(*engine_);
  EXPECT_EQ(b.run("SET cupel_policy = 'latest'"), "");
  for (int i = 1; i <= kTries; ++i) {
    a.run("UPDATE item SET n = 1 WHERE id = " + number(i));
    EXPECT_EQ(b.run("SELECT n FROM item WHERE id = " + number(i)), "1");
  }
  EXPECT_EQ(b.run("SET cupel_level = 'nothing'"), "!42000");
  EXPECT_NE(b.message().find("'cupel_level' can't be set to 'nothing'. Available values: "
                             "read-committed"),
            std::string::npos)
      << b.message();
  EXPECT_EQ(b.run("SET cupel_policy = 'first'"), "!42000");
  for (const char* level : {"'SI'", "''", "DEFAULT", "'causal'", "NULL"})
    EXPECT_EQ(b.run(std::string("SET cupel_level = ") + level), "") << level;
  EXPECT_EQ(b.run("SELECT n FROM item WHERE id = 1"), "1");
}

// For explanations. The parameters come by the binary protocol.
TEST(MariadbEngineStatements, HaveTheirParameters) {
  auto options = in_one_place();
  options.keep_statements = true;
  const auto engine = start_engine({.store = options});
  ASSERT_NE(engine, nullptr);
  ASSERT_TRUE(engine->start_over(options).ok());
  {
    Client client(*engine);
    client.run("BEGIN");
    client.run_with("SELECT n FROM item WHERE id = ?", 5);
    client.run_with("SELECT n FROM item WHERE id = ?", 6);
    client.run("COMMIT");
  }
  ASSERT_TRUE(engine->end_clients().ok());
  const auto statements = engine->store().statements();
  ASSERT_EQ(statements.size(), 1u);
  EXPECT_EQ(statements.begin()->second,
            (std::vector<std::string>{"SELECT n FROM item WHERE id = 5",
                                      "SELECT n FROM item WHERE id = 6"}));
}

TEST_F(MariadbEngineTest, RejectsTwoPhaseCommit) {
  start_over(in_one_place());
  Client client(*engine_);
  EXPECT_EQ(client.run("XA START 'x'"), "");
  EXPECT_EQ(client.run("UPDATE item SET n = 1 WHERE id = 1"), "");
  EXPECT_EQ(client.run("XA END 'x'"), "");
  EXPECT_EQ(client.run("XA PREPARE 'x'").front(), '!');
  EXPECT_NE(client.message().find("cannot be prepared"), std::string::npos) << client.message();
  EXPECT_EQ(Client(*engine_).run("SELECT n FROM item WHERE id = 1"), "0");
}

// A statement that is ended while it waits ends alone: its transaction goes on.
TEST_F(MariadbEngineTest, EndsAStatementThatWaits) {
  start_over(at(mock::Level::kStrongSessionSerializable));
  Client a(*engine_), b(*engine_);
  a.run("BEGIN");
  EXPECT_EQ(a.run("UPDATE item SET n = 1 WHERE id = 1"), "");
  EXPECT_EQ(b.run("SET max_statement_time = 0.3"), "");
  b.run("BEGIN");
  EXPECT_EQ(b.run("UPDATE item SET n = 5 WHERE id = 2"), "");
  EXPECT_EQ(b.run("UPDATE item SET n = 2 WHERE id = 1"), "!70100");
  EXPECT_EQ(b.run("SET max_statement_time = 0"), "");
  EXPECT_EQ(b.run("SET innodb_lock_wait_timeout = 1"), "");
  EXPECT_EQ(b.run("UPDATE item SET n = 2 WHERE id = 1"), "!HY000");
  EXPECT_NE(b.message().find("Lock wait timeout exceeded"), std::string::npos) << b.message();
  EXPECT_EQ(a.run("COMMIT"), "");
  EXPECT_EQ(b.run("UPDATE item SET n = n + 2 WHERE id = 1"), "");
  EXPECT_EQ(b.run("COMMIT"), "");
  EXPECT_EQ(b.run("SELECT n FROM item WHERE id IN (1, 2) FOR UPDATE"), "3;5");
}

TEST_F(MariadbEngineTest, CountsAtomicUpdatesOfEightClients) {
  start_over(at(mock::Level::kCausal));
  constexpr int kClients = 8, kUpdates = 25;
  std::atomic<int> failed = 0;
  {
    std::vector<std::thread> threads;
    for (int c = 0; c < kClients; ++c) {
      threads.emplace_back([&] {
        Client client(*engine_);
        for (int i = 0; i < kUpdates; ++i)
          failed += !client.run("UPDATE item SET n = n + 1 WHERE id = 1").empty();
      });
    }
    for (auto& thread : threads) thread.join();
  }
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(Client(*engine_).run("SELECT n FROM item WHERE id = 1 FOR UPDATE"),
            number(kClients * kUpdates));
  expect_within(*engine_, mock::Level::kCausal);
}

// Runs the statement while `meanwhile` is done, which it waits for: its answer.
std::string run_waiting(const MariadbEngine& engine, Client& client, const std::string& sql,
                        const std::function<void()>& meanwhile) {
  std::string answer;
  std::thread waiting([&] { answer = client.run(sql); });
  Client watcher(engine);
  // The server tells nobody when a client begins to wait.
  EXPECT_TRUE(test::poll_until([&] {
    return watcher.run(
               "SELECT count(*) FROM information_schema.processlist"
               " WHERE state = 'Waiting for a lock of a row'") != "0";
  })) << sql;
  meanwhile();
  waiting.join();
  return answer;
}

TEST_F(MariadbEngineTest, AsksConditionsAgainAfterAWait) {
  for (const auto level : {mock::Level::kReadCommitted, mock::Level::kCausal}) {
    start_over(at(level));
    Client a(*engine_), b(*engine_);
    a.run("UPDATE item SET n = 10 WHERE id IN (1, 2)");
    a.run("BEGIN");
    a.run("UPDATE item SET n = n - 1 WHERE id IN (1, 2)");
    EXPECT_EQ(run_waiting(*engine_, b, "UPDATE item SET n = n - 1 WHERE n = 10 AND id < 100",
                          [&] { a.run("COMMIT"); }),
              "");
    EXPECT_EQ(b.run("SELECT n FROM item WHERE id = 1 FOR UPDATE"), "9");
    EXPECT_EQ(b.run("UPDATE item SET n = n - 1 WHERE id = 1"), "");
    a.run("BEGIN");
    a.run("UPDATE item SET n = n - 1 WHERE id = 2");
    EXPECT_EQ(run_waiting(*engine_, b, "DELETE FROM item WHERE id = 2 AND n = 9",
                          [&] { a.run("COMMIT"); }),
              "");
    EXPECT_EQ(b.run("SELECT n FROM item WHERE n BETWEEN 1 AND 100 ORDER BY id FOR UPDATE"), "8;8");
    expect_within(*engine_, level);
  }
}

// The store is asked about both rows again and again if the server locks the one of them that it
// has not looked at.
TEST_F(MariadbEngineTest, UpdatesARowWhoseKeyAnotherHad) {
  start_over(at(mock::Level::kStrongSessionSerializable));
  Client client(*engine_);
  EXPECT_EQ(client.run("CREATE TABLE person (id INT AUTO_INCREMENT PRIMARY KEY, "
                       "name VARCHAR(20) UNIQUE, n INT)"),
            "");
  for (const char* statement :
       {"INSERT INTO person (name, n) VALUES ('ann', 1)", "DELETE FROM person",
        "INSERT INTO person (name, n) VALUES ('ann', 2)",
        "UPDATE person FORCE INDEX (name) SET n = 3 WHERE name = 'ann'"})
    EXPECT_EQ(client.run(statement), "") << statement;
  EXPECT_EQ(client.run("SELECT n FROM person"), "3");
  client.run("DROP TABLE person");
}

TEST_F(MariadbEngineTest, DoesNotWaitForWhatIsToBeSkipped) {
  start_over(at(mock::Level::kReadCommitted));
  Client a(*engine_), b(*engine_);
  a.run("BEGIN");
  EXPECT_EQ(a.run("SELECT id FROM item WHERE id = 1 FOR UPDATE"), "1");
  EXPECT_EQ(b.run("SELECT id FROM item WHERE id = 1 FOR UPDATE NOWAIT"), "!HY000");
  EXPECT_EQ(b.run("SELECT id FROM item WHERE id < 4 ORDER BY id FOR UPDATE SKIP LOCKED"), "2;3");
  EXPECT_EQ(b.run("SELECT id FROM item WHERE id < 3 LOCK IN SHARE MODE SKIP LOCKED"), "2");
  EXPECT_EQ(b.run("SELECT n FROM item WHERE id = 1"), "0");
  // What the conditions leave out is not locked.
  EXPECT_EQ(a.run("SELECT id FROM item WHERE n = 1 FOR UPDATE"), "");
  EXPECT_EQ(b.run("UPDATE item SET n = 1 WHERE id = 2"), "");
  EXPECT_EQ(a.run("SELECT n FROM item WHERE id = 2 LOCK IN SHARE MODE"), "1");
  EXPECT_EQ(b.run("SELECT n FROM item WHERE id = 2 LOCK IN SHARE MODE NOWAIT"), "1");
  EXPECT_EQ(b.run("SELECT n FROM item WHERE id = 2 FOR UPDATE NOWAIT"), "!HY000");
}

TEST_F(MariadbEngineTest, FindsDeadlocks) {
  start_over(at(mock::Level::kCausal));
  Client a(*engine_), b(*engine_);
  a.run("BEGIN");
  a.run("UPDATE item SET n = 1 WHERE id = 1");
  b.run("BEGIN");
  b.run("UPDATE item SET n = 2 WHERE id = 2");
  std::string second;
  const auto first = run_waiting(*engine_, a, "UPDATE item SET n = 1 WHERE id = 2", [&] {
    second = b.run("UPDATE item SET n = 2 WHERE id = 1");
    b.run("COMMIT");
  });
  EXPECT_TRUE((first == "!40001" && second.empty()) || (first.empty() && second == "!40001"))
      << first << ' ' << second;
  EXPECT_TRUE(
      (first.empty() ? b : a).message().starts_with("Deadlock found when trying to get lock"));
}

TEST(MariadbEngineLocks, AreIgnoredOnRequest) {
  const auto engine = start_engine({.store = in_one_place(), .locks = false});
  ASSERT_NE(engine, nullptr);
  ASSERT_TRUE(engine->start_over(at(mock::Level::kCausal)).ok());
  Client a(*engine), b(*engine);
  a.run("BEGIN");
  EXPECT_EQ(a.run("SELECT n FROM item WHERE id = 1 FOR UPDATE"), "0");
  EXPECT_EQ(b.run("UPDATE item SET n = 1 WHERE id = 1"), "");
  EXPECT_EQ(a.run("COMMIT"), "");
  // So an atomic update loses another one.
  int lost = 0;
  for (int i = 2; i <= kTries; ++i) {
    const auto where = " WHERE id = " + number(i);
    for (auto* client : {&a, &b}) client->run("UPDATE item SET n = n + 1" + where);
    lost +=
        a.run("SELECT n FROM item" + where) == "1" && b.run("SELECT n FROM item" + where) == "1";
  }
  EXPECT_GT(lost, 0);
}

TEST_F(MariadbEngineTest, RestoresWhatWasKept) {
  start_over(in_one_place());
  {
    Client client(*engine_);
    EXPECT_EQ(client.run("CALL items()"), number(kRows));
  }
  {
    Client client(*engine_);
    client.run("DELETE FROM item");
    client.run("DROP PROCEDURE items");
    client.run("CREATE PROCEDURE more() SELECT 1");
    client.run("CREATE DATABASE other");
    client.run("CREATE TABLE other.t (a INT)");
    client.run("ALTER TABLE account ADD COLUMN b INT");
    EXPECT_EQ(client.run("SELECT count(*) FROM item"), "0");
  }
  start_over(in_one_place());
  EXPECT_EQ(Client(*engine_).run("CALL items()"), number(kRows));
  Client client(*engine_);
  EXPECT_EQ(client.run("SELECT count(*), sum(n) FROM item"), number(kRows) + "|0");
  EXPECT_EQ(client.run("CREATE PROCEDURE more() SELECT 1"), "");
  EXPECT_EQ(client.run("CREATE DATABASE other"), "");
  EXPECT_EQ(client.run("SELECT * FROM account"), "");
  EXPECT_EQ(client.run("INSERT INTO account (email) VALUES ('a')"), "");
  EXPECT_EQ(client.run("SELECT * FROM account"), "1|a");
}

// Two sessions, none of which has to see the other, use one address. How often both may.
int shared_addresses(const MariadbEngine& engine) {
  Client a(engine), b(engine);
  int both = 0;
  for (int i = 0; i < kTries; ++i) {
    const auto add = "INSERT INTO account (email) VALUES ('" + number(i) + "')";
    const auto first = a.run(add), second = b.run(add);
    EXPECT_TRUE(first.empty() || first == "!40001") << first;
    EXPECT_TRUE(second.empty() || second == "!23000" || second == "!40001") << second;
    both += first.empty() && second.empty();
  }
  return both;
}

TEST_F(MariadbEngineTest, HasConstraintsAsWeakAsTheLevel) {
  start_over(at(mock::Level::kCausal));
  EXPECT_GT(shared_addresses(*engine_), 0);
}

TEST_F(MariadbEngineTest, HasNoTwoRowsOfAKeyWhereTransactionsHaveAnOrder) {
  start_over(at(mock::Level::kStrongSessionSerializable));
  EXPECT_EQ(shared_addresses(*engine_), 0);
}

TEST_F(MariadbEngineTest, LetsOtherClientsGoOnWhileATransactionIsOpen) {
  start_over(at(mock::Level::kReadCommitted));
  Client a(*engine_), b(*engine_);
  a.run("BEGIN");
  EXPECT_EQ(a.run("SELECT n FROM item WHERE id = 1"), "0");
  EXPECT_EQ(a.run("UPDATE item SET n = 1 WHERE id = 2"), "");
  EXPECT_EQ(b.run("SET max_statement_time = 1"), "");
  EXPECT_EQ(b.run("SELECT n FROM item WHERE id = 2"), "0");
  EXPECT_EQ(b.run("UPDATE item SET n = 5 WHERE id = 3"), "");
  EXPECT_EQ(a.run("COMMIT"), "");
}

TEST(MariadbEngineConstraints, AreStrongOnRequest) {
  const auto engine = start_engine({.store = in_one_place(), .strong_constraints = true});
  ASSERT_NE(engine, nullptr);
  ASSERT_TRUE(engine->start_over(at(mock::Level::kCausal)).ok());
  EXPECT_EQ(shared_addresses(*engine), 0);
}

// What strong constraints wait for.
TEST(MariadbEngineConstraints, WaitForOpenTransactions) {
  const auto engine = start_engine({.store = in_one_place(), .strong_constraints = true});
  ASSERT_NE(engine, nullptr);
  ASSERT_TRUE(engine->start_over(at(mock::Level::kCausal)).ok());
  Client a(*engine), b(*engine);
  const std::string add = "INSERT INTO account (email) VALUES ('x')";
  a.run("BEGIN");
  EXPECT_EQ(a.run(add), "");
  EXPECT_EQ(run_waiting(*engine, b, add, [&] { a.run("ROLLBACK"); }), "");
  EXPECT_EQ(a.run(add), "!23000");
  a.run("BEGIN");
  EXPECT_EQ(a.run("DELETE FROM account WHERE email = 'x'"), "");
  EXPECT_EQ(run_waiting(*engine, b, add, [&] { a.run("COMMIT"); }), "");
  a.run("BEGIN");
  EXPECT_EQ(a.run("INSERT INTO account VALUES (1000, 'y')"), "");
  EXPECT_EQ(
      run_waiting(*engine, b, "INSERT INTO account VALUES (1000, 'z')", [&] { a.run("COMMIT"); }),
      "!23000");
  EXPECT_EQ(b.run("INSERT INTO account VALUES (1000, 'z') ON DUPLICATE KEY UPDATE email = 'w'"),
            "");
  EXPECT_EQ(b.run("SELECT email FROM account WHERE id = 1000 FOR UPDATE"), "w");
}

// A parent that a child's session need not see, and one that goes meanwhile.
int missed_references(const MariadbEngine& engine) {
  Client a(engine), b(engine);
  int missed = 0;
  for (int i = 0; i < kTries; ++i) {
    EXPECT_EQ(a.run("INSERT INTO account VALUES (" + number(2000 + i) + ", NULL)"), "");
    const auto entry = b.run("INSERT INTO entry VALUES (" + number(2000 + i) + ")");
    EXPECT_TRUE(entry.empty() || entry == "!23000") << entry;
    missed += !entry.empty();
  }
  return missed;
}

TEST_F(MariadbEngineTest, HasForeignKeysAsWeakAsTheLevel) {
  start_over(at(mock::Level::kCausal));
  EXPECT_GT(missed_references(*engine_), 0);
}

TEST(MariadbEngineConstraints, KeepForeignKeysOnRequest) {
  const auto engine = start_engine({.store = in_one_place(), .strong_constraints = true});
  ASSERT_NE(engine, nullptr);
  ASSERT_TRUE(engine->start_over(at(mock::Level::kCausal)).ok());
  EXPECT_EQ(missed_references(*engine), 0);
  Client a(*engine), b(*engine);
  EXPECT_EQ(a.run("INSERT INTO account VALUES (1000, 'parent')"), "");
  a.run("BEGIN");
  EXPECT_EQ(a.run("DELETE FROM account WHERE id = 1000"), "");
  EXPECT_EQ(run_waiting(*engine, b, "INSERT INTO entry VALUES (1000)", [&] { a.run("COMMIT"); }),
            "!23000");
  EXPECT_NE(b.message().find("a foreign key constraint fails (`cupel`.`entry`, CONSTRAINT "
                             "`entry_ibfk_1` FOREIGN KEY (`account`) REFERENCES `account` (`id`))"),
            std::string::npos)
      << b.message();
  EXPECT_EQ(a.run("INSERT INTO account VALUES (1001, 'parent')"), "");
  b.run("BEGIN");
  EXPECT_EQ(b.run("INSERT INTO entry VALUES (1001)"), "");
  EXPECT_EQ(
      run_waiting(*engine, a, "DELETE FROM account WHERE id = 1001", [&] { b.run("COMMIT"); }),
      "!23000");
  // A new foreign key holds for the rows that are there.
  const std::string add = "ALTER TABLE entry ADD FOREIGN KEY (account) REFERENCES account (id)";
  EXPECT_EQ(a.run("SET foreign_key_checks = 0"), "");
  EXPECT_EQ(a.run("INSERT INTO entry VALUES (3000)"), "");
  EXPECT_EQ(a.run("SET foreign_key_checks = 1"), "");
  EXPECT_EQ(a.run(add), "!23000");
  EXPECT_EQ(a.run("DELETE FROM entry WHERE account = 3000"), "");
  EXPECT_EQ(a.run(add), "") << a.message();
}

// The levels of MySQL, MariaDB and Galera, and a real-time one.
class MariadbEngineProducts : public testing::Test {
 protected:
  void serve(const char* level) {
    store_ = {};
    store_.level = mock::Level::kStrictSerializable;
    for (const auto& known : mock::kProductLevels) {
      if (known.name != level) continue;
      store_.product = known.product;
      store_.level = known.level;
    }
    engine_ = start_engine({.store = store_, .strong_constraints = true});
    ASSERT_NE(engine_, nullptr);
    ASSERT_TRUE(engine_->start_over(store_).ok());
    a_ = std::make_unique<Client>(*engine_);
    b_ = std::make_unique<Client>(*engine_);
  }
  void TearDown() override {
    a_.reset();
    b_.reset();
  }
  void begin() {
    a_->run("BEGIN");
    b_->run("BEGIN");
  }
  // Two clients read the row, then both write: what became of the second.
  std::string sell_twice(int id) {
    const auto where = " WHERE id = " + number(id);
    begin();
    a_->run("SELECT n FROM item" + where);
    b_->run("SELECT n FROM item" + where);
    const auto change = "UPDATE item SET n = 1" + where;
    EXPECT_EQ(a_->run(change), "");
    const auto second = run_waiting(*engine_, *b_, change, [&] { a_->run("COMMIT"); });
    return second.empty() ? b_->run("COMMIT") : b_->run("ROLLBACK") + second;
  }
  // Each reads both rows, and changes one of them.
  std::string skew(int id) {
    const auto both =
        "SELECT sum(n) FROM item WHERE id IN (" + number(id) + ", " + number(id + 1) + ")";
    const auto change = [&](int which) {
      return "UPDATE item SET n = 1 WHERE id = " + number(which);
    };
    begin();
    EXPECT_EQ(a_->run(both) + b_->run(both), "00");
    EXPECT_EQ(a_->run(change(id)), "");
    EXPECT_EQ(b_->run(change(id + 1)), "");
    EXPECT_EQ(a_->run("COMMIT"), "");
    return b_->run("COMMIT");
  }

  mock::Options store_;
  std::unique_ptr<MariadbEngine> engine_;
  std::unique_ptr<Client> a_, b_;
};

TEST_F(MariadbEngineProducts, LoseUpdatesAtReadCommitted) {
  serve("mysql:read-committed");
  EXPECT_EQ(a_->run("SELECT @@tx_isolation"), "READ-COMMITTED");
  EXPECT_EQ(sell_twice(1), "");
  EXPECT_EQ(skew(2), "");
  // Each statement has a snapshot.
  a_->run("BEGIN");
  EXPECT_EQ(a_->run("SELECT n FROM item WHERE id = 4"), "0");
  EXPECT_EQ(b_->run("UPDATE item SET n = 9 WHERE id = 4"), "");
  EXPECT_EQ(a_->run("SELECT n FROM item WHERE id = 4"), "9");
  EXPECT_EQ(a_->run("COMMIT"), "");
  // A locking read waits for who is adding what it looks for.
  a_->run("BEGIN");
  EXPECT_EQ(a_->run("INSERT INTO item VALUES (1000, 5)"), "");
  EXPECT_EQ(b_->run("SELECT n FROM item WHERE id = 1000"), "");
  EXPECT_EQ(run_waiting(*engine_, *b_, "SELECT n FROM item WHERE id = 1000 FOR UPDATE",
                        [&] { a_->run("COMMIT"); }),
            "5");
  // A client may ask for more.
  a_->run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  a_->run("BEGIN");
  EXPECT_EQ(a_->run("SELECT n FROM item WHERE id = 6"), "0");
  EXPECT_EQ(b_->run("UPDATE item SET n = 9 WHERE id = 6"), "");
  EXPECT_EQ(a_->run("SELECT n FROM item WHERE id = 6"), "0");
  a_->run("ROLLBACK");
  EXPECT_EQ(a_->run("SET cupel_level = 'causal'"), "!42000");
  EXPECT_NE(a_->message().find("that of the whole store"), std::string::npos) << a_->message();
}

// Who waited for a row goes on in what was committed meanwhile: rows that are new, and rows whose
// keys have changed, too.
TEST_F(MariadbEngineProducts, GoOnInTheStateAfterAWait) {
  for (const auto* level : {"mysql:read-committed", "mysql:repeatable-read"}) {
    SCOPED_TRACE(level);
    serve(level);
    // Each scans the table or an index.
    for (const std::string from : {"purse", "purse FORCE INDEX (PRIMARY)"}) {
      SCOPED_TRACE(from);
      const auto start_change = [&] {
        EXPECT_EQ(a_->run("CREATE OR REPLACE TABLE purse (id INT PRIMARY KEY, n INT NOT NULL)"),
                  "");
        EXPECT_EQ(a_->run("INSERT INTO purse VALUES (1, 100), (2, 100), (3, 100)"), "");
        EXPECT_EQ(a_->run("BEGIN"), "");
        EXPECT_EQ(a_->run("UPDATE purse SET n = n - 50 WHERE id = 1"), "");
      };
      const auto commit = [&] { EXPECT_EQ(a_->run("COMMIT"), ""); };
      const auto where = from + " WHERE id BETWEEN 1 AND 9";

      start_change();
      EXPECT_EQ(a_->run("INSERT INTO purse VALUES (4, 50)"), "");
      EXPECT_EQ(run_waiting(*engine_, *b_, "SELECT * FROM " + where + " FOR UPDATE", commit),
                "1|50;2|100;3|100;4|50");

      start_change();
      EXPECT_EQ(a_->run("UPDATE purse SET id = 5 WHERE id = 2"), "");
      EXPECT_EQ(run_waiting(*engine_, *b_, "SELECT * FROM " + where + " FOR UPDATE", commit),
                "1|50;3|100;5|100");

      start_change();
      EXPECT_EQ(a_->run("INSERT INTO purse VALUES (9, 9)"), "");
      EXPECT_EQ(a_->run("DELETE FROM purse WHERE id = 3"), "");
      EXPECT_EQ(
          run_waiting(*engine_, *b_,
                      "UPDATE " + from + " SET n = n + 1000 WHERE id BETWEEN 1 AND 9", commit),
          "");
      EXPECT_EQ(b_->run("SELECT * FROM purse"), "1|1050;2|1100;9|1009");
    }
  }
}

TEST_F(MariadbEngineProducts, FindTheirOwnNewRowsInAHandler) {
  serve("mysql:repeatable-read");
  a_->run("CREATE TABLE tens (id INT PRIMARY KEY)");
  a_->run("INSERT INTO tens SELECT 10 * seq FROM seq_1_to_30");
  EXPECT_EQ(a_->run("HANDLER tens OPEN"), "");
  EXPECT_EQ(a_->run("HANDLER tens READ `PRIMARY` FIRST"), "10");
  for (const auto* id : {"20", "30", "40", "50"})
    EXPECT_EQ(a_->run("HANDLER tens READ `PRIMARY` NEXT"), id);
  EXPECT_EQ(a_->run("INSERT INTO tens VALUES (55)"), "");
  EXPECT_EQ(a_->run("HANDLER tens READ `PRIMARY` NEXT"), "55");
  EXPECT_EQ(a_->run("HANDLER tens READ `PRIMARY` NEXT"), "60");
}

TEST_F(MariadbEngineProducts, KeepASnapshotAtRepeatableRead) {
  serve("mysql:repeatable-read");
  EXPECT_EQ(sell_twice(1), "");  // InnoDB refuses nobody
  EXPECT_EQ(skew(2), "");
  a_->run("BEGIN");
  EXPECT_EQ(a_->run("SELECT n FROM item WHERE id = 4"), "0");
  EXPECT_EQ(b_->run("UPDATE item SET n = 9 WHERE id IN (4, 5)"), "");
  EXPECT_EQ(a_->run("SELECT sum(n) FROM item WHERE id IN (4, 5)"), "0");
  EXPECT_EQ(a_->run("SELECT sum(n) FROM item WHERE id IN (4, 5) FOR UPDATE"), "18");
  EXPECT_EQ(a_->run("SELECT sum(n) FROM item WHERE id IN (4, 5)"), "0");
  EXPECT_EQ(a_->run("UPDATE item SET n = n + 1 WHERE id = 4"), "");
  EXPECT_EQ(a_->run("SELECT n FROM item WHERE id = 4"), "10");
  EXPECT_EQ(a_->run("COMMIT"), "");
  // Nobody adds what a locking read did not find.
  a_->run("BEGIN");
  EXPECT_EQ(a_->run("SELECT n FROM item WHERE id > 1000 FOR UPDATE"), "");
  EXPECT_EQ(run_waiting(*engine_, *b_, "INSERT INTO item VALUES (1001, 0)",
                        [&] {
                          EXPECT_EQ(a_->run("SELECT n FROM item WHERE id > 1000 FOR UPDATE"), "");
                          a_->run("COMMIT");
                        }),
            "");
  // And a row that is found alone locks no others.
  a_->run("BEGIN");
  EXPECT_EQ(a_->run("SELECT n FROM item WHERE id = 1001 FOR UPDATE"), "0");
  EXPECT_EQ(b_->run("INSERT INTO item VALUES (1002, 0)"), "");
}

TEST_F(MariadbEngineProducts, AreSerializableByLocks) {
  serve("mysql:serializable");
  begin();
  const auto both = "SELECT sum(n) FROM item WHERE id IN (3, 4)";
  EXPECT_EQ(a_->run(both) + b_->run(both), "00");
  const auto change = [](int id) { return "UPDATE item SET n = 1 WHERE id = " + number(id); };
  std::string second;
  const auto first = run_waiting(*engine_, *a_, change(3), [&] {
    second = b_->run(change(4));
    b_->run("COMMIT");
  });
  EXPECT_TRUE((first == "!40001" && second.empty()) || (first.empty() && second == "!40001"))
      << first << ' ' << second;
  a_->run("COMMIT");
  // Likewise of rows that are not there.
  begin();
  const auto new_rows = "SELECT count(*) FROM item WHERE id > 1000";
  EXPECT_EQ(a_->run(new_rows) + b_->run(new_rows), "00");
  const auto added = run_waiting(*engine_, *a_, "INSERT INTO item VALUES (1001, 0)", [&] {
    second = b_->run("INSERT INTO item VALUES (1002, 0)");
    b_->run("COMMIT");
  });
  EXPECT_TRUE((added == "!40001" && second.empty()) || (added.empty() && second == "!40001"))
      << added << ' ' << second;
}

TEST_F(MariadbEngineProducts, RefuseLostUpdatesWithSnapshots) {
  serve("mariadb:snapshot");
  EXPECT_EQ(sell_twice(1), "!40001");
  EXPECT_EQ(skew(2), "");
}

TEST_F(MariadbEngineProducts, LoseUpdatesBetweenNodes) {
  serve("galera:repeatable-read");
  int refused = 0;
  for (int i = 1; i <= kTries; ++i) {
    begin();
    const auto change = "UPDATE item SET n = n + 1 WHERE id = " + number(i);
    EXPECT_EQ(a_->run(change) + b_->run(change), "");
    EXPECT_EQ(a_->run("COMMIT"), "");
    const auto end = b_->run("COMMIT");
    EXPECT_EQ(end, "!40001");  // first committer wins
    refused += end == "!40001";
  }
  EXPECT_EQ(refused, kTries);
  int stale = 0;
  for (int i = 1; i <= kTries; ++i) {
    EXPECT_EQ(a_->run("UPDATE item SET n = 7 WHERE id = " + number(i)), "");
    stale += b_->run("SELECT n FROM item WHERE id = " + number(i)) == "1";
  }
  EXPECT_GT(stale, 0);
}

TEST_F(MariadbEngineProducts, RefuseWriteSkewInStrictOrder) {
  serve("strict-serializable");
  EXPECT_EQ(sell_twice(1), "!40001");
  EXPECT_EQ(skew(2), "!40001");
}

// The scan of an empty or filtered table is a read of the rows that others insert meanwhile.
class MariadbEngineRegistration : public MariadbEngineProducts {
 protected:
  void register_names(int rounds) {
    constexpr int kOfAStore = 50;  // a scan passes the rows of all rounds before
    for (const auto* level : {"mysql:repeatable-read", "mysql:read-committed"}) {
      SCOPED_TRACE(level);
      int both = 0;
      serve(level);
      TearDown();
      for (int first = 0; first < rounds; first += kOfAStore) {
        ASSERT_TRUE(engine_->start_over(store_).ok());
        Client(*engine_).run("CREATE TABLE member (id INT AUTO_INCREMENT PRIMARY KEY, name TEXT)");
        test::register_twice(
            [&](const std::string& /*name*/) { return std::make_unique<Client>(*engine_); }, first,
            std::min(kOfAStore, rounds - first));
        both += test::rounds_with_both_scans(*engine_);
      }
      std::printf("%s: both registered in %d of %d rounds\n", level, both, rounds);
      EXPECT_GE(both, rounds / 2);
    }
  }
};
TEST_F(MariadbEngineRegistration, HasBothScansInTheHistory) {
  register_names(40);
}

// Whatever the level, no item is sold twice if the shop locks the row, or lets the database
// compute.
class MariadbEngineShop : public MariadbEngineProducts {
 protected:
  void sell(int iterations) {
    for (const auto* level :
         {"mysql:read-committed", "mysql:repeatable-read", "mysql:serializable", "mariadb:snapshot",
          "galera:read-committed", "galera:repeatable-read", "strict-serializable"}) {
      SCOPED_TRACE(level);
      serve(level);
      const int for_update = iterations / 2;
      const auto client = [&](const std::string& /*name*/) {
        return std::make_unique<Client>(*engine_);
      };
      expect_sold_once(client, 1, iterations - for_update, "");
      expect_sold_once(client, 2, for_update, " FOR UPDATE");
      TearDown();
    }
  }
};

TEST_F(MariadbEngineShop, SellsNothingTwice) {
  sell(40);
}
class MariadbEngineLong : public MariadbEngineShop {};
TEST_F(MariadbEngineLong, SellsNothingTwiceInAThousandRounds) {
  sell(1000);
}
class MariadbEngineLongRegistration : public MariadbEngineRegistration {};
TEST_F(MariadbEngineLongRegistration, HasBothScansInAThousandRounds) {
  register_names(1000);
}

// Both write the same number, so the second changes nothing. It has lost an update all the same.
TEST_F(MariadbEngineTest, CountsAnUpdateThatChangesNothingAsAWrite) {
  auto options = at(mock::Level::kReadCommitted);
  options.latest = 1;
  options.uniform = 0;
  start_over(options);
  Client a(*engine_), b(*engine_);
  for (auto* client : {&a, &b}) client->run("BEGIN");
  for (auto* client : {&a, &b}) EXPECT_EQ(client->run("SELECT n FROM item WHERE id = 1"), "0");
  for (auto* client : {&a, &b}) {
    EXPECT_EQ(client->run("UPDATE item SET n = 1 WHERE id = 1"), "");
    EXPECT_EQ(client->run("COMMIT"), "");
  }
  ASSERT_TRUE(engine_->end_clients().ok());
  const auto history = engine_->store().history();
  ASSERT_TRUE(history.ok());
  check::Options asked;
  asked.asked = {*levels::parse_level(mock::name(mock::Level::kStrongSessionSnapshotIsolation))};
  EXPECT_EQ(check::check(*history, asked).levels.front().verdict, check::Verdict::kViolated);
}

// With reads that lock nothing it does, soon.
TEST_F(MariadbEngineShop, SellsTwiceAfterAPlainRead) {
  serve("mysql:read-committed");
  EXPECT_EQ(sell_twice(1), "");
  EXPECT_EQ(a_->run("SELECT n FROM item WHERE id = 1"), "1");
}

}  // namespace
}  // namespace cupel::engines
