// Loopback: free ports of 127.0.0.1, and whether a server answers on one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"

namespace cupel::lab {

// Different ports on which nothing listens now. Below the range from which the
// kernel takes the ports of outgoing connections, so that a server that was killed
// finds its port free when it is started again. Empty: there are not that many.
std::vector<std::uint16_t> free_ports(std::size_t count);

inline constexpr std::string_view kLoopback = "127.0.0.1";

// Connects, sends `request` (which may be empty) and returns the first bytes of the
// answer; empty if there is no answer in time.
std::string ask(const std::string& address, std::uint16_t port, std::string_view request,
                base::Seconds timeout);
// The same, until the answer has `end` in it or the server closes the connection.
std::string ask_until(const std::string& address, std::uint16_t port, std::string_view request,
                      std::string_view end, base::Seconds timeout);

// Whether somebody takes connections there.
bool listens(const std::string& address, std::uint16_t port, base::Seconds timeout);

}  // namespace cupel::lab
