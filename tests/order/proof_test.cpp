// From arcs back to reasons: what stands in a proof, and what only an independent checker
// asks for.
#include "engine/order/proof.hpp"

#include <gtest/gtest.h>

#include "order_language.hpp"

namespace cupel::test {
namespace {

TEST(Proof, AReasonUsesWhatWasForcedBefore) {
  // That b is before a is forced first; through it g comes after n, and h after m.
  const std::string first =
      "m w(z) w(q) | n w(z) w(p) | b r(p,n) r(q,m) w(x) w(y) | "
      "a w(x) w(u) | c r(x,a) r(y,b) | g r(z,m) r(u,a) | ";
  EXPECT_EQ(decided(first + "h r(z,n) r(u,a)"),
            "no in saturation: [visible z m->n for h {read q m->b, visible x b->a for c "
            "{read y b->c}, read u a->h}, visible z n->m for g {read p n->b, visible x b->a for c "
            "{read y b->c}, read u a->g}]");
  EXPECT_EQ(decided(first + "h r(z,n) r(u,init)"), "yes in schedule: n h m b a c g");
}

TEST(Proof, StepsAlongAChainAreOne) {
  EXPECT_EQ(decided("a r(x,d) ; b ; c ; d w(x)"), "no in saturation: [chain a->d, read x d->a]");
  EXPECT_EQ(decided("a r(x,d) ; b r(y,e) ; c ; d w(x) | e w(y)"),
            "no in saturation: [chain a->d, read x d->a]");
}

TEST(Proof, StepsThroughHelpersAreOne) {
  EXPECT_EQ(decided("a r(x,b) | b w(x) | time a -> #0 | time #2 -> b | time b -> #3"),
            "no in saturation: [read x b->a, time a->b]");
}

// --- why a read saw what it saw ---

// Both reads find their writers in one round, and together they close a cycle.
TEST(Proof, AnOnlyWriterSaysWhyTheOthersAreOut) {
  const std::string text =
      "c r(x,a b) w(u) ; b w(x) | d r(y,e f) w(v) ; f w(y) | e r(u,c) w(y) | a ";
  EXPECT_EQ(decided(text + "r(v,d) w(x)"),
            "no in saturation: [only x a->c not b [assume read x b->c, chain c->b], "
            "read u c->e, only y e->d not f [assume read y f->d, chain d->f], read v d->a]");
  EXPECT_EQ(decided(text + "r(v,init) w(x)"), "yes in schedule: a c b e d f");
}

// The same, where the cycle only rests on what the reads saw.
TEST(Proof, WholeProofsSayWhoseVersionAReadSaw) {
  const std::string text =
      "a w(x) ; k w(x) w(p) | e w(y) ; l w(y) w(q) | c r(x,a b) r(q,l) ; b w(x) | "
      "d r(y,e f) r(p,k) ; f w(y)";
  const std::string cycle =
      "no in saturation: [overwritten x c->k after a {chain a->k}, read p k->d, "
      "overwritten y d->l after e {chain e->l}, read q l->c]";
  EXPECT_EQ(decided(text), cycle);
  EXPECT_EQ(decided("whole: " + text),
            cycle +
                " knowing [only x a->c not b [assume read x b->c, chain c->b]]"
                " knowing [only y e->d not f [assume read y f->d, chain d->f]]");
}

TEST(Proof, WholeProofsSayWhyTheInitialVersionWasSeen) {
  const std::string text =
      "k w(x) w(p) | l w(y) w(q) | c r(x,init b) r(q,l) ; b w(x) | d r(y,init f) r(p,k) ; f w(y)";
  const std::string cycle =
      "no in saturation: [initial x c->k, read p k->d, initial y d->l, read q l->c]";
  EXPECT_EQ(decided(text), cycle);
  EXPECT_EQ(decided("whole: " + text),
            cycle +
                " knowing [saw-initial x c not b [assume read x b->c, chain c->b]]"
                " knowing [saw-initial y d not f [assume read y f->d, chain d->f]]");
}

// A read that lost every candidate: each is out for a reason of its own.
TEST(Proof, AReadWithoutAWriterHasACycleForEachCandidate) {
  EXPECT_EQ(decided("a r(u,c) w(x) | c r(x,a b) w(u) ; b w(x)"),
            "no in saturation: [assume read x a->c, read u c->a] [assume read x b->c, chain c->b]");
  EXPECT_EQ(decided("a w(x) ; k w(x) w(q) | c r(x,a b) r(q,k) ; b w(x)"),
            "no in saturation: [assume overwritten x c->k after a {chain a->k}, read q k->c] "
            "[assume read x b->c, chain c->b]");
  EXPECT_EQ(decided("a w(x) ; k w(x) w(q) | c r(x,a b) r(q,k) | b w(x)"),
            "yes in schedule: a k b c");
}

}  // namespace
}  // namespace cupel::test
