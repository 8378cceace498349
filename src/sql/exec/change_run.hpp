// UPDATE and DELETE.
#pragma once

#include "sql/plan/plan.hpp"

namespace cupel::sql {

// `columns`: of RETURNING.
Result run(const Change& change, const std::vector<Column>& columns, ExecutionContext& context);

}  // namespace cupel::sql
