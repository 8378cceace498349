// The four statements bound: names, types, and the constraints of what they write.
#include "mock/sql/plan/plan.hpp"

#include <algorithm>
#include <utility>

namespace cupel::sql {

namespace {

// pg_attribute.atttypmod of a type.
std::int32_t modifier_of(const FullType& type) {
  constexpr int kHeader = 4;  // PostgreSQL counts that of a value
  if (type.size < 0) return -1;
  return (type.type == Type::kNumeric ? (type.size << 16) | type.scale : type.size) + kHeader;
}

std::vector<Column> columns_of(const std::vector<Output>& outputs,
                               const std::vector<Source>& sources) {
  std::vector<Column> columns;
  for (const auto& output : outputs) {
    const auto& value = *output.value;
    columns.push_back({output.name, value.type.type, modifier_of(value.type)});
    if (value.kind != Expression::Kind::kColumn || value.depth != 0) continue;
    columns.back().table_id = sources[value.source].table->id;
    columns.back().number = static_cast<std::uint16_t>(value.column + 1);
  }
  return columns;
}

Plan plan_select(const Tree& body, Binder& binder) {
  Plan plan{"SELECT", true, false, {}, {}};
  const auto select = binder.select(body, nullptr);
  plan.columns = columns_of(select->outputs, select->sources);
  plan.locks = binder.locks;
  plan.statement = select;
  return plan;
}

std::size_t column_called(const Table& table, const std::string& name) {
  const auto found = table.column(name);
  if (!found) {
    raise("42703", "column \"{}\" of relation \"{}\" does not exist", name, table.name);
  }
  return *found;
}

std::vector<Assignment> assignments(const Tree& targets, const Table& table, Binder& binder,
                                    Scope& scope) {
  std::vector<Assignment> all;
  for (const auto& target : targets) {
    const auto& body = body_of(target);
    const auto column = column_called(table, text_of(body, "name"));
    if (table.in_key(column)) not_supported("UPDATE of a column of the primary key");
    if (std::any_of(all.begin(), all.end(),
                    [&](const Assignment& one) { return one.column == column; })) {
      raise("42601", "multiple assignments to same column \"{}\"", table.columns[column].name);
    }
    const auto& value = field(body, "val");
    all.push_back(
        {column, kind_of(value) == "SetToDefault"
                     ? binder.default_of(table.columns[column])
                     : binder.assigned(binder.expression(value, scope), table.columns[column])});
  }
  return all;
}

std::vector<Output> returning(const Tree& body, Binder& binder, Scope& scope) {
  scope.clause = "RETURNING";
  scope.queries = false;
  return binder.outputs(list(body, "returningList"), scope);
}

Columns targets_of(const Tree& columns, const Table& table) {
  Columns targets;
  for (const auto& node : columns) {
    targets.push_back(column_called(table, text_of(body_of(node), "name")));
    if (std::count(targets.begin(), targets.end(), targets.back()) > 1) {
      raise("42701", "column \"{}\" specified more than once", table.columns[targets.back()].name);
    }
  }
  for (std::size_t at = 0; columns.empty() && at < table.columns.size(); ++at) {
    targets.push_back(at);
  }
  return targets;
}

void bind_rows(const Tree& body, Binder& binder, Insert& insert) {
  const auto& table = *insert.table;
  const auto targets = targets_of(list(body, "cols"), table);
  for (const auto& column : table.columns) insert.defaults.push_back(binder.default_of(column));
  const std::vector<ExpressionPtr> none(table.columns.size());
  if (!has(body, "selectStmt")) {  // DEFAULT VALUES
    insert.rows.push_back(none);
    return;
  }
  const auto& select = body_of(field(body, "selectStmt"));
  if (!has(select, "valuesLists")) not_supported("INSERT of a query");
  for (const char* clause : {"sortClause", "limitCount", "limitOffset", "lockingClause"}) {
    if (has(select, clause)) not_supported("{} in VALUES", in_sql(clause));
  }
  const auto& rows = list(select, "valuesLists");
  const auto count = list(body_of(rows[0]), "items").size();
  if (count > targets.size() || (count < targets.size() && has(body, "cols"))) {
    raise("42601", "INSERT has {} expressions for {} target columns", count, targets.size());
  }
  Scope scope;
  scope.clause = "VALUES";
  for (const auto& row : rows) {
    const auto& items = list(body_of(row), "items");
    if (items.size() != count) raise("42601", "VALUES lists must all be the same length");
    auto& values = insert.rows.emplace_back(none);
    for (std::size_t at = 0; at < count; ++at) {
      if (kind_of(items[at]) == "SetToDefault") continue;
      const auto target = targets[at];
      values[target] = binder.assigned(binder.expression(items[at], scope), table.columns[target]);
    }
  }
}

Plan plan_insert(const Tree& body, Binder& binder) {
  Insert insert;
  std::vector<Source> sources{binder.source(field(body, "relation"))};
  insert.table = sources[0].table;
  bind_rows(body, binder, insert);
  insert.skips = has(body, "onConflictClause");
  Scope scope;
  scope.sources = &sources;
  insert.back = returning(body, binder, scope);
  auto columns = columns_of(insert.back, sources);
  const bool rows = !insert.back.empty();
  return {"INSERT", rows, true, std::move(columns), std::move(insert)};
}

Plan plan_change(const Tree& body, Binder& binder, bool update) {
  Change change;
  change.update = update;
  auto& select = *change.select;
  select.sources.push_back(binder.source(field(body, "relation")));
  Scope scope;
  scope.sources = &select.sources;
  if (has(body, "whereClause")) {
    binder.place(binder.condition(field(body, "whereClause"), scope, "WHERE"), select);
  }
  Binder::find_keys(select);
  if (update) {
    scope.clause = "UPDATE";
    change.set = assignments(list(body, "targetList"), *select.sources[0].table, binder, scope);
  }
  select.sources[0].lock = RowLock{update ? mock::LockMode::kNoKeyUpdate : mock::LockMode::kUpdate};
  change.back = returning(body, binder, scope);
  auto columns = columns_of(change.back, select.sources);
  const bool rows = !change.back.empty();
  return {update ? "UPDATE" : "DELETE", rows, true, std::move(columns), std::move(change)};
}

}  // namespace

std::optional<Plan> plan(const Tree& statement, const Tables& catalog,
                         std::vector<Type>& parameters) {
  const auto kind = kind_of(statement);
  const auto& body = body_of(statement);
  Binder binder(catalog, parameters);
  if (kind == "SelectStmt") return plan_select(body, binder);
  if (kind == "InsertStmt") return plan_insert(body, binder);
  if (kind == "UpdateStmt") return plan_change(body, binder, true);
  if (kind == "DeleteStmt") return plan_change(body, binder, false);
  return std::nullopt;
}

}  // namespace cupel::sql
