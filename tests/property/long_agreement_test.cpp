// The same comparison for as long as one likes: CUPEL_SEEDS seeds (100000 if
// unset) from CUPEL_FIRST_SEED (1000000 if unset).
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "property/agreement.hpp"
#include "support/examples.hpp"

namespace cupel::test {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::stoull(text) : otherwise;
}

// Shrunk by earlier runs, and worked out by hand.
TEST(EngineVsOracle, AgreeWhereTheyOnceDidNot) {
  ASSERT_FALSE(found_by_the_oracle().empty());
  for (const auto& example : found_by_the_oracle()) {
    const std::string text = disagreement(parse_sketch(example.text));
    EXPECT_TRUE(text.empty()) << example.name << ": " << example.text << "\n" << text;
  }
}

TEST(EngineVsOracle, AgreeOnManySeeds) {
  const std::string text = first_disagreement(from_environment("CUPEL_FIRST_SEED", 1000000),
                                              from_environment("CUPEL_SEEDS", 100000));
  EXPECT_TRUE(text.empty()) << text;
}

}  // namespace
}  // namespace cupel::test
