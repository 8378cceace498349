// Neither repairs nor a look at what is nearby change an answer: random problems are decided with
// and without them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "order_language.hpp"

namespace cupel::test {
namespace {

// Up to eight owners in up to four chains, which read and write three objects; a read has up to two
// candidates among the writers of its object. Half of the problems have hints in any order, as from
// clocks that are wrong.
std::string random_problem(std::mt19937_64& random) {
  const auto up_to = [&](std::uint64_t most) { return random() % (most + 1); };
  const std::uint64_t owners = 3 + up_to(5);
  constexpr std::string_view kObjects = "xyz";
  std::vector<std::string> writes(owners);
  std::vector<std::vector<std::uint64_t>> writers(kObjects.size());
  for (std::uint64_t o = 0; o < owners; ++o) {
    for (std::size_t x = 0; x < kObjects.size(); ++x) {
      if (up_to(2) != 0) continue;
      writes[o] += fmt::format(" w({})", kObjects[x]);
      writers[x].push_back(o);
    }
  }
  std::string text;
  for (std::uint64_t o = 0; o < owners; ++o) {
    if (o != 0) text += up_to(1) == 0 ? " ; " : " | ";
    text += fmt::format("t{}", o);
    for (std::size_t x = 0; x < kObjects.size(); ++x) {
      if (up_to(1) != 0) continue;
      std::vector<std::string> candidates;
      for (const auto w : writers[x]) {
        if (w != o && up_to(2) == 0 && candidates.size() < 2)
          candidates.push_back(fmt::format("t{}", w));
      }
      if (candidates.empty() || up_to(5) == 0) candidates.emplace_back("init");
      text += fmt::format(" r({},{})", kObjects[x], fmt::join(candidates, " "));
    }
    text += writes[o];
  }
  if (up_to(1) == 0) return text;
  std::vector<std::string> hints;
  for (std::uint64_t o = 0; o < owners; ++o) hints.push_back(fmt::format("t{}", o));
  std::shuffle(hints.begin(), hints.end(), random);
  return text + fmt::format(" | hints {}", fmt::join(hints, " "));
}

// 6,000 problems with one word before them and with another; calls seen(with, without).
template <typename Seen>
void expect_same_answers(std::uint64_t seed, std::string_view with_word,
                         std::string_view without_word, Seen seen) {
  std::mt19937_64 random(seed);
  int yes = 0, no = 0;
  for (int i = 0; i < 6000; ++i) {
    const std::string problem = random_problem(random);
    constexpr std::string_view kFlags[] = {"whole", "split", "no-overlap", "optional"};
    const std::string flag(kFlags[static_cast<std::size_t>(i) % std::size(kFlags)]);
    const auto decided_by = [&](std::string_view word) {
      return decided(fmt::format("{} {}: {}", flag, word, problem));
    };
    const std::string with = decided_by(with_word), without = decided_by(without_word);
    ASSERT_EQ(with.substr(0, 3), without.substr(0, 3)) << flag << ": " << problem;
    yes += with.starts_with("yes");
    no += with.starts_with("no ");
    seen(with, without);
  }
  EXPECT_GT(yes, 500);
  EXPECT_GT(no, 500);
}

TEST(Nearby, ChangesNoAnswer) {
  int others = 0;  // another proof, or another stage
  expect_same_answers(2, "nearby", "", [&](const std::string& with, const std::string& without) {
    others += with != without;
  });
  EXPECT_GT(others, 100);
}

TEST(Repair, ChangesNoAnswer) {
  int repaired = 0;
  expect_same_answers(
      1, "", "unrepaired", [&](const std::string& with, const std::string& without) {
        repaired += with.starts_with("yes in schedule") && !without.starts_with("yes in schedule");
      });
  EXPECT_GT(repaired, 5);
}

}  // namespace
}  // namespace cupel::test
