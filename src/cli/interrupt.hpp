// Interruptible: Ctrl-C as a wish to end well.
#pragma once

#include <atomic>

namespace cupel::cli {

// While one is alive, the first SIGINT or SIGTERM makes stopped() true, and the
// second one ends the process. One at a time.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  [[nodiscard]] const std::atomic<bool>& stopped() const;
  // Blocks until stopped() is true.
  void wait() const;
};

}  // namespace cupel::cli
