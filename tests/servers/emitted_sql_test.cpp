// The scripts of `check --emit sql` on the servers they are written for: every statement is
// understood; where the server's level forbids the anomaly, something waits, fails or answers
// otherwise, as the script's head says; where it allows it, every answer is the recorded one.
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <mysql.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>

#include "databases/lab/server.hpp"
#include "engine/check/check.hpp"
#include "report/emit_sql.hpp"
#include "support/counterexamples.hpp"

namespace cupel::lab {
namespace {

using history::HistoryBuilder;
using history::ScalarView;
using levels::Level;

struct SqlReply {
  std::string text;  // cells of one column, or the sentence of an error
  std::string code;  // SQLSTATE; empty: no error
};

class Connection {
 public:
  virtual ~Connection() = default;
  virtual SqlReply ask(const std::string& sql) = 0;
};

class Postgres : public Connection {
 public:
  explicit Postgres(const Server& server)
      : connection_(PQconnectdb(("host=127.0.0.1 dbname=cupel user=cupel connect_timeout=10 port=" +
                                 std::to_string(server.port()))
                                    .c_str()),
                    PQfinish) {
    EXPECT_EQ(PQstatus(connection_.get()), CONNECTION_OK) << PQerrorMessage(connection_.get());
    EXPECT_EQ(ask("set lock_timeout = '1s'").code, "");
  }
  SqlReply ask(const std::string& sql) override {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(
        PQexec(connection_.get(), sql.c_str()), PQclear);
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      const auto* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
      return {PQresultErrorMessage(result.get()), state != nullptr ? state : "08006"};
    }
    std::string cells;
    for (int row = 0; row < PQntuples(result.get()); ++row) {
      if (row != 0) cells += ", ";
      cells += PQgetisnull(result.get(), row, 0) != 0 ? "null" : PQgetvalue(result.get(), row, 0);
    }
    return {cells, ""};
  }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

class Mariadb : public Connection {
 public:
  explicit Mariadb(const Server& server) : connection_(mysql_init(nullptr), mysql_close) {
    EXPECT_NE(mysql_real_connect(connection_.get(), "127.0.0.1", "cupel", nullptr, "cupel",
                                 server.port(), nullptr, 0),
              nullptr)
        << mysql_error(connection_.get());
    EXPECT_EQ(ask("set session innodb_lock_wait_timeout = 1").code, "");
  }
  SqlReply ask(const std::string& sql) override {
    if (mysql_query(connection_.get(), sql.c_str()) != 0) {
      return {mysql_error(connection_.get()), mysql_sqlstate(connection_.get())};
    }
    const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> result(
        mysql_store_result(connection_.get()), mysql_free_result);
    std::string cells;
    while (result != nullptr) {
      const auto row = mysql_fetch_row(result.get());
      if (row == nullptr) break;
      if (!cells.empty()) cells += ", ";
      cells += row[0] == nullptr ? "null" : row[0];
    }
    return {cells, ""};
  }

 private:
  std::unique_ptr<MYSQL, decltype(&mysql_close)> connection_;
};

// What became of a script.
struct Playback {
  std::string stopped;    // what waited, failed or answered otherwise first; empty: nothing
  std::string mistake;    // a statement that was not understood
  std::size_t reads = 0;  // answers compared
};

// Statements in their order, each on the connection that the head gives its transaction; up to
// what does not go as recorded. The table is gone afterwards.
template <typename Client>
Playback play(const std::string& script, const Server& server) {
  Playback playback;
  Client owner(server);
  std::map<std::string, std::unique_ptr<Client>> of;
  std::istringstream in(script);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.starts_with("--")) continue;
    const auto mark = line.find("; -- ");
    if (mark == std::string::npos) {
      const auto done = owner.ask(line);
      if (!done.code.empty()) playback.mistake = line + "\n" + done.text;
      if (line.starts_with("drop") || !playback.mistake.empty()) break;
      continue;
    }
    const auto rest = line.substr(mark + 5);
    const auto who = rest.substr(0, rest.find(':'));
    auto& client = of[who];  // one for each transaction: none of these scripts needs a session
    if (client == nullptr) client = std::make_unique<Client>(server);
    const auto answer = client->ask(line.substr(0, mark));
    const auto kind = answer.code.substr(0, 2);
    if (kind == "42" || kind == "22" || kind == "0A") playback.mistake = line + "\n" + answer.text;
    if (!answer.code.empty()) {
      playback.stopped = line + "\n" + answer.text;
      break;
    }
    const auto saw = rest.find(": saw ");
    if (saw == std::string::npos) continue;
    ++playback.reads;
    const auto recorded = rest.substr(saw + 6);  // and then what is odd about it
    if (answer.text != recorded.substr(0, recorded.find(", although"))) {
      playback.stopped = line + "\nanswered " + answer.text;
      break;
    }
  }
  of.clear();  // what is open is undone, so that the table can go
  if (!playback.stopped.empty()) owner.ask("drop table if exists cupel_example");
  return playback;
}

struct Anomaly {
  std::string name;
  Level level;
};
const Anomaly kLostUpdate{"lost update", Level::kSnapshotIsolation};
const Anomaly kWriteSkew{"write skew", Level::kSerializable};
const Anomaly kLongFork{"long fork", Level::kSnapshotIsolation};
const Anomaly kDirtyRead{"dirty read", Level::kReadCommitted};

// The smallest example, as if recorded from that database at that level.
history::History recorded(const Anomaly& anomaly, const std::string& database,
                          const std::string& isolation) {
  HistoryBuilder b;
  b.set_metadata("database", database);
  b.set_metadata("isolation", isolation);
  const auto x = b.key(ScalarView::of(std::int64_t{1})), y = b.key(ScalarView::of(std::int64_t{2}));
  const auto value = [&](std::int64_t v) { return b.value(ScalarView::of(v)); };
  std::uint32_t label = 0;
  const auto begin = [&](history::TxnStatus status = history::TxnStatus::kCommitted) {
    b.begin(b.session("s" + std::to_string(label)), status, {.label = label});
    ++label;
  };
  if (anomaly.name == "lost update") {
    for (const int written : {1, 2}) {
      begin();
      b.read(x, b.null_value());
      b.write(x, value(written));
      b.end();
    }
  } else if (anomaly.name == "write skew") {
    for (const auto key : {x, y}) {
      begin();
      b.read(x, b.null_value());
      b.read(y, b.null_value());
      b.write(key, value(1));
      b.end();
    }
  } else if (anomaly.name == "long fork") {
    for (const auto key : {x, y}) {
      begin();
      b.write(key, value(1));
      b.end();
    }
    begin();
    b.read(x, value(1));
    b.read(y, b.null_value());
    b.end();
    begin();
    b.read(x, b.null_value());
    b.read(y, value(1));
    b.end();
  } else {
    begin(history::TxnStatus::kAborted);
    b.write(x, value(1));
    b.end();
    begin();
    b.read(x, value(1));
    b.end();
  }
  return std::move(b).finish().value();
}

std::string script_of(const Anomaly& anomaly, const std::string& database,
                      const std::string& isolation) {
  const auto history = recorded(anomaly, database, isolation);
  check::Options options;
  options.asked = {anomaly.level};
  analysis::Analysis found;
  found.check = check::check(history, options);
  for (const auto level : found.check.weakest_violated) {
    found.counterexamples.push_back(
        test::counterexample_of(recorded(anomaly, database, isolation), level));
  }
  EXPECT_FALSE(found.counterexamples.empty()) << anomaly.name;
  const report::Checked checked{"h", history, found};
  return report::emit_sql(report::Emission{checked, "cupel check h", {}});
}

template <typename Client>
void expect(const Server& server, const std::string& database, const Anomaly& anomaly,
            const std::string& isolation, bool shown) {
  SCOPED_TRACE(anomaly.name + " at " + isolation);
  const auto script = script_of(anomaly, database, isolation);
  const auto playback = play<Client>(script, server);
  EXPECT_EQ(playback.mistake, "") << script;
  EXPECT_EQ(playback.stopped.empty(), shown) << playback.stopped << "\n" << script;
  EXPECT_TRUE(!shown || playback.reads > 0) << script;
}

TEST(EmittedSql, Postgres) {
  auto started = start(Kind::kPostgres, {.durable = false});
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  const auto check = [&](const Anomaly& anomaly, const std::string& isolation, bool shown) {
    expect<Postgres>(*started, "PostgreSQL", anomaly, isolation, shown);
  };
  check(kLostUpdate, "read committed", true);
  check(kLostUpdate, "repeatable read", false);
  check(kLostUpdate, "serializable", false);
  check(kWriteSkew, "read committed", true);
  check(kWriteSkew, "repeatable read", true);
  check(kWriteSkew, "serializable", false);
  check(kLongFork, "repeatable read", false);
  check(kDirtyRead, "read uncommitted", false);  // which PostgreSQL takes as read committed
}

TEST(EmittedSql, Mariadb) {
  auto started = start(Kind::kMariadb, {.durable = false});
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  const auto check = [&](const Anomaly& anomaly, const std::string& isolation, bool shown) {
    expect<Mariadb>(*started, "MariaDB", anomaly, isolation, shown);
  };
  check(kLostUpdate, "read committed", true);
  check(kLostUpdate, "repeatable read", true);  // without innodb_snapshot_isolation
  check(kLostUpdate, "serializable", false);
  check(kWriteSkew, "repeatable read", true);
  check(kWriteSkew, "serializable", false);
  check(kLongFork, "repeatable read", false);
  check(kDirtyRead, "read committed", false);
  check(kDirtyRead, "read uncommitted", true);
}

}  // namespace
}  // namespace cupel::lab
