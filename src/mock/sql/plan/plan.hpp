// SELECT, INSERT, UPDATE and DELETE after names and types are resolved; exec/run.hpp runs them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mock/sql/plan/query.hpp"
#include "mock/sql/value/result.hpp"

namespace cupel::sql {

struct Assignment {
  std::size_t column = 0;
  ExpressionPtr value;
};

struct Insert {
  TablePtr table;
  bool skips = false;                            // ON CONFLICT DO NOTHING
  std::vector<ExpressionPtr> defaults;           // of all columns
  std::vector<std::vector<ExpressionPtr>> rows;  // a value a column; null: its default
  std::vector<Output> back;                      // RETURNING; none if it is not there
};

// UPDATE or DELETE.
struct Change {
  bool update = false;
  std::shared_ptr<Select> select = std::make_shared<Select>();  // the rows; no outputs
  std::vector<Assignment> set;
  std::vector<Output> back;  // RETURNING; none if it is not there
};

struct Plan {
  std::string command;  // "SELECT"
  bool has_rows = false;
  bool writes = false;
  std::vector<Column> columns;
  std::variant<SelectPtr, Insert, Change> statement;
  std::string locks = {};  // "SELECT FOR UPDATE", of a SELECT that does so
};

// Null if the statement is none of the four.
std::optional<Plan> plan(const Tree& statement, const Tables& catalog,
                         std::vector<Type>& parameters);

}  // namespace cupel::sql
