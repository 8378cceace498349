// A database client for the applications here: statements with parameters, answers as
// rows of text, failures as exceptions. It stands where an application has its driver.
// MockClient talks to the mock store in this process; LibpqClient speaks PostgreSQL's
// protocol, to `cupel mock` or to PostgreSQL itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::applications {

// SQLSTATE 40001: the transaction is to be tried again.
struct Conflict {};
// The application itself rolls back, as TPC-C's order of an unused item does.
struct Rollback {};
// Any other error of the database: a duplicate key, a row that is not there.
struct Refused {
  std::string sqlstate;
  std::string message;
};
// Throws Conflict or Refused.
[[noreturn]] void fail(const std::string& sqlstate, const std::string& message,
                       std::string_view statement);

class Client {
 public:
  virtual ~Client() = default;

  using Cell = std::optional<std::string>;  // none: null
  struct Answer {
    std::vector<std::vector<Cell>> rows;

    // The first row's cells. Throws Refused (02000) where there is no row or the cell is null.
    [[nodiscard]] const std::string& text(std::size_t column = 0) const;
    [[nodiscard]] std::int64_t integer(std::size_t column = 0) const;
  };

  // Statements are prepared once a client. Parameters are integers, text, cells and nullptr.
  template <typename... Parameters>
  Answer query(std::string_view statement, const Parameters&... parameters) {
    return execute(statement, {cell(parameters)...});
  }
  // Statements without an answer: BEGIN, SET, CREATE TABLE.
  virtual void run(const std::string& text) = 0;

 protected:
  virtual Answer execute(std::string_view statement, const std::vector<Cell>& parameters) = 0;

 private:
  static Cell cell(std::nullptr_t) { return std::nullopt; }
  static Cell cell(const Cell& cell) { return cell; }
  static Cell cell(const std::string& text) { return text; }
  static Cell cell(const char* text) { return std::string(text); }
  static Cell cell(std::int64_t number) { return std::to_string(number); }
  static Cell cell(int number) { return std::to_string(number); }
};

}  // namespace cupel::applications
