// Budgets: an attempt within one ends by itself, and the budget goes on.
#include "base/budget.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cupel::base {
namespace {

using Seconds = std::chrono::duration<double>;

TEST(Budget, AnAttemptEndsBeforeIt) {
  for (const bool limited : {false, true}) {
    Budget budget(limited ? std::optional(Seconds(1000)) : std::nullopt, 0);
    {
      const Budget::Attempt attempt(budget, 0);
      EXPECT_TRUE(budget.exceeded());
      EXPECT_EQ(budget.limit(), Limit::kTime);
    }
    EXPECT_EQ(budget.limit(), Limit::kNone);
    EXPECT_FALSE(budget.exceeded());
    EXPECT_EQ(std::isinf(budget.seconds_left()), !limited);
    {
      const Budget::Attempt attempt(budget, 500);
      EXPECT_FALSE(budget.exceeded());
      EXPECT_LE(budget.seconds_left(), 500);
    }
    EXPECT_GT(budget.seconds_left(), 500);
  }
}

TEST(Budget, AnAttemptIsNotLonger) {
  Budget budget(Seconds(0), 0);
  {
    const Budget::Attempt attempt(budget, 1000);
    EXPECT_TRUE(budget.exceeded());
  }
  EXPECT_EQ(budget.limit(), Limit::kTime);
}

// It ended meanwhile, and nobody asked before the attempt was over.
TEST(Budget, WhatHasEndedStaysSo) {
  Budget budget(Seconds(0), 0);
  { const Budget::Attempt attempt(budget, 0); }
  EXPECT_TRUE(budget.exceeded());
  Budget met;
  met.meet(Limit::kMemory);
  { const Budget::Attempt attempt(met, 0); }
  EXPECT_EQ(met.limit(), Limit::kMemory);
  Budget within;
  {
    const Budget::Attempt attempt(within, 1000);
    within.meet(Limit::kMemory);
  }
  EXPECT_EQ(within.limit(), Limit::kMemory);
}

}  // namespace
}  // namespace cupel::base
