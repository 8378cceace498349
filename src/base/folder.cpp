// Folders, by readdir().
#include "base/folder.hpp"

#include <dirent.h>

#include <cerrno>
#include <memory>
#include <string_view>

namespace cupel::base {

std::optional<std::vector<std::string>> names_in_folder(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return std::nullopt;
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const auto* entry = ::readdir(open.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return std::nullopt;
  return names;
}

}  // namespace cupel::base
