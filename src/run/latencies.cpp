// Latencies: see the header.
#include "run/latencies.hpp"

#include <algorithm>
#include <cmath>

namespace cupel::run {

namespace {

constexpr double kLeast = 1e-3;   // milliseconds
constexpr double kMost = 1.44e7;  // four hours
constexpr double kStep = 0.01;    // of the natural logarithm

std::size_t counter_of(double milliseconds) {
  const double size = std::clamp(milliseconds, kLeast, kMost);
  return static_cast<std::size_t>(std::log(size / kLeast) / kStep);
}

}  // namespace

void Latencies::add(double milliseconds) {
  if (counts_.empty()) counts_.resize(counter_of(kMost) + 1);
  ++counts_[counter_of(milliseconds)];
  ++all_;
}

void Latencies::add(const Latencies& others) {
  if (others.counts_.empty()) return;
  counts_.resize(others.counts_.size());
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += others.counts_[i];
  all_ += others.all_;
}

double Latencies::percentile_ms(double share) const {
  if (all_ == 0) return 0;
  const auto rank =
      std::min(all_ - 1, static_cast<std::uint64_t>(share * static_cast<double>(all_)));
  std::uint64_t before = 0;
  std::size_t i = 0;
  while (before + counts_[i] <= rank) before += counts_[i++];
  return kLeast * std::exp((static_cast<double>(i) + 0.5) * kStep);  // the middle of the counter
}

}  // namespace cupel::run
