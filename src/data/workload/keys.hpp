// KeyDistribution: which key an operation touches, by distribution.
#pragma once

#include <cstdint>

#include "base/random.hpp"
#include "data/workload/generate.hpp"

namespace cupel::workload {

class KeyDistribution {
 public:
  KeyDistribution(Distribution distribution, std::uint64_t keys);
  std::uint64_t choose(base::Random& random) const;  // in [0, keys)

 private:
  [[nodiscard]] double zipf_integral(double x) const;
  [[nodiscard]] double zipf_inverse(double x) const;

  Distribution distribution_;
  std::uint64_t keys_;
  double low_ = 0, high_ = 0, shift_ = 0;  // zipf
};

}  // namespace cupel::workload
