// Rank set: a set of numbers below a bound, of which the next member is found quickly.
//
// It is a tree of bits: a bit of a level says whether a word of the level below has any. A question
// or change touches one word a level, and 64 times the members take one level more.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cupel::base {

class RankSet {
 public:
  static constexpr std::uint32_t kNoRank = 0xffffffff;

  explicit RankSet(std::size_t size) {
    for (std::size_t n = size + 1;; n = n / 64 + 1) {
      levels_.emplace_back(n / 64 + 1, 0);
      if (n <= 64) break;
    }
  }
  void clear() {
    for (auto& level : levels_) std::fill(level.begin(), level.end(), 0);
  }
  void insert(std::size_t i) {
    for (auto& level : levels_) {
      level[i / 64] |= std::uint64_t{1} << (i % 64);
      i /= 64;
    }
  }
  void erase(std::size_t i) {
    for (auto& level : levels_) {
      level[i / 64] &= ~(std::uint64_t{1} << (i % 64));
      if (level[i / 64] != 0) break;
      i /= 64;
    }
  }
  // The smallest member that is `i` or more, or kNoRank.
  [[nodiscard]] std::uint32_t from(std::size_t i) const {
    for (std::size_t l = 0; l < levels_.size() && i / 64 < levels_[l].size(); ++l, i = i / 64 + 1) {
      const auto word = levels_[l][i / 64] & ~((std::uint64_t{1} << (i % 64)) - 1);
      if (word == 0) continue;
      auto at = i / 64 * 64 + static_cast<std::size_t>(std::countr_zero(word));
      while (l-- > 0) at = at * 64 + static_cast<std::size_t>(std::countr_zero(levels_[l][at]));
      return static_cast<std::uint32_t>(at);
    }
    return kNoRank;
  }
  // The largest member below `i`, or kNoRank.
  [[nodiscard]] std::uint32_t before(std::size_t i) const {
    for (std::size_t l = 0; l < levels_.size(); ++l, i /= 64) {
      const auto word = levels_[l][i / 64] & ((std::uint64_t{1} << (i % 64)) - 1);
      if (word == 0) continue;
      auto at = i / 64 * 64 + static_cast<std::size_t>(std::bit_width(word)) - 1;
      while (l-- > 0) at = at * 64 + static_cast<std::size_t>(std::bit_width(levels_[l][at])) - 1;
      return static_cast<std::uint32_t>(at);
    }
    return kNoRank;
  }

 private:
  std::vector<std::vector<std::uint64_t>> levels_;
};

}  // namespace cupel::base
