// Whether a client of a server on the loopback interface has hung up: the kernel's table of TCP
// sockets says so before the server looks.
#pragma once

#include <cstdint>
#include <string_view>

namespace cupel::engines {

// Of the connection between these two ports. False where nothing is known.
bool has_hung_up(std::uint16_t server_port, std::uint16_t client_port);
// The same of the text of such a table (/proc/net/tcp).
bool has_hung_up(std::string_view table, std::uint16_t server_port, std::uint16_t client_port);

}  // namespace cupel::engines
