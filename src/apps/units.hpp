// Units: durations and sizes as people write them on a command line.
#pragma once

#include <cstdint>
#include <string>

#include "base/duration.hpp"
#include "base/result.hpp"

namespace cupel::apps {

using base::parse_duration;

// "1ms", "500us", "10ns", "2s"; a bare number is nanoseconds. No m, which may
// stand for minutes or be a slip for ms. In nanoseconds.
base::Result<std::int64_t> parse_nanoseconds(const std::string& text);

// "4G", "512M", "1.5GiB", "65536": powers of 1024. In bytes.
base::Result<std::uint64_t> parse_size(const std::string& text);

}  // namespace cupel::apps
