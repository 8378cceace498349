// SELECT, INSERT, UPDATE and DELETE while they run; see the header. What a statement reads for its
// new values it reads before it writes the first row.
#include "mock/sql/exec/run.hpp"

#include <fmt/format.h>

#include "mock/sql/exec/writer.hpp"

namespace cupel::sql {

namespace {

void add_row(const std::vector<Output>& outputs, const std::vector<Scalar>& values,
             Result& result) {
  auto& row = result.rows.emplace_back();
  for (std::size_t at = 0; at < values.size(); ++at) {
    const auto type = outputs[at].value->type.type;
    row.push_back(is_null(values[at]) ? std::nullopt : Datum(to_text(values[at], type)));
  }
}

// RETURNING.
void return_rows(const std::vector<Output>& back, ExecutionContext& context,
                 const std::vector<StoredRow*>& rows, Result& result) {
  result.has_rows = !back.empty();
  result.affected = rows.size();
  if (back.empty()) return;
  for (auto* row : rows) {
    const Frame frame{context, nullptr, {row}, nullptr};
    std::vector<Scalar> values;
    for (const auto& output : back) values.push_back(output.value->value(frame));
    add_row(back, values, result);
  }
}

Result execute(const SelectPtr& select, ExecutionContext& context) {
  Result result;
  result.has_rows = true;
  run(*select, context, nullptr, [&](std::vector<Scalar>& values) {
    add_row(select->outputs, values, result);
    return true;
  });
  result.tag = fmt::format("SELECT {}", result.rows.size());
  return result;
}

Result execute(const Insert& insert, ExecutionContext& context) {
  const Frame outside{context};
  std::vector<ValueRow*> given;
  for (const auto& expressions : insert.rows) {
    auto& row = context.keep<ValueRow>(std::vector<Scalar>(expressions.size()));
    for (std::size_t at = 0; at < expressions.size(); ++at) {
      if (expressions[at] != nullptr) row.values[at] = expressions[at]->value(outside);
    }
    given.push_back(&row);
  }
  std::vector<StoredRow*> written;
  for (std::size_t number = 0; number < given.size(); ++number) {
    auto& row = *given[number];
    for (std::size_t at = 0; at < row.values.size(); ++at) {
      if (insert.rows[number][at] == nullptr) row.values[at] = insert.defaults[at]->value(outside);
    }
    check_nulls(*insert.table, row, nullptr);
    if (insert.skips && is_duplicate(context, insert.table, row)) continue;
    check_unique(context, insert.table, row, nullptr, nullptr);
    written.push_back(&add(context, insert.table, row));
  }
  for (auto* row : written) check_parents(context, *insert.table, *row, nullptr);
  Result result;
  return_rows(insert.back, context, written, result);
  result.tag = fmt::format("INSERT 0 {}", written.size());
  return result;
}

// UPDATE and DELETE: all rows, and their new values, are found before the first is written.
Result execute(const Change& change, ExecutionContext& context) {
  const auto& select = *change.select;
  const auto& table = select.sources[0].table;
  Frame frame{context, nullptr, {&context.null_row}, nullptr};
  std::vector<StoredRow*> found;
  std::vector<Overlay*> changes;
  enumerate(select, frame, [&] {
    if (!lock_found(select, frame)) return true;
    found.push_back(static_cast<StoredRow*>(frame.rows[0]));
    if (!change.update) return true;
    changes.push_back(&context.keep<Overlay>(*found.back()));
    for (const auto& one : change.set) changes.back()->values[one.column] = one.value->value(frame);
    return true;
  });
  for (auto* over : changes) {
    check_nulls(*table, *over, &over->values);
    check_unique(context, table, *over, &over->below, &over->values);
    for (const auto& [column, value] : over->values) over->below.set_cell(column, value);
  }
  for (auto* over : changes) check_parents(context, *table, *over, &over->values);
  if (!change.update) {
    for (auto* row : found) row->set_present(false);
    check_children(context, *table, found);
  }
  Result result;
  return_rows(change.back, context, found, result);
  result.tag = fmt::format("{} {}", change.update ? "UPDATE" : "DELETE", found.size());
  return result;
}

}  // namespace

Result run(const Plan& plan, ExecutionContext& context) {
  auto result = std::visit([&](const auto& statement) { return execute(statement, context); },
                           plan.statement);
  result.columns = plan.columns;
  return result;
}

}  // namespace cupel::sql
