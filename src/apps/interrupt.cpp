// The handler, its flag, and the descriptor that wait() reads: of what a handler may do,
// only a write wakes another thread.
#include "apps/interrupt.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "apps/emit.hpp"
#include "base/interrupt.hpp"

namespace cupel::apps {

namespace {

std::atomic<bool> flag = false;
static_assert(std::atomic<bool>::is_always_lock_free);
int pipe_ends[2] = {-1, -1};  // read from, written to

void on_signal(int signal) {
  if (flag.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  const int before = errno;
  [[maybe_unused]] const auto written = ::write(pipe_ends[1], "", 1);
  errno = before;
}

}  // namespace

Interruptible::Interruptible() {
  flag = false;
  if (::pipe(pipe_ends) != 0) pipe_ends[0] = pipe_ends[1] = -1;
  for (const int end : pipe_ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

Interruptible::~Interruptible() {
  base::interrupt_by(nullptr);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  for (int& end : pipe_ends) {
    if (end >= 0) ::close(end);
    end = -1;
  }
}

const std::atomic<bool>& Interruptible::stopped() const {
  return flag;
}

bool Interruptible::begin_check() const {
  const bool before = flag.exchange(false);
  base::interrupt_by(&flag);
  return before;
}

Interruptible::EndsChecks::EndsChecks(const Interruptible& /*interruptible*/) {
  base::interrupt_by(&flag);
}
Interruptible::EndsChecks::~EndsChecks() {
  base::interrupt_by(nullptr);
}

void Interruptible::wait() const {
  // Without a pipe (too many open files) the flag is looked at twice a second.
  const int patience_ms = pipe_ends[0] >= 0 ? -1 : 500;
  pollfd written = {pipe_ends[0], POLLIN, 0};
  while (!flag) ::poll(&written, 1, patience_ms);
}

std::string interrupted_check(const std::string& history) {
  if (history == "-") return "interrupted; what was not decided is unknown";
  return fmt::format(
      "interrupted; what was not decided is unknown. The history is kept; to check it later: cupel "
      "check {}",
      shell_word(history));
}

}  // namespace cupel::apps
