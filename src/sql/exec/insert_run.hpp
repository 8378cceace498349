// INSERT, and what it does about conflicts.
#pragma once

#include "sql/plan/plan.hpp"

namespace cupel::sql {

// `columns`: of RETURNING.
Result run(const Insert& insert, const std::vector<Column>& columns, ExecutionContext& context);

}  // namespace cupel::sql
