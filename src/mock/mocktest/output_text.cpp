// contents_of, last_lines_of: see the header.
#include "mock/mocktest/output_text.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

namespace cupel::mocktest {

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
