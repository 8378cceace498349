// KeyDistribution: see the header. Zipf by rejection inversion (Hörmann & Derflinger,
// 1996): constant time and memory for any number of keys. Hotspot: 80 % of the
// operations on 20 % of the keys. Exponential: the mean is a tenth of the keys.
#include "data/workload/keys.hpp"

#include <algorithm>
#include <cmath>

namespace cupel::workload {

namespace {
constexpr double kZipfExponent = 0.99;
constexpr double kHotShare = 0.8;
constexpr double kHotKeys = 0.2;
}  // namespace

// The integral of x^-s and its inverse.
double KeyDistribution::zipf_integral(double x) const {
  return (std::pow(x, 1 - kZipfExponent) - 1) / (1 - kZipfExponent);
}
double KeyDistribution::zipf_inverse(double x) const {
  return std::pow(1 + x * (1 - kZipfExponent), 1 / (1 - kZipfExponent));
}

KeyDistribution::KeyDistribution(Distribution distribution, std::uint64_t keys)
    : distribution_(distribution), keys_(keys) {
  low_ = zipf_integral(1.5) - 1;
  high_ = zipf_integral(static_cast<double>(keys) + 0.5);
  shift_ = 2 - zipf_inverse(zipf_integral(2.5) - std::pow(2, -kZipfExponent));
}

std::uint64_t KeyDistribution::choose(base::Random& random) const {
  switch (distribution_) {
    case Distribution::kUniform:
      break;
    case Distribution::kHotspot: {
      const auto hot = std::max<std::uint64_t>(
          1, static_cast<std::uint64_t>(kHotKeys * static_cast<double>(keys_)));
      if (hot == keys_ || random.chance(kHotShare)) return random.below(hot);
      return hot + random.below(keys_ - hot);
    }
    case Distribution::kExponential:
      while (true) {
        const double x = -std::log(1 - random.unit()) * static_cast<double>(keys_) / 10;
        if (x < static_cast<double>(keys_)) return static_cast<std::uint64_t>(x);
      }
    case Distribution::kZipf:
      while (true) {
        const double u = low_ + random.unit() * (high_ - low_);
        const double x = zipf_inverse(u);
        const double k = std::clamp(std::floor(x + 0.5), 1.0, static_cast<double>(keys_));
        if (k - x <= shift_ || u >= zipf_integral(k + 0.5) - std::pow(k, -kZipfExponent)) {
          return static_cast<std::uint64_t>(k) - 1;
        }
      }
  }
  return random.below(keys_);
}

}  // namespace cupel::workload
