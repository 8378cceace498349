// ShortWait: waits a few microseconds for what another process is about to do, without sleeping.
//
// Two processes that ask and answer each other within microseconds spend most of their time on
// waking up from a sleep. So who waits looks again and again first, for kLongest at most. If that
// was in vain, the next waits do not look again: one, then 3, 7 and so on, up to 63 of them, until
// one was not in vain. So who waits for something that takes long loses next to nothing.
#pragma once

#include <algorithm>
#include <chrono>

namespace cupel::wire {

class ShortWait {
 public:
  static constexpr std::chrono::microseconds kLongest{50};

  // `came` looks, and does not wait. False: it is to be waited for in another way.
  template <typename Came>
  bool until(const Came& came) {
    using Clock = std::chrono::steady_clock;
    if (skipped_ > 0) {
      --skipped_;
      return came();
    }
    const auto end = Clock::now() + kLongest;
    do {
      if (came()) {
        in_vain_ = 0;
        return true;
      }
    } while (Clock::now() < end);
    in_vain_ = std::min(in_vain_ + 1, 6U);
    skipped_ = (1U << in_vain_) - 1;
    return false;
  }

 private:
  unsigned in_vain_ = 0;  // so many waits in a row
  unsigned skipped_ = 0;  // so many do not look again
};

}  // namespace cupel::wire
