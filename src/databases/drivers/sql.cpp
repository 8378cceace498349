// SQL texts: see the header. Names need no quoting: statement.hpp promises lower
// case letters, digits and _.
#include "databases/drivers/sql.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text/json.hpp"
#include "databases/drivers/cells.hpp"

namespace cupel::drivers::sql {

using workload::ColumnType;
using workload::Datum;
using workload::Row;
using workload::Statement;
using workload::StatementKind;
using workload::Table;

namespace {

// Text compares byte by byte everywhere, so that keys that differ are different
// rows and ranges have one order: in MySQL's default collations 'a' = 'A'.
std::string_view column_type(const Dialect& dialect, const Table& table, ColumnType type,
                             bool in_key) {
  switch (type) {
    case ColumnType::kInteger:
      return "BIGINT";
    case ColumnType::kText:
      switch (dialect.product) {
        case Product::kSqlite:
          return "TEXT";
        case Product::kPostgres:
          return "TEXT COLLATE \"C\"";
        // Four key columns of VARCHAR(255) in utf8mb4 would be longer than InnoDB's
        // longest key.
        case Product::kMysql:
          return in_key || !table.plain ? "VARBINARY(255)" : "LONGBLOB";
      }
      break;
    case ColumnType::kList:
      if (dialect.lists == ListForm::kJson && dialect.product != Product::kSqlite) {
        return dialect.product == Product::kPostgres ? "JSONB" : "JSON";
      }
      return dialect.product == Product::kMysql ? "LONGTEXT CHARACTER SET utf8mb4" : "TEXT";
  }
  return "";
}

std::string to_json(const Datum& datum) {
  if (const auto* text = std::get_if<std::string>(&datum)) {
    // Bytes that are no UTF-8 become U+FFFD: JSON has no word for them.
    return text::quoted(*text);
  }
  return workload::to_string(datum);
}

std::string quoted(const Dialect& dialect, std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || (c == '\\' && dialect.product == Product::kMysql)) out += c;
    out += c;
  }
  return out + '\'';
}

std::string parameter(const Dialect& dialect, std::size_t position) {
  return dialect.product == Product::kPostgres ? fmt::format("${}", position + 1) : "?";
}

// Builds one text: the SQL and the slots of its parameters, side by side.
struct Builder {
  const Dialect& dialect;
  const Table& table;
  std::string sql = {};
  std::vector<Slot> slots = {};

  std::string bind(Slot::Of of, std::size_t index, ColumnType type) {
    slots.push_back({of, static_cast<std::uint32_t>(index), type});
    return parameter(dialect, slots.size() - 1);
  }
  void where_key() {
    for (std::size_t i = 0; i < table.key.size(); ++i) {
      sql += i == 0 ? " WHERE " : " AND ";
      sql += table.key[i].name + " = " + bind(Slot::Of::kKey, i, table.key[i].type);
    }
  }
  // INSERT INTO t (k, c) VALUES (?, ?), with values[first] for the first column.
  void insert(std::span<const std::uint32_t> columns, std::size_t first = 0) {
    sql += "INSERT INTO " + table.name + " (";
    std::string marks;
    for (std::size_t i = 0; i < table.key.size(); ++i) {
      sql += (i == 0 ? "" : ", ") + table.key[i].name;
      marks += (i == 0 ? "" : ", ") + bind(Slot::Of::kKey, i, table.key[i].type);
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto& column = table.columns[columns[i]];
      sql += ", " + column.name;
      marks += ", " + first_value(column, first + i);
    }
    sql += ") VALUES (" + marks + ')';
  }
  // A value as a new row holds it: a list of this one element.
  std::string first_value(const workload::Column& column, std::size_t index) {
    auto mark = bind(Slot::Of::kValue, index, column.type);
    if (column.type != ColumnType::kList || dialect.lists == ListForm::kText) return mark;
    switch (dialect.product) {
      case Product::kSqlite:
        return "json_array(" + mark + ')';
      case Product::kPostgres:
        return "jsonb_build_array(" + mark + "::jsonb)";
      case Product::kMysql:
        return "JSON_ARRAY(" + mark + ')';
    }
    return mark;
  }
  // `cell` with the element values[0] at its end.
  std::string appended(const std::string& cell) {
    auto mark = bind(Slot::Of::kValue, 0, ColumnType::kList);
    if (dialect.lists == ListForm::kText) {
      return dialect.product == Product::kMysql
                 ? fmt::format("CONCAT(COALESCE(CONCAT(NULLIF({}, ''), ','), ''), {})", cell, mark)
                 : fmt::format("COALESCE(NULLIF({}, '') || ',', '') || {}", cell, mark);
    }
    switch (dialect.product) {
      case Product::kSqlite:
        return fmt::format("json_insert(COALESCE({}, '[]'), '$[#]', {})", cell, mark);
      case Product::kPostgres:
        return fmt::format("COALESCE({}, '[]'::jsonb) || jsonb_build_array({}::jsonb)", cell, mark);
      case Product::kMysql:
        return fmt::format("JSON_ARRAY_APPEND(COALESCE({}, JSON_ARRAY()), '$', {})", cell, mark);
    }
    return mark;
  }
  void on_conflict() {
    if (dialect.product == Product::kMysql) {
      sql += " ON DUPLICATE KEY UPDATE ";
      return;
    }
    sql += " ON CONFLICT (";
    for (std::size_t i = 0; i < table.key.size(); ++i) {
      sql += (i == 0 ? "" : ", ") + table.key[i].name;
    }
    sql += ") DO UPDATE SET ";
  }
};

std::vector<std::uint32_t> all_columns(const Table& table) {
  std::vector<std::uint32_t> columns(table.columns.size());
  for (std::uint32_t i = 0; i < columns.size(); ++i) columns[i] = i;
  return columns;
}

}  // namespace

base::Result<ListForm> parse_list_form(const std::optional<std::string>& text) {
  if (!text || *text == "text") return ListForm::kText;
  if (*text == "json") return ListForm::kJson;
  return base::Error{
      .message = fmt::format("found list={} in the URL, expected list=text or list=json", *text)};
}

std::string create_table(const Dialect& dialect, const Table& table) {
  std::string sql = "CREATE TABLE " + table.name + " (";
  std::string key;
  for (const auto& column : table.key) {
    sql += fmt::format("{} {} NOT NULL, ", column.name,
                       column_type(dialect, table, column.type, true));
    key += (key.empty() ? "" : ", ") + column.name;
  }
  for (const auto& column : table.columns) {
    sql += fmt::format("{} {}, ", column.name, column_type(dialect, table, column.type, false));
  }
  sql += "PRIMARY KEY (" + key + "))";
  switch (dialect.product) {
    case Product::kSqlite:
      return sql + " WITHOUT ROWID";
    case Product::kMysql:
      return sql + " ENGINE=InnoDB";
    case Product::kPostgres:
      break;
  }
  return sql;
}

std::string drop_table(const Table& table) {
  return "DROP TABLE IF EXISTS " + table.name;
}

std::string literal(const Dialect& dialect, const Datum& datum) {
  if (const auto* integer = std::get_if<std::int64_t>(&datum)) return fmt::to_string(*integer);
  if (const auto* text = std::get_if<std::string>(&datum)) return quoted(dialect, *text);
  return "NULL";
}

std::string insert_rows(const Dialect& dialect, const Table& table, std::span<const Row> rows) {
  std::string sql = "INSERT INTO " + table.name + " (";
  for (std::size_t i = 0; i < table.key.size(); ++i) {
    sql += (i == 0 ? "" : ", ") + table.key[i].name;
  }
  for (const auto& column : table.columns) sql += ", " + column.name;
  sql += ") VALUES ";
  for (const auto& row : rows) {
    sql += &row == rows.data() ? "(" : ", (";
    for (std::size_t i = 0; i < row.key.size(); ++i) {
      if (i > 0) sql += ", ";
      sql += literal(dialect, row.key[i]);
    }
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      sql += ", ";
      const auto& datum = row.values[i];
      if (table.columns[i].type == ColumnType::kList &&
          !std::holds_alternative<std::monostate>(datum)) {
        // A list with one element.
        sql += quoted(dialect, dialect.lists == ListForm::kJson ? '[' + to_json(datum) + ']'
                                                                : workload::to_string(datum));
      } else {
        sql += literal(dialect, datum);
      }
    }
    sql += ')';
  }
  return sql;
}

const Datum& bound(const Dialect& dialect, const Slot& slot, const Statement& statement,
                   Datum& scratch) {
  const auto& values = slot.of == Slot::Of::kKey     ? statement.key
                       : slot.of == Slot::Of::kValue ? statement.values
                                                     : statement.high;
  const Datum& datum = values[slot.index];
  if (std::holds_alternative<std::monostate>(datum)) return datum;
  if (slot.type == ColumnType::kList && dialect.lists == ListForm::kJson) {
    if (dialect.product != Product::kPostgres) return datum;
    return scratch = to_json(datum);
  }
  if (slot.type == ColumnType::kInteger || std::holds_alternative<std::string>(datum)) return datum;
  return scratch = workload::to_string(datum);
}

std::vector<Datum> list_elements(ListForm form, const Datum& cell) {
  std::vector<Datum> elements;
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) {
    if (!std::holds_alternative<std::monostate>(cell)) elements.push_back(cell);
    return elements;
  }
  if (form == ListForm::kText) {
    for (std::size_t from = 0; from < text->size();) {
      const auto comma = std::min(text->find(',', from), text->size());
      const auto part = std::string_view(*text).substr(from, comma - from);
      if (const auto integer = to_integer(part)) {
        elements.emplace_back(*integer);
      } else {
        elements.emplace_back(std::string(part));
      }
      from = comma + 1;
    }
    // What ends with a comma has an empty element after it.
    if (!text->empty() && text->back() == ',') elements.emplace_back(std::string());
    return elements;
  }
  if (text->empty()) return elements;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_array()) {
    elements.emplace_back(*text);
    return elements;
  }
  for (const auto& element : json) {
    if (element.is_number_integer() &&
        !(element.is_number_unsigned() && element.get<std::uint64_t>() > INT64_MAX)) {
      elements.emplace_back(element.get<std::int64_t>());
    } else if (element.is_null()) {
      elements.emplace_back();
    } else {
      elements.emplace_back(element.is_string() ? element.get<std::string>() : element.dump());
    }
  }
  return elements;
}

Texts::Texts(Dialect dialect, workload::Schema schema)
    : dialect_(dialect), schema_(std::move(schema)) {}

Text Texts::text(std::string sql, std::vector<Slot> slots, std::uint32_t key_columns) {
  return {texts_++, std::move(sql), std::move(slots), key_columns};
}

base::Result<const Plan*> Texts::plan(const Statement& statement) {
  if (auto wrong = misfit(schema_, statement); !wrong.empty()) {
    return base::Error{.message = "a statement that does not fit the schema: " + wrong};
  }
  const bool absent_wanted = statement.kind == StatementKind::kCompareAndSet &&
                             std::holds_alternative<std::monostate>(statement.values[0]);
  std::string name;
  name += static_cast<char>('0' + static_cast<int>(statement.kind));
  name += absent_wanted ? '+' : ' ';
  const auto add = [&](std::uint32_t number) {
    name.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  add(statement.table);
  for (const auto column : statement.columns) add(column);
  auto found = plans_.find(name);
  if (found == plans_.end()) found = plans_.emplace(std::move(name), make(statement)).first;
  return &found->second;
}

Plan Texts::make(const Statement& statement) {
  const auto& table = schema_.tables[statement.table];
  const auto columns = statement.columns.empty() ? all_columns(table) : statement.columns;
  Builder main{dialect_, table};
  Builder other{dialect_, table};
  Plan plan;
  const auto finish = [&](std::uint32_t key_columns = 0) {
    plan.first = text(std::move(main.sql), std::move(main.slots), key_columns);
    if (!other.sql.empty()) plan.if_none = text(std::move(other.sql), std::move(other.slots));
  };
  const auto select = [&](bool with_key) {
    main.sql = "SELECT ";
    if (with_key) main.sql += table.key[0].name;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      main.sql += (i > 0 || with_key ? ", " : "") + table.columns[columns[i]].name;
    }
    main.sql += " FROM " + table.name;
  };
  switch (statement.kind) {
    case StatementKind::kRead:
      select(false);
      main.where_key();
      plan.list = columns.size() == 1 && table.columns[columns[0]].type == ColumnType::kList;
      finish();
      break;
    case StatementKind::kRange:
      select(true);
      main.sql += " WHERE " + table.key[0].name + " BETWEEN " +
                  main.bind(Slot::Of::kKey, 0, table.key[0].type);
      main.sql += " AND " + main.bind(Slot::Of::kHigh, 0, table.key[0].type) + " ORDER BY " +
                  table.key[0].name;
      finish(1);
      break;
    case StatementKind::kWrite: {
      main.sql = "UPDATE " + table.name + " SET ";
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto& column = table.columns[columns[i]];
        main.sql += (i > 0 ? ", " : "") + column.name + " = " + main.first_value(column, i);
      }
      main.where_key();
      other.insert(columns);
      other.on_conflict();
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto& column = table.columns[columns[i]].name;
        other.sql +=
            fmt::format(fmt::runtime(dialect_.product == Product::kMysql ? "{}{} = VALUES({})"
                                                                         : "{}{} = excluded.{}"),
                        i > 0 ? ", " : "", column, column);
      }
      finish();
      break;
    }
    case StatementKind::kInsert:
      main.insert(columns);
      finish();
      break;
    case StatementKind::kDelete:
      main.sql = "DELETE FROM " + table.name;
      main.where_key();
      finish();
      break;
    case StatementKind::kAppend: {
      const auto& column = table.columns[0].name;
      main.sql = "UPDATE " + table.name + " SET " + column + " = " + main.appended(column);
      main.where_key();
      const std::uint32_t only[] = {0};
      other.insert(only);
      other.on_conflict();
      // Another client's row may have come in between: then it is appended to.
      // PostgreSQL needs to know which of the two rows the column is of.
      other.sql +=
          column + " = " +
          other.appended(dialect_.product == Product::kMysql ? column : table.name + '.' + column);
      finish();
      break;
    }
    case StatementKind::kCompareAndSet: {
      const auto& column = table.columns[columns[0]];
      if (std::holds_alternative<std::monostate>(statement.values[0])) {
        plan.absent_wanted = true;
        main.insert(columns, 1);
        if (dialect_.product != Product::kMysql) main.sql += " ON CONFLICT DO NOTHING";
      } else {
        main.sql = "UPDATE " + table.name + " SET " + column.name + " = " +
                   main.bind(Slot::Of::kValue, 1, column.type);
        main.where_key();
        main.sql += " AND " + column.name + " = " + main.bind(Slot::Of::kValue, 0, column.type);
      }
      finish();
      break;
    }
  }
  return plan;
}

}  // namespace cupel::drivers::sql
