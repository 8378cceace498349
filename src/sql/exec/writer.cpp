// Constraints, children of rows that went, and new values over old ones; see the header.
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

[[noreturn]] void raise_null(const Table& table, std::size_t column) {
  const auto& name = table.columns[column].name;
  raise_violation("23502",
                  fmt::format("null value in column \"{}\" of relation \"{}\" violates "
                              "not-null constraint",
                              name, table.name),
                  {table.name, name, ""});
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

}  // namespace

void Writer::check(ExecutionContext& context, Row& row,
                   const std::set<std::size_t>* changed) const {
  for (std::size_t at = 0; at < table_->columns.size(); ++at) {
    if (changed != nullptr && changed->count(at) == 0) continue;
    if (table_->columns[at].not_null && is_null(row.cell(at))) {
      raise_null(*table_, at);
    }
  }
  Frame frame{context, nullptr, {&row}, nullptr};
  for (const auto& check : checks_) {
    if (changed != nullptr &&
        std::none_of(check.columns.begin(), check.columns.end(),
                     [&](std::size_t column) { return changed->count(column) != 0; })) {
      continue;
    }
    const auto value = check.condition->value(frame);
    if (!is_null(value) && !std::get<bool>(value)) {
      raise_violation("23514",
                      fmt::format("new row for relation \"{}\" violates check constraint \"{}\"",
                                  table_->name, check.name),
                      {table_->name, "", check.name});
    }
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
    std::vector<Scalar> values;
    bool null = false;
    for (const auto column : foreign.columns) {
      values.push_back(row.cell(column));
      null |= is_null(values.back());
    }
    if (null) continue;
    const auto parent = context.catalog.find(foreign.parent);
    if (parent != nullptr && parent_there(context, parent, foreign, values)) continue;
    raise_violation("23503",
                    fmt::format("insert or update on table \"{}\" violates foreign key "
                                "constraint \"{}\"",
                                table_->name, foreign.name),
                    {table_->name, "", foreign.name});
  }
}

bool Writer::parent_there(ExecutionContext& context, const TablePtr& parent,
                          const ForeignKey& foreign, const std::vector<Scalar>& values) const {
  std::vector<Scalar> key(parent->key.size());
  std::size_t placed = 0;
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (const auto place = parent->in_key(foreign.parent_columns[at])) {
      const auto& type = parent->columns[foreign.parent_columns[at]].type;
      key[*place] = assign(values[at], table_->columns[foreign.columns[at]].type.type, {type.type});
      ++placed;
    }
  }
  const ExecutionContext::Latest latest(context);
  if (placed == parent->key.size() && placed == values.size()) {
    auto& row = context.row(parent, key);
    const auto mode =
        context.facts.locking.gaps ? mock::LockMode::kShare : mock::LockMode::kKeyShare;
    if (context.facts.locking.strong) context.lock(row.key(), {.mode = mode}, parent->name);
    return row.present();
  }
  for (auto* row : context.rows(parent)) {
    if (!row->present()) continue;
    bool equal = true;
    for (std::size_t at = 0; equal && at < values.size(); ++at) {
      const auto column = foreign.parent_columns[at];
      equal = same(row->cell(column), values[at], parent->type_of(column));
    }
    if (equal) return true;
  }
  return false;
}

ParentChange parent_change(ExecutionContext& context, const TablePtr& table, Row& row) {
  ParentChange made{table, {}, {}};
  for (const auto column : referenced(context, *table)) made.values[column] = row.cell(column);
  return made;
}

namespace {

// A foreign key of a child, and the values of the parent's row that went or changed.
struct Reference {
  const ParentChange& parent;
  const TablePtr& child;
  const ForeignKey& foreign;
  std::vector<Scalar> values;

  [[nodiscard]] Type type_of(std::size_t at) const {
    return parent.table->type_of(foreign.parent_columns[at]);
  }
  // Whether the change is one of these columns, and no part of the old values is null.
  [[nodiscard]] bool matters() const {
    if (std::any_of(values.begin(), values.end(), is_null)) return false;
    if (!parent.now) return true;
    for (std::size_t at = 0; at < values.size(); ++at) {
      const auto& fresh = parent.now->at(foreign.parent_columns[at]);
      if (is_null(fresh) || !same(values[at], fresh, type_of(at))) return true;
    }
    return false;
  }
  [[nodiscard]] bool refers(StoredRow& row) const {
    for (std::size_t at = 0; at < values.size(); ++at) {
      const auto column = foreign.columns[at];
      const auto value = cast(row.cell(column), child->columns[column].type.type,
                              {parent.table->columns[foreign.parent_columns[at]].type.type});
      if (!same(value, values[at], type_of(at))) return false;
    }
    return true;
  }
  // Another row may have taken the parent's place within the statement.
  [[nodiscard]] bool parent_is_back(ExecutionContext& context) const {
    for (auto* other : context.rows(parent.table)) {
      if (!other->present()) continue;
      bool equal = true;
      for (std::size_t at = 0; equal && at < values.size(); ++at) {
        equal = same(other->cell(foreign.parent_columns[at]), values[at], type_of(at));
      }
      if (equal) return true;
    }
    return false;
  }
  [[noreturn]] void refuse() const {
    Error error{"23503", fmt::format("update or delete on table \"{}\" violates foreign key "
                                     "constraint \"{}\" on table \"{}\"",
                                     parent.table->name, foreign.name, child->name)};
    error.violated = {child->name, "", foreign.name};
    throw SqlException{std::move(error)};
  }
  // ON UPDATE CASCADE, SET NULL: the child's row with its new values; what it was to its children.
  ParentChange change(ExecutionContext& context, StoredRow& row, Action action) const {
    auto before = parent_change(context, child, row);
    before.now = before.values;
    for (std::size_t at = 0; at < foreign.columns.size(); ++at) {
      const auto column = foreign.columns[at];
      if (child->in_key(column)) not_supported("a cascade that changes a primary key");
      Scalar fresh;
      if (action == Action::kCascade) fresh = parent.now->at(foreign.parent_columns[at]);
      if (is_null(fresh) && child->columns[column].not_null) {
        raise_null(*child, column);
      }
      row.set_cell(column, fresh);
      if (before.now->count(column) != 0) (*before.now)[column] = fresh;
    }
    return before;
  }
};

// The rows that refer to a parent's row that went or changed: refused, deleted or changed, as their
// foreign key says. What they were to their own children is pending then.
void change_children(ExecutionContext& context, const Reference& reference,
                     std::vector<ParentChange>& pending) {
  const auto& parent = reference.parent;
  const auto action = parent.now ? reference.foreign.on_update : reference.foreign.on_delete;
  for (auto* row : context.rows(reference.child)) {
    if (!row->present() || !reference.refers(*row)) continue;
    if (action == Action::kRefuse) {
      if (!reference.parent_is_back(context)) reference.refuse();
    } else if (action == Action::kCascade && !parent.now) {
      row->lock({});
      pending.push_back(parent_change(context, reference.child, *row));
      row->set_present(false);
    } else {
      row->lock({});
      pending.push_back(reference.change(context, *row, action));
    }
  }
}

}  // namespace

void apply_foreign_keys(ExecutionContext& context, std::vector<ParentChange> pending) {
  const ExecutionContext::Latest latest(context);
  for (std::size_t next = 0; next < pending.size(); ++next) {
    const auto parent = pending[next];
    for (const auto& child : context.catalog.all()) {
      for (const auto& foreign : child->foreign_keys) {
        if (foreign.parent != parent.table->name) continue;
        Reference reference{parent, child, foreign, {}};
        for (const auto column : foreign.parent_columns) {
          reference.values.push_back(parent.values.at(column));
        }
        if (reference.matters()) change_children(context, reference, pending);
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
                   std::vector<ParentChange>& pending) {
  auto& [row, over, changed] = what;
  const auto& table = writer.table();
  writer.check(context, over, &changed);
  const auto watched = referenced(context, *table);
  if (std::any_of(changed.begin(), changed.end(),
                  [&](auto column) { return watched.count(column) != 0; })) {
    auto before = parent_change(context, table, row);
    before.now.emplace();
    for (const auto column : watched) (*before.now)[column] = over.cell(column);
    pending.push_back(std::move(before));
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
