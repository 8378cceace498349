// A client that speaks PostgreSQL's protocol by libpq, with prepared statements.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <unordered_map>

#include "client.hpp"

namespace cupel::applications {

class LibpqClient final : public Client {
 public:
  // `where`: a connection string or URL. Throws Refused (08001) if nobody answers there.
  explicit LibpqClient(const std::string& where);
  void run(const std::string& text) override;

 private:
  Answer execute(std::string_view statement, const std::vector<Cell>& parameters) override;

  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  std::unique_ptr<PGconn, Finish> connection_;
  std::unordered_map<std::string, std::string> prepared_;  // statement to its name
};

}  // namespace cupel::applications
