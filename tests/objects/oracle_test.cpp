// Random histories of each kind of object: the engine agrees with exhaustive search. The engine has
// its evidence confirmed by the verifier, so each verdict that agrees was proven, too.
#include <gtest/gtest.h>

#include <set>
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

std::set<std::string> patterns_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kSet:
      return {"aborted-read", "set-duplicate", "set-fork",     "set-future",
              "set-reverse",  "set-stale",     "thin-air-read"};
    case ObjectKind::kCounter:
      return {"counter-range", "counter-step", "no-order"};
    case ObjectKind::kUniqueIds:
      return {"id-twice"};
    case ObjectKind::kFifoQueue:
      return {"aborted-dequeue", "dequeued-too-often", "fifo-lost", "fifo-order",
              "thin-air-dequeue"};
    case ObjectKind::kBag:
      return {"aborted-dequeue", "dequeued-too-often", "thin-air-dequeue"};
    case ObjectKind::kBank:
      break;
  }
  return {"bank-range", "bank-total", "no-order"};
}

class AgreesWithSearch : public ::testing::TestWithParam<ObjectKind> {};

TEST_P(AgreesWithSearch, OnRandomHistories) {
  std::mt19937 random(17);
  std::size_t satisfied = 0;
  std::set<std::string> patterns;
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
    for (const auto& answer : found.answers) {
      if (answer.violation) patterns.insert(answer.violation->name);
    }
  }
  // Each pattern of the kind's page occurs. A quarter of the rounds may miss a rare one.
  if (test::all_rounds()) {
    EXPECT_EQ(patterns, patterns_of(GetParam()));
  }
  // Both answers are frequent.
  EXPECT_GT(satisfied, rounds / 5);
  EXPECT_LT(satisfied, rounds * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(Kinds, AgreesWithSearch,
                         ::testing::Values(ObjectKind::kSet, ObjectKind::kCounter,
                                           ObjectKind::kUniqueIds, ObjectKind::kFifoQueue,
                                           ObjectKind::kBag, ObjectKind::kBank),
                         [](const auto& info) {
                           std::string name(history::name(info.param));
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace cupel::objects_test
