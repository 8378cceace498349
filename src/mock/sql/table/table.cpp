// Tables and the names of their rows; see the header.
#include "mock/sql/table/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cupel::sql {

std::string escaped(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '%' || c == '/' || c == ',' || c == '@' || static_cast<unsigned char>(c) < 0x20) {
      text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text;
}

std::string unescaped(std::string_view name) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'A' + 10; };
  std::string text;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (name[at] == '%' && at + 2 < name.size()) {
      text += static_cast<char>(digit(name[at + 1]) * 16 + digit(name[at + 2]));
      at += 2;
    } else {
      text += name[at];
    }
  }
  return text;
}

std::optional<std::size_t> Table::column(std::string_view column_name) const {
  for (std::size_t at = 0; at < columns.size(); ++at) {
    if (columns[at].name == column_name) return at;
  }
  return std::nullopt;
}

std::optional<std::size_t> Table::in_key(std::size_t column) const {
  const auto at = std::find(key.begin(), key.end(), column);
  if (at == key.end()) return std::nullopt;
  return static_cast<std::size_t>(at - key.begin());
}

std::string Table::row_key(const std::vector<Scalar>& values) const {
  auto text = prefix;
  for (std::size_t at = 0; at < values.size(); ++at) {
    text += escaped(canonical(values[at], type_of(key[at])));
    if (at + 1 < key.size()) text += ',';
  }
  return text;
}

std::string Table::row_number_key(std::int64_t number) const {
  return prefix + "#" + std::to_string(number);
}

std::string Table::cell_key(std::string_view row, std::size_t column) const {
  return std::string(row) + "/" + escaped(columns[column].name);
}

std::optional<std::vector<Scalar>> Table::key_values(std::string_view row) const {
  row.remove_prefix(prefix.size());
  if (row.find('/') != row.npos) return std::nullopt;
  std::vector<Scalar> values;
  if (key.empty()) {
    values.push_back(from_text(row.substr(1), {Type::kBigint}));
    return values;
  }
  for (std::size_t at = 0; at < key.size(); ++at) {
    const auto end = std::min(row.find(','), row.size());
    values.push_back(from_text(unescaped(row.substr(0, end)), columns[key[at]].type));
    row.remove_prefix(std::min(end + 1, row.size()));
  }
  return values;
}

TablePtr Tables::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = tables_.find(name);
  return found == tables_.end() ? nullptr : found->second;
}

std::vector<TablePtr> Tables::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<TablePtr> all;
  for (const auto& [name, table] : tables_) all.push_back(table);
  return all;
}

TablePtr Tables::put(const std::string& name, TablePtr table) {
  const std::lock_guard lock(mutex_);
  auto& place = tables_[name];
  auto before = std::move(place);
  if (table == nullptr) {
    tables_.erase(name);
  } else {
    place = std::move(table);
  }
  return before;
}

std::string Tables::new_prefix(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const int generation = ++generations_[name];
  return escaped(name) + (generation == 1 ? "/" : fmt::format("@{}/", generation));
}

std::uint32_t Tables::new_id() {
  const std::lock_guard lock(mutex_);
  return ++last_id_;
}

void Tables::reset() {
  const std::lock_guard lock(mutex_);
  ignores_locks = false;
  last_id_ = kFirstId - 1;
  tables_.clear();
  generations_.clear();
}

}  // namespace cupel::sql
