// TempDir: a new directory under the system's temporary directory, removed at the end.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cupel::base {

// Makes a directory PREFIXxxxxxx that only this user can read. The caller removes it.
[[nodiscard]] Result<std::filesystem::path> make_temp_dir(std::string_view prefix);

// One that is removed, with all that is in it, when its owner goes.
class TempDir {
 public:
  [[nodiscard]] static Result<TempDir> make(std::string_view prefix);
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  ~TempDir();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Of a file in it.
  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  explicit TempDir(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;  // empty: moved from
};

}  // namespace cupel::base
