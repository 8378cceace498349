// TempDir: see temp_dir.hpp.
#include "base/temp_dir.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

namespace cupel::base {

namespace fs = std::filesystem;

namespace {

// The folder for temporary directories is none, or cannot be looked at.
Error no_parent(const std::error_code& error) {
  for (const char* name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {  // as the library asks for them
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    return {.message = "cannot be used for temporary directories: " + error.message() + "; set " +
                       name + " to a folder that you may write to",
            .file = value};
  }
  return {.message = "cannot find a folder for temporary directories: " + error.message() +
                     "; set TMPDIR to a folder that you may write to"};
}

}  // namespace

Result<fs::path> make_temp_dir(std::string_view prefix) {
  std::error_code error;
  const auto parent = fs::temp_directory_path(error);
  if (error) return no_parent(error);
  auto path = (parent / (std::string(prefix) + "XXXXXX")).string();
  if (::mkdtemp(path.data()) == nullptr) {
    return Error{.message = std::string("cannot make a temporary directory: ") +
                            std::strerror(errno) + "; set TMPDIR to a folder that you may write to",
                 .file = path};
  }
  return fs::path(path);
}

Result<TempDir> TempDir::make(std::string_view prefix) {
  auto path = make_temp_dir(prefix);
  if (!path.ok()) return std::move(path).error();
  return TempDir(*std::move(path));
}

TempDir::TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TempDir::~TempDir() {
  if (path_.empty()) return;
  try {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  } catch (const std::bad_alloc&) {  // the folder stays, and the command ends with its exit code
  }
}

}  // namespace cupel::base
