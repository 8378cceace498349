// Stage 3: pairs and reads that only a search decides. Each text is a problem in which
// saturation forces nothing, and on which the greedy order of the hints breaks. Most would be
// repaired before (schedule_repair.cpp), so repairs are off here.
#include "engine/order/refine.hpp"

#include <gtest/gtest.h>

#include "order_language.hpp"

namespace cupel::test {
namespace {

std::string refined(std::string_view text) {
  return decided("unrepaired: " + std::string(text));
}

// r1 reads a's x after k2, r2 reads e's y after k1: k1 before a, or k2 before e.
TEST(Refine, ChoosesTheOrderOfAPairThatTheHintsBreakOn) {
  EXPECT_EQ(refined("a w(x) | e w(y) | k1 w(x) ; r2 r(y,e) | k2 w(y) ; r1 r(x,a)"),
            "yes in refine: e k1 r2 a k2 r1");
  EXPECT_EQ(refined("a w(x) | e w(y) | k1 w(x) | r2 r(y,e) | k2 w(y) | r1 r(x,a)"),
            "yes in schedule: a r1 e r2 k1 k2");
}

// Four orders of two pairs, and a cycle for each: the readers of all four versions come
// after the writers of the other pair.
constexpr std::string_view kWriters =
    "a w(x) w(p) w(u) | k w(x) w(p) w(v) | e w(y) w(q) w(t) | h w(y) w(q) w(s) | ";
constexpr std::string_view kReaders =
    "r1 r(x,a) r(t,e) r(s,h) | s1 r(p,k) r(t,e) r(s,h) | r2 r(y,e) r(u,a) r(v,k) | ";

TEST(Refine, RejectsWhereEveryOrderOfThePairsClosesACycle) {
  EXPECT_EQ(refined(std::string(kWriters) + std::string(kReaders) + "s2 r(q,h) r(u,a) r(v,k)"),
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
  EXPECT_EQ(refined(std::string(kWriters) + std::string(kReaders) + "s2 r(q,h) r(u,a)"),
            "yes in refine: a h s2 e r1 k s1 r2");
}

// c could read b's version or h's. By the hints k overwrites b's before c can begin, and h
// waits for m, which waits for c.
TEST(Refine, ChoosesTheWriterOfARead) {
  EXPECT_EQ(refined("b w(x) | k w(x) | g w(z) ; c r(x,b h) w(w) | m r(x,k) r(w,c) w(n) | h w(x)"),
            "yes in refine: b g c k m h");
  EXPECT_EQ(refined("b w(x) | k w(x) | g w(z) ; c r(x,b h) w(w) | m r(x,k) w(n) | h w(x)"),
            "yes in schedule: b k g m h c");
}

// c comes before e and f, d before a and b, whichever versions they read.
TEST(Refine, RejectsWhereEveryChoiceOfWritersClosesACycle) {
  EXPECT_EQ(refined("c r(x,a b) w(u) | d r(y,e f) w(v) | e r(u,c) w(y) | f r(u,c) w(y) | "
                    "a r(v,d) w(x) | b r(v,d) w(x)"),
            "no in refine: "
            "[assume read x a->c, read u c->e, assume read y e->d, read v d->a] "
            "[assume read x b->c, read u c->e, assume read y e->d, read v d->b] "
            "[assume read x a->c, read u c->f, assume read y f->d, read v d->a] "
            "[assume read x b->c, read u c->f, assume read y f->d, read v d->b]");
  EXPECT_EQ(refined("c r(x,a b) w(u) | d r(y,e f) w(v) | e r(u,c) w(y) | f r(u,c) w(y) | "
                    "a r(v,d) w(x) | b r(v,init) w(x)"),
            "yes in schedule: b c e d f a");
}

// --- a rule each: the solution without which it would be lost, and an edit that leaves none ---

// d would overwrite c's version before h reads it; but d, which reads it too, is no reason
// against itself.
TEST(Refine, AReaderMayOverwriteWhatItRead) {
  EXPECT_EQ(refined("b w(x) | c w(x) | d r(x,c) w(x) | h r(x,c b) w(x)"), "yes in refine: b h c d");
  EXPECT_EQ(refined("b w(x) | c w(x) | d r(x,c) w(x) | h r(x,c) w(x)"),
            "no in saturation: [overwritten x d->h after c {read x c->h}, "
            "overwritten x h->d after c {read x c->d}]");
}

// d can read the initial version only before b, the other writer.
TEST(Refine, AReadOfTheInitialVersionComesBeforeTheWriters) {
  EXPECT_EQ(refined("a r(y,b) w(x) | b w(x) w(y) | d r(x,b init) w(y)"), "yes in refine: d b a");
  EXPECT_EQ(refined("a r(y,b) w(x) | b w(x) w(y) | d r(x,b) w(y)"),
            "no in saturation: [overwritten x d->a after b {read y b->a}, "
            "overwritten y a->d after b {read x b->d}]");
}

// b overwrites a's version, c's or g's, whichever h reads, if the pair came before the read.
TEST(Refine, AReadThatComesLaterMeetsThePairsThatAreThere) {
  EXPECT_EQ(refined("b r(x,d g) w(x) | d w(x) | e r(x,d init) w(x) | f r(x,b e) ; g r(x,d) w(x)"),
            "yes in refine: e f d g b");
  EXPECT_EQ(refined("b r(x,d g) w(x) | d w(x) | e r(x,d) w(x) | f r(x,b e) ; g r(x,d) w(x)")
                .substr(0, 16),
            "no in saturation");
}

// The pair of g and what h reads comes after the read.
TEST(Refine, APairThatComesLaterMeetsTheReadsThatAreThere) {
  EXPECT_EQ(refined("b w(x) | c w(x) | g w(x) ; h r(x,c b)"), "yes in refine: b g c h");
  EXPECT_EQ(refined("b w(x) | c w(x) | g w(x) ; h r(x,init)"),
            "no in saturation: [chain g->h, initial x h->g]");
}

// Who read another object of a pair is not overwritten.
TEST(Refine, APairOverwritesOnlyWhatBothWrite) {
  EXPECT_EQ(refined("b r(x,e c) w(x) | c w(x) w(y) | e w(x) w(y) | f r(x,b) r(y,init e) w(x)"),
            "yes in refine: c e b f");
  EXPECT_EQ(refined("b r(x,e c) w(x) | c w(x) w(y) | e w(x) w(y) | f r(x,b) r(y,init) w(x)")
                .substr(0, 16),
            "no in saturation");
}

// What i overwrites depends on what it reads.
TEST(Refine, AReadIsOverwrittenOnlyIfItIsChosen) {
  EXPECT_EQ(refined("a r(x,c) w(x) | c w(x) ; d r(x,a i) | i r(x,init c) w(x)"),
            "yes in refine: i c a d");
  EXPECT_EQ(refined("a r(x,c) w(x) | c w(x) ; d r(x,a i) | i r(x,c) w(x)").substr(0, 16),
            "no in saturation");
}

TEST(Refine, GivesUpAfterSoManyProposals) {
  OrderSketch sketch = order_problem("a w(x) | e w(y) | k1 w(x) ; r2 r(y,e) | k2 w(y) ; r1 r(x,a)");
  base::Budget budget;
  sketch.problem.repair = false;
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
