// Known arcs and chains: the order, the shortest cycle, paths, and chains that were relaxed.
#include "engine/order/event_graph.hpp"

#include <gtest/gtest.h>

#include "order_language.hpp"

namespace cupel::test {
namespace {

using order::EventGraph;
using order::RelaxedChains;

std::string sorted(std::string_view text) {
  Engine engine(text);
  engine.saturation.add_reads();
  if (engine.graph.sort()) return "order: " + text_of(engine.sketch, engine.graph.topological());
  return "cycle: " + text_of(engine.sketch, engine.graph, engine.graph.cycle());
}

TEST(EventGraph, SortsOrMeetsACycle) {
  EXPECT_EQ(sorted("a r(x,b) | b w(x)"), "order: b a");
  EXPECT_EQ(sorted("a r(x,b) ; b w(x)"), "cycle: chain a->b, read x b->a");
}

TEST(EventGraph, TheCycleIsShort) {
  EXPECT_EQ(sorted("a r(x,c) w(y) | b r(y,a) w(z) | c r(z,b) w(x) r(y,a)"),
            "cycle: read x c->a, read y a->c");
  EXPECT_EQ(sorted("a r(x,c) w(y) | b r(y,a) w(z) | c r(z,b) w(x)"),
            "cycle: read x c->a, read y a->b, read z b->c");
}

TEST(EventGraph, APathUsesTheArcsThereWereThen) {
  Engine engine("a w(x) | b r(x,a) ; c w(y) | d r(y,c)");
  engine.saturation.add_reads();
  ASSERT_TRUE(engine.graph.sort());
  const auto path = [&](std::string_view from, std::string_view to, std::uint32_t limit) {
    return text_of(engine.sketch, engine.graph,
                   engine.graph.path(engine.sketch.node(from), engine.sketch.node(to), limit));
  };
  EXPECT_EQ(path("a", "d", 2), "read x a->b, chain b->c, read y c->d");
  EXPECT_EQ(path("a", "d", 1), "");
  EXPECT_EQ(path("a", "c", 1), "read x a->b, chain b->c");
  EXPECT_EQ(path("d", "a", 2), "");
}

TEST(EventGraph, ArcsKnowWhatWasThereBeforeTheirRound) {
  Engine engine("a w(x) | b r(x,a) | c r(x,a)");
  EventGraph& graph = engine.graph;
  engine.saturation.add_reads();  // in the round that the graph began with
  graph.begin_round();
  graph.add({0, 2, 0, 0, order::ArcKind::kListOrder});
  EXPECT_EQ(graph.arcs_before_round_of(1), 0U);
  EXPECT_EQ(graph.arcs_before_round_of(2), 2U);
}

TEST(EventGraph, ChainArcsAreOwnChainOrRealTime) {
  const Engine engine("split: a ; b | time a -> #0 | time a -> #1");
  const auto kind = [&](std::string_view node) {
    return engine.graph.chain_arc_kind(engine.sketch.node(node));
  };
  EXPECT_EQ(kind("a.commit"), order::ArcKind::kOwn);
  EXPECT_EQ(kind("b.begin"), order::ArcKind::kChain);
  EXPECT_EQ(kind("#1"), order::ArcKind::kRealTime);
}

// The nodes before each of a, b, c, d in its chain.
std::string previous(const RelaxedChains& relaxed) {
  const Engine engine(order_problem("optional: a ; b ; c ; d"), relaxed);
  std::string result;
  for (order::Node v = 0; v < 4; ++v) {
    const auto before = engine.graph.previous(v);
    result += before == graph::kNoNode ? "-" : engine.sketch.name(before);
  }
  return result;
}

TEST(EventGraph, RelaxedChainsLoseOwnersAndAreCut) {
  EXPECT_EQ(previous({}), "-abc");
  EXPECT_EQ(previous({.alone = {0, 0, 0, 0}, .cut = {0, 0, 0, 0}}), "-abc");
  EXPECT_EQ(previous({.alone = {0, 1, 0, 0}, .cut = {0, 0, 0, 0}}), "--ac");
  EXPECT_EQ(previous({.alone = {0, 0, 0, 0}, .cut = {0, 0, 1, 0}}), "-a-c");
  EXPECT_EQ(previous({.alone = {0, 1, 0, 0}, .cut = {0, 0, 1, 0}}), "---c");
}

TEST(EventGraph, RelaxedChainsBreakACycle) {
  const auto acyclic = [](const RelaxedChains& relaxed) {
    Engine engine(order_problem("optional: a r(x,c) ; b ; c w(x)"), relaxed);
    engine.saturation.add_reads();
    return engine.graph.sort();
  };
  EXPECT_FALSE(acyclic({.alone = {0, 1, 0}, .cut = {0, 0, 0}}));
  EXPECT_TRUE(acyclic({.alone = {0, 0, 1}, .cut = {0, 0, 0}}));
  EXPECT_TRUE(acyclic({.alone = {0, 0, 0}, .cut = {0, 1, 0}}));
}

TEST(EventGraph, TheLongestChainsComeFirstWhenRelaxed) {
  const Engine engine(order_problem("optional: a | b ; c ; d"),
                      {.alone = {0, 0, 0, 1}, .cut = {0, 0, 0, 0}});
  EXPECT_EQ(engine.graph.chain(engine.sketch.node("b")), 0U);
  EXPECT_EQ(engine.graph.chain(engine.sketch.node("c")), 0U);
  EXPECT_EQ(engine.graph.position(engine.sketch.node("c")), 2U);
  EXPECT_EQ(engine.graph.chain_count(), 3U);
  EXPECT_EQ(engine.graph.column_count(), 3U);
}

}  // namespace
}  // namespace cupel::test
