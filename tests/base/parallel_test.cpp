// for_each_index: every index once, exceptions reach the caller.
#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <new>
#include <vector>

namespace cupel::base {
namespace {

TEST(ForEachIndex, CallsEachOnce) {
  for (const unsigned threads : {0u, 1u, 2u, 7u}) {
    for (const std::size_t count : {0u, 1u, 5u, 1000u}) {
      std::vector<int> calls(count, 0);
      for_each_index(count, threads, [&](std::size_t i) { ++calls[i]; });
      EXPECT_EQ(calls, std::vector<int>(count, 1)) << threads;
    }
  }
}

TEST(ForEachIndex, ThrowsAgainWhatACallThrew) {
  for (const unsigned threads : {1u, 4u}) {
    EXPECT_THROW(for_each_index(100, threads,
                                [](std::size_t i) {
                                  if (i == 37) throw std::bad_alloc();
                                }),
                 std::bad_alloc);
  }
}

}  // namespace
}  // namespace cupel::base
