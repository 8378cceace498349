// Latencies: percentiles within 1 %, whatever the number of transactions.
#include "run/latencies.hpp"

#include <gtest/gtest.h>

namespace {

using cupel::run::Latencies;

TEST(Latencies, OfNoneAreZero) {
  EXPECT_EQ(Latencies().percentile_ms(0.5), 0);
}

TEST(Latencies, AreWithinOnePercent) {
  Latencies latencies;
  for (int i = 1; i <= 100'000; ++i) latencies.add(i / 1000.0);  // 1 µs to 100 ms
  EXPECT_NEAR(latencies.percentile_ms(0.5), 50, 0.5);
  EXPECT_NEAR(latencies.percentile_ms(0.99), 99, 1);
  EXPECT_NEAR(latencies.percentile_ms(0.001), 0.1, 0.002);
}

TEST(Latencies, AreAddedUp) {
  Latencies fast, slow, all;
  for (int i = 0; i < 99; ++i) fast.add(1);
  slow.add(500);
  all.add(fast);
  all.add(slow);
  all.add(Latencies());
  EXPECT_NEAR(all.percentile_ms(0.5), 1, 0.01);
  EXPECT_NEAR(all.percentile_ms(0.99), 500, 5);
}

TEST(Latencies, OutsideOfTheCountersCountAsTheOutermost) {
  Latencies latencies;
  latencies.add(0);
  latencies.add(-1);
  EXPECT_NEAR(latencies.percentile_ms(0.5), 0.001, 0.0001);
  Latencies days;
  days.add(1e12);
  EXPECT_NEAR(days.percentile_ms(0.5), 1.44e7, 1.5e5);
}

}  // namespace
