// Budget: the deadline and the memory limit of one run, and what its time went to.
// Everything that may be exponential, or large, asks it now and then and gives up with
// "unknown".
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/stopwatch.hpp"

namespace cupel::base {

enum class Limit : std::uint8_t { kNone, kTime, kMemory };

// "time", "memory" or "none".
std::string_view to_string(Limit limit);

// Bytes resident in this process now, or 0 where the system does not report it.
std::uint64_t resident_bytes();

// Thread-safe. Once a limit is met it stays met, but for that of an Attempt.
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
  // at the clock at every call and at memory at most every 5 ms.
  bool exceeded();

  // Would `bytes` more break the memory limit? If so the limit counts as met.
  // Called before a large allocation, which is cheaper than dying of one. It looks at memory only
  // after enough was asked for since the last look that the limit could be near.
  bool would_exceed(std::uint64_t bytes);

  // The same for what a thread allocates a megabyte at a time, before each such megabyte.
  bool may_exceed(std::uint64_t bytes);

  // The limit counts as met from now on.
  void meet(Limit limit) { met_ = limit; }

  [[nodiscard]] Limit limit() const { return met_.load(std::memory_order_relaxed); }
  // Seconds left, or infinity.
  [[nodiscard]] double seconds_left() const;

  // Not thread-safe but for what its own header says.
  [[nodiscard]] Stopwatch& stopwatch() { return stopwatch_; }
  [[nodiscard]] const Stopwatch& stopwatch() const { return stopwatch_; }

  // While it lives, its budget ends no later than in so many seconds. That end counts as the time
  // limit meanwhile and no longer afterwards, unless the budget itself has ended. Made and
  // destroyed while no other thread uses the budget.
  class Attempt {
   public:
    Attempt(Budget& budget, double seconds);
    ~Attempt();
    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;

   private:
    Budget& budget_;
    const std::optional<Clock::time_point> deadline_;  // of the budget itself
    const Limit met_before_;
  };

 private:
  bool look(std::uint64_t bytes);

  std::optional<Clock::time_point> deadline_;
  std::uint64_t memory_bytes_ = 0;
  std::atomic<Limit> met_ = Limit::kNone;
  std::atomic<std::int64_t> next_memory_look_ns_ = 0;
  std::atomic<std::int64_t> unlooked_ = 0;  // bytes that may be allocated before the next look
  Stopwatch stopwatch_;
};

// While it lives, the allocations of its thread count against a budget's memory
// limit: one that would break it throws std::bad_alloc, once, and the limit
// counts as met. A vector that doubles cannot ask by itself, and a limit that
// only loops look at is seen too late. It takes a program whose operator new
// asks before_allocation(), as the command line's does (apps/allocation.cpp);
// without that it knows only of the growth of hash tables (base/hash_table.hpp).
class AllocationWatch {
 public:
  explicit AllocationWatch(Budget* budget);  // none: watches nothing
  ~AllocationWatch();
  AllocationWatch(const AllocationWatch&) = delete;
  AllocationWatch& operator=(const AllocationWatch&) = delete;

  // While one lives, what would fail in its thread fails at the first allocation after it:
  // for code of others that an exception leaves broken.
  class Deferral {
   public:
    Deferral() { ++deferrals_; }
    ~Deferral() { --deferrals_; }
    Deferral(const Deferral&) = delete;
    Deferral& operator=(const Deferral&) = delete;
  };

  // Before `bytes` more are allocated. Asks the budget once a megabyte.
  static void before_allocation(std::size_t bytes);

  // For tests: from now on, the `place`-th allocation that is watched, in any thread, fails
  // as if it broke the limit (the first is 1; 0: none does). Counts from 0 again.
  static void fail_at(std::uint64_t place);
  // How many allocations were watched since fail_at().
  static std::uint64_t watched_count();

 private:
  static constinit inline thread_local unsigned deferrals_ = 0;

  Budget* outer_;
};

}  // namespace cupel::base
