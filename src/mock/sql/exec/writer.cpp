// Constraints, and new rows; see the header.
#include "mock/sql/exec/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cupel::sql {

namespace {

[[noreturn]] void raise_violation(std::string sqlstate, std::string message, Violated violated,
                                  std::string detail = {}) {
  throw SqlException{
      {std::move(sqlstate), std::move(message), std::move(detail), {}, std::move(violated)}};
}

bool concerns(const Changes* changes, const Columns& columns) {
  return changes == nullptr || std::any_of(columns.begin(), columns.end(),
                                           [&](auto column) { return changes->contains(column); });
}

std::vector<Scalar> cells_of(Row& row, const Columns& columns) {
  std::vector<Scalar> values;
  for (const auto column : columns) values.push_back(row.cell(column));
  return values;
}

bool has_null(const std::vector<Scalar>& values) {
  return std::any_of(values.begin(), values.end(), is_null);
}

// What a row of the child has in the columns of its foreign key, as its parent's key has it.
std::vector<Scalar> parent_key(Row& row, const Table& child, const ForeignKey& foreign,
                               const Table& parent) {
  std::vector<Scalar> key;
  for (std::size_t at = 0; at < foreign.columns.size(); ++at) {
    key.push_back(assign(row.cell(foreign.columns[at]), child.type_of(foreign.columns[at]),
                         {parent.type_of(parent.key[at])}));
  }
  return key;
}

// Whether a row besides `self` has the same values in these unique columns.
bool has_duplicate(ExecutionContext& context, const TablePtr& table, Row& row,
                   const Columns& columns, const StoredRow* self) {
  const ExecutionContext::Latest latest(context);
  const auto wanted = cells_of(row, columns);
  if (columns == table->key) {
    auto& other = context.row(table, wanted);
    context.lock(other.key(), {}, table->name);
    return &other != self && other.present();
  }
  if (has_null(wanted)) return false;
  if (context.facts.locking.strong) {
    // Nobody else adds a row with these values meanwhile.
    std::string name = table->prefix + "=";
    for (std::size_t at = 0; at < columns.size(); ++at) {
      const auto value = canonical(wanted[at], table->type_of(columns[at]));
      name += fmt::format("{}:{}:{};", columns[at], value.size(), value);
    }
    context.lock(name, {}, table->name);
  }
  for (auto* other : context.rows(table)) {
    if (other == self || !other->present()) continue;
    const auto same = [&](std::size_t at) { return other->cell(columns[at]) == wanted[at]; };
    std::size_t at = 0;
    while (at < columns.size() && same(at)) ++at;
    if (at == columns.size()) return true;
  }
  return false;
}

}  // namespace

void check_nulls(const Table& table, Row& row, const Changes* changes) {
  for (std::size_t at = 0; at < table.columns.size(); ++at) {
    const auto& column = table.columns[at];
    if (!column.not_null || !concerns(changes, {at}) || !is_null(row.cell(at))) continue;
    raise_violation("23502",
                    fmt::format("null value in column \"{}\" of relation \"{}\" violates not-null "
                                "constraint",
                                column.name, table.name),
                    {table.name, column.name, ""});
  }
}

bool is_duplicate(ExecutionContext& context, const TablePtr& table, Row& row) {
  return std::any_of(table->uniques.begin(), table->uniques.end(), [&](const Unique& unique) {
    return has_duplicate(context, table, row, unique.columns, nullptr);
  });
}

void check_unique(ExecutionContext& context, const TablePtr& table, Row& row, const StoredRow* self,
                  const Changes* changes) {
  for (const auto& unique : table->uniques) {
    if (!concerns(changes, unique.columns)) continue;
    if (!has_duplicate(context, table, row, unique.columns, self)) continue;
    std::string names, values;
    for (const auto column : unique.columns) {
      names += (names.empty() ? "" : ", ") + table->columns[column].name;
      values += (values.empty() ? "" : ", ") + to_text(row.cell(column), table->type_of(column));
    }
    raise_violation(
        "23505", fmt::format("duplicate key value violates unique constraint \"{}\"", unique.name),
        {table->name, "", unique.name},
        fmt::format("Key ({})=({}) already exists.", names, values));
  }
}

void check_parents(ExecutionContext& context, const Table& table, Row& row,
                   const Changes* changes) {
  for (const auto& foreign : table.foreign_keys) {
    if (!concerns(changes, foreign.columns) || has_null(cells_of(row, foreign.columns))) continue;
    const auto parent = context.catalog.find(foreign.parent);
    if (parent != nullptr) {
      const ExecutionContext::Latest latest(context);
      const auto& locking = context.facts.locking;
      auto& there = context.row(parent, parent_key(row, table, foreign, *parent));
      const auto mode = locking.gaps ? mock::LockMode::kShare : mock::LockMode::kKeyShare;
      if (locking.strong) context.lock(there.key(), {.mode = mode}, parent->name);
      if (there.present()) continue;
    }
    raise_violation("23503",
                    fmt::format("insert or update on table \"{}\" violates foreign key constraint "
                                "\"{}\"",
                                table.name, foreign.name),
                    {table.name, "", foreign.name});
  }
}

void check_children(ExecutionContext& context, const Table& table,
                    const std::vector<StoredRow*>& deleted) {
  const ExecutionContext::Latest latest(context);
  for (const auto& child : context.catalog.all()) {
    for (const auto& foreign : child->foreign_keys) {
      if (foreign.parent != table.name || deleted.empty()) continue;
      for (auto* row : context.rows(child)) {
        if (!row->present() || has_null(cells_of(*row, foreign.columns))) continue;
        const auto key = table.row_key(parent_key(*row, *child, foreign, table));
        if (std::none_of(deleted.begin(), deleted.end(),
                         [&](const StoredRow* one) { return one->key() == key; })) {
          continue;
        }
        raise_violation("23503",
                        fmt::format("update or delete on table \"{}\" violates foreign key "
                                    "constraint \"{}\" on table \"{}\"",
                                    table.name, foreign.name, child->name),
                        {child->name, "", foreign.name});
      }
    }
  }
}

StoredRow& add(ExecutionContext& context, const TablePtr& table, Row& row) {
  auto& made =
      table->key.empty() ? context.new_row(table) : context.row(table, cells_of(row, table->key));
  if (context.facts.locking.gaps) {
    context.lock(table->prefix, {.mode = mock::LockMode::kInsertion}, table->name);
  }
  context.lock(made.key(), {}, table->name);
  made.set_present(true);
  for (std::size_t at = 0; at < table->columns.size(); ++at) {
    if (!table->in_key(at)) made.set_cell(at, row.cell(at));
  }
  return made;
}

}  // namespace cupel::sql
