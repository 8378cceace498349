// The number of a connection, as the server tells it twice: in its greeting and in CONNECTION_ID().
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace cupel::drivers {

// The greeting has the lower 32 bits only, and TiDB counts in 64.
inline bool is_number_in_greeting(std::string_view connection_id, unsigned long greeting) {
  std::uint64_t number = 0;
  const auto* const end = connection_id.data() + connection_id.size();
  const auto [rest, failed] = std::from_chars(connection_id.data(), end, number);
  return failed == std::errc() && rest == end &&
         static_cast<std::uint32_t>(number) == static_cast<std::uint32_t>(greeting);
}

}  // namespace cupel::drivers
