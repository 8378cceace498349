// A file of one page that is mapped; it goes with its folder.
#include "mock/engines/commit_count.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "mock/wire/socket.hpp"

namespace cupel::engines {

base::Result<CommitCount> CommitCount::make(const std::string& file) {
  const base::Descriptor made(::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!made || ::fchmod(made.get(), 0644) != 0 ||
      ::ftruncate(made.get(), sizeof(std::uint32_t)) != 0) {
    return base::Error{.message = std::strerror(errno), .file = file};
  }
  void* mapped =
      ::mmap(nullptr, sizeof(std::uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED, made.get(), 0);
  if (mapped == MAP_FAILED) return base::Error{.message = std::strerror(errno), .file = file};
  return CommitCount(static_cast<std::uint32_t*>(mapped));
}

CommitCount::CommitCount(CommitCount&& other) noexcept
    : shared_(std::exchange(other.shared_, nullptr)) {}

CommitCount::~CommitCount() {
  if (shared_ != nullptr) ::munmap(shared_, sizeof *shared_);
}

void CommitCount::set(std::uint32_t commits) {
  std::atomic_ref(*shared_).store(commits, std::memory_order_release);
}

std::uint32_t CommitCount::get() const {
  return std::atomic_ref(*shared_).load(std::memory_order_acquire);
}

}  // namespace cupel::engines
