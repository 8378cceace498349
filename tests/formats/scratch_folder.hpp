// A folder for the files of one test, gone afterwards; and the recorded
// histories that live beside the repository.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace cupel::formats {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cupel-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  // Writes a file and returns its path.
  std::string file(const std::string& name, std::string_view bytes) const {
    const auto path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }
  std::string path(const std::string& name = "") const { return name.empty() ? path_.string() : (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string file_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return std::move(bytes).str();
}

inline std::string recorded(const std::string& path) { return std::string(CUPEL_SOURCE_DIR) + "/../shared/histories/" + path; }
inline bool is_recorded(const std::string& path) { return std::filesystem::exists(recorded(path)); }

}  // namespace cupel::formats

// Inside a test: the path of a recorded history, or skip.
#define CUPEL_RECORDED(variable, relative)                                            \
  if (!cupel::formats::is_recorded(relative)) GTEST_SKIP() << relative << " is not here"; \
  const std::string variable = cupel::formats::recorded(relative)
