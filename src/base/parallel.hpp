// for_each_index: the same work for each of some indexes, on several threads.
//
// Plain threads, each of which takes the next index: ThreadSanitizer sees through
// it, which it does not through Debian's libtbb. The caller's thread works too.
// Which thread does what is not determined; a caller that wants the same result
// for any number of threads has each index write to a place of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/watched_threads.hpp"

namespace cupel::base {

// `threads` as an option says it: 0 means as many as the machine has.
inline unsigned thread_count(unsigned threads) {
  return threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
}

// Calls work(i) for i in [0, count), indexes handed out in ascending order. The threads watch the
// caller's memory limit.
// Returns when all is done. The first exception that some call threw is thrown
// again here; indexes not begun by then are left out.
template <typename Work>
void for_each_index(std::size_t count, unsigned threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr thrown;
  std::mutex mutex;
  Budget* const watched = watched_by_this_thread();
  const auto run = [&] {
    const AllocationWatch watch(watched);
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!thrown) thrown = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  const std::size_t wanted = std::min<std::size_t>(thread_count(threads), count);
  others.reserve(wanted);
  try {
    for (std::size_t i = 1; i < wanted; ++i) others.emplace_back(run);
  } catch (const std::system_error&) {
    // The system grants no more threads; those there are do the work.
  }
  run();
  for (std::thread& thread : others) thread.join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace cupel::base
