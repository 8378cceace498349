// The handler and its flag.
#include "cli/interrupt.hpp"

#include <csignal>

namespace cupel::cli {

namespace {

std::atomic<bool> flag = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int signal) {
  if (flag.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

Interruptible::Interruptible() {
  flag = false;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

Interruptible::~Interruptible() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& Interruptible::stopped() const {
  return flag;
}

}  // namespace cupel::cli
