// The weak levels' rule, k before w where k is visible to a reader of w, in its three
// readings, and the choice of writers.
#include "engine/order/visibility.hpp"

#include <gtest/gtest.h>

#include <ostream>

#include "order_language.hpp"

namespace cupel::order {
void PrintTo(Visible visible, std::ostream* out) {
  *out << (visible == Visible::kEarlierRead ? "EarlierRead"
           : visible == Visible::kDirect    ? "Direct"
                                            : "Causal");
}
}  // namespace cupel::order

namespace cupel::test {
namespace {

using order::Visible;

// o reads k's y, then w's x, which k wrote before.
TEST(EarlierRead, AnEarlierReadMakesItsWriterVisible) {
  EXPECT_EQ(decided("w w(x) ; k w(x) w(y) | o r(y,k) r(x,w)", Visible::kEarlierRead),
            "no: [chain w->k, visible x k->w for o {read y k->o}]");
  EXPECT_EQ(decided("w w(x) ; k w(x) w(y) | o r(x,w) r(y,k)", Visible::kEarlierRead), "yes: w k o");
}
TEST(EarlierRead, ReadsOfOneStepSeeTheSameMoment) {
  EXPECT_EQ(decided("w w(x) ; k w(x) w(y) | o r(y,k) r(x,w)", Visible::kEarlierRead),
            "no: [chain w->k, visible x k->w for o {read y k->o}]");
  EXPECT_EQ(decided("w w(x) ; k w(x) w(y) | o r(y,k)&r(x,w)", Visible::kEarlierRead), "yes: w k o");
}
// Of two reads in a row that differ, the later version is the newer one.
TEST(EarlierRead, AnObjectIsReadForward) {
  EXPECT_EQ(decided("b w(x) ; a w(x) | o r(x,a) r(x,a) r(x,b)", Visible::kEarlierRead),
            "no: [chain b->a, visible x a->b for o {read x a->o}]");
  EXPECT_EQ(decided("b w(x) ; a w(x) | o r(x,b) r(x,a) r(x,a)", Visible::kEarlierRead),
            "yes: b a o");
}
TEST(EarlierRead, SessionsMakeNothingVisible) {
  EXPECT_EQ(decided("w w(x) w(y) | k r(y,w) w(x) ; o r(x,w)", Visible::kEarlierRead), "yes: w k o");
}

TEST(Direct, AReadMakesItsWriterVisibleToAllReads) {
  EXPECT_EQ(decided("w w(x) ; k w(x) w(y) | o r(x,w) r(y,k)", Visible::kDirect),
            "no: [chain w->k, visible x k->w for o {read y k->o}]");
  EXPECT_EQ(decided("w w(x) ; k w(x) w(y) | o r(x,k) r(y,k)", Visible::kDirect), "yes: w k o");
}
TEST(Direct, TheSessionMakesWhatIsBeforeVisible) {
  EXPECT_EQ(decided("w w(x) w(y) | k r(y,w) w(x) ; o r(x,w)", Visible::kDirect),
            "no: [read y w->k, visible x k->w for o {chain k->o}]");
  EXPECT_EQ(decided("w w(x) w(y) | k r(y,w) w(x) | o r(x,w)", Visible::kDirect), "yes: w k o");
}
TEST(Direct, ASessionArcMakesWhatIsBeforeVisible) {
  EXPECT_EQ(decided("w w(x) w(y) | k r(y,w) w(x) | o r(x,w) | session k -> o", Visible::kDirect),
            "no: [read y w->k, visible x k->w for o {chain k->o}]");
  EXPECT_EQ(decided("w w(x) w(y) | k r(y,w) w(x) | o r(x,w) | session w -> o", Visible::kDirect),
            "yes: w k o");
}
TEST(Direct, APathOfTwoStepsMakesNothingVisible) {
  EXPECT_EQ(decided("w w(x) ; k w(x) w(y) | d r(y,k) w(z) | o r(z,d) r(x,w)", Visible::kDirect),
            "yes: w k d o");
}

TEST(Causal, APathMakesItsBeginningVisible) {
  EXPECT_EQ(decided("w w(x) ; k w(x) w(y) | d r(y,k) w(z) | o r(z,d) r(x,w)", Visible::kCausal),
            "no: [chain w->k, visible x k->w for o {read y k->d, read z d->o}]");
  EXPECT_EQ(decided("w w(x) ; k w(x) w(y) | d r(y,k) w(z) | o r(z,init) r(x,w)", Visible::kCausal),
            "yes: w k d o");
}
// What one session saw is not visible to the next.
TEST(Causal, EachSessionSeesForItself) {
  EXPECT_EQ(decided("w w(x) ; k w(x) | o r(x,k) | p r(x,w) | q r(x,w) r(y,init) r(z,init)",
                    Visible::kCausal),
            "yes: w k o p q");
  EXPECT_EQ(decided("w w(x) ; k w(x) | o r(x,k) ; p r(x,w) | q r(x,w) r(y,init) r(z,init)",
                    Visible::kCausal),
            "no: [chain w->k, visible x k->w for p {read x k->o, chain o->p}]");
}
// o's own write is the last of its session, and hides no other.
TEST(Causal, TheReadersOwnWriteHidesNothing) {
  EXPECT_EQ(decided("w w(x) w(y) | k r(y,w) w(x) ; o r(x,w) w(x)", Visible::kCausal),
            "no: [read y w->k, visible x k->w for o {chain k->o}]");
  EXPECT_EQ(decided("w w(x) w(y) | k r(y,w) w(x) ; o r(x,k) w(x)", Visible::kCausal), "yes: w k o");
}
TEST(Causal, ConcurrentWritersMayBeSeenEitherWay) {
  EXPECT_EQ(decided("w w(x) | k w(x) w(y) | o r(y,k) r(x,w)", Visible::kCausal), "yes: k w o");
  EXPECT_EQ(
      decided("w w(x) | k w(x) w(y) | o r(y,k) r(x,w) | p r(x,w) ; p2 r(x,k)", Visible::kCausal),
      "no: [visible x k->w for o {read y k->o}, visible x w->k for p2 {read x w->p, chain "
      "p->p2}]");
}

class EveryLevel : public testing::TestWithParam<Visible> {};

TEST_P(EveryLevel, NothingPrecedesTheInitialVersion) {
  EXPECT_EQ(decided("k w(x) w(y) | o r(y,k) r(x,init)", GetParam()),
            "no: [initial x o->k, read y k->o]");
  EXPECT_EQ(decided("k w(x) w(y) | o r(y,init) r(x,init)", GetParam()), "yes: k o");
}

TEST_P(EveryLevel, ListOrdersAreOrders) {
  EXPECT_EQ(decided("w w(x) | k w(x) w(y) | o r(y,k) r(x,w) | list x w -> k", GetParam()),
            "no: [list x w->k, visible x k->w for o {read y k->o}]");
  EXPECT_EQ(decided("w w(x) | k w(x) w(y) | o r(y,k) r(x,w) | list x k -> w", GetParam()),
            "yes: k w o");
}

TEST_P(EveryLevel, ReadsAndSessionsAreOrders) {
  EXPECT_EQ(decided("a r(x,b) ; b w(x)", GetParam()), "no: [chain a->b, read x b->a]");
  EXPECT_EQ(decided("a r(x,b) | b w(x)", GetParam()), "yes: b a");
  EXPECT_EQ(decided("a r(x,b) | b w(x) | session a -> b", GetParam()),
            "no: [read x b->a, session a->b]");
}

// Of the possible writers of x one is too old, and the other is not.
TEST_P(EveryLevel, AReadMayChooseItsWriter) {
  EXPECT_EQ(decided("w w(x) ; k w(x) w(y) | o r(y,k) r(x,w k)", GetParam()), "yes: w k o");
  EXPECT_EQ(decided("v w(x) ; w w(x) ; k w(x) w(y) | o r(y,k) r(x,w v)", GetParam()),
            "no: [chain w->k, visible x k->w for o {read y k->o}] "
            "[chain v->k, visible x k->v for o {read y k->o}]");
}

INSTANTIATE_TEST_SUITE_P(Visibility, EveryLevel,
                         testing::Values(Visible::kEarlierRead, Visible::kDirect, Visible::kCausal),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace cupel::test
