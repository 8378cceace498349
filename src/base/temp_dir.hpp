// TempDir: a new directory under the system's temporary directory, removed at the end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/descriptor.hpp"
#include "base/result.hpp"

namespace cupel::base {

// Makes a directory PREFIXxxxxxx that only this user can read. The caller removes it.
[[nodiscard]] Result<std::filesystem::path> make_temp_dir(std::string_view prefix);

// One that is removed, with all that is in it, when its owner goes. What an owner that was killed
// left is removed by the next program that asks for the same prefix: a locked file in it says
// whether its owner lives.
class TempDir {
 public:
  enum class Abandoned : std::uint8_t { kRemove, kKeep };
  [[nodiscard]] static Result<TempDir> make(std::string_view prefix,
                                            Abandoned others = Abandoned::kRemove);
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  ~TempDir();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Of a file in it.
  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  TempDir(std::filesystem::path path, Descriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  std::filesystem::path path_;  // empty: moved from
  Descriptor lock_;             // none: the file system has no locks, so the next program keeps it
};

}  // namespace cupel::base
