// A line of the table is "N: LOCAL:PORT REMOTE:PORT STATE …" in hexadecimal; state 1 is an
// established connection (include/net/tcp_states.h of Linux).
#include "mock/engines/client_sockets.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace cupel::engines {

std::set<std::uint16_t> connected_clients(std::string_view table, std::uint16_t server_port) {
  const auto local = fmt::format(":{:04X}", server_port);
  std::istringstream lines{std::string(table)};
  std::string line, number, here, there, state;
  std::getline(lines, line);  // the names of the columns
  std::set<std::uint16_t> clients;
  while (std::getline(lines, line)) {
    std::istringstream(line) >> number >> here >> there >> state;
    if (!here.ends_with(local) || state != "01") continue;
    clients.insert(
        static_cast<std::uint16_t>(std::strtoul(there.c_str() + there.find(':') + 1, nullptr, 16)));
  }
  return clients;
}

std::optional<std::set<std::uint16_t>> connected_clients(std::uint16_t server_port) {
  std::ifstream file("/proc/net/tcp");
  if (server_port == 0 || !file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return connected_clients(text.str(), server_port);
}

}  // namespace cupel::engines
