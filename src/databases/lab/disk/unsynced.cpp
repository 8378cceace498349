// Unsynced: see the header.
#include "databases/lab/disk/unsynced.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cupel::lab {

namespace {

base::Error of_system(const char* what) {
  return {.message = std::string(what) + ": " + std::strerror(errno)};
}

}  // namespace

base::Status Unsynced::keep(int file, std::uint64_t begin, std::uint64_t end) {
  if (!length_) {
    struct stat facts {};
    if (::fstat(file, &facts) != 0) return of_system("cannot look at a file of the disk");
    length_ = static_cast<std::uint64_t>(facts.st_size);
  }
  end = std::min(end, *length_);  // what is new is cut off
  for (auto page = begin / kPage; page * kPage < end; ++page) {
    const auto [at, first] = pages_.try_emplace(page);
    if (!first) continue;
    auto& old = at->second;
    old.resize(std::min(kPage, *length_ - page * kPage));
    const auto count = ::pread(file, old.data(), old.size(), static_cast<off_t>(page * kPage));
    if (count != static_cast<ssize_t>(old.size())) {
      pages_.erase(at);
      return of_system("cannot read a file of the disk");
    }
  }
  return base::Ok{};
}

void Unsynced::sync() {
  length_.reset();
  pages_.clear();
}

base::Status Unsynced::undo(int file, LostBytes& lost) {
  if (!length_) return base::Ok{};
  struct stat facts {};
  if (::fstat(file, &facts) != 0) return of_system("cannot look at a file of the disk");
  const auto length = static_cast<std::uint64_t>(facts.st_size);
  for (const auto& [page, old] : pages_) {
    const auto count = ::pwrite(file, old.data(), old.size(), static_cast<off_t>(page * kPage));
    if (count != static_cast<ssize_t>(old.size())) return of_system("cannot undo what was written");
    lost.overwritten += old.size();
  }
  if (::ftruncate(file, static_cast<off_t>(*length_)) != 0) {
    return of_system("cannot undo what was written");
  }
  ++lost.files;
  lost.cut_off += length - std::min(length, *length_);
  sync();
  return base::Ok{};
}

}  // namespace cupel::lab
