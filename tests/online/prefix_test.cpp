// The window against the engine at every beginning of random histories: the same
// verdict, and so a violation at the first moment at which there is one.
#include "online/compare_all.hpp"

namespace cupel::test {
namespace {

TEST(OnlinePrefixes, SmallHistoriesOfEveryKind) {
  compare_all(0, 300, [](std::uint64_t seed) { return random_sketch(kind_of_seed(seed), seed); });
}

TEST(OnlinePrefixes, LongerHistories) {
  compare_all(1'000'000, 60, long_sketch);
}

TEST(OnlinePrefixes, AWindowThatSlidesAccusesNobody) {
  compare_all_sliding(0, 600, [](std::uint64_t seed) {
    return seed % 2 == 0 ? random_sketch(kind_of_seed(seed), seed) : long_sketch(seed);
  });
}

}  // namespace
}  // namespace cupel::test
