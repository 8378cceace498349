// Statement: what a transaction asks of a database, in words that every driver
// can translate: rows of tables, by primary key.
//
// A key-value store is the table of kv_schema(): integer keys, one column. The
// application workloads have tables of their own. What the clients saw is
// recorded a cell at a time: the key of a cell is the bare primary key in a
// table with `plain` set, else TABLE:PRIMARY-KEY:COLUMN, as in
// "district:1.4:next_order".
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace cupel::workload {

// What a cell holds: null (absent), an integer, or text.
using Datum = std::variant<std::monostate, std::int64_t, std::string>;

enum class ColumnType : std::uint8_t {
  kInteger,  // 64 bits, signed
  kText,     // at most 255 bytes in keys and cells of application tables
  kList,     // of integers; text or JSON inside the database (the driver's choice, documented)
};
struct Column {
  std::string name;  // lower case letters, digits and _; no word that SQL reserves
  ColumnType type = ColumnType::kInteger;
};
struct Table {
  std::string name;
  std::vector<Column> key;      // the primary key: one to four columns, kInteger or kText
  std::vector<Column> columns;  // one or more; exactly one if it is a kList
  bool plain = false;           // one key column, one column: recorded under the bare key
};
struct Schema {
  std::vector<Table> tables;
};

struct Row {
  std::vector<Datum> key;     // one for each key column
  std::vector<Datum> values;  // one for each column asked for
};

enum class StatementKind : std::uint8_t {
  kRead,    // `columns` of the row `key`
  kWrite,   // sets `columns` of the row `key` to `values`; makes the row if it is not there
  kInsert,  // a new row, all columns; a row that is there already fails the transaction
  kDelete,  // removes the row if it is there
  kAppend,  // adds values[0] at the end of the list in the row `key`; makes the row if need be
  kRange,   // `columns` of all rows with key <= row <= `high`, ascending; one key column
  kCompareAndSet,  // the single column: if it holds values[0] (null: the row is absent), set it to
                   // values[1]
};

struct Statement {
  StatementKind kind = StatementKind::kRead;
  std::uint32_t table = 0;  // in the schema
  std::vector<Datum> key = {};
  std::vector<std::uint32_t> columns = {};  // in the table; empty: all of them
  std::vector<Datum> values = {};           // parallel to the columns; a null is filled in by the
                                            // runner with a value never written before (kWrite,
  // kInsert, kAppend, and the new value of kCompareAndSet)
  std::vector<Datum> high = {};  // kRange
};

// What a database answered. Cells as they came: a text in an integer column
// stays a text.
struct Reply {
  std::vector<Row> rows;        // kRead: one, or none if the row is absent. kRange: the rows
  std::vector<Datum> elements;  // kRead of a kList column: the list; rows is then empty
  bool succeeded = true;        // kCompareAndSet: whether it did. kDelete: false if the database
                                // found no row and so wrote nothing
};

// One plain table `cupel_kv`: key `k` integer, column `v` of this type.
Schema kv_schema(ColumnType type = ColumnType::kInteger);

// The key under which a cell is recorded.
Datum cell_name(const Table& table, const std::vector<Datum>& key, std::uint32_t column);

// "null", "7" or the text itself.
std::string to_string(const Datum& datum);

}  // namespace cupel::workload
