// Rows of a table by counting.
#include "base/offsets.hpp"

#include <gtest/gtest.h>

namespace cupel::base {
namespace {

TEST(Offsets, CountTheItemsOfEachRow) {
  const std::vector<int> items = {2, 0, 2, 2};
  const auto first = offsets_by(4, items, [](int item) { return item; });
  EXPECT_EQ(first, (std::vector<std::uint32_t>{0, 1, 1, 4, 4}));
}

TEST(Offsets, OfNoItemsAreZero) {
  std::vector<std::uint32_t> first = {7, 7, 7};
  offsets_by(
      1, std::vector<int>{}, [](int item) { return item; }, first);
  EXPECT_EQ(first, (std::vector<std::uint32_t>{0, 0}));
}

}  // namespace
}  // namespace cupel::base
