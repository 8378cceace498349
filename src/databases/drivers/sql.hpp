// The SQL of a schema's tables and of statements on them, in the dialects of the
// SQL drivers; text only, no connection.
//
// A list is one cell. As text it is the elements' decimals separated by commas, a
// missing or empty cell being the empty list, and an append is SQL's
// concatenation: one statement that reads and writes the cell inside the
// database. As JSON it is an array, appended to by the database's JSON functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "data/workload/statement.hpp"

namespace cupel::drivers::sql {

enum class Product : std::uint8_t { kSqlite, kPostgres, kMysql };
enum class ListForm : std::uint8_t { kText, kJson };

struct Dialect {
  Product product = Product::kSqlite;
  ListForm lists = ListForm::kText;
};

// Of the URL's option `list`; none given: text.
base::Result<ListForm> parse_list_form(const std::optional<std::string>& text);

std::string create_table(const Dialect& dialect, const workload::Table& table);
std::string drop_table(const workload::Table& table);
// One statement that inserts all rows (at least one), values written out.
std::string insert_rows(const Dialect& dialect, const workload::Table& table,
                        std::span<const workload::Row> rows);
// A value written out: NULL, -7, 'it''s'.
std::string literal(const Dialect& dialect, const workload::Datum& datum);

// Where a parameter's value stands in a statement.
struct Slot {
  enum class Of : std::uint8_t { kKey, kValue, kHigh };
  Of of = Of::kKey;
  std::uint32_t index = 0;
  workload::ColumnType type = workload::ColumnType::kInteger;
};

// One text to prepare. `number` is dense over the texts of one Texts object, so
// that a driver keeps what it prepared in a vector.
struct Text {
  std::uint32_t number = 0;
  std::string sql;
  std::vector<Slot> slots;
  std::uint32_t key_columns = 0;  // of a result's columns, so many first are the row's key
};

// How a statement is run: `first`, and `if_none`, if there is one and `first`
// touched no row.
struct Plan {
  Text first;
  std::optional<Text> if_none;
  bool list = false;           // reads a list
  bool absent_wanted = false;  // a compare-and-set that makes the row: a duplicate key is a failed
                               // comparison (where SQL has no ON CONFLICT DO NOTHING)
};

// What to bind for a slot of a statement that fits the plan: null, an integer or
// text. Text columns are given text, lest a number be compared with them as a
// number; an element of a list in PostgreSQL's JSON is given as JSON, `7` or `"it"`.
// The answer is `scratch` or part of the statement.
const workload::Datum& bound(const Dialect& dialect, const Slot& slot,
                             const workload::Statement& statement, workload::Datum& scratch);

// The elements of a cell that holds a list. What is no integer stays text; what
// is no list at all is one element, as it came.
std::vector<workload::Datum> list_elements(ListForm form, const workload::Datum& cell);

// The plans of statements on a schema, made once each. Not shared by threads.
class Texts {
 public:
  Texts(Dialect dialect, workload::Schema schema);

  [[nodiscard]] const Dialect& dialect() const { return dialect_; }
  [[nodiscard]] const workload::Schema& schema() const { return schema_; }

  // Errors: a statement that does not fit the schema (a column that is not there,
  // too few values …). The plan lives as long as this object.
  base::Result<const Plan*> plan(const workload::Statement& statement);

 private:
  Plan make(const workload::Statement& statement);
  Text text(std::string sql, std::vector<Slot> slots, std::uint32_t key_columns = 0);

  Dialect dialect_;
  workload::Schema schema_;
  std::unordered_map<std::string, Plan> plans_;
  std::uint32_t texts_ = 0;
};

}  // namespace cupel::drivers::sql
