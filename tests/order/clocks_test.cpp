// Reachability by clocks: of one block of chains, of another, and after arcs were added.
#include "engine/order/clocks.hpp"

#include <gtest/gtest.h>

#include "order_language.hpp"

namespace cupel::test {
namespace {

struct Clocked {
  explicit Clocked(std::string_view text) : engine(text) {
    engine.saturation.add_reads();
    EXPECT_TRUE(engine.graph.sort());
  }
  void compute(order::ChainId first, std::uint32_t width) {
    ASSERT_TRUE(clocks.compute(engine.graph, first, width, engine.budget));
  }
  [[nodiscard]] bool reaches(std::string_view from, std::string_view to) const {
    return clocks.reaches(engine.graph, engine.sketch.node(from), engine.sketch.node(to));
  }
  [[nodiscard]] std::string changed() const {
    std::string names;
    for (order::Node v = 0; v < engine.sketch.problem.node_count(); ++v) {
      if (clocks.changed(v)) names += (names.empty() ? "" : " ") + engine.sketch.name(v);
    }
    return names;
  }
  // A ww arc.
  void add(std::string_view from, std::string_view to) {
    engine.graph.add(
        {engine.sketch.node(from), engine.sketch.node(to), 0, 0, order::ArcKind::kListOrder});
    EXPECT_TRUE(engine.graph.sort());
  }
  Engine engine;
  order::Clocks clocks;
};

TEST(Clocks, ReachAlongChainsAndArcs) {
  Clocked c("a w(x) ; b w(y) | c r(y,b) ; d w(z)");
  c.compute(0, 2);
  EXPECT_TRUE(c.reaches("a", "d"));
  EXPECT_TRUE(c.reaches("b", "c"));
  EXPECT_TRUE(c.reaches("b", "b"));
  EXPECT_FALSE(c.reaches("c", "b"));
  // One edit: c reads a's version.
  Clocked other("a w(x) w(y) ; b w(y) | c r(y,a) ; d w(z)");
  other.compute(0, 2);
  EXPECT_TRUE(other.reaches("a", "d"));
  EXPECT_FALSE(other.reaches("b", "c"));
}

// The arc from a adds nothing to the one from b, which has a in its past; the one from c does.
TEST(Clocks, TakeTheMaximumOfAllThatComesIn) {
  Clocked c("a w(x) ; b w(y) | c w(z) | d r(x,a) r(y,b) r(z,c)");
  c.compute(0, 3);
  EXPECT_TRUE(c.reaches("b", "d"));
  EXPECT_TRUE(c.reaches("c", "d"));
  Clocked other("a w(x) ; b w(y) | c w(z) | d r(x,a) r(y,b)");
  other.compute(0, 3);
  EXPECT_FALSE(other.reaches("c", "d"));
}

TEST(Clocks, OfABlockKnowItsChainsOnly) {
  Clocked c("a w(x) | b r(x,a) w(y) | c r(y,b)");
  c.compute(0, 1);
  EXPECT_TRUE(c.clocks.has(0));
  EXPECT_FALSE(c.clocks.has(1));
  EXPECT_TRUE(c.reaches("a", "c"));
  c.compute(1, 2);
  EXPECT_FALSE(c.clocks.has(0));
  EXPECT_TRUE(c.reaches("b", "c"));
  EXPECT_FALSE(c.reaches("c", "b"));
}

TEST(Clocks, AnArcChangesWhatItReaches) {
  Clocked c("a w(x) | b w(x) ; d w(z) | e w(u)");
  c.compute(0, 3);
  EXPECT_EQ(c.changed(), "a b d e");  // the first time everything
  c.compute(0, 3);
  EXPECT_EQ(c.changed(), "");
  c.add("a", "b");
  c.compute(0, 3);
  EXPECT_EQ(c.changed(), "b d");
  EXPECT_TRUE(c.reaches("a", "d"));
  EXPECT_FALSE(c.reaches("a", "e"));
  // An arc that says nothing new changes nothing.
  c.add("a", "d");
  c.compute(0, 3);
  EXPECT_EQ(c.changed(), "");
}

TEST(Clocks, StopWhenTheBudgetEnds) {
  std::string text = "a w(x)";
  for (int i = 0; i < 5000; ++i) text += " ; o" + std::to_string(i);
  Engine large(text);
  ASSERT_TRUE(large.graph.sort());
  order::Clocks clocks;
  base::Budget none(std::chrono::duration<double>(0), 0);
  EXPECT_FALSE(clocks.compute(large.graph, 0, 1, none));
  EXPECT_TRUE(clocks.compute(large.graph, 0, 1, large.budget));
}

}  // namespace
}  // namespace cupel::test
