// The program that on_database_test runs: two clients at a time, alice and bob, each a thread with
// a connection of its own. It fails (1) where the textbook says that it must not, and ends with 2
// after an error of its own.
//
//   textbook_client lost-update | atomic-update | for-update
//   textbook_client write-skew LEVEL
//   textbook_client qualified    lost-update where the SELECT names the schema
//   textbook_client write-skew-update LEVEL
//   textbook_client deadlock | ordered-locks
//   textbook_client apart        two clients that touch different rows
//   textbook_client dirty-read   at read uncommitted, which PostgreSQL does not have
//   textbook_client blameless    fails without an anomaly
//   textbook_client pipelined    lost-update by the extended protocol, with parameters
// On PostgreSQL, or on MariaDB if MYSQL_TCP_PORT is set.
#include <libpq-fe.h>
#include <mysql.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::_Exit(2);
}

class Connection {
 public:
  virtual ~Connection() = default;
  // The first cell. code() is empty if all is well.
  virtual std::string run(const std::string& sql) = 0;
  // A prepared statement; ? is the parameter.
  virtual std::string run(const std::string& sql, const std::string& parameter) = 0;
  virtual void begin(const std::string& level) = 0;
  [[nodiscard]] virtual bool is_deadlock() const = 0;
  // It is to be run again: a deadlock, a serialization failure.
  [[nodiscard]] virtual bool is_conflict() const = 0;
  [[nodiscard]] bool well() const { return code_.empty(); }
  // The same, and it must be well.
  std::string must(const std::string& sql) {
    auto cell = run(sql);
    if (!well()) give_up(sql + ": " + code_);
    return cell;
  }

 protected:
  std::string code_;  // of the last error
};

class Postgres final : public Connection {
 public:
  explicit Postgres(const std::string& name)
      : handle_(PQconnectdb(("application_name=" + name).c_str()), PQfinish) {
    if (PQstatus(handle_.get()) != CONNECTION_OK) give_up(PQerrorMessage(handle_.get()));
  }
  std::string run(const std::string& sql) override {
    return keep(PQexec(handle_.get(), sql.c_str()));
  }
  std::string run(const std::string& sql, const std::string& parameter) override {
    const char* values[] = {parameter.c_str()};
    auto text = sql;
    text.replace(text.find('?'), 1, "$1");
    return keep(PQexecParams(handle_.get(), text.c_str(), 1, nullptr, values, nullptr, nullptr, 0));
  }
  void begin(const std::string& level) override { must("BEGIN ISOLATION LEVEL " + level); }
  [[nodiscard]] bool is_deadlock() const override { return code_ == "40P01"; }
  [[nodiscard]] bool is_conflict() const override { return code_ == "40001"; }

 private:
  std::string keep(PGresult* given) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(given, PQclear);
    const auto status = PQresultStatus(result.get());
    code_.clear();
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
      code_ = state == nullptr ? "?" : state;
      return "";
    }
    return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
  }

  std::unique_ptr<PGconn, decltype(&PQfinish)> handle_;
};

class Mysql final : public Connection {
 public:
  explicit Mysql(const std::string& name) : handle_(mysql_init(nullptr), mysql_close) {
    mysql_options4(handle_.get(), MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", name.c_str());
    const auto port = static_cast<unsigned>(std::atoi(std::getenv("MYSQL_TCP_PORT")));
    if (mysql_real_connect(handle_.get(), std::getenv("MYSQL_HOST"), std::getenv("MYSQL_USER"),
                           std::getenv("MYSQL_PWD"), std::getenv("MYSQL_DATABASE"), port, nullptr,
                           0) == nullptr)
      give_up(mysql_error(handle_.get()));
  }
  std::string run(const std::string& sql) override {
    code_.clear();
    if (mysql_query(handle_.get(), sql.c_str()) != 0) return failed(mysql_errno(handle_.get()));
    const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> result(
        mysql_store_result(handle_.get()), mysql_free_result);
    const auto* row = result ? mysql_fetch_row(result.get()) : nullptr;
    return row != nullptr && row[0] != nullptr ? row[0] : "";
  }
  std::string run(const std::string& sql, const std::string& parameter) override {
    code_.clear();
    const std::unique_ptr<MYSQL_STMT, decltype(&mysql_stmt_close)> statement(
        mysql_stmt_init(handle_.get()), mysql_stmt_close);
    auto* raw = statement.get();
    auto value = std::strtoll(parameter.c_str(), nullptr, 10);
    MYSQL_BIND bound{};
    bound.buffer_type = MYSQL_TYPE_LONGLONG;
    bound.buffer = &value;
    if (mysql_stmt_prepare(raw, sql.data(), sql.size()) != 0 ||
        mysql_stmt_bind_param(raw, &bound) != 0 || mysql_stmt_execute(raw) != 0)
      return failed(mysql_stmt_errno(raw));
    if (mysql_stmt_field_count(raw) == 0) return "";
    long long cell = 0;
    MYSQL_BIND result{};
    result.buffer_type = MYSQL_TYPE_LONGLONG;
    result.buffer = &cell;
    if (mysql_stmt_bind_result(raw, &result) != 0 || mysql_stmt_store_result(raw) != 0 ||
        mysql_stmt_fetch(raw) != 0)
      return failed(mysql_stmt_errno(raw));
    return std::to_string(cell);
  }
  void begin(const std::string& level) override {
    must("SET TRANSACTION ISOLATION LEVEL " + level);
    must("BEGIN");
  }
  [[nodiscard]] bool is_deadlock() const override { return code_ == "1213"; }
  [[nodiscard]] bool is_conflict() const override { return is_deadlock(); }

 private:
  std::string failed(unsigned number) {
    code_ = std::to_string(number);
    return "";
  }
  std::unique_ptr<MYSQL, decltype(&mysql_close)> handle_;
};

std::unique_ptr<Connection> connect(const std::string& name) {
  if (std::getenv("MYSQL_TCP_PORT") != nullptr) return std::make_unique<Mysql>(name);
  return std::make_unique<Postgres>(name);
}

void two_clients(const std::function<void(Connection&, bool)>& work) {
  const auto client = [&](bool first) {
    const auto connection = connect(first ? "alice" : "bob");
    work(*connection, first);
  };
  std::thread alice(client, true), bob(client, false);
  alice.join();
  bob.join();
}

int expect(const std::string& sql, const std::string& expected) {
  const auto found = connect("check")->must(sql);
  if (found == expected) return 0;
  std::printf("%s gives %s, expected %s\n", sql.c_str(), found.c_str(), expected.c_str());
  return 1;
}

int count(const std::string& read, bool parameters) {
  two_clients([&](Connection& connection, bool) {
    connection.must("BEGIN");
    if (read.empty()) {
      connection.must("UPDATE counters SET n = n + 1 WHERE id = 1");
    } else {
      const auto n = parameters ? connection.run("SELECT n FROM counters WHERE id = ?", "1")
                                : connection.must(read);
      const auto more = std::to_string(std::stoi(n) + 1);
      if (parameters) {
        connection.run("UPDATE counters SET n = ? WHERE id = 1", more);
      } else {
        connection.must("UPDATE counters SET n = " + more + " WHERE id = 1");
      }
    }
    connection.must("COMMIT");
  });
  return expect("SELECT n FROM counters WHERE id = 1", "2");
}

// A doctor may leave if another one stays.
int leave(const std::string& level) {
  two_clients([&](Connection& connection, bool first) {
    for (;;) {
      connection.begin(level);
      const auto on_call = connection.run("SELECT count(*) FROM doctors WHERE on_call");
      if (connection.well() && std::stoi(on_call) >= 2) {
        connection.run("UPDATE doctors SET on_call = false WHERE name = '" +
                       std::string(first ? "alice" : "bob") + "'");
      }
      if (connection.well()) connection.run("COMMIT");
      if (connection.well()) return;
      if (!connection.is_conflict()) give_up("no conflict, but another error");
      connection.run("ROLLBACK");
    }
  });
  return expect("SELECT CASE WHEN count(*) > 0 THEN 'yes' END FROM doctors WHERE on_call", "yes");
}

// The same in one statement (PostgreSQL's): its condition reads what the other one writes.
int leave_by_update(const std::string& level) {
  two_clients([&](Connection& connection, bool first) {
    connection.begin(level);
    connection.must("UPDATE doctors SET on_call = false WHERE name = '" +
                    std::string(first ? "alice" : "bob") +
                    "' AND (SELECT count(*) FROM public.doctors WHERE on_call) > 1");
    connection.must("COMMIT");
  });
  return expect("SELECT CASE WHEN count(*) > 0 THEN 'yes' END FROM doctors WHERE on_call", "yes");
}

int move_money(bool ordered) {
  int failed[2] = {0, 0};
  two_clients([&](Connection& connection, bool first) {
    const std::pair<int, int> from_to = first || ordered ? std::pair(1, 2) : std::pair(2, 1);
    connection.must("BEGIN");
    const auto add = [&](int account) {
      connection.run("UPDATE counters SET n = n + 1 WHERE id = " + std::to_string(account));
      if (connection.is_deadlock()) failed[first ? 0 : 1] = 1;
    };
    add(from_to.first);
    add(from_to.second);
    connection.run("COMMIT");
  });
  if (failed[0] + failed[1] == 0) return 0;
  std::printf("a deadlock\n");
  return 1;
}

int stay_apart() {
  two_clients([&](Connection& connection, bool first) {
    const auto row = std::string(" WHERE id = ") + (first ? "1" : "2");
    connection.must("BEGIN");
    connection.must("UPDATE counters SET n = n + 1" + row);
    connection.must("SELECT n FROM counters" + row);
    connection.must("COMMIT");
  });
  return expect("SELECT sum(n) FROM counters", "2");
}

// MySQL's: bob reads what alice takes back.
int read_dirt() {
  std::string read;
  two_clients([&](Connection& connection, bool first) {
    if (first) {
      connection.begin("read uncommitted");
      connection.must("UPDATE counters SET n = 7 WHERE id = 1");
      connection.must("ROLLBACK");
    } else {
      connection.begin("read uncommitted");
      read = connection.must("SELECT n FROM counters WHERE id = 1");
      connection.must("COMMIT");
    }
  });
  if (read == "0") return 0;
  std::printf("bob read %s\n", read.c_str());
  return 1;
}

int blameless() {
  two_clients([&](Connection& connection, bool first) {
    const std::string shift = first ? "1" : "2", column = first ? "n" : "m";
    connection.must("BEGIN");
    connection.must("SELECT count(*) FROM doctors WHERE on_call AND shift = " + shift);
    connection.must("SELECT " + column + " FROM counters WHERE id = 1");
    connection.must("UPDATE counters SET " + column + " = 5 WHERE id = 1");
    connection.must(std::string("UPDATE doctors SET on_call = ") + (first ? "false" : "true") +
                    " WHERE name = '" + (first ? "alice" : "carol") + "'");
    connection.must("COMMIT");
  });
  std::printf("it fails by itself\n");
  return 1;
}

}  // namespace

int main(int count_of_arguments, char** arguments) {
  const std::string_view program = count_of_arguments > 1 ? arguments[1] : "";
  if (program == "lost-update") return count("SELECT n FROM counters WHERE id = 1", false);
  if (program == "pipelined") return count("parameters", true);
  if (program == "qualified") return count("SELECT n FROM public.counters WHERE id = 1", false);
  if (program == "write-skew-update" && count_of_arguments > 2)
    return leave_by_update(arguments[2]);
  if (program == "for-update")
    return count("SELECT n FROM counters WHERE id = 1 FOR UPDATE", false);
  if (program == "atomic-update") return count("", false);
  if (program == "write-skew" && count_of_arguments > 2) return leave(arguments[2]);
  if (program == "deadlock") return move_money(false);
  if (program == "ordered-locks") return move_money(true);
  if (program == "apart") return stay_apart();
  if (program == "dirty-read") return read_dirt();
  if (program == "blameless") return blameless();
  std::fprintf(stderr, "which program?\n");
  return 2;
}
