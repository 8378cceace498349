// TempDir: see temp_dir.hpp.
#include "base/temp_dir.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "base/folder.hpp"

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

constexpr std::string_view kRandomLetters = "XXXXXX";  // as mkdtemp() replaces them
constexpr const char* kLock = ".in-use";

// The file gets its name when it is locked: no other program sees it unlocked before.
Descriptor lock_directory(const fs::path& path) {
  const auto name = (path / kLock).string();
  const auto unlocked = name + "-soon";
  Descriptor file(::open(unlocked.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 ||
      std::rename(unlocked.c_str(), name.c_str()) != 0) {
    ::unlink(unlocked.c_str());
    return {};
  }
  return file;
}

bool is_named(std::string_view name, std::string_view prefix) {
  if (name.size() != prefix.size() + kRandomLetters.size() || !name.starts_with(prefix)) {
    return false;
  }
  name.remove_prefix(prefix.size());
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  });
}

// A directory of this user, not a link to one, whose lock nobody holds.
void remove_if_abandoned(const fs::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) ||
      found.st_uid != ::geteuid()) {
    return;
  }
  const auto lock = (path / kLock).string();
  const Descriptor file(::open(lock.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return;
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

void remove_abandoned(const fs::path& parent, std::string_view prefix) {
  const auto names = names_in_folder(parent.string());
  for (const auto& name : names.value_or(std::vector<std::string>())) {
    if (is_named(name, prefix)) remove_if_abandoned(parent / name);
  }
}

}  // namespace

Result<fs::path> make_temp_dir(std::string_view prefix) {
  std::error_code error;
  const auto parent = fs::temp_directory_path(error);
  if (error) return no_parent(error);
  auto path = (parent / (std::string(prefix) + std::string(kRandomLetters))).string();
  if (::mkdtemp(path.data()) == nullptr) {
    return Error{.message = std::string("cannot make a temporary directory: ") +
                            std::strerror(errno) + "; set TMPDIR to a folder that you may write to",
                 .file = path};
  }
  return fs::path(path);
}

Result<TempDir> TempDir::make(std::string_view prefix, Abandoned others) {
  auto path = make_temp_dir(prefix);
  if (!path.ok()) return std::move(path).error();
  if (others == Abandoned::kRemove) remove_abandoned(path->parent_path(), prefix);
  auto lock = lock_directory(*path);
  return TempDir(*std::move(path), std::move(lock));
}

TempDir::TempDir(TempDir&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
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
