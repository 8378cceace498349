// The temporary folder, and reading of its files.
#include "mocktest/output_folder.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

namespace cupel::mocktest {

namespace fs = std::filesystem;

base::Result<std::unique_ptr<OutputFolder>> OutputFolder::make() {
  std::error_code error;
  auto pattern = (fs::temp_directory_path(error) / "cupel-mock-XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    return base::Error{.message = "cannot make a folder for the command's output", .file = pattern};
  }
  return std::unique_ptr<OutputFolder>(new OutputFolder(pattern));
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string OutputFolder::file(std::uint64_t run) const {
  return (path_ / std::to_string(run)).string();
}

std::string contents_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::string last_lines_of(const std::string& file) {
  constexpr std::uint64_t kMostBytes = 16384;
  constexpr std::size_t kMostLines = 40;
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(in.tellg(), 0));
  const auto skipped = size > kMostBytes ? size - kMostBytes : 0;
  in.seekg(static_cast<std::streamoff>(skipped));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  const auto first = lines.size() > kMostLines ? lines.size() - kMostLines : 0;
  std::string text = skipped > 0 || first > 0 ? "  …\n" : "";
  for (auto i = first; i < lines.size(); ++i) text += "  " + lines[i] + "\n";
  return text;
}

}  // namespace cupel::mocktest
