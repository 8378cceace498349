// Tables made and dropped; see the header.
#include "sql/exec/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sql/parse/sql_words.hpp"

namespace cupel::sql {

namespace {

std::string joined(const Table& table, const std::vector<std::size_t>& columns,
                   const char* ending) {
  std::string name = table.name;
  for (const auto column : columns) name += "_" + table.columns[column].name;
  return name + ending;
}

class TableBuilder {
 public:
  explicit TableBuilder(Tables& catalog) : catalog_(catalog) {}

  TablePtr make(const Tree& body) {
    check_fields(body, "CREATE TABLE", {"relation", "tableElts", "oncommit", "if_not_exists"});
    const auto& relation = field(body, "relation");
    check_fields(relation, "a table name", {"relname", "inh", "relpersistence", "schemaname"});
    if (text_of(relation, "relpersistence") == "t") not_supported("a temporary table");
    table_->name = text_of(relation, "relname");
    const auto schema = text_of(relation, "schemaname");
    if (!schema.empty() && schema != "public") {
      raise("3F000", fmt::format("schema \"{}\" does not exist", schema));
    }
    // Columns before constraints, which may stand before them.
    for (const auto& element : list(body, "tableElts")) {
      if (kind_of(element) == "ColumnDef") {
        add_column(body_of(element));
      } else if (kind_of(element) != "Constraint") {
        not_supported(in_sql(kind_of(element)));
      }
    }
    for (const auto& element : list(body, "tableElts")) {
      if (kind_of(element) == "Constraint") {
        add_constraint(body_of(element), std::nullopt);
        continue;
      }
      const auto& column = body_of(element);
      for (const auto& constraint : list(column, "constraints")) {
        add_constraint(body_of(constraint), table_->column(text_of(column, "colname")));
      }
    }
    for (const auto column : table_->key) {
      auto& one = table_->columns[column];
      one.not_null = true;
      // Names of keys are the values themselves; these have several spellings of one.
      if (one.type.type == Type::kDouble ||
          (one.type.type == Type::kNumeric && one.type.precision < 0)) {
        not_supported(fmt::format("a primary key of type {}", type_name(one.type.type)));
      }
    }
    check_defaults();
    table_->prefix = catalog_.new_prefix(table_->name);
    table_->id = catalog_.new_id();
    return table_;
  }

 private:
  void add_column(const Tree& body) {
    check_fields(body, "a column", {"colname", "typeName", "is_local", "constraints"});
    constexpr std::size_t kMostColumns = 1600;
    if (table_->columns.size() == kMostColumns) {
      raise("54011", "tables can have at most 1600 columns");
    }
    ColumnInfo column;
    column.name = text_of(body, "colname");
    if (table_->column(column.name)) {
      raise("42701", fmt::format("column \"{}\" specified more than once", column.name));
    }
    bool serial = false;
    column.type = Binder::type(field(body, "typeName"), &serial);
    if (serial) {
      column.counter = std::make_shared<Counter>();
      column.not_null = true;
    }
    table_->columns.push_back(std::move(column));
  }

  std::vector<std::size_t> columns_named(const std::vector<std::string>& names) const {
    std::vector<std::size_t> columns;
    for (const auto& name : names) {
      const auto found = table_->column(name);
      if (!found) raise("42703", fmt::format("column \"{}\" named in key does not exist", name));
      if (std::find(columns.begin(), columns.end(), *found) != columns.end()) {
        raise("42701", fmt::format("column \"{}\" appears twice in a constraint", name));
      }
      columns.push_back(*found);
    }
    return columns;
  }

  void add_constraint(const Tree& body, std::optional<std::size_t> of) {
    const auto type = text_of(body, "contype");
    const auto name = text_of(body, "conname");
    const auto keys = [&] {
      return of ? std::vector<std::size_t>{*of} : columns_named(strings_of(body, "keys"));
    };
    if (type == "CONSTR_NULL") {
      check_fields(body, "NULL", {"contype", "conname"});
    } else if (type == "CONSTR_NOTNULL") {
      check_fields(body, "NOT NULL", {"contype", "conname"});
      table_->columns[*of].not_null = true;
    } else if (type == "CONSTR_DEFAULT") {
      check_fields(body, "DEFAULT", {"contype", "raw_expr", "conname"});
      table_->columns[*of].default_value = field(body, "raw_expr");
    } else if (type == "CONSTR_PRIMARY") {
      check_fields(body, "PRIMARY KEY", {"contype", "conname", "keys"});
      if (!table_->key.empty()) {
        raise("42P16",
              fmt::format("multiple primary keys for table \"{}\" are not allowed", table_->name));
      }
      table_->key = keys();
      table_->key_name = name.empty() ? table_->name + "_pkey" : name;
    } else if (type == "CONSTR_UNIQUE") {
      check_fields(body, "UNIQUE", {"contype", "conname", "keys"});
      const auto columns = keys();
      table_->uniques.push_back({name.empty() ? joined(*table_, columns, "_key") : name, columns});
    } else if (type == "CONSTR_FOREIGN") {
      add_foreign_key(body, of);
    } else {
      not_supported("the constraint " + type.substr(std::min<std::size_t>(type.size(), 7)));
    }
  }

  void add_foreign_key(const Tree& body, std::optional<std::size_t> of) {
    check_fields(body, "FOREIGN KEY",
                 {"contype", "conname", "pktable", "fk_attrs", "pk_attrs", "fk_matchtype",
                  "fk_upd_action", "fk_del_action", "initially_valid"});
    if (text_of(body, "fk_matchtype") != "s") not_supported("MATCH FULL");
    ForeignKey made;
    made.columns = of ? std::vector<std::size_t>{*of} : columns_named(strings_of(body, "fk_attrs"));
    made.parent = text_of(field(body, "pktable"), "relname");
    const auto parent = made.parent == table_->name ? TablePtr(table_) : catalog_.find(made.parent);
    if (parent == nullptr)
      raise("42P01", fmt::format("relation \"{}\" does not exist", made.parent));
    for (const auto& column : strings_of(body, "pk_attrs")) {
      const auto found = parent->column(column);
      if (!found) {
        raise("42703",
              fmt::format("column \"{}\" referenced in foreign key constraint does not exist",
                          column));
      }
      made.parent_columns.push_back(*found);
    }
    if (!has(body, "pk_attrs")) {
      made.parent_columns = parent->key;
      if (parent->key.empty()) {
        raise("42704",
              fmt::format("there is no primary key for referenced table \"{}\"", made.parent));
      }
    }
    if (made.parent_columns.size() != made.columns.size()) {
      raise("42830", "number of referencing and referenced columns for foreign key disagree");
    }
    const auto matches = [&](const std::vector<std::size_t>& columns) {
      return std::set<std::size_t>(columns.begin(), columns.end()) ==
             std::set<std::size_t>(made.parent_columns.begin(), made.parent_columns.end());
    };
    if (!(!parent->key.empty() && matches(parent->key)) &&
        std::none_of(parent->uniques.begin(), parent->uniques.end(),
                     [&](const Unique& unique) { return matches(unique.columns); })) {
      raise("42830", fmt::format("there is no unique constraint matching given keys for referenced "
                                 "table \"{}\"",
                                 made.parent));
    }
    for (std::size_t at = 0; at < made.columns.size(); ++at) {
      const auto child = table_->columns[made.columns[at]].type.type;
      const auto theirs = parent->columns[made.parent_columns[at]].type.type;
      const bool same = child == theirs || (is_integer(child) && is_integer(theirs)) ||
                        (is_string(child) && is_string(theirs));
      if (!same && is_number(child) && is_number(theirs)) {
        not_supported("a foreign key between these types");
      }
      if (!same) {
        raise("42804", fmt::format("foreign key constraint cannot be implemented: {} and {}",
                                   type_name(child), type_name(theirs)));
      }
    }
    for (const char* action : {"fk_upd_action", "fk_del_action"}) {
      const auto code = text_of(body, action);
      if (code == "c" || code == "n" || code == "d") {
        not_supported("CASCADE or SET in a foreign key");
      }
    }
    made.name = text_of(body, "conname");
    if (made.name.empty()) made.name = joined(*table_, made.columns, "_fkey");
    table_->foreign_keys.push_back(std::move(made));
  }

  // Defaults are bound once now, so that their errors come here.
  void check_defaults() {
    std::vector<Type> none;
    Binder binder(catalog_, none);
    for (const auto& column : table_->columns) {
      if (column.default_value.is_null()) continue;
      if (column.counter != nullptr)
        raise("42601", "multiple default values specified for a column");
      Scope scope;
      scope.clause = "DEFAULT expressions";
      scope.queries = false;
      (void)binder.assigned(binder.expression(column.default_value, scope), column);
    }
  }

  Tables& catalog_;
  std::shared_ptr<Table> table_ = std::make_shared<Table>();
};

void refuse_referenced(const Tables& catalog, const std::string& name,
                       const std::set<std::string>& together) {
  for (const auto& other : catalog.all()) {
    if (together.count(other->name) != 0) continue;
    for (const auto& foreign : other->foreign_keys) {
      if (foreign.parent != name) continue;
      raise("2BP01", fmt::format("cannot drop table {} because other objects depend on it", name));
    }
  }
}

Result drop(const Tree& body, Tables& catalog, std::vector<std::function<void()>>& undo) {
  check_fields(body, "DROP", {"objects", "removeType", "behavior", "missing_ok"});
  const auto what = text_of(body, "removeType");
  Result result;
  if (what != "OBJECT_TABLE") not_supported("DROP of what is no table");
  std::set<std::string> names;
  std::vector<std::string> order;
  for (const auto& object : list(body, "objects")) {
    const auto& items = list(body_of(object), "items");
    const auto name = text_of(body_of(items.back()), "sval");
    if (catalog.find(name) == nullptr) {
      if (!flag_of(body, "missing_ok")) {
        raise("42P01", fmt::format("table \"{}\" does not exist", name));
      }
      result.notices.push_back({fmt::format("table \"{}\" does not exist, skipping", name)});
      continue;
    }
    if (names.insert(name).second) order.push_back(name);
  }
  const bool cascade = text_of(body, "behavior") == "DROP_CASCADE";
  for (const auto& name : order) {
    if (!cascade) refuse_referenced(catalog, name, names);
  }
  const auto put = [&](const std::string& name, TablePtr table) {
    auto before = catalog.put(name, std::move(table));
    undo.emplace_back([&catalog, name, before] { catalog.put(name, before); });
  };
  for (const auto& name : order) {
    put(name, nullptr);
    // CASCADE takes the foreign keys that refer to it, not their tables.
    for (const auto& other : catalog.all()) {
      auto without = std::make_shared<Table>(*other);
      std::erase_if(without->foreign_keys,
                    [&](const ForeignKey& key) { return key.parent == name; });
      if (without->foreign_keys.size() != other->foreign_keys.size()) put(other->name, without);
    }
  }
  result.tag = "DROP TABLE";
  return result;
}

}  // namespace

bool is_schema_statement(const Tree& statement) {
  const auto kind = kind_of(statement);
  return kind == "CreateStmt" || kind == "DropStmt" || kind == "IndexStmt";
}

Result change_schema(const Tree& statement, Tables& catalog,
                     std::vector<std::function<void()>>& undo) {
  const auto kind = kind_of(statement);
  const auto& body = body_of(statement);
  Result result;
  const auto put = [&](const std::string& name, TablePtr table) {
    auto before = catalog.put(name, std::move(table));
    undo.emplace_back([&catalog, name, before] { catalog.put(name, before); });
  };
  if (kind == "CreateStmt") {
    const auto name = text_of(field(body, "relation"), "relname");
    result.tag = "CREATE TABLE";
    if (catalog.find(name) != nullptr) {
      if (!flag_of(body, "if_not_exists")) {
        raise("42P07", fmt::format("relation \"{}\" already exists", name));
      }
      result.notices.push_back(
          {fmt::format("relation \"{}\" already exists, skipping", name), "42P07"});
      return result;
    }
    put(name, TableBuilder(catalog).make(body));
    return result;
  }
  if (kind == "DropStmt") return drop(body, catalog, undo);
  // An index has no effect.
  check_fields(body, "CREATE INDEX",
               {"idxname", "relation", "accessMethod", "indexParams", "if_not_exists", "concurrent",
                "whereClause"});
  std::vector<Type> none;
  const auto table = Binder(catalog, none).table(field(body, "relation"));
  for (const auto& element : list(body, "indexParams")) {
    const auto name = text_of(body_of(element), "name");
    if (!name.empty() && !table->column(name))
      raise("42703", fmt::format("column \"{}\" does not exist", name));
  }
  result.tag = "CREATE INDEX";
  return result;
}

}  // namespace cupel::sql
