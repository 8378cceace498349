// Golden: real histories whose folder is their verdict, LEVEL/satisfied or
// LEVEL/violated. Where each comes from is README.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "golden/collection.hpp"
#include "golden/known_verdicts.hpp"
#include "source_dir.hpp"

namespace cupel::golden {
namespace {

namespace fs = std::filesystem;

struct GoldenCase {
  KnownHistory known;
  std::string name;
};
void PrintTo(const GoldenCase& c, std::ostream* out) {
  *out << c.known.path.string();
}

std::vector<GoldenCase> golden_cases() {
  const fs::path top = fs::path(CUPEL_SOURCE_DIR) / "tests/golden";
  std::vector<GoldenCase> cases;
  for (const auto level : levels::all_levels()) {
    for (const char* verdict : {"satisfied", "violated"}) {
      const fs::path folder = top / levels::name(level) / verdict;
      if (!fs::exists(folder)) continue;
      for (const auto& entry : fs::directory_iterator(folder)) {
        cases.push_back({{entry.path(), {{level, parse_verdict(verdict)}}},
                         test_name(fs::relative(entry.path(), top).string())});
      }
    }
  }
  std::sort(cases.begin(), cases.end(),
            [](const GoldenCase& a, const GoldenCase& b) { return a.name < b.name; });
  return cases;
}

TEST(GoldenFolders, AreLevels) {
  const fs::path top = fs::path(CUPEL_SOURCE_DIR) / "tests/golden";
  for (const auto& entry : fs::directory_iterator(top)) {
    if (!entry.is_directory() || entry.path().filename() == "narratives") continue;
    const auto level = levels::parse_level(entry.path().filename().string());
    EXPECT_TRUE(level && levels::name(*level) == entry.path().filename()) << entry.path();
    for (const auto& verdict : fs::directory_iterator(entry)) {
      EXPECT_NO_THROW(parse_verdict(verdict.path().filename().string())) << verdict.path();
    }
  }
  EXPECT_GE(golden_cases().size(), 75u);
}

class Golden : public testing::TestWithParam<GoldenCase> {};

TEST_P(Golden, HasTheVerdictOfItsFolder) {
  expect_verdicts(GetParam().known);
}

INSTANTIATE_TEST_SUITE_P(History, Golden, testing::ValuesIn(golden_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace cupel::golden
