// Corruption: bits of stored files that are not what was written.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace cupel::lab {

// Flips so many bits of one file below the folder, within one stretch of 4 KiB, as a sector that
// went bad. Which file and where is drawn by the seed from the data that were written last: those
// of the last minute, or else the newest file. Returns what was done: "base/5/16384: 3 bits from
// byte 8192 on". Errors: there is no file with anything in it.
base::Result<std::string> flip_bits(const std::string& folder, std::uint64_t bits,
                                    std::uint64_t seed);

}  // namespace cupel::lab
