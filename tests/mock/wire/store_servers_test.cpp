// The servers on a store: what a connection sees of those before it and beside it.
#include <gtest/gtest.h>
#include <httplib.h>
#include <libpq-fe.h>
#include <mysql.h>

#include <memory>
#include <optional>
#include <string>

#include "mock/wire/server.hpp"

namespace cupel::mock::wire {
namespace {

// On a store: its reads may return what the level allows.
class StoreServers : public ::testing::Test {
 protected:
  void start(const Options& options) {
    server_.reset();
    backend_.reset();
    store_.emplace(options);
    catalog_.emplace(options.level);
    backend_ = make_backend(*store_, *catalog_);
    auto started = Server::start(*backend_, {.postgres = 0, .mysql = 0, .http = 0});
    ASSERT_TRUE(started.ok()) << started.error().to_string();
    server_ = std::move(*started);
  }
  [[nodiscard]] PGconn* connect(const std::string& more = "") const {
    auto* client = PQconnectdb(("host=127.0.0.1 user=alice dbname=any port=" + std::to_string(server_->port(Interface::kPostgres)) + " " + more).c_str());
    EXPECT_EQ(PQstatus(client), CONNECTION_OK) << PQerrorMessage(client);
    return client;
  }
  // The first value, "none", or the error.
  static std::string ask(PGconn* client, const char* text) {
    auto* result = PQexec(client, text);
    std::string value = PQresStatus(PQresultStatus(result));
    if (PQresultStatus(result) == PGRES_TUPLES_OK) value = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "none";
    PQclear(result);
    return value;
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

TEST_F(StoreServers, MysqlAndHttpGoOnToo) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    start({.level = Level::kCausal, .seed = seed});
    const auto mysql = [&](const char* text) {
      MYSQL* client = mysql_init(nullptr);
      EXPECT_NE(mysql_real_connect(client, "127.0.0.1", "root", nullptr, "test", server_->port(Interface::kMysql), nullptr, 0), nullptr);
      EXPECT_EQ(mysql_query(client, text), 0) << mysql_error(client);
      std::string value;
      if (auto* result = mysql_store_result(client)) {
        const auto row = mysql_fetch_row(result);
        value = row != nullptr ? row[0] : "none";
        mysql_free_result(result);
      }
      mysql_close(client);
      return value;
    };
    mysql("CREATE TABLE t (id int PRIMARY KEY, n int)");
    mysql("INSERT INTO t VALUES (1, 10)");
    EXPECT_EQ(mysql("SELECT n FROM t WHERE id = 1"), "10") << seed;
    EXPECT_EQ(sessions(), 1u);
    httplib::Client web("127.0.0.1", server_->port(Interface::kHttp));
    const auto post = [&](const std::string& path, const std::string& body) { return web.Post(path, body, "application/json")->body; };
    post("/sql", R"json({"sql": "insert into t values (2, 20)"})json");
    EXPECT_NE(post("/sql", R"({"sql": "select n from t where id = 2"})").find("[[20]]"), std::string::npos) << seed;
    for (const char* session : {"1", "2"}) {
      const std::string path = std::string("/sessions/") + session;
      post("/sessions", R"({"name": "shop"})");
      post(path + "/begin", "");
      if (*session == '1') post(path + "/write", R"({"key": "x", "value": 7})");
      EXPECT_EQ(post(path + "/read", R"({"key": "x"})"), "{\"value\":7}\n") << seed;
      post(path + "/commit", "");
      web.Delete(path);
    }
    EXPECT_EQ(sessions(), 3u) << "root, http sql and shop";
  }
}

}  // namespace
}  // namespace cupel::mock::wire
