// A watch that ends at any moment and goes on from what it saved says what one says that was never
// ended.
#include "data/history/state.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/temp_dir.hpp"
#include "data/formats/formats.hpp"
#include "engine/online/checker.hpp"
#include "online/compare_all.hpp"
#include "online/prefixes.hpp"
#include "property/random_history.hpp"
#include "support/rounds.hpp"

namespace cupel::online {
namespace {

using history::ScalarKind;
using history::ScalarView;
using levels::Level;

TEST(WatchState, ReadsBackWhatWasWritten) {
  StateWriter out;
  const std::vector<std::uint64_t> numbers = {0, 127, 128, 1u << 31, ~std::uint64_t{0}};
  const std::vector<std::int64_t> integers = {0, -1, 1, std::numeric_limits<std::int64_t>::min(),
                                              std::numeric_limits<std::int64_t>::max()};
  for (const auto n : numbers) out.number(n);
  for (const auto i : integers) out.integer(i);
  out.flag(true);
  out.text(std::string("a\0b", 3));
  out.scalar(ScalarView::null());
  out.scalar(ScalarView::of(-7));
  out.scalar(ScalarView::keyword("k"));
  const auto sealed = std::move(out).sealed();
  StateReader in(sealed);
  for (const auto n : numbers) EXPECT_EQ(in.number(), n);
  for (const auto i : integers) EXPECT_EQ(in.integer(), i);
  EXPECT_TRUE(in.flag());
  EXPECT_EQ(in.text(), std::string_view("a\0b", 3));
  EXPECT_EQ(in.scalar(), ScalarView::null());
  EXPECT_EQ(in.scalar(), ScalarView::of(-7));
  EXPECT_EQ(in.scalar(), ScalarView::keyword("k"));
  EXPECT_TRUE(in.at_end());
  in.number();
  EXPECT_FALSE(in.good());
}

// One byte changed anywhere, or the end gone: it is no state.
TEST(WatchState, ADamagedStateIsNone) {
  StateWriter out;
  for (std::uint64_t i = 0; i < 40; ++i) out.number(i * i * i);
  const auto sealed = std::move(out).sealed();
  EXPECT_TRUE(StateReader(sealed).good());
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    auto damaged = sealed;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
    EXPECT_FALSE(StateReader(damaged).good()) << i;
    EXPECT_FALSE(StateReader(sealed.substr(0, i)).good()) << i;
  }
}

// What is not read as it was written is noticed, and asks for no memory.
TEST(WatchState, WhatDoesNotFitSpoilsTheRest) {
  StateWriter out;
  out.number(~std::uint64_t{0});
  const auto sealed = std::move(out).sealed();
  StateReader in(sealed);
  EXPECT_EQ(in.count(), 0u);
  EXPECT_FALSE(in.good());
  EXPECT_EQ(in.text(), "");
  EXPECT_EQ(in.scalar(), ScalarView::null());
}

// --- random histories, ended and gone on with at random moments ---

struct Outcome {
  std::string states;  // of each look
  std::uint64_t transactions = 0, forgotten = 0;
};

class GoesOn : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = base::TempDir::make("cupel-test-");
    ASSERT_TRUE(made.ok());
    folder_.emplace(*std::move(made));
  }

  // As JSON lines.
  std::vector<std::string> lines_of(const test::Sketch& sketch) {
    const auto file = folder_->file("history.jsonl");
    const auto written = formats::write(test::build(sketch), file, {});
    EXPECT_TRUE(written.ok()) << written.error().to_string();
    std::ifstream in(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
    return lines;
  }

  std::unique_ptr<Checker> checker(Level level) {
    return std::make_unique<Checker>(
        WatchOptions{.level = level}, "test", folder_->file("none.jsonl"),
        [](Checker::Question question) -> base::Result<Checker::State> {
          return question.certain ? Checker::State::kViolated : Checker::State::kUnknown;
        });
  }

  // A look after some lines each, as `random` says; with `ends`, another checker goes on from the
  // state after many of them.
  Outcome watch(const std::vector<std::string>& lines, Level level, std::uint64_t seed, bool ends) {
    base::Random looks(seed), moments(seed + 1);
    auto watching = checker(level);
    Outcome outcome;
    for (const auto& line : lines) {
      if (const auto taken = watching->take(line); !taken.ok()) {
        outcome.states += 'e';
        break;
      }
      if (looks.below(2) != 0) continue;
      const auto state = watching->finish();
      outcome.states += state.ok() ? static_cast<char>('0' + static_cast<int>(*state)) : 'r';
      if (!state.ok() || *state != Checker::State::kSatisfied) break;
      if (!ends || moments.below(2) != 0) continue;
      EXPECT_TRUE(watching->can_save());
      StateWriter out;
      watching->save(out);
      const auto sealed = std::move(out).sealed();
      StateReader in(sealed);
      watching = checker(level);
      const auto loaded = watching->load(in);
      EXPECT_TRUE(loaded.ok()) << loaded.error().to_string();
      ++resumed_;
    }
    outcome.transactions = watching->watch().window().held().transactions;
    outcome.forgotten = watching->watch().window().held().forgotten;
    return outcome;
  }

  std::optional<base::TempDir> folder_;
  std::size_t resumed_ = 0;
};

TEST_F(GoesOn, AsIfItHadNeverEnded) {
  std::size_t violated = 0, forgotten = 0;
  for (const Level level : test::kExact) {
    for (std::uint64_t seed = 0; seed < test::rounds(250U); ++seed) {
      const auto sketch = seed % 4 == 0   ? test::long_sketch(seed)
                          : seed % 4 == 2 ? test::compare_sketch(seed)
                                          : test::random_sketch(test::kind_of_seed(seed), seed);
      const auto lines = lines_of(sketch);
      const auto whole = watch(lines, level, seed, false);
      const auto parts = watch(lines, level, seed, true);
      ASSERT_EQ(parts.states, whole.states) << levels::name(level) << " seed " << seed;
      ASSERT_EQ(parts.transactions, whole.transactions) << levels::name(level) << " seed " << seed;
      ASSERT_EQ(parts.forgotten, whole.forgotten) << levels::name(level) << " seed " << seed;
      violated += whole.states.ends_with('1') ? 1 : 0;
      forgotten += whole.forgotten;
    }
  }
  EXPECT_GT(resumed_, test::rounds(500u));
  EXPECT_GT(violated, test::rounds(50u));
  EXPECT_GT(forgotten, test::rounds(1000u));
}

// A state is only for a watch that asks the same.
TEST_F(GoesOn, NotAtAnotherLevel) {
  const auto watching = checker(Level::kCausal);
  StateWriter out;
  watching->save(out);
  const auto sealed = std::move(out).sealed();
  StateReader in(sealed);
  const auto loaded = checker(Level::kStrictSerializable)->load(in);
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().message.find("found the state of a watch of causal"), std::string::npos)
      << loaded.error().message;
}

}  // namespace
}  // namespace cupel::online
