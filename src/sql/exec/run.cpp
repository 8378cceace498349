// Each kind of plan to what runs it; see the header.
#include "sql/exec/run.hpp"

#include <fmt/format.h>

#include "sql/exec/change_run.hpp"
#include "sql/exec/insert_run.hpp"
#include "sql/exec/query_run.hpp"
#include "sql/exec/writer.hpp"

namespace cupel::sql {

namespace {

Result run(const SelectPtr& select, const std::vector<Column>& columns, ExecutionContext& context) {
  Result result;
  result.has_rows = true;
  result.columns = columns;
  run(*select, context, nullptr, [&](std::vector<Scalar>& values) {
    result.rows.push_back(shown_row(select->outputs, values));
    return true;
  });
  result.tag = fmt::format("SELECT {}", result.rows.size());
  return result;
}

}  // namespace

Result run(const Plan& plan, ExecutionContext& context) {
  return std::visit([&](const auto& statement) { return run(statement, plan.columns, context); },
                    plan.statement);
}

}  // namespace cupel::sql
