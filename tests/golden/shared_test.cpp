// Shared: the whole collection of real histories (collection.hpp) has the verdicts that
// are known of it. Skipped where it is not there.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "data/formats/formats.hpp"
#include "golden/collection.hpp"
#include "golden/known_verdicts.hpp"

namespace cupel::golden {
namespace {

namespace fs = std::filesystem;

struct SharedCase {
  KnownHistory known;
  std::string name;
};
void PrintTo(const SharedCase& c, std::ostream* out) {
  *out << c.known.path.string();
}

std::vector<SharedCase> shared_cases() {
  std::vector<SharedCase> cases;
  for (const auto& [path, verdicts] : known_collection()) {
    cases.push_back({{collection_folder() / path, verdicts}, test_name(path)});
  }
  return cases;
}

TEST(SharedCollection, IsThere) {
  if (!fs::exists(collection_folder() / "expected.tsv")) {
    GTEST_SKIP() << "the collection of histories is not at " << collection_folder();
  }
  EXPECT_GE(shared_cases().size(), 250u);
}

TEST(SharedCollection, AnEmptyLogIsAnError) {
  const auto path = collection_folder() / "etcd-registers/etcd_095.log";
  if (!fs::exists(path)) GTEST_SKIP() << path << " is not there";
  EXPECT_FALSE(formats::read(path.string()).ok());
}

class Shared : public testing::TestWithParam<SharedCase> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Shared);

TEST_P(Shared, HasItsKnownVerdicts) {
  expect_verdicts(GetParam().known);
}

INSTANTIATE_TEST_SUITE_P(History, Shared, testing::ValuesIn(shared_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace cupel::golden
