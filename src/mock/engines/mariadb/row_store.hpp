// RowStore: the rows of one table, with every version that was ever written, and its indexes.
//
// Rows and versions are numbered from 1; neither is ever removed or changed, since some session may
// see it. An index holds each row once for each key that a version of it has; a reader checks which
// version it sees, and whether that one has the key. The order of an index is the server's, so it
// comes with each call.
//
// Thread safe. References and pointers that it returns stay good for its life.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::engines::mariadb {

using RowNumber = std::uint32_t;
using VersionNumber = std::uint32_t;  // 0: there is none

// Compares the first `length` bytes of two keys: negative, 0 or positive.
using KeyOrder =
    std::function<int(const unsigned char* one, const unsigned char* other, std::size_t length)>;

class RowStore {
 public:
  struct Entry {
    std::string key;
    RowNumber row = 0;
  };
  enum class Edge : std::uint8_t { kBefore, kAfter };  // of the entries that have a key

  explicit RowStore(std::size_t indexes) : indexes_(indexes) {}
  // The same rows, versions and entries; `other` does not change meanwhile.
  RowStore(const RowStore& other);
  RowStore& operator=(const RowStore&) = delete;

  // A row with the text of its primary key; empty: it has none.
  RowNumber add_row(std::string key_text);
  // The row that has this whole key in the index, or else a new one that has it.
  RowNumber row_of_key(std::size_t index, const KeyOrder& order, std::string_view key,
                       const std::string& key_text);
  VersionNumber add_version(std::string bytes);
  [[nodiscard]] const std::string& bytes(VersionNumber version) const;
  [[nodiscard]] const std::string& key_text(RowNumber row) const;
  [[nodiscard]] RowNumber row_count() const;

  // Whether some transaction has committed the row, or tries to; before that nobody else sees it.
  void share_row(RowNumber row);
  [[nodiscard]] bool is_shared(RowNumber row) const;
  // A transaction that is open has written the row, or has not any more.
  void begin_change(RowNumber row);
  void end_change(RowNumber row);
  [[nodiscard]] bool is_changing(RowNumber row) const;
  // The version that every session sees, in tables that are not weak.
  void set_latest(RowNumber row, VersionNumber version);
  [[nodiscard]] VersionNumber latest(RowNumber row) const;

  // Nothing if it is there already.
  void add_entry(std::size_t index, const KeyOrder& order, std::string_view key, RowNumber row);
  // The first entry from this edge of those whose key starts so, and the last one before it; an
  // empty start is that of all. Null: there is none.
  [[nodiscard]] const Entry* first_from(std::size_t index, const KeyOrder& order,
                                        std::string_view start, Edge edge) const;
  [[nodiscard]] const Entry* last_before(std::size_t index, const KeyOrder& order,
                                         std::string_view start, Edge edge) const;
  // The next ones in order, at most so many.
  [[nodiscard]] std::vector<const Entry*> after(std::size_t index, const KeyOrder& order,
                                                const Entry& entry, std::size_t most) const;
  [[nodiscard]] const Entry* before(std::size_t index, const KeyOrder& order,
                                    const Entry& entry) const;
  // All whose key starts so, in order.
  [[nodiscard]] std::vector<const Entry*> entries(std::size_t index, const KeyOrder& order,
                                                  std::string_view start) const;
  // How many there are before this edge.
  [[nodiscard]] std::size_t count_before(std::size_t index, const KeyOrder& order,
                                         std::string_view start, Edge edge) const;
  [[nodiscard]] std::size_t index_count() const { return indexes_.size(); }

 private:
  struct Row {
    std::string key_text;
    bool shared = false;
    VersionNumber latest = 0;
    std::uint32_t changing = 0;  // transactions
  };
  struct Index {
    std::deque<Entry> entries;
    std::vector<const Entry*> sorted;
  };
  static bool is_at(const Index& index, std::size_t place, const KeyOrder& order,
                    std::string_view key);
  static std::size_t edge_of(const Index& index, const KeyOrder& order, std::string_view start,
                             Edge edge);
  static void insert(Index& index, std::size_t place, std::string_view key, RowNumber row);
  static std::size_t place_of(const Index& index, const KeyOrder& order, std::string_view key,
                              RowNumber row);

  mutable std::shared_mutex mutex_;  // of what follows
  std::deque<Row> rows_;
  std::deque<std::string> versions_;
  std::vector<Index> indexes_;
};

}  // namespace cupel::engines::mariadb
