// Activity: whether a command and its children do anything, from what the kernel counts of their
// threads (Linux: /proc). Nobody knows how many clients a command will have, or whether an idle one
// comes back; but while all its threads sleep, none of them sends anything.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <utility>

namespace cupel::proxy {

// The threads of a process and of its descendants.
struct ThreadCounts {
  bool running = false;  // one of them runs, or waits for a processor or a disk
  // By thread: how often it left a processor.
  std::map<pid_t, std::uint64_t> switches = {};
  std::chrono::nanoseconds worked{};  // on processors, all together
  auto operator<=>(const ThreadCounts&) const = default;
};

ThreadCounts threads_of(pid_t process);

}  // namespace cupel::proxy
