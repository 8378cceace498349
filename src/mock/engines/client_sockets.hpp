// Which clients of a server on the loopback interface have not hung up: the kernel's table of TCP
// sockets says so before the server looks.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

namespace cupel::engines {

// Their ports; none where nothing is known. Takes longer the more sockets the machine has.
std::optional<std::set<std::uint16_t>> connected_clients(std::uint16_t server_port);
// The same of the text of such a table (/proc/net/tcp).
std::set<std::uint16_t> connected_clients(std::string_view table, std::uint16_t server_port);

}  // namespace cupel::engines
