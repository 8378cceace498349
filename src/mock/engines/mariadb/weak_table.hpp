// WeakTable: a table of the engine. Catalog: all of them, by the paths of their files.
//
// The server keeps the definitions of tables in files; their rows are here, in its memory. Catalog
// can keep the databases as they are and restore them later, files and rows.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mock/engines/mariadb/row_store.hpp"
#include "mock/engines/messages.hpp"

namespace cupel::engines::mariadb {

enum class TableKind : std::uint8_t {
  kWeak,
  // Every session sees the latest version of each row, and the store does not know the table:
  // temporary tables and those of the server itself.
  kStrong,
  kSequence,  // likewise, and a rollback does not undo changes
};

// Of a child's table, whose columns refer to those of a parent.
struct ForeignKey {
  enum class Action : std::uint8_t { kRestrict, kNoAction, kCascade, kSetNull };
  std::string name, parent_database, parent_table;
  std::vector<std::string> columns, parent_columns;
  Action on_delete = Action::kRestrict, on_update = Action::kRestrict;
};

struct WeakTable {
  WeakTable(std::uint32_t number_, std::size_t indexes, TableKind kind_)
      : number(number_), kind(kind_), rows(indexes) {}
  WeakTable(const WeakTable& other)
      : number(other.number),
        kind(other.kind),
        rows(other.rows),
        next_auto_increment(other.next_auto_increment.load()),
        unsent(other.unsent),
        foreign_keys(other.foreign_keys) {}
  WeakTable& operator=(const WeakTable&) = delete;

  const std::uint32_t number;
  const TableKind kind;
  RowStore rows;
  std::atomic<std::uint64_t> next_auto_increment = 1;
  [[nodiscard]] bool strong() const { return kind != TableKind::kWeak; }
  // The rows of a table that ALTER TABLE copies, until the table has its name. Only the session
  // that copies uses the table meanwhile.
  std::vector<Write> unsent;
  std::vector<ForeignKey> foreign_keys;
};
using TablePtr = std::shared_ptr<WeakTable>;

class Catalog {
 public:
  // Replaces a table of this path.
  TablePtr make(const std::string& path, std::size_t indexes, TableKind kind);
  // Null: there is none.
  TablePtr find(const std::string& path) const;
  bool remove(const std::string& path);
  bool rename(const std::string& from, const std::string& to);
  // By their paths, the tables that have foreign keys, and those.
  struct Reference {
    std::string path;
    ForeignKey key;
  };
  // To this parent.
  [[nodiscard]] std::vector<Reference> references_to(const std::string& database,
                                                     const std::string& table) const;
  // The parent has another name now.
  void rename_parent(const std::string& database, const std::string& table,
                     const std::string& new_database, const std::string& new_table);

  // The store knows the rows by this number.
  [[nodiscard]] std::uint32_t generation() const { return generation_; }
  // The databases in the folder `data` as they are now. No table is in use.
  void keep(const std::filesystem::path& data);
  // Makes them again, those of the last keep(), in a new generation; there are no others. Returns
  // the generation that was kept.
  std::uint32_t restore(const std::filesystem::path& data);

 private:
  mutable std::mutex mutex_;  // of what follows
  std::map<std::string, TablePtr> tables_, kept_;
  std::uint32_t last_number_ = 0, kept_generation_ = 0;
  std::atomic<std::uint32_t> generation_ = 1;
};

}  // namespace cupel::engines::mariadb
