// inject: one anomaly of generate.hpp's, in a few transactions on keys of its own, so
// that it violates exactly the levels that forbid it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "data/history/builder.hpp"

namespace cupel::workload {

// How long an injected anomaly takes.
inline constexpr history::Time kInjectionTime = 1000;

// How many sessions it takes part in.
std::uint32_t sessions_of_injection(std::string_view anomaly);

// The history under construction, with the next value and the next label that are free.
struct InjectionTarget {
  history::HistoryBuilder& builder;
  std::int64_t& next_value;
  std::uint32_t& label;
};

// Uses keys first_key and first_key + 1, the sessions session_of(0), session_of(1) …, and
// values and labels of the target (advanced). All transactions of different sessions overlap
// in time, from `start` to start + kInjectionTime (kNoTime: no times).
void inject_anomaly(std::string_view anomaly, std::int64_t first_key,
                    const std::function<history::SessionId(std::uint32_t)>& session_of,
                    history::Time start, const InjectionTarget& target);

}  // namespace cupel::workload
