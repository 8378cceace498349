// An index is a sorted list of pointers: an insertion moves those behind it, which is fast for the
// tables of a test.
#include "mock/engines/mariadb/row_store.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace cupel::engines::mariadb {

namespace {

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

RowStore::RowStore(const RowStore& other) : indexes_(other.indexes_.size()) {
  const std::shared_lock lock(other.mutex_);
  rows_ = other.rows_;
  for (auto& row : rows_) row.changing = 0;
  versions_ = other.versions_;
  for (std::size_t i = 0; i < indexes_.size(); ++i) {
    for (const auto* entry : other.indexes_[i].sorted) indexes_[i].entries.push_back(*entry);
    for (const auto& entry : indexes_[i].entries) indexes_[i].sorted.push_back(&entry);
  }
}

RowNumber RowStore::add_row(std::string key_text) {
  const std::lock_guard lock(mutex_);
  rows_.push_back({.key_text = std::move(key_text)});
  return static_cast<RowNumber>(rows_.size());
}

VersionNumber RowStore::add_version(std::string bytes) {
  const std::lock_guard lock(mutex_);
  versions_.push_back(std::move(bytes));
  return static_cast<VersionNumber>(versions_.size());
}

const std::string& RowStore::bytes(VersionNumber version) const {
  const std::shared_lock lock(mutex_);
  return versions_[version - 1];
}

const std::string& RowStore::key_text(RowNumber row) const {
  const std::shared_lock lock(mutex_);
  return rows_[row - 1].key_text;
}

RowNumber RowStore::row_count() const {
  const std::shared_lock lock(mutex_);
  return static_cast<RowNumber>(rows_.size());
}

void RowStore::share_row(RowNumber row) {
  const std::lock_guard lock(mutex_);
  rows_[row - 1].shared = true;
}

bool RowStore::is_shared(RowNumber row) const {
  const std::shared_lock lock(mutex_);
  return rows_[row - 1].shared;
}

void RowStore::begin_change(RowNumber row) {
  const std::lock_guard lock(mutex_);
  ++rows_[row - 1].changing;
}

void RowStore::end_change(RowNumber row) {
  const std::lock_guard lock(mutex_);
  --rows_[row - 1].changing;
}

bool RowStore::is_changing(RowNumber row) const {
  const std::shared_lock lock(mutex_);
  return rows_[row - 1].changing > 0;
}

void RowStore::set_latest(RowNumber row, VersionNumber version) {
  const std::lock_guard lock(mutex_);
  rows_[row - 1].latest = version;
}

VersionNumber RowStore::latest(RowNumber row) const {
  const std::shared_lock lock(mutex_);
  return rows_[row - 1].latest;
}

std::size_t RowStore::place_of(const Index& index, const KeyOrder& order, std::string_view key,
                               RowNumber row) {
  const auto found =
      std::partition_point(index.sorted.begin(), index.sorted.end(), [&](const Entry* entry) {
        const int compared = order(bytes_of(entry->key), bytes_of(key), key.size());
        return compared < 0 || (compared == 0 && entry->row < row);
      });
  return static_cast<std::size_t>(found - index.sorted.begin());
}

void RowStore::add_entry(std::size_t number, const KeyOrder& order, std::string_view key,
                         RowNumber row) {
  const std::lock_guard lock(mutex_);
  auto& index = indexes_[number];
  const auto place = place_of(index, order, key, row);
  if (!is_at(index, place, order, key) || index.sorted[place]->row != row)
    insert(index, place, key, row);
}

RowNumber RowStore::row_of_key(std::size_t number, const KeyOrder& order, std::string_view key,
                               const std::string& key_text) {
  const std::lock_guard lock(mutex_);
  auto& index = indexes_[number];
  const auto place = place_of(index, order, key, 0);
  if (is_at(index, place, order, key)) return index.sorted[place]->row;
  rows_.push_back({.key_text = key_text});
  insert(index, place, key, static_cast<RowNumber>(rows_.size()));
  return static_cast<RowNumber>(rows_.size());
}

bool RowStore::is_at(const Index& index, std::size_t place, const KeyOrder& order,
                     std::string_view key) {
  return place < index.sorted.size() &&
         order(bytes_of(index.sorted[place]->key), bytes_of(key), key.size()) == 0;
}

void RowStore::insert(Index& index, std::size_t place, std::string_view key, RowNumber row) {
  index.entries.push_back({std::string(key), row});
  index.sorted.insert(index.sorted.begin() + static_cast<std::ptrdiff_t>(place),
                      &index.entries.back());
}

std::size_t RowStore::edge_of(const Index& index, const KeyOrder& order, std::string_view start,
                              Edge edge) {
  const auto& sorted = index.sorted;
  const auto found = std::partition_point(sorted.begin(), sorted.end(), [&](const Entry* entry) {
    const int compared = order(bytes_of(entry->key), bytes_of(start), start.size());
    return compared < 0 || (compared == 0 && edge == Edge::kAfter);
  });
  return static_cast<std::size_t>(found - sorted.begin());
}

const RowStore::Entry* RowStore::first_from(std::size_t number, const KeyOrder& order,
                                            std::string_view start, Edge edge) const {
  const std::shared_lock lock(mutex_);
  const auto& index = indexes_[number];
  const auto place = edge_of(index, order, start, edge);
  return place < index.sorted.size() ? index.sorted[place] : nullptr;
}

const RowStore::Entry* RowStore::last_before(std::size_t number, const KeyOrder& order,
                                             std::string_view start, Edge edge) const {
  const std::shared_lock lock(mutex_);
  const auto& index = indexes_[number];
  const auto place = edge_of(index, order, start, edge);
  return place > 0 ? index.sorted[place - 1] : nullptr;
}

std::vector<const RowStore::Entry*> RowStore::after(std::size_t number, const KeyOrder& order,
                                                    const Entry& entry, std::size_t most) const {
  const std::shared_lock lock(mutex_);
  const auto& index = indexes_[number];
  const auto first = place_of(index, order, entry.key, entry.row) + 1;
  const auto end = first + std::min(index.sorted.size() - first, most);
  const auto at = [&](std::size_t place) {
    return index.sorted.begin() + static_cast<std::ptrdiff_t>(place);
  };
  return {at(first), at(end)};
}

const RowStore::Entry* RowStore::before(std::size_t number, const KeyOrder& order,
                                        const Entry& entry) const {
  const std::shared_lock lock(mutex_);
  const auto& index = indexes_[number];
  const auto place = place_of(index, order, entry.key, entry.row);
  return place > 0 ? index.sorted[place - 1] : nullptr;
}

std::vector<const RowStore::Entry*> RowStore::entries(std::size_t number, const KeyOrder& order,
                                                      std::string_view start) const {
  const std::shared_lock lock(mutex_);
  const auto& index = indexes_[number];
  const auto at = [&](Edge edge) {
    return index.sorted.begin() + static_cast<std::ptrdiff_t>(edge_of(index, order, start, edge));
  };
  return {at(Edge::kBefore), at(Edge::kAfter)};
}

std::size_t RowStore::count_before(std::size_t number, const KeyOrder& order,
                                   std::string_view start, Edge edge) const {
  const std::shared_lock lock(mutex_);
  return edge_of(indexes_[number], order, start, edge);
}

}  // namespace cupel::engines::mariadb
