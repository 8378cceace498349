// Rank sets: the members next to a number, against a plain set.
#include "base/rank_set.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/random.hpp"

namespace cupel::base {
namespace {

TEST(RankSet, TheNextMembersAreThoseOfAPlainSet) {
  for (const std::size_t size : {1U, 63U, 64U, 65U, 5000U, 300'000U}) {
    Random random(size);
    RankSet ranks(size);
    std::set<std::uint32_t> plain;
    for (int step = 0; step < 2000; ++step) {
      const auto i = static_cast<std::uint32_t>(random.below(size));
      if (random.chance(0.6)) {
        ranks.insert(i);
        plain.insert(i);
      } else {
        ranks.erase(i);
        plain.erase(i);
      }
      const auto at = static_cast<std::uint32_t>(random.below(size + 1));
      const auto next = plain.lower_bound(at);
      EXPECT_EQ(ranks.from(at), next == plain.end() ? RankSet::kNoRank : *next);
      EXPECT_EQ(ranks.before(at), next == plain.begin() ? RankSet::kNoRank : *std::prev(next));
    }
  }
}

}  // namespace
}  // namespace cupel::base
