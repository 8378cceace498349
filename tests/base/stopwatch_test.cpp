// Stopwatch: stages add up, inner ones take from outer ones, and threads that did not
// make it change nothing.
#include "base/stopwatch.hpp"

#include <gtest/gtest.h>

#include <ctime>

namespace cupel::base {
namespace {

// Processor time is what a test can wait for: nobody else takes it away.
void burn(double seconds) {
  const std::clock_t begin = std::clock();
  while (static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < seconds) {
  }
}

TEST(Stopwatch, AnInnerStageTakesItsTimeFromTheOuterOne) {
  Stopwatch watch;
  const double cpu_begin = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  {
    const Stopwatch::Lap outer(watch, "outer");
    burn(0.02);
    {
      const Stopwatch::Lap inner(watch, "inner");
      burn(0.04);
    }
    burn(0.02);
  }
  const double cpu = static_cast<double>(std::clock()) / CLOCKS_PER_SEC - cpu_begin;
  const auto stages = watch.stages();
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].name, "outer");
  EXPECT_EQ(stages[1].name, "inner");
  EXPECT_GE(stages[0].cpu_seconds, 0.039);
  EXPECT_GE(stages[1].cpu_seconds, 0.039);
  EXPECT_GE(stages[1].seconds, 0.039);
  EXPECT_NEAR(stages[0].cpu_seconds + stages[1].cpu_seconds, cpu, 0.005);
}

TEST(Stopwatch, AStageEnteredAgainGoesOn) {
  Stopwatch watch;
  for (int i = 0; i < 3; ++i) {
    const Stopwatch::Lap lap(watch, "again");
    burn(0.01);
  }
  ASSERT_EQ(watch.stages().size(), 1u);
  EXPECT_GE(watch.stages()[0].cpu_seconds, 0.029);
}

TEST(Stopwatch, AWholeLapKeepsItsInnerLapsOut) {
  Stopwatch watch;
  {
    const Stopwatch::Lap whole(watch, "whole", Stopwatch::Within::kWhole);
    const Stopwatch::Lap inner(watch, "inner");
  }
  const Stopwatch::Lap after(watch, "after");
  ASSERT_EQ(watch.stages().size(), 2u);
  EXPECT_EQ(watch.stages()[1].name, "after");
}

TEST(Stopwatch, AnotherThreadDoesNotLapIt) {
  Stopwatch watch;
  std::thread([&] { const Stopwatch::Lap lap(watch, "elsewhere"); }).join();
  EXPECT_TRUE(watch.stages().empty());
}

}  // namespace
}  // namespace cupel::base
