// Logs: reading what a server wrote.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

namespace cupel::lab {

// A file from this byte on, as far as it can be read; empty if it is not there.
inline std::string text_of(const std::string& path, std::size_t from = 0) {
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(from));
  std::string text;
  std::array<char, 4096> buffer;
  while (in.read(buffer.data(), buffer.size()), in.gcount() > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
  }
  return text;
}

// The same of a log. Its writer may put a link to another's file there, which is not followed.
inline std::string text_of_log(const std::string& path, std::size_t from = 0) {
  std::error_code failed;
  const bool plain =
      std::filesystem::is_regular_file(std::filesystem::symlink_status(path, failed));
  return plain ? text_of(path, from) : std::string();
}

// The last lines of a log, each indented by two blanks; "(empty)" if there are none.
inline std::string last_lines(const std::string& path, std::size_t count, std::size_t from = 0) {
  auto text = text_of_log(path, from);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.empty()) return "  (empty)";
  std::size_t start = text.size();
  for (std::size_t lines = 0; lines < count && start != 0; ++lines) {
    const auto feed = text.rfind('\n', start - 1);
    start = feed == std::string::npos ? 0 : feed;
  }
  std::string indented;
  for (const char c : text.substr(start == 0 ? 0 : start + 1)) {
    if (indented.empty() || indented.back() == '\n') indented += "  ";
    indented += c;
  }
  return indented;
}

}  // namespace cupel::lab
