// The order that is kept while arcs come and go, against reachability from scratch.
#include "base/graph/online_order.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace cupel::graph {
namespace {

bool reaches(const OnlineOrder& order, Node from, Node to) {
  std::vector<bool> seen(order.node_count());
  std::vector<Node> stack{from};
  while (!stack.empty()) {
    const Node node = stack.back();
    stack.pop_back();
    if (node == to) return true;
    if (seen[node]) continue;
    seen[node] = true;
    for (const Arc& arc : order.arcs()) {
      if (arc.from == node) stack.push_back(arc.to);
    }
  }
  return false;
}

void expect_ordered(const OnlineOrder& order) {
  std::vector<bool> used(order.node_count());
  for (Node v = 0; v < order.node_count(); ++v) {
    ASSERT_LT(order.rank(v), order.node_count());
    ASSERT_FALSE(used[order.rank(v)]);
    used[order.rank(v)] = true;
  }
  for (const Arc& arc : order.arcs()) ASSERT_LT(order.rank(arc.from), order.rank(arc.to));
}

TEST(OnlineOrder, RefusesOnlyWhatClosesACycle) {
  OnlineOrder order;
  for (int i = 0; i < 3; ++i) order.add_node();
  EXPECT_TRUE(order.add_arc(2, 1));
  EXPECT_TRUE(order.add_arc(1, 0));
  EXPECT_FALSE(order.add_arc(0, 2));
  EXPECT_FALSE(order.add_arc(1, 1));
  EXPECT_TRUE(order.add_arc(2, 0));
  EXPECT_EQ(order.arc_count(), 3U);
  order.take_back_to(1);
  EXPECT_TRUE(order.add_arc(0, 2));
}

TEST(OnlineOrder, AgreesWithReachabilityOverRandomComingAndGoing) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    base::Random random(seed);
    OnlineOrder order;
    int refused = 0;
    for (int step = 0; step < 300; ++step) {
      if (order.node_count() < 2 || random.chance(0.1)) order.add_node();
      const auto n = order.node_count();
      const auto from = static_cast<Node>(random.below(n)), to = static_cast<Node>(random.below(n));
      const bool cycle = reaches(order, to, from);
      refused += cycle;
      ASSERT_EQ(order.add_arc(from, to), !cycle) << "seed " << seed << ", step " << step;
      if (random.chance(0.05))
        order.take_back_to(order.arc_count() - random.below(order.arc_count() + 1));
      expect_ordered(order);
    }
    EXPECT_GT(refused, 20);
  }
}

}  // namespace
}  // namespace cupel::graph
