// NodeClock: the time that the processes of one node see. They have a library preloaded (preload.c)
// that asks the settings of their node.
//
// A program that asks the kernel for the time, past the C library, sees the machine's: Go does.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "databases/lab/clock/settings.h"
#include "databases/lab/server.hpp"

namespace cupel::lab {

class NodeClock {
 public:
  // Makes the two files PREFIX.so and PREFIX.settings, which everybody may read.
  static base::Result<NodeClock> make(const std::string& prefix);

  // What the processes need in their environment.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const;
  // From now on. What the clock drifted stays as long as it goes on to drift.
  void set(const ClockFault& fault);
  // Whether a process has the library.
  [[nodiscard]] bool shown_to(int process) const;

 private:
  struct Unmap {
    void operator()(ClockSettings* settings) const;
  };
  using Mapped = std::unique_ptr<ClockSettings, Unmap>;
  NodeClock(std::string prefix, Mapped settings)
      : prefix_(std::move(prefix)), settings_(std::move(settings)) {}

  std::string prefix_;
  Mapped settings_;
  std::int64_t drifted_ = 0;  // nanoseconds
};

// The library's file, as built.
std::string_view clock_library();

}  // namespace cupel::lab
