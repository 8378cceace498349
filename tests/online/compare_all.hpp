// Many random histories at every level that a watch decides exactly: shared by the quick and the
// long test.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>

#include "online/prefixes.hpp"
#include "property/random_history.hpp"
#include "support/rounds.hpp"

namespace cupel::test {

using levels::Level;

inline constexpr Level kExact[] = {Level::kCausal,
                                   Level::kPrefix,
                                   Level::kStrongSessionSnapshotIsolation,
                                   Level::kStrongSnapshotIsolation,
                                   Level::kStrongSessionSerializable,
                                   Level::kStrictSerializable,
                                   Level::kLinearizable};

struct Totals {
  std::size_t compared = 0, violated = 0, transactions = 0, forgotten = 0, looks = 0, asked = 0,
              waited = 0;
};

template <typename Make>
void compare_all(std::uint64_t first, std::uint64_t count, Make make,
                 std::span<const Level> levels = kExact) {
  for (const Level level : levels) {
    Totals totals;
    for (auto seed = first; seed < first + count; ++seed) {
      const Sketch sketch = make(seed);
      const history::Time drift = seed % 4 == 3 ? 4 : 0;
      const auto run = compare_prefixes(sketch, level, drift, seed, seed % 5 == 0 ? 4 : 1);
      ASSERT_EQ(run.difference, "") << "seed " << seed;
      ++totals.compared;
      totals.violated += run.violated;
      totals.transactions += run.transactions;
      totals.forgotten += run.forgotten;
      totals.looks += run.looks;
      totals.asked += run.asked;
      totals.waited += run.waited;
    }
    fmt::print(
        "{:34} {} histories, {} violated, {} asked in vain, {} beginnings, {} waited, {} of {} "
        "transactions forgotten\n",
        levels::name(level), totals.compared, totals.violated, totals.asked, totals.looks,
        totals.waited, totals.forgotten, totals.transactions);
    EXPECT_LT(totals.asked, totals.compared / 50 + 1) << levels::name(level);
    EXPECT_LT(totals.waited, totals.looks / 50 + 1) << levels::name(level);
    EXPECT_TRUE(totals.forgotten > 0 || !all_rounds()) << levels::name(level);
    EXPECT_TRUE(totals.violated > 0 || !all_rounds()) << levels::name(level);
  }
}

// Of the levels that no exact watch can decide: what is found without the whole history.
template <typename Make>
void compare_all_alone(std::uint64_t first, std::uint64_t count, Make make) {
  for (const Level level : {Level::kReadCommitted, Level::kReadAtomic, Level::kSnapshotIsolation,
                            Level::kGeneralizedSnapshotIsolation, Level::kSerializable}) {
    std::size_t found = 0, violated = 0, found_after_forgetting = 0;
    for (auto seed = first; seed < first + count; ++seed) {
      const auto run = compare_alone(make(seed), level, seed);
      ASSERT_EQ(run.difference, "") << "seed " << seed;
      found += run.found;
      violated += run.violated;
      found_after_forgetting += run.found && run.forgotten > 0;
    }
    fmt::print(
        "{:34} {} histories, {} violated, {} found by what is held, {} with forgotten ones\n",
        levels::name(level), count, violated, found, found_after_forgetting);
    EXPECT_TRUE(found_after_forgetting > 0 || !all_rounds()) << levels::name(level);
  }
}

template <typename Make>
void compare_all_given_up(std::uint64_t first, std::uint64_t count, Make make) {
  for (const Level level : levels::all_levels()) {
    std::size_t found = 0;
    for (auto seed = first; seed < first + count; ++seed) {
      const auto run = compare_given_up(make(seed), level, seed);
      ASSERT_EQ(run.difference, "") << "seed " << seed;
      found += run.found;
    }
    fmt::print("{:34} {} histories, {} found violated after a window was given up\n",
               levels::name(level), count, found);
    EXPECT_TRUE(found > 0 || !all_rounds()) << levels::name(level);
  }
}

// Of the levels that no exact watch can decide.
template <typename Make>
void compare_all_sliding(std::uint64_t first, std::uint64_t count, Make make) {
  for (const Level level : {Level::kReadCommitted, Level::kReadAtomic, Level::kSnapshotIsolation,
                            Level::kGeneralizedSnapshotIsolation, Level::kSerializable}) {
    Totals totals;
    for (auto seed = first; seed < first + count; ++seed) {
      const auto run = compare_sliding(make(seed), level, seed, 3 + seed % 9);
      ASSERT_EQ(run.difference, "") << "seed " << seed;
      totals.violated += run.violated;
      totals.forgotten += run.forgotten;
      totals.asked += run.asked;
    }
    fmt::print("{:34} {} histories, {} violated, {} asked in vain, {} transactions forgotten\n",
               levels::name(level), count, totals.violated, totals.asked, totals.forgotten);
    EXPECT_TRUE(totals.forgotten > 0 || !all_rounds()) << levels::name(level);
    EXPECT_TRUE(totals.violated > 0 || !all_rounds()) << levels::name(level);
  }
}

}  // namespace cupel::test
