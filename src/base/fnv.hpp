// FNV-1a: a checksum of 64 bits, to tell contents apart that nobody made alike on purpose.
#pragma once

#include <cstdint>
#include <string_view>

namespace cupel::base {

inline std::uint64_t fnv(std::string_view bytes, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace cupel::base
