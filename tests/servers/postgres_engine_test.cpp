// PostgreSQL over the mock store: it is PostgreSQL for one client, weak for several, and no weaker
// than the level. One server serves all tests but those of --constraints.
#include "mock/engines/postgres_engine.hpp"

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "application.hpp"
#include "base/process.hpp"
#include "databases/lab/server.hpp"
#include "libpq_client.hpp"
#include "servers/weak_engine.hpp"
#include "source_dir.hpp"
#include "support/polling.hpp"
#include "support/scratch_folder.hpp"

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
using test::write_skews;

constexpr int kRows = 400;

// A connection. The answer is "a|b;c|d", or "!SQLSTATE".
class Client {
 public:
  Client(const PostgresEngine& engine, const std::string& name)
      : connection_(PQconnectdb((engine.url() + "?application_name=" + name).c_str()), PQfinish) {
    EXPECT_EQ(PQstatus(connection_.get()), CONNECTION_OK) << PQerrorMessage(connection_.get());
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
  }
  std::string run(const std::string& sql) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(
        PQexec(connection_.get(), sql.c_str()), PQclear);
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
      message_ = PQresultErrorMessage(result.get());
      const char* code = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
      return std::string("!") + (code == nullptr ? "lost" : code);
    }
    std::string text;
    for (int row = 0; row < PQntuples(result.get()); ++row) {
      if (row > 0) text += ';';
      for (int column = 0; column < PQnfields(result.get()); ++column) {
        if (column > 0) text += '|';
        text += PQgetvalue(result.get(), row, column);
      }
    }
    return text;
  }
  // By the extended protocol.
  void run_with(const std::string& sql, const std::vector<const char*>& parameters) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(
        PQexecParams(connection_.get(), sql.c_str(), static_cast<int>(parameters.size()), nullptr,
                     parameters.data(), nullptr, nullptr, 0),
        PQclear);
    const auto status = PQresultStatus(result.get());
    EXPECT_TRUE(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
        << PQresultErrorMessage(result.get());
  }
  // Of the last error.
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
  std::string message_;
};

std::string row(int id) {
  return std::to_string(id);
}

std::unique_ptr<PostgresEngine> start_engine(const PostgresEngine::Options& options) {
  auto engine = PostgresEngine::start(options);
  EXPECT_TRUE(engine.ok()) << engine.error().to_string();
  if (!engine.ok()) return nullptr;
  {
    Client loader(**engine, "load");
    EXPECT_EQ(loader.run("CREATE TABLE item (id int PRIMARY KEY, n int NOT NULL);"
                         "CREATE TABLE account (id serial PRIMARY KEY, email text UNIQUE);"
                         "CREATE TABLE entry (account int REFERENCES account)"),
              "");
    EXPECT_EQ(
        loader.run("INSERT INTO item SELECT g, 0 FROM generate_series(1, " + row(kRows) + ") g"),
        "");
  }
  const auto kept = (*engine)->keep_as_template();
  EXPECT_TRUE(kept.ok()) << kept.error().to_string();
  return std::move(*engine);
}

using PostgresEngineTest = test::WeakEngineTest<PostgresEngine, start_engine>;

TEST_F(PostgresEngineTest, ShowsWhatALevelAllowsAndNothingElse) {
  for (const auto level : mock::kLevels) {
    SCOPED_TRACE(mock::name(level));
    start_over(at(level));
    {
      std::array<std::unique_ptr<Client>, 4> clients;
      for (int i = 0; i < 4; ++i)
        clients[i] = std::make_unique<Client>(*engine_, "client" + row(i));
      expect_anomalies_of(level, clients);
    }
    expect_within(*engine_, level);
  }
}

TEST_F(PostgresEngineTest, AnswersOneClientAsPostgresDoes) {
  start_over(at(mock::Level::kStrongSessionSerializable));
  auto plain = lab::start(lab::Kind::kPostgres, {.durable = false});
  ASSERT_TRUE(plain.ok()) << plain.error().to_string();
  const std::string script = CUPEL_SOURCE_DIR "/tests/servers/postgres_engine.sql";
  const auto run = [&](const std::string& url) {
    Process::start(
        {.arguments = {"psql", "-qX", url, "-c", "DROP TABLE IF EXISTS item, entry, account"}})
        ->wait(Seconds(30));
    return output_of({"psql", "-X", url, "-f", script});
  };
  const auto expected = run(plain->url()), got = run(engine_->url());
  EXPECT_EQ(got, expected);
  EXPECT_GT(expected.size(), 3000u);
  EXPECT_EQ(expected.find("server closed"), std::string::npos);

  const auto dump = [](const std::string& url) {
    return output_of({"pg_dump", "--no-table-access-method", url});
  };
  const auto dumped = dump(engine_->url());
  EXPECT_EQ(dumped.find("error"), std::string::npos) << dumped.substr(0, 2000);
  // The access method itself is in the dump, as an object that the database has.
  EXPECT_NE(dumped.find("COPY public.child"), std::string::npos);
  const auto tables = output_of({"psql", "-X", engine_->url(), "-c", "\\d child"});
  EXPECT_NE(tables.find("child_parent_id_fkey"), std::string::npos) << tables;
  expect_within(*engine_, mock::Level::kStrongSessionSerializable);
}

// Several clients at the same time, on a store that behaves like a database in one place: no update
// is lost, and what a transaction wrote is there as a whole.
TEST_F(PostgresEngineTest, CountsWithSeveralClients) {
  start_over(in_one_place());
  constexpr int kClients = 4, kTransactions = 15;
  std::vector<std::thread> threads;
  std::atomic<int> torn = 0, committed = 0;
  for (int c = 0; c < kClients; ++c) {
    threads.emplace_back([&, c] {
      Client client(*engine_, "counter" + row(c));
      for (int done = 0, tries = 0; done < kTransactions && tries < 2000; ++tries) {
        client.run("BEGIN");
        const auto seen = client.run("SELECT n FROM item WHERE id IN (1, 2) ORDER BY id");
        torn += seen[0] != '!' && seen.substr(0, seen.find(';')) != seen.substr(seen.find(';') + 1);
        client.run("SAVEPOINT s; DELETE FROM item WHERE id = 2; ROLLBACK TO s");
        const bool well =
            client.run("UPDATE item SET n = n + 1 WHERE id = 1").empty() &&
            client.run("UPDATE item SET n = (SELECT n FROM item WHERE id = 1) WHERE id = 2")
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
  const auto total = row(committed);
  EXPECT_EQ(Client(*engine_, "counter0").run("SELECT n FROM item WHERE id IN (1, 2)"),
            total + ";" + total);
  expect_within(*engine_, mock::Level::kStrongSessionSerializable);
}

TEST_F(PostgresEngineTest, SaysWhichRowMadeATransactionFail) {
  start_over(at(mock::Level::kStrongSessionSnapshotIsolation));
  Client a(*engine_, "a"), b(*engine_, "b");
  std::string outcome;
  for (int i = 1; i <= kTries && outcome.empty(); ++i) {
    a.run("UPDATE item SET n = 5 WHERE id = " + row(i));
    b.run("BEGIN");
    b.run("SELECT n FROM item WHERE id = " + row(i));
    outcome = b.run("UPDATE item SET n = n + 1 WHERE id = " + row(i));
    b.run("COMMIT");
  }
  EXPECT_EQ(outcome, "!40001");
  EXPECT_NE(b.message().find("could not serialize access due to concurrent update of item("),
            std::string::npos)
      << b.message();
}

TEST_F(PostgresEngineTest, GoesOnAfterAClientWasKilled) {
  start_over(at(mock::Level::kStrongSessionSerializable));
  auto killed = Process::start({.arguments = {"psql", "-qXAt", engine_->url()},
                                .input = Stream::pipe(),
                                .output = Stream::pipe()});
  ASSERT_TRUE(killed.ok());
  ASSERT_TRUE(
      killed->write_line("BEGIN; UPDATE item SET n = 7 WHERE id = 1 RETURNING n;\n", Seconds(10))
          .ok());
  EXPECT_EQ(killed->read_line(Seconds(20)).text, "7");
  killed->signal(SIGKILL);
  killed->wait(Seconds(10));
  Client other(*engine_, "other");
  EXPECT_EQ(other.run("SELECT n FROM item WHERE id = 1"), "0");
  EXPECT_EQ(other.run("UPDATE item SET n = 8 WHERE id = 1 RETURNING n"), "8");
}

TEST_F(PostgresEngineTest, ContinuesTheSessionOfAClientThatLeft) {
  start_over(at(mock::Level::kCausal));
  for (int i = 1; i <= 10; ++i) {
    Client(*engine_, "step").run("UPDATE item SET n = n + 1 WHERE id = 1");
    EXPECT_EQ(Client(*engine_, "step").run("SELECT n FROM item WHERE id = 1"), row(i));
  }
}

// How many operations the next transaction of the client has, once it has ended.
std::size_t operations_of(PostgresEngine& engine, Client& client, const std::string& sql) {
  const auto before = engine.store().history()->txn_count();
  client.run(sql);
  std::size_t found = 0;
  EXPECT_TRUE(test::poll_until([&] {
    const auto history = engine.store().history();
    if (history->txn_count() == before) return false;
    const history::TxnId last(static_cast<std::uint32_t>(before));
    found = history->last_op(last) - history->first_op(last);
    return true;
  }));
  return found;
}

// Rows are asked for together, and yet no others are read than the statement comes to, or few.
TEST_F(PostgresEngineTest, ReadsTheRowsThatAScanComesTo) {
  start_over(at(mock::Level::kCausal));
  Client client(*engine_, "client");
  EXPECT_EQ(client.run("UPDATE item SET n = id"), "");
  EXPECT_EQ(operations_of(*engine_, client, "SELECT sum(n) FROM item"), 400u);
  client.run("SET enable_seqscan = off; SET enable_bitmapscan = off");
  const auto count = [&](const std::string& rest) {
    return operations_of(*engine_, client, "SELECT n FROM item WHERE id " + rest);
  };
  EXPECT_EQ(count("= 7"), 1u);
  EXPECT_EQ(count("BETWEEN 101 AND 350"), 250u);
  EXPECT_EQ(count("BETWEEN 101 AND 350 ORDER BY id DESC"), 250u);
  EXPECT_EQ(count("> 100 ORDER BY id LIMIT 1"), 1u);
  EXPECT_LE(count("> 100 ORDER BY id LIMIT 10"), 50u);
  EXPECT_EQ(client.run("SELECT count(*), sum(n) FROM item WHERE id <= 300"), "300|45150");
}

// A rewritten table has its rows under their keys, and every session sees them.
TEST_F(PostgresEngineTest, ShowsTheRowsOfARewrittenTableToEverySession) {
  start_over(at(mock::Level::kReadCommitted));
  Client a(*engine_, "a"), b(*engine_, "b");
  for (const auto* rewrite : {"VACUUM FULL item", "ALTER TABLE item ALTER n TYPE bigint"}) {
    EXPECT_EQ(a.run("UPDATE item SET n = n + 1 WHERE id <= 20"), "");
    EXPECT_EQ(a.run("SELECT count(*) FROM item"), row(kRows));
    EXPECT_EQ(a.run(rewrite), "") << a.message();
    const auto count = "SELECT count(*), count(DISTINCT id) FROM item";
    EXPECT_EQ(b.run(count), row(kRows) + "|" + row(kRows));
    EXPECT_EQ(a.run("INSERT INTO item VALUES (1, 0)"), "!23505");
  }
  EXPECT_EQ(b.run("SELECT n > 0 FROM item WHERE id = 20"), "t");
  expect_within(*engine_, mock::Level::kReadCommitted);
  const auto history = engine_->store().history();
  ASSERT_TRUE(history.ok());
  for (std::uint32_t i = 0; i < history->key_count(); ++i) {
    const auto key = std::string(history->key(history::KeyId(i)).text);
    EXPECT_EQ(key.rfind("item(", 0), 0U) << key;
  }
}

TEST_F(PostgresEngineTest, RejectsTwoPhaseCommitOfWeakTables) {
  start_over(at(mock::Level::kCausal));
  Client client(*engine_, "client");
  EXPECT_EQ(client.run("BEGIN; UPDATE item SET n = 1 WHERE id = 1; PREPARE TRANSACTION 'p'"),
            "!0A000");
  EXPECT_NE(client.message().find("cannot be prepared"), std::string::npos);
}

TEST_F(PostgresEngineTest, TakesALevelAndAPolicyForASession) {
  start_over(at(mock::Level::kReadCommitted));
  Client a(*engine_, "a"), b(*engine_, "b");
  EXPECT_EQ(b.run("SET cupel.policy = 'latest'"), "");
  for (int i = 1; i <= kTries; ++i) {
    a.run("UPDATE item SET n = 1 WHERE id = " + row(i));
    EXPECT_EQ(b.run("SELECT n FROM item WHERE id = " + row(i)), "1");
  }
  EXPECT_EQ(b.run("SET cupel.level = 'nothing'"), "!22023");
  EXPECT_EQ(b.run("SET cupel.policy = 'first'"), "!22023");
  EXPECT_EQ(b.run("SET cupel.level = 'SI'"), "");
  EXPECT_EQ(b.run("SELECT n FROM item WHERE id = 1"), "1");
}

// Several transactions are open in one thread, as in fixtures of tests.
// For explanations.
TEST(PostgresEngineStatements, HaveTheirParameters) {
  auto options = in_one_place();
  options.keep_statements = true;
  const auto engine = start_engine({.store = options});
  ASSERT_NE(engine, nullptr);
  ASSERT_TRUE(engine->start_over(options).ok());
  {
    Client client(*engine, "client");
    client.run("BEGIN");
    client.run_with("SELECT n FROM item WHERE id = $1", {"5"});
    client.run_with("SELECT n FROM item WHERE id = $1", {"6"});
    client.run_with("UPDATE item SET n = $2 WHERE id = $1 AND $3::text IS NULL",
                    {"7", "1", nullptr});
    client.run("SELECT n FROM item WHERE id = 8; COMMIT");
  }
  ASSERT_TRUE(engine->end_clients().ok());
  const auto statements = engine->store().statements();
  ASSERT_EQ(statements.size(), 1u);
  EXPECT_EQ(statements.begin()->second,
            (std::vector<std::string>{"\x1e$1 = '5'\x1eSELECT n FROM item WHERE id = $1",
                                      "\x1e$1 = '6'\x1eSELECT n FROM item WHERE id = $1",
                                      "\x1e$1 = '7', $2 = '1', $3 = NULL\x1e"
                                      "UPDATE item SET n = $2 WHERE id = $1 AND $3::text IS NULL",
                                      "SELECT n FROM item WHERE id = 8; COMMIT"}));
}

TEST_F(PostgresEngineTest, LetsTransactionsOverlap) {
  start_over(at(mock::Level::kCausal));
  Client a(*engine_, "a"), b(*engine_, "b"), c(*engine_, "c");
  for (auto* client : {&a, &b, &c}) {
    EXPECT_EQ(client->run("BEGIN"), "");
    EXPECT_EQ(client->run("SELECT n FROM item WHERE id = 1"), "0");
  }
  EXPECT_EQ(c.run("UPDATE item SET n = 3 WHERE id = 3"), "");
  EXPECT_EQ(a.run("UPDATE item SET n = 1 WHERE id = 1"), "");
  EXPECT_EQ(b.run("UPDATE item SET n = 2 WHERE id = 2"), "");
  EXPECT_EQ(a.run("SELECT n FROM item WHERE id = 1"), "1");
  EXPECT_EQ(b.run("SELECT n FROM item WHERE id = 1"), "0");  // causal: it has read it before
  for (auto* client : {&b, &a, &c}) EXPECT_EQ(client->run("COMMIT"), "");
  EXPECT_EQ(a.run("SELECT n FROM item WHERE id = 1"), "1");
  expect_within(*engine_, mock::Level::kCausal);
}

TEST_F(PostgresEngineTest, CountsAtomicUpdatesOfEightClients) {
  start_over(at(mock::Level::kCausal));
  constexpr int kClients = 8, kUpdates = 25;
  std::atomic<int> failed = 0;
  {
    std::vector<std::thread> threads;
    for (int c = 0; c < kClients; ++c) {
      threads.emplace_back([&, c] {
        Client client(*engine_, "client" + row(c));
        for (int i = 0; i < kUpdates; ++i)
          failed += !client.run("UPDATE item SET n = n + 1 WHERE id = 1").empty();
      });
    }
    for (auto& thread : threads) thread.join();
  }
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(Client(*engine_, "reader").run("SELECT n FROM item WHERE id = 1 FOR UPDATE"),
            row(kClients * kUpdates));
  expect_within(*engine_, mock::Level::kCausal);
}

// Runs the statement while `meanwhile` is done, which it waits for: its answer.
std::string run_waiting(const PostgresEngine& engine, Client& client, const std::string& sql,
                        const std::function<void()>& meanwhile) {
  std::string answer;
  std::thread waiting([&] { answer = client.run(sql); });
  Client watcher(engine, "watcher");
  // The server tells nobody when a client begins to wait.
  EXPECT_TRUE(test::poll_until([&] {
    return watcher.run("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") !=
           "0";
  }));
  meanwhile();
  waiting.join();
  return answer;
}

TEST_F(PostgresEngineTest, AsksConditionsAgainAfterAWait) {
  for (const auto level : {mock::Level::kReadCommitted, mock::Level::kCausal}) {
    start_over(at(level));
    Client a(*engine_, "a"), b(*engine_, "b");
    a.run("UPDATE item SET n = 10 WHERE id IN (1, 2)");
    a.run("BEGIN; UPDATE item SET n = n - 1 WHERE id IN (1, 2)");
    EXPECT_EQ(run_waiting(*engine_, b, "UPDATE item SET n = n - 1 WHERE id = 1 RETURNING n",
                          [&] { a.run("COMMIT"); }),
              "8");
    a.run("BEGIN; UPDATE item SET n = n - 1 WHERE id = 2");
    EXPECT_EQ(run_waiting(*engine_, b, "DELETE FROM item WHERE id = 2 AND n = 9 RETURNING n",
                          [&] { a.run("COMMIT"); }),
              "");
    EXPECT_EQ(b.run("SELECT n FROM item WHERE n BETWEEN 1 AND 100 ORDER BY id FOR UPDATE"), "8;8");
    expect_within(*engine_, level);
  }
}

TEST_F(PostgresEngineTest, DoesNotWaitForWhatIsToBeSkipped) {
  start_over(at(mock::Level::kReadCommitted));
  Client a(*engine_, "a"), b(*engine_, "b");
  EXPECT_EQ(a.run("BEGIN; SELECT id FROM item WHERE id = 1 FOR UPDATE"), "1");
  EXPECT_EQ(b.run("SELECT id FROM item WHERE id = 1 FOR NO KEY UPDATE NOWAIT"), "!55P03");
  EXPECT_EQ(b.run("SELECT id FROM item WHERE id < 4 ORDER BY id FOR UPDATE SKIP LOCKED"), "2;3");
  EXPECT_EQ(b.run("SET lock_timeout = '50ms'; UPDATE item SET n = 1 WHERE id = 1"), "!55P03");
  EXPECT_EQ(b.run("SELECT n FROM item WHERE id = 1"), "0");
  EXPECT_EQ(a.run("SAVEPOINT s; SELECT id FROM item WHERE id = 2 FOR UPDATE; ROLLBACK TO s"), "");
  EXPECT_EQ(b.run("UPDATE item SET n = 1 WHERE id = 2 RETURNING n"), "1");
  EXPECT_EQ(a.run("SELECT n FROM item WHERE id = 2 FOR SHARE"), "1");
  EXPECT_EQ(b.run("SELECT n FROM item WHERE id = 2 FOR SHARE NOWAIT"), "1");
}

TEST_F(PostgresEngineTest, FindsDeadlocks) {
  start_over(at(mock::Level::kCausal));
  Client a(*engine_, "a"), b(*engine_, "b");
  a.run("BEGIN; UPDATE item SET n = 1 WHERE id = 1");
  b.run("BEGIN; UPDATE item SET n = 2 WHERE id = 2");
  std::string second;
  const auto first = run_waiting(*engine_, a, "UPDATE item SET n = 1 WHERE id = 2", [&] {
    second = b.run("UPDATE item SET n = 2 WHERE id = 1");
    b.run("COMMIT");
  });
  EXPECT_TRUE((first == "!40P01" && second.empty()) || (first.empty() && second == "!40P01"))
      << first << ' ' << second;
}

// Cancelling a statement that waits ends the statement, and the session goes on.
TEST_F(PostgresEngineTest, CancelsAStatementThatWaits) {
  start_over(at(mock::Level::kStrongSessionSerializable));
  Client a(*engine_, "a"), b(*engine_, "b");
  EXPECT_EQ(a.run("BEGIN; UPDATE item SET n = 1 WHERE id = 1"), "");
  EXPECT_EQ(b.run("SET statement_timeout = '300ms'"), "");
  EXPECT_EQ(b.run("UPDATE item SET n = 2 WHERE id = 1"), "!57014");
  EXPECT_EQ(a.run("COMMIT"), "");
  EXPECT_EQ(b.run("UPDATE item SET n = n + 2 WHERE id = 1 RETURNING n"), "3");
}

// Two sessions, none of which has to see the other, use one address. How often both may.
int shared_addresses(const PostgresEngine& engine) {
  Client a(engine, "a"), b(engine, "b");
  int both = 0;
  for (int i = 0; i < kTries; ++i) {
    const auto add = "INSERT INTO account (email) VALUES ('" + row(i) + "')";
    const auto first = a.run(add), second = b.run(add);
    EXPECT_EQ(first, "");
    EXPECT_TRUE(second.empty() || second == "!23505") << second;
    both += second.empty();
  }
  return both;
}

int missed_references(const PostgresEngine& engine) {
  Client a(engine, "a"), b(engine, "b");
  int missed = 0;
  for (int i = 0; i < kTries; ++i) {
    const auto id = a.run("INSERT INTO account (email) VALUES ('r" + row(i) + "') RETURNING id");
    const auto entry = b.run("INSERT INTO entry VALUES (" + id + ")");
    EXPECT_TRUE(entry.empty() || entry == "!23503") << entry;
    missed += !entry.empty();
  }
  return missed;
}

TEST_F(PostgresEngineTest, HasConstraintsAsWeakAsTheLevel) {
  start_over(at(mock::Level::kCausal));
  EXPECT_GT(shared_addresses(*engine_), 0);
  EXPECT_GT(missed_references(*engine_), 0);
}

TEST(PostgresEngineConstraints, AreStrongOnRequest) {
  const auto engine = start_engine({.store = in_one_place(), .strong_constraints = true});
  ASSERT_NE(engine, nullptr);
  ASSERT_TRUE(engine->start_over(at(mock::Level::kCausal)).ok());
  EXPECT_EQ(shared_addresses(*engine), 0);
  EXPECT_EQ(missed_references(*engine), 0);

  // Who adds what another may be adding waits for the other.
  Client a(*engine, "c"), b(*engine, "d");
  const std::string add =
      "INSERT INTO account (email) VALUES ('x') ON CONFLICT DO NOTHING RETURNING 1";
  EXPECT_EQ(a.run("BEGIN; " + add), "1");
  EXPECT_EQ(run_waiting(*engine, b, add, [&] { a.run("ROLLBACK"); }), "1");
  EXPECT_EQ(a.run("BEGIN; DELETE FROM account WHERE email = 'x'"), "");
  EXPECT_EQ(run_waiting(*engine, b, "INSERT INTO account (email) VALUES ('x') RETURNING 1",
                        [&] { a.run("COMMIT"); }),
            "1");
  a.run("INSERT INTO account VALUES (1000, 'parent')");
  EXPECT_EQ(a.run("BEGIN; DELETE FROM account WHERE id = 1000"), "");
  EXPECT_EQ(run_waiting(*engine, b, "INSERT INTO entry VALUES (1000)", [&] { a.run("COMMIT"); }),
            "!23503");
}

// The levels of PostgreSQL itself, and a real-time one.
class PostgresEngineProducts : public testing::Test {
 protected:
  void serve(mock::Product product, mock::Level level) {
    mock::Options store;
    store.product = product;
    store.level = level;
    engine_ = start_engine({.store = store, .strong_constraints = true});
    ASSERT_NE(engine_, nullptr);
    ASSERT_TRUE(engine_->start_over(store).ok());
  }
  // Two clients sell one of the same item by these statements: what became of the second.
  std::string sell_twice(int id, const std::string& look, const std::string& change) {
    Client a(*engine_, "a"), b(*engine_, "b");
    a.run("BEGIN; " + look);
    b.run("BEGIN");
    const bool looks = look.find("FOR UPDATE") == std::string::npos;
    if (looks) b.run(look);
    a.run(change);
    const auto second =
        run_waiting(*engine_, b, looks ? change : look + ";" + change, [&] { a.run("COMMIT"); });
    const auto end = second.starts_with('!') ? second : b.run("COMMIT");
    return end.empty() ? Client(*engine_, "c").run("SELECT n FROM item WHERE id = " + row(id))
                       : end;
  }

  std::unique_ptr<PostgresEngine> engine_;
};

TEST_F(PostgresEngineProducts, LoseUpdatesAtReadCommitted) {
  serve(mock::Product::kPostgres, mock::Level::kReadCommitted);
  const std::string look = "SELECT n FROM item WHERE id = ";
  EXPECT_EQ(sell_twice(1, look + "1", "UPDATE item SET n = 1 WHERE id = 1"), "1");
  EXPECT_EQ(sell_twice(2, look + "2", "UPDATE item SET n = n + 1 WHERE id = 2"), "2");
  EXPECT_EQ(sell_twice(3, look + "3 FOR UPDATE", "UPDATE item SET n = n + 1 WHERE id = 3"), "2");
  EXPECT_EQ(sell_twice(4, look + "4", "UPDATE item SET n = n + 1 WHERE id = 4 AND n = 0"), "1");
  // Each statement has a snapshot, also one that goes on after others.
  Client a(*engine_, "a"), b(*engine_, "b");
  a.run("BEGIN; DECLARE c CURSOR FOR SELECT n FROM item WHERE id IN (5, 300) ORDER BY id");
  EXPECT_EQ(a.run("FETCH c"), "0");
  b.run("UPDATE item SET n = 9 WHERE id IN (5, 300)");
  EXPECT_EQ(a.run("SELECT n FROM item WHERE id = 300"), "9");
  EXPECT_EQ(a.run("FETCH c"), "0");
  EXPECT_EQ(a.run("COMMIT"), "");
  // A client may ask for more.
  a.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT n FROM item WHERE id = 6");
  b.run("UPDATE item SET n = 9 WHERE id = 6");
  EXPECT_EQ(a.run("SELECT n FROM item WHERE id = 6"), "0");
  EXPECT_EQ(a.run("UPDATE item SET n = 1 WHERE id = 6"), "!40001");
  EXPECT_EQ(a.run("ROLLBACK; SET cupel.level = 'causal'"), "!22023");
}

TEST_F(PostgresEngineProducts, RefuseLostUpdatesAtRepeatableRead) {
  serve(mock::Product::kPostgres, mock::Level::kStrongSessionSnapshotIsolation);
  const std::string look = "SELECT n FROM item WHERE id = ";
  EXPECT_EQ(sell_twice(1, look + "1", "UPDATE item SET n = 1 WHERE id = 1"), "!40001");
  EXPECT_EQ(sell_twice(2, look + "2", "UPDATE item SET n = n + 1 WHERE id = 2"), "!40001");
  Client a(*engine_, "a"), b(*engine_, "b");
  EXPECT_EQ(write_skews(a, b), 0);  // one after the other
  const auto both = "SELECT sum(n) FROM item WHERE id IN (3, 4)";
  a.run("BEGIN");
  b.run("BEGIN");
  EXPECT_EQ(a.run(both) + b.run(both), "00");
  EXPECT_EQ(a.run("UPDATE item SET n = 1 WHERE id = 3; COMMIT"), "");
  EXPECT_EQ(b.run("UPDATE item SET n = 1 WHERE id = 4; COMMIT"), "");
}

TEST_F(PostgresEngineProducts, RefuseWriteSkewAtSerializable) {
  for (const auto product : {mock::Product::kPostgres, mock::Product::kNone}) {
    serve(product, product == mock::Product::kNone ? mock::Level::kStrictSerializable
                                                   : mock::Level::kStrongSessionSerializable);
    Client a(*engine_, "a"), b(*engine_, "b");
    const auto both = "SELECT sum(n) FROM item WHERE id IN (3, 4)";
    a.run("BEGIN");
    b.run("BEGIN");
    EXPECT_EQ(a.run(both) + b.run(both), "00");
    EXPECT_EQ(a.run("UPDATE item SET n = 1 WHERE id = 3; COMMIT"), "");
    EXPECT_EQ(b.run("UPDATE item SET n = 1 WHERE id = 4; COMMIT"), "!40001");
    EXPECT_EQ(b.run("ROLLBACK; " + std::string(both)), "1");
  }
}

// The scan of an empty or filtered table is a read of the rows that others insert meanwhile.
class PostgresEngineRegistration : public PostgresEngineProducts {
 protected:
  void register_names(int rounds) {
    constexpr int kOfAStore = 50;  // a scan passes the rows of all rounds before
    int both = 0;
    serve(mock::Product::kPostgres, mock::Level::kReadCommitted);
    for (int first = 0; first < rounds; first += kOfAStore) {
      mock::Options store;
      store.product = mock::Product::kPostgres;
      ASSERT_TRUE(engine_->start_over(store).ok());
      Client(*engine_, "load").run("CREATE TABLE member (id serial PRIMARY KEY, name text)");
      test::register_twice(
          [&](const std::string& name) { return std::make_unique<Client>(*engine_, name); }, first,
          std::min(kOfAStore, rounds - first));
      both += test::rounds_with_both_scans(*engine_);
    }
    std::printf("both registered in %d of %d rounds\n", both, rounds);
    EXPECT_GE(both, rounds / 2);
  }
};
TEST_F(PostgresEngineRegistration, HasBothScansInTheHistory) {
  register_names(40);
}

// Customers buy one of the same item at the same time, and each that is refused tries again.
// Whatever the level, no item is sold twice if the shop locks the row, or lets the database
// compute.
class PostgresEngineShop : public testing::Test {
 protected:
  void sell(int iterations) {
    using mock::Level;
    using mock::Product;
    const std::pair<Product, Level> levels[] = {
        {Product::kNone, Level::kReadCommitted},
        {Product::kNone, Level::kCausal},
        {Product::kPostgres, Level::kReadCommitted},
        {Product::kPostgres, Level::kStrongSessionSnapshotIsolation},
        {Product::kPostgres, Level::kStrongSessionSerializable}};
    for (const auto& [product, level] : levels) {
      mock::Options store;
      store.product = product;
      store.level = level;
      SCOPED_TRACE(mock::title(store));
      const auto engine =
          start_engine({.store = store, .strong_constraints = product == Product::kPostgres});
      ASSERT_NE(engine, nullptr);
      ASSERT_TRUE(engine->start_over(store).ok());
      const int for_update = iterations / 2;
      const auto client = [&](const std::string& name) {
        return std::make_unique<Client>(*engine, name);
      };
      expect_sold_once(client, 1, iterations - for_update, "");
      expect_sold_once(client, 2, for_update, " FOR UPDATE");
    }
  }
};

TEST_F(PostgresEngineShop, SellsNothingTwice) {
  sell(40);
}
class PostgresEngineLong : public PostgresEngineShop {};
TEST_F(PostgresEngineLong, SellsNothingTwiceInAThousandRounds) {
  sell(1000);
}
class PostgresEngineLongRegistration : public PostgresEngineRegistration {};
TEST_F(PostgresEngineLongRegistration, HasBothScansInAThousandRounds) {
  register_names(1000);
}

// Loading through it only makes an application forget its last run.
class NoDatabase : public applications::Client {
 public:
  void run(const std::string& /*text*/) override {}

 protected:
  Answer execute(std::string_view /*statement*/, const std::vector<Cell>& /*cells*/) override {
    return {.rows = {{"1", "1", "1", "1"}}};
  }
};

// The assertions of the thesis's applications, each with the servers of its own.
class PostgresEngineApplications : public testing::Test {
 protected:
  // The template has the application's tables.
  void load(applications::Application& application) {
    // The thesis's store has no locks.
    auto engine = PostgresEngine::start({.store = in_one_place(), .locks = false});
    ASSERT_TRUE(engine.ok()) << engine.error().to_string();
    {
      applications::LibpqClient loader((*engine)->url() + "?application_name=load");
      loader.run("BEGIN");
      applications::make_tables(application, loader);
      loader.run("COMMIT");
    }
    const auto kept = (*engine)->keep_as_template();
    ASSERT_TRUE(kept.ok()) << kept.error().to_string();
    engine_ = std::move(*engine);
  }

  applications::Outcome run_once(applications::Application& application, mock::Level level,
                                 int seed, int transactions) {
    EXPECT_TRUE(engine_->start_over(at(level, static_cast<std::uint64_t>(seed))).ok());
    NoDatabase nothing;
    application.load(nothing);
    std::vector<std::unique_ptr<applications::Client>> clients;
    for (const auto* name : {"client1", "client2", "client3", "auditor"}) {
      clients.push_back(std::make_unique<applications::LibpqClient>(engine_->url() +
                                                                    "?application_name=" + name));
    }
    clients.back()->run("SET cupel.policy = 'latest'");
    applications::RunOptions options;
    options.seed = static_cast<std::uint64_t>(seed);
    options.transactions = transactions;
    return applications::run(application, clients, options);
  }

  // Which assertions failed in any of the runs: "A13 A14".
  std::string violated(applications::Application& application, mock::Level level, int runs,
                       int transactions = 60) {
    std::vector<bool> ever(application.assertions().size(), false);
    for (int seed = 0; seed < runs; ++seed) {
      const auto outcome = run_once(application, level, seed, transactions);
      for (std::size_t i = 0; i < ever.size(); ++i) ever[i] = ever[i] || outcome.violated[i];
    }
    std::string names;
    for (std::size_t i = 0; i < ever.size(); ++i) {
      if (ever[i]) names += (names.empty() ? "" : " ") + application.assertions()[i].name;
    }
    return names;
  }

  std::unique_ptr<PostgresEngine> engine_;
};

TEST_F(PostgresEngineApplications, SmallbankLosesMoneyBelowSnapshotIsolation) {
  using mock::Level;
  const auto application = applications::smallbank();
  load(*application);
  EXPECT_EQ(violated(*application, Level::kReadCommitted, 1), "A13");
  EXPECT_EQ(violated(*application, Level::kCausal, 1), "A13");
  EXPECT_EQ(violated(*application, Level::kStrongSessionSnapshotIsolation, 1), "");
  EXPECT_EQ(violated(*application, Level::kStrongSessionSerializable, 1), "");
}

TEST_F(PostgresEngineApplications, VoterCountsTooManyVotesBelowSerializable) {
  using mock::Level;
  const auto application = applications::voter();
  load(*application);
  EXPECT_EQ(violated(*application, Level::kCausal, 1), "A14");
  EXPECT_EQ(violated(*application, Level::kStrongSessionSnapshotIsolation, 1), "A14");
  EXPECT_EQ(violated(*application, Level::kStrongSessionSerializable, 1), "");
}

TEST_F(PostgresEngineApplications, WikipediaMiscountsBelowSnapshotIsolation) {
  using mock::Level;
  const auto application = applications::wikipedia();
  load(*application);
  EXPECT_EQ(violated(*application, Level::kCausal, 5), "A15 A16 A17");
  EXPECT_EQ(violated(*application, Level::kStrongSessionSnapshotIsolation, 1), "");
  EXPECT_EQ(violated(*application, Level::kStrongSessionSerializable, 1), "");
}

TEST_F(PostgresEngineApplications, TpccFailsAsOverTheOwnStore) {
  using mock::Level;
  const auto application = applications::tpcc();
  load(*application);
  const auto causal = violated(*application, Level::kCausal, 3, 100);
  for (const auto* often : {"A1", "A4", "A6", "A8", "A9", "A10", "A12"})
    EXPECT_NE(causal.find(often), std::string::npos) << often << " of " << causal;
  // With primary keys these hold (docs/reference/mock-applications.md).
  for (const auto* never : {"A3", "A5", "A11"})
    EXPECT_EQ(causal.find(never), std::string::npos) << causal;
  EXPECT_EQ(violated(*application, Level::kStrongSessionSerializable, 1, 100), "");
}

}  // namespace
}  // namespace cupel::engines
