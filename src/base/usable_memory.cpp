// From /proc/meminfo and the control group: see the header.
#include "base/usable_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "base/budget.hpp"

namespace cupel::base {

std::uint64_t usable_memory() {
  std::uint64_t usable = 0;
  std::ifstream facts("/proc/meminfo");
  for (std::string name, rest; facts >> name; std::getline(facts, rest)) {
    if (name != "MemAvailable:") continue;
    facts >> usable;  // KiB
    usable = usable * 1024 + resident_bytes();
    break;
  }
  std::uint64_t allowed = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> allowed) {  // else "max"
    usable = usable == 0 ? allowed : std::min(usable, allowed);
  }
  return usable;
}

}  // namespace cupel::base
