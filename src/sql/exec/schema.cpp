// Tables made and dropped; see the header.
#include "sql/exec/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cupel::sql {

namespace {

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
    if (!schema.empty() && schema != "public") not_supported("the schema " + schema);
    // Columns before constraints, which may stand before them.
    for (const auto& element : list(body, "tableElts")) {
      if (kind_of(element) == "ColumnDef") {
        add_column(body_of(element));
      } else if (kind_of(element) != "Constraint") {
        not_supported(in_sql(kind_of(element)));
      }
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
    if (serial) column.counter = std::make_shared<Counter>();
    column.not_null = serial;
    table_->columns.push_back(std::move(column));
  }

  Columns columns_named(const std::vector<std::string>& names) const {
    Columns columns;
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

  // "orders_customer_fkey", where the statement has no name.
  std::string name_of(const Tree& body, const Columns& columns, const char* ending) const {
    if (has(body, "conname")) return text_of(body, "conname");
    auto name = table_->name;
    for (const auto column : columns) name += "_" + table_->columns[column].name;
    return name + ending;
  }

  // `of`: the column that it stands behind.
  void add_constraint(const Tree& body, std::optional<std::size_t> of) {
    const auto type = text_of(body, "contype");
    const auto columns = [&](const char* names) {
      return of ? Columns{*of} : columns_named(strings_of(body, names));
    };
    if (type == "CONSTR_NOTNULL") {
      check_fields(body, "NOT NULL", {"contype", "conname"});
      table_->columns[*of].not_null = true;
    } else if (type == "CONSTR_DEFAULT") {
      check_fields(body, "DEFAULT", {"contype", "raw_expr", "conname"});
      set_default(table_->columns[*of], field(body, "raw_expr"));
    } else if (type == "CONSTR_PRIMARY") {
      check_fields(body, "PRIMARY KEY", {"contype", "conname", "keys"});
      if (!table_->key.empty()) {
        raise("42P16",
              fmt::format("multiple primary keys for table \"{}\" are not allowed", table_->name));
      }
      table_->key = columns("keys");
      table_->uniques.insert(table_->uniques.begin(), {name_of(body, {}, "_pkey"), table_->key});
    } else if (type == "CONSTR_UNIQUE") {
      check_fields(body, "UNIQUE", {"contype", "conname", "keys"});
      const auto unique = columns("keys");
      table_->uniques.push_back({name_of(body, unique, "_key"), unique});
    } else if (type == "CONSTR_FOREIGN") {
      add_foreign_key(body, columns("fk_attrs"));
    } else {
      not_supported("the constraint " + type.substr(std::min<std::size_t>(type.size(), 7)));
    }
  }

  // It is bound once now, so that its errors come here.
  void set_default(ColumnInfo& column, const Tree& value) {
    if (column.counter != nullptr) raise("42601", "multiple default values specified for a column");
    column.default_value = value;
    std::vector<Type> none;
    (void)Binder(catalog_, none).default_of(column);
  }

  void add_foreign_key(const Tree& body, const Columns& columns) {
    check_fields(body, "FOREIGN KEY",
                 {"contype", "conname", "pktable", "fk_attrs", "pk_attrs", "fk_matchtype",
                  "fk_upd_action", "fk_del_action", "initially_valid"});
    if (text_of(body, "fk_matchtype") != "s") not_supported("MATCH FULL");
    for (const char* action : {"fk_upd_action", "fk_del_action"}) {
      const auto code = text_of(body, action);
      if (code != "a" && code != "r") not_supported("CASCADE or SET in a foreign key");
    }
    const auto name = text_of(field(body, "pktable"), "relname");
    const auto parent = name == table_->name ? TablePtr(table_) : catalog_.find(name);
    if (parent == nullptr) raise("42P01", fmt::format("relation \"{}\" does not exist", name));
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
    const auto name = text_of(field(body, "relation"), "relname");
    if (catalog_.find(name) == nullptr) {
      put(name, TableBuilder(catalog_).make(body));
    } else if (flag_of(body, "if_not_exists")) {
      result.notices.push_back(
          {fmt::format("relation \"{}\" already exists, skipping", name), "42P07"});
    } else {
      raise("42P07", fmt::format("relation \"{}\" already exists", name));
    }
    return result;
  }

  Result drop(const Tree& body) {
    check_fields(body, "DROP", {"objects", "removeType", "behavior", "missing_ok"});
    if (text_of(body, "removeType") != "OBJECT_TABLE") not_supported("DROP of what is no table");
    Result result{.tag = "DROP TABLE"};
    std::set<std::string> names;
    for (const auto& object : list(body, "objects")) {
      const auto name = strings_of(body_of(object), "items").back();
      if (catalog_.find(name) != nullptr) {
        names.insert(name);
      } else if (flag_of(body, "missing_ok")) {
        result.notices.push_back({fmt::format("table \"{}\" does not exist, skipping", name)});
      } else {
        raise("42P01", fmt::format("table \"{}\" does not exist", name));
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

 private:
  void put(const std::string& name, TablePtr table) {
    auto before = catalog_.put(name, std::move(table));
    undo_.emplace_back([&catalog = catalog_, name, before] { catalog.put(name, before); });
  }

  Tables& catalog_;
  std::vector<std::function<void()>>& undo_;
};

}  // namespace

bool is_schema_statement(const Tree& statement) {
  const auto kind = kind_of(statement);
  return kind == "CreateStmt" || kind == "DropStmt" || kind == "IndexStmt";
}

Result change_schema(const Tree& statement, Tables& catalog,
                     std::vector<std::function<void()>>& undo) {
  const auto kind = kind_of(statement);
  const auto& body = body_of(statement);
  SchemaChange change(catalog, undo);
  if (kind == "CreateStmt") return change.create(body);
  if (kind == "DropStmt") return change.drop(body);
  // An index has no effect.
  check_fields(body, "CREATE INDEX",
               {"idxname", "relation", "accessMethod", "indexParams", "if_not_exists", "concurrent",
                "whereClause"});
  return {.tag = "CREATE INDEX"};
}

}  // namespace cupel::sql
