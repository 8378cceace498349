// MariaDB over the mock store: it is MariaDB for one client, weak for several, and no weaker than
// the level. One server serves all tests but those of --constraints.
#include "engines/mariadb_engine.hpp"

#include <gtest/gtest.h>
#include <mysql.h>

#include <array>
#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/process.hpp"
#include "lab/server.hpp"
#include "servers/weak_engine.hpp"

namespace cupel::engines {
namespace {

using base::Process;
using base::Seconds;
using base::Stream;
using test::at;
using test::expect_anomalies_of;
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

std::unique_ptr<MariadbEngine> start_engine(bool strong_constraints) {
  auto engine =
      MariadbEngine::start({.store = in_one_place(), .strong_constraints = strong_constraints});
  EXPECT_TRUE(engine.ok()) << engine.error().to_string();
  if (!engine.ok()) return nullptr;
  {
    Client loader(**engine);
    EXPECT_EQ(loader.run("CREATE TABLE item (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB"),
              "");
    EXPECT_EQ(loader.run("CREATE TABLE account (id INT AUTO_INCREMENT PRIMARY KEY,"
                         " email VARCHAR(40) UNIQUE)"),
              "");
    EXPECT_EQ(loader.run("INSERT INTO item SELECT seq, 0 FROM seq_1_to_" + number(kRows)), "");
    EXPECT_EQ(loader.run("CREATE PROCEDURE items() SELECT count(*) FROM item"), "");
  }
  const auto kept = (*engine)->keep_as_template();
  EXPECT_TRUE(kept.ok()) << kept.error().to_string();
  return std::move(*engine);
}

class MariadbEngineTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { engine_ = start_engine(false).release(); }
  static void TearDownTestSuite() {
    delete engine_;
    engine_ = nullptr;
  }
  static void start_over(const mock::Options& options) {
    ASSERT_NE(engine_, nullptr);
    const auto ready = engine_->start_over(options);
    ASSERT_TRUE(ready.ok()) << ready.error().to_string();
  }

  static MariadbEngine* engine_;
};
MariadbEngine* MariadbEngineTest::engine_ = nullptr;

int lost_updates(Client& a, Client& b) {
  int found = 0;
  for (int i = 1; i <= kTries; ++i) {
    const auto add = [&](Client& client) {
      const auto done =
          client.run("UPDATE item SET n = LAST_INSERT_ID(n + 1) WHERE id = " + number(i));
      return done.empty() ? client.run("SELECT LAST_INSERT_ID()") : done;
    };
    const auto first = add(a), second = add(b);
    EXPECT_TRUE(second == "1" || second == "2" || second == "!40001") << second << b.message();
    found += first == "1" && second == "1";
  }
  return found;
}

TEST_F(MariadbEngineTest, ShowsWhatALevelAllowsAndNothingElse) {
  for (const auto level : mock::kLevels) {
    SCOPED_TRACE(mock::name(level));
    start_over(at(level));
    {
      std::array<std::unique_ptr<Client>, 4> clients;
      for (auto& client : clients) client = std::make_unique<Client>(*engine_);
      expect_anomalies_of(level, clients, lost_updates);
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
        client.run("DELETE FROM item WHERE id = 2");
        client.run("ROLLBACK TO s");
        const bool well =
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

TEST_F(MariadbEngineTest, SaysWhichRowMadeACommitFail) {
  start_over(at(mock::Level::kStrongSessionSnapshotIsolation));
  Client a(*engine_), b(*engine_);
  std::string outcome;
  for (int i = 1; i <= kTries && outcome.find("!40001") == std::string::npos; ++i) {
    a.run("UPDATE item SET n = 5 WHERE id = " + number(i));
    outcome = b.run("UPDATE item SET n = n + 1 WHERE id = " + number(i));
  }
  EXPECT_EQ(outcome, "!40001");
  EXPECT_NE(b.message().find("could not serialize access: the write of item("), std::string::npos)
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
  EXPECT_EQ(b.run("SET cupel_level = 'nothing'"), "");
  EXPECT_EQ(b.run("SELECT n FROM item WHERE id = 1").front(), '!');
  EXPECT_NE(b.message().find("expected one of read-committed"), std::string::npos) << b.message();
  EXPECT_EQ(b.run("SET cupel_level = ''"), "");
  EXPECT_EQ(b.run("SELECT n FROM item WHERE id = 1"), "1");
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

// A statement that is killed while it waits for its turn ends, and the session goes on.
TEST_F(MariadbEngineTest, EndsAStatementThatWaits) {
  auto options = at(mock::Level::kStrongSessionSerializable);
  options.overlap = false;
  start_over(options);
  Client a(*engine_), b(*engine_);
  a.run("BEGIN");
  EXPECT_EQ(a.run("UPDATE item SET n = 1 WHERE id = 1"), "");
  EXPECT_EQ(b.run("SET max_statement_time = 0.3"), "");
  EXPECT_EQ(b.run("UPDATE item SET n = 2 WHERE id = 2"), "!70100");
  EXPECT_EQ(a.run("COMMIT"), "");
  EXPECT_EQ(b.run("SELECT n >= 0 FROM item WHERE id = 2"), "1");
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
  const auto engine = start_engine(true);
  ASSERT_NE(engine, nullptr);
  ASSERT_TRUE(engine->start_over(at(mock::Level::kCausal)).ok());
  EXPECT_EQ(shared_addresses(*engine), 0);
}

}  // namespace
}  // namespace cupel::engines
