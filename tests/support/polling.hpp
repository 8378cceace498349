// Waiting by the clock, for the few states that announce themselves by no event. No other
// file of the tests may sleep (tests/style). Where there is an event, wait for it: a future
// or a condition variable, the end of a process (process_event.hpp), a change of a file
// (file_event.hpp), a line that a program writes.
#pragma once

#include <chrono>
#include <thread>

namespace cupel::test {

// Asks until the condition holds; false if it does not within the time. For a state of
// another program (what a server answers, what /proc shows) or a plain counter. The
// caller says why nothing better is there.
template <typename Condition>
[[nodiscard]] bool poll_until(const Condition& condition,
                              std::chrono::milliseconds patience = std::chrono::seconds(60)) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

// Lets others go first, for instance after a conflict with them. Waits for nothing.
inline void back_off(std::chrono::microseconds time) {
  std::this_thread::sleep_for(time);
}

}  // namespace cupel::test
