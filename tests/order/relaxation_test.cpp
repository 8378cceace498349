// Optional session order: what a "no" that rests on a chain takes away, and which "no" is
// final.
#include "engine/order/relaxation.hpp"

#include <gtest/gtest.h>

#include "order_language.hpp"

namespace cupel::test {
namespace {

using order::Owner;
using order::Relaxation;

// One round: saturation ends in a cycle, and the relaxation is given it.
struct Round {
  explicit Round(std::string_view text) : engine(text), relaxation(engine.sketch.problem) {
    EXPECT_EQ(engine.saturation.run(), order::SaturationResult::kCycle);
    result = relaxation.cycles(engine.graph, engine.versions, engine.open, engine.budget);
  }
  // "final: " and the proof, or "alone: " and names.
  [[nodiscard]] std::string text() const {
    if (result) return "final: " + text_of(engine.sketch, result->proof);
    std::string names = "alone:";
    for (Owner o = 0; o < engine.sketch.owners.size(); ++o) {
      if (relaxation.chains().alone[o] != 0) names += " " + engine.sketch.owners[o];
    }
    return names;
  }
  Engine engine;
  Relaxation relaxation;
  std::optional<order::OrderResult> result;
};

// A proof of one cycle of chain steps and nothing else.
order::Proof steps(const OrderSketch& sketch,
                   const std::vector<std::pair<std::string, std::string>>& ends) {
  order::Proof proof;
  auto& cycle = proof.cycles.emplace_back();
  for (const auto& [from, to] : ends) {
    cycle.push_back(static_cast<std::uint32_t>(proof.arcs.size()));
    proof.arcs.push_back(
        {sketch.node(from), sketch.node(to), order::ArcKind::kChain, 0, order::kInitial, {}});
  }
  return proof;
}

TEST(Relaxation, AChainMayBeBrokenOnlyWhereSessionOrderIsOptional) {
  EXPECT_EQ(decided("optional: a r(x,b) ; b w(x)"), "yes in schedule: b a");
  EXPECT_EQ(decided("a r(x,b) ; b w(x)"), "no in saturation: [chain a->b, read x b->a]");
}

TEST(Relaxation, ANoThatRestsOnNoChainIsFinal) {
  EXPECT_EQ(decided("optional: a r(x,b) w(y) ; b w(x) r(y,a)"),
            "no in saturation: [read x b->a, read y a->b]");
  EXPECT_EQ(decided("optional: a r(x,b) w(y) ; b w(x) r(y,init)"), "yes in schedule: b a");
}

TEST(Relaxation, TheOwnerAtAChainStepIsTakenOut) {
  EXPECT_EQ(Round("optional: a r(x,b) ; b w(x) ; c w(y)").text(), "alone: b");
  EXPECT_EQ(Round("optional: a r(x,b) w(y) | b w(x) r(y,a) ; c w(y)").text(),
            "final: [read x b->a, read y a->b]");
}

// The chain steps of the cycle are not needed: the two alone have no solution.
TEST(Relaxation, TheOwnersOfTheProofAloneMayHaveNoSolution) {
  EXPECT_EQ(Round("optional: a r(x,b) w(y) w(z) ; b w(x) r(y,a)").text(),
            "final: [read x b->a, read y a->b]");
  const OrderSketch sketch = order_problem("optional: a r(x,b) w(y) ; b w(x) r(y,a)");
  Relaxation relaxation(sketch.problem);
  base::Budget budget;
  const auto result =
      relaxation.proof(steps(sketch, {{"a", "b"}}), order::Stage::kSaturation, budget);
  ASSERT_TRUE(result);
  EXPECT_EQ(text_of(sketch, result->proof), "[read x b->a, read y a->b]");
}

// b and c are taken out after a, then a itself: so b and c go back.
TEST(Relaxation, OwnersGoBackWhenAnotherIsTheCause) {
  EXPECT_EQ(Round("optional: a r(x,b) r(y,c) ; b w(x) ; c w(y)").text(), "alone: b c");
  EXPECT_EQ(Round("optional: a r(x,b) r(y,c) r(z,d) ; b w(x) ; c w(y) ; d w(z)").text(),
            "alone: a");
}

TEST(Relaxation, LaterRoundsCutTheChain) {
  const OrderSketch sketch = order_problem("optional: a w(x) ; b w(y) ; c w(z) ; d w(u)");
  Relaxation relaxation(sketch.problem);
  base::Budget budget;
  const auto round = [&](const char* from, const char* to) {
    EXPECT_FALSE(relaxation.proof(steps(sketch, {{from, to}}), order::Stage::kSaturation, budget));
  };
  round("a", "b");
  // A step that is gone already changes nothing.
  round("a", "b");
  round("a", "b");
  EXPECT_EQ(relaxation.chains().alone, (std::vector<std::uint8_t>{0, 1, 0, 0}));
  EXPECT_EQ(relaxation.chains().cut, (std::vector<std::uint8_t>{0, 0, 0, 0}));
  round("c", "d");
  EXPECT_EQ(relaxation.chains().alone, (std::vector<std::uint8_t>{0, 1, 0, 0}));
  EXPECT_EQ(relaxation.chains().cut, (std::vector<std::uint8_t>{0, 0, 0, 1}));
  EXPECT_FALSE(relaxation.all_alone());
}

// A proof that rests on a step over a cut would not come again: nothing more is given up.
TEST(Relaxation, AProofWithAStepOverACutChangesNothing) {
  const OrderSketch sketch = order_problem("optional: a w(x) ; b w(y) ; c w(z) ; d w(u) ; e w(v)");
  const auto cuts = [&](const std::vector<std::pair<std::string, std::string>>& last) {
    Relaxation relaxation(sketch.problem);
    base::Budget budget;
    const auto round = [&](const std::vector<std::pair<std::string, std::string>>& ends) {
      EXPECT_FALSE(relaxation.proof(steps(sketch, ends), order::Stage::kSaturation, budget));
    };
    for (int i = 0; i < 3; ++i) round({{"a", "b"}});
    round({{"c", "d"}});
    round(last);
    return relaxation.chains().cut;
  };
  using Cuts = std::vector<std::uint8_t>;
  EXPECT_EQ(cuts({{"d", "e"}}), (Cuts{0, 0, 0, 1, 1}));
  EXPECT_EQ(cuts({{"c", "e"}}), (Cuts{0, 0, 0, 1, 0}));
  EXPECT_EQ(cuts({{"d", "e"}, {"c", "d"}}), (Cuts{0, 0, 0, 1, 0}));
}

// It rests on the choice of a writer, and on no chain step that it names.
TEST(Relaxation, AProofWithoutAStepThatChoseWritersTakesAllOut) {
  const OrderSketch sketch = order_problem("optional: a w(x) ; b w(x) ; c r(x,a b)");
  order::Proof proof;
  proof.arcs.push_back({sketch.node("a"),
                        sketch.node("c"),
                        order::ArcKind::kAssumedWriter,
                        0,
                        sketch.owner("a"),
                        {}});
  proof.cycles = {{0}};
  Relaxation relaxation(sketch.problem);
  base::Budget budget;
  EXPECT_FALSE(relaxation.proof(proof, order::Stage::kRefine, budget));
  EXPECT_TRUE(relaxation.all_alone());
}

TEST(Relaxation, WhatWasForcedIsKeptForTheNextRound) {
  const Round round("optional: a w(x) | c r(x,a) r(y,b) ; b w(x) w(y)");
  ASSERT_FALSE(round.result);
  EXPECT_EQ(round.text(), "alone: b");
  // The round ended at once, in the cycle of the read and the chain.
  EXPECT_TRUE(round.relaxation.forced().empty());
  const Round later("optional: a w(x) ; b w(x) w(y) | c r(x,a) r(y,b)");
  ASSERT_EQ(later.relaxation.forced().size(), 2U);
}

}  // namespace
}  // namespace cupel::test
