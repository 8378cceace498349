// PlainMysql: one connection to a MariaDB or MySQL server for statements that are texts, outside
// any workload. It waits as long as the server works.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace cupel::proxy {

class PlainMysql {
 public:
  using Cells = std::vector<std::optional<std::string>>;
  struct Options {
    std::string host = "127.0.0.1";
    std::uint16_t port = 3306;
    std::string socket = {};  // not empty: the path of a Unix socket, instead
    std::string user = {}, password = {};
    std::string database = {};  // empty: none
    bool tls = false;
    std::string authorities = {};  // a file of certificates; not empty: the server's is checked
    bool verifies_host = false;
  };
  // Errors: no connection.
  static base::Result<PlainMysql> connect(const Options& options);
  PlainMysql(PlainMysql&&) noexcept;
  PlainMysql& operator=(PlainMysql&&) noexcept;
  ~PlainMysql();

  // The rows of one statement, as text in utf8mb4. Errors: what the server says.
  base::Result<std::vector<Cells>> run(const std::string& statement);
  // Of the last error; 0: none.
  [[nodiscard]] unsigned error_number() const;

 private:
  struct State;
  explicit PlainMysql(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cupel::proxy
