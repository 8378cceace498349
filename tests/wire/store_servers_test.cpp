// The servers on a store: what a connection sees of those before it and beside it, and
// thousands of random requests of 64 connections at a time.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <libpq-fe.h>
#include <poll.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "engine/check/check.hpp"
#include "mock/wire/server.hpp"
#include "wire/stress.hpp"

namespace cupel::wire {
namespace {

using namespace mock;

// On a store: its reads may return what the level allows.
class StoreServers : public ::testing::Test {
 protected:
  void start(const Options& options) {
    server_.reset();
    backend_.reset();
    store_.emplace(options);
    catalog_.emplace(options.level);
    backend_ = make_backend(*store_, *catalog_);
    auto started = Server::start(*backend_, {.postgres = 0, .http = 0});
    ASSERT_TRUE(started.ok()) << started.error().to_string();
    server_ = std::move(*started);
  }
  [[nodiscard]] PGconn* connect(const std::string& more = "") const {
    auto* client = PQconnectdb(("host=127.0.0.1 user=alice dbname=any port=" +
                                std::to_string(server_->port(Interface::kPostgres)) + " " + more)
                                   .c_str());
    EXPECT_EQ(PQstatus(client), CONNECTION_OK) << PQerrorMessage(client);
    return client;
  }
  // The first value, "none", or the error.
  static std::string ask(PGconn* client, const char* text) {
    auto* result = PQexec(client, text);
    std::string value = PQresStatus(PQresultStatus(result));
    if (PQresultStatus(result) == PGRES_TUPLES_OK)
      value = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "none";
    PQclear(result);
    return value;
  }
  // Waits until the server sends something.
  static bool answers(PGconn* client, int milliseconds) {
    pollfd socket{.fd = PQsocket(client), .events = POLLIN, .revents = 0};
    return ::poll(&socket, 1, milliseconds) > 0;
  }
  // A connection for this, as psql makes it.
  [[nodiscard]] std::string once(const char* text, const std::string& more = "") const {
    auto* client = connect(more);
    auto value = ask(client, text);
    PQfinish(client);
    return value;
  }
  [[nodiscard]] std::size_t sessions() const { return store_->history()->session_count(); }

  std::optional<Store> store_;
  std::optional<sql::Catalog> catalog_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Server> server_;
};

// A client a step, one after another: all of them are one session, so what one committed
// the next one sees, as causal has it for a session.
TEST_F(StoreServers, OneConnectionAfterAnotherGoesOnWithTheSession) {
  int others_lag = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    start({.level = Level::kCausal, .seed = seed});
    EXPECT_EQ(once("CREATE TABLE t (id int PRIMARY KEY, n int)"), "PGRES_COMMAND_OK");
    EXPECT_EQ(once("INSERT INTO t VALUES (1, 10)"), "PGRES_COMMAND_OK");
    EXPECT_EQ(once("SELECT n FROM t WHERE id = 1"), "10") << seed;
    EXPECT_EQ(once("UPDATE t SET n = n + 1 WHERE id = 1"), "PGRES_COMMAND_OK");
    EXPECT_EQ(once("SELECT n FROM t WHERE id = 1"), "11") << seed;
    EXPECT_EQ(sessions(), 1u) << seed;
    // Another name is another session, and so is a connection beside one that is open: they
    // may lag.
    auto* open = connect();
    EXPECT_EQ(ask(open, "SELECT n FROM t WHERE id = 1"), "11") << seed;
    others_lag += once("SELECT n FROM t WHERE id = 1") != "11";
    others_lag += once("SELECT n FROM t WHERE id = 1", "application_name=other") != "11";
    PQfinish(open);
    EXPECT_EQ(sessions(), 3u) << seed;
  }
  EXPECT_GT(others_lag, 0);
}

// A connection that has only read, and forgot its transaction, stops nobody.
TEST_F(StoreServers, AnOpenTransactionStopsNobody) {
  start({.level = Level::kCausal, .overlap = true});
  auto* idle = connect();
  EXPECT_EQ(ask(idle, "CREATE TABLE t (id int PRIMARY KEY, n int)"), "PGRES_COMMAND_OK");
  EXPECT_EQ(ask(idle, "INSERT INTO t VALUES (1, 10)"), "PGRES_COMMAND_OK");
  EXPECT_EQ(ask(idle, "BEGIN"), "PGRES_COMMAND_OK");
  EXPECT_EQ(ask(idle, "SELECT n FROM t WHERE id = 1"), "10");
  auto* other = connect("application_name=other");
  ASSERT_EQ(PQsendQuery(other, "INSERT INTO t VALUES (2, 20)"), 1);
  EXPECT_TRUE(answers(other, 2000)) << "less than the patience of 5 s";
  PQclear(PQgetResult(other));
  EXPECT_EQ(PQgetResult(other), nullptr);
  EXPECT_EQ(ask(idle, "SELECT n FROM t WHERE id = 1"), "10");
  EXPECT_EQ(ask(idle, "COMMIT"), "PGRES_COMMAND_OK");
  PQfinish(other);
  PQfinish(idle);
}

// Locks over the protocols: who wants a locked row waits, is refused, or leaves it out, as it asks.
TEST_F(StoreServers, RowsAreLocked) {
  start({.level = Level::kReadCommitted, .product = mock::Product::kPostgres});
  auto *one = connect(), *other = connect("application_name=other");
  EXPECT_EQ(ask(one, "CREATE TABLE jobs (id int PRIMARY KEY, n int)"), "PGRES_COMMAND_OK");
  EXPECT_EQ(ask(one, "INSERT INTO jobs VALUES (1, 10), (2, 20)"), "PGRES_COMMAND_OK");
  EXPECT_EQ(ask(one, "BEGIN"), "PGRES_COMMAND_OK");
  EXPECT_EQ(ask(one, "SELECT n FROM jobs WHERE id = 1 FOR UPDATE"), "10");
  EXPECT_EQ(ask(other, "SELECT n FROM jobs FOR UPDATE SKIP LOCKED"), "20");
  auto* refused = PQexec(other, "SELECT n FROM jobs WHERE id = 1 FOR UPDATE NOWAIT");
  EXPECT_STREQ(PQresultErrorField(refused, PG_DIAG_SQLSTATE), "55P03");
  PQclear(refused);
  EXPECT_EQ(ask(other, "SELECT n FROM jobs WHERE id = 1"), "10");  // reading waits for nobody
  ASSERT_EQ(PQsendQuery(other, "UPDATE jobs SET n = n + 1 WHERE id = 1 RETURNING n"), 1);
  EXPECT_FALSE(answers(other, 100));
  EXPECT_EQ(ask(one, "UPDATE jobs SET n = n + 5 WHERE id = 1"), "PGRES_COMMAND_OK");
  EXPECT_EQ(ask(one, "COMMIT"), "PGRES_COMMAND_OK");
  auto* changed = PQgetResult(other);
  EXPECT_STREQ(PQgetvalue(changed, 0, 0), "16");
  PQclear(changed);
  EXPECT_EQ(PQgetResult(other), nullptr);
  PQfinish(other);
  PQfinish(one);
}

// Two clients lock two rows in two orders: one of them is told so, and the other goes on.
TEST_F(StoreServers, ADeadlockIsReported) {
  start({.level = Level::kPrefix, .product = mock::Product::kMysql});
  auto *one = connect(), *other = connect("application_name=other");
  EXPECT_EQ(ask(one, "CREATE TABLE t (id int PRIMARY KEY, n int)"), "PGRES_COMMAND_OK");
  EXPECT_EQ(ask(one, "INSERT INTO t VALUES (1, 1), (2, 2)"), "PGRES_COMMAND_OK");
  for (auto* client : {one, other}) EXPECT_EQ(ask(client, "BEGIN"), "PGRES_COMMAND_OK");
  EXPECT_EQ(ask(one, "UPDATE t SET n = 0 WHERE id = 1"), "PGRES_COMMAND_OK");
  EXPECT_EQ(ask(other, "UPDATE t SET n = 0 WHERE id = 2"), "PGRES_COMMAND_OK");
  ASSERT_EQ(PQsendQuery(one, "UPDATE t SET n = 0 WHERE id = 2"), 1);
  EXPECT_FALSE(answers(one, 100));
  auto* refused = PQexec(other, "UPDATE t SET n = 0 WHERE id = 1");
  EXPECT_STREQ(PQresultErrorField(refused, PG_DIAG_SQLSTATE), "40P01");
  PQclear(refused);
  EXPECT_TRUE(answers(one, 2000));
  PQclear(PQgetResult(one));
  EXPECT_EQ(PQgetResult(one), nullptr);
  EXPECT_EQ(ask(one, "COMMIT"), "PGRES_COMMAND_OK");
  PQfinish(other);
  PQfinish(one);
}

TEST_F(StoreServers, HttpGoesOnToo) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    start({.level = Level::kCausal, .seed = seed});
    httplib::Client web("127.0.0.1", server_->port(Interface::kHttp));
    const auto post = [&](const std::string& path, const std::string& body) {
      return web.Post(path, body, "application/json")->body;
    };
    post("/sql", R"json({"sql": "create table t (id int primary key, n int)"})json");
    post("/sql", R"json({"sql": "insert into t values (2, 20)"})json");
    EXPECT_NE(post("/sql", R"({"sql": "select n from t where id = 2"})").find("[[20]]"),
              std::string::npos)
        << seed;
    for (const char* session : {"1", "2"}) {
      const std::string path = std::string("/sessions/") + session;
      post("/sessions", R"({"name": "shop"})");
      post(path + "/begin", "");
      if (*session == '1') post(path + "/write", R"({"key": "x", "value": 7})");
      EXPECT_EQ(post(path + "/read", R"({"key": "x"})"), "{\"value\":7}\n") << seed;
      post(path + "/commit", "");
      web.Delete(path);
    }
    EXPECT_EQ(sessions(), 2u) << "http sql and shop";
  }
}

// What pools and psycopg send to be rid of prepared statements.
TEST_F(StoreServers, PreparedStatementsAreGivenUpBySqlToo) {
  start({.level = Level::kCausal});
  auto* client = connect();
  const auto prepare = [&](const char* name) {
    PQclear(PQprepare(client, name, "SELECT 7", 0, nullptr));
  };
  const auto run = [&](const char* name) {
    auto* result = PQexecPrepared(client, name, 0, nullptr, nullptr, nullptr, 0);
    const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    std::string told = state != nullptr ? state : PQgetvalue(result, 0, 0);
    PQclear(result);
    return told;
  };
  const auto tag = [&](const char* text) {
    auto* result = PQexec(client, text);
    const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    std::string told = state != nullptr ? state : PQcmdStatus(result);
    PQclear(result);
    return told;
  };
  for (const char* name : {"", "one", "Two", "three"}) prepare(name);
  EXPECT_EQ(tag("DEALLOCATE one"), "DEALLOCATE");
  EXPECT_EQ(run("one"), "26000");
  EXPECT_EQ(tag("DEALLOCATE PREPARE \"Two\""), "DEALLOCATE");
  EXPECT_EQ(run("Two"), "26000");
  EXPECT_EQ(run("three"), "7");
  EXPECT_EQ(tag("BEGIN"), "BEGIN");
  EXPECT_EQ(tag("DEALLOCATE one"), "26000");
  EXPECT_EQ(PQtransactionStatus(client), PQTRANS_INERROR);
  EXPECT_EQ(tag("ROLLBACK"), "ROLLBACK");
  EXPECT_EQ(tag("DEALLOCATE ALL"), "DEALLOCATE ALL");
  EXPECT_EQ(run("three"), "26000");
  EXPECT_EQ(run(""), "7");
  prepare("three");
  EXPECT_EQ(tag("DISCARD ALL"), "DISCARD ALL");
  EXPECT_EQ(run("three"), "26000");
  PQfinish(client);
}

// ---- stress ----

TEST_F(StoreServers, WhatRunsIsCancelled) {
  start({.level = Level::kStrongSessionSerializable});
  auto* client = connect("options='-c statement_timeout=90s'");
  EXPECT_EQ(ask(client, "SHOW statement_timeout"), "90s");
  ask(client, "CREATE TABLE t (id int PRIMARY KEY)");
  std::string rows = "INSERT INTO t VALUES (0)";
  for (int id = 1; id < 300; ++id) rows += ", (" + std::to_string(id) + ")";
  ask(client, rows.c_str());

  const auto state = [](PGconn* asked) {
    std::string found;
    while (auto* result = PQgetResult(asked)) {
      const char* one = PQresultErrorField(result, PG_DIAG_SQLSTATE);
      if (one != nullptr) found = one;
      PQclear(result);
    }
    return found;
  };
  // A cancel request; one with a wrong secret does nothing, and neither does one too late.
  const char* long_one = "SELECT count(*) FROM t a, t b, t c, t d";
  ASSERT_EQ(PQsendQuery(client, long_one), 1);
  auto* cancel = PQgetCancel(client);
  char why[256];
  // Until the statement runs, a request does nothing.
  do {
    EXPECT_EQ(PQcancel(cancel, why, sizeof why), 1) << why;
  } while (!answers(client, 100));
  EXPECT_EQ(state(client), "57014");
  EXPECT_EQ(PQcancel(cancel, why, sizeof why), 1) << why;
  EXPECT_EQ(ask(client, "SELECT count(*) FROM t"), "300");

  // The same of one that waits for its turn.
  auto* other = connect();
  ask(other, "BEGIN");
  ask(other, "INSERT INTO t VALUES (1000)");
  ASSERT_EQ(PQsendQuery(client, "SELECT count(*) FROM t"), 1);
  while (store_->waiting() == 0) std::this_thread::yield();
  EXPECT_EQ(PQcancel(cancel, why, sizeof why), 1) << why;
  PQfreeCancel(cancel);
  EXPECT_EQ(state(client), "57014");
  EXPECT_EQ(ask(other, "COMMIT"), "PGRES_COMMAND_OK");

  PQfinish(other);
  PQfinish(client);
}

TEST_F(StoreServers, WhatAClientConnectsWith) {
  start({.level = Level::kCausal});
  EXPECT_EQ(once("SHOW application_name", "application_name=shop"), "shop");
  // What is not done is a warning, a wrong value an error.
  EXPECT_EQ(once("SHOW timezone", "options='-c timezone=Europe/Berlin'"), "UTC");
  EXPECT_EQ(once("SET lock_timeout = 5; RESET lock_timeout; SHOW lock_timeout",
                 "options=--lock-timeout=1s"),
            "1s");
  const auto to =
      "host=127.0.0.1 user=alice port=" + std::to_string(server_->port(Interface::kPostgres)) +
      " options='-c lock_timeout=soon'";
  auto* client = PQconnectdb(to.c_str());
  EXPECT_EQ(PQstatus(client), CONNECTION_BAD);
  EXPECT_NE(std::string(PQerrorMessage(client)).find("lock_timeout"), std::string::npos);
  PQfinish(client);
}

std::string big_endian(std::size_t number, int size) {
  std::string bytes;
  for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
    bytes += static_cast<char>(number >> shift);
  return bytes;
}
std::string postgres_message(char type, const std::string& body) {
  return type + big_endian(body.size() + 4, 4) + body;
}

// A statement on two tables of a few rows. `own`: may ask for a level of its own.
std::string statement(base::Random& random, bool own) {
  const auto n = [&](std::uint64_t bound) { return random.below(bound); };
  switch (n(own ? 24 : 21)) {
    case 0:
      return "BEGIN";
    case 1:
      return n(2) != 0 ? "COMMIT" : "ROLLBACK";
    case 2:
      return "SAVEPOINT s";
    case 3:
      return n(2) != 0 ? "ROLLBACK TO SAVEPOINT s" : "RELEASE SAVEPOINT s";
    case 4:
      return fmt::format("INSERT INTO t VALUES ({}, {}, 'w{}')", n(9), n(99), n(5));
    case 5:
      return fmt::format("INSERT INTO t VALUES ({}, {}, 'x') RETURNING a + 1", n(9), n(99));
    case 6:
      return fmt::format("UPDATE t SET a = a + 1 WHERE id = {}", n(9));
    case 7:
      return fmt::format("UPDATE t SET a = {}, w = 'W' WHERE a > {}", n(99), n(99));
    case 8:
      return fmt::format("DELETE FROM t WHERE id = {}", n(9));
    case 9:
      return fmt::format("SELECT * FROM t WHERE id = {}", n(9));
    case 10:
      return "SELECT count(*), sum(a), max(w) FROM t";
    case 11:
      return "SELECT t.id, u.b FROM t JOIN u ON u.t_id = t.id ORDER BY 1 DESC LIMIT 3";
    case 12:
      return fmt::format("INSERT INTO u (t_id, b) VALUES ({}, {})", n(9), n(99));
    case 13:
      return "SELECT w, avg(a) FROM t GROUP BY w HAVING count(*) > 1 ORDER BY w";
    case 14:
      return fmt::format("SELECT a FROM t WHERE id IN (SELECT t_id FROM u WHERE b < {}) FOR UPDATE",
                         n(99));
    case 15:
      return fmt::format("CREATE TABLE v{} (x int PRIMARY KEY, y text UNIQUE)", n(3));
    case 16:
      return fmt::format("DROP TABLE v{}", n(3));
    case 17:
      return fmt::format("INSERT INTO v{} VALUES ({}, 'y')", n(3), n(9));
    case 18:
      return "SELECT a / 0, nonsense(w) FROM t";
    case 19:
      return "SELEC 1 FRM";
    case 20:
      return "BEGIN; UPDATE t SET a = 0; COMMIT";
    case 21:
      return "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE";
    case 22:
      return "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ";
    default:
      return std::string("SET cupel.level = '") + (n(2) != 0 ? "causal" : "read-committed") + "'";
  }
}

std::string piece(base::Random& random, Interface interface, bool own) {
  const std::string end(1, '\0');
  const auto text = statement(random, own);
  if (interface == Interface::kPostgres) {
    switch (random.below(8)) {
      case 0:
        return postgres_message('P',
                                end + "SELECT a, w FROM t WHERE id = $1" + end + big_endian(0, 2)) +
               postgres_message('B', end + end + big_endian(0, 2) + big_endian(1, 2) +
                                         big_endian(1, 4) + std::to_string(random.below(9)) +
                                         big_endian(0, 2)) +
               postgres_message('D', "P" + end) +
               postgres_message('E', end + big_endian(random.below(3), 4)) +
               postgres_message('S', "");
      case 1:
        return postgres_message('P', end + text + end + big_endian(0, 2)) +
               postgres_message('B', end + end + std::string(6, '\0')) +
               postgres_message('E', end + std::string(4, '\0'));
      case 2:
        return postgres_message(random.chance(0.9) ? 'S' : 'X', "");
      case 3:
        return random.chance(0.1) ? postgres_message(static_cast<char>(random.next()), text)
                                  : postgres_message('S', "");
      default:
        return postgres_message('Q', text + end);
    }
  }
  const auto post = [](const std::string& path, const std::string& body) {
    return fmt::format("POST {} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}", path, body.size(), body);
  };
  const auto session = fmt::format("/sessions/{}", random.below(20) + 1);
  const auto key = random.below(6);
  switch (random.below(10)) {
    case 0:
      return post("/sessions", R"({"name": "web"})");
    case 1:
      return post(session + "/begin", random.chance(0.1) ? R"({"policy": "latest"})" : "");
    case 2:
      return post(session + "/read", fmt::format(R"({{"key": "k{}"}})", key));
    case 3:
      return post(session + "/write",
                  fmt::format(R"({{"key": "k{}", "value": {}}})", key, random.below(1000)));
    case 4:
      return post(session + (random.chance(0.8) ? "/commit" : "/rollback"), "");
    case 5:
      return post(session + "/keys", random.chance(0.5) ? "" : "nonsense");
    case 6:
      return random.chance(0.3) ? "DELETE " + session + " HTTP/1.1\r\n\r\n"
                                : "GET / HTTP/1.1\r\n\r\n";
    case 7:
      return random.chance(0.1) ? "NONSENSE\r\n\r\n"
                                : post(session + "/sql", fmt::format(R"({{"sql": "{}"}})", text));
    default:
      return post("/sql", fmt::format(R"({{"sql": "{}"}})", text));
  }
}

// In rounds, each at the next level and on a fresh store; CUPEL_STRESS_SECONDS says for how
// long altogether. Nothing may crash, hang or stay, and what happened is within the level.
TEST_F(StoreServers, Stress) {
  const double seconds = stress_seconds(6);
  constexpr double kRound = 3;
  const Level levels[] = {Level::kReadCommitted,
                          Level::kReadAtomic,
                          Level::kCausal,
                          Level::kPrefix,
                          Level::kStrongSessionSnapshotIsolation,
                          Level::kStrongSessionSerializable};
  const auto started = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  };
  std::uint64_t requests = 0, answered = 0, transactions = 0, rounds = 0;
  for (; rounds == 0 || passed() < seconds; ++rounds) {
    const Level level = levels[rounds % std::size(levels)];
    const bool own = rounds / std::size(levels) % 2 == 1;
    start({.level = level, .seed = rounds, .abort_rate = 0.02, .patience_s = 0.02});
    auto* client = connect();
    ask(client, "CREATE TABLE t (id int PRIMARY KEY, a int, w text)");
    ask(client, "CREATE TABLE u (id serial PRIMARY KEY, t_id int, b int)");
    ask(client, "INSERT INTO t VALUES (1, 10, 'one'), (2, 20, 'two')");
    PQfinish(client);
    const auto stressed =
        stress(*server_, std::min(kRound, std::max(seconds - passed(), 0.5)), rounds,
               [own](base::Random& random, Interface interface, unsigned /*connection*/) {
                 return piece(random, interface, own);
               });
    requests += stressed.requests;
    answered += stressed.answered;
    // Still there for who behaves; HTTP's sessions stay until the end.
    // What they sent is worked off first: that takes as long as it takes, but goes on.
    for (auto left = server_->connections(); left > 0; left = server_->connections()) {
      ASSERT_TRUE(server_->wait_for_connections(left - 1, Seconds(60)))
          << left << " connections stay";
    }
    // Some commits abort, as abort_rate says.
    std::string told;
    for (int i = 0; i < 20 && told != "5"; ++i) told = once("SELECT 5");
    EXPECT_EQ(told, "5");
    server_->stop();
    const auto history = store_->history();
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    transactions += history->txn_count();
    check::Options asked;
    asked.asked = {*levels::parse_level(name(level))};
    asked.timeout_seconds = 5;
    if (!own) {  // else SET cupel.level made some weaker
      EXPECT_NE(check::check(*history, asked).levels.front().verdict, check::Verdict::kViolated)
          << name(level) << ", round " << rounds;
    }
  }
  EXPECT_GT(answered, 200u);
  EXPECT_GT(transactions, 50u);
  std::printf("%llu rounds, %llu requests, %llu answered, %llu transactions\n",
              static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(requests),
              static_cast<unsigned long long>(answered),
              static_cast<unsigned long long>(transactions));
}

}  // namespace
}  // namespace cupel::wire
