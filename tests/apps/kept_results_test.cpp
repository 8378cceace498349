// Kept results that the whole program cannot show: a history that grows while it is checked.
#include "apps/engine/kept_results.hpp"

#include <gtest/gtest.h>

#include <string>

#include "apps/command.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::apps {
namespace {

TEST(KeptResults, AreOfTheHistoryThatWasChecked) {
  const test::ScratchFolder scratch;
  const auto history = scratch.file("history.jsonl", "one\n");
  KeptResults kept(scratch.path("results"), "question", /*brief=*/false);
  ASSERT_TRUE(kept.prepare().ok());

  // It grows between the question and the answer: neither the old bytes nor the new have one.
  ASSERT_FALSE(kept.find(history));
  scratch.file("history.jsonl", "one\ntwo\n");
  ASSERT_TRUE(kept.keep(history, {"{}\n", kSatisfied}).ok());
  EXPECT_FALSE(kept.find(history));
  scratch.file("history.jsonl", "one\n");
  EXPECT_FALSE(kept.find(history));

  ASSERT_TRUE(kept.keep(history, {"{}\n", kViolated}).ok());
  const auto found = kept.find(history);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->line, "{}\n");
  EXPECT_EQ(found->code, kViolated);
}

}  // namespace
}  // namespace cupel::apps
