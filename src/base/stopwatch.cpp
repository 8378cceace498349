// Stopwatch: see the header.
#include "base/stopwatch.hpp"

#include <algorithm>
#include <ctime>

namespace cupel::base {

namespace {

double process_cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

Stopwatch::Stopwatch() : owner_(std::this_thread::get_id()) {}

std::vector<Stopwatch::Stage> Stopwatch::stages() const {
  return stages_;
}

void Stopwatch::enter(std::size_t stage) {
  const auto now = std::chrono::steady_clock::now();
  const double cpu = process_cpu_seconds();
  if (current_ != kNoStage) {
    stages_[current_].seconds += std::chrono::duration<double>(now - since_).count();
    stages_[current_].cpu_seconds += cpu - cpu_since_;
  }
  since_ = now;
  cpu_since_ = cpu;
  current_ = stage;
}

Stopwatch::Lap::Lap(Stopwatch& watch, std::string_view name, Within within) : watch_(nullptr) {
  if (watch.owner_ != std::this_thread::get_id() || watch.whole_) return;
  watch_ = &watch;
  outer_ = watch.current_;
  outer_whole_ = watch.whole_;
  auto& stages = watch.stages_;
  const auto known = std::find_if(stages.begin(), stages.end(),
                                  [&](const Stage& stage) { return stage.name == name; });
  const auto place = static_cast<std::size_t>(known - stages.begin());
  if (known == stages.end()) stages.push_back({name});
  watch.enter(place);
  watch.whole_ = within == Within::kWhole;
}

Stopwatch::Lap::~Lap() {
  if (watch_ == nullptr) return;
  watch_->enter(outer_);
  watch_->whole_ = outer_whole_;
}

}  // namespace cupel::base
