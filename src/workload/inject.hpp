// inject: one anomaly of generate.hpp's, in a few transactions on keys of its own, so
// that it violates exactly the levels that forbid it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "history/builder.hpp"

namespace cupel::workload {

// How long an injected anomaly takes.
inline constexpr history::Time kInjectionTime = 1000;

// How many sessions it takes part in.
std::uint32_t sessions_of_injection(std::string_view anomaly);

// Uses keys first_key and first_key + 1, the sessions session_of(0), session_of(1) …,
// values from next_value on and labels from label on (both advanced). All transactions
// of different sessions overlap in time, from `start` to start + kInjectionTime
// (kNoTime: no times).
void inject_anomaly(std::string_view anomaly, std::int64_t first_key,
                    const std::function<history::SessionId(std::uint32_t)>& session_of,
                    std::int64_t& next_value, std::uint32_t& label, history::Time start,
                    history::HistoryBuilder& builder);

}  // namespace cupel::workload
