// SELECT, INSERT, UPDATE and DELETE after names and types are resolved; exec/run.hpp runs them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sql/plan/query.hpp"
#include "sql/value/result.hpp"

namespace cupel::sql {

struct Assignment {
  std::size_t column = 0;
  ExpressionPtr value;
};

// RETURNING: outputs over the rows that were written.
struct Returning {
  std::vector<Output> outputs;
  bool any = false;
};

using Columns = std::vector<std::size_t>;

// ON CONFLICT.
struct Conflict {
  enum class Action { kError, kDoNothing, kUpdate };
  Action action = Action::kError;
  std::vector<Columns> arbiters;  // unique columns that it is about
  std::vector<Assignment> set;
  ExpressionPtr where;
};

// INSERT after names and types are resolved.
struct Insert {
  TablePtr table;
  Columns targets;
  bool named = false;  // the statement says its columns
  std::vector<ExpressionPtr> defaults;
  std::vector<std::vector<Assignment>> rows;
  Conflict conflict;
  Returning back;
};

// UPDATE or DELETE after names and types are resolved.
struct Change {
  bool update = false;
  TablePtr table;
  std::shared_ptr<Select> select = std::make_shared<Select>();  // the rows; no outputs
  std::vector<Assignment> set;
  Returning back;
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
