// Amounts of counters: the bounds within which every sum is exact.
//
// The amounts of one object add up to at most 2^59, the most that a read may return. So no sum of
// some of them, and no difference of two such sums, leaves 64 bits.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace cupel::crdt {

// Of one update, and of a read and of all updates of an object together.
inline constexpr int kAmountBits = 40, kSumBits = 59;
inline constexpr std::int64_t kMostAmount = std::int64_t{1} << kAmountBits,
                              kMostSum = std::int64_t{1} << kSumBits;

// Is it a whole number from -most to most?
inline bool is_whole_within(const nlohmann::json& value, std::int64_t most) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned())
    return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most);
  const auto number = value.get<std::int64_t>();
  return number >= -most && number <= most;
}

}  // namespace cupel::crdt
