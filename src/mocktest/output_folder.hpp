// OutputFolder: a temporary folder for what the runs of a command print.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace cupel::mocktest {

// Removed with its files at the end.
class OutputFolder {
 public:
  static base::Result<std::unique_ptr<OutputFolder>> make();
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  // Of the run with this number.
  [[nodiscard]] std::string file(std::uint64_t run) const;

 private:
  explicit OutputFolder(const std::string& path) : path_(path) {}
  std::filesystem::path path_;
};

std::string contents_of(const std::string& file);
// The last lines, indented; "…" stands for lines that are left out.
std::string last_lines_of(const std::string& file);

}  // namespace cupel::mocktest
