// A few owners of a problem: what of it stays, and how a proof comes back.
#include "engine/order/sub_problem.hpp"

#include <gtest/gtest.h>

#include "order_language.hpp"

namespace cupel::test {
namespace {

struct Part {
  Part(std::string_view text, std::initializer_list<std::string_view> names,
       order::SubProblem::Chains chains = order::SubProblem::Chains::kNone)
      : sketch(order_problem(text)),
        tables(sketch.problem),
        sub(sketch.problem, tables, owners(names), chains) {}

  std::vector<order::Owner> owners(std::initializer_list<std::string_view> names) const {
    std::vector<order::Owner> result;
    for (const auto name : names) result.push_back(sketch.owner(name));
    return result;
  }
  // "yes", or "no: " and the proof in the numbers of the whole.
  std::string decided() const {
    base::Budget budget;
    auto result = order::decide(sub.problem(), budget);
    if (result.solvability == order::Solvability::kYes) return "yes";
    sub.translate(result.proof);
    return "no: " + text_of(sketch, result.proof);
  }

  OrderSketch sketch;
  order::OwnerTables tables;
  order::SubProblem sub;
};

TEST(SubProblem, AProofComesBackInTheNumbersOfTheWhole) {
  EXPECT_EQ(Part("p w(z) | q w(u) ; a r(x,b) w(y) | b w(x) r(y,a)", {"a", "b"}).decided(),
            "no: [read x b->a, read y a->b]");
  EXPECT_EQ(Part("p w(z) | q w(u) ; a r(x,b) w(y) | b w(x) r(y,init)", {"a", "b"}).decided(),
            "yes");
}

TEST(SubProblem, HasNoChains) {
  EXPECT_EQ(Part("a r(x,b) ; b w(x)", {"a", "b"}).decided(), "yes");
}

TEST(SubProblem, HasWhatIsLeftOfChainsIfAsked) {
  constexpr auto kAsWhole = order::SubProblem::Chains::kAsWhole;
  EXPECT_EQ(Part("c w(y) ; a r(x,b) ; d w(y) ; b w(x)", {"a", "b"}, kAsWhole).decided(),
            "no: [chain a->b, read x b->a]");
  EXPECT_EQ(Part("optional: a r(x,b) ; b w(x)", {"a", "b"}, kAsWhole).decided(), "yes");
}

TEST(SubProblem, KeepsReadsAllOfWhoseCandidatesAreInside) {
  EXPECT_EQ(Part("a r(x,b c) w(y) | b w(x) r(y,a) | c w(x) r(y,a)", {"a", "b", "c"}).decided(),
            "no: [assume read x b->a, read y a->b] [assume read x c->a, read y a->c]");
  const Part without_c("a r(x,b c) w(y) | b w(x) r(y,a) | c w(x) r(y,a)", {"a", "b"});
  EXPECT_EQ(without_c.decided(), "yes");
  EXPECT_EQ(without_c.sub.problem().reads.size(), 1U);
}

TEST(SubProblem, KeepsFixedArcsBothOfWhoseEndsAreInside) {
  constexpr std::string_view text = "a w(x) r(y,b) | b w(x) w(y) | c w(x) | list x a -> b | ";
  EXPECT_EQ(Part(std::string(text) + "list x b -> c", {"a", "b"}).decided(),
            "no: [list x a->b, read y b->a]");
  EXPECT_EQ(Part(std::string(text) + "list x b -> c", {"a", "c"}).decided(), "yes");
}

TEST(SubProblem, KeepsFixedArcsThroughHelpers) {
  EXPECT_EQ(Part("p w(z) | a r(x,b) | b w(x) | time a -> #0 | time #1 -> b", {"a", "b"}).decided(),
            "no: [read x b->a, time a->b]");
  EXPECT_EQ(Part("p w(z) | a r(x,b) | b w(x) | time a -> #1 | time #0 -> b", {"a", "b"}).decided(),
            "yes");
}

TEST(SubProblem, KeepsListOrders) {
  EXPECT_EQ(Part("p w(z) | a w(x) r(y,b) | b w(x) w(y) | list x a -> b", {"a", "b"}).decided(),
            "no: [list x a->b, read y b->a]");
  EXPECT_EQ(Part("p w(z) | a w(x) r(y,b) | b w(x) w(y) | list x b -> a", {"a", "b"}).decided(),
            "yes");
}

// The read of c is the second of the whole, and a its fourth owner.
TEST(SubProblem, TranslatesTheReadsAndOwnersThatAProofNames) {
  EXPECT_EQ(Part("p w(z) | q r(z,p) | c r(x,a b) r(s,k) w(t) | a w(x) | k w(x) w(s) | "
                 "b r(t,c) w(x) | list x a -> k",
                 {"c", "a", "k", "b"})
                .decided(),
            "no: [assume overwritten x c->k after a {list x a->k}, read s k->c] "
            "[assume read x b->c, read t c->b]");
  EXPECT_EQ(Part("p w(z) | a w(x) ; q w(z) | b w(x) r(y,a2) | a2 r(x,a) w(y) | c r(x,a) r(y,a2) "
                 "r(v,b2) | b2 r(x,b) w(v)",
                 {"a", "b", "a2", "c", "b2"})
                .decided(),
            "no: [read x a->a2, read y a2->b, visible x b->a for c {read x b->b2, read v b2->c}]");
}

}  // namespace
}  // namespace cupel::test
