// Budget: the deadline and the memory limit of one run. Everything that may be
// exponential, or large, asks it now and then and gives up with "unknown".
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cupel::base {

enum class Limit : std::uint8_t { kNone, kTime, kMemory };

// "time", "memory" or "none".
std::string_view to_string(Limit limit);

// Bytes resident in this process now, or 0 where the system does not tell.
std::uint64_t resident_bytes();

// Thread-safe. Once a limit is met it stays met.
class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  // No limits.
  Budget() = default;
  // timeout from now; memory_bytes as resident size of the whole process; 0 = none.
  Budget(std::optional<std::chrono::duration<double>> timeout, std::uint64_t memory_bytes);
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // True once a limit is met. Cheap enough for loops of microseconds: it looks
  // at the clock at every call and at memory at most every 20 ms.
  bool exceeded();

  // Would `bytes` more break the memory limit? If so the limit counts as met.
  // Called before a large allocation, which is cheaper than dying of one.
  bool would_exceed(std::uint64_t bytes);

  [[nodiscard]] Limit limit() const { return met_.load(std::memory_order_relaxed); }
  // Seconds left, or infinity.
  [[nodiscard]] double seconds_left() const;

 private:
  std::optional<Clock::time_point> deadline_;
  std::uint64_t memory_bytes_ = 0;
  std::atomic<Limit> met_ = Limit::kNone;
  std::atomic<std::int64_t> next_memory_look_ns_ = 0;
};

}  // namespace cupel::base
