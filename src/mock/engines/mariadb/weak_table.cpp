// A path of a table is "./database/table", and elsewhere for a temporary one.
#include "mock/engines/mariadb/weak_table.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace cupel::engines::mariadb {

namespace {

namespace fs = std::filesystem;

bool is_of_server(std::string_view database) {
  constexpr std::array<std::string_view, 3> kNames = {"mysql", "performance_schema", "sys"};
  return std::find(kNames.begin(), kNames.end(), database) != kNames.end();
}

bool is_kept(const std::string& path) {
  if (!path.starts_with("./")) return false;
  return !is_of_server(std::string_view(path).substr(2, path.find('/', 2) - 2));
}

fs::path kept_folder(const fs::path& data) {
  auto text = data.string();
  while (text.ends_with('/')) text.pop_back();
  return text + ".kept";
}

// The folders of databases; what is in `to` is replaced.
void copy_databases(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  for (const auto& entry : fs::directory_iterator(from)) {
    const auto name = entry.path().filename();
    if (!entry.is_directory() || is_of_server(name.string()) || name.string().starts_with('#'))
      continue;
    fs::remove_all(to / name);
    fs::copy(entry.path(), to / name, fs::copy_options::recursive);
  }
}

std::map<std::string, TablePtr> copies(const std::map<std::string, TablePtr>& tables) {
  std::map<std::string, TablePtr> made;
  for (const auto& [path, table] : tables) {
    if (is_kept(path)) made.emplace(path, std::make_shared<WeakTable>(*table));
  }
  return made;
}

}  // namespace

TablePtr Catalog::make(const std::string& path, std::size_t indexes, TableKind kind) {
  const std::lock_guard lock(mutex_);
  auto table = std::make_shared<WeakTable>(++last_number_, indexes, kind);
  tables_[path] = table;
  return table;
}

TablePtr Catalog::find(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = tables_.find(path);
  return found == tables_.end() ? nullptr : found->second;
}

bool Catalog::remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return tables_.erase(path) > 0;
}

bool Catalog::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  auto found = tables_.extract(from);
  if (found.empty()) return false;
  tables_.erase(to);
  found.key() = to;
  tables_.insert(std::move(found));
  return true;
}

std::vector<Catalog::Reference> Catalog::references_to(const std::string& database,
                                                       const std::string& table) const {
  std::vector<Reference> found;
  const std::lock_guard lock(mutex_);
  for (const auto& [path, child] : tables_) {
    for (const auto& key : child->foreign_keys) {
      if (key.parent_database == database && key.parent_table == table)
        found.push_back({path, key});
    }
  }
  // As InnoDB orders them.
  std::sort(found.begin(), found.end(), [](const Reference& one, const Reference& other) {
    return one.key.name < other.key.name;
  });
  return found;
}

void Catalog::rename_parent(const std::string& database, const std::string& table,
                            const std::string& new_database, const std::string& new_table) {
  const std::lock_guard lock(mutex_);
  for (const auto& [path, child] : tables_) {
    for (auto& key : child->foreign_keys) {
      if (key.parent_database != database || key.parent_table != table) continue;
      key.parent_database = new_database;
      key.parent_table = new_table;
    }
  }
}

void Catalog::keep(const fs::path& data) {
  const std::lock_guard lock(mutex_);
  fs::remove_all(kept_folder(data));
  copy_databases(data, kept_folder(data));
  kept_ = copies(tables_);
  kept_generation_ = generation_;
}

std::uint32_t Catalog::restore(const fs::path& data) {
  const std::lock_guard lock(mutex_);
  copy_databases(kept_folder(data), data);
  std::erase_if(tables_, [](const auto& table) { return is_kept(table.first); });
  tables_.merge(copies(kept_));
  ++generation_;
  return kept_generation_;
}

}  // namespace cupel::engines::mariadb
