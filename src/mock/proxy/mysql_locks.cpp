// The status has a part for each transaction: ---TRANSACTION 27, ACTIVE 0 sec …; LOCK WAIT …;
// MariaDB thread id 4, …; and then what the client sent. See the header.
#include "mock/proxy/mysql_locks.hpp"

#include <charconv>

namespace cupel::proxy {

std::set<std::int32_t> waiting_connections(std::string_view innodb_status) {
  std::set<std::int32_t> waiting;
  bool in_head = false, waits = false;
  while (!innodb_status.empty()) {
    const auto end = innodb_status.find('\n');
    const auto line = innodb_status.substr(0, end);
    innodb_status.remove_prefix(end == std::string_view::npos ? innodb_status.size() : end + 1);
    if (line.starts_with("---TRANSACTION ")) {
      in_head = true;
      waits = false;
      continue;
    }
    if (!in_head) continue;
    if (line.starts_with("LOCK WAIT ")) waits = true;
    constexpr std::string_view kThread = " thread id ";
    const auto found = line.find(kThread);
    if (found == std::string_view::npos) continue;
    in_head = false;
    std::int32_t number = 0;
    const auto* begin = line.data() + found + kThread.size();
    if (waits && std::from_chars(begin, line.data() + line.size(), number).ec == std::errc())
      waiting.insert(number);
  }
  return waiting;
}

bool waits_for_lock(std::string_view state) {
  return state == "User lock" || (state.starts_with("Waiting for ") && state.ends_with(" lock")) ||
         state == "Waiting for table flush";
}

}  // namespace cupel::proxy
