// Tables made and dropped; see the header.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "mock/sql/exec/run.hpp"

namespace cupel::sql {

namespace {

class TableBuilder {
 public:
  explicit TableBuilder(Tables& catalog) : catalog_(catalog) {}

  TablePtr make(const Tree& body) {
    table_->name = table_name(field(body, "relation"));
    // Columns before constraints, which may stand before them.
    for (const auto& element : list(body, "tableElts")) {
      if (kind_of(element) == "ColumnDef") add_column(body_of(element));
    }
    for (const auto& element : list(body, "tableElts")) {
      if (kind_of(element) == "Constraint") add_constraint(body_of(element), std::nullopt);
      for (const auto& constraint : list(body_of(element), "constraints")) {
        add_constraint(body_of(constraint), table_->column(text_of(body_of(element), "colname")));
      }
    }
    for (const auto column : table_->key) {
      auto& one = table_->columns[column];
      one.not_null = true;
      // Names of keys are the values themselves; these have several spellings of one.
      if (one.type.type == Type::kNumeric && one.type.size < 0) {
        not_supported("a primary key of type numeric without a scale");
      }
    }
    table_->prefix = catalog_.new_prefix(table_->name);
    table_->id = catalog_.new_id();
    return table_;
  }

 private:
  void add_column(const Tree& body) {
    constexpr std::size_t kMostColumns = 1600;
    if (table_->columns.size() == kMostColumns) {
      raise("54011", "tables can have at most 1600 columns");
    }
    ColumnInfo column;
    column.name = text_of(body, "colname");
    if (table_->column(column.name)) {
      raise("42701", "column \"{}\" specified more than once", column.name);
    }
    bool serial = false;
    column.type = Binder::type(field(body, "typeName"), &serial);
    if (serial) column.counter = std::make_shared<Counter>();
    column.not_null = serial;
    table_->columns.push_back(std::move(column));
  }

  Columns columns_named(const std::vector<std::string>& names) const {
    Columns columns;
    for (const auto& name : names) {
      const auto found = table_->column(name);
      if (!found) raise("42703", "column \"{}\" named in key does not exist", name);
      if (std::find(columns.begin(), columns.end(), *found) != columns.end()) {
        raise("42701", "column \"{}\" appears twice in a constraint", name);
      }
      columns.push_back(*found);
    }
    return columns;
  }

  // "orders_customer_fkey", where the statement has no name.
  std::string name_of(const Tree& body, const Columns& columns, const char* ending) const {
    if (has(body, "conname")) return text_of(body, "conname");
    auto name = table_->name;
    for (const auto column : columns) name += "_" + table_->columns[column].name;
    return name + ending;
  }

  // `of`: the column that it is written at.
  void add_constraint(const Tree& body, std::optional<std::size_t> of) {
    const auto type = text_of(body, "contype");
    const auto columns = [&](const char* names) {
      return of ? Columns{*of} : columns_named(strings_of(body, names));
    };
    if (type == "CONSTR_NOTNULL") {
      table_->columns[*of].not_null = true;
    } else if (type == "CONSTR_DEFAULT") {
      set_default(table_->columns[*of], field(body, "raw_expr"));
    } else if (type == "CONSTR_PRIMARY") {
      if (!table_->key.empty()) {
        raise("42P16", "multiple primary keys for table \"{}\" are not allowed", table_->name);
      }
      table_->key = columns("keys");
      table_->uniques.insert(table_->uniques.begin(), {name_of(body, {}, "_pkey"), table_->key});
    } else if (type == "CONSTR_UNIQUE") {
      const auto unique = columns("keys");
      table_->uniques.push_back({name_of(body, unique, "_key"), unique});
    } else if (type == "CONSTR_FOREIGN") {
      add_foreign_key(body, columns("fk_attrs"));
    } else {
      not_supported("the constraint {}", type.substr(std::min<std::size_t>(type.size(), 7)));
    }
  }

  // It is bound once now, so that its errors come here.
  void set_default(ColumnInfo& column, const Tree& value) {
    if (column.counter != nullptr || !column.default_value.is_null()) {
      raise("42601", "multiple default values specified for a column");
    }
    column.default_value = value;
    std::vector<Type> none;
    (void)Binder(catalog_, none).default_of(column);
  }

  void add_foreign_key(const Tree& body, const Columns& columns) {
    const auto name = table_name(field(body, "pktable"));
    const auto parent = name == table_->name ? TablePtr(table_) : catalog_.find(name);
    if (parent == nullptr) raise("42P01", "relation \"{}\" does not exist", name);
    auto named = strings_of(body, "pk_attrs");
    if (named.empty()) {
      for (const auto column : parent->key) named.push_back(parent->columns[column].name);
    }
    if (named.size() != columns.size()) {
      raise("42830", "number of referencing and referenced columns for foreign key disagree");
    }
    ForeignKey made{name_of(body, columns, "_fkey"), name, {}};
    for (const auto column : parent->key) {
      const auto place = std::find(named.begin(), named.end(), parent->columns[column].name);
      if (place == named.end()) break;
      made.columns.push_back(columns[static_cast<std::size_t>(place - named.begin())]);
      if (!can_cast(table_->type_of(made.columns.back()), parent->type_of(column),
                    Context::kAssignment)) {
        not_supported("a foreign key to another type");
      }
    }
    if (made.columns.empty() || made.columns.size() != columns.size() ||
        parent->key.size() != columns.size()) {
      not_supported("a foreign key to columns that are not the primary key");
    }
    table_->foreign_keys.push_back(std::move(made));
  }

  Tables& catalog_;
  std::shared_ptr<Table> table_ = std::make_shared<Table>();
};

class SchemaChange {
 public:
  SchemaChange(Tables& catalog, std::vector<std::function<void()>>& undo)
      : catalog_(catalog), undo_(undo) {}

  Result create(const Tree& body) {
    Result result{.tag = "CREATE TABLE"};
    const auto name = table_name(field(body, "relation"));
    const auto message = fmt::format("relation \"{}\" already exists", name);
    if (catalog_.find(name) == nullptr) {
      put(name, TableBuilder(catalog_).make(body));
    } else if (flag_of(body, "if_not_exists")) {
      result.notices.push_back({message + ", skipping", "42P07"});
    } else {
      raise("42P07", "{}", message);
    }
    return result;
  }

  Result drop(const Tree& body) {
    Result result{.tag = "DROP TABLE"};
    std::set<std::string> names;
    for (const auto& object : list(body, "objects")) {
      const auto name = table_name(body_of(object));
      if (catalog_.find(name) != nullptr) {
        names.insert(name);
      } else if (flag_of(body, "missing_ok")) {
        result.notices.push_back({fmt::format("table \"{}\" does not exist, skipping", name)});
      } else {
        raise("42P01", "table \"{}\" does not exist", name);
      }
    }
    for (const auto& other : catalog_.all()) {
      if (names.contains(other->name)) continue;
      auto without = std::make_shared<Table>(*other);
      const auto taken = std::erase_if(
          without->foreign_keys, [&](const ForeignKey& key) { return names.contains(key.parent); });
      if (taken == 0) continue;
      if (text_of(body, "behavior") != "DROP_CASCADE") {
        raise("2BP01", "cannot drop a table because other objects depend on it");
      }
      put(other->name, without);
    }
    for (const auto& name : names) put(name, nullptr);
    return result;
  }

  // An index has no effect, and may have the name of another.
  Result index(const Tree& body) {
    std::vector<Type> none;
    Binder binder(catalog_, none);
    std::vector<Source> sources{binder.source(field(body, "relation"))};
    for (const auto& element : list(body, "indexParams")) {
      const auto column = text_of(body_of(element), "name");
      if (!sources[0].table->column(column)) {
        raise("42703", "column \"{}\" does not exist", column);
      }
    }
    if (has(body, "whereClause")) {
      Scope scope;
      scope.sources = &sources;
      scope.queries = false;
      (void)binder.condition(field(body, "whereClause"), scope, "WHERE");
    }
    return {.tag = "CREATE INDEX"};
  }

 private:
  void put(const std::string& name, TablePtr table) {
    auto before = catalog_.put(name, std::move(table));
    undo_.emplace_back([&catalog = catalog_, name, before] { catalog.put(name, before); });
  }

  Tables& catalog_;
  std::vector<std::function<void()>>& undo_;
};

}  // namespace

Result change_schema(const Tree& statement, Tables& catalog,
                     std::vector<std::function<void()>>& undo) {
  const auto kind = kind_of(statement);
  const auto& body = body_of(statement);
  SchemaChange change(catalog, undo);
  if (kind == "CreateStmt") return change.create(body);
  return kind == "DropStmt" ? change.drop(body) : change.index(body);
}

}  // namespace cupel::sql
