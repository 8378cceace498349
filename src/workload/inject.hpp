// plant: one anomaly of the 14, in a few transactions on sessions and keys of
// its own, so that it violates exactly the levels that forbid it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "history/builder.hpp"

namespace cupel::workload {

// Uses keys first_key and first_key + 1, sessions named PREFIX-a, -b …, values
// from next_value on and labels from label on (both advanced). All transactions
// of different sessions overlap in time, from `start` on (kNoTime: no times).
void plant(std::string_view anomaly, std::int64_t first_key, const std::string& prefix,
           std::int64_t& next_value, std::uint32_t& label, history::Time start,
           history::HistoryBuilder& builder);

}  // namespace cupel::workload
