// Graph algorithms on graphs small enough to see, and against brute force.
#include "base/graph/digraph.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.hpp"

namespace cupel::graph {
namespace {

std::vector<std::vector<bool>> closure(std::size_t n, const std::vector<Arc>& arcs) {
  std::vector<std::vector<bool>> reach(n, std::vector<bool>(n, false));
  for (const Arc& a : arcs) reach[a.from][a.to] = true;
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) reach[i][j] = reach[i][j] || (reach[i][k] && reach[k][j]);
    }
  }
  return reach;
}

std::vector<Arc> random_arcs(base::Random& random, std::size_t n, std::size_t count) {
  std::vector<Arc> arcs;
  for (std::size_t i = 0; i < count; ++i) {
    const auto from = static_cast<Node>(random.below(n)), to = static_cast<Node>(random.below(n));
    if (from != to) arcs.push_back({from, to});
  }
  return arcs;
}

TEST(Digraph, TopologicalOrderOfAChainAndOfACycle) {
  const std::vector<Arc> chain = {{2, 1}, {1, 0}};
  EXPECT_EQ(topological_order(Digraph(3, chain)), (std::vector<Node>{2, 1, 0}));
  const std::vector<Arc> cycle = {{2, 1}, {1, 0}, {0, 1}};
  EXPECT_EQ(topological_order(Digraph(3, cycle)), std::vector<Node>{2});
}

TEST(Digraph, ComponentsAgreeWithTheClosure) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    base::Random random(seed);
    const std::size_t n = 1 + random.below(8);
    const auto arcs = random_arcs(random, n, random.below(16));
    const auto more = random_arcs(random, n, random.below(6));
    auto all = arcs;
    all.insert(all.end(), more.begin(), more.end());
    const auto reach = closure(n, all);
    const auto components = strongly_connected(Digraph(n, arcs), Digraph(n, more));
    for (Node i = 0; i < n; ++i) {
      for (Node j = 0; j < n; ++j) {
        if (i == j) continue;
        EXPECT_EQ(components.component[i] == components.component[j], reach[i][j] && reach[j][i])
            << seed;
      }
    }
  }
}

TEST(Digraph, ATopologicalOrderExistsExactlyWithoutCycles) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    base::Random random(seed);
    const std::size_t n = 1 + random.below(7);
    const auto arcs = random_arcs(random, n, random.below(10));
    const auto reach = closure(n, arcs);
    bool cyclic = false;
    for (std::size_t i = 0; i < n; ++i) cyclic = cyclic || reach[i][i];
    const auto order = topological_order(Digraph(n, arcs));
    EXPECT_EQ(order.size() == n, !cyclic);
    std::vector<std::size_t> rank(n, n);
    for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    for (const Arc& a : arcs) {
      if (rank[a.to] < n) {
        EXPECT_LT(rank[a.from], rank[a.to]);
      }
    }
  }
}

TEST(Biconnected, TheThesisExample) {
  // Figure 3.12: S1-S2, the triangle S2-S3-S4, S4-S5.
  const std::vector<Arc> edges = {{0, 1}, {1, 2}, {2, 3}, {1, 3}, {3, 4}};
  auto components = biconnected_components(5, edges);
  std::sort(components.begin(), components.end());
  const std::vector<std::vector<std::uint32_t>> expected = {{0, 1}, {1, 2, 3}, {3, 4}};
  EXPECT_EQ(components, expected);
}

TEST(Biconnected, ARingIsOneComponentAndAnIsolatedVertexItsOwn) {
  const std::vector<Arc> edges = {{0, 1}, {1, 2}, {2, 0}};
  auto components = biconnected_components(4, edges);
  std::sort(components.begin(), components.end());
  const std::vector<std::vector<std::uint32_t>> expected = {{0, 1, 2}, {3}};
  EXPECT_EQ(components, expected);
}

// Two edges are in one component iff no single vertex separates them.
TEST(Biconnected, EveryEdgeIsInOneComponentAndTwoShareAtMostOneVertex) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    base::Random random(seed);
    const std::size_t n = 2 + random.below(7);
    const auto edges = random_arcs(random, n, random.below(12));
    const auto components = biconnected_components(n, edges);
    for (const Arc& e : edges) {
      int holding = 0;
      for (const auto& c : components) {
        holding += std::binary_search(c.begin(), c.end(), e.from) &&
                   std::binary_search(c.begin(), c.end(), e.to);
      }
      EXPECT_EQ(holding, 1) << seed;
    }
    for (std::size_t i = 0; i < components.size(); ++i) {
      for (std::size_t j = i + 1; j < components.size(); ++j) {
        std::vector<std::uint32_t> shared;
        std::set_intersection(components[i].begin(), components[i].end(), components[j].begin(),
                              components[j].end(), std::back_inserter(shared));
        EXPECT_LE(shared.size(), 1u) << seed;
      }
    }
  }
}

}  // namespace
}  // namespace cupel::graph
