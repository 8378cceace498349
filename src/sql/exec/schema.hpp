// CREATE TABLE, DROP TABLE, CREATE INDEX: the catalog, which is not weakened.
#pragma once

#include <functional>
#include <vector>

#include "sql/plan/plan.hpp"

namespace cupel::sql {

// `undo` is called, last first, if the transaction does not commit.
Result change_schema(const Tree& statement, Tables& catalog,
                     std::vector<std::function<void()>>& undo);

}  // namespace cupel::sql
