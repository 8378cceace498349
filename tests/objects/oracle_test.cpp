// Random histories of each kind of object: the engine agrees with exhaustive search. The engine has
// its evidence confirmed by the verifier, so each verdict that agrees was proven, too.
#include <gtest/gtest.h>

#include <string>

#include "engine/objects/check.hpp"
#include "objects/exhaustive.hpp"
#include "objects/random_objects.hpp"
#include "support/rounds.hpp"

namespace cupel::objects_test {
namespace {

using history::ObjectHistory;
using history::ObjectKind;
using objects::Verdict;

std::string text_of(const ObjectHistory& h) {
  std::string text;
  for (const auto& op : h.ops) {
    text += "object " + std::to_string(op.object) + " [" + std::to_string(op.invoke) + ", " +
            (op.complete == history::kNever ? "never" : std::to_string(op.complete)) + "] " +
            std::string(history::to_string(op.status)) + " " + std::string(history::name(op.call)) +
            (op.known ? " known" : "");
    text += " " + std::to_string(op.number) + ";";
    for (const auto value : h.values_of(op)) text += " " + std::to_string(value);
    text += "\n";
  }
  return text;
}

class AgreesWithSearch : public ::testing::TestWithParam<ObjectKind> {};

TEST_P(AgreesWithSearch, OnRandomHistories) {
  std::mt19937 random(17);
  std::size_t satisfied = 0;
  const auto rounds = test::rounds<std::size_t>(10000);
  for (std::size_t round = 0; round < rounds; ++round) {
    auto history = random_objects(GetParam(), random);
    const bool expected = is_linearizable(history);
    base::Budget budget;
    const auto text = text_of(history);
    const auto found = objects::check(history, 0, budget);
    ASSERT_NE(found.verdict, Verdict::kUnknown) << found.detail << "\n" << text;
    ASSERT_EQ(found.verdict == Verdict::kSatisfied, expected) << "round " << round << "\n" << text;
    satisfied += expected ? 1 : 0;
  }
  // Both answers are frequent.
  EXPECT_GT(satisfied, rounds / 5);
  EXPECT_LT(satisfied, rounds * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(Kinds, AgreesWithSearch,
                         ::testing::Values(ObjectKind::kSet, ObjectKind::kCounter,
                                           ObjectKind::kUniqueIds, ObjectKind::kFifoQueue,
                                           ObjectKind::kBag),
                         [](const auto& info) {
                           std::string name(history::name(info.param));
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace cupel::objects_test
