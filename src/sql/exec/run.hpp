// Plans at work.
#pragma once

#include "sql/plan/plan.hpp"

namespace cupel::sql {

Result run(const Plan& plan, ExecutionContext& context);

}  // namespace cupel::sql
