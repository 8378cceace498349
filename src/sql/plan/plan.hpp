// SELECT, INSERT, UPDATE and DELETE: bound once, then run in a transaction.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sql/plan/query.hpp"

namespace cupel::sql {

struct Plan {
  std::string command;  // "SELECT"
  bool has_rows = false;
  bool writes = false;
  std::vector<Column> columns;
  std::function<Result(Running&)> run;
  std::string locks = {};  // "SELECT FOR UPDATE", of a SELECT that does so
};

// Null if the statement is none of the four.
std::optional<Plan> plan(const Tree& statement, const Catalog::State& catalog, Dialect dialect,
                         std::vector<Type>& parameters,
                         const std::vector<ExpressionPtr>* given = nullptr);

// A value as a client sees it: MySQL has no booleans.
Datum shown(const Scalar& value, Type type, Dialect dialect);
Type shown_type(Type type, Dialect dialect);

// Deletes every row without asking (TRUNCATE).
void clear(Running& running, const TablePtr& table);

}  // namespace cupel::sql
