// The number of threads changes nothing: what is read of a file, its errors, and the answer.
#include <gtest/gtest.h>

#include <string>

#include "crdt/analysis/analyze.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/workload/generate.hpp"
#include "support/parameter_name.hpp"

namespace cupel::crdt {
namespace {

constexpr std::size_t kLong = 1 << 20;

class Threads : public testing::TestWithParam<Type> {
 protected:
  [[nodiscard]] static GenerateOptions options() {
    GenerateOptions options;
    options.type = {GetParam()};
    options.keys = 300;
    options.replicas = 4;
    options.ops = 20'000;
    options.context = true;
    return options;
  }
};

TEST_P(Threads, ReadTheSame) {
  auto lines = write(generate(options()).value());
  while (lines.size() <= kLong) lines += "\n; nothing\n\n";
  const auto alone = read(lines, "h", {GetParam()}, 1),
             together = read(lines, "h", {GetParam()}, 2);
  ASSERT_TRUE(alone.ok()) << alone.error().to_string();
  ASSERT_TRUE(together.ok()) << together.error().to_string();
  EXPECT_EQ(write(*alone), write(*together));
  EXPECT_EQ(alone->lists, together->lists);
  ASSERT_EQ(alone->elements.size(), together->elements.size());
  for (std::size_t e = 0; e < alone->elements.size(); ++e)
    ASSERT_EQ(alone->elements[e].text, together->elements[e].text);

  lines += "{\"process\":1,\"f\":\"turn\",\"value\":[1]}\n";
  const auto wrong = read(lines, "h", {GetParam()}, 1),
             wrong_too = read(lines, "h", {GetParam()}, 2);
  ASSERT_FALSE(wrong.ok());
  ASSERT_FALSE(wrong_too.ok());
  EXPECT_EQ(wrong.error().to_string(), wrong_too.error().to_string());
}

TEST_P(Threads, DecideTheSame) {
  auto asked = options();
  asked.ops = 3000;
  asked.keys = 10;
  auto bugs = bugs_of(GetParam());
  bugs.insert(bugs.begin(), "");
  for (const auto& bug : bugs) {
    asked.bug = bug;
    const auto history = generate(asked).value();
    const auto visibility = Visibility::of(history).value();
    base::Budget budget;
    const auto answer = [&](unsigned threads) {
      return analyze(history, {.visibility = &visibility, .shrink_seconds = 0, .threads = threads},
                     budget);
    };
    const auto alone = answer(1), together = answer(2);
    ASSERT_EQ(alone.decision.verdict, together.decision.verdict) << bug;
    EXPECT_EQ(alone.decision.verdict, bug.empty() ? Verdict::kSatisfied : Verdict::kViolated);
    if (!alone.explanation) continue;
    EXPECT_EQ(alone.explanation->name, together.explanation->name) << bug;
    EXPECT_EQ(alone.explanation->summary, together.explanation->summary) << bug;
    EXPECT_EQ(alone.explanation->core.ops, together.explanation->core.ops) << bug;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Threads, testing::ValuesIn(all_types()), test::parameter_name);

}  // namespace
}  // namespace cupel::crdt
