// The glossary knows every name that can come out of explain, and agrees with
// the levels about which are forbidden where.
#include "explain/glossary.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "levels/derivation.hpp"

namespace cupel::explain {
namespace {

using levels::Level;

const AnomalyEntry& entry(std::string_view name) {
  const auto all = anomalies();
  const auto it =
      std::find_if(all.begin(), all.end(), [&](const auto& e) { return e.name == name; });
  if (it == all.end()) throw std::invalid_argument(std::string(name));
  return *it;
}

TEST(Glossary, HasAPageForEveryLevel) {
  for (const Level level : levels::all_levels()) {
    EXPECT_NE(describe(levels::name(level)), "") << levels::name(level);
    EXPECT_EQ(describe(levels::short_name(level)), describe(levels::name(level)));
  }
}

TEST(Glossary, HasAPageForEveryName) {
  for (const char* name : {"thin-air-read",
                           "aborted-read",
                           "future-read",
                           "not-my-last-write",
                           "not-my-own-write",
                           "intermediate-read",
                           "non-repeatable-read",
                           "session-guarantee-violation",
                           "non-monotonic-read",
                           "fractured-read",
                           "causality-violation",
                           "long-fork",
                           "lost-update",
                           "write-skew",
                           "G0",
                           "G1a",
                           "G1b",
                           "G1c",
                           "G-single",
                           "G-nonadjacent",
                           "G2-item"}) {
    EXPECT_NE(describe(name), "") << name;
  }
  for (const char* base : {"G0", "G1c", "G-single", "G-nonadjacent", "G2-item"}) {
    EXPECT_NE(describe(std::string(base) + "-process"), "");
    EXPECT_NE(describe(std::string(base) + "-realtime"), "");
  }
  for (int kind = 0; kind <= static_cast<int>(levels::InternalKind::kFailedCompareRead); ++kind) {
    const auto internal = static_cast<levels::InternalKind>(kind);
    const auto by = forbidding(entry(levels::name(internal)));
    EXPECT_NE(std::find(by.begin(), by.end(), levels::forbidden_by(internal)), by.end())
        << levels::name(internal);
  }
}

TEST(Glossary, IsFoundInAnySpelling) {
  EXPECT_EQ(describe("Lost Update"), describe("lost-update"));
  EXPECT_EQ(describe("g_single"), describe("G-single"));
  EXPECT_EQ(describe("best effort"), "");
}

TEST(Glossary, ForbidsFromTheWeakestLevelOn) {
  EXPECT_EQ(forbidding(entry("write-skew")),
            (std::vector<Level>{Level::kSerializable, Level::kStrongSessionSerializable,
                                Level::kStrictSerializable}));
  const auto lost = forbidding(entry("lost-update"));
  EXPECT_EQ(std::count(lost.begin(), lost.end(), Level::kPrefix), 0);
  EXPECT_EQ(std::count(lost.begin(), lost.end(), Level::kSerializable), 1);
  EXPECT_EQ(forbidding(entry("thin-air-read")).size(), levels::kLevelCount);
}

}  // namespace
}  // namespace cupel::explain
