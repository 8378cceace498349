// Constraints, and new values over old ones; see the header.
#include "sql/exec/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cupel::sql {

namespace {

std::string listed(const Table& table, const std::vector<std::size_t>& columns) {
  std::string text;
  for (const auto column : columns) {
    text += (text.empty() ? "" : ", ") + table.columns[column].name;
  }
  return text;
}

[[noreturn]] void raise_violation(std::string sqlstate, std::string message, Violated violated) {
  Error error{std::move(sqlstate), std::move(message)};
  error.violated = std::move(violated);
  throw SqlException{std::move(error)};
}

bool same(const Scalar& left, const Scalar& right, Type type) {
  return !is_null(left) && !is_null(right) && compare(left, right, type) == 0;
}

std::set<std::size_t> referenced(ExecutionContext& context, const Table& table) {
  std::set<std::size_t> columns;
  for (const auto& child : context.catalog.all()) {
    for (const auto& foreign : child->foreign_keys) {
      if (foreign.parent != table.name) continue;
      columns.insert(foreign.parent_columns.begin(), foreign.parent_columns.end());
    }
  }
  return columns;
}

// Whether the row that a child refers to is there.
bool parent_there(ExecutionContext& context, const Table& child, const ForeignKey& foreign,
                  Row& row) {
  const auto parent = context.catalog.find(foreign.parent);
  if (parent == nullptr) return false;
  std::vector<Scalar> values, key(parent->key.size());
  std::size_t placed = 0;
  for (std::size_t at = 0; at < foreign.columns.size(); ++at) {
    const auto column = foreign.parent_columns[at];
    values.push_back(assign(row.cell(foreign.columns[at]), child.type_of(foreign.columns[at]),
                            {parent->type_of(column)}));
    if (const auto place = parent->in_key(column)) {
      key[*place] = values.back();
      ++placed;
    }
  }
  const ExecutionContext::Latest latest(context);
  if (placed == key.size() && placed == values.size()) {
    auto& one = context.row(parent, key);
    const auto mode =
        context.facts.locking.gaps ? mock::LockMode::kShare : mock::LockMode::kKeyShare;
    if (context.facts.locking.strong) context.lock(one.key(), {.mode = mode}, parent->name);
    return one.present();
  }
  for (auto* one : context.rows(parent)) {
    bool equal = one->present();
    for (std::size_t at = 0; equal && at < values.size(); ++at) {
      const auto column = foreign.parent_columns[at];
      equal = same(one->cell(column), values[at], parent->type_of(column));
    }
    if (equal) return true;
  }
  return false;
}

bool refers(Row& row, const Table& child, const ForeignKey& foreign, const Table& parent,
            const std::map<std::size_t, Scalar>& values) {
  for (std::size_t at = 0; at < foreign.columns.size(); ++at) {
    const auto type = parent.type_of(foreign.parent_columns[at]);
    const auto& wanted = values.at(foreign.parent_columns[at]);
    if (is_null(wanted)) return false;
    const auto value =
        cast(row.cell(foreign.columns[at]), child.type_of(foreign.columns[at]), {type});
    if (!same(value, wanted, type)) return false;
  }
  return true;
}

}  // namespace

void Writer::check_nulls(Row& row, const std::set<std::size_t>* changed) const {
  for (std::size_t at = 0; at < table_->columns.size(); ++at) {
    const auto& column = table_->columns[at];
    if (!column.not_null || (changed != nullptr && changed->count(at) == 0)) continue;
    if (!is_null(row.cell(at))) continue;
    raise_violation("23502",
                    fmt::format("null value in column \"{}\" of relation \"{}\" violates "
                                "not-null constraint",
                                column.name, table_->name),
                    {table_->name, column.name, ""});
  }
}

std::vector<Scalar> Writer::key_of(Row& row) const {
  std::vector<Scalar> values;
  for (const auto column : table_->key) values.push_back(row.cell(column));
  return values;
}

StoredRow* Writer::find_duplicate(ExecutionContext& context, Row& row,
                                  const std::vector<std::size_t>& columns,
                                  const StoredRow* self) const {
  const ExecutionContext::Latest latest(context);
  if (columns == table_->key) {
    auto& other = context.row(table_, key_of(row));
    context.lock(other.key(), {}, table_->name);
    return &other != self && other.present() ? &other : nullptr;
  }
  std::vector<Scalar> wanted;
  for (const auto column : columns) {
    wanted.push_back(row.cell(column));
    if (is_null(wanted.back())) return nullptr;
  }
  if (context.facts.locking.strong) {
    // Nobody else adds a row with these values meanwhile.
    std::string name = table_->prefix + "=";
    for (std::size_t at = 0; at < columns.size(); ++at) {
      const auto value = canonical(wanted[at], table_->type_of(columns[at]));
      name += fmt::format("{}:{}:{};", columns[at], value.size(), value);
    }
    context.lock(name, {}, table_->name);
  }
  for (auto* other : context.rows(table_)) {
    if (other == self || !other->present()) continue;
    bool equal = true;
    for (std::size_t at = 0; equal && at < columns.size(); ++at) {
      equal = same(other->cell(columns[at]), wanted[at], table_->type_of(columns[at]));
    }
    if (equal) return other;
  }
  return nullptr;
}

void Writer::raise_duplicate(const Table& table, Row& row, const std::string& name,
                             const std::vector<std::size_t>& columns) {
  std::string values;
  for (const auto column : columns) {
    values +=
        (values.empty() ? "" : ", ") + to_text(row.cell(column), table.columns[column].type.type);
  }
  Error error{"23505", fmt::format("duplicate key value violates unique constraint \"{}\"", name),
              fmt::format("Key ({})=({}) already exists.", listed(table, columns), values)};
  error.violated = {table.name, "", name};
  throw SqlException{std::move(error)};
}

void Writer::check_unique(ExecutionContext& context, Row& row, const StoredRow* self,
                          const std::set<std::size_t>* changed) const {
  const auto concerned = [&](const std::vector<std::size_t>& columns) {
    return changed == nullptr || std::any_of(columns.begin(), columns.end(), [&](auto column) {
             return changed->count(column) != 0;
           });
  };
  if (!table_->key.empty() && concerned(table_->key) &&
      find_duplicate(context, row, table_->key, self) != nullptr) {
    raise_duplicate(*table_, row, table_->key_name, table_->key);
  }
  for (const auto& unique : table_->uniques) {
    if (concerned(unique.columns) &&
        find_duplicate(context, row, unique.columns, self) != nullptr) {
      raise_duplicate(*table_, row, unique.name, unique.columns);
    }
  }
}

StoredRow& Writer::add(ExecutionContext& context, Row& row) {
  StoredRow* made = nullptr;
  if (table_->key.empty()) {
    const auto number = table_->row_numbers->next();
    made = &context.row(table_, table_->row_number_key(number), {number});
  } else {
    auto key = key_of(row);
    made = &context.row(table_, key);
  }
  std::vector<Scalar> values;
  for (std::size_t at = 0; at < table_->columns.size(); ++at) values.push_back(row.cell(at));
  if (context.facts.locking.gaps) {
    context.lock(table_->prefix, {.mode = mock::LockMode::kInsertion}, table_->name);
  }
  context.lock(made->key(), {}, table_->name);
  made->set_present(true);
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (!table_->in_key(at)) made->set_cell(at, values[at]);
  }
  return *made;
}

void Writer::check_parents(ExecutionContext& context, Row& row,
                           const std::set<std::size_t>* changed) const {
  for (const auto& foreign : table_->foreign_keys) {
    if (changed != nullptr &&
        std::none_of(foreign.columns.begin(), foreign.columns.end(),
                     [&](auto column) { return changed->count(column) != 0; })) {
      continue;
    }
    const bool null = std::any_of(foreign.columns.begin(), foreign.columns.end(),
                                  [&](auto column) { return is_null(row.cell(column)); });
    if (null || parent_there(context, *table_, foreign, row)) continue;
    raise_violation("23503",
                    fmt::format("insert or update on table \"{}\" violates foreign key "
                                "constraint \"{}\"",
                                table_->name, foreign.name),
                    {table_->name, "", foreign.name});
  }
}

FormerParent former_parent(ExecutionContext& context, const TablePtr& table, Row& row) {
  FormerParent made{table, {}};
  for (const auto column : referenced(context, *table)) made.values[column] = row.cell(column);
  return made;
}

void check_children(ExecutionContext& context, const std::vector<FormerParent>& former) {
  const ExecutionContext::Latest latest(context);
  for (const auto& [parent, values] : former) {
    for (const auto& child : context.catalog.all()) {
      for (const auto& foreign : child->foreign_keys) {
        if (foreign.parent != parent->name) continue;
        for (auto* row : context.rows(child)) {
          if (!row->present() || !refers(*row, *child, foreign, *parent, values)) continue;
          // Another row may have taken its place within the statement.
          if (parent_there(context, *child, foreign, *row)) continue;
          raise_violation("23503",
                          fmt::format("update or delete on table \"{}\" violates foreign key "
                                      "constraint \"{}\" on table \"{}\"",
                                      parent->name, foreign.name, child->name),
                          {child->name, "", foreign.name});
        }
      }
    }
  }
}

void compute(const std::vector<Assignment>& set, const Frame& frame, Overlay& over) {
  for (const auto& one : set) over.values[one.column] = one.value->value(frame);
}

std::set<std::size_t> columns_set(const std::vector<Assignment>& set) {
  std::set<std::size_t> columns;
  for (const auto& one : set) columns.insert(one.column);
  return columns;
}

StoredRow& rewrite(ExecutionContext& context, Writer& writer, const Rewrite& what,
                   std::vector<FormerParent>& former) {
  auto& [row, over, changed] = what;
  const auto& table = writer.table();
  writer.check_nulls(over, &changed);
  for (const auto column : referenced(context, *table)) {
    if (changed.count(column) == 0 ||
        same(row.cell(column), over.cell(column), table->type_of(column))) {
      continue;
    }
    former.push_back(former_parent(context, table, row));
    break;
  }
  writer.check_unique(context, over, &row, &changed);
  const bool moves = std::any_of(table->key.begin(), table->key.end(), [&](auto column) {
    return changed.count(column) != 0 &&
           !same(row.cell(column), over.cell(column), table->type_of(column));
  });
  if (!moves) {
    for (const auto& [column, value] : over.values) {
      if (!table->in_key(column)) row.set_cell(column, value);
    }
    return row;
  }
  auto& fresh = writer.add(context, over);
  row.set_present(false);
  return fresh;
}

std::vector<Datum> shown_row(const std::vector<Output>& outputs,
                             const std::vector<Scalar>& values) {
  std::vector<Datum> row;
  for (std::size_t at = 0; at < values.size(); ++at) {
    row.push_back(is_null(values[at]) ? std::nullopt
                                      : Datum(to_text(values[at], outputs[at].value->type.type)));
  }
  return row;
}

void return_row(const Returning& what, const Frame& frame, Result& result) {
  if (!what.any) return;
  std::vector<Scalar> values;
  for (const auto& output : what.outputs) values.push_back(output.value->value(frame));
  result.rows.push_back(shown_row(what.outputs, values));
}

}  // namespace cupel::sql
