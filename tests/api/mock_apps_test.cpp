// The example applications: which promise breaks at which level, and in how many runs
// (Biswas, thesis 2021, table 4.1); what random runs see is what exploring finds.
#include "mock_apps.hpp"

#include <gtest/gtest.h>

#include <set>

namespace {

using cupel::Level;

// By application and promise: how many of so many runs of three clients of three
// operations break it.
std::vector<int> broken(Level level, int runs) {
  std::string error;
  std::vector<int> all;
  for (const auto& application : apps::applications()) {
    std::vector<int> counts(application.promises.size(), 0);
    for (int seed = 1; seed <= runs; ++seed) {
      auto store =
          cupel::MockStore::open({.level = level, .seed = static_cast<std::uint64_t>(seed)}, error);
      const auto outcome =
          application.run(*store, application.draw(static_cast<std::uint64_t>(seed), 3, 3), true);
      for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += outcome.broken[i] ? 1 : 0;
    }
    all.insert(all.end(), counts.begin(), counts.end());
  }
  return all;
}

TEST(MockApps, UnderCausalTheyBreakAboutAsSoonAsInTheThesis) {
  constexpr int kRuns = 2000;
  const double thesis[] = {3.7, 10.6, 57.5, 20.2, 6.3};
  const auto counts = broken(Level::kCausal, kRuns);
  ASSERT_EQ(counts.size(), std::size(thesis));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    ASSERT_GT(counts[i], 0) << i;
    EXPECT_LT(kRuns / static_cast<double>(counts[i]), 1.1 * thesis[i]) << i;
  }
}

// Overflow and the removed course are write skew, which snapshot isolation allows; the
// other three lose an update, which it does not.
TEST(MockApps, EachPromiseBreaksAtTheLevelsThatAllowIt) {
  const std::vector<bool> all(5, true), skew = {false, true, true, false, false}, none(5, false);
  const std::pair<Level, std::vector<bool>> expected[] = {
      {Level::kReadCommitted, all}, {Level::kReadAtomic, all},         {Level::kCausal, all},
      {Level::kPrefix, all},        {Level::kSnapshotIsolation, skew}, {Level::kSerializable, none},
  };
  for (const auto& [level, promises] : expected) {
    std::vector<bool> found;
    for (const int count : broken(level, 300)) found.push_back(count > 0);
    EXPECT_EQ(found, promises) << cupel::name(level);
  }
}

TEST(MockApps, WhatRandomRunsSeeIsWhatExploringFinds) {
  std::string error;
  for (const auto level : {Level::kCausal, Level::kSerializable}) {
    for (const auto& application : apps::applications()) {
      const auto plan = application.draw(3, 2, 2);
      const auto explored = cupel::explore(
          {.level = level},
          [&](cupel::MockStore& store) {
            auto outcome = application.run(store, plan, true);
            bool good = true;
            for (const bool is_broken : outcome.broken) good = good && !is_broken;
            return cupel::MockOutcome{outcome.seen, good};
          },
          {}, error);
      ASSERT_TRUE(explored) << error;
      ASSERT_EQ(explored->incomplete, "") << application.name;
      if (level == Level::kSerializable) {
        EXPECT_EQ(explored->failures, 0u) << application.name;
      }
      std::set<std::string> seen;
      for (std::uint64_t seed = 1;
           seed <= 500 || (seed <= 20'000 && seen.size() < explored->states.size()); ++seed) {
        auto store = cupel::MockStore::open({.level = level, .seed = seed}, error);
        const auto outcome = application.run(*store, plan, true);
        EXPECT_TRUE(explored->states.contains(outcome.seen)) << application.name << "\n"
                                                             << outcome.seen;
        seen.insert(outcome.seen);
      }
      EXPECT_EQ(seen.size(), explored->states.size())
          << application.name << " at " << cupel::name(level);
    }
  }
}

}  // namespace
