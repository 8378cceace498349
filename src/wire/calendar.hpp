// Timestamps without time zone as text: "2024-01-31 12:34:56.789".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cupel::wire {

struct Timestamp {
  std::int64_t year = 0;
  unsigned month = 1, day = 1, hour = 0, minute = 0, second = 0, microsecond = 0;
};

// Of "YYYY-MM-DD", "YYYY-MM-DD HH:MM[:SS[.ffffff]][+00]", a T instead of the blank.
// None: anything else, and what the calendar does not have.
std::optional<Timestamp> parse_timestamp(std::string_view text);
// As PostgreSQL prints it; `with_time` false: the day alone.
std::string to_string(const Timestamp& timestamp, bool with_time = true);

// Since 2000-01-01; none if too far away for 64 bits of microseconds or a year of four digits.
std::int64_t days_of(const Timestamp& timestamp);
std::int64_t microseconds_of(const Timestamp& timestamp);
std::optional<Timestamp> timestamp_of_days(std::int64_t days);
std::optional<Timestamp> timestamp_of_microseconds(std::int64_t microseconds);

}  // namespace cupel::wire
