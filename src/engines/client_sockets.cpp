// A line of the table is "N: LOCAL:PORT REMOTE:PORT STATE …" in hexadecimal; state 1 is an
// established connection (include/net/tcp_states.h of Linux).
#include "engines/client_sockets.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string>

namespace cupel::engines {

bool has_hung_up(std::string_view table, std::uint16_t server_port, std::uint16_t client_port) {
  const auto local = fmt::format(":{:04X}", server_port);
  const auto remote = fmt::format(":{:04X}", client_port);
  std::istringstream lines{std::string(table)};
  std::string line, number, here, there, state;
  std::getline(lines, line);  // the names of the columns
  while (std::getline(lines, line)) {
    std::istringstream(line) >> number >> here >> there >> state;
    if (here.ends_with(local) && there.ends_with(remote)) return state != "01";
  }
  return true;
}

bool has_hung_up(std::uint16_t server_port, std::uint16_t client_port) {
  if (server_port == 0 || client_port == 0) return false;
  std::ifstream file("/proc/net/tcp");
  if (!file) return false;
  std::ostringstream text;
  text << file.rdbuf();
  return has_hung_up(text.str(), server_port, client_port);
}

}  // namespace cupel::engines
