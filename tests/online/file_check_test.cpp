// Histories larger than memory: what is decided in windows of a file, of JSON lines or cupel's, is
// what the engine decides of the whole.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "online/compare_files.hpp"
#include "support/rounds.hpp"

namespace cupel::test {
namespace {

TEST(OnlineFileCheck, SmallHistoriesOfEveryKind) {
  compare_files(
      0, rounds(200), [](std::uint64_t seed) { return random_sketch(kind_of_seed(seed), seed); },
      0.2);
}

TEST(OnlineFileCheck, LongerHistories) {
  compare_files(3'000'000, 60, long_sketch, 0.05);
}

// A session whose only transaction stands at the end of the file and began at its beginning, on a
// key that nobody else has: it is held aside before the reader of the file knows either.
TEST(OnlineFileCheck, ASessionThatComesLate) {
  const auto folder = base::TempDir::make("cupel-test-");
  ASSERT_TRUE(folder.ok());
  const auto file = folder->file("history.jsonl");
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += fmt::format("{}w(x,{}) @{}-{}", i ? " ; " : "", i, 10 * i + 5, 10 * i + 9);
  for (const bool stale : {false, true}) {
    const auto sketch = parse_sketch(
        fmt::format("s1: {} | s2: r(y,nil) w(y,7) r(x,{}) @1-1000", text, stale ? "99" : "11"));
    ASSERT_TRUE(formats::write(build(sketch), file, {.format = formats::Format::kJepsen}).ok());
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const auto answer = in_windows(file, Level::kStrictSerializable, 0, seed, 0);
      ASSERT_TRUE(answer.ok());
      EXPECT_EQ(answer->finding, stale ? Finding::kViolated : Finding::kSatisfied) << seed;
    }
  }
}

}  // namespace
}  // namespace cupel::test
