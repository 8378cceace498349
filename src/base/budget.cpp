// Budget: see the header. Resident memory comes from /proc/self/statm.
#include "base/budget.hpp"

#include <fcntl.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

#include "base/interrupt.hpp"
#include "base/watched_threads.hpp"

namespace cupel::base {

namespace {
constexpr std::int64_t kMemoryLookIntervalNs = 5'000'000;
constexpr std::size_t kUnseenBytes = 1 << 20;  // allocated between two questions, a thread
// A look at the memory takes as long as a small check. Until this share of what was free has been
// allocated, of which much is freed again, nothing is looked at. Others allocate too, so not all of
// it.
constexpr std::uint64_t kShareUnlooked = 16;

thread_local Budget* watching = nullptr;
// Did this thread ever have a watch? One that watches nothing is one, too.
thread_local bool has_own_watch = false;

// watch_other_threads()
std::atomic<Budget*> watched_by_others = nullptr;
std::atomic<void (*)()> last_resort_of_others = nullptr;

// AllocationWatch::fail_at()
std::atomic<bool> counting = false;
std::atomic<std::uint64_t> watched = 0;
std::atomic<std::uint64_t> failing_place = 0;

}  // namespace

std::string_view to_string(Limit limit) {
  switch (limit) {
    case Limit::kTime:
      return "time";
    case Limit::kMemory:
      return "memory";
    case Limit::kNone:
      break;
  }
  return "none";
}

std::uint64_t resident_bytes() {
  const int fd = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[128];
  const ssize_t length = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (length <= 0) return 0;
  text[length] = '\0';
  char* rest = nullptr;
  std::strtoull(text, &rest, 10);  // total size, not wanted
  const auto pages = std::strtoull(rest, nullptr, 10);
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

Budget::Budget(std::optional<std::chrono::duration<double>> timeout, std::uint64_t memory_bytes)
    : memory_bytes_(memory_bytes) {
  if (timeout) deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(*timeout);
}

bool Budget::exceeded() {
  if (limit() != Limit::kNone) return true;
  if (interrupted()) {
    met_ = Limit::kTime;
    return true;
  }
  if (!deadline_ && memory_bytes_ == 0) return false;
  const auto now = Clock::now();
  if (deadline_ && now >= *deadline_) {
    met_ = Limit::kTime;
    return true;
  }
  if (memory_bytes_ != 0) {
    const auto now_ns = now.time_since_epoch().count();
    auto next = next_memory_look_ns_.load(std::memory_order_relaxed);
    if (now_ns >= next &&
        next_memory_look_ns_.compare_exchange_strong(next, now_ns + kMemoryLookIntervalNs)) {
      return look(0);
    }
  }
  return false;
}

bool Budget::look(std::uint64_t bytes) {
  auto needed = resident_bytes() + bytes;
#ifdef __GLIBC__
  // What was freed is resident still until the allocator gives it back.
  if (needed > memory_bytes_) {
    ::malloc_trim(0);
    needed = resident_bytes() + bytes;
  }
#endif
  if (needed > memory_bytes_) {
    met_ = Limit::kMemory;
    return true;
  }
  const auto room = memory_bytes_ - needed;
  unlooked_.store(static_cast<std::int64_t>(room / kShareUnlooked), std::memory_order_relaxed);
  return false;
}

bool Budget::would_exceed(std::uint64_t bytes) {
  if (memory_bytes_ == 0) return false;
  const auto taken = static_cast<std::int64_t>(std::min(bytes, memory_bytes_));
  return unlooked_.fetch_sub(taken, std::memory_order_relaxed) <= taken && look(bytes);
}

bool Budget::may_exceed(std::uint64_t bytes) {
  // A thread comes here once a megabyte, or with a single allocation that is larger.
  return would_exceed(std::max<std::uint64_t>(bytes, kUnseenBytes));
}

double Budget::seconds_left() const {
  if (!deadline_) return std::numeric_limits<double>::infinity();
  return std::chrono::duration<double>(*deadline_ - Clock::now()).count();
}

Budget::Attempt::Attempt(Budget& budget, double seconds)
    : budget_(budget), deadline_(budget.deadline_), met_before_(budget.limit()) {
  if (seconds < budget.seconds_left()) {
    budget.deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(seconds));
  }
}
Budget::Attempt::~Attempt() {
  budget_.deadline_ = deadline_;
  if (met_before_ == Limit::kNone && budget_.limit() == Limit::kTime) {
    budget_.met_ = Limit::kNone;
    budget_.exceeded();  // the budget's own end may have come, or the user's interruption
  }
}

AllocationWatch::AllocationWatch(Budget* budget) : outer_(std::exchange(watching, budget)) {
  has_own_watch = true;
}
AllocationWatch::~AllocationWatch() {
  watching = outer_;
}

Budget* watched_by_this_thread() {
  return watching;
}

void watch_other_threads(Budget* budget, void (*last_resort)()) {
  last_resort_of_others = last_resort;
  watched_by_others = budget;
}

void AllocationWatch::before_allocation(std::size_t bytes) {
  Budget* const others =
      has_own_watch ? nullptr : watched_by_others.load(std::memory_order_acquire);
  Budget* const budget = others != nullptr ? others : watching;
  if (budget == nullptr) return;
  thread_local std::size_t unseen = 0;
  thread_local bool must_fail = false;
  unseen += bytes;
  if (counting.load(std::memory_order_relaxed) && ++watched == failing_place) must_fail = true;
  if (deferrals_ != 0 || (unseen < kUnseenBytes && !must_fail)) return;
  unseen = 0;
  const bool fails = std::exchange(must_fail, false);
  // Once only: what is thrown runs destructors, which must be able to allocate.
  if (budget->limit() != Limit::kNone && others == nullptr) return;
  if (fails) budget->meet(Limit::kMemory);
  if (!fails && !budget->may_exceed(bytes)) return;
  if (others != nullptr) (*last_resort_of_others.load())();
  throw std::bad_alloc();
}

void system_has_no_more_memory() {
  if (!has_own_watch && watched_by_others.load(std::memory_order_acquire) != nullptr)
    (*last_resort_of_others.load())();
}

void AllocationWatch::fail_at(std::uint64_t place) {
  failing_place = place;
  watched = 0;
  counting = true;
}

std::uint64_t AllocationWatch::watched_count() {
  return watched;
}

}  // namespace cupel::base
