// Stage 3: pairs and reads that only a search decides. Each text is a problem in which
// saturation forces nothing, and on which the greedy order of the hints breaks.
#include "order/refine.hpp"

#include <gtest/gtest.h>

#include "order_language.hpp"

namespace cupel::test {
namespace {

// r1 reads a's x after k2, r2 reads e's y after k1: k1 before a, or k2 before e.
TEST(Refine, ChoosesTheOrderOfAPairThatTheHintsBreakOn) {
  EXPECT_EQ(decided("a w(x) | e w(y) | k1 w(x) ; r2 r(y,e) | k2 w(y) ; r1 r(x,a)"),
            "yes in refine: e k1 r2 a k2 r1");
  EXPECT_EQ(decided("a w(x) | e w(y) | k1 w(x) | r2 r(y,e) | k2 w(y) | r1 r(x,a)"),
            "yes in schedule: a r1 e r2 k1 k2");
}

// Four orders of two pairs, and a cycle for each: the readers of all four versions come
// after the writers of the other pair.
constexpr std::string_view kWriters =
    "a w(x) w(p) w(u) | k w(x) w(p) w(v) | e w(y) w(q) w(t) | h w(y) w(q) w(s) | ";
constexpr std::string_view kReaders =
    "r1 r(x,a) r(t,e) r(s,h) | s1 r(p,k) r(t,e) r(s,h) | r2 r(y,e) r(u,a) r(v,k) | ";

TEST(Refine, RejectsWhereEveryOrderOfThePairsClosesACycle) {
  EXPECT_EQ(decided(std::string(kWriters) + std::string(kReaders) + "s2 r(q,h) r(u,a) r(v,k)"),
            "no in refine: "
            "[assume overwritten x r1->k after a, read v k->r2, "
            "assume overwritten y r2->h after e, read s h->r1] "
            "[assume overwritten p s1->a after k, read u a->r2, "
            "assume overwritten y r2->h after e, read s h->s1] "
            "[assume overwritten q s2->e after h, read t e->r1, "
            "assume overwritten x r1->k after a, read v k->s2] "
            "[assume overwritten p s1->a after k, read u a->s2, "
            "assume overwritten q s2->e after h, read t e->s1]");
}
TEST(Refine, AcceptsWhereOneOrderOfThePairsCloses) {
  EXPECT_EQ(decided(std::string(kWriters) + std::string(kReaders) + "s2 r(q,h) r(u,a)"),
            "yes in refine: a h s2 e r1 k s1 r2");
}

// c could read b's version or h's. By the hints k overwrites b's before c can begin, and h
// waits for m, which waits for c.
TEST(Refine, ChoosesTheWriterOfARead) {
  EXPECT_EQ(decided("b w(x) | k w(x) | g w(z) ; c r(x,b h) w(w) | m r(x,k) r(w,c) w(n) | h w(x)"),
            "yes in refine: b g c k m h");
  EXPECT_EQ(decided("b w(x) | k w(x) | g w(z) ; c r(x,b h) w(w) | m r(x,k) w(n) | h w(x)"),
            "yes in schedule: b k g m h c");
}

// c comes before e and f, d before a and b, whichever versions they read.
TEST(Refine, RejectsWhereEveryChoiceOfWritersClosesACycle) {
  EXPECT_EQ(decided("c r(x,a b) w(u) | d r(y,e f) w(v) | e r(u,c) w(y) | f r(u,c) w(y) | "
                    "a r(v,d) w(x) | b r(v,d) w(x)"),
            "no in refine: "
            "[assume read x a->c, read u c->e, assume read y e->d, read v d->a] "
            "[assume read x b->c, read u c->e, assume read y e->d, read v d->b] "
            "[assume read x a->c, read u c->f, assume read y f->d, read v d->a] "
            "[assume read x b->c, read u c->f, assume read y f->d, read v d->b]");
  EXPECT_EQ(decided("c r(x,a b) w(u) | d r(y,e f) w(v) | e r(u,c) w(y) | f r(u,c) w(y) | "
                    "a r(v,d) w(x) | b r(v,init) w(x)"),
            "yes in schedule: b c e d f a");
}

TEST(Refine, GivesUpAfterSoManyProposals) {
  OrderSketch sketch = order_problem("a w(x) | e w(y) | k1 w(x) ; r2 r(y,e) | k2 w(y) ; r1 r(x,a)");
  base::Budget budget;
  sketch.problem.max_proposals = 0;
  const auto none = order::decide(sketch.problem, budget);
  EXPECT_EQ(none.solvability, order::Solvability::kGaveUp);
  EXPECT_EQ(none.stage, order::Stage::kRefine);
  sketch.problem.max_proposals = 100;
  EXPECT_EQ(order::decide(sketch.problem, budget).solvability, order::Solvability::kYes);
}

TEST(Refine, WithoutAProofOnlyTheVerdictComes) {
  OrderSketch sketch =
      order_problem(std::string(kWriters) + std::string(kReaders) + "s2 r(q,h) r(u,a) r(v,k)");
  sketch.problem.without_proof = true;
  base::Budget budget;
  const auto result = order::decide(sketch.problem, budget);
  EXPECT_EQ(result.solvability, order::Solvability::kNo);
  EXPECT_EQ(result.stage, order::Stage::kRefine);
  EXPECT_TRUE(result.proof.cycles.empty());
}

}  // namespace
}  // namespace cupel::test
