// Histories larger than memory: what is decided in windows of a file, of JSON lines or cupel's, is
// what the engine decides of the whole.
#include <gtest/gtest.h>

#include "online/compare_files.hpp"

namespace cupel::test {
namespace {

TEST(OnlineFileCheck, SmallHistoriesOfEveryKind) {
  compare_files(
      0, 200, [](std::uint64_t seed) { return random_sketch(kind_of_seed(seed), seed); }, 0.2);
}

TEST(OnlineFileCheck, LongerHistories) {
  compare_files(3'000'000, 60, long_sketch, 0.05);
}

}  // namespace
}  // namespace cupel::test
