// All cycles that one set of arcs closes, one after the other.
#include "engine/order/cycle_enumeration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "order_language.hpp"

namespace cupel::test {
namespace {

struct Cycles {
  explicit Cycles(std::string_view text, bool last_first = false) : engine(text) {
    engine.saturation.add_reads();
    cyclic = !engine.graph.sort();
    std::vector<std::uint64_t> priority(engine.sketch.problem.node_count());
    std::iota(priority.begin(), priority.end(), 0);
    if (last_first) std::reverse(priority.begin(), priority.end());
    enumerator.emplace(engine.sketch.problem, engine.graph, priority);
  }
  std::string next() {
    const auto cycle = enumerator->next();
    // A cycle is closed.
    for (std::size_t i = 0; i < cycle.size(); ++i)
      EXPECT_EQ(cycle[i].to, cycle[(i + 1) % cycle.size()].from);
    return text_of(engine.sketch, engine.graph, cycle);
  }
  [[nodiscard]] order::Owner owner(std::string_view name) const {
    return engine.sketch.owner(name);
  }
  Engine engine;
  bool cyclic = false;
  std::optional<order::CycleEnumerator> enumerator;
};

TEST(CycleEnumeration, FindsACycleOrNone) {
  Cycles cycle("a r(x,b) ; b w(x)");
  EXPECT_TRUE(cycle.cyclic);
  EXPECT_EQ(cycle.next(), "chain a->b, read x b->a");
  Cycles none("a r(x,b) | b w(x)");
  EXPECT_FALSE(none.cyclic);
  EXPECT_EQ(none.next(), "");
}

TEST(CycleEnumeration, AnOwnerTakenOutBreaksTheCycle) {
  Cycles cycles("a r(x,b) ; b w(x)");
  EXPECT_NE(cycles.next(), "");
  cycles.enumerator->take_out(cycles.owner("b"));
  EXPECT_EQ(cycles.next(), "");
}

TEST(CycleEnumeration, TheNeighboursOfAnOwnerTakenOutStayNeighbours) {
  Cycles cycles("a r(x,c) r(y,b) ; b w(y) ; c w(x)");
  EXPECT_EQ(cycles.next(), "chain a->b, read y b->a");
  cycles.enumerator->take_out(cycles.owner("b"));
  EXPECT_EQ(cycles.next(), "chain a->c, read x c->a");
  cycles.enumerator->take_out(cycles.owner("c"));
  EXPECT_EQ(cycles.next(), "");
}

// Here the order that breaks few arcs has c before a, so their new neighbourhood is broken.
TEST(CycleEnumeration, NewNeighboursMayCloseACycle) {
  Cycles cycles("a r(x,c) ; b ; c w(x)", true);
  EXPECT_EQ(cycles.next(), "chain a->b, chain b->c, read x c->a");
  cycles.enumerator->take_out(cycles.owner("b"));
  EXPECT_EQ(cycles.next(), "chain a->c, read x c->a");
  Cycles none("a r(x,b) ; b w(x) ; c", true);
  EXPECT_EQ(none.next(), "chain a->b, read x b->a");
  none.enumerator->take_out(none.owner("b"));
  EXPECT_EQ(none.next(), "");
}

TEST(CycleEnumeration, NothingIsBeforeACut) {
  Cycles cycles("a r(x,c) r(y,b) ; b w(y) ; c w(x)");
  EXPECT_EQ(cycles.next(), "chain a->b, read y b->a");
  cycles.enumerator->cut(cycles.owner("b"));
  EXPECT_EQ(cycles.next(), "");
  // A cut before c leaves a and b in their order.
  Cycles other("a r(x,c) r(y,b) ; b w(y) ; c w(x)");
  other.enumerator->cut(other.owner("c"));
  EXPECT_EQ(other.next(), "chain a->b, read y b->a");
}

TEST(CycleEnumeration, ADroppedArcIsNotTriedAgain) {
  Cycles cycles("a r(x,b) ; b w(x) | c r(y,d) ; d w(y)");
  const std::string first = cycles.next();
  EXPECT_EQ(cycles.next(), first);
  cycles.enumerator->drop();
  const std::string second = cycles.next();
  EXPECT_NE(second, "");
  EXPECT_NE(second, first);
  cycles.enumerator->drop();
  EXPECT_EQ(cycles.next(), "");
}

// o comes first in the order, though p is before it and after the cycle.
TEST(CycleEnumeration, AFeedbackArcThatClosesNoCycleIsTurned) {
  Cycles cycles("a r(x,b) w(u) ; b w(x) | p r(u,a) w(v) | o r(v,p)", true);
  EXPECT_EQ(cycles.next(), "chain a->b, read x b->a");
  cycles.enumerator->take_out(cycles.owner("b"));
  EXPECT_EQ(cycles.next(), "");
}

}  // namespace
}  // namespace cupel::test
