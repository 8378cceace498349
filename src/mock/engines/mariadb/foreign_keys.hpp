// Foreign keys of the tables of a statement: their definitions from the statement that makes a
// table, their texts, and the tables that a check opens besides those that the server has opened.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mock/engines/mariadb/server.hpp"
#include "mock/engines/mariadb/weak_table.hpp"

namespace cupel::engines::mariadb {

// "./database/table", whose parts are encoded.
struct TableName {
  std::string database, table;
};
TableName name_of_path(std::string_view path);
std::string path_of(const std::string& database, const std::string& table);
bool is_temporary_name(std::string_view path);

// Tables that a statement has opened for checks, until it ends.
class RelatedTables {
 public:
  RelatedTables() = default;
  ~RelatedTables() { close(); }
  RelatedTables(const RelatedTables&) = delete;
  RelatedTables& operator=(const RelatedTables&) = delete;
  // Null: there is none. It may change rows if `writes`.
  TABLE* open(THD* thd, const std::string& database, const std::string& table, bool writes);
  void close();

  // Of the last check that failed.
  std::string violated;

 private:
  std::map<std::pair<std::string, bool>, TABLE*> tables_;
};

// The foreign keys of the table that a statement makes: those of CREATE TABLE, or the old ones and
// the new ones of ALTER TABLE. None: one refers to columns or a table that are not there.
std::optional<std::vector<ForeignKey>> foreign_keys_of_statement(THD* thd, const char* path,
                                                                 const TABLE& form,
                                                                 const HA_CREATE_INFO& options);
// An index whose first columns are these. None: there is none.
std::optional<uint> index_of(const TABLE& table, const std::vector<std::string>& columns);
Field* field_of(const TABLE& table, const std::string& column);
// For the server's lists; in the memory of the statement.
FOREIGN_KEY_INFO* info_of(THD* thd, const TableName& child, const ForeignKey& key);
// "CONSTRAINT `a_ibfk_1` FOREIGN KEY …"; the parent's database is named if it is another one.
std::string text_of(const ForeignKey& key, const std::string& database);

}  // namespace cupel::engines::mariadb
