// From /proc/meminfo and the control group: see the header.
#include "base/usable_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

#include "base/budget.hpp"

namespace cupel::base {

namespace {

// A line of /proc/meminfo, in bytes; 0: there is none.
std::uint64_t meminfo(std::string_view wanted) {
  std::ifstream facts("/proc/meminfo");
  std::uint64_t kibibytes = 0;
  for (std::string name, rest; facts >> name; std::getline(facts, rest)) {
    if (name == wanted && facts >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

std::uint64_t at_most_allowed(std::uint64_t bytes) {
  std::uint64_t allowed = 0;
  if (!(std::ifstream("/sys/fs/cgroup/memory.max") >> allowed)) return bytes;  // "max"
  return bytes == 0 ? allowed : std::min(bytes, allowed);
}

}  // namespace

std::uint64_t usable_memory() {
  const auto free = meminfo("MemAvailable:");
  return at_most_allowed(free == 0 ? 0 : free + resident_bytes());
}

std::uint64_t machine_memory() {
  return at_most_allowed(meminfo("MemTotal:"));
}

}  // namespace cupel::base
