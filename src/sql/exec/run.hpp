// Plans at work.
#pragma once

#include "sql/plan/plan.hpp"

namespace cupel::sql {

Result run(const Plan& plan, ExecutionContext& context);

// Deletes every row without asking (TRUNCATE).
void clear(ExecutionContext& context, const TablePtr& table);

}  // namespace cupel::sql
