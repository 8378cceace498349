// What the four statements do with the rows of a plan, and the constraints of what they
// write: checked by reads of the store, so weak reads may miss what they look for.
#include "sql/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
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

[[noreturn]] void raise_out_of_range(const std::string& column, std::size_t row) {
  raise("22003", fmt::format("Out of range value for column '{}' at row {}", column, row));
}

// MySQL says which column and row of the statement a value does not fit in; arithmetic (1690) is
// told as it is.
template <typename Work>
auto in_range(bool mysql, const ColumnInfo& column, std::size_t row, const Work& work) {
  try {
    return work();
  } catch (const Raised& raised) {
    const bool fits_not = raised.error.sqlstate == "22003" && raised.error.mysql_number == 0;
    if (mysql && fits_not) raise_out_of_range(column.name, row);
    throw;
  }
}

// A stored row with new values over it.
class Overlay : public Row {
 public:
  explicit Overlay(Row& below) : below_(below) {}
  Scalar cell(std::size_t column) override {
    const auto found = values.find(column);
    return found == values.end() ? below_.cell(column) : found->second;
  }
  std::map<std::size_t, Scalar> values;

 private:
  Row& below_;
};

bool same(const Scalar& left, const Scalar& right, Type type) {
  return !is_null(left) && !is_null(right) && compare(left, right, type) == 0;
}

// The constraints of one table, and the writes to it.
class Writer {
 public:
  Writer(Binder& binder, TablePtr table) : table_(std::move(table)) {
    std::vector<Source> sources{Binder::source(table_, table_->name)};
    for (const auto& check : table_->checks) {
      Scope scope;
      scope.sources = &sources;
      scope.clause = "check constraints";
      scope.queries = false;
      const auto bound =
          binder.coercion.condition(binder.expression(check.expression, scope), "CHECK");
      std::set<std::size_t> columns;
      for (const auto& [source, column] : scope.columns) columns.insert(column);
      checks_.push_back({check.name, check.range, bound, std::move(columns)});
    }
  }

  [[nodiscard]] const TablePtr& table() const { return table_; }

  // Raises what the values of these columns violate in themselves. `number`: which row of the
  // statement it is, from 1.
  void check(Running& running, Row& row, const std::set<std::size_t>* changed,
             std::size_t number) const {
    for (std::size_t at = 0; at < table_->columns.size(); ++at) {
      if (changed != nullptr && changed->count(at) == 0) continue;
      if (table_->columns[at].not_null && is_null(row.cell(at))) {
        raise("23502", fmt::format("null value in column \"{}\" of relation \"{}\" violates "
                                   "not-null constraint",
                                   table_->columns[at].name, table_->name));
      }
    }
    Frame frame{running, nullptr, {&row}, nullptr};
    for (const auto& check : checks_) {
      if (changed != nullptr &&
          std::none_of(check.columns.begin(), check.columns.end(),
                       [&](std::size_t column) { return changed->count(column) != 0; })) {
        continue;
      }
      const auto value = check.condition->value(frame);
      if (!is_null(value) && !std::get<bool>(value)) {
        if (check.range) {
          raise_out_of_range(table_->columns[*check.columns.begin()].name, number);
        }
        raise("23514", fmt::format("new row for relation \"{}\" violates check constraint \"{}\"",
                                   table_->name, check.name));
      }
    }
  }

  [[nodiscard]] std::vector<Scalar> key_of(Row& row) const {
    std::vector<Scalar> values;
    for (const auto column : table_->key) values.push_back(row.cell(column));
    return values;
  }

  // The row that has the same values in these unique columns, besides `self`.
  StoredRow* twin(Running& running, Row& row, const std::vector<std::size_t>& columns,
                  const StoredRow* self) const {
    if (columns == table_->key) {
      auto& other = running.row(table_, key_of(row));
      return &other != self && other.present() ? &other : nullptr;
    }
    std::vector<Scalar> wanted;
    for (const auto column : columns) {
      wanted.push_back(row.cell(column));
      if (is_null(wanted.back())) return nullptr;
    }
    for (auto* other : running.rows(table_)) {
      if (other == self || !other->present()) continue;
      bool equal = true;
      for (std::size_t at = 0; equal && at < columns.size(); ++at) {
        equal = same(other->cell(columns[at]), wanted[at], table_->order_type_of(columns[at]));
      }
      if (equal) return other;
    }
    return nullptr;
  }

  [[noreturn]] static void duplicate(const Table& table, Row& row, const std::string& name,
                                     const std::vector<std::size_t>& columns) {
    std::string values;
    for (const auto column : columns) {
      values +=
          (values.empty() ? "" : ", ") + to_text(row.cell(column), table.columns[column].type.type);
    }
    throw Raised{{"23505",
                  fmt::format("duplicate key value violates unique constraint \"{}\"", name),
                  fmt::format("Key ({})=({}) already exists.", listed(table, columns), values),
                  {}}};
  }

  void check_unique(Running& running, Row& row, const StoredRow* self,
                    const std::set<std::size_t>* changed) const {
    const auto concerned = [&](const std::vector<std::size_t>& columns) {
      return changed == nullptr || std::any_of(columns.begin(), columns.end(), [&](auto column) {
               return changed->count(column) != 0;
             });
    };
    if (!table_->key.empty() && concerned(table_->key) &&
        twin(running, row, table_->key, self) != nullptr) {
      duplicate(*table_, row, table_->key_name, table_->key);
    }
    for (const auto& unique : table_->uniques) {
      if (concerned(unique.columns) && twin(running, row, unique.columns, self) != nullptr) {
        duplicate(*table_, row, unique.name, unique.columns);
      }
    }
  }

  // A new row of these values; its constraints but foreign keys hold.
  StoredRow& add(Running& running, Row& row) {
    StoredRow* made = nullptr;
    if (table_->key.empty()) {
      const auto number = table_->row_numbers->next();
      made = &running.row(table_, table_->row_number_key(number), {number});
    } else {
      auto key = key_of(row);
      for (const auto& value : key) {
        // Its name has none, so that equal ones are one; and it is read back from there.
        const auto* text = std::get_if<std::string>(&value);
        if (table_->mysql && text != nullptr && text->ends_with(' ')) {
          not_supported("a primary key with blanks at its end");
        }
      }
      made = &running.row(table_, key);
    }
    std::vector<Scalar> values;
    for (std::size_t at = 0; at < table_->columns.size(); ++at) values.push_back(row.cell(at));
    made->set_present(true);
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (!table_->in_key(at)) made->set_cell(at, values[at]);
    }
    return *made;
  }

  // Foreign keys of a row that was written.
  void check_parents(Running& running, Row& row, const std::set<std::size_t>* changed) const {
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
      const auto parent = running.catalog.find(foreign.parent);
      if (parent != nullptr && parent_there(running, parent, foreign, values)) continue;
      raise("23503", fmt::format("insert or update on table \"{}\" violates foreign key "
                                 "constraint \"{}\"",
                                 table_->name, foreign.name));
    }
  }

  [[nodiscard]] bool parent_there(Running& running, const TablePtr& parent,
                                  const ForeignKey& foreign,
                                  const std::vector<Scalar>& values) const {
    std::vector<Scalar> key(parent->key.size());
    std::size_t placed = 0;
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (const auto place = parent->in_key(foreign.parent_columns[at])) {
        const auto& type = parent->columns[foreign.parent_columns[at]].type;
        key[*place] =
            assign(values[at], table_->columns[foreign.columns[at]].type.type, {type.type});
        ++placed;
      }
    }
    if (placed == parent->key.size() && placed == values.size()) {
      return running.row(parent, key).present();
    }
    for (auto* row : running.rows(parent)) {
      if (!row->present()) continue;
      bool equal = true;
      for (std::size_t at = 0; equal && at < values.size(); ++at) {
        const auto column = foreign.parent_columns[at];
        equal = same(row->cell(column), values[at], parent->order_type_of(column));
      }
      if (equal) return true;
    }
    return false;
  }

 private:
  struct BoundCheck {
    std::string name;
    bool range = false;
    ExpressionPtr condition;
    std::set<std::size_t> columns;
  };
  TablePtr table_;
  std::vector<BoundCheck> checks_;
};

// What a row was to its children before it went, or changed.
struct Gone {
  TablePtr table;
  std::map<std::size_t, Scalar> values;              // of the columns that children refer to
  std::optional<std::map<std::size_t, Scalar>> now;  // changed, not deleted
};

std::set<std::size_t> referenced(Running& running, const Table& table) {
  std::set<std::size_t> columns;
  for (const auto& child : running.catalog.tables()) {
    for (const auto& foreign : child->foreign_keys) {
      if (foreign.parent != table.name) continue;
      columns.insert(foreign.parent_columns.begin(), foreign.parent_columns.end());
    }
  }
  return columns;
}

Gone gone(Running& running, const TablePtr& table, Row& row) {
  Gone made{table, {}, {}};
  for (const auto column : referenced(running, *table)) made.values[column] = row.cell(column);
  return made;
}

// A foreign key of a child, and the values of the parent's row that went or changed.
struct Reference {
  const Gone& parent;
  const TablePtr& child;
  const ForeignKey& foreign;
  std::vector<Scalar> values;

  [[nodiscard]] Type order_type_of(std::size_t at) const {
    return parent.table->order_type_of(foreign.parent_columns[at]);
  }
  // Whether the change is one of these columns, and no part of the old values is null.
  [[nodiscard]] bool matters() const {
    if (std::any_of(values.begin(), values.end(), is_null)) return false;
    if (!parent.now) return true;
    for (std::size_t at = 0; at < values.size(); ++at) {
      const auto& fresh = parent.now->at(foreign.parent_columns[at]);
      if (is_null(fresh) || !same(values[at], fresh, order_type_of(at))) return true;
    }
    return false;
  }
  [[nodiscard]] bool refers(StoredRow& row) const {
    for (std::size_t at = 0; at < values.size(); ++at) {
      const auto column = foreign.columns[at];
      const auto value = cast(row.cell(column), child->columns[column].type.type,
                              {parent.table->columns[foreign.parent_columns[at]].type.type});
      if (!same(value, values[at], order_type_of(at))) return false;
    }
    return true;
  }
  // Another row may have taken the parent's place within the statement.
  [[nodiscard]] bool parent_is_back(Running& running) const {
    for (auto* other : running.rows(parent.table)) {
      if (!other->present()) continue;
      bool equal = true;
      for (std::size_t at = 0; equal && at < values.size(); ++at) {
        equal = same(other->cell(foreign.parent_columns[at]), values[at], order_type_of(at));
      }
      if (equal) return true;
    }
    return false;
  }
  [[noreturn]] void refuse() const {
    Error error{"23503", fmt::format("update or delete on table \"{}\" violates foreign key "
                                     "constraint \"{}\" on table \"{}\"",
                                     parent.table->name, foreign.name, child->name)};
    error.mysql_number = 1451;
    throw Raised{std::move(error)};
  }
  // ON UPDATE CASCADE, SET NULL: the child's row with its new values; what it was to its children.
  Gone change(Running& running, StoredRow& row, Action action) const {
    auto before = gone(running, child, row);
    before.now = before.values;
    for (std::size_t at = 0; at < foreign.columns.size(); ++at) {
      const auto column = foreign.columns[at];
      if (child->in_key(column)) not_supported("a cascade that changes a primary key");
      Scalar fresh;
      if (action == Action::kCascade) fresh = parent.now->at(foreign.parent_columns[at]);
      if (is_null(fresh) && child->columns[column].not_null) {
        raise("23502", fmt::format("null value in column \"{}\" of relation \"{}\" violates "
                                   "not-null constraint",
                                   child->columns[column].name, child->name));
      }
      row.set_cell(column, fresh);
      if (before.now->count(column) != 0) (*before.now)[column] = fresh;
    }
    return before;
  }
};

// The rows that refer to a parent's row that went or changed: refused, deleted or changed, as their
// foreign key says. What they were to their own children is pending then.
void settle_children(Running& running, const Reference& reference, std::vector<Gone>& pending) {
  const auto& parent = reference.parent;
  const auto action = parent.now ? reference.foreign.on_update : reference.foreign.on_delete;
  for (auto* row : running.rows(reference.child)) {
    if (!row->present() || !reference.refers(*row)) continue;
    if (action == Action::kRefuse) {
      if (!reference.parent_is_back(running)) reference.refuse();
    } else if (action == Action::kCascade && !parent.now) {
      pending.push_back(gone(running, reference.child, *row));
      row->set_present(false);
    } else {
      pending.push_back(reference.change(running, *row, action));
    }
  }
}

void settle(Running& running, std::vector<Gone> pending) {
  for (std::size_t next = 0; next < pending.size(); ++next) {
    const auto parent = pending[next];
    for (const auto& child : running.catalog.tables()) {
      for (const auto& foreign : child->foreign_keys) {
        if (foreign.parent != parent.table->name) continue;
        Reference reference{parent, child, foreign, {}};
        for (const auto column : foreign.parent_columns) {
          reference.values.push_back(parent.values.at(column));
        }
        if (reference.matters()) settle_children(running, reference, pending);
      }
    }
  }
}

std::vector<Column> columns_of(const std::vector<Output>& outputs, Dialect dialect) {
  std::vector<Column> columns;
  for (const auto& output : outputs) {
    columns.push_back({output.name, shown_type(output.value->type.type, dialect), output.table});
  }
  return columns;
}

std::vector<Datum> shown_row(const std::vector<Output>& outputs, const std::vector<Scalar>& values,
                             Dialect dialect) {
  std::vector<Datum> row;
  for (std::size_t at = 0; at < values.size(); ++at) {
    row.push_back(shown(values[at], outputs[at].value->type.type, dialect));
  }
  return row;
}

Plan plan_select(const Tree& body, Binder& binder) {
  const auto dialect = binder.coercion.dialect();
  Plan plan{"SELECT", true, false, {}, {}};
  const auto select = binder.select(body, nullptr);
  std::vector<Output> outputs = select->outputs;
  if (!select->values.empty()) {
    for (std::size_t at = 0; at < select->values[0].size(); ++at) {
      outputs.push_back({select->values[0][at], fmt::format("column{}", at + 1), ""});
    }
  }
  plan.columns = columns_of(outputs, dialect);
  plan.locks = binder.locks;
  plan.run = [select, outputs, columns = plan.columns, dialect](Running& running) {
    Result result;
    result.has_rows = true;
    result.columns = columns;
    run(*select, running, nullptr, [&](std::vector<Scalar>& values) {
      result.rows.push_back(shown_row(outputs, values, dialect));
      return true;
    });
    result.tag = fmt::format("SELECT {}", result.rows.size());
    return result;
  };
  return plan;
}

// Of a column with a counter. Numbers beyond 63 bits do not move it.
std::int64_t counted_number(const Scalar& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) {
    if (!std::in_range<std::int64_t>(*number)) {
      not_supported("a value beyond 63 bits in an AUTO_INCREMENT column");
    }
    return static_cast<std::int64_t>(*number);
  }
  return std::get<std::int64_t>(value);
}

struct Assignment {
  std::size_t column = 0;
  ExpressionPtr value;
};

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
    understood(body, "SET", {"name", "val"});
    const auto column = column_called(table, text_of(body, "name"));
    if (!seen.insert(column).second) {
      raise("42601",
            fmt::format("multiple assignments to same column \"{}\"", table.columns[column].name));
    }
    const Tree* value = &field(body, "val");
    if (kind_of(*value) == "MultiAssignRef") {
      const auto& many = body_of(*value);
      understood(many, "SET (…)", {"source", "colno", "ncolumns"});
      if (kind_of(field(many, "source")) != "RowExpr") not_supported("SET (…) = (SELECT …)");
      const auto& parts = list(body_of(field(many, "source")), "args");
      if (static_cast<std::int64_t>(parts.size()) != number_of(many, "ncolumns")) {
        raise("42601", "number of columns does not match number of values");
      }
      value = &parts[static_cast<std::size_t>(number_of(many, "colno") - 1)];
    }
    if (kind_of(*value) == "SetToDefault") {
      all.push_back({column, default_of(binder, table.columns[column])});
      continue;
    }
    if (table.columns[column].always) {
      raise("428C9", fmt::format("column \"{}\" can only be updated to DEFAULT",
                                 table.columns[column].name));
    }
    all.push_back(
        {column,
         in_range(binder.coercion.dialect() == Dialect::kMysql, table.columns[column], 1, [&] {
           return binder.assigned(binder.expression(*value, scope), table.columns[column]);
         })});
  }
  return all;
}

// New values of a row: in MySQL each sees those to its left.
void compute(const Table& table, const std::vector<Assignment>& set, Frame& frame,
             std::size_t source, Overlay& over, std::size_t number) {
  std::map<std::size_t, Scalar> values;
  const bool mysql = frame.running.facts.dialect == Dialect::kMysql;
  auto* before = frame.rows[source];
  if (mysql) frame.rows[source] = &over;
  for (const auto& one : set) {
    auto value =
        in_range(mysql, table.columns[one.column], number, [&] { return one.value->value(frame); });
    (mysql ? over.values : values)[one.column] = std::move(value);
  }
  frame.rows[source] = before;
  if (!mysql) over.values = std::move(values);
}

std::set<std::size_t> columns_set(const std::vector<Assignment>& set) {
  std::set<std::size_t> columns;
  for (const auto& one : set) columns.insert(one.column);
  return columns;
}

struct Rewrite {
  StoredRow& row;
  Overlay& over;
  const std::set<std::size_t>& changed;
  std::size_t number;  // of the row in the statement, from 1
};

// Writes new values over a row; gives the row, which is another if its key changed.
StoredRow& rewrite(Running& running, Writer& writer, const Rewrite& what,
                   std::vector<Gone>& pending) {
  auto& [row, over, changed, number] = what;
  const auto& table = writer.table();
  writer.check(running, over, &changed, number);
  const auto watched = referenced(running, *table);
  if (std::any_of(changed.begin(), changed.end(),
                  [&](auto column) { return watched.count(column) != 0; })) {
    auto before = gone(running, table, row);
    before.now.emplace();
    for (const auto column : watched) (*before.now)[column] = over.cell(column);
    pending.push_back(std::move(before));
  }
  writer.check_unique(running, over, &row, &changed);
  const bool moves = std::any_of(table->key.begin(), table->key.end(), [&](auto column) {
    return changed.count(column) != 0 &&
           !same(row.cell(column), over.cell(column), table->order_type_of(column));
  });
  if (!moves) {
    for (const auto& [column, value] : over.values) {
      if (!table->in_key(column)) row.set_cell(column, value);
    }
    return row;
  }
  auto& fresh = writer.add(running, over);
  row.set_present(false);
  return fresh;
}

// RETURNING: outputs over the rows that were written.
struct Returning {
  std::vector<Output> outputs;
  bool any = false;
};

Returning returning(const Tree& body, Binder& binder, Scope& scope) {
  Returning made;
  made.any = has(body, "returningList");
  scope.clause = "RETURNING";
  scope.queries = false;
  if (made.any) made.outputs = binder.outputs(list(body, "returningList"), scope);
  return made;
}

void return_row(const Returning& what, const Frame& frame, Result& result) {
  if (!what.any) return;
  std::vector<Scalar> values;
  for (const auto& output : what.outputs) values.push_back(output.value->value(frame));
  result.rows.push_back(shown_row(what.outputs, values, frame.running.facts.dialect));
}

using Columns = std::vector<std::size_t>;

// ON CONFLICT, and MySQL's INSERT IGNORE, REPLACE and ON DUPLICATE KEY UPDATE.
struct Conflict {
  enum class Action { kError, kDoNothing, kUpdate, kReplace };
  Action action = Action::kError;
  std::vector<Columns> arbiters;  // unique columns that it is about
  std::vector<Assignment> set;
  ExpressionPtr where;
};

// INSERT after names and types are resolved: rows of expressions, or the rows of a query.
struct Insert {
  TablePtr table;
  bool mysql = false;
  Columns targets;
  bool named = false;  // the statement says its columns
  std::vector<ExpressionPtr> defaults;
  std::vector<std::vector<Assignment>> rows;
  SelectPtr query;
  Conflict conflict;
  Returning back;
  std::vector<Column> columns;
  std::shared_ptr<Writer> writer;
};

void bind_targets(const Tree& body, Insert& insert) {
  const auto& table = *insert.table;
  auto& targets = insert.targets;
  for (const auto& node : list(body, "cols")) {
    understood(body_of(node), "a column", {"name"});
    targets.push_back(column_called(table, text_of(body_of(node), "name")));
    if (std::count(targets.begin(), targets.end(), targets.back()) > 1) {
      throw Raised{{.sqlstate = "42701",
                    .message = fmt::format("column \"{}\" specified more than once",
                                           table.columns[targets.back()].name),
                    .mysql_number = 1110}};
    }
  }
  insert.named = !targets.empty();
  if (insert.named) return;
  for (std::size_t at = 0; at < table.columns.size(); ++at) targets.push_back(at);
}

void check_count(const Insert& insert, std::size_t given) {
  const auto wrong = [](const char* why) {
    throw Raised{{.sqlstate = "42601", .message = why, .mysql_number = 1136}};
  };
  if (given > insert.targets.size()) wrong("INSERT has more expressions than target columns");
  if (given < insert.targets.size() && (insert.named || insert.mysql)) {
    wrong("INSERT has more target columns than expressions");
  }
}

void bind_values(const Tree& select, Binder& binder, Insert& insert) {
  understood(select, "VALUES", {"valuesLists", "limitOption", "op"});
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
      if (column.always) {
        raise("428C9",
              fmt::format("cannot insert a non-DEFAULT value into column \"{}\"", column.name));
      }
      values.push_back({target, in_range(insert.mysql, column, insert.rows.size() + 1, [&] {
                          return binder.assigned(binder.expression(items[at], scope), column);
                        })});
    }
    insert.rows.push_back(std::move(values));
  }
}

void bind_query(const Tree& select, Binder& binder, Insert& insert) {
  binder.coercion.strictness = Coercion::Strict::kEither;
  insert.query = binder.select(select, nullptr);
  binder.coercion.strictness = Coercion::Strict::kError;
  auto& outputs = insert.query->outputs;
  check_count(insert, outputs.size());
  for (std::size_t at = 0; at < outputs.size(); ++at) {
    auto& value = outputs[at].value;
    const auto& column = insert.table->columns[insert.targets[at]];
    if (column.always) not_supported("INSERT … SELECT into a GENERATED ALWAYS column");
    // A literal takes the column's type; nothing else hangs on its type.
    const bool literal = value->kind == Expression::Kind::kConstant &&
                         value->type.type == Type::kText && !insert.query->distinct;
    if (literal) {
      value = is_null(value->constant)
                  ? constant({}, column.type)
                  : binder.assigned(constant(value->constant, {Type::kNull}), column);
    } else if (!can_cast(value->type.type, column.type.type, Context::kAssignment)) {
      if (!(insert.mysql && value->type.type == Type::kBoolean)) {
        (void)binder.assigned(value, column);
      }
    }
  }
}

void add_all_unique(const Table& table, Conflict& conflict) {
  if (!table.key.empty()) conflict.arbiters.push_back(table.key);
  for (const auto& unique : table.uniques) conflict.arbiters.push_back(unique.columns);
}

// ON CONFLICT ON CONSTRAINT name.
void add_constraint(const Table& table, const std::string& wanted, Conflict& conflict) {
  if (!table.key.empty() && table.key_name == wanted) conflict.arbiters.push_back(table.key);
  for (const auto& unique : table.uniques) {
    if (unique.name == wanted) conflict.arbiters.push_back(unique.columns);
  }
  if (conflict.arbiters.empty()) {
    raise("42704",
          fmt::format("constraint \"{}\" for table \"{}\" does not exist", wanted, table.name));
  }
}

// ON CONFLICT (columns).
void add_unique_of(const Table& table, const Tree& infer, Conflict& conflict) {
  understood(infer, "ON CONFLICT", {"indexElems"});
  std::set<std::size_t> wanted;
  for (const auto& element : list(infer, "indexElems")) {
    const auto& one = body_of(element);
    understood(one, "ON CONFLICT", {"name", "ordering", "nulls_ordering"});
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
  understood(clause, "ON CONFLICT", {"action", "infer", "targetList", "whereClause"});
  const auto action = text_of(clause, "action");
  conflict.action = action == "ONCONFLICT_UPDATE"    ? Conflict::Action::kUpdate
                    : action == "ONCONFLICT_REPLACE" ? Conflict::Action::kReplace
                                                     : Conflict::Action::kDoNothing;
  const auto& infer = field(clause, "infer");
  if (infer.is_null()) {
    if (conflict.action == Conflict::Action::kUpdate && !insert.mysql) {
      raise("42601", "ON CONFLICT DO UPDATE requires inference specification or constraint name");
    }
    add_all_unique(table, conflict);
  } else if (has(infer, "conname")) {
    understood(infer, "ON CONFLICT", {"conname"});
    add_constraint(table, text_of(infer, "conname"), conflict);
  } else {
    add_unique_of(table, infer, conflict);
  }
  if (conflict.action != Conflict::Action::kUpdate) return;
  std::vector<Source> both{target, Binder::source(insert.table, "excluded")};
  both.back().hidden = insert.mysql;  // in PostgreSQL a column without its table is ambiguous
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

// INSERT while it runs.
class InsertRun {
 public:
  InsertRun(const Insert& insert, Running& running)
      : insert_(insert),
        running_(running),
        columns_(insert.table->columns),
        outside_{running, nullptr, {}, nullptr} {}

  Result run() {
    result_.has_rows = insert_.back.any;
    result_.columns = insert_.columns;
    auto given = given_rows();
    if (insert_.mysql && !given.empty()) check_defaults();
    for (auto& known : given) {
      ++number_;
      add(known);
    }
    for (auto* row : written_) insert_.writer->check_parents(running_, *row, nullptr);
    if (insert_.mysql && !written_.empty()) note_given_id();
    settle(running_, std::move(pending_));
    for (auto* row : written_) {
      return_row(insert_.back, Frame{running_, nullptr, {row}, nullptr}, result_);
    }
    result_.affected = count_;
    result_.tag = fmt::format("INSERT 0 {}", count_);
    return std::move(result_);
  }

 private:
  using Values = std::map<std::size_t, Scalar>;

  // All that is read for the new rows is read before the first is written.
  std::vector<Values> given_rows() {
    std::vector<Values> given;
    if (insert_.query != nullptr) {
      sql::run(*insert_.query, running_, nullptr, [&](std::vector<Scalar>& values) {
        Values row;
        for (std::size_t at = 0; at < values.size(); ++at) {
          const auto from = insert_.query->outputs[at].value->type.type;
          const auto& column = columns_[insert_.targets[at]];
          row[insert_.targets[at]] = in_range(insert_.mysql, column, given.size() + 1, [&] {
            return insert_.mysql ? mysql_assign(values[at], from, column.type)
                                 : assign(values[at], from, column.type);
          });
        }
        given.push_back(std::move(row));
        return true;
      });
    }
    for (const auto& values : insert_.rows) {
      Values row;
      for (const auto& value : values) {
        row[value.column] = in_range(insert_.mysql, columns_[value.column], given.size() + 1,
                                     [&] { return value.value->value(outside_); });
      }
      given.push_back(std::move(row));
    }
    return given;
  }

  // MySQL: a column without a default is given in every INSERT.
  void check_defaults() const {
    for (std::size_t at = 0; at < columns_.size(); ++at) {
      const auto& column = columns_[at];
      if (!column.not_null || column.counter != nullptr || !column.default_value.is_null()) {
        continue;
      }
      const auto& targets = insert_.targets;
      if (std::find(targets.begin(), targets.end(), at) != targets.end()) continue;
      throw Raised{{.sqlstate = "HY000",
                    .message = fmt::format("Field '{}' doesn't have a default value", column.name),
                    .mysql_number = 1364}};
    }
  }

  // The row with its defaults; `counted` is what a counter gave it, first.
  ValueRow& completed(Values& known, std::uint64_t& counted) {
    std::vector<Scalar> values(columns_.size());
    for (std::size_t at = 0; at < values.size(); ++at) {
      const auto found = known.find(at);
      const auto& counter = columns_[at].counter;
      // MySQL: NULL and 0 ask for the next value; another moves the counter.
      const bool asks =
          insert_.mysql && counter != nullptr &&
          (found == known.end() || is_null(found->second) || counted_number(found->second) == 0);
      if (found == known.end() || asks) {
        values[at] = insert_.defaults[at]->value(outside_);
        if (counter != nullptr && insert_.mysql && counted == 0) {
          counted = static_cast<std::uint64_t>(counted_number(values[at]));
        }
      } else {
        values[at] = std::move(found->second);
        if (insert_.mysql && counter != nullptr) counter->reached(counted_number(values[at]));
      }
    }
    return running_.keep<ValueRow>(std::move(values));
  }

  StoredRow* twin(Row& row) {
    for (const auto& columns : insert_.conflict.arbiters) {
      if (auto* other = insert_.writer->twin(running_, row, columns, nullptr)) return other;
    }
    return nullptr;
  }

  void add(Values& known) {
    std::uint64_t counted = 0;
    auto& row = completed(known, counted);
    insert_.writer->check(running_, row, nullptr, number_);
    auto* other = twin(row);
    if (other != nullptr && insert_.conflict.action == Conflict::Action::kDoNothing) return;
    if (other != nullptr && insert_.conflict.action == Conflict::Action::kReplace) {
      for (; other != nullptr; other = twin(row)) remove(*other);
    }
    if (other != nullptr) return update(*other, row);
    insert_.writer->check_unique(running_, row, nullptr, nullptr);
    auto& fresh = insert_.writer->add(running_, row);
    if (result_.last_insert_id == 0) result_.last_insert_id = counted;
    touched_.insert(&fresh);
    written_.push_back(&fresh);
    ++count_;
  }

  // REPLACE deletes, and what it puts there instead comes too late for children.
  void remove(StoredRow& other) {
    std::vector<Gone> replaced{gone(running_, insert_.table, other)};
    other.set_present(false);
    settle(running_, std::move(replaced));
    ++count_;
  }

  void update(StoredRow& other, ValueRow& row) {
    if (!insert_.mysql && touched_.count(&other) != 0) {
      raise("21000", "ON CONFLICT DO UPDATE command cannot affect row a second time");
    }
    const auto& conflict = insert_.conflict;
    Frame frame{running_, nullptr, {&other, &row}, nullptr};
    if (conflict.where != nullptr && !holds(conflict.where, frame)) return;
    auto& over = running_.keep<Overlay>(other);
    compute(*insert_.table, conflict.set, frame, 0, over, number_);
    const auto changed = columns_set(conflict.set);
    auto& fresh = rewrite(running_, *insert_.writer, {other, over, changed, number_}, pending_);
    if (insert_.mysql) settle(running_, std::exchange(pending_, {}));
    touched_.insert(&fresh);
    count_ += insert_.mysql ? 2 : 1;
    written_.push_back(&fresh);
  }

  // MySQL's LAST_INSERT_ID() of a statement that gave the value of the counter's column itself.
  void note_given_id() {
    for (std::size_t at = 0; at < columns_.size(); ++at) {
      if (columns_[at].counter == nullptr || result_.last_insert_id != 0) continue;
      result_.last_insert_id =
          static_cast<std::uint64_t>(counted_number(written_.back()->cell(at)));
      result_.given_insert_id = true;
    }
  }

  const Insert& insert_;
  Running& running_;
  const std::vector<ColumnInfo>& columns_;
  Frame outside_;
  Result result_;
  std::vector<Row*> written_;
  std::vector<Gone> pending_;
  std::set<const StoredRow*> touched_;
  std::uint64_t count_ = 0;
  std::size_t number_ = 0;  // of the row, from 1
};

Plan plan_insert(const Tree& body, Binder& binder) {
  understood(body, "INSERT",
             {"relation", "cols", "selectStmt", "onConflictClause", "returningList", "override"});
  if (text_of(body, "override") != "OVERRIDING_NOT_SET") not_supported("OVERRIDING");
  const auto dialect = binder.coercion.dialect();
  binder.coercion.strictness = Coercion::Strict::kError;
  auto insert = std::make_shared<Insert>();
  insert->mysql = dialect == Dialect::kMysql;
  insert->table = binder.table(field(body, "relation"));
  std::string name = insert->table->name;
  if (has(field(body, "relation"), "alias")) name = text_of(body["relation"]["alias"], "aliasname");
  bind_targets(body, *insert);
  for (const auto& column : insert->table->columns) {
    insert->defaults.push_back(default_of(binder, column));
  }
  if (!has(body, "selectStmt")) {
    insert->rows.emplace_back();
  } else if (const auto& select = body_of(field(body, "selectStmt")); has(select, "valuesLists")) {
    bind_values(select, binder, *insert);
  } else {
    bind_query(select, binder, *insert);
  }
  std::vector<Source> sources{Binder::source(insert->table, name)};
  if (has(body, "onConflictClause")) {
    bind_conflict(field(body, "onConflictClause"), binder, sources[0], *insert);
  }
  Scope scope;
  scope.sources = &sources;
  insert->back = returning(body, binder, scope);
  insert->columns = columns_of(insert->back.outputs, dialect);
  insert->writer = std::make_shared<Writer>(binder, insert->table);
  return {"INSERT", insert->back.any, true, insert->columns,
          [insert](Running& running) { return InsertRun(*insert, running).run(); }};
}

// MySQL's INSERT IGNORE.
bool ignores(const Tree& body, Dialect dialect) {
  const auto& clause = field(body, "onConflictClause");
  return dialect == Dialect::kMysql && !clause.is_null() &&
         text_of(clause, "action") == "ONCONFLICT_NOTHING" && field(clause, "infer").is_null();
}

// Values that are wrong are made right there, and rows without a parent left out.
Plan forgiving(const Tree& body, Binder& binder) {
  const auto refused = [](const auto& work) {
    try {
      return work();
    } catch (const Raised& raised) {
      const auto& state = raised.error.sqlstate;
      const bool of_value = state.starts_with("22") || state == "01000" || state == "HY000" ||
                            state == "23502" || state == "23503" || state == "23514";
      if (raised.ended || !of_value) throw;
      not_supported("INSERT IGNORE of a row that has another error than a duplicate key");
    }
  };
  auto plan = refused([&] { return plan_insert(body, binder); });
  plan.run = [run = std::move(plan.run), refused](Running& running) {
    return refused([&] { return run(running); });
  };
  return plan;
}

// Whether the value depends on a column of the row that is updated, in a sub-query too.
bool depends_on(const Expression& value, std::size_t column) {
  const bool itself = value.kind == Expression::Kind::kColumn && value.depth == 0 &&
                      value.source == 0 && value.column == column;
  const std::pair<std::size_t, std::size_t> named{0, column};
  return itself ||
         std::find(value.outside.begin(), value.outside.end(), named) != value.outside.end() ||
         std::any_of(value.parts.begin(), value.parts.end(),
                     [&](const auto& part) { return depends_on(*part, column); });
}

// Whether one of them reads a column that another has assigned before.
bool sees_to_its_left(const std::vector<Assignment>& set) {
  for (auto one = set.begin(); one != set.end(); ++one) {
    for (auto left = set.begin(); left != one; ++left) {
      if (depends_on(*one->value, left->column)) return true;
    }
  }
  return false;
}

// Whether a sub-query in the clause has the table among its own.
bool names_table(const Tree& clause, const Table& table, const Binder& binder) {
  if (clause.is_object() && clause.contains("RangeVar") &&
      binder.table(clause["RangeVar"]).get() == &table)
    return true;
  return clause.is_structured() && std::any_of(clause.begin(), clause.end(), [&](const Tree& part) {
           return names_table(part, table, binder);
         });
}

// LIMIT of UPDATE and DELETE.
std::size_t rows_asked(const ExpressionPtr& limit, const Frame& frame) {
  if (limit == nullptr) return std::numeric_limits<std::size_t>::max();
  const auto value = limit->value(frame);
  if (is_null(value)) not_supported("LIMIT NULL");
  const auto count = std::get<std::int64_t>(value);
  if (count < 0) raise("42601", "LIMIT must not be negative");
  return static_cast<std::size_t>(count);
}

// UPDATE or DELETE after names and types are resolved.
struct Change {
  bool update = false;
  TablePtr table;
  std::shared_ptr<Select> select = std::make_shared<Select>();  // the rows; no outputs
  std::vector<Assignment> set;
  Returning back;
  std::vector<Column> columns;
  std::shared_ptr<Writer> writer;
};

// UPDATE or DELETE while it runs.
class ChangeRun {
 public:
  ChangeRun(const Change& change, Running& running)
      : change_(change), running_(running), frame_{running, nullptr, {}, nullptr} {}

  Result run() {
    find();
    if (!change_.select->sorts.empty()) sort();
    write();
    Result result;
    result.has_rows = change_.back.any;
    result.columns = change_.columns;
    for (auto& one : found_) {
      return_row(change_.back, Frame{running_, nullptr, one.rows, nullptr}, result);
    }
    result.affected = found_.size();
    result.tag = fmt::format("{} {}", change_.update ? "UPDATE" : "DELETE", found_.size());
    return result;
  }

 private:
  struct Found {
    StoredRow* row;
    std::vector<Row*> rows;
    Overlay* over;
    std::vector<Scalar> order;
  };

  void assign_values(Found& one, std::size_t number) {
    if (change_.update) compute(*change_.table, change_.set, frame_, 0, *one.over, number);
  }

  // All rows, and their new values, before the first is written.
  void find() {
    const auto& select = *change_.select;
    frame_.rows.resize(select.sources.size(), &running_.null_row);
    const bool open = std::all_of(select.gate.begin(), select.gate.end(),
                                  [&](const auto& condition) { return holds(condition, frame_); });
    most_ = rows_asked(select.limit, frame_);
    if (!open || most_ == 0) return;
    std::set<const Row*> seen;
    enumerate(*select.from, select.sources, frame_, [&] {
      if (!seen.insert(frame_.rows[0]).second) return true;
      auto* row = static_cast<StoredRow*>(frame_.rows[0]);
      found_.push_back({row, frame_.rows, &running_.keep<Overlay>(*row), {}});
      for (const auto& sort : select.sorts) {
        found_.back().order.push_back(sort.value->value(frame_));
      }
      if (!select.sorts.empty()) return true;
      assign_values(found_.back(), found_.size());
      return found_.size() != most_;
    });
  }

  void sort() {
    const bool mysql = running_.facts.dialect == Dialect::kMysql;
    std::stable_sort(found_.begin(), found_.end(), [&](const Found& left, const Found& right) {
      return sorted_before(change_.select->sorts, left.order, right.order, mysql);
    });
    if (found_.size() > most_) {
      found_.erase(found_.begin() + static_cast<std::ptrdiff_t>(most_), found_.end());
    }
    std::size_t number = 0;
    for (auto& one : found_) {
      frame_.rows = one.rows;
      assign_values(one, ++number);
    }
  }

  void write() {
    std::vector<Gone> pending;
    const auto changed = columns_set(change_.set);
    std::size_t number = 0;
    for (auto& one : found_) {
      ++number;
      if (change_.update) {
        one.rows[0] =
            &rewrite(running_, *change_.writer, {*one.row, *one.over, changed, number}, pending);
      } else {
        pending.push_back(gone(running_, change_.table, *one.row));
        one.row->set_present(false);
      }
      // MySQL looks for children row by row, PostgreSQL in the end.
      if (running_.facts.dialect == Dialect::kMysql) settle(running_, std::exchange(pending, {}));
    }
    if (change_.update) {
      for (auto& one : found_) change_.writer->check_parents(running_, *one.rows[0], &changed);
    }
    settle(running_, std::move(pending));
  }

  const Change& change_;
  Running& running_;
  Frame frame_;
  std::size_t most_ = 0;
  std::vector<Found> found_;
};

Plan plan_change(const Tree& body, Binder& binder, bool update) {
  if (update) {
    understood(body, "UPDATE",
               {"relation", "targetList", "whereClause", "fromClause", "returningList",
                "sortClause", "limitCount"});
  } else {
    understood(
        body, "DELETE",
        {"relation", "usingClause", "whereClause", "returningList", "sortClause", "limitCount"});
  }
  const auto dialect = binder.coercion.dialect();
  if (update) binder.coercion.strictness = Coercion::Strict::kEither;
  auto change = std::make_shared<Change>();
  change->update = update;
  const auto& select = change->select;
  Scope scope;
  scope.sources = &select->sources;
  const auto table = change->table = binder.table(field(body, "relation"));
  Tree items = Tree::array();
  items.push_back({{"RangeVar", body["relation"]}});
  for (const auto& item : list(body, update ? "fromClause" : "usingClause")) items.push_back(item);
  select->from = binder.from(items, scope, select->sources);
  ExpressionPtr where;
  if (has(body, "whereClause")) {
    where =
        binder.coercion.condition(binder.expression(field(body, "whereClause"), scope), "WHERE");
    binder.place(where, select->from.get(), select->sources, select->gate);
  }
  binder.finish(*select->from, select->sources);
  auto& set = change->set;
  if (update) {
    scope.clause = "UPDATE";
    binder.coercion.strictness = Coercion::Strict::kError;
    set = assignments(list(body, "targetList"), *table, binder, scope);
    binder.coercion.strictness = Coercion::Strict::kEither;
  }
  // There all values are computed of the old ones if a sub-query looks at the table.
  if (dialect == Dialect::kMysql && sees_to_its_left(set) &&
      (names_table(field(body, "whereClause"), *table, binder) ||
       names_table(field(body, "targetList"), *table, binder) ||
       names_table(field(body, "sortClause"), *table, binder))) {
    not_supported(
        "an assignment that reads a column assigned to its left, in an UPDATE with a sub-query on "
        "the same table");
  }
  // MySQL's: PostgreSQL's grammar has neither.
  select->sorts = binder.order(list(body, "sortClause"), scope);
  Scope limits;
  limits.clause = "LIMIT";
  select->limit = binder.bound_of_rows(body, "limitCount", limits);
  change->back = returning(body, binder, scope);
  change->columns = columns_of(change->back.outputs, dialect);
  change->writer = std::make_shared<Writer>(binder, table);
  return {update ? "UPDATE" : "DELETE", change->back.any, true, change->columns,
          [change](Running& running) { return ChangeRun(*change, running).run(); }};
}

}  // namespace

Datum shown(const Scalar& value, Type type, Dialect dialect) {
  if (is_null(value)) return std::nullopt;
  if (type == Type::kBoolean && dialect == Dialect::kMysql)
    return std::get<bool>(value) ? "1" : "0";
  if (dialect == Dialect::kMysql && (type == Type::kDouble || type == Type::kReal)) {
    return mysql_text_of(std::get<double>(value), type == Type::kReal);
  }
  return to_text(value, type);
}

Type shown_type(Type type, Dialect dialect) {
  return type == Type::kBoolean && dialect == Dialect::kMysql ? Type::kSmallint : type;
}

void clear(Running& running, const TablePtr& table) {
  for (auto* row : running.rows(table)) row->set_present(false);
}

std::optional<Plan> plan(const Tree& statement, const Catalog::State& catalog, Dialect dialect,
                         std::vector<Type>& parameters, const std::vector<ExpressionPtr>* given) {
  const auto kind = kind_of(statement);
  const auto& body = body_of(statement);
  Binder binder(catalog, dialect, parameters);
  binder.given = given;
  if (kind == "SelectStmt") return plan_select(body, binder);
  if (kind == "InsertStmt")
    return ignores(body, dialect) ? forgiving(body, binder) : plan_insert(body, binder);
  if (kind == "UpdateStmt") return plan_change(body, binder, true);
  if (kind == "DeleteStmt") return plan_change(body, binder, false);
  return std::nullopt;
}

}  // namespace cupel::sql
