// Failovers: waiting until another node takes the writes.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <thread>

#include "base/process.hpp"
#include "base/result.hpp"
#include "databases/lab/kinds.hpp"

namespace cupel::lab {

// `next` returns a node once it is the primary. Error: none is in time.
template <class Next>
base::Result<std::size_t> await_primary(base::Seconds patience, const Next& next) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + patience;
  for (; Clock::now() < deadline; std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
    if (const std::optional<std::size_t> primary = next()) return *primary;
  }
  return base::Error{.message =
                         fmt::format("no other node became the primary in {} s", patience.count())};
}

// The same, of a kind that says who its primaries are.
inline base::Result<std::size_t> await_primary(base::Seconds patience, const Site& site,
                                               std::vector<std::size_t> (*primaries)(const Site&),
                                               std::size_t old) {
  return await_primary(patience, [&]() -> std::optional<std::size_t> {
    for (const auto node : primaries(site)) {
      if (node != old) return node;
    }
    return std::nullopt;
  });
}

}  // namespace cupel::lab
