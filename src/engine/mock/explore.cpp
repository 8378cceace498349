// The odometer, and what was reached.
#include "engine/mock/explore.hpp"

#include <algorithm>
#include <limits>

namespace cupel::mock {

namespace {
constexpr auto kUnknown =
    std::numeric_limits<std::size_t>::max();  // a digit that was given, not found
}

Explorer::Explorer(std::span<const std::size_t> choices) {
  for (const auto choice : choices) digits_.push_back({choice, kUnknown});
}

std::size_t Explorer::choose(std::size_t of) {
  if (made_ < digits_.size()) {
    auto& digit = digits_[made_];
    if (digit.of == kUnknown && digit.at < of) digit.of = of;
    if (digit.of == of) return digits_[made_++].at;
    diverges_ = true;
    digits_.resize(made_);
  }
  if (repeats_) return 0;
  digits_.push_back({0, of});
  ++made_;
  return 0;
}

void Explorer::reached(const Digest& history, std::span<const std::uint64_t> turns) {
  // What lies within the choices of the run before was reached by that, and rightly.
  if (repeats_ || made_ < digits_.size()) return;
  std::vector<std::uint64_t> place(history.begin(), history.end());
  place.insert(place.end(), turns.begin(), turns.end());
  repeats_ = !reached_.insert(std::move(place)).second;
}

bool Explorer::next(const Digest& history) {
  if (made_ < digits_.size()) {
    diverges_ = true;
    digits_.resize(made_);
  }
  constexpr std::uint64_t kEnd[] = {std::numeric_limits<std::uint64_t>::max()};
  reached(history, kEnd);
  ++runs_;
  last_repeated_ = repeats_;
  histories_ += !repeats_;
  diverged_ += diverges_;
  last_.clear();
  for (const auto& digit : digits_) last_.push_back(digit.at);
  made_ = 0;
  repeats_ = diverges_ = false;
  while (!digits_.empty() && digits_.back().at + 1 == digits_.back().of) digits_.pop_back();
  if (digits_.empty()) return false;
  ++digits_.back().at;
  return true;
}

}  // namespace cupel::mock
