// The glossary knows every name that can come out of explain, and agrees with
// the levels about which are forbidden where.
#include "explain/glossary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>

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

TEST(Glossary, SaysWhichLevelsForbidSomeOfAName) {
  EXPECT_EQ(forbidding_some(entry("G-nonadjacent")),
            std::vector<Level>{Level::kPrefix});  // a long fork is one
  EXPECT_NE(describe("G-nonadjacent").find("Some of them also by\n    prefix\n"),
            std::string::npos);
  EXPECT_TRUE(forbidding_some(entry("lost-update")).empty());
  EXPECT_EQ(describe("lost-update").find("Some of them"), std::string::npos);
}

// The rows of docs/anomalies.md: first column the name, last the weakest level.
TEST(Glossary, AgreesWithTheAnomaliesPage) {
  std::ifstream page(CUPEL_SOURCE_DIR "/docs/anomalies.md");
  std::map<std::string, std::string> rows;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| ")) continue;
    const auto end = line.find_last_not_of(" |");
    const auto last = line.rfind("| ", end);
    const auto name = line.substr(2, line.find_first_of(" |", 2) - 2);
    rows[name] = line.substr(last + 2, end - last - 1);
  }
  for (const auto& anomaly : anomalies()) {
    if (anomaly.name == "G1a" || anomaly.name == "G1b") continue;  // in brackets there
    ASSERT_TRUE(rows.contains(std::string(anomaly.name))) << anomaly.name << " has no row";
    EXPECT_EQ(rows[std::string(anomaly.name)], levels::name(anomaly.weakest.front()))
        << anomaly.name;
  }
  EXPECT_EQ(rows.size(), anomalies().size() - 2 + 1);  // `name`, the heading
}

// What cycle.cpp calls a cycle stands there as literals: all have a page.
TEST(Glossary, HasAPageForEveryNameInTheSource) {
  std::ifstream source(CUPEL_SOURCE_DIR "/src/explain/cycle.cpp");
  const std::string text{std::istreambuf_iterator<char>(source), std::istreambuf_iterator<char>()};
  const std::regex quoted("\"([a-zA-Z0-9]+(-[a-z]+)+|G[0-9a-z]+)\"");
  int names = 0;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), quoted);
       it != std::sregex_iterator(); ++it) {
    ++names;
    EXPECT_NE(describe((*it)[1].str()), "") << (*it)[1];
  }
  EXPECT_GE(names, 12);
}

}  // namespace
}  // namespace cupel::explain
