// The program that on_database_test runs: two clients at a time, alice and bob, each a thread with
// a connection of its own. It fails (1) where the textbook says that it must not, and ends with 2
// after an error of its own.
//
//   textbook_client lost-update | atomic-update | for-update
//   textbook_client write-skew LEVEL
//   textbook_client deadlock | ordered-locks
//   textbook_client apart        two clients that touch different rows
//   textbook_client blameless    fails without an anomaly
//   textbook_client pipelined    lost-update by the extended protocol, with parameters
#include <libpq-fe.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace {

struct Connection {
  std::unique_ptr<PGconn, decltype(&PQfinish)> handle;
  std::string sqlstate = {};  // of the last error

  explicit Connection(const std::string& name)
      : handle(PQconnectdb(("application_name=" + name).c_str()), PQfinish) {
    if (PQstatus(handle.get()) != CONNECTION_OK) give_up(PQerrorMessage(handle.get()));
  }
  [[noreturn]] static void give_up(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::_Exit(2);
  }
  // The first cell. `sqlstate` is empty if all is well.
  std::string run(const std::string& sql) { return keep(PQexec(handle.get(), sql.c_str())); }
  std::string run(const std::string& sql, const std::string& parameter) {
    const char* values[] = {parameter.c_str()};
    return keep(PQexecParams(handle.get(), sql.c_str(), 1, nullptr, values, nullptr, nullptr, 0));
  }
  // The same, and it must be well.
  std::string must(const std::string& sql) {
    auto cell = run(sql);
    if (!sqlstate.empty()) give_up(sql + ": " + PQerrorMessage(handle.get()));
    return cell;
  }

 private:
  std::string keep(PGresult* given) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(given, PQclear);
    const auto status = PQresultStatus(result.get());
    sqlstate.clear();
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
      sqlstate = state == nullptr ? "?" : state;
      return "";
    }
    return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
  }
};

void two_clients(const std::function<void(Connection&, bool)>& work) {
  const auto client = [&](bool first) {
    Connection connection(first ? "alice" : "bob");
    work(connection, first);
  };
  std::thread alice(client, true), bob(client, false);
  alice.join();
  bob.join();
}

int expect(const std::string& sql, const std::string& expected) {
  const auto found = Connection("check").must(sql);
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
      const auto n = parameters ? connection.run("SELECT n FROM counters WHERE id = $1", "1")
                                : connection.must(read);
      const auto more = std::to_string(std::stoi(n) + 1);
      if (parameters) {
        connection.run("UPDATE counters SET n = $1 WHERE id = 1", more);
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
      connection.must("BEGIN ISOLATION LEVEL " + level);
      const auto on_call = connection.run("SELECT count(*) FROM doctors WHERE on_call");
      if (connection.sqlstate.empty() && std::stoi(on_call) >= 2) {
        connection.run("UPDATE doctors SET on_call = false WHERE name = '" +
                       std::string(first ? "alice" : "bob") + "'");
      }
      if (connection.sqlstate.empty()) connection.run("COMMIT");
      if (connection.sqlstate.empty()) return;
      if (connection.sqlstate != "40001") Connection::give_up(connection.sqlstate);
      connection.run("ROLLBACK");
    }
  });
  return expect("SELECT count(*) > 0 FROM doctors WHERE on_call", "t");
}

int move_money(bool ordered) {
  int failed[2] = {0, 0};
  two_clients([&](Connection& connection, bool first) {
    const std::pair<int, int> from_to = first || ordered ? std::pair(1, 2) : std::pair(2, 1);
    connection.must("BEGIN");
    const auto add = [&](int account) {
      connection.run("UPDATE counters SET n = n + 1 WHERE id = " + std::to_string(account));
      if (connection.sqlstate == "40P01") failed[first ? 0 : 1] = 1;
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
  if (program == "for-update")
    return count("SELECT n FROM counters WHERE id = 1 FOR UPDATE", false);
  if (program == "atomic-update") return count("", false);
  if (program == "write-skew" && count_of_arguments > 2) return leave(arguments[2]);
  if (program == "deadlock") return move_money(false);
  if (program == "ordered-locks") return move_money(true);
  if (program == "apart") return stay_apart();
  if (program == "blameless") return blameless();
  std::fprintf(stderr, "which program?\n");
  return 2;
}
