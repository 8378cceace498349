// PlainPostgres: one connection to a PostgreSQL server for statements that are texts, outside any
// workload. It waits as long as the server works.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace cupel::proxy {

class PlainPostgres {
 public:
  using Cells = std::vector<std::optional<std::string>>;
  struct Parameter {
    std::uint32_t type = 0;  // 0: the server decides
    std::int16_t format = 0;
    std::optional<std::string> value = {};
  };

  // Parameters of libpq: {"host", "127.0.0.1"}, {"dbname", "shop"} … Errors: no connection.
  static base::Result<PlainPostgres> connect(
      const std::vector<std::pair<std::string, std::string>>& parameters);
  PlainPostgres(PlainPostgres&&) noexcept;
  PlainPostgres& operator=(PlainPostgres&&) noexcept;
  ~PlainPostgres();

  // The rows of the last of the statements, as text. Errors: what the server says.
  base::Result<std::vector<Cells>> run(const std::string& statements);
  // One statement with parameters; its rows as text, or in binary.
  base::Result<std::vector<Cells>> run(const std::string& statement,
                                       const std::vector<Parameter>& parameters,
                                       bool binary_rows = false);
  // Of the last error; empty: it came from no server.
  [[nodiscard]] const std::string& sqlstate() const;
  // As a literal of SQL, and as a name.
  [[nodiscard]] std::string literal(const std::string& text) const;
  [[nodiscard]] std::string identifier(const std::string& name) const;

 private:
  struct State;
  explicit PlainPostgres(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cupel::proxy
