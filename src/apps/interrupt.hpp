// Interruptible: Ctrl-C as a wish to end well.
#pragma once

#include <atomic>
#include <string>

namespace cupel::apps {

// While one is alive, the first SIGINT or SIGTERM makes stopped() true, and the
// second one ends the process. One at a time.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();  // no check is ended any more
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  [[nodiscard]] const std::atomic<bool>& stopped() const;
  // Histories are checked from now on. stopped() is false again, the next signal counts as the
  // first one, and it ends the check early, as a limit of time does. True: a signal came before,
  // and whatever it should have ended is the caller's to know.
  bool begin_check() const;
  // While one is alive, a signal also ends the check that runs, as a limit of time does. stopped()
  // is true afterwards.
  class EndsChecks {
   public:
    explicit EndsChecks(const Interruptible& interruptible);
    ~EndsChecks();
    EndsChecks(const EndsChecks&) = delete;
    EndsChecks& operator=(const EndsChecks&) = delete;
  };
  // Blocks until stopped() is true.
  void wait() const;
};

// What is said after a check that was interrupted, with the command that checks the history later.
std::string interrupted_check(const std::string& history);

}  // namespace cupel::apps
