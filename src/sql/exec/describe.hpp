// DESCRIBE.
#pragma once

#include <string>
#include <vector>

#include "sql/dialect/dialect.hpp"
#include "sql/table/table.hpp"

namespace cupel::sql {

// A row a column, as SessionControl::described() says. Indexes that are neither unique nor a
// foreign key's have no effect and are not shown. Raises 42P01.
std::vector<std::vector<Datum>> described(const std::string& name, const Tables& tables,
                                          const Dialect& dialect);

}  // namespace cupel::sql
