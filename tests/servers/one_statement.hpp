// One statement at a node of a server that the lab started, as a user with a password or none: the
// first cell of the answer (of MariaDB the last of its row), "done" if there is none, or "error:
// …".
#pragma once

#include <libpq-fe.h>
#include <mysql.h>

#include <cstddef>
#include <memory>
#include <string>

#include "databases/lab/server.hpp"

namespace cupel::lab {

inline std::string in_postgres(const Server& server, std::size_t node, const std::string& sql,
                               const std::string& account = {}) {
  const auto to = account.empty() ? server.url(node) + "?connect_timeout=10"
                                  : "host=127.0.0.1 dbname=cupel connect_timeout=10 port=" +
                                        std::to_string(server.port(node)) + " " + account;
  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(to.c_str()), PQfinish);
  if (PQstatus(connection.get()) != CONNECTION_OK) {
    return std::string("error: ") + PQerrorMessage(connection.get());
  }
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection.get(), sql.c_str()),
                                                             PQclear);
  const auto status = PQresultStatus(result.get());
  if (status == PGRES_COMMAND_OK) return "done";
  if (status != PGRES_TUPLES_OK) return std::string("error: ") + PQresultErrorMessage(result.get());
  return PQntuples(result.get()) == 0 ? "" : PQgetvalue(result.get(), 0, 0);
}

inline std::string in_mariadb(const Server& server, std::size_t node, const std::string& sql,
                              const char* user = "cupel", const char* password = nullptr) {
  const std::unique_ptr<MYSQL, decltype(&mysql_close)> connection(mysql_init(nullptr), mysql_close);
  const auto error = [&] { return std::string("error: ") + mysql_error(connection.get()); };
  if (mysql_real_connect(connection.get(), "127.0.0.1", user, password, "cupel", server.port(node),
                         nullptr, 0) == nullptr ||
      mysql_query(connection.get(), sql.c_str()) != 0) {
    return error();
  }
  const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> result(
      mysql_store_result(connection.get()), mysql_free_result);
  if (result == nullptr) return mysql_errno(connection.get()) == 0 ? "done" : error();
  MYSQL_ROW row = mysql_fetch_row(result.get());
  if (row == nullptr) return "";
  const char* last = row[mysql_num_fields(result.get()) - 1];
  return last == nullptr ? "NULL" : last;
}

}  // namespace cupel::lab
