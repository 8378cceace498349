// What the readers' tests share: files, and the recorded histories that live beside
// the repository.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "source_dir.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::formats {

using test::ScratchFolder;

inline std::string file_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return std::move(bytes).str();
}

inline std::string recorded(const std::string& path) {
  const char* elsewhere = std::getenv("CUPEL_HISTORIES");
  return (elsewhere != nullptr ? std::string(elsewhere)
                               : std::string(CUPEL_SOURCE_DIR) + "/../shared/histories") +
         "/" + path;
}
inline bool is_recorded(const std::string& path) {
  return std::filesystem::exists(recorded(path));
}

}  // namespace cupel::formats

// Inside a test: the path of a recorded history, or skip.
#define CUPEL_RECORDED(variable, relative)                                                \
  if (!cupel::formats::is_recorded(relative)) GTEST_SKIP() << relative << " is not here"; \
  const std::string variable = cupel::formats::recorded(relative)
