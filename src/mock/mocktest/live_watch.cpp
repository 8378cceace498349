// Live watch: see the header.
#include "mock/mocktest/live_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/check/check.hpp"

namespace cupel::mocktest {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLeastPause{20};
constexpr int kPausePerLook = 3;

}  // namespace

LiveWatch::LiveWatch(Store store, levels::Level level)
    : store_(std::move(store)), level_(level), thread_([this] { follow(); }) {}

LiveWatch::~LiveWatch() {
  static_cast<void>(end());
}

void LiveWatch::follow() {
  Clock::duration pause = kLeastPause;
  std::unique_lock lock(mutex_);
  while (!woken_.wait_for(lock, pause, [this] { return over_; }) && !violated_) {
    lock.unlock();
    const auto began = Clock::now();
    look();
    pause = std::max<Clock::duration>(kLeastPause, kPausePerLook * (Clock::now() - began));
    lock.lock();
  }
}

void LiveWatch::look() {
  const auto commits = store_.commits();
  if (commits == seen_ || violated_) return;
  seen_ = commits;
  const auto history = store_.history();
  if (!history.ok()) return;  // which the report of the run says
  check::Options options;
  options.asked = {level_};
  options.threads = 1;
  const auto checked = check::check(*history, options);
  const auto& result = checked.levels.front();
  if (result.verdict == check::Verdict::kViolated) violated_ = true;
  if (result.verdict == check::Verdict::kRefused) refused_ = result.detail;
}

base::Result<bool> LiveWatch::end() {
  if (!thread_.joinable()) return violated_.load();
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  woken_.notify_all();
  thread_.join();
  look();
  if (refused_.empty() || violated_) return violated_.load();
  return base::Error{.message = "--live: " + refused_};
}

}  // namespace cupel::mocktest
