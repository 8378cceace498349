// Statements through libpq.
#include "libpq_client.hpp"

namespace cupel::applications {

namespace {

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, Clear>;

void expect_success(const Result& result, PGconn* connection, std::string_view statement) {
  const auto status = PQresultStatus(result.get());
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) return;
  const char* sqlstate = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
  const char* message = PQresultErrorField(result.get(), PG_DIAG_MESSAGE_PRIMARY);
  fail(sqlstate == nullptr ? "08006" : sqlstate,
       message == nullptr ? PQerrorMessage(connection) : message, statement);
}

}  // namespace

LibpqClient::LibpqClient(const std::string& where) : connection_(PQconnectdb(where.c_str())) {
  if (PQstatus(connection_.get()) != CONNECTION_OK) {
    throw Refused{"08001", PQerrorMessage(connection_.get())};
  }
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
}

void LibpqClient::run(const std::string& text) {
  const Result result(PQexec(connection_.get(), text.c_str()));
  expect_success(result, connection_.get(), text);
}

Client::Answer LibpqClient::execute(std::string_view statement,
                                    const std::vector<Cell>& parameters) {
  const std::string text(statement);
  auto known = prepared_.find(text);
  if (known == prepared_.end()) {
    const auto name = "s" + std::to_string(prepared_.size());
    const Result made(PQprepare(connection_.get(), name.c_str(), text.c_str(), 0, nullptr));
    expect_success(made, connection_.get(), statement);
    known = prepared_.emplace(text, name).first;
  }
  std::vector<const char*> values;
  for (const auto& parameter : parameters) {
    values.push_back(parameter ? parameter->c_str() : nullptr);
  }
  const Result result(PQexecPrepared(connection_.get(), known->second.c_str(),
                                     static_cast<int>(values.size()), values.data(), nullptr,
                                     nullptr, 0));
  expect_success(result, connection_.get(), statement);
  Answer answer;
  for (int row = 0; row < PQntuples(result.get()); ++row) {
    auto& cells = answer.rows.emplace_back();
    for (int column = 0; column < PQnfields(result.get()); ++column) {
      cells.push_back(PQgetisnull(result.get(), row, column) != 0
                          ? Cell()
                          : Cell(PQgetvalue(result.get(), row, column)));
    }
  }
  return answer;
}

}  // namespace cupel::applications
