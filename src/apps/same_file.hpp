// Whether what is written would replace what is read.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace cupel::apps {

// A directory may stand for the dbcop file in it.
inline bool same_file(const std::string& in, const std::string& out) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::equivalent(in, out, ignored)) return true;
  const auto inside = [&](const std::string& path) {
    return fs::is_directory(path, ignored) ? (fs::path(path) / "history.bincode").string() : path;
  };
  return fs::equivalent(inside(in), inside(out), ignored);
}

}  // namespace cupel::apps
