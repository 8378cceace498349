// /proc/PID/task/TID/status, …/stat and …/children: proc(5).
#include "mock/proxy/activity.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace cupel::proxy {

namespace {

namespace fs = std::filesystem;

const std::chrono::nanoseconds kTick =
    std::chrono::nanoseconds(std::chrono::seconds(1)) / ::sysconf(_SC_CLK_TCK);

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
  // The name of the program, in parentheses, and then from the third field on.
  std::ifstream file(folder + "/stat");
  std::string fields((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::istringstream rest(fields.substr(std::min(fields.rfind(')') + 1, fields.size())));
  std::string field;
  constexpr int kUserTime = 14, kSystemTime = 15;
  for (int number = 3; number <= kSystemTime && rest >> field; ++number) {
    std::int64_t ticks = 0;
    if (number >= kUserTime) std::from_chars(field.data(), field.data() + field.size(), ticks);
    counts.worked += ticks * kTick;
  }
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
