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

}  // namespace
}  // namespace cupel::test
