// A client of the mock store in this process: a SQL session.
#pragma once

#include <memory>
#include <unordered_map>

#include "client.hpp"
#include "mock/sql/session.hpp"

namespace cupel::applications {

class MockClient final : public Client {
 public:
  // The store and the catalog are borrowed. `name` is the session's in the history.
  MockClient(mock::Store& store, sql::Catalog& catalog, const std::string& name);
  void run(const std::string& text) override;

 private:
  Answer execute(std::string_view statement, const std::vector<Cell>& parameters) override;

  std::unique_ptr<sql::Session> session_;
  std::unordered_map<std::string, std::unique_ptr<sql::Prepared>> prepared_;
};

}  // namespace cupel::applications
