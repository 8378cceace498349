// An object's writers in layers: what is known of their order splits them.
#include "engine/order/topological_layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "order_language.hpp"

namespace cupel::test {
namespace {

// The layers of x, as "a | b c", and "!" if each is one writer.
std::string layers(std::string_view text) {
  Engine engine(text);
  engine.saturation.add_reads();
  EXPECT_TRUE(engine.graph.sort());
  order::Clocks clocks;
  EXPECT_TRUE(clocks.compute(engine.graph, 0, engine.graph.chain_count(), engine.budget));
  order::TopologicalLayers all(engine.sketch.problem, engine.graph, engine.versions);
  const order::Object x = engine.sketch.object("x");
  all.update(x, clocks);
  std::string result;
  std::vector<std::string> layer;
  const auto slots = all.slots(x);
  const auto starts = all.starts(x);
  const auto close = [&] {
    std::sort(layer.begin(), layer.end());
    for (const auto& name : layer)
      result += (result.empty() || result.ends_with("| ") ? "" : " ") + name;
    layer.clear();
  };
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (i != 0 && starts[i] != 0) {
      close();
      result += " | ";
    }
    layer.push_back(engine.sketch.owner_name(engine.versions.writer(slots[i])));
  }
  close();
  return result + (all.settled(x) ? "!" : "");
}

TEST(TopologicalLayers, WritersOfOneChainAreALayerEach) {
  EXPECT_EQ(layers("a w(x) ; b w(x) ; c w(x)"), "a | b | c!");
  EXPECT_EQ(layers("a w(x) | b w(x) ; c w(x)"), "a b c");
}

TEST(TopologicalLayers, WritersInOneOrderAcrossChains) {
  EXPECT_EQ(layers("a w(x) w(y) | b r(y,a) w(x) w(z) | c r(z,b) w(x)"), "a | b | c!");
  EXPECT_EQ(layers("a w(x) w(y) | b r(y,a) w(x) w(z) | c r(y,a) w(x)"), "a | b c");
}

TEST(TopologicalLayers, WhatIsBeforeOnlySomeIsInTheirLayer) {
  EXPECT_EQ(layers("a w(x) w(y) | b r(y,a) w(x) | c r(y,a) w(x) w(z) | d r(z,c) w(x)"),
            "a | b c d");
  EXPECT_EQ(layers("a w(x) w(y) | b r(y,a) w(x) w(u) | c r(y,a) w(x) w(z) | d r(z,c) r(u,b) w(x)"),
            "a | b c | d");
}

// A writer of two events is before another when it commits before the other's ww arc ends.
TEST(TopologicalLayers, OverlappingWritersAreOneLayer) {
  EXPECT_EQ(layers("no-overlap: a w(x) w(y) | b w(x) r(y,a)"), "a | b!");
  EXPECT_EQ(layers("no-overlap: a w(x) w(y) | b w(x) r(y,init)"), "a b");
}

}  // namespace
}  // namespace cupel::test
