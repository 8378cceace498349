// As file_check_test.cpp, thousands of histories.
#include <gtest/gtest.h>

#include "online/compare_files.hpp"

namespace cupel::test {
namespace {

TEST(LongOnlineFileCheck, SmallHistoriesOfEveryKind) {
  compare_files(
      10'000, 6000, [](std::uint64_t seed) { return random_sketch(kind_of_seed(seed), seed); },
      0.2);
}

TEST(LongOnlineFileCheck, LongerHistories) {
  compare_files(4'000'000, 3000, long_sketch, 0.05);
}

// Without real time, any later write may be what one that failed has seen.
TEST(LongOnlineFileCheck, CompareAndSets) {
  compare_files(6'000'000, 3000, compare_sketch, 0.5);
}

}  // namespace
}  // namespace cupel::test
