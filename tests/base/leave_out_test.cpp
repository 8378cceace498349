// Delta debugging: minimal results, the order of the attempts, and where it stops.
#include "base/leave_out.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "base/random.hpp"

namespace cupel::base {
namespace {

using Units = std::vector<int>;
using Attempts = std::vector<std::pair<std::size_t, std::size_t>>;

Units numbers(int count) {
  Units units(static_cast<std::size_t>(count));
  std::iota(units.begin(), units.end(), 0);
  return units;
}

// Leaves out units as long as `fails` says so.
template <typename Fails>
bool leave_out_units(Units& units, const Chunks& chunks, Fails fails,
                     Attempts* attempts = nullptr) {
  return leave_out(
      chunks, [&] { return units.size(); },
      [&](std::size_t begin, std::size_t end) -> std::optional<std::size_t> {
        if (attempts != nullptr) attempts->emplace_back(begin, end);
        auto rest = without_range(units, begin, end);
        if (!fails(rest)) return std::nullopt;
        units = std::move(rest);
        return begin;
      });
}

bool has_all(const Units& units, const std::set<int>& needed) {
  return std::all_of(needed.begin(), needed.end(), [&](int unit) {
    return std::find(units.begin(), units.end(), unit) != units.end();
  });
}

TEST(LeaveOut, KeepsExactlyTheUnitsThatAreNeeded) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    auto units = numbers(1 + static_cast<int>(random.below(60)));
    std::set<int> needed;
    for (std::uint64_t i = random.below(5); i > 0; --i)
      needed.insert(static_cast<int>(random.below(units.size())));
    leave_out_units(units, {.first = (units.size() + 1) / 2},
                    [&](const Units& rest) { return has_all(rest, needed); });
    EXPECT_EQ(units, Units(needed.begin(), needed.end()));
  }
}

// 0 and 9 may go only together, and 5 only after 8, which is tried later.
TEST(LeaveOut, ToTheEndTriesSingleUnitsAgain) {
  const auto fails = [](const Units& rest) {
    const auto has = [&](int unit) { return has_all(rest, {unit}); };
    return has(0) == has(9) && (has(5) || !has(8));
  };
  auto once = numbers(10), again = numbers(10);
  const Chunks single{.first = 1};
  EXPECT_TRUE(leave_out_units(once, single, fails));
  EXPECT_EQ(once, (Units{0, 5, 9}));
  EXPECT_FALSE(leave_out_units(again, {.first = 1, .to_the_end = true}, fails));
  EXPECT_EQ(again, (Units{0, 9}));
}

TEST(LeaveOut, HalvesTheChunksUntilTheyAreSingleUnits) {
  auto units = numbers(5);
  Attempts attempts;
  EXPECT_FALSE(leave_out_units(
      units, {.first = 5}, [](const Units&) { return false; }, &attempts));
  EXPECT_EQ(attempts,
            (Attempts{{0, 5}, {0, 2}, {2, 4}, {4, 5}, {0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}));
  attempts.clear();
  const auto rounded_up = +[](std::size_t chunk, std::size_t) { return (chunk + 1) / 2; };
  leave_out_units(
      units, {.first = 3, .next = rounded_up}, [](const Units&) { return false; }, &attempts);
  EXPECT_EQ(
      attempts,
      (Attempts{{0, 3}, {3, 5}, {0, 2}, {2, 4}, {4, 5}, {0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}));
}

TEST(LeaveOut, TriesNothingWithoutUnitsOrChunks) {
  Units none;
  Attempts attempts;
  const auto always = [](const Units&) { return true; };
  EXPECT_FALSE(leave_out_units(none, {.first = 3}, always, &attempts));
  auto one = numbers(1);
  EXPECT_FALSE(leave_out_units(one, {.first = one.size() / 2}, always, &attempts));
  EXPECT_TRUE(attempts.empty());
}

TEST(LeaveOut, StopsWhenItIsTold) {
  auto units = numbers(100);
  int attempts = 0;
  leave_out(
      {.first = 1}, [&] { return units.size(); },
      [&](std::size_t begin, std::size_t end) -> std::optional<std::size_t> {
        ++attempts;
        units = without_range(units, begin, end);
        return begin;
      },
      [&] { return attempts < 7; });
  EXPECT_EQ(attempts, 7);
  EXPECT_EQ(units.size(), 93U);
}

// An attempt may leave out more than it was asked to.
TEST(LeaveOut, GoesOnWhereTheAttemptSays) {
  auto units = numbers(20);
  leave_out(
      {.first = 2}, [&] { return units.size(); },
      [&](std::size_t begin, std::size_t /*end*/) -> std::optional<std::size_t> {
        const int unit = units[begin];
        if (unit % 4 != 0) return std::nullopt;
        std::erase_if(units, [&](int other) { return other <= unit; });
        return 0;
      });
  EXPECT_EQ(units, (Units{17, 18, 19}));
}

}  // namespace
}  // namespace cupel::base
