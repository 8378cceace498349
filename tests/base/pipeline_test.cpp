// pipeline: the same items in the same order for any number of threads; what is thrown
// on either side reaches the caller.
#include "base/pipeline.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace cupel::base {
namespace {

TEST(Pipeline, GivesAllInOrder) {
  for (const unsigned threads : {0u, 1u, 2u}) {
    for (const int count : {0, 1, 3, 4, 5, 10'000}) {
      int made = 0;
      std::vector<int> taken, expected;
      for (int i = 0; i < count; ++i) expected.push_back(i);
      pipeline<int>(
          threads, [&](int& item) { return made < count && ((item = made++), true); },
          [&](int item) { return taken.push_back(item), true; });
      EXPECT_EQ(taken, expected) << threads;
    }
  }
}

TEST(Pipeline, StopsWhenNoMoreIsWanted) {
  for (const unsigned threads : {1u, 2u}) {
    int taken = 0;
    pipeline<int>(
        threads, [](int&) { return true; }, [&](int) { return ++taken < 100; });
    EXPECT_EQ(taken, 100) << threads;
  }
}

TEST(Pipeline, ThrowsAgain) {
  for (const unsigned threads : {1u, 2u}) {
    int made = 0, taken = 0;
    EXPECT_THROW(
        pipeline<int>(
            threads, [&](int&) { return made++ < 37 || (throw std::runtime_error("make"), false); },
            [&](int) { return ++taken, true; }),
        std::runtime_error);
    EXPECT_EQ(taken, 37) << "what was made before is taken";
    EXPECT_THROW(pipeline<int>(
                     threads, [](int&) { return true; },
                     [](int) -> bool { throw std::logic_error("take"); }),
                 std::logic_error);
  }
}

}  // namespace
}  // namespace cupel::base
