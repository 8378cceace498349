// /proc/PID/task/TID/status and …/children: proc(5).
#include "proxy/activity.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace cupel::proxy {

namespace {

namespace fs = std::filesystem;

void count_thread(const std::string& folder, pid_t thread, ThreadCounts& counts) {
  std::ifstream status(folder + "/status");
  std::uint64_t switches = 0;
  for (std::string line; std::getline(status, line);) {
    const auto colon = line.find(':');
    const auto name = line.substr(0, colon);
    std::istringstream value(colon == std::string::npos ? "" : line.substr(colon + 1));
    if (name == "State") {
      char state = 0;
      value >> state;
      counts.running |= state == 'R' || state == 'D';
    } else if (name.ends_with("ctxt_switches")) {
      std::uint64_t number = 0;
      value >> number;
      switches += number;
    }
  }
  counts.switches[thread] = switches;
}

}  // namespace

ThreadCounts threads_of(pid_t process) {
  ThreadCounts counts;
  std::vector<pid_t> waiting{process};
  while (!waiting.empty()) {
    const auto next = waiting.back();
    waiting.pop_back();
    std::error_code gone;
    const fs::directory_iterator tasks(fmt::format("/proc/{}/task", next), gone);
    if (gone) continue;
    for (auto task = fs::begin(tasks); task != fs::end(tasks); task.increment(gone)) {
      const auto folder = task->path().string();
      const auto name = task->path().filename().string();
      pid_t thread = 0;
      std::from_chars(name.data(), name.data() + name.size(), thread);
      count_thread(folder, thread, counts);
      std::ifstream children(folder + "/children");
      for (pid_t child = 0; children >> child;) waiting.push_back(child);
      if (gone) break;
    }
  }
  return counts;
}

}  // namespace cupel::proxy
