// Waiting for the end of a process that need not be a child of this one.
#pragma once

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

namespace cupel::test {

// False if it does not end, or cannot be waited for.
[[nodiscard]] inline bool wait_for_end(
    pid_t id, std::chrono::milliseconds patience = std::chrono::seconds(60)) {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, id, 0));
  if (process < 0) return errno == ESRCH;  // it was gone before
  pollfd waiting = {process, POLLIN, 0};
  const bool ended = ::poll(&waiting, 1, static_cast<int>(patience.count())) == 1;
  ::close(process);
  return ended;
}

}  // namespace cupel::test
