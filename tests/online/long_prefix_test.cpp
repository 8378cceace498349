// As prefix_test, with many more histories: 10,000 at each level.
#include "online/compare_all.hpp"

namespace cupel::test {
namespace {

TEST(OnlinePrefixesLong, SmallHistoriesOfEveryKind) {
  compare_all(10'000, 10'000,
              [](std::uint64_t seed) { return random_sketch(kind_of_seed(seed), seed); });
}

TEST(OnlinePrefixesLong, LongerHistories) {
  compare_all(2'000'000, 10'000, long_sketch);
}

TEST(OnlinePrefixesLong, CompareAndSetsOfOpenTransactions) {
  compare_all(4'000'000, 10'000, compare_sketch);
}

TEST(OnlinePrefixesLong, WhatIsHeldAccusesNobodyByItself) {
  compare_all_alone(5'000'000, 10'000, [](std::uint64_t seed) {
    return seed % 3 == 0   ? random_sketch(kind_of_seed(seed / 3), seed)
           : seed % 3 == 1 ? compare_sketch(seed)
                           : long_sketch(seed);
  });
}

TEST(OnlinePrefixesLong, AWindowThatSlidesAccusesNobody) {
  compare_all_sliding(3'000'000, 10'000, [](std::uint64_t seed) {
    return seed % 2 == 0 ? random_sketch(kind_of_seed(seed), seed) : long_sketch(seed);
  });
}

}  // namespace
}  // namespace cupel::test
