// Statements to the mock's SQL session.
#include "mock_client.hpp"

namespace cupel::applications {

MockClient::MockClient(mock::Store& store, sql::Catalog& catalog, const std::string& name)
    : session_(sql::Session::open(store, catalog, name)) {}

void MockClient::run(const std::string& text) {
  const auto ran = session_->run(text);
  if (ran.error) fail(ran.error->sqlstate, ran.error->message, text);
}

Client::Answer MockClient::execute(std::string_view statement,
                                   const std::vector<Cell>& parameters) {
  auto& prepared = prepared_[std::string(statement)];
  if (prepared == nullptr) {
    auto made = session_->prepare(statement);
    if (const auto* error = std::get_if<sql::Error>(&made)) {
      fail(error->sqlstate, error->message, statement);
    }
    prepared = std::move(std::get<std::unique_ptr<sql::Prepared>>(made));
  }
  auto answer = session_->execute(*prepared, parameters);
  if (const auto* error = std::get_if<sql::Error>(&answer)) {
    fail(error->sqlstate, error->message, statement);
  }
  return {std::move(std::get<sql::Result>(answer).rows)};
}

}  // namespace cupel::applications
