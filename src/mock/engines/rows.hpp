// Rows: which row of which table is which key of the mock store, and where its versions are.
//
// A row is known by the position of its first version. Two insertions of one primary key are the
// same row: its key of the store is written twice. The store's values are numbers of versions. A
// row may have a base version, which every session has seen: of a rewritten table, or of a database
// that was made as a copy. The store does not know it; null stands for it.
//
// Not thread safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash_table.hpp"
#include "base/result.hpp"
#include "data/history/history.hpp"
#include "engine/mock/store.hpp"
#include "mock/engines/messages.hpp"
#include "mock/engines/row_texts.hpp"

namespace cupel::engines {

struct RowId {
  std::uint32_t table = 0, row = 0;
  friend auto operator<=>(const RowId&, const RowId&) = default;
};

class Rows {
 public:
  using File = std::pair<std::uint32_t, std::uint32_t>;  // of a table: database and number

  // Tables of other databases than the main one have its name before theirs.
  void name_database(std::uint32_t database, std::string_view name);

  [[nodiscard]] std::optional<RowId> find(const File& file, const Position& first) const;
  // The same of several; most are in the same block as the one before.
  [[nodiscard]] std::vector<std::optional<RowId>> find_each(
      const File& file, const std::vector<Position>& firsts) const;
  // Of the row's key in the store.
  [[nodiscard]] mock::KeyNumber number(const RowId& row, mock::Store& store);
  // The row of this insertion, which may be there already by its primary key.
  RowId add(std::uint32_t database, const Write& insertion);
  // A version of the row, not valid for a deletion, as the store's value. `text` is as in Write.
  mock::Value add_version(const Position& version, std::string_view text);
  // What the store returned for the row; as a number, 0 for null.
  [[nodiscard]] Position version(const RowId& row, const mock::Value& value) const {
    return version(row, number_of(value));
  }
  [[nodiscard]] Position version(const RowId& row, std::uint64_t number) const;
  [[nodiscard]] static std::uint64_t number_of(const mock::Value& value) {
    return static_cast<std::uint64_t>(value.integer);
  }
  void set_latest(const RowId& row, const mock::Value& value);
  // It has a base version, and nobody has committed another.
  [[nodiscard]] bool has_only_base(const RowId& row) const;
  // Every session sees this version from now on.
  void set_base(const RowId& row, const Position& version, std::string_view text);

  [[nodiscard]] static std::string store_key(const RowId& row);
  // Of the table; those of its rows are below it.
  [[nodiscard]] std::string table_key(const File& file);
  // Of a value of a unique key of the table; no range of the table's rows covers it.
  [[nodiscard]] std::string value_key(const File& file, std::string_view text);
  // The keys from the first on, before the second, are those of rows without a base version, also
  // of rows that are not added yet. Of many such ranges the last ones.
  using Range = std::pair<std::string, std::string>;
  [[nodiscard]] const std::vector<Range>& keys_without_base(const File& file);

  // The tables of a database have these rows, too, as their base versions.
  void copy_database(std::uint32_t from, std::uint32_t to);
  // What was committed last becomes the base; only tables of this database stay.
  void start_over(std::uint32_t kept_database);

  // "accounts(5)"
  [[nodiscard]] std::string name(const RowId& row) const;
  // A text with the store's keys replaced by names.
  [[nodiscard]] std::string with_names(std::string text) const;
  // The store's history with rows and values in words.
  [[nodiscard]] base::Result<history::History> in_words(const history::History& history) const;

 private:
  struct Version {
    Position position;
    RowTexts::Text text = {};
  };
  struct Row {
    std::string key;           // primary key; empty: none
    std::uint64_t latest = 0;  // a version, or 0: the base
    Version base = {};
    std::optional<mock::KeyNumber> number = {};  // once somebody has asked for it
  };
  using Block = std::vector<std::uint32_t>;  // by offset: the row that begins there, plus 1
  struct Table {
    File file;
    std::string name;
    std::vector<Row> rows = {};
    base::HashMap<std::uint32_t, Block> blocks = {};
    std::unordered_map<std::string, std::uint32_t> by_key = {};
    std::vector<Range> without_base = {};  // empty: not known
  };

  std::uint32_t table(const File& file);
  Row& row(const RowId& id) { return tables_[id.table].rows[id.row]; }
  [[nodiscard]] const Row& row(const RowId& id) const { return tables_[id.table].rows[id.row]; }
  [[nodiscard]] const Version& latest_version(const Row& row) const;
  // What a value of the store stands for.
  [[nodiscard]] const Version& version_of(const RowId& id, const history::ScalarView& value) const;
  // For each key of a history of the store, the columns in which its versions differ.
  [[nodiscard]] std::vector<std::vector<std::size_t>> changed_columns(
      const history::History& from, const std::vector<RowId>& ids) const;

  std::vector<Table> tables_;
  std::map<File, std::uint32_t> by_file_;
  std::vector<Version> versions_ = {{}};  // from 1
  RowTexts texts_;
  std::map<std::uint32_t, std::string> databases_;
};

// The database whose tables have no prefix.
inline constexpr std::string_view kMainDatabase = "cupel";

}  // namespace cupel::engines
