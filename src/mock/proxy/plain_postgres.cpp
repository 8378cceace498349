// PlainPostgres by libpq; see the header.
#include "mock/proxy/plain_postgres.hpp"

#include <libpq-fe.h>

#include "databases/drivers/sql_connection.hpp"

namespace cupel::proxy {

namespace {

struct FinishPlain {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct ClearPlain {
  void operator()(PGresult* result) const { PQclear(result); }
};
using PlainResult = std::unique_ptr<PGresult, ClearPlain>;

}  // namespace

struct PlainPostgres::State {
  std::unique_ptr<PGconn, FinishPlain> connection;
  std::string sqlstate;

  base::Result<std::vector<Cells>> rows_of(const PlainResult& result) {
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK && status != PGRES_EMPTY_QUERY) {
      const char* state = result ? PQresultErrorField(result.get(), PG_DIAG_SQLSTATE) : nullptr;
      sqlstate = state == nullptr ? "" : state;
      const char* said =
          result ? PQresultErrorField(result.get(), PG_DIAG_MESSAGE_PRIMARY) : nullptr;
      return base::Error{.message = drivers::sql::one_line(
                             said != nullptr ? said : PQerrorMessage(connection.get()))};
    }
    std::vector<Cells> rows(static_cast<std::size_t>(PQntuples(result.get())));
    for (int row = 0; row < PQntuples(result.get()); ++row) {
      for (int column = 0; column < PQnfields(result.get()); ++column) {
        auto& cells = rows[static_cast<std::size_t>(row)];
        if (PQgetisnull(result.get(), row, column) == 1) {
          cells.emplace_back();
        } else {
          cells.emplace_back(
              std::string(PQgetvalue(result.get(), row, column),
                          static_cast<std::size_t>(PQgetlength(result.get(), row, column))));
        }
      }
    }
    return rows;
  }
};

PlainPostgres::PlainPostgres(std::unique_ptr<State> state) : state_(std::move(state)) {}
PlainPostgres::PlainPostgres(PlainPostgres&&) noexcept = default;
PlainPostgres& PlainPostgres::operator=(PlainPostgres&&) noexcept = default;
PlainPostgres::~PlainPostgres() = default;

base::Result<PlainPostgres> PlainPostgres::connect(
    const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::vector<const char*> names, values;
  for (const auto& [name, value] : parameters) {
    names.push_back(name.c_str());
    values.push_back(value.c_str());
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  auto state = std::make_unique<State>();
  state->connection.reset(PQconnectdbParams(names.data(), values.data(), 0));
  if (PQstatus(state->connection.get()) != CONNECTION_OK) {
    return base::Error{.message = drivers::sql::one_line(PQerrorMessage(state->connection.get()))};
  }
  // Notices would go to standard error.
  PQsetNoticeReceiver(
      state->connection.get(), [](void*, const PGresult*) {}, nullptr);
  return PlainPostgres(std::move(state));
}

base::Result<std::vector<PlainPostgres::Cells>> PlainPostgres::run(const std::string& statements) {
  return state_->rows_of(PlainResult(PQexec(state_->connection.get(), statements.c_str())));
}

base::Result<std::vector<PlainPostgres::Cells>> PlainPostgres::run(
    const std::string& statement, const std::vector<Parameter>& parameters, bool binary_rows) {
  std::vector<Oid> types;
  std::vector<const char*> values;
  std::vector<int> lengths, formats;
  for (const auto& parameter : parameters) {
    types.push_back(parameter.type);
    values.push_back(parameter.value ? parameter.value->c_str() : nullptr);
    lengths.push_back(parameter.value ? static_cast<int>(parameter.value->size()) : 0);
    formats.push_back(parameter.format);
  }
  return state_->rows_of(PlainResult(PQexecParams(
      state_->connection.get(), statement.c_str(), static_cast<int>(types.size()), types.data(),
      values.data(), lengths.data(), formats.data(), binary_rows ? 1 : 0)));
}

const std::string& PlainPostgres::sqlstate() const {
  return state_->sqlstate;
}

std::string PlainPostgres::literal(const std::string& text) const {
  char* quoted = PQescapeLiteral(state_->connection.get(), text.c_str(), text.size());
  std::string kept = quoted == nullptr ? "" : quoted;
  PQfreemem(quoted);
  return kept;
}

std::string PlainPostgres::identifier(const std::string& name) const {
  char* quoted = PQescapeIdentifier(state_->connection.get(), name.c_str(), name.size());
  std::string kept = quoted == nullptr ? "" : quoted;
  PQfreemem(quoted);
  return kept;
}

}  // namespace cupel::proxy
