// The greedy guess of writers, one rule at a time: whom an open read sees, and whether what
// comes of it is a witness or meets an obstacle. Each case stands beside one that is a single
// edit away and ends otherwise.
#include "engine/order/writer_guess.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "order_language.hpp"

namespace cupel::test {
namespace {

using order::CoGraph;
using order::Owner;
using order::Visible;

// "o sees k in x: witness"
std::string guessed(std::string_view text, Visible visible) {
  const VisibilitySketch sketch = visibility_problem(text);
  const std::vector<std::span<const Owner>> candidates(sketch.candidates.begin(),
                                                       sketch.candidates.end());
  std::vector<Owner> writers;
  for (const auto& list : candidates)
    writers.push_back(list.size() == 1 ? list.front() : order::kUnresolved);
  const std::vector<Owner> known = writers;
  base::Budget budget;
  CoGraph co(sketch.problem, visible, known, budget);
  EXPECT_TRUE(co.saturate() && co.acyclic()) << "nothing is left to guess: " << text;
  std::vector<std::uint32_t> rank;
  EXPECT_TRUE(order::guess_writers({.problem = sketch.problem,
                                    .visible = visible,
                                    .co = co,
                                    .candidates = candidates,
                                    .hint = sketch.names.problem.hint},
                                   writers, rank, budget));
  EXPECT_EQ(rank.size(), sketch.problem.owner_count);
  std::string guess;
  for (std::size_t r = 0; r < writers.size(); ++r) {
    if (known[r] != order::kUnresolved) continue;
    const auto& read = sketch.problem.reads[r];
    guess += fmt::format(
        "{}{} sees {} in {}", guess.empty() ? "" : ", ", sketch.names.owner_name(read.owner),
        writers[r] == order::kInitial ? "init" : sketch.names.owner_name(writers[r]),
        sketch.names.objects[read.object]);
  }
  CoGraph with_guess(sketch.problem, visible, writers, budget);
  EXPECT_TRUE(with_guess.saturate());
  return guess + (with_guess.acyclic() ? ": witness" : ": obstacle");
}

// ---- An open read sees the newest visible version, if it may.

TEST(WriterGuess, WhatAnEarlierReadMakesVisible) {
  const auto at = [](const char* text) { return guessed(text, Visible::kEarlierRead); };
  EXPECT_EQ(at("w w(x) ; k w(x) w(y) | o r(y,k) r(x,w k)"), "o sees k in x: witness");
  EXPECT_EQ(at("w w(x) ; k w(x) w(y) | o r(y,k) r(x,w init)"), "o sees w in x: obstacle");
  EXPECT_EQ(at("w w(x) ; k w(x) w(y) | o r(x,w k) r(y,k)"), "o sees w in x: witness");
  EXPECT_EQ(at("w w(x) ; k w(x) w(y) | o r(y,k)&r(x,w k)"), "o sees w in x: witness");
}

TEST(WriterGuess, WhatAReadMakesVisibleInOneStep) {
  const auto at = [](const char* text) { return guessed(text, Visible::kDirect); };
  EXPECT_EQ(at("w w(x) ; k w(x) w(y) | o r(x,w k) r(y,k)"), "o sees k in x: witness");
  EXPECT_EQ(at("w w(x) ; k w(x) w(y) | o r(x,w init) r(y,k)"), "o sees w in x: obstacle");
  EXPECT_EQ(at("w w(x) ; k w(x) w(y) | o r(x,w k) r(y,init)"), "o sees w in x: witness");
}

TEST(WriterGuess, WhatTheSessionMakesVisible) {
  for (const auto visible : {Visible::kDirect, Visible::kCausal}) {
    EXPECT_EQ(guessed("w w(x) ; o r(x,init w)", visible), "o sees w in x: witness");
    EXPECT_EQ(guessed("w w(x) | o r(x,init w)", visible), "o sees init in x: witness");
    EXPECT_EQ(guessed("w w(x) ; k w(x) ; o r(x,w init)", visible), "o sees w in x: obstacle");
    EXPECT_EQ(guessed("w w(x) | o r(x,init w) | session w -> o", visible),
              "o sees w in x: witness");
    EXPECT_EQ(guessed("w w(x) ; k w(x) | o r(x,w k) | session w -> o", visible),
              "o sees w in x: witness");
    EXPECT_EQ(guessed("w w(x) ; k w(x) | o r(x,w k) | session k -> o", visible),
              "o sees k in x: witness");
  }
  EXPECT_EQ(guessed("w w(x) ; o r(x,init w)", Visible::kEarlierRead), "o sees init in x: witness");
}

// The session that is looked at next begins with nothing visible.
TEST(WriterGuess, NoSessionSeesAnothersWrites) {
  for (const auto visible : {Visible::kDirect, Visible::kCausal}) {
    EXPECT_EQ(guessed("w w(x) ; v w(z) | a w(y) ; o r(x,init w)", visible),
              "o sees init in x: witness");
    EXPECT_EQ(guessed("w w(x) ; v w(z) ; a w(y) ; o r(x,init w)", visible),
              "o sees w in x: witness");
  }
}

TEST(WriterGuess, WhatCausalityMakesVisible) {
  const char* by_two_reads = "w w(x) ; k w(x) w(y) | d r(y,k) w(z) | o r(z,d) r(x,w k)";
  EXPECT_EQ(guessed(by_two_reads, Visible::kCausal), "o sees k in x: witness");
  EXPECT_EQ(guessed(by_two_reads, Visible::kDirect), "o sees w in x: witness");
  const char* by_a_session = "w w(x) ; k w(y) | o r(y,k) r(x,init w)";
  EXPECT_EQ(guessed(by_a_session, Visible::kCausal), "o sees w in x: witness");
  EXPECT_EQ(guessed(by_a_session, Visible::kDirect), "o sees init in x: witness");
}

// The past of what an open read sees is visible to those that follow.
TEST(WriterGuess, AGuessBringsItsPastAlong) {
  EXPECT_EQ(guessed("w w(x) ; k w(y) | d r(y,k) w(z) ; o r(x,init w)", Visible::kCausal),
            "o sees w in x: witness");
  EXPECT_EQ(guessed("w w(x) ; k w(y) | d r(y,k init) w(z) ; o r(x,init w)", Visible::kCausal),
            "d sees init in y, o sees init in x: witness");
  EXPECT_EQ(guessed("w w(x) ; k w(y) ; l w(y) | d r(y,k l) w(z) ; o r(x,init w)", Visible::kCausal),
            "d sees k in y, o sees w in x: witness");
}

TEST(WriterGuess, AnOwnWriteIsNotSeen) {
  EXPECT_EQ(guessed("w w(x) ; k w(x) ; o r(x,w k) w(x)", Visible::kCausal),
            "o sees k in x: witness");
  EXPECT_EQ(guessed("w w(x) ; k w(x) ; o r(x,w init) w(x)", Visible::kCausal),
            "o sees w in x: obstacle");
}

// ---- Where it may not, it sees the oldest one that is newer and contradicts no other read.

TEST(WriterGuess, TheOldestCandidateThatIsNewer) {
  for (const auto visible : {Visible::kEarlierRead, Visible::kDirect, Visible::kCausal}) {
    EXPECT_EQ(guessed("a w(x) | b w(x) | o r(x,a b)", visible), "o sees a in x: witness");
    EXPECT_EQ(guessed("a w(x) | b w(x) | o r(x,b init)", visible), "o sees init in x: witness");
    EXPECT_EQ(guessed("a w(x) | b w(x) | o r(x,a b) | hints b a o", visible),
              "o sees b in x: witness");
  }
}

TEST(WriterGuess, ThePastOfACandidateMayContradictAnotherRead) {
  for (const auto visible : {Visible::kEarlierRead, Visible::kDirect, Visible::kCausal}) {
    EXPECT_EQ(guessed("a w(x) w(y) | b w(x) | o r(x,a b) r(y,init)", visible),
              "o sees b in x: witness");
    EXPECT_EQ(guessed("a w(x) w(y) | b w(x) | o r(x,a b) r(y,a)", visible),
              "o sees a in x: witness");
    EXPECT_EQ(guessed("a w(x) w(y) | b w(x) w(y) | o r(x,a b) r(y,init)", visible),
              "o sees a in x: obstacle");
  }
  // By what a itself saw, at causal only.
  const char* past = "p w(y) ; a w(x) | b w(x) | o r(x,a b) r(y,init)";
  EXPECT_EQ(guessed(past, Visible::kCausal), "o sees b in x: witness");
  EXPECT_EQ(guessed(past, Visible::kDirect), "o sees a in x: witness");
}

// Of two open reads the first choice is taken back if the second then has none.
TEST(WriterGuess, AChoiceIsTakenBack) {
  for (const auto visible : {Visible::kDirect, Visible::kCausal}) {
    EXPECT_EQ(guessed("a w(x) | b w(x) w(y) | o r(x,a b) r(y,init b)", visible),
              "o sees a in x, o sees init in y: witness");
    EXPECT_EQ(guessed("a w(x) w(y) | b w(x) w(y) | o r(x,a b) r(y,init b)", visible),
              "o sees b in x, o sees b in y: witness");
  }
}

// Clocks that the limit has no room for.
TEST(WriterGuess, EndsWithTheBudget) {
  const VisibilitySketch sketch = visibility_problem("w w(x) | o r(x,init w)");
  const std::vector<std::span<const Owner>> candidates(sketch.candidates.begin(),
                                                       sketch.candidates.end());
  base::Budget unlimited;
  std::vector<Owner> writers = {order::kUnresolved};
  CoGraph co(sketch.problem, Visible::kCausal, writers, unlimited);
  ASSERT_TRUE(co.saturate());
  std::vector<Owner> guess = writers;
  std::vector<std::uint32_t> rank;
  base::Budget none(std::nullopt, 1);
  EXPECT_FALSE(order::guess_writers({.problem = sketch.problem,
                                     .visible = Visible::kCausal,
                                     .co = co,
                                     .candidates = candidates,
                                     .hint = {}},
                                    guess, rank, none));
}

}  // namespace
}  // namespace cupel::test
