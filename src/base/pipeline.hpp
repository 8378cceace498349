// pipeline: items made one after the other by one thread, while the caller's takes
// those made before. Same order, and same result, as without the other thread.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "base/parallel.hpp"
#include "base/watched_threads.hpp"

namespace cupel::base {

// `make(item)` fills it, and is false once there is nothing more to fill it with; `take(item)` is
// false when no more is wanted. Items are used again: make() finds what take() left. `threads` as
// an option says it; with one, the caller's does both. Both watch the caller's memory limit, and
// what either throws is thrown here.
template <typename Item, typename Make, typename Take>
void pipeline(unsigned threads, const Make& make, const Take& take) {
  constexpr std::size_t kAhead = 4;
  std::array<Item, kAhead> ring;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t made = 0, taken = 0;
  bool ended = false, stopped = false;
  std::exception_ptr thrown;

  Budget* const watched = watched_by_this_thread();
  const auto run = [&] {
    const AllocationWatch watch(watched);
    try {
      while (true) {
        {
          std::unique_lock lock(mutex);
          changed.wait(lock, [&] { return stopped || made - taken < kAhead; });
          if (stopped) return;
        }
        if (!make(ring[made % kAhead])) break;  // only this thread changes `made`
        {
          const std::lock_guard lock(mutex);
          ++made;
        }
        changed.notify_one();
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      thrown = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex);
      ended = true;
    }
    changed.notify_one();
  };

  std::optional<std::thread> maker;
  if (thread_count(threads) > 1) {
    try {
      maker.emplace(run);
    } catch (const std::system_error&) {
      // The system grants no more threads.
    }
  }
  if (!maker) {
    while (make(ring[0]) && take(ring[0])) {
    }
    return;
  }
  const auto stop = [&] {
    {
      const std::lock_guard lock(mutex);
      stopped = true;
    }
    changed.notify_one();
    maker->join();
  };
  try {
    while (true) {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return ended || made != taken; });
        if (made == taken) break;
      }
      if (!take(ring[taken % kAhead])) break;  // only this thread changes `taken`
      {
        const std::lock_guard lock(mutex);
        ++taken;
      }
      changed.notify_one();
    }
  } catch (...) {
    stop();
    throw;
  }
  stop();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace cupel::base
