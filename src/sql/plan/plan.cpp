// The four statements bound: names, types, and the constraints of what they write.
#include "sql/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cupel::sql {

namespace {

// pg_attribute.atttypmod of a type.
std::int32_t modifier_of(const FullType& type) {
  constexpr int kHeader = 4;  // PostgreSQL counts that of a value
  if (type.length >= 0) return type.length + kHeader;
  if (type.precision >= 0) return ((type.precision << 16) | type.scale) + kHeader;
  return -1;
}

std::vector<Column> columns_of(const std::vector<Output>& outputs) {
  std::vector<Column> columns;
  for (const auto& output : outputs) {
    const auto& value = *output.value;
    columns.push_back(
        {output.name, value.type.type, modifier_of(value.type), output.table_id, output.number});
  }
  return columns;
}

Plan plan_select(const Tree& body, Binder& binder) {
  Plan plan{"SELECT", true, false, {}, {}};
  const auto select = binder.select(body, nullptr);
  plan.columns = columns_of(select->outputs);
  plan.locks = binder.locks;
  plan.statement = select;
  return plan;
}

ExpressionPtr default_of(Binder& binder, const ColumnInfo& column) {
  if (column.counter != nullptr) {
    return computed("next value", column.type, {},
                    [counter = column.counter, type = column.type](const Frame&) -> Scalar {
                      return cast(counter->next(), Type::kBigint, type);
                    });
  }
  if (column.default_value.is_null()) return constant({}, column.type);
  Scope scope;
  scope.clause = "DEFAULT expressions";
  scope.queries = false;
  return binder.assigned(binder.expression(column.default_value, scope), column);
}

std::size_t column_called(const Table& table, const std::string& name) {
  const auto found = table.column(name);
  if (!found) {
    raise("42703",
          fmt::format("column \"{}\" of relation \"{}\" does not exist", name, table.name));
  }
  return *found;
}

std::vector<Assignment> assignments(const Tree& targets, const Table& table, Binder& binder,
                                    Scope& scope) {
  std::vector<Assignment> all;
  std::set<std::size_t> seen;
  for (const auto& target : targets) {
    const auto& body = body_of(target);
    check_fields(body, "SET", {"name", "val"});
    const auto column = column_called(table, text_of(body, "name"));
    if (!seen.insert(column).second) {
      raise("42601",
            fmt::format("multiple assignments to same column \"{}\"", table.columns[column].name));
    }
    const auto& value = field(body, "val");
    all.push_back(
        {column, kind_of(value) == "SetToDefault"
                     ? default_of(binder, table.columns[column])
                     : binder.assigned(binder.expression(value, scope), table.columns[column])});
  }
  return all;
}

Returning returning(const Tree& body, Binder& binder, Scope& scope) {
  Returning made;
  made.any = has(body, "returningList");
  scope.clause = "RETURNING";
  scope.queries = false;
  if (made.any) made.outputs = binder.outputs(list(body, "returningList"), scope);
  return made;
}

void bind_targets(const Tree& body, Insert& insert) {
  const auto& table = *insert.table;
  auto& targets = insert.targets;
  for (const auto& node : list(body, "cols")) {
    check_fields(body_of(node), "a column", {"name"});
    targets.push_back(column_called(table, text_of(body_of(node), "name")));
    if (std::count(targets.begin(), targets.end(), targets.back()) > 1) {
      raise("42701", fmt::format("column \"{}\" specified more than once",
                                 table.columns[targets.back()].name));
    }
  }
  insert.named = !targets.empty();
  if (insert.named) return;
  for (std::size_t at = 0; at < table.columns.size(); ++at) targets.push_back(at);
}

void check_count(const Insert& insert, std::size_t given) {
  if (given > insert.targets.size()) {
    raise("42601", "INSERT has more expressions than target columns");
  }
  if (given < insert.targets.size() && insert.named) {
    raise("42601", "INSERT has more target columns than expressions");
  }
}

void bind_values(const Tree& select, Binder& binder, Insert& insert) {
  check_fields(select, "VALUES", {"valuesLists", "limitOption", "op"});
  for (const auto& row : list(select, "valuesLists")) {
    const auto& items = list(body_of(row), "items");
    check_count(insert, items.size());
    if (!insert.rows.empty() && insert.rows[0].size() != items.size()) {
      raise("42601", "VALUES lists must all be the same length");
    }
    std::vector<Assignment> values;
    Scope scope;
    scope.clause = "VALUES";
    for (std::size_t at = 0; at < items.size(); ++at) {
      const auto target = insert.targets[at];
      const auto& column = insert.table->columns[target];
      if (kind_of(items[at]) == "SetToDefault") {
        values.push_back({target, insert.defaults[target]});
        continue;
      }
      values.push_back({target, binder.assigned(binder.expression(items[at], scope), column)});
    }
    insert.rows.push_back(std::move(values));
  }
}

void add_all_unique(const Table& table, Conflict& conflict) {
  if (!table.key.empty()) conflict.arbiters.push_back(table.key);
  for (const auto& unique : table.uniques) conflict.arbiters.push_back(unique.columns);
}

// ON CONFLICT (columns).
void add_unique_of(const Table& table, const Tree& infer, Conflict& conflict) {
  check_fields(infer, "ON CONFLICT", {"indexElems"});
  std::set<std::size_t> wanted;
  for (const auto& element : list(infer, "indexElems")) {
    const auto& one = body_of(element);
    check_fields(one, "ON CONFLICT", {"name", "ordering", "nulls_ordering"});
    const auto column = table.column(text_of(one, "name"));
    if (!column) raise("42703", fmt::format("column \"{}\" does not exist", text_of(one, "name")));
    wanted.insert(*column);
  }
  const auto matches = [&](const Columns& columns) {
    return std::set<std::size_t>(columns.begin(), columns.end()) == wanted;
  };
  if (!table.key.empty() && matches(table.key)) conflict.arbiters.push_back(table.key);
  for (const auto& unique : table.uniques) {
    if (matches(unique.columns)) conflict.arbiters.push_back(unique.columns);
  }
  if (conflict.arbiters.empty()) {
    raise("42P10",
          "there is no unique or exclusion constraint matching the ON CONFLICT specification");
  }
}

void bind_conflict(const Tree& clause, Binder& binder, const Source& target, Insert& insert) {
  const auto& table = *insert.table;
  auto& conflict = insert.conflict;
  check_fields(clause, "ON CONFLICT", {"action", "infer", "targetList", "whereClause"});
  const auto action = text_of(clause, "action");
  conflict.action =
      action == "ONCONFLICT_UPDATE" ? Conflict::Action::kUpdate : Conflict::Action::kDoNothing;
  const auto& infer = field(clause, "infer");
  if (infer.is_null()) {
    if (conflict.action == Conflict::Action::kUpdate) {
      raise("42601", "ON CONFLICT DO UPDATE requires inference specification or constraint name");
    }
    add_all_unique(table, conflict);
  } else {
    add_unique_of(table, infer, conflict);
  }
  if (conflict.action != Conflict::Action::kUpdate) return;
  std::vector<Source> both{target, Binder::source(insert.table, "excluded")};
  Scope scope;
  scope.sources = &both;
  scope.clause = "UPDATE";
  conflict.set = assignments(list(clause, "targetList"), table, binder, scope);
  if (has(clause, "whereClause")) {
    scope.clause = "WHERE";
    conflict.where =
        binder.coercion.condition(binder.expression(field(clause, "whereClause"), scope), "WHERE");
  }
}

Plan plan_insert(const Tree& body, Binder& binder) {
  check_fields(body, "INSERT",
               {"relation", "cols", "selectStmt", "onConflictClause", "returningList", "override"});
  if (text_of(body, "override") != "OVERRIDING_NOT_SET") not_supported("OVERRIDING");
  Insert insert;
  insert.table = binder.table(field(body, "relation"));
  std::string name = insert.table->name;
  if (has(field(body, "relation"), "alias")) name = text_of(body["relation"]["alias"], "aliasname");
  bind_targets(body, insert);
  for (const auto& column : insert.table->columns) {
    insert.defaults.push_back(default_of(binder, column));
  }
  if (!has(body, "selectStmt")) {
    insert.rows.emplace_back();
  } else if (const auto& select = body_of(field(body, "selectStmt")); has(select, "valuesLists")) {
    bind_values(select, binder, insert);
  } else {
    not_supported("INSERT of a query");
  }
  std::vector<Source> sources{Binder::source(insert.table, name)};
  if (has(body, "onConflictClause")) {
    bind_conflict(field(body, "onConflictClause"), binder, sources[0], insert);
  }
  Scope scope;
  scope.sources = &sources;
  insert.back = returning(body, binder, scope);
  auto columns = columns_of(insert.back.outputs);
  const bool rows = insert.back.any;
  return {"INSERT", rows, true, std::move(columns), std::move(insert)};
}

Plan plan_change(const Tree& body, Binder& binder, bool update) {
  if (update) {
    check_fields(body, "UPDATE", {"relation", "targetList", "whereClause", "returningList"});
  } else {
    check_fields(body, "DELETE", {"relation", "whereClause", "returningList"});
  }
  Change change;
  change.update = update;
  const auto& select = change.select;
  Scope scope;
  scope.sources = &select->sources;
  const auto table = change.table = binder.table(field(body, "relation"));
  const Tree items = {{{"RangeVar", body["relation"]}}};
  select->from = binder.from(items, scope, select->sources);
  ExpressionPtr where;
  if (has(body, "whereClause")) {
    where =
        binder.coercion.condition(binder.expression(field(body, "whereClause"), scope), "WHERE");
    binder.place(where, select->from.get(), select->gate);
  }
  binder.finish(*select->from, select->sources);
  auto& set = change.set;
  if (update) {
    scope.clause = "UPDATE";
    set = assignments(list(body, "targetList"), *table, binder, scope);
  }
  const bool of_key = std::any_of(set.begin(), set.end(), [&](const Assignment& one) {
    return table->in_key(one.column).has_value();
  });
  select->sources[0].lock =
      RowLock{update && !of_key ? mock::LockMode::kNoKeyUpdate : mock::LockMode::kUpdate};
  change.back = returning(body, binder, scope);
  auto columns = columns_of(change.back.outputs);
  const bool rows = change.back.any;
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
