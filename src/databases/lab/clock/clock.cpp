// NodeClock: see the header.
#include "databases/lab/clock/clock.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/descriptor.hpp"
#include "base/write_file.hpp"
#include "databases/lab/log.hpp"

namespace cupel::lab {

namespace {

constexpr double kNanoseconds = 1e9;
constexpr mode_t kForAll = 0644;

std::int64_t nanoseconds(double seconds) {
  return static_cast<std::int64_t>(seconds * kNanoseconds);
}

std::int64_t machine_time() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void NodeClock::Unmap::operator()(ClockSettings* settings) const {
  ::munmap(settings, sizeof *settings);
}

base::Result<NodeClock> NodeClock::make(const std::string& prefix) {
  const auto library = prefix + ".so";
  if (auto written = base::write_file(library, std::string(clock_library())); !written.ok()) {
    return std::move(written).error();
  }
  const auto path = prefix + ".settings";
  const base::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kForAll));
  void* mapped = MAP_FAILED;
  if (file && ::ftruncate(file.get(), sizeof(ClockSettings)) == 0 &&
      ::fchmod(file.get(), kForAll) == 0 && ::chmod(library.c_str(), kForAll) == 0) {
    mapped =
        ::mmap(nullptr, sizeof(ClockSettings), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  }
  if (mapped == MAP_FAILED) return base::Error{.message = std::strerror(errno), .file = path};
  NodeClock clock(prefix, Mapped(static_cast<ClockSettings*>(mapped)));
  clock.set({});
  return clock;
}

std::vector<std::pair<std::string, std::string>> NodeClock::environment() const {
  return {{"LD_PRELOAD", prefix_ + ".so"}, {CUPEL_CLOCK_VARIABLE, prefix_ + ".settings"}};
}

void NodeClock::set(const ClockFault& fault) {
  const auto now = machine_time();
  auto& to = *settings_;
  drifted_ += static_cast<std::int64_t>(static_cast<double>(now - to.since) * (to.rate - 1));
  if (fault.rate == 1) drifted_ = 0;
  const std::atomic_ref sequence(to.sequence);
  sequence.store(sequence.load() + 1);
  std::atomic_thread_fence(std::memory_order_release);
  to.since = now;
  to.offset = nanoseconds(fault.offset) + drifted_;
  to.rate = fault.rate;
  to.jump = nanoseconds(fault.jump);
  to.period = nanoseconds(fault.period);
  std::atomic_thread_fence(std::memory_order_release);
  sequence.store(sequence.load() + 1);
}

bool NodeClock::shown_to(int process) const {
  return text_of("/proc/" + std::to_string(process) + "/maps").find(prefix_ + ".so") !=
         std::string::npos;
}

}  // namespace cupel::lab
