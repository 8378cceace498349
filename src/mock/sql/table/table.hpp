// What tables there are, and how their rows are named in the store.
//
//   accounts/7            whether the row is there: 1, or 0 or null
//   accounts/7/balance    a cell; columns of the primary key have none, the name says them
//   order_line/1,2,3/qty  a composite primary key
//   log/#12               a table without primary key: a hidden row number
//   accounts@2/7          the second table that was called accounts
//
// In names, % / , and control characters are written %2F and so on.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/mock/store.hpp"
#include "mock/sql/parse/tree.hpp"
#include "mock/sql/value/scalar.hpp"

namespace cupel::sql {

// Of a SERIAL column, or of hidden row numbers. Not weakened,
// and not taken back by a rollback, as in PostgreSQL.
struct Counter {
  std::atomic<std::int64_t> last{0};
  std::int64_t next() { return ++last; }
};

struct ColumnInfo {
  std::string name;
  FullType type;
  bool not_null = false;
  Tree default_value;                // null: none
  std::shared_ptr<Counter> counter;  // null: none
};

using Columns = std::vector<std::size_t>;

struct Unique {
  std::string name;  // "accounts_pkey"
  Columns columns;
};

struct ForeignKey {
  std::string name;
  std::string parent;
  Columns columns;  // one for each of the parent's primary key, in its order
};

struct Table {
  std::string name;
  std::string prefix;    // "accounts/"
  std::uint32_t id = 0;  // differs from that of every other table, as PostgreSQL's OID
  std::vector<ColumnInfo> columns;
  Columns key;                  // the primary key; empty: hidden row numbers
  std::vector<Unique> uniques;  // the primary key, too, before the others
  std::vector<ForeignKey> foreign_keys;
  std::shared_ptr<Counter> row_numbers = std::make_shared<Counter>();

  [[nodiscard]] std::optional<std::size_t> column(std::string_view column_name) const;
  [[nodiscard]] Type type_of(std::size_t column) const { return columns[column].type.type; }
  // Position of a column in the key.
  [[nodiscard]] std::optional<std::size_t> in_key(std::size_t column) const;

  // "accounts/7" of the values of the key, "accounts/7," of the first values of a composite one.
  [[nodiscard]] std::string row_key(const std::vector<Scalar>& values) const;
  [[nodiscard]] std::string row_number_key(std::int64_t number) const;
  [[nodiscard]] std::string cell_key(std::string_view row, std::size_t column) const;
  // The key's values (or the row number) of a name under `prefix`; nullopt for a cell.
  [[nodiscard]] std::optional<std::vector<Scalar>> key_values(std::string_view row) const;
};
using TablePtr = std::shared_ptr<const Table>;

std::string escaped(std::string_view name);
std::string unescaped(std::string_view name);

class Tables {
 public:
  explicit Tables(mock::Level level) : level_(level) {}
  [[nodiscard]] mock::Level level() const { return level_; }
  [[nodiscard]] TablePtr find(const std::string& name) const;
  [[nodiscard]] std::vector<TablePtr> all() const;
  // Null takes it away. Gives what was there before, so that a rollback can put it back.
  TablePtr put(const std::string& name, TablePtr table);
  std::string new_prefix(const std::string& name);
  std::uint32_t new_id();
  void reset();

  std::atomic<bool> ignores_locks = false;

 private:
  static constexpr std::uint32_t kFirstId = 16384;  // PostgreSQL's first OID of a user's object

  mock::Level level_;
  mutable std::mutex mutex_;
  std::map<std::string, TablePtr> tables_;
  std::map<std::string, int> generations_;
  std::uint32_t last_id_ = kFirstId - 1;
};

}  // namespace cupel::sql
